package web

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/client/inspection"
	"elicitation-inspector/bridge/keep/export"
	answers "elicitation-inspector/bridge/keep/script"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/meaning/lint"
	"elicitation-inspector/bridge/wire"
	"elicitation-inspector/bridge/wire/query"
	"elicitation-inspector/bridge/wire/redact"
)

// sharing has what it takes to give frames away, in files, copies and pictures, without the
// values that are redacted.
type sharing struct {
	in        *inspection.Inspection
	redaction *redact.Redaction
	version   string // the inspector's own
}

// redacted returns the redaction, which has learned all frames.
func (s sharing) redacted(ctx context.Context) (*redact.Redaction, error) {
	return s.redaction, s.redaction.Learn(ctx, s.in.Log())
}

// chosen returns the redaction for copies, which has learned all frames. The query
// secrets turns it off.
func (s sharing) chosen(c echo.Context) (*redact.Redaction, error) {
	if c.QueryParam("secrets") != "" {
		return redact.Nothing(), nil
	}
	return s.redacted(c.Request().Context())
}

// titleOf returns the title of a download of frames of the log; see [export.Title].
func (s sharing) titleOf(ctx context.Context, first int64, only func(seq int64) bool) (string, error) {
	redaction, err := s.redacted(ctx)
	if err = errors.Join(err, s.in.Conversation().Update(ctx)); err != nil {
		return "", err
	}
	return export.Title(ctx, s.in.Conversation(), s.in.Log(), redaction, first, only)
}

// exports answers with files of what was seen.
type exports struct {
	sharing
	marks  *wire.Log // stores the marks
	logger *slog.Logger
}

func (s exports) routes(e *echo.Echo) {
	e.GET("/wire.jsonl", s.selected(s.transcript))                      // the transcript so far; queries filter and download
	e.GET("/export/:format", s.selected(s.document))                    // the log in one of [export.Documents]; queries filter and title
	e.GET("/answers.yaml", s.answers)                                   // the answers so far, as a script
	e.GET("/findings.json", s.findings)                                 // findings of all servers, or of one (query server=ID), for other programs
	e.GET("/questions/:n/copy/:form", of(questionIn(s.in), s.question)) // an elicitation as text: markdown, call, or code for go-sdk, mcp-go, typescript, python
}

// question answers with an elicitation as plain text in the form that the path
// names: markdown (a report of its frames), call (the command line that makes its call),
// or code for an SDK. What is left out of transcripts is left out.
func (s exports) question(c echo.Context, q answerable) error {
	if q.Request == nil {
		return bad("Question %d is not an elicitation that can be read.", q.Number)
	}
	redaction, err := s.chosen(c)
	if err != nil {
		return err
	}
	call, callErr := s.in.Call(q.Call)
	target, targetErr := s.in.Target(q.Server)
	unknown := errors.Join(callErr, targetErr) // then there is no command line
	text := redaction.Text(call.Request.CommandLine(target.CommandLine()))
	switch form := c.Param("form"); form {
	case "markdown":
		var b strings.Builder
		seqs := []int64{q.AskedSeq, q.AnswerSeq, s.in.Next(q.Question).Seq, call.ResultSeq}
		slices.Sort(seqs) // 0 is no frame
		d := export.Document{Log: s.marks, Seqs: slices.Values(slices.Compact(seqs)), Redact: redaction, Title: redaction.Text(q.Request.Message), Version: s.version}
		err = d.Write(c.Request().Context(), &b, export.Markdown)
		b.WriteString("\n## The request\n\n" + export.Fenced("json", wording.Escape(rawjson.Pretty(q.Params))))
		if server, err := s.in.Server(q.Server); err == nil {
			fmt.Fprintf(&b, "\n## The server\n\n%s\n", export.Span(wording.Join(", ", wording.Join(" ", server.Info.Name, server.Info.Version), "revision "+server.Info.Protocol, server.How)))
		}
		if unknown == nil {
			fmt.Fprintf(&b, "\n## To reproduce it\n\n```sh\n%s\n```\n", text)
		}
		text = redaction.Text(b.String())
	case "call":
		err = unknown
	default:
		text, err = export.CodeThatAsks(export.SDK(form), q.Request)
		text = redaction.Text(text)
	}
	if err != nil {
		return err
	}
	return c.String(http.StatusOK, text)
}

// selection holds the frames that the query filter of a request picks.
type selection struct {
	exports
	view   *query.View // up to date
	picked []int64     // with all frames of questions
}

// selected makes a handler that first finds the frames which the query filter picks.
func (s exports) selected(save func(echo.Context, selection) error) echo.HandlerFunc {
	return func(c echo.Context) error {
		line := c.QueryParam("filter")
		filter, err := query.Parse(line)
		if err != nil {
			return misfiltered(c, line, err)
		}
		view := viewOf(s.in, filter)
		ctx := c.Request().Context()
		err = view.Update(ctx)
		seqs, seqsErr := export.WithQuestions(ctx, s.in.Log(), s.in.Conversation(), view)
		if err := errors.Join(err, seqsErr); err != nil {
			return err
		}
		return save(c, selection{s, view, seqs})
	}
}

