// Package saved answers requests for the log, or for some of its frames, as a file.
package saved

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"net/http"
	"os"
	"slices"

	"github.com/labstack/echo/v4"

	"elicitation-inspector/bridge/export"
	"elicitation-inspector/bridge/wire"
	"elicitation-inspector/bridge/wire/query"
	"elicitation-inspector/bridge/wire/redact"
)

// Selection is the frames of a log that are saved.
type Selection struct {
	Log       *wire.Log
	Marks     *wire.Log   // stores the marks of the frames: Log, except in a playback
	View      *query.View // the frames, up to date
	Redaction *redact.Redaction
	Title     string
	Version   string // of the inspector
	Logger    *slog.Logger
}

// Transcript answers with the frames as a transcript, which is written while it is sent.
func (s Selection) Transcript(c echo.Context) error {
	c.Response().Header().Set("Content-Type", "application/x-ndjson; charset=utf-8")
	if c.QueryParam("download") != "" {
		attach(c, "transcript.jsonl")
	}
	c.Response().WriteHeader(http.StatusOK)
	if err := wire.WriteFrames(c.Response(), s.Log, s.seqs(), s.Redaction); err != nil {
		return err
	}
	if err := s.warnOfRemains(c.Request().Context()); err != nil {
		return err
	}
	return s.Marks.WriteMarks(c.Response(), func(seq int64) bool { _, in := s.View.Index(seq); return in })
}

var kinds = map[export.Format]string{
	export.JSON: echo.MIMEApplicationJSON, export.HAR: echo.MIMEApplicationJSON, export.HTML: echo.MIMETextHTMLCharsetUTF8,
}

// Document answers with the frames in a format. The document is complete before the
// answer begins, so that no part of it can be taken for the whole.
func (s Selection) Document(c echo.Context, f export.Format) error {
	file, err := os.CreateTemp("", "inspector-export-")
	if err != nil {
		return err
	}
	defer func() { _ = errors.Join(file.Close(), os.Remove(file.Name())) }()
	ctx := c.Request().Context()
	d := export.Document{Log: s.Marks, Seqs: s.seqs(), Redact: s.Redaction, Title: s.Title, Tool: "elicitation-inspector", Version: s.Version}
	if err := d.Write(ctx, file, f); err != nil {
		return echo.NewHTTPError(http.StatusUnprocessableEntity, fmt.Sprintf("There is no export as %s: %v.", f, err))
	}
	if err := s.warnOfRemains(ctx); err != nil {
		return err
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	attach(c, "session"+f.Extension())
	kind := kinds[f]
	if kind == "" {
		kind = echo.MIMETextPlainCharsetUTF8
	}
	return c.Stream(http.StatusOK, kind, file)
}

func attach(c echo.Context, name string) {
	c.Response().Header().Set("Content-Disposition", fmt.Sprintf("attachment; filename=%q", name))
}

// warnOfRemains logs the frames of a saved file that still contain values which a rule
// redacts elsewhere.
func (s Selection) warnOfRemains(ctx context.Context) error {
	remains, err := s.Redaction.Remaining(ctx, s.Log, s.seqs(), false)
	for _, left := range remains {
		s.Logger.Warn("a transcript was saved that is not rid of what is left out: " + left.String())
	}
	return err
}

// seqs lists the frames, and those that store their marks, in order.
func (s Selection) seqs() iter.Seq[int64] {
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
