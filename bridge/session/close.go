package session

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"elicitation-inspector/bridge/mcp"
	"elicitation-inspector/bridge/response"
	"elicitation-inspector/bridge/target"
)

// EndTime bounds the orderly end of a connection, killing included.
const EndTime = 15 * time.Second

// How long a polite end may take before it becomes a rude one.
const (
	sdkGrace    = 2 * time.Second
	answerGrace = 500 * time.Millisecond
	// exitGrace is how long a process whose output has ended may take to exit
	// before it is ended.
	exitGrace = 500 * time.Millisecond
)

// Wait waits for the end of a session that is connected, and says why it ended. It
// reports false if it was ended from our side.
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

// grace is how long a server may take to end whose connection has ended.
func (s *Session) grace() time.Duration {
	if s.Deliberate() != "" { // how it takes that is what was to be seen
		return abandonPatience + EndTime
	}
	return exitGrace
}

// lost is why a request has no response. Where the connection is gone, the
// reason for that says more than the error of the request, which comes first.
func (s *Session) lost(ctx context.Context, err error) error {
	var fault *target.Fault
	var rpc *jsonrpc.Error
	if ctx.Err() == nil && !errors.As(err, &fault) && !errors.As(err, &rpc) {
		select {
		case <-s.ctx.Done():
		case <-time.After(2 * s.grace()):
		}
	}
	if cause := context.Cause(s.ctx); cause != nil {
		return cause
	}
	return err
}

// Explain puts the reason why Connect failed together with the end of the process,
// if that says more.
func (s *Session) Explain(reason string) string {
	exit := s.exit()
	switch {
	case exit == "" || strings.Contains(reason, exit) || s.answeredAll():
		return reason
	case s.onlyProbed():
		return exit + " when it was asked " + mcp.MethodDiscover + ", before the connection stood"
	default:
		return exit + " before the connection stood (" + reason + ")"
	}
}

// Release ends what waits on the session, and its context: nothing is asked or
// answered any more.
func (s *Session) Release(byServer bool, reason string) {
	s.mu.Lock()
	s.released = true
	s.mu.Unlock()
	s.owner.Released(s, byServer, reason)
	s.cancel(errors.New(reason))
}

// Close ends the session from our side: questions that wait are answered with
// cancel, calls stopped, the connection and the process ended. It is safe to
// call more than once.
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
		if s.ctx.Err() == nil { // else it was the server that ended
			unsaid = s.running()
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

// awaitCancelled waits for a moment until the server is told that requests are
// cancelled which have just been released.
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

// await waits for a moment until something is so that shows in the log. Whether
// it is, is asked with the mutex held.
func (s *Session) await(ctx context.Context, is func() bool) {
	ctx, cancel := context.WithTimeout(ctx, answerGrace)
	defer cancel()
	for {
		grown := s.Log.Grown()
		s.mu.Lock()
		done := is()
		s.mu.Unlock()
		if done {
			return
		}
		select {
		case <-grown:
		case <-ctx.Done():
			return
		}
	}
}

// Kill ends the connection without any patience, also one that is about to be made.
func (s *Session) Kill() {
	s.mu.Lock()
	s.killed = true
	link := s.link
	s.mu.Unlock()
	if link != nil {
		// That it had to be killed is what its error would say.
		_ = s.cut(link)
	}
}

func (s *Session) cut(link *target.Link) error {
	over, cancel := context.WithCancel(context.Background())
	cancel()
	return link.Close(over)
}

// explainLoss puts the error of a request without a response into words.
func (s *Session) explainLoss(ctx context.Context, err error) error {
	return errors.New(response.Plainly(s.lost(ctx, err).Error()))
}
