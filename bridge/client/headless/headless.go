// Package headless makes calls on one server without a page: scripts answer the
// questions, and a person at a terminal if there is one. All frames are logged.
package headless

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/client/inspection"
	"elicitation-inspector/bridge/client/live"
	"elicitation-inspector/bridge/client/session"
	"elicitation-inspector/bridge/client/signin"
	"elicitation-inspector/bridge/client/target"
	"elicitation-inspector/bridge/keep/playback"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/wire"
	"elicitation-inspector/bridge/wire/redact"
)

// Config configures a session: the server, the client's settings and the limits.
type Config struct {
	Target   target.Spec
	Settings conversation.ClientSettings
	MaxFrame int64
	Version  string
	Logger   *slog.Logger
	// Timeout limits the time to connect, and the server's own time in each call; 0 means
	// no limit.
	Timeout time.Duration
	// Record is the transcript file that frames are appended to; "" for none.
	Record    string
	RecordNew bool
	Redaction *redact.Redaction
	// Watch is called for each frame in order; nil for none.
	Watch func(wire.Frame)
	// Follow reads the log until end is called, with the secrets that are left out; nil for nobody.
	Follow func(*wire.Log, *redact.Redaction) (end func())
	// Late waits for frames that come when the connection has ended; nil for none.
	Late func(*wire.Log)
	// Traces joins the session with the traces of others, if it is not nil. ReceiveSpans says that it takes those of
	// the server.
	Traces       session.Traces
	ReceiveSpans bool
	// NoLists leaves the lists of what the server offers unread.
	NoLists bool
	// SignIns has the sign-ins to servers behind OAuth; nil means that nobody can sign in.
	SignIns *signin.Desk
	// Ask asks a person a question, until ctx ends. nil means that there is no person.
	Ask func(ctx context.Context, q inspection.Question) (live.Answer, error)
}

// ErrConnect is the error if a server could not be reached.
var ErrConnect = errors.New("could not connect")

// Session is a connection to one server.
type Session struct {
	config    Config
	log       *wire.Log
	in        *inspection.Inspection
	recording *playback.Recording
	changes   *live.Subscription
	server    string // id
	judged    int    // number of findings that earlier calls returned

	watching sync.WaitGroup
	watched  chan struct{} // closed when no more frames come
	followed func()        // ends Config.Follow
	ending   sync.Once
	ended    error // result of End
}

// Open connects to a server. On success the caller must close the session.
func Open(ctx context.Context, c Config) (*Session, error) {
	s, err := Start(c)
	if err != nil {
		return nil, err
	}
	if err := s.Connected(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// Start begins to connect to a server. On success the caller must close the session, even
// if Connected returns an error.
func Start(c Config) (s *Session, err error) {
	log, err := wire.NewLog(wire.Options{MaxFrame: c.MaxFrame})
	if err != nil {
		return nil, fmt.Errorf("making the wire log: %w", err)
	}
	c.Settings.Traces = c.ReceiveSpans
	in := inspection.New(inspection.Config{
		Targets: []target.Spec{c.Target}, Log: log, Logger: c.Logger, Settings: c.Settings, MaxFrame: c.MaxFrame, Version: c.Version,
		JudgeLater: true, NoLists: c.NoLists, SignIns: c.SignIns, Traces: c.Traces,
	})
	s = &Session{
		config: c, log: log, in: in, recording: playback.NewRecording(log, c.Logger, c.Redaction, in.RecordingChanged), changes: in.Subscribe(),
		server: in.Servers()[0].ID, watched: make(chan struct{}), followed: func() {},
	}
	if c.Follow != nil {
		s.followed = c.Follow(log, c.Redaction)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Close())
			s = nil
		}
	}()
	if c.Record != "" {
		if err := s.recording.Begin(c.Record, c.RecordNew); err != nil {
			return s, fmt.Errorf("--record: %w", err)
		}
	}
	if c.Watch != nil {
		s.watching.Go(s.watch)
	}
	in.Start()
	return s, nil
}

