package bridge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"elicitation-inspector/bridge/elicit/lint"
	"elicitation-inspector/bridge/wire"
)

// Choice says who chose the revision in [Settings.Protocol].
type Choice int

// The choices.
const (
	// ChoiceNone is nobody's: what a browser remembers of the server holds.
	ChoiceNone Choice = iota
	// ChoiceExplicit is that of the command line, of mcp.json, or of the person
	// in the server's settings. It comes before what a browser remembers.
	ChoiceExplicit
	// ChoiceRemembered is one that a browser remembers; see [Inspection.Recall].
	ChoiceRemembered
)

// RevisionOfRequests is the last revision in which a server asks by requests of
// its own. Servers that still do so work in it.
const RevisionOfRequests = Revision20251125

// ErrUnknownRevision is why [Inspection.Recall] did nothing.
var ErrUnknownRevision = errors.New("unknown protocol revision")

// ErrReconnect is why [Inspection.CallAgain] made no call.
var ErrReconnect = errors.New("reconnecting with " + RevisionOfRequests + " failed")

// Recall applies a revision that a browser remembers of a server, and connects
// anew. It does nothing where somebody has chosen a revision for this run.
func (in *Inspection) Recall(id, revision string) error {
	if !slices.Contains(Revisions(), revision) {
		return fmt.Errorf("%w: %q", ErrUnknownRevision, revision)
	}
	return in.chooseWhere(id, ChoiceNone, func(*server) (string, Choice) { return revision, ChoiceRemembered })
}

// Forget takes a revision back that a browser remembered, and connects anew as
// the server was configured. It does nothing where another choice holds.
func (in *Inspection) Forget(id string) error {
	return in.chooseWhere(id, ChoiceRemembered, func(s *server) (string, Choice) { return s.configured.Protocol, s.configured.Choice })
}

// chooseWhere changes a server's revision and connects anew, where the present
// one was chosen as given. choose is called with in.mu held.
func (in *Inspection) chooseWhere(id string, present Choice, choose func(*server) (string, Choice)) error {
	s, err := in.server(id)
	if err != nil {
		return err
	}
	in.mu.Lock()
	applies := s.settings.Choice == present
	if applies {
		s.settings.Protocol, s.settings.Choice = choose(s)
		in.changed(Change{Kind: ServerChanged, Server: s.id})
	}
	in.mu.Unlock()
	if !applies {
		return nil
	}
	return in.Reconnect(id)
}

// CallAgain connects the server of a call anew with [RevisionOfRequests], waits
// until it has said what it offers, and makes the same call once more. Its error
// says why that did not come about; the server's settings are then as before.
func (in *Inspection) CallAgain(ctx context.Context, number int) (Call, error) {
	in.mu.Lock()
	c, err := in.call(number)
	if err != nil {
		in.mu.Unlock()
		return Call{}, err
	}
	s, request, before := c.session.server, c.request, c.session.server.settings
	s.settings.Protocol, s.settings.Choice = RevisionOfRequests, ChoiceRemembered
	tried := s.settings
	in.changed(Change{Kind: ServerChanged, Server: s.id})
	in.mu.Unlock()

	if err := s.reconnected(ctx); err != nil {
		in.mu.Lock()
		if s.settings == tried {
			s.settings = before
			in.changed(Change{Kind: ServerChanged, Server: s.id})
		}
		in.mu.Unlock()
		return Call{}, err
	}
	return in.Begin(request)
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
		server, err := in.Server(s.id)
		if err != nil {
			return err
		}
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

// unsentIn is the method of the request that the server could not send before
// it gave this response; "" where the response says no such thing.
func unsentIn(result, rpcError json.RawMessage, revision string) string {
	method, _ := lint.Unsent(result, rpcError, revision)
	return method
}

// saysUnsent notes at a call what its response says of it.
func (s *session) saysUnsent(c *call, m wire.Message) {
	method := unsentIn(m.Result, m.Error, s.revision())
	if method == "" {
		return
	}
	s.in.mu.Lock()
	defer s.in.mu.Unlock()
	c.unsent = method
	s.in.changed(Change{Kind: CallChanged, Number: c.number})
}

// formerRequests are the requests that servers sent up to [RevisionOfRequests].
var formerRequests = []string{MethodElicit, MethodSampling, MethodRoots, "ping"}

// asksInVain notes at its call that the server made a request of its own in a
// revision that has none, so that nothing answers it.
func (s *session) asksInVain(method string, related json.RawMessage) {
	if !slices.Contains(formerRequests, method) {
		return
	}
	c, _, sure := s.attribute(related)
	if c == nil || !sure {
		return
	}
	s.in.mu.Lock()
	defer s.in.mu.Unlock()
	c.unsent = method
	s.in.changed(Change{Kind: CallChanged, Number: c.number})
}
