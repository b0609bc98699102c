package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"elicitation-inspector/bridge/conversation"
	"elicitation-inspector/bridge/mcp"
	"elicitation-inspector/bridge/transport"
	"elicitation-inspector/bridge/wire"
)

// DefaultProbe is how long server/discover may stay unanswered. Servers of older
// revisions may ignore requests before initialize, and a process may need some time
// until it reads its input.
const DefaultProbe = 10 * time.Second

// handshake is the progress of the handshake with the server.
type handshake struct {
	methods    []string // methods of the requests sent so far
	answered   int      // how many of these requests have a response
	fallback   string   // why initialize was tried although server/discover was not refused
	discovered bool     // server/discover was answered
	useless    error    // why the handshake cannot go on: the DiscoverResult is unusable, or signing in failed
}

// probing is sending middleware: unless the revision is pinned, it stops waiting for
// the response to server/discover after s.Probe. The SDK then tries initialize on the
// same connection (specification 2026-07-28, Versioning, Backward Compatibility).
func (s *Session) probing(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		if method != mcp.MethodDiscover || s.Settings.Protocol != "" {
			return next(ctx, method, req)
		}
		patience := s.Probe
		if patience == 0 {
			patience = DefaultProbe
		}
		ctx, giveUp := context.WithCancelCause(ctx)
		defer giveUp(nil)
		s.Go(func() {
			for waiting := true; waiting; {
				select {
				case <-ctx.Done():
					return
				case <-time.After(patience):
					waiting = s.signingIn() // the server has answered then, by asking for a token
				}
			}
			giveUp(errProbe)
		})
		res, err := next(ctx, method, req)
		if err != nil && errors.Is(context.Cause(ctx), errProbe) {
			s.fellBack(fmt.Sprintf("had no answer within %s", patience))
			s.Noted(wire.Frame{Note: &wire.Note{Kind: wire.NoteProbeUnanswered, Took: patience.String()}})
		}
		return res, err
	}
}

// signingIn reports whether the requests of the connection wait for a sign-in.
func (s *Session) signingIn() bool { return s.Spec.Access != nil && s.Spec.Access.Busy() }

var errProbe = errors.New("no answer to server/discover")

// fellBack records, in words, why initialize is tried after server/discover.
func (s *Session) fellBack(why string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.handshake.fallback = why
}

// begins records a request of the handshake. It returns false if the request must not
// be sent, because the result of server/discover was unusable: a server that answers
// server/discover is modern and has no initialize.
func (s *Session) begins(method string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.handshake.methods = append(s.handshake.methods, method)
	return s.handshake.useless == nil
}

// ofNoUse reports whether a DiscoverResult is unusable, and records why.
func (s *Session) ofNoUse(m wire.Message) bool {
	if m.Kind != wire.Result {
		return false
	}
	err := conversation.MustComplete(mcp.MethodDiscover, m.Result)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.handshake.useless = err
	return err != nil
}

// refused ends the handshake if signing in failed for its first request: another one
// would lead to the same sign-in again.
func (s *Session) refused(m wire.Message, err error) {
	if m.Method != mcp.MethodDiscover {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.handshake.useless = err
}

// diedOfProbe reports whether a process ended at server/discover without answering it,
// as servers do that only expect initialize. If the client is not pinned to a revision,
// such a server is started again. The SDK may have sent initialize already, while the
// process was still ending.
func (s *Session) diedOfProbe(spec transport.Spec) bool {
	if s.Settings.Protocol != "" || spec.URL != "" || s.ctx.Err() != nil || s.exit() == "" {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.handshake
	return len(h.methods) > 0 && h.methods[0] == mcp.MethodDiscover && !h.discovered && h.answered == 0
}

// onlyProbed reports whether server/discover is the only request sent, and has no
// response.
func (s *Session) onlyProbed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.handshake
	return len(h.methods) == 1 && h.methods[0] == mcp.MethodDiscover && !h.discovered
}

// answeredAll reports whether the server answered every request of the handshake so
// far, so that the end of its process does not explain why there is no session.
func (s *Session) answeredAll() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.handshake
	return len(h.methods) > 0 && h.answered == len(h.methods) || h.useless != nil
}

// probeTakenBack reports whether m cancels server/discover. Such a cancellation is not
// sent: a server that did not answer server/discover should only receive initialize.
func (s *Session) probeTakenBack(m wire.Message) bool {
	if m.Method != mcp.NotificationCancelled {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.outgoing[string(cancelledID(m.Params))]
	return out != nil && out.method == mcp.MethodDiscover
}

// cancelledID returns the exact request id in the params of notifications/cancelled,
// nil if they have none.
func cancelledID(params json.RawMessage) json.RawMessage {
	var p struct {
		RequestID json.RawMessage `json:"requestId"`
	}
	if json.Unmarshal(params, &p) != nil {
		return nil
	}
	return p.RequestID
}

// negotiated calls [Negotiated] for this session's handshake.
func (s *Session) negotiated() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return Negotiated(s.handshake.methods, s.handshake.fallback)
}

// Negotiated describes, in words, the requests that led to the negotiated revision.
// fallback is why initialize was tried although server/discover was not refused, "" if
// it was refused.
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
