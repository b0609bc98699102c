// Package wirelog draws the wire log: its rows, a frame in detail, and what the linter has
// found in frames. What else the page shows of a frame, such as a question, is not its own.
package wirelog

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/meaning/lint"
	"elicitation-inspector/bridge/wire"
)

// Row is one line of the wire log's window.
type Row struct {
	wire.Row
	Index       int64     // 1-based place in the present view
	Start       time.Time // of the log
	Since       time.Time // when what it ends began: the exchange, or the wait for a person; else Time
	ServerIndex int
	Pending     bool       // a request that may still get a response
	Asks        bool       // it asked questions that are still open
	Ended       string     // for a request: what ended it instead of a response, "HTTP 400"; else ""
	Findings    lint.Tally // of the linter's
	Mark        wire.Mark
	Polls       int  // for the first of several requests tasks/get about a task: how many there are; else 0
	Refused     bool // it is the expected refusal of a probe, or is refused by it; see [wire.Log.RefusesProbe]
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

// when returns the date and the time of day.
func (r Row) when() string {
	return wording.Either(r.Time.IsZero(), "", r.Time.Local().Format("2006-01-02 15:04:05.000"))
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
	if r.Kind == wire.SpanFrame { // the label says so
		return strings.TrimPrefix(r.Summary, "span ")
	}
	return r.Summary
}

// speaks reports whether the frame asks a person something or answers it, so that its
// words come before its method.
func (r Row) speaks() bool { return r.Elicits || r.Action != "" }

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

// PinID is the id of the element of a pinned frame.
func PinID(seq int64) string { return "pin-" + strconv.FormatInt(seq, 10) }

func (r Row) marked() string {
	return wording.Join(" ", wording.Either(r.Mark.Colour != "", "in-"+r.Mark.Colour, ""), wording.Either(r.Mark.Pinned, "pinned-row", ""))
}

// markWords describes a row's mark for people who cannot see it.
func (r Row) markWords() string {
	return wording.Join(", ", wording.Either(r.Mark.Pinned, "pinned", ""), wording.Either(r.Mark.Colour != "", "marked "+r.Mark.Colour, ""))
}

// elapsed formats a time span for a column: 0.041, 3:07.250, 2:00:41.
func elapsed(from, to time.Time) string {
	if from.IsZero() || to.IsZero() {
		return "–"
	}
	d := to.Sub(from)
	ms, sign := d.Abs().Milliseconds(), wording.Either(d < 0, "−", "")
	switch {
	case ms < 60_000:
		return fmt.Sprintf("%s%d.%03d", sign, ms/1000, ms%1000)
	case ms < 3_600_000:
		return fmt.Sprintf("%s%d:%02d.%03d", sign, ms/60_000, ms/1000%60, ms%1000)
	}
	return fmt.Sprintf("%s%d:%02d:%02d", sign, ms/3_600_000, ms/60_000%60, ms/1000%60)
}

// EndedBy names the end of a request without a response, "" if it has one.
func EndedBy(end wire.Frame) string {
	switch {
	case end.Kind.IsResponse() && !end.Orphan:
		return ""
	case end.Status >= 300:
		return fmt.Sprintf("HTTP %d", end.Status)
	}
	return "no response"
}
