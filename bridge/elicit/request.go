// Package elicit parses one elicitation: the server's question, its form fields, and the
// person's answer. It works on exact bytes, so the order of properties and the digits of
// numbers stay as the server and the person wrote them. It does no I/O.
package elicit

import (
	"encoding/json"
	"errors"
	"fmt"

	"elicitation-inspector/bridge/rawjson"
	"elicitation-inspector/bridge/wording"
)

// Mode is the elicitation mode. A value other than [ModeForm] and [ModeURL] is kept as
// the server wrote it.
type Mode string

// The modes of the specification (client/elicitation).
const (
	ModeForm Mode = "form" // a form in the client; also the meaning of an absent "mode"
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
	Trouble       string          // why Schema cannot be shown as a form, in words; "" if it can
}

// Parse reads the params of elicitation/create. It fails only if they are no JSON
// object, or if "message", "mode" or "url" is no string; package lint reports all other
// mistakes.
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
