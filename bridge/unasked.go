package bridge

import (
	"encoding/json"

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
func (s *session) unasked(u target.Unit, f wire.Frame) {
	id, ok := responseID(f)
	switch {
	case !ok, f.Pair != 0 && !f.Duplicate:
		return // it is no response, or comes late
	case id == nil && u.Status >= 400:
		return // HTTP refuses a request so (specification 2025-11-25, Transports, Sending Messages to the Server)
	}
	call, _, sure := s.attribute(u.Related)
	if !sure {
		call = nil
	}
	note := wire.Note{Kind: wire.NoteStrayResponse, Again: f.Duplicate}
	if id != nil {
		note.ID = json.RawMessage(shortened(string(id)))
	}
	s.in.mu.Lock()
	s.strays++
	tell := s.strays <= straysMost
	if tell && call != nil {
		call.step(Step{At: f.Time, Kind: StepStray, Text: note.Words(&f), Seq: f.Seq})
	}
	s.in.mu.Unlock()
	if tell && call == nil {
		s.Noted(wire.Frame{Note: &note})
	}
}

// responseID is the exact id of what a server means as a response; nil if it has
// none. It reports false for anything else.
func responseID(f wire.Frame) (json.RawMessage, bool) {
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