// Over returns a session that makes its calls on a server of a running inspection, which goes on after
// the session is left.
func Over(in *inspection.Inspection, server string, c Config) *Session {
	return &Session{config: c, log: in.Log(), in: in, changes: in.Subscribe(), server: server}
}

// Leave ends a session that Over has made. Scripts answer no further questions.
func (s *Session) Leave() {
	s.in.AnswerBy(nil)
	s.changes.Close()
}

// Connected waits until the server is ready. The error says why it is not.
func (s *Session) Connected(ctx context.Context) error { return s.Reconnected(ctx, time.Time{}) }

// Reconnected is Connected for a server that gets another session than the one that has been
// ready since a time.
func (s *Session) Reconnected(ctx context.Context, since time.Time) error {
	var limit <-chan time.Time
	var timer *time.Timer
	if s.config.Timeout > 0 {
		timer = time.NewTimer(s.config.Timeout)
		defer timer.Stop()
		limit = timer.C
	}
	for {
		server, err := s.in.Server(s.server)
		switch {
		case err != nil:
			return err
		case server.State == conversation.ServerReady && server.Since != since:
			return nil
		case server.State == conversation.ServerFailed, server.State == conversation.ServerEnded:
			err := fmt.Errorf("%w to %s: %s", ErrConnect, server.DisplayName(), server.Reason)
			if server.Cause != "" {
				err = fmt.Errorf("%w; its standard error says: %s", err, wording.Shorten(server.Cause, 300))
			}
			return err
		}
		select {
		case <-s.changes.Ready():
			s.changes.Take()
		case <-limit:
			if flow, err := s.in.SignIn(s.server); err == nil && flow != nil && flow.Busy() {
				timer.Reset(s.config.Timeout) // a person's time does not count
				continue
			}
			return fmt.Errorf("%w to %s within %v%s", ErrConnect, server.DisplayName(), s.config.Timeout, wording.After(": no response to ", server.Waits))
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// watch passes the frames of the log to Watch until the session ends.
func (s *Session) watch() {
	seq := int64(0)
	for over := false; ; {
		grown := s.log.Grown()
		for ; seq < s.log.Len(); seq++ {
			if f, err := s.log.Frame(seq + 1); err == nil {
				s.config.Watch(f)
			}
		}
		if over {
			return
		}
		select {
		case <-grown:
		case <-s.watched:
			over = true
		}
	}
}

// Log returns the log with the session's frames, which stays open until Close.
func (s *Session) Log() *wire.Log { return s.log }

// Server returns the state of the server.
func (s *Session) Server() (inspection.Server, error) { return s.in.Server(s.server) }

// End ends the connection, and returns when the recording is complete. The log stays
// open.
func (s *Session) End() error {
	s.ending.Do(func() {
		ctx, cancel := context.WithTimeout(context.Background(), inspection.CloseTime)
		defer cancel()
		s.changes.Close()
		s.ended = s.in.Close(ctx)
		if s.config.Late != nil {
			s.config.Late(s.log)
		}
		s.ended = errors.Join(s.ended, s.recording.Close())
		close(s.watched)
		s.watching.Wait()
		s.followed()
	})
	return s.ended
}

// Close ends the connection and closes the log.
func (s *Session) Close() error { return errors.Join(s.End(), s.log.Close()) }

// Ping sends a ping to the server and waits for its response.
func (s *Session) Ping(ctx context.Context) error { return s.in.Ping(ctx, s.server) }

// Catalog waits for the server's tools, prompts and resources.
func (s *Session) Catalog(ctx context.Context) (c conversation.Catalog, err error) {
	ended := await(ctx, s.changes, func() bool {
		c, err = s.in.Catalog(s.server)
		return err != nil || !c.Loading
	})
	return c, cmp.Or(err, ended)
}

// await waits until done, which it asks after each change, is true. It fails if ctx ends.
func await(ctx context.Context, changes *live.Subscription, done func() bool) error {
	for !done() {
		select {
		case <-changes.Ready():
			changes.Take()
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}
