package web

import (
	"cmp"
	"fmt"
	"net/http"
	"strconv"

	"github.com/labstack/echo/v4"

	"elicitation-inspector/bridge/client/inspection"
	"elicitation-inspector/bridge/keep/export"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/views/wirelog"
)

// ladders draws sequence diagrams.
type ladders struct{ sharing }

// routes registers the ladders of calls and sign-ins; query as=svg or mermaid saves one.
func (s ladders) routes(e *echo.Echo) {
	e.GET("/calls/:n/ladder", of(numbered(s.in.Call), s.ofCall))
	e.GET("/servers/:id/signin/ladder", of(serverIn(s.in), s.ofLatestSignIn))
	e.GET("/wire/frames/:n/ladder", of(frameIn(s.in), s.ofFrame)) // of its call or sign-in
}

func (s ladders) ofCall(c echo.Context, call inspection.Call) error {
	if call.LastRequest() == 0 {
		return echo.NewHTTPError(http.StatusNotFound, "The call has not been sent yet.")
	}
	return s.around(c, call.LastRequest(), fmt.Sprintf("/calls/%d/ladder", call.Number), !call.State.Over())
}

func (s ladders) ofFrame(c echo.Context, seq int64) error {
	f, err := s.in.Log().Frame(seq)
	if err != nil {
		return err
	}
	if f.Note != nil && f.Note.SignIn != nil {
		return s.ofSignIn(c, f.Server, f.Note.SignIn.Number, fmt.Sprintf("/wire/frames/%d/ladder", seq), false)
	}
	return s.around(c, seq, fmt.Sprintf("/wire/frames/%d/ladder", seq), false)
}

func (s ladders) around(c echo.Context, seq int64, address string, running bool) error {
	ctx := c.Request().Context()
	if err := s.in.Conversation().Update(ctx); err != nil {
		return err
	}
	redaction, err := s.redacted(ctx)
	if err != nil {
		return err
	}
	e, err := s.in.Conversation().CallOrExchange(ctx, seq, conversation.Reading{Redact: redaction})
	if err != nil {
		return err
	}
	l := export.Draw(e, widthOf(c))
	if running {
		l.Live()
	}
	name := export.Heading("sequence of "+cmp.Or(e.Name, e.Method), []string{e.ServerName}, len(e.Questions), e.Start)
	follow := ""
	if e.Recorded > 0 {
		follow = fmt.Sprintf("call:%d", e.Recorded)
	}
	return sendLadder(c, l, name, follow, address, running || !e.State.Over() || e.State == conversation.Waiting)
}

func (s ladders) ofLatestSignIn(c echo.Context, server inspection.Server) error {
	card, ok := signInCard(s.in, serverView(server))
	if !ok {
		return echo.ErrNotFound
	}
	return s.ofSignIn(c, server.Label, card.Number, "/servers/"+server.ID+"/signin/ladder", !card.Over)
}

func (s ladders) ofSignIn(c echo.Context, server string, number int, address string, running bool) error {
	frames, err := s.in.SignInFrames(server, number)
	if err != nil {
		return err
	}
	if len(frames) == 0 {
		return echo.NewHTTPError(http.StatusNotFound, "Nothing of this sign-in is in the log yet.")
	}
	for i, f := range frames {
		frames[i] = s.redaction.Frame(f)
	}
	server = s.redaction.Text(s.in.Conversation().NameOf(server))
	name := export.Heading(fmt.Sprintf("sequence of sign-in %d", number), []string{server}, 0, frames[0].Time)
	return sendLadder(c, export.DrawSignIn(server, frames, widthOf(c)), name, "", address, running)
}

// sendLadder answers with a ladder: for the page, or, if the query as is svg or mermaid, as
// a file of that name.
func sendLadder(c echo.Context, l *export.Ladder, name, follow, address string, running bool) error {
	switch as := c.QueryParam("as"); as {
	case "svg":
		return saved(c, export.FileName(name, ".svg"), "image/svg+xml", l.SVG)
	case "mermaid":
		return saved(c, export.FileName(name, ".mmd"), echo.MIMETextPlainCharsetUTF8, l.Mermaid)
	case "":
	default:
		return bad("A sequence can be saved as svg or mermaid, not as %q.", as)
	}
	drawing := l.Embed(func(seq int64) string { return fmt.Sprintf("/?frame=%d", seq) })
	return html(c, wirelog.LadderView(wirelog.Ladder{
		Title: l.Title, Text: l.Text, Address: address, Follow: follow, Running: running, Drawing: drawing,
	}))
}

// widthOf returns the width in pixels that a ladder is asked for in, or 0 for that of a
// file.
func widthOf(c echo.Context) int {
	width, err := strconv.Atoi(c.QueryParam("width"))
	if err != nil {
		return 0
	}
	return max(1, min(width, 1600))
}