func (s exports) transcript(c echo.Context, frames selection) error {
	return frames.write(c, export.JSONL, c.QueryParam("download") != "")
}

func (s exports) document(c echo.Context, frames selection) error {
	format, err := export.Documents.Named(c.Param("format"))
	if err != nil {
		return bad("The format %v.", err)
	}
	return frames.write(c, format, true)
}

// write answers with the frames in a format, as a file with a name of its own if it is attached.
func (s selection) write(c echo.Context, format *export.DocumentFormat, attached bool) error {
	seqs := slices.Clone(s.picked) // and the frames that store their marks
	marked, _ := s.marks.Marked()
	for _, seq := range marked {
		if _, in := slices.BinarySearch(s.picked, seq); in {
			if by := s.marks.Marking(seq); by != 0 {
				seqs = append(seqs, by)
			}
		}
	}
	slices.Sort(seqs) // 0 is no frame
	d := export.Document{Log: s.marks, Seqs: slices.Values(slices.Compact(seqs)), Redact: s.redaction, Version: s.version}
	if attached {
		var err error
		if d.Title = c.QueryParam("title"); d.Title == "" {
			if d.Title, err = s.title(c.Request().Context()); err != nil {
				return err
			}
		}
		attach(c, export.FileName(d.Title, format.Ending))
	}
	return s.stream(c, format.Media, func(w io.Writer) error {
		if err := d.Write(c.Request().Context(), w, format); err != nil {
			return echo.NewHTTPError(http.StatusUnprocessableEntity, fmt.Sprintf("The export failed: %v.", err))
		}
		return nil
	})
}

// stream answers with what write writes, while it is written. After an error it cuts the
// connection, so that no part of a file can be taken for the whole; before the first bytes
// it answers with the error.
func (s selection) stream(c echo.Context, kind string, write func(io.Writer) error) error {
	res := c.Response()
	res.Header().Set(echo.HeaderContentType, kind)
	ctx := c.Request().Context()
	err := write(res)
	if err == nil {
		for _, doubt := range s.redaction.Doubts() {
			s.logger.Warn("a saved transcript may have values that should be left out: " + doubt)
		}
	}
	switch {
	case err != nil && res.Committed:
		if ctx.Err() == nil {
			s.logger.Error("saving frames as a file", "error", err)
		}
		panic(http.ErrAbortHandler)
	case err != nil:
		res.Header().Del(echo.HeaderContentDisposition)
	}
	return err
}

// title says what the frames are.
func (s selection) title(ctx context.Context) (string, error) {
	first := int64(0)
	for first = range s.view.All() {
		break
	}
	return s.titleOf(ctx, first, func(seq int64) bool { _, in := s.view.Index(seq); return in })
}

type exported struct {
	Server string `json:"server"` // label of the server
	lint.Finding
	Frame    int64 `json:"frame"` // number in the wire log of the frame that Pointer leads into
	Question int   `json:"question,omitempty"`
	Call     int   `json:"call,omitempty"`
}

func (s exports) findings(c echo.Context) error {
	labels := map[string]string{}
	for _, server := range s.in.Servers() {
		labels[server.ID] = server.Label
	}
	redaction, err := s.redacted(c.Request().Context())
	if err != nil {
		return err
	}
	out := []exported{}
	for _, f := range s.in.Findings(c.QueryParam("server")) {
		shown, err := lint.Shared(f.Finding, f.Seq, s.in.Log(), redaction)
		if err != nil {
			return err
		}
		out = append(out, exported{labels[f.Server], shown, f.Seq, f.Question, f.Call})
	}
	title, err := s.titleOf(c.Request().Context(), 1, nil)
	if err != nil {
		return err
	}
	attach(c, export.FileName("findings of "+title, ".json"))
	return c.JSONPretty(http.StatusOK, out, "  ")
}

func (s exports) answers(c echo.Context) error {
	ctx := c.Request().Context()
	redaction, err := s.chosen(c)
	if err != nil {
		return err
	}
	if err := s.in.Conversation().Update(ctx); err != nil {
		return err
	}
	calls, err := answers.CallsIn(ctx, s.in.Conversation(), 0, conversation.Reading{Redact: redaction})
	if err != nil {
		return err
	}
	if c.QueryParam("download") != "" {
		title, err := s.titleOf(ctx, 1, nil)
		if err != nil {
			return err
		}
		attach(c, export.FileName("answers of "+title, ".yaml"))
	}
	script, _ := answers.AnswersOf(calls, answers.Writing{From: "this session", Expect: true}) // its text says what is missing
	return c.Blob(http.StatusOK, "application/yaml; charset=utf-8", []byte(script.String()))
}
