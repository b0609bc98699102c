// Package elicit understands one elicitation: the question as a server wrote it,
// the fields to draw for it, and the answer that goes back. It works on exact
// bytes and does no I/O, so the order of properties and the digits of numbers
// are the server's and the person's own.
package elicit

import (
	"encoding/json"
	"errors"
	"fmt"

	"elicitation-inspector/bridge/rawjson"
	"elicitation-inspector/bridge/wording"
)

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
	Message       string
	URL           string
	ElicitationID string          // revision 2025-11-25 only
	Params        json.RawMessage // the exact bytes that were parsed
	Schema        json.RawMessage // exact bytes of "requestedSchema"; nil if absent
	Fields        []Field         // one per property, in the schema's own order
	Trouble       string          // why no form can be drawn from Schema, in words; "" if one can
}

// Parse reads the parameters of elicitation/create. It fails only if they are
// no JSON object, or if "message", "mode" or "url" is no string; whatever else
// the server did wrong is the linter's to say.
func Parse(params json.RawMessage) (*Request, error) {
	if len(rawjson.Trim(params)) == 0 {
		return nil, errors.New("the elicitation has no params")
	}
	if err := checkObject("the elicitation's params are", params); err != nil {
		return nil, err
	}
	k := KeywordsOf(params)
	for _, name := range []string{"mode", "message", "url"} {
		if t := rawjson.KindOf(k[name]); t != rawjson.None && t != rawjson.String {
			return nil, fmt.Errorf("the elicitation's %q is %s, not a string", name, wording.WithArticle(t))
		}
	}
	r := &Request{
		Mode: ModeForm, Message: k.Text("message"), URL: k.Text("url"), ElicitationID: k.Text("elicitationId"),
		Params: params, Schema: k["requestedSchema"],
	}
	if k["mode"] != nil {
		r.Mode = Mode(k.Text("mode"))
	}
	switch {
	case r.Schema != nil:
		fields, err := FieldsOf(r.Schema)
		r.Fields = fields
		if err != nil {
			r.Trouble = wording.Sentence(err.Error())
		}
	case r.Mode == ModeForm:
		r.Trouble = "The question has no requestedSchema."
	}
	return r, nil
}
