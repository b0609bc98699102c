package session

import (
	"context"
	"errors"
	"io"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"elicitation-inspector/bridge/conversation"
	"elicitation-inspector/bridge/mcp"
	"elicitation-inspector/bridge/transport"
)

// EndTime bounds the orderly end of a connection, including the time to kill the
// process.
const EndTime = 15 * time.Second

// Limits of the orderly end. After sdkGrace and answerGrace, Close goes on without
// waiting.
const (
	sdkGrace    = 2 * time.Second
	answerGrace = 500 * time.Millisecond
	// exitGrace is how long a process may take to exit after its output has ended,
	// before it is ended.
	exitGrace = 500 * time.Millisecond
)

// Wait waits for the end of a connected session and returns the reason. byItself is
// false if Close ended the session.
func (s *Session) Wait() (reason string, byItself bool) {
	ended := make(chan error, 1)
	s.Go(func() { ended <- s.sdk.Wait() })
	reason = "the connection ended"
	select {
	case <-s.link.Done():
	case err := <-ended:
		if err != nil {
			reason += ": " + err.Error()
		}
		select {
		case <-s.link.Done():
		case <-time.After(s.grace()):
		}
	}
	s.mu.Lock()
	closing := s.closing
	s.mu.Unlock()
	if exit := s.exit(); exit != "" {
		reason = exit
	}
	if deliberate := s.Deliberate(); deliberate != "" {
		reason = deliberate + "; " + reason
	}
	return reason, !closing
}

// grace returns how long a server may take to end after its connection has ended.
func (s *Session) grace() time.Duration {
	if s.Deliberate() != "" { // a fault ended the connection: wait to see how the server reacts
		return abandonPatience + EndTime
	}
	return exitGrace
}

// lost returns why a request has no response: the reason why the connection ended, if
// it did, else err. The request's error comes first, so lost waits for the connection to
// end, unless err is a transport failure or a JSON-RPC error.
func (s *Session) lost(ctx context.Context, err error) error {
	var failure *transport.Failure
	var rpc *jsonrpc.Error
	if ctx.Err() == nil && !errors.As(err, &failure) && !errors.As(err, &rpc) {
		patience := time.After(2 * s.grace())
		if s.transport() != "http" && errors.Is(err, io.EOF) {
			patience = nil // the process's output has ended, and the session ends with it
		}
		select {
		case <-s.ctx.Done():
		case <-ctx.Done():
		case <-patience:
		}
	}
	if cause := context.Cause(s.ctx); cause != nil {
		return cause
	}
	return err
}

// Explain adds to the reason why Connect failed how the process ended, unless the
// reason says so already, or the server had answered every request of the handshake.
func (s *Session) Explain(reason string) string {
	exit := s.exit()
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.handshake
	switch {
	case exit == "" || strings.Contains(reason, exit) || len(h.methods) > 0 && h.answered == len(h.methods) || h.useless != nil:
		return reason
	case len(h.methods) == 1 && h.methods[0] == mcp.MethodDiscover:
		return exit + " when it was asked " + mcp.MethodDiscover + ", before the connection was established"
	default:
		return exit + " before the connection was established (" + reason + ")"
	}
}

// Release releases the calls and questions that wait on the session, and ends its
// context. Nothing is asked or answered afterwards.
func (s *Session) Release(byServer bool, reason string) {
	by := conversation.ByPolicy
	switch {
	case s.Deliberate() != "":
		by = conversation.ByFault
	case byServer:
		by = conversation.ByServer
	}
	s.mu.Lock()
	s.released.by, s.released.reason = by, reason
	s.mu.Unlock()
	s.owner.Released(s, by, reason)
	s.cancel(errors.New(reason))
}

// Released returns who or what ended the session, and why; "", "" before [Session.Release].
// A question that the server asked just before can reach the owner just after.
func (s *Session) Released() (by, reason string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.released.by, s.released.reason
}

// Close ends the session from our side: waiting questions are answered with cancel,
// calls are stopped, the connection and the process are ended. It is safe to call more
// than once.
func (s *Session) Close(ctx context.Context, reason string) {
	s.mu.Lock()
	first := !s.closing
	s.closing = true
	session, link := s.sdk, s.link
	s.mu.Unlock()
	var unsaid []*outgoing
	if first && session != nil {
		s.owner.Closing(s, reason)
		s.await(ctx, func() bool { return s.unsent == 0 })
		if s.ctx.Err() == nil { // otherwise the server has ended the session
			s.mu.Lock()
			unsaid = s.running()
			s.mu.Unlock()
		}
	}
	s.Release(false, reason)
	s.awaitCancelled(ctx, unsaid)
	if session != nil {
		closed := make(chan struct{})
		go func() {
			if err := session.Close(); err != nil {
				s.Logger.Debug("closing the session", "server", s.Spec.Name, "error", err)
			}
			close(closed)
		}()
		select {
		case <-closed:
		case <-time.After(sdkGrace): // the link's end below unblocks it
		case <-ctx.Done():
		}
	}
	if link != nil {
		if err := link.Close(ctx); err != nil {
			s.Logger.Warn("ending the connection", "server", s.Spec.Name, "error", err)
		}
	}
}

// awaitCancelled waits up to answerGrace until the server has been sent a cancellation
// of each of the requests, unless the request has a response.
func (s *Session) awaitCancelled(ctx context.Context, unsaid []*outgoing) {
	s.await(ctx, func() bool {
		for _, out := range unsaid {
			if !out.told && out.reply == nil {
				return false
			}
		}
		return true
	})
}

// await waits up to answerGrace until is returns true. It calls is with the mutex held,
// first at once and then whenever the log has grown.
func (s *Session) await(ctx context.Context, is func() bool) {
	ctx, cancel := context.WithTimeout(ctx, answerGrace)
	defer cancel()
	_ = s.Log.Await(ctx, func() bool { // the session ends in any case
		s.mu.Lock()
		defer s.mu.Unlock()
		return is()
	})
}

// Kill ends the connection at once, without an orderly end. A connection that is being
// opened is ended as soon as it is open.
func (s *Session) Kill() {
	s.mu.Lock()
	s.killed = true
	link := s.link
	s.mu.Unlock()
	if link != nil {
		// The error would only say that the process had to be killed.
		_ = s.cut(link)
	}
}

func (s *Session) cut(link *transport.Link) error {
	over, cancel := context.WithCancel(context.Background())
	cancel()
	return link.Close(over)
}
