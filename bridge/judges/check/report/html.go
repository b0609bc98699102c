package report

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/a-h/templ"

	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/keep/export"
)

//go:embed report.css
var pageStyle string

// evidenceMost is the largest total size in bytes of the frames in a page.
const evidenceMost = 8 << 20

type page struct {
	*View
	room int             // remaining bytes for frames
	more templ.Component // after the calls; nil for nothing
}

// WriteHTML writes a page that needs no server, network or script, with more after the calls unless
// that is nil. Texts of the server are only text in it.
func WriteHTML(w io.Writer, r *Report, more templ.Component) error {
	return export.WritePage(context.Background(), w, (&page{NewView(r), evidenceMost, more}).document())
}

var meanings = map[Verdict]string{
	Fail: "a MUST is broken, or the server ended or hung", Warn: "a SHOULD is broken",
	Inconclusive: "no frame can show it", Pass: "nothing is wrong",
}

// fits reports whether the page has room left for the frames, and takes it.
func (p *page) fits(frames []Frame) bool {
	size := 0
	for _, f := range frames {
		size += len(f.Text)
	}
	if size > p.room {
		return false
	}
	p.room -= size
	return true
}

// Names reports whether the finding names a frame.
func (in *Instance) Names(seq int64) bool { return slices.Contains(in.Frames, seq) }

// ID returns the id of the instance's HTML element.
func (in *Instance) ID() string { return fmt.Sprintf("f%d-%d", in.Told.Number, in.Place) }

// Given returns the arguments of the call; nil if there are none.
func (c *CallView) Given() json.RawMessage {
	if rawjson.Count(c.Arguments) == 0 {
		return nil
	}
	return c.Arguments
}

// Passed returns the rows in which all trials passed.
func (c *CallView) Passed() []Row {
	return c.rows(func(v Verdict, _ bool) bool { return v == Pass })
}

// Others returns the rows with a trial that did not pass.
func (c *CallView) Others() []Row {
	return c.rows(func(v Verdict, _ bool) bool { return v != Pass })
}
