package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"elicitation-inspector/bridge/judges/check/report"
	"elicitation-inspector/bridge/judges/fit"
	"elicitation-inspector/bridge/wire"
	"elicitation-inspector/bridge/wire/redact"
)

// askedInTrials are the questions of the honest calls of a check.
type askedInTrials struct {
	ctx       context.Context
	directory string // of the transcripts

	mu   sync.Mutex
	list []fit.Asked
	err  error
}

func (a *askedInTrials) add(log *wire.Log, transcript string) {
	list, err := fit.QuestionsIn(a.ctx, log)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.err = errors.Join(a.err, err)
	for _, q := range list {
		if transcript != "" {
			q.File = filepath.Join(a.directory, transcript)
		}
		a.list = fit.Add(a.list, q)
	}
}

// write writes a report with how its questions fit. The check has ended.
func (a *askedInTrials) write(w io.Writer, format string, r *report.Report, profiles []*fit.Profile, redaction *redact.Redaction) error {
	if a.err != nil {
		return a.err
	}
	slices.SortFunc(a.list, func(x, y fit.Asked) int {
		return cmp.Or(cmp.Compare(x.Call, y.Call), cmp.Compare(x.Via, y.Via), cmp.Compare(x.Frame, y.Frame), bytes.Compare(x.Params, y.Params))
	})
	c := &fit.Checked{Report: r, Fit: fit.Judge(a.list, profiles, time.Now())}
	c.Fit.Inspector = r.Inspector
	redaction.Document(c.Fit)
	if format != "text" {
		one, err := fit.CheckedFormats.Named(format)
		if err != nil {
			return err
		}
		return one.Write(w, c)
	}
	err := checkFormats[0].Write(w, r)
	if err == nil {
		_, err = io.WriteString(w, "\nAs clients show it:\n")
	}
	return errors.Join(err, fit.Formats[0].Write(w, c.Fit))
}
