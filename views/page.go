package views

import "fmt"

// pageTitle says how many questions wait before anything else.
func pageTitle(p Page) string {
	if n := waiting(p.Questions); n > 0 {
		return fmt.Sprintf("(%d) Elicitation Inspector", n)
	}
	return "Elicitation Inspector"
}

// shown is the number of the call on show, 0 if there is none, and -1 where
// that is still to be made.
func (p Page) shown() int {
	switch {
	case p.Call != nil:
		return p.Call.Number
	case p.Form != nil:
		return -1
	}
	return p.Forgotten
}

// pane is what a narrow window shows first: the tools as long as nothing was
// chosen of them, and the wire log where that is all there is of a call.
func (p Page) pane() string {
	if p.Forgotten > 0 {
		return "wire"
	}
	if p.Call == nil && p.Form == nil && len(p.Questions) == 0 && !p.ReadOnly {
		return "side"
	}
	return "work"
}

// keyTable is the help on keys.
var keyTable = []struct {
	keys []string
	does string
}{
	{[]string{"Ctrl ↵", "⌘ ↵"}, "accept the question, or make the call, that you are in"},
	{[]string{"↵"}, "the same, from a one-line field"},
	{[]string{"Esc"}, "in a question: offer Cancel; once more: back to the field"},
	{[]string{"q"}, "next waiting question"},
	{[]string{"/"}, "search tools, prompts and resources; in the wire log: the filter"},
	{[]string{"w"}, "wire log"},
	{[]string{"↑", "↓", "k", "j"}, "in the wire log: move by a frame"},
	{[]string{"Home", "End"}, "first frame; last frame, and follow"},
	{[]string{"f"}, "in the wire log: follow what comes, or stop following"},
	{[]string{"↵", "Esc"}, "open the frame; close it"},
	{[]string{"?"}, "this list"},
}
