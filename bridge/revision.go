package bridge

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

// ErrUnknownRevision is why [Inspection.Recall] did nothing.
var ErrUnknownRevision = errors.New("unknown protocol revision")

// ErrReconnect is why [Inspection.CallAgain] made no call.
var ErrReconnect = errors.New("reconnecting with " + RevisionOfRequests + " failed")

// Recall applies a revision that a browser remembers of a server, and connects
// anew. It does nothing where somebody has chosen a revision for this run.
func (in *Inspection) Recall(id, revision string) error {
	if !slices.Contains(mcp.Revisions, revision) {
		return fmt.Errorf("%w: %q", ErrUnknownRevision, revision)
	}
	return in.chooseWhere(id, client.ChoiceNone, func(*server) (string, client.Choice) { return revision, client.ChoiceRemembered })
}

// Forget takes a revision back that a browser remembered, and connects anew as
// the server was configured. It does nothing where another choice holds.
func (in *Inspection) Forget(id string) error {
	return in.chooseWhere(id, client.ChoiceRemembered, func(s *server) (string, client.Choice) { return s.configured.Protocol, s.configured.Choice })
}

// chooseWhere changes a server's revision and connects anew, where the present
// one was chosen as given.
func (in *Inspection) chooseWhere(id string, present client.Choice, choose func(*server) (string, client.Choice)) error {
	s, err := in.server(id)
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
	return in.Reconnect(id)
}

// CallAgain connects the server of a call anew with [RevisionOfRequests], waits
// until it has said what it offers, and makes the same call once more. Its error
// says why that did not come about; the server's settings are then as before.
func (in *Inspection) CallAgain(ctx context.Context, number int) (Call, error) {
	c, err := in.calls.Call(number)
	if err != nil {
		return Call{}, err
	}
	s, err := in.server(c.Request.Server)
	if err != nil {
		return Call{}, err
	}
	var before, tried client.Settings
	s.update(func() {
		before = s.Settings
		s.Settings.Protocol, s.Settings.Choice = RevisionOfRequests, client.ChoiceRemembered
		tried = s.Settings
	})
	if err := s.reconnected(ctx); err != nil {
		s.update(func() {
			if s.Settings == tried {
				s.Settings = before
			}
		})
		return Call{}, err
	}
	return in.Begin(c.Request)
}

// reconnected connects anew and waits until the server has said what it offers.
func (s *server) reconnected(ctx context.Context) error {
	in := s.in
	changed := in.Subscribe()
	defer changed.Close()
	connected := make(chan struct{})
	if !in.spawn(func() { defer close(connected); s.connect() }) {
		return ErrClosed
	}
	select {
	case <-connected:
	case <-ctx.Done():
		return ctx.Err()
	}
	for {
		server := s.view()
		if server.State != Ready {
			return fmt.Errorf("%w: %s is %s: %s", ErrReconnect, server.Label, server.State, server.Reason)
		}
		if catalog, err := in.Catalog(s.id); err != nil || !catalog.Loading {
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
