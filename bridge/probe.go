package bridge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"elicitation-inspector/bridge/target"
	"elicitation-inspector/bridge/wire"
)

// DefaultProbe is how long server/discover may go unanswered. Servers of older
// revisions may not answer what comes before initialize, and a process may take
// a while until it reads anything.
const DefaultProbe = 10 * time.Second

// probing gives up on server/discover after a while where the revision is not
// pinned; the SDK then tries initialize on the same connection (specification
// 2026-07-28, Versioning, Backward Compatibility).
func (s *session) probing(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		if method != methodDiscover || s.settings.Protocol != "" {
			return next(ctx, method, req)
		}
		patience := s.in.config.Probe
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
func (s *session) fellBack(why string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fallback = why
}

// diedOfProbe reports whether a process ended at server/discover without an
// answer to it, as servers do that expect nothing but initialize. One that was
// not pinned to a revision is worth starting again.
func (s *session) diedOfProbe(spec target.Spec) bool {
	return s.settings.Protocol == "" && spec.URL == "" && s.ctx.Err() == nil && s.exit() != "" && s.onlyProbed()
}

// onlyProbed reports whether server/discover is all that was asked, and had no
// answer.
func (s *session) onlyProbed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.methods) == 1 && s.methods[0] == methodDiscover && !s.discovered
}

// probeTakenBack reports whether m takes server/discover back. A server that did
// not answer it should hear nothing but initialize.
func (s *session) probeTakenBack(m wire.Message) bool {
	if m.Method != noteCancelled {
		return false
	}
	var p struct {
		RequestID json.RawMessage `json:"requestId"`
	}
	if json.Unmarshal(m.Params, &p) != nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.outgoing[string(p.RequestID)]
	return out != nil && out.method == methodDiscover
}
