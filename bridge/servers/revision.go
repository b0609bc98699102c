package servers

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"elicitation-inspector/bridge/client"
	"elicitation-inspector/bridge/mcp"
)

// RevisionOfRequests is the last revision in which a server asks by requests of
// its own. Servers that still do so work in it.
const RevisionOfRequests = mcp.Revision20251125

// ErrUnknownRevision is why [Servers.Recall] did nothing.
var ErrUnknownRevision = errors.New("unknown protocol revision")

// ErrReconnect is why [Servers.ReconnectForRequests] failed.
var ErrReconnect = errors.New("reconnecting with " + RevisionOfRequests + " failed")

// Recall applies a revision that a browser remembers of a server, and connects
// anew. It does nothing where somebody has chosen a revision for this run.
func (all *Servers) Recall(id, revision string) error {
	if !slices.Contains(mcp.Revisions, revision) {
		return fmt.Errorf("%w: %q", ErrUnknownRevision, revision)
	}
	return all.chooseWhere(id, client.ChoiceNone, func(*server) (string, client.Choice) { return revision, client.ChoiceRemembered })
}

// Forget takes a revision back that a browser remembered, and connects anew as
// the server was configured. It does nothing where another choice holds.
func (all *Servers) Forget(id string) error {
	return all.chooseWhere(id, client.ChoiceRemembered, func(s *server) (string, client.Choice) { return s.configured.Protocol, s.configured.Choice })
}

// chooseWhere changes a server's revision and connects anew, where the present
// one was chosen as given.
func (all *Servers) chooseWhere(id string, present client.Choice, choose func(*server) (string, client.Choice)) error {
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

// ReconnectForRequests connects a server anew with [RevisionOfRequests], and waits
// until it has said what it offers. If that fails, the server's settings are as before.
func (all *Servers) ReconnectForRequests(ctx context.Context, id string) error {
	s, err := all.find(id)
	if err != nil {
		return err
	}
	var before, tried client.Settings
	s.update(func() {
		before = s.Settings
		s.Settings.Protocol, s.Settings.Choice = RevisionOfRequests, client.ChoiceRemembered
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

// reconnected connects anew and waits until the server has said what it offers.
func (s *server) reconnected(ctx context.Context) error {
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
