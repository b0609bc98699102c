package session

import (
	"encoding/json"
	"strings"
	"sync"
	"time"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/meaning/conversation"
)

// agreement holds the outcome of the handshake: the revision, and what the server said of itself.
type agreement struct {
	revision  string // negotiated revision; "" before the end of the handshake
	presented conversation.Presented
	declared  json.RawMessage // the capabilities of the server
	methods   []string        // methods of the requests sent so far
	answers   int             // how many of these requests have a response
	refusal   json.RawMessage // the error that the latest response is; nil for a result
	fallback  string          // why initialize was tried although server/discover was not refused
	useless   error           // why the handshake cannot go on: the DiscoverResult is unusable, or signing in failed
}

// handshake has the agreement as far as the handshake has come.
type handshake struct {
	mu    sync.Mutex
	state agreement
}

func ofHandshake(method string) bool {
	return method == mcp.MethodDiscover || method == mcp.MethodInitialize
}

// agreed returns what is agreed on so far.
func (h *handshake) agreed() agreement {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.state
}

func (h *handshake) update(change func(*agreement)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	change(&h.state)
}

// Revision returns the negotiated protocol revision, "" before the handshake.
func (h *handshake) Revision() string { return h.agreed().revision }

// modern reports whether the revision is 2026-07-28 or later, in which servers send no
// requests.
func (h *handshake) modern() bool { return h.Revision() >= mcp.Revision20260728 }

// CanCancelTasks reports whether the server accepts tasks/cancel. Since 2026-07-28 every
// server with tasks does.
func (h *handshake) CanCancelTasks() bool { return h.modern() || h.agreed().presented.Tasks.Cancel }

// offers reports whether the server declares a capability.
func (a agreement) offers(capability string) bool {
	return rawjson.KindOf(rawjson.Member(a.declared, capability)) == rawjson.Object
}

// isUnanswered reports whether server/discover was sent and has no answer. The SDK may have
// sent initialize already, while the process was still ending.
func (a agreement) isUnanswered() bool {
	return len(a.methods) > 0 && a.methods[0] == mcp.MethodDiscover && a.answers == 0
}

// Refused reports whether the server has answered the last request of the handshake by an error.
func (h *handshake) Refused() bool {
	a := h.agreed()
	return a.refusal != nil && a.answers == len(a.methods)
}

// Waits names the requests that the client makes by itself and that have no response: the one
// with this method, or for "" that of the handshake, and an earlier subscription.
func (s *Session) Waits(method string) string {
	a := s.agreed()
	if method == "" && a.answers < len(a.methods) {
		method = a.methods[len(a.methods)-1]
	}
	return wording.Join(", and before it ", method, wording.Either(s.unheard.Load(), mcp.MethodListen, ""))
}

// Moment is how long a request that the client makes by itself may wait before it is named, and
// how long the session waits for one that it can do without.
const Moment = 2 * time.Second

// inAMoment runs do, and after a moment late. If late is nil, it then goes on without do.
func (s *Session) inAMoment(do, late func()) {
	done := make(chan struct{})
	s.Go(func() {
		defer close(done)
		do()
	})
	select {
	case <-done:
		return
	case <-s.ctx.Done():
	case <-time.After(Moment):
		if late != nil {
			late()
		}
	}
	if late != nil {
		<-done
	}
}

// Explain adds to the reason why Connect failed how the process ended, unless the reason says
// so already, or the server had answered every request of the handshake.
func (s *Session) Explain(reason string) string {
	switch a, exit := s.agreed(), s.exit(); {
	case exit == "" || strings.Contains(reason, exit) || len(a.methods) > 0 && a.answers == len(a.methods) || a.useless != nil:
		return reason
	case len(a.methods) == 1 && a.methods[0] == mcp.MethodDiscover:
		return exit + " when it was asked " + mcp.MethodDiscover + ", before the connection was established"
	default:
		return exit + " before the connection was established (" + reason + ")"
	}
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
