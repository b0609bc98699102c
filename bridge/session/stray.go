package session

import (
	"encoding/json"

	"elicitation-inspector/bridge/response"
	"elicitation-inspector/bridge/target"
	"elicitation-inspector/bridge/wire"
)

// straysMost bounds how many responses that answer nothing are told of in one
// connection.
const straysMost = 100

// unasked tells of a response that answers no request of ours, at the call that
// waits for it where exactly one runs, and in the log otherwise: nothing else says
// why a call goes on running whose server believes that it has answered. The
// frame is as the log keeps it.
func (s *Session) unasked(u target.Unit, f wire.Frame) {
	id, is := strayID(f)
	if !is || id == nil && u.Status >= 400 {
		return // HTTP refuses a request so (specification 2025-11-25, Transports, Sending Messages to the Server)
	}
	s.mu.Lock()
	s.strays++
	tell := s.strays <= straysMost
	s.mu.Unlock()
	if !tell {
		return
	}
	note := &wire.Note{Kind: wire.NoteStrayResponse, Again: f.Duplicate}
	if id != nil {
		note.ID = json.RawMessage(response.Shortened(string(id)))
	}
	s.Noted(wire.Frame{Note: note, Call: s.attribute(u.Related).sure()})
}

// strayID is the exact id of what a server means as a response that answers no
// request of ours; nil if it has none. It reports false for anything else, and for
// responses that only come late.
func strayID(f wire.Frame) (json.RawMessage, bool) {
	if f.Pair != 0 && !f.Duplicate {
		return nil, false
	}
	if f.Kind.IsResponse() {
		return f.Message.ID, true
	}
	var m struct {
		ID     json.RawMessage `json:"id"`
		Method json.RawMessage `json:"method"`
		Result json.RawMessage `json:"result"`
		Error  json.RawMessage `json:"error"`
	}
	if f.Kind != wire.Noise || json.Unmarshal(f.Raw, &m) != nil {
		return nil, false
	}
	return m.ID, m.Method == nil && (m.Result != nil || m.Error != nil)
}
