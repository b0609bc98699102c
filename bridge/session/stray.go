package session

import (
	"encoding/json"

	"elicitation-inspector/bridge/conversation"
	"elicitation-inspector/bridge/transport"
	"elicitation-inspector/bridge/wire"
)

// straysMost bounds how many stray responses are noted in one connection.
const straysMost = 100

// unasked notes a response that answers none of our requests: at the running call if
// exactly one runs, else in the log only. Without the note, nothing would say why a
// call still runs although its server believes that it has answered. f is the frame as
// logged.
func (s *Session) unasked(u transport.Unit, f wire.Frame) {
	id, is := strayID(f)
	if !is || id == nil && u.Status >= 400 {
		return // an HTTP refusal has such a body (specification 2025-11-25, Transports, Sending Messages to the Server)
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
		note.ID = json.RawMessage(conversation.ShortError(string(id)))
	}
	s.Noted(wire.Frame{Note: note, Call: s.attribute(u.Related).sure()})
}

// strayID returns the exact id of a response that answers none of our requests; nil if
// it has no id. It reports false for other messages, and for a late response to a
// request of ours.
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
