// Package elicit understands one elicitation: the question as a server wrote it,
// the fields to draw for it, and the answer that goes back. It works on exact
// bytes and does no I/O, so the order of properties and the digits of numbers
// are the server's and the person's own.
package elicit

import "encoding/json"

// Mode is how a question wants to be answered. A value that is neither
// [ModeForm] nor [ModeURL] is kept as the server wrote it.
type Mode string

// The modes of the specification (client/elicitation).
const (
	ModeForm Mode = "form" // a form in the client; also meant when "mode" is absent
	ModeURL  Mode = "url"  // a page that the person opens, since revision 2025-11-25
)

// Request is the parameters of one elicitation.
type Request struct {
	Mode          Mode
	ModeGiven     bool // "mode" was on the wire
	Message       string
	URL           string
	ElicitationID string          // revision 2025-11-25 only
	Params        json.RawMessage // the exact bytes that were parsed
	Schema        json.RawMessage // exact bytes of "requestedSchema"; nil if absent
	Fields        []Field         // one per property, in the schema's own order
	Trouble       string          // why no form can be drawn from Schema, in words; "" if one can
}
