package views

import (
	"github.com/a-h/templ"

	"elicitation-inspector/bridge/lint"
	"elicitation-inspector/bridge/rawjson"
	"elicitation-inspector/bridge/wire"
)

// LogStatus describes the whole wire log.
type LogStatus struct {
	Frames int64
	Kept   string // how much is kept where, in words
	Err    string // storage or recording trouble
	// State changes when rows may have to be drawn again although their frames are the
	// same: after new findings or notes.
	State string
	Pins  []Row // the frames that are pinned; not part of what LogStatusView draws
}

// Row is one line of the wire log's window.
type Row struct {
	wire.Row
	Index       int64  // 1-based place in the present view
	Clock       string // time of day, or since another frame; with milliseconds
	ServerIndex int
	Pending     bool   // a request that may still get a response
	Asks        bool   // it asked questions that are still open
	Ended       string // for a request: what ended it instead of a response, "HTTP 400"; else ""
	Findings    Tally  // of the linter's
	Mark        wire.Mark
}

// Detail is one frame in detail.
type Detail struct {
	Row
	Header   []HeaderLine
	Masked   bool // secrets in the headers are omitted
	Raw      templ.Component
	RawNote  string          // why Raw is not complete, "" if it is
	Tree     templ.Component // JSON of the frame; nil if it has none
	PairRow  *Row
	PairTree templ.Component // JSON of the paired frame; nil if it has none, or is too large
	Found    []lint.Finding
	Follow   string          // the filter for its exchange, "" if it belongs to none
	Curl     bool            // the frame can be sent again over HTTP
	Exchange templ.Component // the HTTP exchange of a sign-in; nil for other frames
	Earlier  *Row            // the request that this frame may repeat
	Diff     *Diff           // difference to another frame; nil if none was chosen
}

// HeaderLine is one HTTP header.
type HeaderLine struct{ Name, Value string }

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
