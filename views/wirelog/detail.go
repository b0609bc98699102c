package wirelog

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/a-h/templ"

	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/meaning/lint"
	"elicitation-inspector/bridge/wire"
)

// Detail is one frame in detail.
type Detail struct {
	Row
	Header   []Fact
	Masked   bool // secrets in the headers are omitted
	Raw      templ.Component
	RawNote  string          // why Raw is not complete, "" if it is
	Tree     templ.Component // JSON of the frame; nil if it has none
	PairRow  *Row
	PairTree templ.Component // JSON of the paired frame; nil if it has none, or is too large
	Found    []lint.Finding
	Follow   string          // the filter for its exchange, "" if it belongs to none
	Curl     bool            // the frame can be sent again over HTTP
	Exchange templ.Component // the HTTP exchange of a sign-in, or a span; nil for other frames
	Earlier  *Row            // the request that this frame may repeat
	Diff     *Diff           // difference to another frame; nil if none was chosen
}

// Diff is the difference between two frames.
type Diff struct {
	Before, After Row
	List          []rawjson.Difference // the first ones
	Total         int
	Equal         bool
	Problem       string // why the frames are not compared
}

// Ladder is an exchange as a sequence diagram.
type Ladder struct {
	Title   string
	Text    string // description in a sentence or two
	Address string // URL for drawing and saving it
	Follow  string // the filter for its frames, "" if there is none
	Running bool   // the exchange may go on
	Drawing templ.Component
}

type face struct {
	there    bool
	id, name string
}

// faces returns the tabs that make sense for this frame, the best first.
func (d Detail) faces() []face {
	return slices.DeleteFunc([]face{
		{d.Exchange != nil, "exchange", wording.Either(d.Kind == wire.SpanFrame, "Span", "Exchange")},
		{d.Tree != nil, "pretty", "Pretty"},
		{true, "raw", "Raw"},
		{d.Exchange == nil && (d.Status != 0 || len(d.Header) > 0), "headers", "Headers"},
		{d.Kind == wire.Request || d.Kind.IsResponse() || d.Pair != 0, "pair", "Pair"},
		{len(d.Found) > 0, "findings", "Findings " + strconv.Itoa(len(d.Found))},
		{true, "compare", "Compare"},
		{true, "note", wording.Either(d.Mark.Note != "", "Note 1", "Note")},
	}, func(f face) bool { return !f.there })
}

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

func (d Detail) facts() string {
	actor := wording.Either(d.Actor == "person", "by a person", "by the "+d.Actor)
	actor = wording.Either(d.Fault != "", "deliberate: "+d.Fault, actor)
	return wording.Join(" · ",
		d.when(),
		wording.Either(d.id() != "", "id "+d.id(), ""),
		cmp.Or(streamWords[d.Stream], wording.Either(d.Transport == "memory", "in process", d.Transport)),
		wording.Either(d.Status != 0, "HTTP "+strconv.Itoa(d.Status), ""),
		wording.Either(d.Round > 1, "round "+strconv.Itoa(d.Round), ""),
		wording.Either(d.Question > 0, "question "+strconv.Itoa(d.Question), ""),
		wording.Either(d.Actor != "", actor, ""),
		wording.Either(d.answers(), "after "+wording.Duration(d.Latency), ""),
		wording.Size(d.Size))
}

var streamWords = map[wire.Stream]string{
	wire.StreamPost:    "POST",
	wire.StreamPostSSE: "POST event stream",
	wire.StreamGetSSE:  "GET event stream",
}

func (d Detail) alone() string {
	switch {
	case d.Kind == wire.Request && d.Pending:
		return "No answer to this has come yet."
	case d.Kind == wire.Request:
		return "No answer to this has come."
	}
	return "This answers no request that was seen."
}

func (d Diff) differences() string {
	switch {
	case d.Equal:
		return "There is no difference."
	case d.Total > len(d.List):
		return wording.Grouped(int64(d.Total)) + " differences; the first " + wording.Grouped(int64(len(d.List))) + ":"
	}
	return wording.Count(d.Total, "difference", "differences") + ":"
}

func briefJSON(raw []byte) string {
	const most = 400 // bytes
	if len(raw) <= most {
		return string(raw)
	}
	return string(wording.Head(raw, most)) + fmt.Sprintf(" … %d bytes in all", len(raw))
}
