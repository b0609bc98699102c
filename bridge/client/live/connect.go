package live

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/client/session"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/wire"
)

// update changes a server's state, and marks the server as changed.
func (s *liveServer) update(change func()) {
	s.servers.mu.Lock()
	change()
	s.servers.mu.Unlock()
	s.servers.config.Changes.Mark(Change{Kind: ServerChanged, Server: s.ID})
}

// enter sets the state of the connection. The caller is within update.
func (s *liveServer) enter(state conversation.ServerState, reason string) {
	s.State, s.Reason, s.Since = state, reason, time.Now()
	s.Refused = s.Refused && state == conversation.ServerFailed
}

// leave enters a state, provided that the session is the server's present one. It reports
// whether it is.
func (s *liveServer) leave(of *session.Session, state conversation.ServerState, reason string) (current bool) {
	s.update(func() {
		if current = s.session == of; current {
			s.session = nil
			s.enter(state, reason)
		}
	})
	return current
}

// Reconnect closes a server's connection, if it has one, and opens a new one. It returns
// before the new connection is ready; the server's state shows the progress.
func (servers *Servers) Reconnect(id string) error {
	s, err := servers.find(id)
	if err != nil {
		return err
	}
	servers.mu.Lock()
	queued := s.queued
	s.queued = true
	servers.mu.Unlock()
	if !queued && !servers.config.Spawn(s.connect) {
		return ErrClosed
	}
	return nil
}

// ReconnectWith is Reconnect with other settings.
func (servers *Servers) ReconnectWith(id string, settings conversation.ClientSettings) error {
	s, err := servers.find(id)
	if err != nil {
		return err
	}
	s.update(func() { s.Settings = settings })
	return servers.Reconnect(id)
}

// Connect is like Reconnect, but returns when the server is ready or has failed.
func (servers *Servers) Connect(id string) error {
	s, err := servers.find(id)
	if err == nil {
		s.connect()
	}
	return err
}

// Disconnect closes a server's connection in an orderly way.
func (servers *Servers) Disconnect(ctx context.Context, id string) error {
	s, err := servers.find(id)
	if err != nil {
		return err
	}
	return s.disconnect(ctx, conversation.ServerDisconnected, "disconnected by a person", nil)
}

// disconnect closes the connection, enters ServerDisconnected or ServerRemoved, and calls then, if it is
// not nil, before anything else can connect. It returns an error if ctx ends while it waits
// for the turn.
func (s *liveServer) disconnect(ctx context.Context, state conversation.ServerState, reason string, then func()) error {
	s.interrupt(ctx, reason)
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return fmt.Errorf("ending the connection to %s: %w", s.spec.Name, ctx.Err())
	}
	s.hangUp(ctx, state, reason)
	if then != nil {
		then()
	}
	return nil
}

// interrupt closes the present session, even while connect holds the turn.
func (s *liveServer) interrupt(ctx context.Context, reason string) {
	s.servers.mu.Lock()
	current := s.session
	s.servers.mu.Unlock()
	if current != nil {
		s.servers.closeSession(ctx, current, reason)
	}
}

// hangUp closes the present session. It then enters the state, unless the server was removed
// before, and reports whether it was not. The caller holds the turn.
func (s *liveServer) hangUp(ctx context.Context, state conversation.ServerState, reason string) (there bool) {
	s.interrupt(ctx, reason)
	s.update(func() {
		s.session = nil
		if there = s.State != conversation.ServerRemoved; there && s.State != state {
			s.enter(state, reason)
		}
	})
	return there
}

