package wirelog

import (
	"cmp"
	"math"
	"strconv"
	"strings"
	"time"

	"elicitation-inspector/bridge/lint"
	"elicitation-inspector/bridge/mcp"
	"elicitation-inspector/bridge/wire"
	"elicitation-inspector/bridge/wording"
)

// Row is one line of the wire log's window.
type Row struct {
	wire.Row
	Index       int64  // 1-based place in the present view
	Clock       string // time of day, or since another frame; with milliseconds
	ServerIndex int
	Pending     bool       // a request that may still get a response
	Asks        bool       // it asked questions that are still open
	Ended       string     // for a request: what ended it instead of a response, "HTTP 400"; else ""
	Findings    lint.Tally // of the linter's
	Mark        wire.Mark
	Polls       int // for the first of several requests tasks/get about a task: how many there are; else 0
}

func (r Row) arrow() (sign, words string) {
	switch r.Dir {
	case wire.ClientToServer:
		return "→", "to the server"
	case wire.ServerToClient:
		return "←", "from the server"
	case wire.Stderr:
		return "!", "standard error"
	}
	return "·", "note"
}

func (r Row) label() string {
	if r.Kind.IsMessage() {
		return cmp.Or(r.Method, r.Kind.String())
	}
	return r.Kind.String()
}

// negotiates reports whether the frame is the refusal of server/discover by a server of
// an earlier revision, which is not an error.
func (r Row) negotiates() bool {
	return r.Kind == wire.Error && r.Method == mcp.MethodDiscover && r.Status < 400
}

func (r Row) actionClass() string {
	switch r.Action {
	case "accept":
		return "good"
	case "error":
		return "bad"
	}
	return "plain"
}

// clock splits the time of a row into the hour, which narrow windows omit, and the rest.
func (r Row) clock() (hour, rest string) {
	if t := r.Clock; len(t) > 3 && t[2] == ':' && t[0] >= '0' && t[0] <= '9' {
		return t[:3], t[3:]
	}
	return "", r.Clock
}

// id returns the id of the message, or of the request that the frame ends.
func (r Row) id() string { return cmp.Or(string(r.Message.ID), string(r.Answers)) }

// answers reports whether the frame answers a request, so that it has a latency.
func (r Row) answers() bool { return r.Kind != wire.Request && r.Pair != 0 }

// beside reports whether the frame belongs to a session that was opened to compare what a
// server offers under two declarations.
func (r Row) beside() bool { return strings.HasSuffix(r.Session, "-compare") }

// About returns the summary without the action at its beginning, which is drawn
// separately.
func (r Row) About() string {
	if rest, ok := strings.CutPrefix(r.Summary, r.Action); ok && r.Action != "" && (rest == "" || rest[0] == ' ') {
		return strings.TrimPrefix(strings.TrimPrefix(rest, " "), "· ")
	}
	return r.Summary
}

// speaks reports whether the frame asks a person something or answers it, so that its
// words come before its method.
func (r Row) speaks() bool { return r.Elicits || r.Action != "" }

// question returns the words of a frame that asks something, without the sign before
// them, which is drawn as an icon.
func (r Row) question() string { return strings.TrimPrefix(r.Summary, "? ") }

// odd describes a frame that is not paired as it should be.
func (r Row) odd() (word, means string) {
	switch {
	case r.Orphan:
		return "orphan", "this answers no request that was seen"
	case r.Duplicate && r.Kind == wire.Request:
		return "same id", "its sender has used this id before"
	case r.Duplicate:
		return "again", "the request was answered before"
	}
	return "", ""
}

func (r Row) failure() string {
	switch {
	case !r.Failed:
		return ""
	case r.Kind == wire.Error:
		if r.Method == "" {
			return "" // the label is already "error"
		}
		return "error"
	case r.Status >= 400:
		return "HTTP " + strconv.Itoa(r.Status)
	case r.Kind == wire.Result:
		return "isError"
	}
	return ""
}

// size formats the size to fit into the column.
func (r Row) size() string {
	if r.Size < 100_000 { // more would not fit the column
		return wording.Grouped(r.Size)
	}
	return wording.Size(r.Size)
}

// bar returns the class for the length of a latency's bar, from 1 to 10: two more mean
// ten times as long, from a millisecond to half a minute.
func (r Row) bar() string {
	ms := float64(r.Latency) / float64(time.Millisecond)
	return "w" + strconv.Itoa(int(max(1, min(10, math.Round(1+2*math.Log10(max(ms, 1)))))))
}

// PinID is the id of the element of a pinned frame.
func PinID(seq int64) string { return "pin-" + strconv.FormatInt(seq, 10) }

func (r Row) marked() string {
	return wording.Join(" ", wording.Either(r.Mark.Colour != "", "in-"+r.Mark.Colour, ""), wording.Either(r.Mark.Pinned, "pinned-row", ""))
}

// markWords describes a row's mark for people who cannot see it.
func (r Row) markWords() string {
	return wording.Join(", ", wording.Either(r.Mark.Pinned, "pinned", ""), wording.Either(r.Mark.Colour != "", "marked "+r.Mark.Colour, ""))
}
