package web

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"elicitation-inspector/bridge/export"

	"elicitation-inspector/bridge/rawjson"
	"elicitation-inspector/bridge/wire"
	"elicitation-inspector/bridge/wire/redact"
)

// copyMost is the largest frame in bytes that can be copied. Larger ones can be saved.
const copyMost = 8 << 20

// copied answers with a frame as plain text in the form that the path names: raw,
// pretty, line (of a transcript) or curl. The last two are redacted, unless the query
// secrets is set.
func (s *Server) copied(c echo.Context, seq int64) error {
	f, done, err := s.readFrame(c, seq)
	if err != nil {
		return err
	}
	if done(); len(f.Raw) > copyMost {
		return echo.NewHTTPError(http.StatusRequestEntityTooLarge, fmt.Sprintf("A frame of more than %d MiB cannot be copied. Save it instead.", copyMost>>20))
	}
	redaction, err := s.redaction(c)
	if err != nil {
		return err
	}
	switch c.Param("form") {
	case "raw":
		return c.Blob(http.StatusOK, echo.MIMETextPlainCharsetUTF8, f.Raw)
	case "pretty":
		return c.String(http.StatusOK, rawjson.Pretty(f.Raw))
	case "line":
		var line bytes.Buffer
		if err := wire.WriteFrames(&line, s.in.Log(), slices.Values([]int64{f.Seq}), redaction); err != nil {
			return err
		}
		return c.String(http.StatusOK, line.String())
	case "curl":
		if !export.Curlable(&f) {
			return bad("Frame %d was not sent over HTTP.", f.Seq)
		}
		return c.String(http.StatusOK, export.Curl(redaction.Frame(&f)))
	}
	return echo.ErrNotFound
}

// copiedQuestion answers with an elicitation as plain text in the form that the path
// names: markdown (a report of its frames), call (the command line that makes its call),
// or code for an SDK. What is left out of transcripts is left out.
func (s *Server) copiedQuestion(c echo.Context, q answerable) error {
	if q.Request == nil {
		return bad("Question %d is not an elicitation that can be read.", q.Number)
	}
	redaction, err := s.redaction(c)
	if err != nil {
		return err
	}
	var text string
	switch form := c.Param("form"); form {
	case "markdown":
		var b strings.Builder
		d := export.Document{Log: s.marks(), Seqs: slices.Values([]int64{q.AskedSeq, q.AnswerSeq}), Redact: redaction, Title: q.Request.Message}
		err = d.Write(c.Request().Context(), &b, export.Markdown)
		text = b.String()
	case "call":
		call, callErr := s.in.Call(q.Call)
		server, serverErr := s.in.Target(q.Server)
		err = errors.Join(callErr, serverErr)
		text = redaction.Text(call.Request.CommandLine(server.CommandLine()))
	default:
		text, err = export.CodeThatAsks(export.SDK(form), q.Request)
		text = redaction.Text(text)
	}
	if err != nil {
		return err
	}
	return c.String(http.StatusOK, text)
}

// redaction returns the redaction for copies, which has learned all frames. The query
// secrets turns it off.
func (s *Server) redaction(c echo.Context) (*redact.Redaction, error) {
	if c.QueryParam("secrets") != "" {
		return redact.Nothing(), nil
	}
	return s.config.Redaction, s.config.Redaction.Learn(c.Request().Context(), s.in.Log())
}
