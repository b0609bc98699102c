package session

import (
	"context"
	"errors"
	"io"
	"slices"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"elicitation-inspector/bridge/client/transport"
	"elicitation-inspector/bridge/meaning/conversation"
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
// false if Close ended the session. gone says that the server has ended the session and
// knows its id no more (specification 2025-11-25, Transports, Session Management).
func (s *Session) Wait() (reason string, byItself, gone bool) {
	ended := make(chan error, 1)
	link, session := s.link.Load(), s.sdk.Load()
	s.Go(func() { ended <- session.Wait() })
	reason = "the connection ended"
	select {
	case <-link.Done():
	case err := <-ended:
		if errors.Is(err, sdk.ErrSessionMissing) {
			return "the server has ended the session: it answers HTTP 404 to the session's id", !s.closing.Load(), true
		}
		if err != nil {
			reason += ": " + err.Error()
		}
		select {
		case <-link.Done():
		case <-time.After(s.grace()):
		}
	}
	if exit := s.exit(); exit != "" {
		reason = exit
	}
	if plan := s.ending.Load(); plan != nil {
		reason = "deliberate: " + plan.Title + "; " + reason
	}
	return reason, !s.closing.Load(), false
}

// grace returns how long a server may take to end after its connection has ended.
func (s *Session) grace() time.Duration {
	if s.ending.Load() != nil { // a fault ended the connection: wait to see how the server reacts
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
		if s.Spec.OfFrames() != "http" && errors.Is(err, io.EOF) {
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

// Release releases the calls and questions that wait on the session, and ends its
// context. Nothing is asked or answered afterwards.
func (s *Session) Release(byServer bool, reason string) {
	by := conversation.ByPolicy
	switch {
	case s.ending.Load() != nil:
		by = conversation.ByFault
	case byServer:
		by = conversation.ByServer
	}
	s.released.Store(&released{by, reason})
	s.owner.Ended(s, by, reason)
	s.cancel(errors.New(reason))
}

// EndedBy returns who or what ended the session, and why; "", "" before [Session.Release].
// A question that the server asked just before can reach the owner just after.
func (s *Session) EndedBy() (by, reason string) {
	if r := s.released.Load(); r != nil {
		return r.by, r.reason
	}
	return "", ""
}

// Close ends the session from our side: waiting questions are answered with cancel,
// calls are stopped, the connection and the process are ended. It is safe to call more
// than once.
func (s *Session) Close(ctx context.Context, reason string) {
	first := !s.closing.Swap(true)
	session, link := s.sdk.Load(), s.link.Load()
	var unsaid []*outgoing
	if first && session != nil {
		s.owner.Closing(s, reason)
		s.await(ctx, func() bool { return !s.outbox.isUnsent() })
		if s.ctx.Err() == nil { // otherwise the server has ended the session
			unsaid = s.requests.unsaid()
		}
	}
	s.Release(false, reason)
	s.await(ctx, func() bool { return !slices.ContainsFunc(unsaid, (*outgoing).isOpen) })
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

// await waits until done returns true, for answerGrace at most. It calls done at once, and
// whenever the log has grown.
func (s *Session) await(ctx context.Context, done func() bool) {
	ctx, cancel := context.WithTimeout(ctx, answerGrace)
	defer cancel()
	_ = s.Log.Await(ctx, done) // the session ends in any case
}

// Kill ends the connection at once, without an orderly end. A connection that is being
// opened is ended as soon as it is open.
func (s *Session) Kill() {
	s.cancel(context.Canceled)
	if link := s.link.Load(); link != nil {
		over, cancel := context.WithCancel(context.Background())
		cancel()
		_ = link.Close(over) // the error would only say that the process had to be killed
	}
}
