package signin

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"github.com/zalando/go-keyring"
	"golang.org/x/oauth2"

	"elicitation-inspector/bridge/base/rawjson"
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

// early is how long before its expiry a token is refreshed.
const early = 10 * time.Second

func (t *tokenSet) expired() bool {
	return t.disused || !t.token.Expiry.IsZero() && time.Until(t.token.Expiry) < early
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
	f.run.step, f.run.resource, f.run.server = wire.StepRefresh, old.resource, &oauthex.AuthServerMeta{Issuer: old.issuer}
	stale := &oauth2.Token{RefreshToken: old.token.RefreshToken, Expiry: time.Unix(1, 0)}
	token, err := old.config.TokenSource(tap{f}.context(ctx), stale).Token()
	failure := f.conclude(ctx, err)
	switch {
	case errors.As(err, new(*oauth2.RetrieveError)):
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
	f.another = another
	clear(f.granted)
	f.setTokens(nil)
	return nil
}

// service names the entries of the inspector in the system's keyring. Their account is the
// URL of the server.
const service = "elicitation-inspector"

// kept is an entry of the keyring: a token set, and the registrations of the client.
type kept struct {
	Token        *oauth2.Token    `json:"token"`
	Resource     string           `json:"resource"`
	Issuer       string           `json:"issuer,omitempty"`
	ClientID     string           `json:"client_id,omitempty"`
	ClientSecret string           `json:"client_secret,omitempty"`
	Endpoint     *oauth2.Endpoint `json:"endpoint,omitempty"` // nil for a token that cannot be refreshed
	// Registered are the responses to registrations, by issuer, and URL and body of the request.
	Registered map[string]json.RawMessage `json:"registered,omitempty"`
}

// load loads the token set and the registrations from the keyring. If that fails, it warns,
// and the flow goes on without them.
func (f *Flow) load() {
	text, err := keyring.Get(service, f.server.String())
	if errors.Is(err, keyring.ErrNotFound) {
		return
	}
	var k kept
	if err == nil {
		err = json.Unmarshal([]byte(text), &k)
	}
	if err == nil && k.Token == nil {
		err = errors.New("the entry has no token")
	}
	if err != nil {
		f.warn("reading", err)
		return
	}
	m := f.masks()
	for _, secret := range []string{k.Token.AccessToken, k.Token.RefreshToken, k.ClientSecret} {
		m.hide("", secret, true)
	}
	for asked, body := range k.Registered {
		header := http.Header{"Content-Type": {"application/json"}}
		_ = m.body(header, body, false) // makes its secrets known
		f.registered[asked] = &answer{status: http.StatusCreated, header: header, body: body}
	}
	if f.issuer == "" && k.ClientID == f.config.ClientID {
		f.issuer = k.Issuer
	}
	tokens := &tokenSet{token: k.Token, resource: k.Resource, issuer: k.Issuer}
	if k.Endpoint != nil {
		tokens.config = &oauth2.Config{ClientID: k.ClientID, ClientSecret: k.ClientSecret, Endpoint: *k.Endpoint}
	}
	f.mu.Lock()
	f.tokens = tokens
	f.mu.Unlock()
}

func (f *Flow) save(t *tokenSet) {
	if t == nil {
		if err := keyring.Delete(service, f.server.String()); err != nil && !errors.Is(err, keyring.ErrNotFound) {
			f.warn("removing", err)
		}
		return
	}
	k := kept{Token: t.token, Resource: t.resource, Issuer: t.issuer, Registered: map[string]json.RawMessage{}}
	for asked, answer := range f.registered {
		k.Registered[asked] = answer.body
	}
	if c := t.config; c != nil {
		k.ClientID, k.ClientSecret, k.Endpoint = c.ClientID, c.ClientSecret, &c.Endpoint
	}
	text, err := json.Marshal(k)
	if err == nil {
		err = keyring.Set(service, f.server.String(), string(text))
	}
	if err != nil {
		f.warn("writing", err)
	}
}

func (f *Flow) warn(doing string, err error) {
	if f.desk.config.Warn != nil {
		f.desk.config.Warn(fmt.Sprintf("%s the token of %s in the system's keyring: %v; it stays in memory", doing, f.name, f.masks().text(err.Error())))
	}
}

// DecodeJWT decodes a signed JWT (RFC 7519) without verifying its signature. It returns
// false for a token that is no JWT.
func DecodeJWT(token string) (wire.JWT, bool) {
	signed, _, ok := cutJWT(token)
	if !ok {
		return wire.JWT{}, false
	}
	header, claims, _ := strings.Cut(signed, ".")
	var out wire.JWT
	if out.Header, ok = jwtPart(header); !ok {
		return wire.JWT{}, false
	}
	out.Claims, ok = jwtPart(claims)
	return out, ok
}

// cutJWT splits a JWT before its signature; ok is false for a token that has not three parts.
func cutJWT(token string) (signed, signature string, ok bool) {
	if strings.Count(token, ".") != 2 {
		return "", "", false
	}
	last := strings.LastIndexByte(token, '.')
	return token[:last], token[last+1:], last+1 < len(token)
}

func jwtPart(text string) (json.RawMessage, bool) {
	raw, err := base64.RawURLEncoding.DecodeString(text)
	return raw, err == nil && rawjson.KindOf(raw) == rawjson.Object && rawjson.Valid(raw)
}
