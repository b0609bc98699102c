package bridge

import (
	"encoding/json"
	"fmt"

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
	text := unaskedText(id, f.Duplicate)
	s.in.mu.Lock()
	s.strays++
	tell := s.strays <= straysMost
	if tell && call != nil {
		call.step(Step{At: f.Time, Kind: StepStray, Text: text, Seq: f.Seq})
	}
	s.in.mu.Unlock()
	if tell && call == nil {
		s.Note(text, nil, 0)
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

func unaskedText(id json.RawMessage, twice bool) string {
	switch {
	case id == nil:
		return "a response came without an id, so that nothing tells what it answers"
	case twice:
		return fmt.Sprintf("a second response came with id %s, which had its response already", shortened(string(id)))
	default:
		return fmt.Sprintf("a response came with id %s, which nothing asked for", shortened(string(id)))
	}
}
