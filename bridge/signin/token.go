package signin

import (
	"context"
	"errors"
	"net/http"
	"time"

	"golang.org/x/oauth2"

	"elicitation-inspector/bridge/wire"
)

// tokenSet is an access token, and what is needed to refresh it.
type tokenSet struct {
	token    *oauth2.Token
	config   *oauth2.Config // nil for a token that cannot be refreshed
	resource string
	issuer   string // of the authorization server
	disused  bool   // a person has expired the token; see [Flow.Expire]
}

func (t *tokenSet) header() string { return "Bearer " + t.token.AccessToken }

// early is how long before its expiry a token is refreshed.
const early = 10 * time.Second

func (t *tokenSet) expired() bool {
	return t.disused || !t.token.Expiry.IsZero() && time.Until(t.token.Expiry) < early
}

// replaces reports whether a refused request was not sent with this token, and can be sent
// again with it. again says that the request was already sent again after a sign-in.
func (t *tokenSet) replaces(refused *http.Request, again bool) bool {
	used := refused.Header.Get("Authorization")
	sentWithOlder := used != "" && used != t.header()
	sentBefore := used == "" && !again && !t.expired()
	return sentWithOlder || sentBefore
}

// setTokens makes a token set the current one of the server; nil means that there is none.
func (f *Flow) setTokens(t *tokenSet) {
	f.mu.Lock()
	f.tokens = t
	f.mu.Unlock()
	if f.config.Keep {
		f.save(t)
	}
	f.desk.changed(f)
}

// current returns the current token set of the server; nil if there is none.
func (f *Flow) current() *tokenSet {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.tokens
}

// Token returns the access token for the next request to the server, "" if there is none.
// With fresh, it refreshes an expired token first. If the person ends the refresh, it
// returns an [Error]; if the refresh fails otherwise, it returns "", and the server refuses
// the request. note logs the frames of a refresh.
func (f *Flow) Token(ctx context.Context, fresh bool, note func(wire.Frame)) (string, error) {
	f.loadKept()
	f.mu.Lock()
	f.note = note
	tokens := f.tokens
	f.mu.Unlock()
	switch {
	case tokens == nil:
		return "", nil
	case !fresh, !tokens.expired(), tokens.token.RefreshToken == "": // the server may accept an expired token
		return tokens.token.AccessToken, nil
	}
	if f.takeTurn(ctx) != nil {
		return "", nil
	}
	defer f.releaseTurn()
	if err := f.refresh(ctx, tokens); endedByPerson(err) {
		return "", err
	} else if err != nil {
		return "", nil
	}
	if tokens = f.current(); tokens == nil {
		return "", nil
	}
	return tokens.token.AccessToken, nil
}

// isRefused reports whether err is an error response of a token endpoint.
func isRefused(err error) bool {
	var refused *oauth2.RetrieveError
	return errors.As(err, &refused)
}

// errRefused is the error of a refresh that the authorization server refuses.
var errRefused = errors.New("the authorization server refuses to refresh the token")

// refresh replaces a token set, unless another request has already done so. If the
// authorization server refuses that, the flow forgets the token. The caller holds the turn.
func (f *Flow) refresh(ctx context.Context, old *tokenSet) error {
	if f.current() != old {
		return nil
	}
	if f.run != nil || old.config == nil {
		return ErrNoRefresh
	}
	ctx, number := f.begin(ctx, Attempt{Grant: GrantRefresh, ClientID: old.config.ClientID})
	f.run = newRun(f, number, nil)
	f.run.step, f.run.resource, f.run.issuer = wire.StepRefresh, old.resource, old.issuer
	stale := &oauth2.Token{RefreshToken: old.token.RefreshToken, Expiry: time.Unix(1, 0)}
	token, err := old.config.TokenSource(context.WithValue(ctx, oauth2.HTTPClient, f.client()), stale).Token()
	failure := f.conclude(ctx, err)
	switch {
	case isRefused(err):
		f.setTokens(nil)
		return errRefused
	case err == nil:
		f.setTokens(&tokenSet{token: token, config: old.config, resource: old.resource, issuer: old.issuer})
	}
	return failure
}

// Status describes a server's token for a page.
type Status struct {
	SignedIn    bool
	Expires     time.Time // zero if the authorization server has not named a time
	Expired     bool      // a person has expired the token; see [Flow.Expire]
	Refreshable bool      // there is a refresh token
	Scopes      string    // from the token response, "" if it names none
}

// Status returns the status of the server's token.
func (f *Flow) Status() Status {
	tokens := f.current()
	if tokens == nil {
		return Status{}
	}
	scopes, _ := tokens.token.Extra("scope").(string)
	return Status{
		SignedIn: true, Expires: tokens.token.Expiry, Expired: tokens.disused,
		Refreshable: tokens.token.RefreshToken != "" && tokens.config != nil, Scopes: scopes,
	}
}

// ErrNoToken is the error of Expire and Refresh without a token, and ErrNoRefresh that of a
// refresh without a refresh token.
var (
	ErrNoToken   = errors.New("there is no token")
	ErrNoRefresh = errors.New("there is no token that can be refreshed")
)

// Expire makes the flow treat the token as expired: the next request refreshes it, or goes
// out without a token.
func (f *Flow) Expire() error {
	f.mu.Lock()
	if f.tokens == nil {
		f.mu.Unlock()
		return ErrNoToken
	}
	expired := *f.tokens
	expired.disused = true
	if f.tokens = &expired; expired.token.RefreshToken == "" {
		f.tokens = nil
	}
	f.mu.Unlock()
	f.desk.changed(f)
	return nil
}

// Refresh refreshes the token now.
func (f *Flow) Refresh(ctx context.Context) error {
	tokens := f.current()
	if tokens == nil {
		return ErrNoToken
	}
	if err := f.takeTurn(ctx); err != nil {
		return err
	}
	defer f.releaseTurn()
	return f.refresh(ctx, tokens)
}

// ErrUnderWay is the error of SignOut while a sign-in or a refresh goes on, which may wait
// for a person.
var ErrUnderWay = errors.New("a sign-in is under way: end it first")

// SignOut forgets the token. With another, the next sign-in asks the authorization server
// to let the person choose another account.
func (f *Flow) SignOut(another bool) error {
	select {
	case f.turn <- struct{}{}:
	default:
		return ErrUnderWay
	}
	defer f.releaseTurn()
	f.code, f.credentials, f.another = nil, nil, another // the SDK remembers the scopes that were granted
	f.setTokens(nil)
	return nil
}
