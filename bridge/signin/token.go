package signin

import (
	"context"
	"errors"
	"time"

	"golang.org/x/oauth2"

	"elicitation-inspector/bridge/wire"
)

// grant is a token, and what it takes to refresh it.
type grant struct {
	token    *oauth2.Token
	config   *oauth2.Config // nil for a client that needs no person, and no refresh
	resource string
}

func (g *grant) header() string { return "Bearer " + g.token.AccessToken }

// early is how long before its end a token is refreshed.
const early = 10 * time.Second

func (g *grant) expired() bool {
	return !g.token.Expiry.IsZero() && time.Until(g.token.Expiry) < early
}

// grant makes a token the server's.
func (f *Flow) grant(g *grant) {
	f.mu.Lock()
	f.granted = g
	f.mu.Unlock()
	if f.config.Keep {
		f.save(g)
	}
	f.desk.changed(f)
}

// Token returns the access token for the next request to the server, "" if there is none.
// It refreshes a token that has expired. If that fails, the server
// says what it thinks of a request without a token. note logs frames of a refresh.
func (f *Flow) Token(ctx context.Context, note func(wire.Frame)) string {
	f.remember()
	f.mu.Lock()
	f.note = note
	now := f.granted
	f.mu.Unlock()
	switch {
	case now == nil:
		return ""
	case !now.expired(), now.token.RefreshToken == "": // the server says what it thinks of an expired token
		return now.token.AccessToken
	}
	if f.take(ctx) != nil {
		return ""
	}
	defer f.release()
	if f.refresh(ctx, now) != nil {
		return ""
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.granted == nil {
		return ""
	}
	return f.granted.token.AccessToken
}

// isRefused reports whether an authorization server has refused to give a token.
func isRefused(err error) bool {
	var refused *oauth2.RetrieveError
	return errors.As(err, &refused)
}

// errRefused is the error of a refresh that the authorization server has refused.
var errRefused = errors.New("the authorization server refuses to refresh the token")

// refresh replaces a token, unless another request has done so. If the authorization
// server refuses that, there is no token any more. The caller holds the turn.
func (f *Flow) refresh(ctx context.Context, old *grant) error {
	f.mu.Lock()
	now := f.granted
	f.mu.Unlock()
	if now != old {
		return nil
	}
	if f.run != nil || old.config == nil {
		return errors.New("the token cannot be refreshed")
	}
	ctx, number := f.begin(ctx, Attempt{Grant: GrantRefresh, ClientID: old.config.ClientID})
	f.run = newRun(f, number, nil)
	f.run.step, f.run.resource = wire.StepRefresh, old.resource
	stale := &oauth2.Token{RefreshToken: old.token.RefreshToken, Expiry: time.Unix(1, 0)}
	token, err := old.config.TokenSource(context.WithValue(ctx, oauth2.HTTPClient, f.client()), stale).Token()
	failure := f.conclude(ctx, err)
	switch {
	case isRefused(err):
		f.grant(nil)
		return errRefused
	case err == nil:
		f.grant(&grant{token: token, config: old.config, resource: old.resource})
	}
	return failure
}

// Status is what a page shows of a server's token.
type Status struct {
	SignedIn   bool
	Expires    time.Time // zero if that is unknown
	Refreshing bool      // the token can be refreshed
	Scopes     string    // as the authorization server has named them, "" if it has not
}

// Status returns what is known of the server's token.
func (f *Flow) Status() Status {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.granted == nil {
		return Status{}
	}
	t := f.granted.token
	scopes, _ := t.Extra("scope").(string)
	return Status{SignedIn: true, Expires: t.Expiry, Refreshing: t.RefreshToken != "" && f.granted.config != nil, Scopes: scopes}
}

// ErrNoToken is the error of doing something with a token that is not there.
var ErrNoToken = errors.New("there is no token")

// Expire takes the token for expired: the next request refreshes it, or goes out without a
// token.
func (f *Flow) Expire() error {
	f.mu.Lock()
	if f.granted == nil {
		f.mu.Unlock()
		return ErrNoToken
	}
	token := *f.granted.token
	token.Expiry = time.Unix(1, 0)
	if f.granted = (&grant{&token, f.granted.config, f.granted.resource}); token.RefreshToken == "" {
		f.granted = nil
	}
	f.mu.Unlock()
	f.desk.changed(f)
	return nil
}

// Refresh refreshes the token now.
func (f *Flow) Refresh(ctx context.Context) error {
	f.mu.Lock()
	now := f.granted
	f.mu.Unlock()
	if now == nil {
		return ErrNoToken
	}
	if err := f.take(ctx); err != nil {
		return err
	}
	defer f.release()
	return f.refresh(ctx, now)
}

// SignOut forgets the token. With another, the next sign-in asks the authorization server
// for another account.
func (f *Flow) SignOut(ctx context.Context, another bool) error {
	if err := f.take(ctx); err != nil {
		return err
	}
	defer f.release()
	f.code, f.credentials, f.another = nil, nil, another // the SDK remembers the scopes that were granted
	f.grant(nil)
	return nil
}
