// Package signin signs in to MCP servers behind OAuth. It takes the steps of an authorization
// over a tap that logs every HTTP exchange without its secrets, lets a person
// decide, and keeps the tokens.
package signin

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/oauth2"

	"elicitation-inspector/bridge/wire"
)

// Flow signs in to one server, and holds its token. Make it with [Desk.Flow]. All methods
// are safe for concurrent use.
type Flow struct {
	desk   *Desk
	name   string // the server's name
	server *url.URL
	config Config
	// loadKept loads the token from the keyring at its first call, if tokens are kept.
	loadKept func()

	// turn holds one value while an attempt runs. It guards the fields up to mu.
	turn       chan struct{}
	run        *run                // nil between attempts
	granted    map[string][]string // scopes, by issuer
	registered map[string]*answer  // responses to registrations, by issuer, and URL and body of the request
	issuer     string              // to which the configured client belongs; "" while that is unknown
	another    bool                // the next authorization request asks for another account

	mu      sync.Mutex
	tokens  *tokenSet // nil without a token
	latest  *Attempt
	ended   int                     // number of the latest sign-in that has ended
	failure error                   // of that sign-in, nil if it succeeded
	finish  context.CancelCauseFunc // ends the current attempt; nil between attempts
	address string                  // the authorization URL to open, "" unless the attempt is Waiting
	note    func(wire.Frame)        // logs a frame for the latest connection
}

// Name returns the server's name.
func (f *Flow) Name() string { return f.name }

// Attempt returns the latest attempt; false if there was none.
func (f *Flow) Attempt() (Attempt, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.latest == nil {
		return Attempt{}, false
	}
	out := *f.latest
	out.Scopes, out.Steps = slices.Clone(out.Scopes), slices.Clone(out.Steps)
	return out, true
}

// Busy reports whether an attempt is under way; requests to the server wait for its end.
func (f *Flow) Busy() bool {
	a, ok := f.Attempt()
	return ok && !a.State.Over()
}

func (f *Flow) update(change func(*Attempt)) {
	f.mu.Lock()
	change(f.latest)
	f.mu.Unlock()
	f.desk.changed(f)
}

// takeTurn waits until no other attempt runs. The caller must call releaseTurn.
func (f *Flow) takeTurn(ctx context.Context) error {
	select {
	case f.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (f *Flow) releaseTurn() { <-f.turn }

// SignIn gets a token after the server has refused a request with 401, or with 403 and
// insufficient_scope. It returns nil when the request can be sent again with a new token,
// or an [Error]. The attempt is Withdrawn when ctx ends. again says that the request was
// already sent again after an earlier SignIn. note logs the frames of the attempt.
func (f *Flow) SignIn(ctx context.Context, refused *http.Response, again bool, note func(wire.Frame)) error {
	f.mu.Lock()
	before := f.ended
	f.mu.Unlock()
	if err := f.takeTurn(ctx); err != nil {
		return err
	}
	defer f.releaseTurn()
	f.mu.Lock()
	f.note = note
	tokens, waited, failure := f.tokens, f.ended > before, f.failure
	f.mu.Unlock()
	used := refused.Request.Header.Get("Authorization")
	switch {
	case waited:
		return failure // of the sign-in that this request has waited for
	case tokens == nil || refused.StatusCode != http.StatusUnauthorized:
	case used != "" && used != "Bearer "+tokens.token.AccessToken, used == "" && !again && !tokens.expired():
		return nil // the request was not sent with this token
	case !again && tokens.token.RefreshToken != "":
		if err := f.refresh(ctx, tokens); err == nil || endedByPerson(err) {
			return err
		}
	}
	challenge := strings.Join(refused.Header.Values("WWW-Authenticate"), ", ")
	ctx, number := f.begin(ctx, Attempt{Grant: GrantCode, Refused: refused.StatusCode, Challenge: challenge})
	f.run = newRun(f, number, refused)
	err := f.conclude(ctx, f.authorize(ctx))
	f.mu.Lock()
	f.ended, f.failure = number, err
	f.mu.Unlock()
	return err
}

// begin makes an attempt the latest one. When a person ends the attempt, the context that
// begin returns ends with errDeclined or errCancelled as its cause.
func (f *Flow) begin(ctx context.Context, a Attempt) (context.Context, int) {
	ctx, finish := context.WithCancelCause(ctx)
	a.Number, a.Server, a.Began, a.Resource = int(f.desk.count.Add(1)), f.name, time.Now(), f.server.String()
	f.mu.Lock()
	if last := f.latest; last != nil && last.Grant == GrantRefresh && last.State == Failed && a.Grant == GrantCode {
		a.Steps = slices.Clone(last.Steps) // they say why the person is asked again
	}
	f.latest, f.finish = &a, finish
	f.mu.Unlock()
	f.desk.changed(f)
	return ctx, a.Number
}

func (f *Flow) conclude(ctx context.Context, err error) error {
	failure := f.run.failure(ctx, err)
	f.run = nil
	// The authorization server may have forgotten the client if it answers invalid_client,
	// or if the attempt ends before the browser has come back.
	var refused *oauth2.RetrieveError
	if a, _ := f.Attempt(); a.State == Waiting || errors.As(err, &refused) && refused.ErrorCode == "invalid_client" {
		clear(f.registered)
	}
	f.update(func(a *Attempt) {
		a.State, a.Ended = Done, time.Now()
		if failure != nil {
			a.State, a.FailedAt, a.Why = failure.State, failure.Step, failure.Why
		}
		f.finish(nil)
		f.finish, f.address = nil, ""
	})
	if failure == nil {
		return nil // and not a nil *Error
	}
	return failure
}

// context makes golang.org/x/oauth2 send its requests through the tap.
func (t tap) context(ctx context.Context) context.Context {
	return context.WithValue(ctx, oauth2.HTTPClient, t.client())
}

// client returns an HTTP client over the tap. It follows redirects only of GET requests,
// because those carry no credentials.
func (t tap) client() *http.Client {
	return &http.Client{Transport: t, CheckRedirect: func(req *http.Request, via []*http.Request) error {
		if via[0].Method != http.MethodGet || len(via) > redirectsMost {
			return http.ErrUseLastResponse
		}
		req.Header.Del("Referer")
		return nil
	}}
}
