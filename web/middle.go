package web

import (
	"elicitation-inspector/bridge/conversation"
	"elicitation-inspector/bridge/live"
	"elicitation-inspector/views"
	"errors"
	"slices"
	"strconv"

	"github.com/labstack/echo/v4"
)

// choose sets what the middle of the page shows: the item, question or call that the
// query names, or else the latest call.
func (s *Server) choose(c echo.Context, p *views.Page) {
	latest := 0
	if len(p.Calls) > 0 {
		latest = p.Calls[len(p.Calls)-1].Number
	}
	if t, ok := views.ReadLink(c.QueryParams()); ok {
		server, item, missing := linked(s.in, t)
		if p.Missing = missing; missing == nil {
			form := s.calls.formView(linkedForm(server, item, t))
			p.Form = &form
		}
		return
	}
	if key := c.QueryParam("key"); key != "" {
		if f, err := named(s.in)(c); err == nil {
			form := s.calls.formView(f, nil)
			p.Form = &form
			return
		}
		// An item that is gone leaves the middle without a choice, unless its server reads its lists just now.
		server := serverOf(s.in, c.QueryParam("server"))
		if offers, err := s.in.Catalog(server.ID); err == nil && reads(server, offers) {
			_, _, p.Missing = linked(s.in, views.Link{Kind: conversation.Kind(c.QueryParam("kind")), Key: key, Server: server.Label})
		}
		return
	}
	n, _ := strconv.Atoi(c.QueryParam("call"))
	if question, err := strconv.Atoi(c.QueryParam("question")); err == nil {
		if n = s.chooseQuestion(question, p); p.Missing != nil {
			return
		}
	}
	if n == 0 || s.coming() && n > latest { // a playback has not reached this call yet
		n = latest
	}
	call, err := s.in.Call(n)
	switch {
	case errors.Is(err, live.ErrForgotten):
		p.Forgotten = n
	case err == nil:
		v := s.calls.view(call)
		p.Call = &v
	case c.QueryParam("call") != "":
		number := strconv.Itoa(n)
		p.Missing = &views.Missing{Title: "Call " + number, Text: "This session has no call " + number + "."}
	}
}

// coming reports whether more of a transcript will be shown.
func (s *Server) coming() bool {
	return s.player != nil && !s.player.Over(s.in.Log())
}

// chooseQuestion puts the question of a permalink on the page, unfolded, and returns its
// call: 0 if it has none, or if there is no such question, which the page then says.
func (s *Server) chooseQuestion(n int, p *views.Page) (call int) {
	q, err := s.in.Question(n)
	if err != nil {
		number := strconv.Itoa(n)
		p.Missing = &views.Missing{Title: "Question " + number, Awaits: s.coming(), Text: "This session has no question " + number + ", or no longer keeps it. The wire log has the frames of every question."}
		if s.coming() {
			p.Missing.Text = "The transcript has not reached question " + number + " yet."
		}
		return 0
	}
	i := slices.IndexFunc(p.Questions, func(v views.Question) bool { return v.Number >= n })
	switch there := i >= 0 && p.Questions[i].Number == n; {
	case there:
		p.Questions[i].Unfolded, p.Questions[i].Card = true, nil
	case q.State != conversation.Pending: // else it is held back, or the page fetches it
		v := s.questions.view(q, nil, nil)
		v.Unfolded = true
		p.Questions = slices.Insert(p.Questions, max(i, 0), v)
	}
	return q.Call
}
