package web

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/labstack/echo/v4"

	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/client/inspection"
	"elicitation-inspector/bridge/client/live"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/meaning/elicit"
	"elicitation-inspector/views"
	"elicitation-inspector/views/forms"
	"elicitation-inspector/views/markup"
)

// targetOf returns the target of links to an item. It names the server only where there
// are several.
func targetOf(in *inspection.Inspection, server views.Server, item conversation.Item) views.Link {
	t := views.Link{Kind: item.Kind, Key: item.Key}
	if len(in.Servers()) > 1 {
		t.Server = server.Label
	}
	return t
}

// addressOf returns the query of the page's address while an item is on show. A long key
// has a handle, which is valid in this run.
func addressOf(in *inspection.Inspection, server views.Server, item conversation.Item) string {
	if len(item.Key) > markup.NameMost {
		return "?" + url.Values{"server": {server.ID}, "kind": {string(item.Kind)}, "key": {views.Handle(item.Key)}}.Encode()
	}
	return targetOf(in, server, item).Query()
}

// link answers with the query of an address that leads to a form with its present
// arguments.
func (s *calls) link(c echo.Context, f callForm) error {
	arguments, problems := f.sub.Value(f.fields)
	if arguments == nil {
		return bad("There is no link to these arguments. %s", problems[0].Text)
	}
	t := targetOf(s.in, f.server, f.item.Item)
	first := forms.Untouched(f.fields, f.trouble != "")
	if initial, _ := first.Value(f.fields); !bytes.Equal(initial, arguments) {
		t.Arguments = string(arguments)
	}
	query := t.Query()
	if len(query) > linkMost {
		return echo.NewHTTPError(http.StatusRequestEntityTooLarge, fmt.Sprintf("These arguments are too long for a link: it would have %s, and at most %s are allowed.", wording.Size(int64(len(query))), wording.Size(linkMost)))
	}
	return c.String(http.StatusOK, query)
}

// reads reports whether a server with this catalog will tell soon what it offers.
func reads(server views.Server, offers conversation.Catalog) bool {
	return offers.Loading || server.State == conversation.ServerConnecting
}

// linked returns the item that a link leads to, or why there is none.
func linked(in *inspection.Inspection, t views.Link) (views.Server, conversation.Item, *views.Missing) {
	missing := &views.Missing{Title: wording.Capital(string(t.Kind)) + " " + wording.Quoted(t.Key), Awaits: true, Address: t.Query()}
	known, waits, similar := false, false, map[string]views.Item{}
	for _, one := range in.Servers() {
		server := serverView(one)
		if t.Server != "" && t.Server != server.Label {
			continue
		}
		known = true
		offers, err := in.Catalog(server.ID)
		if err != nil {
			continue
		}
		if item, err := offers.Find(t.Kind, t.Key); err == nil {
			return server, item, nil
		}
		waits = waits || reads(server, offers)
		if server.State != conversation.ServerReady {
			missing.Down = append(missing.Down, server)
		}
		for _, item := range offers.Items {
			if item.Kind == t.Kind {
				similar[item.Key] = itemView(server, item)
			}
		}
	}
	switch {
	case !known:
		missing.Text = "This link is for the server " + wording.Quoted(t.Server) + ", which is not here."
	case waits:
		missing.Text = "Reading what the servers offer…"
	default:
		missing.Text = "No server here offers a " + string(t.Kind) + " of that name."
		if meant, ok := similar[wording.Nearest(t.Key, slices.Sorted(maps.Keys(similar)))]; ok {
			missing.Meant = &meant
		}
	}
	return views.Server{}, conversation.Item{}, missing
}

// linkedForm returns the form of an item with the arguments of a link, and what is wrong
// with these.
func linkedForm(server views.Server, item conversation.Item, t views.Link) (callForm, []elicit.Problem) {
	said := func(format string, args ...any) []elicit.Problem {
		return []elicit.Problem{{Field: -1, Text: fmt.Sprintf(format, args...)}}
	}
	empty, arguments := callFormOf(server, item, nil), json.RawMessage(t.Arguments)
	switch {
	case t.Arguments == "":
		return empty, nil
	case len(t.Query()) > linkMost:
		return empty, said("The link has arguments of %s, which are left out here: a link holds at most %s.", wording.Size(int64(len(t.Arguments))), wording.Size(linkMost))
	case item.Kind == conversation.Resource:
		return empty, said("A resource takes no arguments. Those of the link are left out.")
	}
	f := callFormOf(server, item, arguments)
	f.before = empty.sub
	if err := rawjson.Check(arguments); err != nil {
		return f, said("The arguments in the link are not JSON: %v.", err)
	}
	if f.sub.JSON && f.trouble == "" {
		_, err := elicit.InputsOf(f.fields, arguments)
		return f, said("A form cannot show the arguments of the link: %v.", err)
	}
	var unknown []string
	for name := range rawjson.Members(f.sub.Inputs.Extra) {
		unknown = append(unknown, name)
	}
	if len(unknown) > 0 {
		return f, said("The link gives %s, which the %s does not list. Call will send it all the same.", wording.QuotedSeries(unknown), item.Kind)
	}
	return f, nil
}

// linkMost is the maximum length of a link in bytes: longer ones are cut by chats and mail.
const linkMost = 8 << 10

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
		if f, err := itemForm(s.in)(c); err == nil {
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
