package views

import (
	"github.com/a-h/templ"

	"elicitation-inspector/bridge/elicit/lint"
	"elicitation-inspector/bridge/rawjson/diff"
	"elicitation-inspector/bridge/wire"
)

// LogStatus is what the page says of the whole wire log.
type LogStatus struct {
	Frames int64
	Kept   string // how much is kept where, in words
	Err    string // storage or recording trouble
	// State is another text when rows may have to be drawn again, though their
	// frames are the same: something was found, or noted.
	State string
	Pins  []Row // the frames that are pinned; not part of what LogStatusView draws
}

// Row is one line of the wire log's window.
type Row struct {
	wire.Row
	Index       int64  // 1-based place in the present view
	Clock       string // time of day, or since another frame; with milliseconds
	ServerIndex int
	Pending     bool   // a request that may still be answered
	Asks        bool   // it brought questions that still wait
	Ended       string // of a request: what ended it in place of a response, "HTTP 400"; else ""
	Findings    Tally  // of the linter's
	Mark        wire.Mark
}

// Detail is one frame looked at closely.
type Detail struct {
	Row
	Header   []HeaderLine
	Masked   bool // secrets in the headers are left out
	Raw      templ.Component
	RawNote  string          // why these are not all bytes, "" if they are
	Tree     templ.Component // of its JSON; nil if it is none
	PairRow  *Row
	PairTree templ.Component // the paired frame; nil if it is no JSON, or too large to be drawn beside this one
	Found    []lint.Finding
	Follow   string // the filter line of its exchange, "" if it belongs to none
	Curl     bool   // it can be sent again over HTTP
	Earlier  *Row   // the request of which this may be another attempt
	Diff     *Diff  // to another frame; nil if none was chosen
}

// HeaderLine is one HTTP header.
type HeaderLine struct{ Name, Value string }

// Diff is how one frame differs from another.
type Diff struct {
	Before, After Row
	List          []diff.Difference // the first ones
	Total         int
	Equal         bool
	Problem       string // why they are not compared
}

// Ladder is an exchange as a sequence diagram.
type Ladder struct {
	Title   string
	Text    string // what happened, in a sentence or two
	Address string // where it is drawn again, and saved from
	Follow  string // the filter line of its frames, "" if there is none
	Running bool   // it may go on
	Drawing templ.Component
}
