package web

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"elicitation-inspector/bridge"
	"elicitation-inspector/bridge/wire/query"
	"elicitation-inspector/bridge/wording"
)

const (
	viewsKept = 8                     // each takes a bit for each frame of the log
	patience  = 80 * time.Millisecond // how long one request judges frames; then it answers with the rows found so far
)

// filters keeps the views of the filter lines that pages used last, so that returning
// to a filter takes no time.
type filters struct {
	mu   sync.Mutex
	kept []*filterView // the most recently used first
	made int64
}

type filterView struct {
	*query.View
	line   string
	number int64 // a new number for each view of the same line, because rows can move from one view to the next
	state  filterState
}

// filterState counts the findings and marks that a view was judged with. A view is made
// anew when they change.
type filterState struct {
	findings int
	marks    int64
}

// filtered returns the view of a filter line after at most patience. If that was too
// short to judge all frames, the next call continues. The error is a *query.Error if
// the line has a mistake.
func (s *wireLog) filtered(ctx context.Context, line string) (*filterView, error) {
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

// findView returns the kept view of a filter line, or a new one.
func (s *wireLog) findView(line string) (*filterView, error) {
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
		_, state.marks = s.marks.Marked()
	}
	fresh := viewOf(s.in, filter)
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

func viewOf(in *bridge.Inspection, f *query.Filter) *query.View {
	var rules func(seq int64) []string
	if f.UsesFindings() {
		rules = in.Rules()
	}
	return query.NewView(in.Log(), f, rules)
}

// mistakeIn returns the mistake in a filter line with offsets in UTF-16 code units, as
// JavaScript counts them. It returns nil for other errors.
func mistakeIn(line string, err error) *query.Error {
	var wrong *query.Error
	if !errors.As(err, &wrong) {
		return nil
	}
	return &query.Error{Pos: query.UTF16Offset(line, wrong.Pos), End: query.UTF16Offset(line, wrong.End), Text: wording.Sentence(wrong.Text)}
}
