package views

import (
	"fmt"
	"slices"
	"strconv"

	"elicitation-inspector/bridge/base/wording"
)

func pageTitle(p Page) string {
	if n := waiting(p.Questions); n > 0 && p.Replay == nil {
		return fmt.Sprintf("(%d) %s", n, wording.Product)
	}
	return wording.Product
}

// shown returns the number of the call on show, -1 for the form of a new call, and 0 for
// neither.
func (p Page) shown() int {
	switch {
	case p.Call != nil:
		return p.Call.Number
	case p.Form != nil:
		return -1
	}
	return p.Forgotten
}

// pane returns the pane that a narrow window shows first: the catalog while nothing is
// selected and there are no stories to begin with, and the wire log if only frames of the
// call are left.
func (p Page) pane() string {
	if p.Forgotten > 0 {
		return "wire"
	}
	if p.Call == nil && p.Form == nil && p.Missing == nil && len(p.Questions) == 0 && !p.ReadOnly && !slices.ContainsFunc(p.Start.Servers, func(f Found) bool { return len(f.Stories) > 0 }) {
		return "side"
	}
	return "work"
}

var themes = []struct{ value, name string }{{"", "System theme"}, {"light", "Light"}, {"dark", "Dark"}}

var keyTable = []struct {
	keys []string
	does string
}{
	{[]string{"Ctrl ↵", "⌘ ↵"}, "accept the question, or make the call, where the focus is"},
	{[]string{"↵"}, "the same, from a one-line field"},
	{[]string{"Esc"}, "in a question: offer Cancel; again: back to the field"},
	{[]string{"q"}, "next waiting question"},
	{[]string{"/"}, "search tools, prompts and resources; in the wire log: the filter"},
	{[]string{"w"}, "wire log"},
	{[]string{"↑", "↓", "k", "j"}, "in the wire log: move by one frame"},
	{[]string{"Home", "End"}, "first frame; last frame, and follow"},
	{[]string{"f"}, "in the wire log: follow what comes, or stop following"},
	{[]string{"↵", "Esc"}, "open the frame; close it"},
	{[]string{"Ctrl k", "⌘ k"}, "command palette"},
	{[]string{"p"}, "present: big type, the question beside the sequence of its call; again: back"},
	{[]string{"?"}, "this list"},
}

// Limits of elements with many parts. Together with that of the pinned frames they keep the
// page below [markup.PageMost], whatever servers send.
const (
	PanelMost = 250 << 10 // all questions

	serversMost = 80 << 10
	startMost   = 40 << 10
	catalogMost = 110 << 10
	partsMost   = 64 << 10 // blocks of a result

	TabsMost         = 80 // calls in the strip
	capabilitiesMost = 40
	foundMost        = 20 // findings on one question
)

// number formats a number with at most six digits.
func number(f float64) string { return strconv.FormatFloat(f, 'g', 6, 64) }

func firstOf[T any](list []T, most int) []T { return list[:min(len(list), most)] }
