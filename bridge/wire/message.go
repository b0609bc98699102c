package wire

import (
	"encoding/json"
	"errors"
)

// Message is the envelope of one JSON-RPC 2.0 message. Its parts are
// sub-slices of the bytes that it was parsed from.
type Message struct {
	Kind   Kind            // Request, Notification, Result or Error
	ID     json.RawMessage // exact bytes of "id"; nil if absent
	Method string          // decoded; "" for a response
	Params json.RawMessage // nil if absent
	Result json.RawMessage // nil if absent
	Error  json.RawMessage // nil if absent
}

// ParseMessage finds the envelope of the one JSON-RPC message in raw. The
// error says in words why these bytes are no JSON-RPC 2.0 message.
func ParseMessage(raw []byte) (Message, error) {
	var m struct {
		JSONRPC string           `json:"jsonrpc"`
		ID      *json.RawMessage `json:"id"`
		Method  string           `json:"method"`
		Params  json.RawMessage  `json:"params"`
		Result  json.RawMessage  `json:"result"`
		Error   json.RawMessage  `json:"error"`
	}
	if err := json.Unmarshal(raw, &m); err != nil {
		return Message{}, err
	}
	if m.JSONRPC != "2.0" {
		return Message{}, errors.New(`"jsonrpc" is not "2.0"`)
	}
	out := Message{Method: m.Method, Params: m.Params, Result: m.Result, Error: m.Error}
	if m.ID != nil {
		out.ID = *m.ID
	}
	switch {
	case m.Method != "" && m.ID != nil:
		out.Kind = Request
	case m.Method != "":
		out.Kind = Notification
	case m.Result != nil:
		out.Kind = Result
	case m.Error != nil:
		out.Kind = Error
	default:
		return Message{}, errors.New("neither a request nor a response")
	}
	return out, nil
}
