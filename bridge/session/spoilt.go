package session

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"elicitation-inspector/bridge/fault"
	"elicitation-inspector/bridge/transport"
	"elicitation-inspector/bridge/wire"
)

// tokenFault is the prefix of placeholder ids. The SDK sends a response with such an
// id, with HTTP headers around it, and outgoingFor replaces its bytes with the prepared
// ones. The ids never reach the server.
const tokenFault = "elicitation-inspector-fault-"

// paced makes the Outgoing of a frame, split into pieces if the pace asks for it.
func paced(f wire.Frame, pace fault.Pace) transport.Outgoing {
	out := transport.Outgoing{Frame: f}
	if pieces, pause := pace.Split(f.Raw); len(pieces) > 1 {
		out.Pieces, out.Pause = pieces, pause
	}
	return out
}

// sendPrepared sends deliberately wrong bytes. If that fails, the tap records why.
func (s *Session) sendPrepared(ctx context.Context, out transport.Outgoing) {
	out.Unasked = true
	s.mu.Lock()
	s.tokens++
	token := fmt.Sprintf("%s%d", tokenFault, s.tokens)
	s.prepared[token] = out
	s.mu.Unlock()
	if err := s.link.Send(ctx, token); err != nil {
		s.Logger.Debug("sending what is wrong on purpose", "server", s.Spec.Name, "error", err)
	}
	s.mu.Lock()
	delete(s.prepared, token)
	s.mu.Unlock()
}

// outgoingFor returns what is sent in place of a message from the SDK: prepared bytes
// of a fault, a spoilt request, a reworded cancellation, or the message itself.
func (s *Session) outgoingFor(raw []byte) transport.Outgoing {
	if start := []byte(`{"jsonrpc":"2.0","id":"` + tokenFault); bytes.HasPrefix(raw, start) {
		token, _, _ := bytes.Cut(raw[len(start):], []byte{'"'})
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.prepared[tokenFault+string(token)]
	}
	if out, spoilt := s.spoil(raw); spoilt {
		return out
	}
	return transport.Outgoing{Frame: wire.Frame{Raw: s.reworded(raw)}}
}

// Spoilt describes how a request of a call is deliberately wrong.
type Spoilt struct {
	Fault string          // name of the fault
	ID    json.RawMessage // id to send in place of the SDK's; nil keeps the SDK's
	Cut   bool            // leave out the last byte
	Twice bool            // send the request twice
	Pace  fault.Pace
}

// spoil changes a request that a fault is planned for. It returns false for every other
// message.
func (s *Session) spoil(raw []byte) (transport.Outgoing, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.spoilt) == 0 {
		return transport.Outgoing{}, false
	}
	m, err := wire.ParseMessage(raw)
	if err != nil || m.Kind != wire.Request {
		return transport.Outgoing{}, false
	}
	out := s.spoilt[ticketOf(m)]
	if out == nil || out.id != "" {
		return transport.Outgoing{}, false
	}
	how := out.spoilt
	id := m.ID
	if how.ID != nil {
		id, out.sdkID = how.ID, m.ID
		at := bytes.Index(raw, m.ID) // only the "jsonrpc" member comes before the id
		raw = slices.Concat(raw[:at], id, raw[at+len(m.ID):])
	}
	f := wire.Frame{Raw: raw, Fault: how.Fault}
	if how.Cut {
		f.Raw = raw[:len(raw)-1]
		f.Call, f.Round, f.Actor = out.call, out.round, "fault"
		out.id, out.method = string(id), m.Method
		s.outgoing[out.id] = out
	}
	if how.Twice {
		again := f
		again.Call, again.Round, again.Actor = out.call, out.round, "fault"
		s.Go(func() { s.sendPrepared(s.ctx, transport.Outgoing{Frame: again}) })
	}
	return paced(f, how.Pace), true
}

// sentDeliberately logs deliberately wrong bytes, unless they are a spoilt request,
// which sentRequest logs.
func (s *Session) sentDeliberately(u transport.Unit) bool {
	f := s.labelled(u.Frame, wire.ClientToServer)
	s.mu.Lock()
	if in := s.incoming[wire.IDKey(u.Message.ID)]; u.Message.Kind.IsResponse() && in != nil && in.question == f.Question {
		delete(s.incoming, wire.IDKey(u.Message.ID))
		s.late = remember(s.late, in)
	}
	s.mu.Unlock()
	s.Log.Append(f)
	return true
}
