package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"elicitation-inspector/bridge/mcp"
	"elicitation-inspector/bridge/response"
	"elicitation-inspector/bridge/target"
	"elicitation-inspector/bridge/wire"
)

// DefaultProbe is how long server/discover may go unanswered. Servers of older
// revisions may not answer what comes before initialize, and a process may take
// a while until it reads anything.
const DefaultProbe = 10 * time.Second

// handshake is how far the two sides have come to know each other.
type handshake struct {
	methods    []string // asked so far
	answered   int      // how many of those had an answer
	fallback   string   // why initialize was tried although server/discover was not refused
	discovered bool     // server/discover was answered
	useless    error    // why that answer is of no use, nil if it is
}

// probing gives up on server/discover after a while where the revision is not
// pinned; the SDK then tries initialize on the same connection (specification
// 2026-07-28, Versioning, Backward Compatibility).
func (s *Session) probing(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		if method != mcp.MethodDiscover || s.Settings.Protocol != "" {
			return next(ctx, method, req)
		}
		patience := s.Probe
		if patience == 0 {
			patience = DefaultProbe
		}
		ctx, cancel := context.WithTimeoutCause(ctx, patience, errProbe)
		defer cancel()
		res, err := next(ctx, method, req)
		if err != nil && errors.Is(context.Cause(ctx), errProbe) {
			s.fellBack(fmt.Sprintf("had no answer within %s", patience))
			s.Noted(wire.Frame{Note: &wire.Note{Kind: wire.NoteProbeUnanswered, Took: patience.String()}})
		}
		return res, err
	}
}

var errProbe = errors.New("no answer to server/discover")

// fellBack keeps in words why initialize is tried.
func (s *Session) fellBack(why string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.handshake.fallback = why
}

// begins notes a request of the handshake. It reports false for one that must not
// be sent, because server/discover had a result that is of no use: who answers that
// is a modern server, which has no initialize.
func (s *Session) begins(method string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.handshake.methods = append(s.handshake.methods, method)
	return s.handshake.useless == nil
}

// ofNoUse notes why a DiscoverResult is of no use, if it is.
func (s *Session) ofNoUse(m wire.Message) bool {
	if m.Kind != wire.Result {
		return false
	}
	err := response.MustComplete(mcp.MethodDiscover, m.Result)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.handshake.useless = err
	return err != nil
}

// diedOfProbe reports whether a process ended at server/discover without an
// answer to it, as servers do that expect nothing but initialize. One that was
// not pinned to a revision is worth starting again. An initialize that followed
// came too late for a process that was slow to end.
func (s *Session) diedOfProbe(spec target.Spec) bool {
	if s.Settings.Protocol != "" || spec.URL != "" || s.ctx.Err() != nil || s.exit() == "" {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.handshake
	return len(h.methods) > 0 && h.methods[0] == mcp.MethodDiscover && !h.discovered && h.answered == 0
}

// onlyProbed reports whether server/discover is all that was asked, and had no
// answer.
func (s *Session) onlyProbed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.handshake
	return len(h.methods) == 1 && h.methods[0] == mcp.MethodDiscover && !h.discovered
}

// answeredAll reports whether the server answered all of the handshake so far, so
// that its end is no reason why there is no session.
func (s *Session) answeredAll() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.handshake
	return len(h.methods) > 0 && h.answered == len(h.methods) || h.useless != nil
}

// probeTakenBack reports whether m takes server/discover back. A server that did
// not answer it should hear nothing but initialize.
func (s *Session) probeTakenBack(m wire.Message) bool {
	if m.Method != mcp.NotificationCancelled {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.outgoing[string(cancelledID(m.Params))]
	return out != nil && out.method == mcp.MethodDiscover
}

// cancelledID is the exact id that a notifications/cancelled names, nil for none.
func cancelledID(params json.RawMessage) json.RawMessage {
	var p struct {
		RequestID json.RawMessage `json:"requestId"`
	}
	if json.Unmarshal(params, &p) != nil {
		return nil
	}
	return p.RequestID
}

// negotiated says by which requests the revision was agreed on.
func (s *Session) negotiated() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return Negotiated(s.handshake.methods, s.handshake.fallback)
}

// Negotiated says by which requests a revision was agreed on. fallback is why
// initialize was tried although server/discover was not refused, "" if it was.
func Negotiated(methods []string, fallback string) string {
	last := len(methods) - 1
	switch {
	case last < 0:
		return ""
	case fallback != "":
		return methods[last] + ", after " + mcp.MethodDiscover + " " + fallback
	case last == 0:
		return methods[0]
	}
	return methods[last] + ", after " + strings.Join(methods[:last], " and ") + " was refused"
}
