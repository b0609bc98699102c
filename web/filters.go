package web

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf16"

	"elicitation-inspector/bridge/wire/query"
	"elicitation-inspector/bridge/wording"
)

const (
	viewsKept = 8                     // each takes a bit for each frame of the log
	patience  = 80 * time.Millisecond // how long a request judges frames before it is answered with what there is
)

// filters are the views of the log that pages look at, one for each filter line.
// A few are kept, so that going back to a filter costs nothing.
type filters struct {
	mu   sync.Mutex
	kept []*filterView // the one asked for last in front
	made int64
}

// filterView is the view of one filter line.
type filterView struct {
	*query.View
	line   string
	number int64 // tells it from earlier views of the same line, in which frames had other places
	state  filterState
}

// filterState is what a filter by findings or marks was judged by.
type filterState struct {
	findings int
	marks    int64
}

// filtered returns the view of a filter line, as far as it is judged: after a short
// while all of the log, or else as much as there was time for. Asking again goes
// on from there. The error is a *query.Error where the line has a mistake.
func (s *Server) filtered(ctx context.Context, line string) (*filterView, error) {
	one, err := s.findView(line)
	if err != nil {
		return nil, err
	}
	short, stop := context.WithTimeout(ctx, patience)
	defer stop()
	err = one.Update(short)
	if short.Err() != nil {
		return one, ctx.Err()
	}
	return one, err
}

// findView returns the view of a line, a new one if there is none.
func (s *Server) findView(line string) (*filterView, error) {
	filter, err := query.Parse(line)
	if err != nil {
		return nil, err
	}
	line = strings.TrimSpace(line)
	var state filterState
	if filter.UsesFindings() {
		state.findings = s.in.FindingsKnown()
	}
	if filter.UsesMarks() {
		_, state.marks = s.marks().Marked()
	}
	fresh := s.newView(filter)
	v := &s.filters
	v.mu.Lock()
	defer v.mu.Unlock()
	var one *filterView
	if i := slices.IndexFunc(v.kept, func(f *filterView) bool { return f.line == line }); i >= 0 {
		one = v.kept[i]
		v.kept = slices.Delete(v.kept, i, i+1)
	}
	if one == nil || one.state != state {
		v.made++
		one = &filterView{fresh, line, v.made, state}
	}
	v.kept = slices.Insert(v.kept, 0, one)
	v.kept = v.kept[:min(len(v.kept), viewsKept)]
	return one, nil
}

func (s *Server) newView(f *query.Filter) *query.View {
	var rules func(seq int64) []string
	if f.UsesFindings() {
		rules = s.in.Rules()
	}
	return query.NewView(s.in.Log(), f, rules)
}

// mistakeIn is what is wrong in a filter line, for the page: places are counted as
// JavaScript counts, in UTF-16 code units. It is nil for other errors.
func mistakeIn(line string, err error) *query.Error {
	var wrong *query.Error
	if !errors.As(err, &wrong) {
		return nil
	}
	return &query.Error{Pos: utf16Offset(line, wrong.Pos), End: utf16Offset(line, wrong.End), Text: wording.Sentence(wrong.Text)}
}

// utf16Offset turns a byte offset into one in UTF-16 code units.
func utf16Offset(s string, at int) int {
	n := 0
	for _, r := range s[:min(at, len(s))] {
		n += utf16.RuneLen(r)
	}
	return n
}

// byteOffset is the inverse of utf16Offset. A place inside a character is that
// in front of it.
func byteOffset(s string, at int) int {
	n := 0
	for i, r := range s {
		if n += utf16.RuneLen(r); n > at {
			return i
		}
	}
	return len(s)
}
