// Package wirelog draws the wire log: its rows, a frame in detail, and what the linter has
// found in frames. What else the page shows of a frame, such as a question, is not its own.
package wirelog

// Status describes the whole wire log.
type Status struct {
	Frames int64
	Kept   string // how much is kept where, in words
	Err    string // storage or recording trouble
	// State changes when rows may have to be drawn again although their frames are the
	// same: after new findings or notes.
	State   string
	Repeats bool  // there are polls of tasks that can be folded
	Pins    []Row // the frames that are pinned; not part of what [State] draws
}

// Limits of the markup in bytes.
const (
	pinsMost = 20 << 10
	rowsMost = 900_000 // rows in one answer
)

// chips are frequent filters. A chip replaces others of its group.
var chips = []struct{ name, group, term, means string }{
	{"Questions", "what", "is:question", "Questions from servers"},
	{"Answers", "what", "is:answer", "Answers to questions"},
	{"Errors", "what", "kind:error", "Failures: errors, results with isError, HTTP 400 and above, exits with a code"},
	{"Noise", "what", "kind:noise,stderr", "Everything that is not a message"},
	{"Findings", "what", "finding:any", "Frames with findings"},
	{"Pinned", "what", "is:pinned", "Pinned frames"},
}
