package live

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"elicitation-inspector/bridge/conversation"
	"elicitation-inspector/bridge/mcp"
)

// RevisionOfRequests is the last revision in which a server asks by its own requests.
// Servers that still do so work in it.
const RevisionOfRequests = mcp.Revision20251125

// ErrUnknownRevision is the error of [Servers.Recall] for an unknown revision.
var ErrUnknownRevision = errors.New("unknown protocol revision")

// ErrReconnect is the error of [Servers.ReconnectForRequests] if the server did not
// become ready.
var ErrReconnect = errors.New("reconnecting with " + RevisionOfRequests + " failed")

// Recall applies a revision that a browser remembers for a server, and reconnects. It
// does nothing if a revision was chosen for this run.
func (all *Servers) Recall(id, revision string) error {
	if !slices.Contains(mcp.Revisions, revision) {
		return fmt.Errorf("%w: %q", ErrUnknownRevision, revision)
	}
	return all.chooseWhere(id, conversation.ChoiceNone, func(*liveServer) (string, conversation.RevisionChoice) {
		return revision, conversation.ChoiceRemembered
	})
}

// Forget removes a revision that a browser remembered, and reconnects with the configured
// one. It does nothing if the revision was chosen in another way.
func (all *Servers) Forget(id string) error {
	return all.chooseWhere(id, conversation.ChoiceRemembered, func(s *liveServer) (string, conversation.RevisionChoice) {
		return s.configured.Protocol, s.configured.Choice
	})
}

// chooseWhere changes a server's revision and reconnects, if the present choice of the
// revision is present.
func (all *Servers) chooseWhere(id string, present conversation.RevisionChoice, choose func(*liveServer) (string, conversation.RevisionChoice)) error {
	s, err := all.find(id)
	if err != nil {
		return err
	}
	applies := false
	s.update(func() {
		if applies = s.Settings.Choice == present; applies {
			s.Settings.Protocol, s.Settings.Choice = choose(s)
		}
	})
	if !applies {
		return nil
	}
	return all.Reconnect(id)
}

// ReconnectForRequests reconnects a server with [RevisionOfRequests], and waits until its
// catalog is read. On errors it restores the server's settings.
func (all *Servers) ReconnectForRequests(ctx context.Context, id string) error {
	s, err := all.find(id)
	if err != nil {
		return err
	}
	var before, tried conversation.ClientSettings
	s.update(func() {
		before = s.Settings
		s.Settings.Protocol, s.Settings.Choice = RevisionOfRequests, conversation.ChoiceRemembered
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

// reconnected reconnects the server and waits until its catalog is read.
func (s *liveServer) reconnected(ctx context.Context) error {
	changed := s.all.config.Changes.Subscribe()
	defer changed.Close()
	connected := make(chan struct{})
	if !s.all.config.Spawn(func() { defer close(connected); s.connect() }) {
		return ErrClosed
	}
	select {
	case <-connected:
	case <-ctx.Done():
		return ctx.Err()
	}
	for {
		now := s.view()
		if now.State != Ready {
			return fmt.Errorf("%w: %s is %s: %s", ErrReconnect, now.Label, now.State, now.Reason)
		}
		if catalog, err := s.all.Catalog(s.ID); err != nil || !catalog.Loading {
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