// connect opens a new connection and, once the server is ready, starts to read its
// catalog. It returns when the server is ready or has failed.
func (s *liveServer) connect() {
	s.interrupt(context.Background(), "reconnecting")
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-s.servers.config.Life.Done():
		return
	}
	s.servers.mu.Lock()
	anew := s.anew
	s.queued, s.anew = false, ""
	s.servers.mu.Unlock()
	if !s.hangUp(context.Background(), conversation.ServerDisconnected, "reconnecting") {
		return
	}

	if s.spec.Problem != nil { // its entry in mcp.json is invalid
		s.update(func() { s.enter(conversation.ServerFailed, s.spec.Problem.Error()) })
		s.warn("the server cannot be used", s.spec.Problem.Error())
		return
	}
	fresh := s.begin()
	if fresh == nil {
		return
	}
	late := time.AfterFunc(session.Moment, func() { s.servers.config.Changes.Mark(Change{Kind: ServerChanged, Server: s.ID}) })
	info, err := fresh.Connect()
	late.Stop()
	if err != nil {
		s.failed(fresh, err)
		return
	}
	current := false
	s.update(func() {
		if current = s.session == fresh; current {
			s.Info = info
			s.enter(conversation.ServerReady, anew)
		}
	})
	if current {
		s.servers.config.Session.Go(func() { s.watch(fresh) })
		s.servers.config.Session.Go(fresh.FollowCatalog)
		s.servers.config.Ready(s.ID)
	}
}

// warn logs each line of a reason by itself.
func (s *liveServer) warn(what, reason string) {
	for line := range strings.Lines(reason) {
		s.servers.config.Session.Logger.Warn(what, "server", s.spec.Name, "reason", strings.TrimSpace(line))
	}
}

// begin gives the server a new session, or returns nil if the inspection is closed. The
// caller holds the turn.
func (s *liveServer) begin() *session.Session {
	fresh := s.servers.newSession(s)
	if fresh == nil {
		return nil
	}
	s.servers.config.Inbox.Connected(s.ID)
	s.update(func() {
		s.session, s.latest, s.Info = fresh, fresh, conversation.ServerInfo{}
		s.catalog = conversation.Catalog{Server: s.ID, Loading: true}
		s.enter(conversation.ServerConnecting, "")
	})
	s.servers.config.Changes.Mark(Change{Kind: CatalogChanged, Server: s.ID})
	return fresh
}

// newSession prepares a session with a server, or returns nil if the inspection is
// closed. Each session must be closed with closeSession.
func (servers *Servers) newSession(s *liveServer) *session.Session {
	config := servers.config.Session
	config.Server, config.Spec, config.Settings = s.ID, s.spec, s.Settings
	servers.mu.Lock()
	s.attempt++
	// Two sessions can begin in the same millisecond, and ids of spans are made of their names.
	config.Name = fmt.Sprintf("%s-%d-%s-%d", s.ID, time.Now().UnixMilli(), strings.ToLower(rand.Text()[:6]), s.attempt)
	servers.mu.Unlock()
	fresh := session.New(servers.config.Life, config, servers.config.Owner)
	servers.mu.Lock()
	defer servers.mu.Unlock()
	if servers.closed {
		return nil
	}
	servers.sessions[config.Name] = fresh
	return fresh
}

// closeSession closes a session within [session.EndTime], and at once when ctx ends.
func (servers *Servers) closeSession(ctx context.Context, s *session.Session, reason string) {
	ctx, cancel := context.WithTimeout(ctx, session.EndTime)
	defer cancel()
	s.Close(ctx, reason)
	servers.mu.Lock()
	defer servers.mu.Unlock()
	delete(servers.sessions, s.Name)
}

// failed ends a session that could not be connected.
func (s *liveServer) failed(of *session.Session, err error) {
	reason := err.Error()
	if errors.Is(err, context.Canceled) {
		reason = "the connection was given up"
	}
	s.servers.closeSession(context.Background(), of, reason)
	reason = of.Explain(reason)
	refused := of.Refused()
	s.update(func() { s.catalog.Loading, s.Refused = false, refused })
	s.servers.config.Changes.Mark(Change{Kind: CatalogChanged, Server: s.ID})
	if s.leave(of, conversation.ServerFailed, reason) {
		s.warn("the server cannot be used", reason)
	}
}

