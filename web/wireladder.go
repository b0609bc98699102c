package web

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"elicitation-inspector/bridge"
	"elicitation-inspector/bridge/conversation"
	"elicitation-inspector/bridge/export"
	"elicitation-inspector/views"
)

// callLadder answers with the ladder of a call.
func (s *Server) callLadder(c echo.Context, call bridge.Call) error {
	if call.LastRequest() == 0 {
		return echo.NewHTTPError(http.StatusNotFound, "The call has not been sent yet.")
	}
	return s.ladder(c, call.LastRequest(), fmt.Sprintf("/calls/%d/ladder", call.Number), !call.State.Over())
}

// frameLadder answers with the ladder of the call that a frame belongs to.
func (s *Server) frameLadder(c echo.Context, seq int64) error {
	return s.ladder(c, seq, fmt.Sprintf("/wire/frames/%d/ladder", seq), false)
}

// ladder answers with the ladder of the call around a frame: for the page, or, if the
// query as is svg or mermaid, as a file.
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
	l := export.Draw(e)
	var b bytes.Buffer
	switch as := c.QueryParam("as"); as {
	case "svg":
		err = l.SVG(&b)
		return s.download(c, err, l.ID+".svg", "image/svg+xml", b.Bytes())
	case "mermaid":
		err = l.Mermaid(&b)
		return s.download(c, err, l.ID+".mmd", echo.MIMETextPlainCharsetUTF8, b.Bytes())
	case "":
	default:
		return bad("A ladder can be had as svg or mermaid, not as %q.", as)
	}
	drawing := templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		return l.Embed(w, func(seq int64) string { return fmt.Sprintf("/?frame=%d", seq) })
	})
	return html(c, views.LadderView(views.Ladder{
		Title: l.Title, Text: l.Text, Address: address, Follow: exchangeLine(e), Running: running || !e.State.Over() || e.State == conversation.Waiting, Drawing: drawing,
	}))
}

// exchangeLine returns the filter line for the frames of a call.
func exchangeLine(e *conversation.Call) string {
	if e.Recorded > 0 {
		return fmt.Sprintf("call:%d", e.Recorded)
	}
	return ""
}

func (s *Server) download(c echo.Context, err error, name, kind string, data []byte) error {
	if err != nil {
		return err
	}
	c.Response().Header().Set("Content-Disposition", fmt.Sprintf("attachment; filename=%q", name))
	return c.Blob(http.StatusOK, kind, data)
}
