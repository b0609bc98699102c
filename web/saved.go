package web

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"net/http"
	"slices"

	"github.com/labstack/echo/v4"

	"elicitation-inspector/bridge/export"
	"elicitation-inspector/bridge/wire"
	"elicitation-inspector/bridge/wire/query"
	"elicitation-inspector/bridge/wire/redact"
)

// selection is the frames of a log that are saved.
type selection struct {
	Log       *wire.Log
	Marks     *wire.Log   // stores the marks of the frames: Log, except in a playback
	View      *query.View // the frames, up to date
	Redaction *redact.Redaction
	Title     string
	Version   string // of the inspector
	Logger    *slog.Logger
}

// Transcript answers with the frames as a transcript.
func (s selection) Transcript(c echo.Context) error {
	if c.QueryParam("download") != "" {
		attach(c, "transcript.jsonl")
	}
	return s.stream(c, "application/x-ndjson; charset=utf-8", func(w io.Writer) error {
		if err := wire.WriteFrames(w, s.Log, s.seqs(), s.Redaction); err != nil {
			return err
		}
		return s.Marks.WriteMarks(w, func(seq int64) bool { _, in := s.View.Index(seq); return in })
	})
}

var exportKinds = map[export.Format]string{
	export.JSON: echo.MIMEApplicationJSON, export.HAR: echo.MIMEApplicationJSON, export.HTML: echo.MIMETextHTMLCharsetUTF8,
}

// Document answers with the frames in a format.
func (s selection) Document(c echo.Context, f export.Format) error {
	attach(c, "session"+f.Extension())
	d := export.Document{Log: s.Marks, Seqs: s.seqs(), Redact: s.Redaction, Title: s.Title, Tool: "elicitation-inspector", Version: s.Version}
	return s.stream(c, cmp.Or(exportKinds[f], echo.MIMETextPlainCharsetUTF8), func(w io.Writer) error {
		if err := d.Write(c.Request().Context(), w, f); err != nil {
			return echo.NewHTTPError(http.StatusUnprocessableEntity, fmt.Sprintf("There is no export as %s: %v.", f, err))
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
		err = s.warnOfRemains(ctx)
	}
	switch {
	case err != nil && res.Committed:
		if ctx.Err() == nil {
			s.Logger.Error("saving frames as a file", "error", err)
		}
		panic(http.ErrAbortHandler)
	case err != nil:
		res.Header().Del(echo.HeaderContentDisposition)
	}
	return err
}

func attach(c echo.Context, name string) {
	c.Response().Header().Set("Content-Disposition", fmt.Sprintf("attachment; filename=%q", name))
}

// warnOfRemains logs the frames of a saved file that still contain values which a rule
// redacts elsewhere.
func (s selection) warnOfRemains(ctx context.Context) error {
	remains, err := s.Redaction.Remaining(ctx, s.Log, s.seqs(), false)
	for _, left := range remains {
		s.Logger.Warn("a transcript was saved that is not rid of what is left out: " + left.String())
	}
	return err
}

// seqs lists the frames, and those that store their marks, in order.
func (s selection) seqs() iter.Seq[int64] {
	seqs := slices.Collect(s.View.All())
	marked, _ := s.Marks.Marked()
	for _, seq := range marked {
		if _, in := s.View.Index(seq); in {
			if by := s.Marks.Marking(seq); by != 0 {
				seqs = append(seqs, by)
			}
		}
	}
	slices.Sort(seqs)
	return slices.Values(slices.Compact(seqs))
}