// watch waits until a ready connection ends, and cleans up if it ended by itself. Where the
// server has ended the session, it begins a new one (specification 2025-11-25, Transports,
// Session Management), in which nothing is sent again, unless that was itself such a one, and short.
func (s *liveServer) watch(of *session.Session) {
	reason, byItself, gone := of.Wait()
	if !byItself {
		return
	}
	s.update(func() {
		if gone = gone && s.session == of && (s.Reason == "" || time.Since(s.Since) > 2*time.Second); gone {
			s.session, s.anew = nil, reason+"; this one is new, and nothing was sent again"
			s.enter(conversation.ServerConnecting, reason)
		}
	})
	if gone {
		of.Noted(wire.Frame{Note: &wire.Note{Kind: wire.NoteSessionGone}})
	}
	of.Release(true, reason)
	if s.leave(of, conversation.ServerEnded, reason) {
		s.warn("the server has ended", reason)
	}
	s.servers.closeSession(context.Background(), of, reason)
	if gone {
		s.connect()
	}
}

// RevisionOfRequests is the last revision in which a server asks by its own requests.
// Servers that still do so work in it.
const RevisionOfRequests = mcp.Revision20251125

// ErrUnknownRevision is the error of [Servers.Recall] for an unknown revision.
var ErrUnknownRevision = errors.New("unknown protocol revision")

// ErrReconnect is the error of [Servers.Reconnected] if the server did not
// become ready.
var ErrReconnect = errors.New("reconnecting with " + RevisionOfRequests + " failed")

// Recall applies a revision that a browser remembers for a server, or for "" the configured
// one in place of such a revision, and reconnects. It does nothing if the revision was chosen
// in another way.
func (servers *Servers) Recall(id, revision string) error {
	if revision != "" && !slices.Contains(mcp.Revisions, revision) {
		return fmt.Errorf("%w: %q", ErrUnknownRevision, revision)
	}
	s, err := servers.find(id)
	if err != nil {
		return err
	}
	before, choice := conversation.ChoiceNone, conversation.ChoiceRemembered
	if revision == "" {
		before, revision, choice = conversation.ChoiceRemembered, s.configured.Protocol, s.configured.Choice
	}
	applies := false
	s.update(func() {
		if applies = s.Settings.Choice == before; applies {
			s.Settings.Protocol, s.Settings.Choice = revision, choice
		}
	})
	if !applies {
		return nil
	}
	return servers.Reconnect(id)
}

// Reconnected reconnects a server with changed settings, and waits until its catalog is
// read. On errors it restores the server's settings.
func (servers *Servers) Reconnected(ctx context.Context, id string, change func(*conversation.ClientSettings)) error {
	s, err := servers.find(id)
	if err != nil {
		return err
	}
	var before, tried conversation.ClientSettings
	s.update(func() {
		before = s.Settings
		change(&s.Settings)
		tried = s.Settings
	})
	err = s.reconnected(ctx)
	if err != nil {
		s.update(func() {
			if s.Settings == tried {
				s.Settings = before
			}
		})
	}
	return err
}

func (s *liveServer) reconnected(ctx context.Context) error {
	changed := s.servers.config.Changes.Subscribe()
	defer changed.Close()
	connected := make(chan struct{})
	if !s.servers.config.Spawn(func() { defer close(connected); s.connect() }) {
		return ErrClosed
	}
	select {
	case <-connected:
	case <-ctx.Done():
		return ctx.Err()
	}
	for {
		now := s.view()
		if now.State != conversation.ServerReady {
			return fmt.Errorf("%w: %s is %s: %s", ErrReconnect, now.Label, now.State, now.Reason)
		}
		if catalog, err := s.servers.Catalog(s.ID); err != nil || !catalog.Loading {
			return err
		}
		select {
		case <-changed.Ready():
			changed.Take()
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
