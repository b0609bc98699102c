package web

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"elicitation-inspector/bridge"
	"elicitation-inspector/bridge/conversation"
	"elicitation-inspector/bridge/export"
	"elicitation-inspector/views/wirelog"
)

func (s *Server) callLadder(c echo.Context, call bridge.Call) error {
	if call.LastRequest() == 0 {
		return echo.NewHTTPError(http.StatusNotFound, "The call has not been sent yet.")
	}
	return s.ladder(c, call.LastRequest(), fmt.Sprintf("/calls/%d/ladder", call.Number), !call.State.Over())
}

func (s *Server) frameLadder(c echo.Context, seq int64) error {
	f, err := s.in.Log().Frame(seq)
	if err != nil {
		return err
	}
	if f.Note != nil && f.Note.SignIn != nil {
		return s.signInLadder(c, f.Server, f.Note.SignIn.Number, fmt.Sprintf("/wire/frames/%d/ladder", seq), false)
	}
	return s.ladder(c, seq, fmt.Sprintf("/wire/frames/%d/ladder", seq), false)
}

func (s *Server) ladder(c echo.Context, seq int64, address string, running bool) error {
	ctx := c.Request().Context()
	if err := s.in.Conversation().Update(ctx); err != nil {
		return err
	}
	if err := s.config.Redaction.Learn(ctx, s.in.Log()); err != nil {
		return err
	}
	e, err := s.in.Conversation().Around(ctx, seq, conversation.Reading{Redact: s.config.Redaction})
	if err != nil {
		return err
	}
	l := export.Draw(e, widthOf(c))
	if running {
		l.Live()
	}
	name := export.Heading("ladder of "+cmp.Or(e.Name, e.Method), []string{e.Server}, len(e.Questions), e.Start)
	follow := ""
	if e.Recorded > 0 {
		follow = fmt.Sprintf("call:%d", e.Recorded)
	}
	return s.sendLadder(c, l, name, follow, address, running || !e.State.Over() || e.State == conversation.Waiting)
}

func (s *Server) latestSignIn(c echo.Context, server bridge.Server) error {
	card, ok := signInCard(s.in, serverView(server))
	if !ok {
		return echo.ErrNotFound
	}
	return s.signInLadder(c, server.Label, card.Number, "/servers/"+server.ID+"/signin/ladder", !card.Over)
}

func (s *Server) signInLadder(c echo.Context, server string, number int, address string, running bool) error {
	frames, err := s.in.SignInFrames(server, number)
	if err != nil {
		return err
	}
	if len(frames) == 0 {
		return echo.NewHTTPError(http.StatusNotFound, "Nothing of this sign-in is in the log yet.")
	}
	for i, f := range frames {
		frames[i] = s.config.Redaction.Frame(f)
	}
	name := export.Heading(fmt.Sprintf("ladder of sign-in %d", number), []string{server}, 0, frames[0].Time)
	return s.sendLadder(c, export.DrawSignIn(server, frames, widthOf(c)), name, "", address, running)
}

// sendLadder answers with a ladder: for the page, or, if the query as is svg or mermaid, as
// a file of that name.
func (s *Server) sendLadder(c echo.Context, l *export.Ladder, name, follow, address string, running bool) (err error) {
	var b bytes.Buffer
	var ending, kind string
	switch as := c.QueryParam("as"); as {
	case "svg":
		ending, kind, err = ".svg", "image/svg+xml", l.SVG(&b)
	case "mermaid":
		ending, kind, err = ".mmd", echo.MIMETextPlainCharsetUTF8, l.Mermaid(&b)
	case "":
		drawing := templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
			return l.Embed(w, func(seq int64) string { return fmt.Sprintf("/?frame=%d", seq) })
		})
		return html(c, wirelog.LadderView(wirelog.Ladder{
			Title: l.Title, Text: l.Text, Address: address, Follow: follow, Running: running, Drawing: drawing,
		}))
	default:
		return bad("A ladder can be saved as svg or mermaid, not as %q.", as)
	}
	if err != nil {
		return err
	}
	attach(c, export.FileName(name, ending))
	return c.Blob(http.StatusOK, kind, b.Bytes())
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
