package views

import (
	"fmt"
	"math"
	"strconv"
	"time"
)

// face is one way to look at a frame.
type face struct{ id, name string }

// faces are the ways that make sense for this frame, the best first.
func (d Detail) faces() []face {
	var out []face
	if d.Tree != nil {
		out = append(out, face{"pretty", "Pretty"})
	}
	out = append(out, face{"raw", "Raw"})
	if d.Status != 0 || len(d.Header) > 0 {
		out = append(out, face{"headers", "Headers"})
	}
	if d.Kind == "request" || d.Kind == "result" || d.Kind == "error" || d.Pair != 0 {
		out = append(out, face{"pair", "Pair"})
	}
	if n := len(d.Found); n > 0 {
		out = append(out, face{"findings", "Findings " + strconv.Itoa(n)})
	}
	out = append(out, face{"compare", "Compare"})
	note := "Note"
	if d.Mark.Note != "" {
		note = "Note 1"
	}
	return append(out, face{"note", note})
}

// route says who sent a frame to whom.
func (d Detail) route() string {
	switch d.Dir {
	case "c2s":
		return "client → " + d.Server
	case "s2c":
		return d.Server + " → client"
	case "stderr":
		return d.Server + ", standard error"
	}
	return d.Server
}

// facts are what is known of a frame besides its bytes.
func (d Detail) facts() string {
	id, status, round, question, latency, actor := "", "", "", "", "", ""
	if d.ID != "" {
		id = "id " + d.ID
	}
	if d.Status != 0 {
		status = "HTTP " + strconv.Itoa(d.Status)
	}
	if d.Round > 1 {
		round = "round " + strconv.Itoa(d.Round)
	}
	if d.Question > 0 {
		question = "question " + strconv.Itoa(d.Question)
	}
	if d.HasLatency {
		latency = "after " + lasted(d.Latency)
	}
	if d.Actor != "" && d.Actor != "person" {
		actor = "by the " + d.Actor
	} else if d.Actor != "" {
		actor = "by you"
	}
	stream := d.Stream
	if stream == "" {
		stream = d.Transport
	}
	return join(" · ", id, stream, status, round, question, actor, latency, bytesWords(d.Size))
}

// alone says why a frame has no other half.
func (d Detail) alone() string {
	switch {
	case d.Kind == "request" && d.Pending:
		return "No answer to this has come yet."
	case d.Kind == "request":
		return "No answer to this has come."
	}
	return "This answers no request that was seen."
}

// clock splits the time of a row into the hour, which narrow windows leave out,
// and the rest.
func (r Row) clock() (hour, rest string) {
	if len(r.Time) > 3 && r.Time[2] == ':' && r.Time[0] >= '0' && r.Time[0] <= '9' {
		return r.Time[:3], r.Time[3:]
	}
	return "", r.Time
}

// odd says in a word what does not pair up as it should.
func (r Row) odd() (word, means string) {
	switch {
	case r.Orphan:
		return "orphan", "this answers no request that was seen"
	case r.Duplicate && r.Kind == "request":
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
	case r.Kind == "error":
		if r.Method == "" {
			return "" // it is called so already
		}
		return "error"
	case r.Status >= 400:
		return "HTTP " + strconv.Itoa(r.Status)
	case r.Kind == "result":
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
func (r Row) PinID() string { return "pin-" + strconv.FormatInt(r.Seq, 10) }

// marked are the classes of a row that somebody coloured or pinned.
func (r Row) marked() string {
	colour, pin := "", ""
	if r.Mark.Colour != "" {
		colour = "in-" + r.Mark.Colour
	}
	if r.Mark.Pinned {
		pin = "pinned-row"
	}
	return join(" ", colour, pin)
}

// markWords tell a row's mark to those who cannot see it.
func (m Mark) words() string {
	pinned, colour := "", ""
	if m.Pinned {
		pinned = "pinned"
	}
	if m.Colour != "" {
		colour = "marked " + m.Colour
	}
	return join(", ", pinned, colour)
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
