package views

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"elicitation-inspector/bridge/mcp"
	"elicitation-inspector/bridge/wire"
)

// face is one way to look at a frame.
type face struct {
	there    bool
	id, name string
}

// faces are the ways that make sense for this frame, the best first.
func (d Detail) faces() []face {
	return slices.DeleteFunc([]face{
		{d.Tree != nil, "pretty", "Pretty"},
		{true, "raw", "Raw"},
		{d.Status != 0 || len(d.Header) > 0, "headers", "Headers"},
		{d.Kind == wire.Request || d.Kind.IsResponse() || d.Pair != 0, "pair", "Pair"},
		{len(d.Found) > 0, "findings", "Findings " + strconv.Itoa(len(d.Found))},
		{true, "compare", "Compare"},
		{true, "note", either(d.Mark.Note != "", "Note 1", "Note")},
	}, func(f face) bool { return !f.there })
}

// route says who sent a frame to whom.
func (d Detail) route() string {
	switch d.Dir {
	case wire.ClientToServer:
		return "client → " + d.Server
	case wire.ServerToClient:
		return d.Server + " → client"
	case wire.Stderr:
		return d.Server + ", standard error"
	}
	return d.Server
}

// facts are what is known of a frame besides its bytes.
func (d Detail) facts() string {
	actor := either(d.Actor == "person", "by you", "by the "+d.Actor)
	actor = either(d.Fault != "", "deliberate: "+d.Fault, actor)
	return join(" · ",
		either(d.id() != "", "id "+d.id(), ""),
		cmp.Or(streamWords[d.Stream], d.Transport),
		either(d.Status != 0, "HTTP "+strconv.Itoa(d.Status), ""),
		either(d.Round > 1, "round "+strconv.Itoa(d.Round), ""),
		either(d.Question > 0, "question "+strconv.Itoa(d.Question), ""),
		either(d.Actor != "", actor, ""),
		either(d.answers(), "after "+lasted(d.Latency), ""),
		bytesWords(d.Size))
}

var streamWords = map[wire.Stream]string{
	wire.StreamPost:    "POST",
	wire.StreamPostSSE: "POST event stream",
	wire.StreamGetSSE:  "GET event stream",
}

// alone says why a frame has no other half.
func (d Detail) alone() string {
	switch {
	case d.Kind == wire.Request && d.Pending:
		return "No answer to this has come yet."
	case d.Kind == wire.Request:
		return "No answer to this has come."
	}
	return "This answers no request that was seen."
}

// arrow is the sign of a direction, and what it means.
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

// label is the word or method that a row leads with.
func (r Row) label() string {
	if r.Kind.IsMessage() {
		return cmp.Or(r.Method, r.Kind.String())
	}
	return r.Kind.String()
}

// negotiates tells whether it refuses server/discover, as a server does that
// knows earlier revisions only: that is expected, and no error to look at.
func (r Row) negotiates() bool {
	return r.Kind == wire.Error && r.Method == mcp.MethodDiscover && r.Status < 400
}

// actionClass colours the action of an answer.
func (r Row) actionClass() string {
	switch r.Action {
	case "accept":
		return "good"
	case "error":
		return "bad"
	}
	return "plain"
}

// clock splits the time of a row into the hour, which narrow windows leave out,
// and the rest.
func (r Row) clock() (hour, rest string) {
	if t := r.Clock; len(t) > 3 && t[2] == ':' && t[0] >= '0' && t[0] <= '9' {
		return t[:3], t[3:]
	}
	return "", r.Clock
}

// id is that of the message, or of the request that it ends.
func (r Row) id() string { return cmp.Or(string(r.Message.ID), string(r.Answers)) }

// answers reports whether it came in answer to a request, so that it has a latency.
func (r Row) answers() bool { return r.Kind != wire.Request && r.Pair != 0 }

// beside reports whether it is of a session that was made to compare what a server
// offers under two declarations.
func (r Row) beside() bool { return strings.HasSuffix(r.Session, "-compare") }

// About is the summary without the action that it begins with, which stands beside
// it.
func (r Row) About() string {
	if rest, ok := strings.CutPrefix(r.Summary, r.Action); ok && r.Action != "" && (rest == "" || rest[0] == ' ') {
		return strings.TrimPrefix(rest, " ")
	}
	return r.Summary
}

// odd says in a word what does not pair up as it should.
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

// failure says in a word how a frame failed where the rest of the row does not.
func (r Row) failure() string {
	switch {
	case !r.Failed:
		return ""
	case r.Kind == wire.Error:
		if r.Method == "" {
			return "" // it is called so already
		}
		return "error"
	case r.Status >= 400:
		return "HTTP " + strconv.Itoa(r.Status)
	case r.Kind == wire.Result:
		return "isError"
	}
	return ""
}

// size words the size where its digits would not fit into the column.
func (r Row) size() string {
	if r.Size < 100_000 { // more would not fit the column
		return grouped(r.Size)
	}
	return bytesWords(r.Size)
}

// bar is how long the bar of a latency is, from 1 to 10: each two stand for ten
// times as long, from a millisecond to half a minute.
func (r Row) bar() string {
	ms := float64(r.Latency) / float64(time.Millisecond)
	return "w" + strconv.Itoa(int(max(1, min(10, math.Round(1+2*math.Log10(max(ms, 1)))))))
}

// PinID is the id of the element of a pinned frame.
func PinID(seq int64) string { return "pin-" + strconv.FormatInt(seq, 10) }

// marked are the classes of a row that somebody coloured or pinned.
func (r Row) marked() string {
	return join(" ", either(r.Mark.Colour != "", "in-"+r.Mark.Colour, ""), either(r.Mark.Pinned, "pinned-row", ""))
}

// markWords tell a row's mark to those who cannot see it.
func (r Row) markWords() string {
	return join(", ", either(r.Mark.Pinned, "pinned", ""), either(r.Mark.Colour != "", "marked "+r.Mark.Colour, ""))
}

// KeptWords says how much of the log is kept where; "" while that is not worth
// a word.
func KeptWords(bytes int64, where string) string {
	if bytes == 0 || where == "" {
		return ""
	}
	return bytesWords(bytes) + " in " + where
}

// differences words how many there are.
func (d Diff) differences() string {
	switch {
	case d.Equal:
		return "They say the same."
	case d.Total > len(d.List):
		return grouped(int64(d.Total)) + " differences; the first " + grouped(int64(len(d.List))) + ":"
	}
	return plural(d.Total, "difference", "differences") + ":"
}

// briefJSON is as much of a value as a difference shows.
func briefJSON(raw []byte) string {
	const most = 400 // bytes
	if len(raw) <= most {
		return string(raw)
	}
	return string(cutRunes(raw, most)) + fmt.Sprintf(" … %d bytes in all", len(raw))
}

// chips are the filters that are wanted often. Those of one group stand for
// each other.
var chips = []struct{ name, group, term, means string }{
	{"Questions", "what", "is:question", "what servers ask"},
	{"Answers", "what", "is:answer", "what was answered"},
	{"Errors", "what", "kind:error", "what failed: errors, results with isError, HTTP 400 and above, exits with a code"},
	{"Noise", "what", "kind:noise,stderr", "what is no message"},
	{"Findings", "what", "finding:any", "what the linter has something to say of"},
	{"Pinned", "what", "is:pinned", "frames that are pinned"},
}
