// Package signin signs in to MCP servers behind OAuth. It runs the SDK's authorization
// flows over a tap that logs every HTTP exchange without its secrets, lets a person
// decide, and keeps the tokens.
package signin

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/auth/extauth"
	"golang.org/x/oauth2"

	"elicitation-inspector/bridge/wire"
)

// Flow signs in to one server, and has its token. Make it with [Desk.Flow]. All methods
// are safe for concurrent use.
type Flow struct {
	desk   *Desk
	name   string // the server's name
	server *url.URL
	config Config
	// remember takes the token that is kept, the first time that it is called.
	remember func()

	// turn is held while a sign-in or a refresh runs. It guards the fields below it.
	turn        chan struct{}
	code        *auth.AuthorizationCodeHandler    // nil before the first sign-in of a person
	credentials *extauth.ClientCredentialsHandler // nil before the first sign-in of the client
	run         *run                              // nil between sign-ins
	registered  map[string]*answer                // registrations, by what was asked for
	another     bool                              // ask the authorization server for another account

	mu       sync.Mutex
	granted  *grant // nil without a token
	latest   *Attempt
	ended    int                     // number of the latest attempt that has ended
	failure  error                   // of that attempt, nil if it succeeded
	finish   context.CancelCauseFunc // ends the attempt that goes on
	address  string                  // the authorization URL to open, "" unless a person is awaited
	decided  chan<- Decision         // takes the decision about the request that is held
	stepwise bool
	note     func(wire.Frame) // logs a frame of the latest connection
}

// Name returns the server's name.
func (f *Flow) Name() string { return f.name }

// Attempt returns the latest sign-in; false if there was none.
func (f *Flow) Attempt() (Attempt, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.latest == nil {
		return Attempt{}, false
	}
	return f.latest.clone(), true
}

// Busy reports whether a sign-in goes on, for which the server's requests wait.
func (f *Flow) Busy() bool {
	a, ok := f.Attempt()
	return ok && !a.State.Over()
}

// update changes the latest attempt, and tells those who watch.
func (f *Flow) update(change func(*Attempt)) {
	f.mu.Lock()
	change(f.latest)
	f.mu.Unlock()
	f.desk.changed(f)
}

// take waits for the turn.
func (f *Flow) take(ctx context.Context) error {
	select {
	case f.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (f *Flow) release() { <-f.turn }

// SignIn gets a token after the server has refused a request with 401, or with 403 for
// want of a scope. It returns when there is a token, or with an [Error]. The sign-in is
// withdrawn when ctx ends. again says that the request was sent with a new token before.
// note logs frames of the sign-in.
func (f *Flow) SignIn(ctx context.Context, refused *http.Response, again bool, note func(wire.Frame)) error {
	before := f.attempts()
	if err := f.take(ctx); err != nil {
		return err
	}
	defer f.release()
	f.mu.Lock()
	f.note = note
	now, others, failure := f.granted, f.ended > before, f.failure
	f.mu.Unlock()
	used := refused.Request.Header.Get("Authorization")
	switch {
	case others && failure != nil:
		return failure // of a sign-in that this request has waited for
	case others:
		return nil
	case refused.StatusCode == http.StatusUnauthorized && now != nil && used != now.header() && (used != "" || !again && !now.expired()):
		return nil // there is a token by now that the request was not sent with
	case refused.StatusCode == http.StatusUnauthorized && !again && now != nil && now.token.RefreshToken != "":
		if f.refresh(ctx, now) == nil {
			return nil
		}
	}
	return f.signIn(ctx, refused)
}

// attempts returns the number of the latest attempt that has ended.
func (f *Flow) attempts() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.ended
}

// signIn makes one attempt. The caller holds the turn.
func (f *Flow) signIn(ctx context.Context, refused *http.Response) error {
	ctx, number := f.begin(ctx, Attempt{Grant: GrantCode, Refused: refused.StatusCode, Challenge: challengeOf(refused)})
	f.run = newRun(f, number, refused)
	err := f.conclude(ctx, f.authorize(ctx, refused))
	f.mu.Lock()
	f.ended, f.failure = number, err
	f.mu.Unlock()
	return err
}

// begin makes an attempt the latest one. Its context ends with the cause when a person
// ends it.
func (f *Flow) begin(ctx context.Context, a Attempt) (context.Context, int) {
	ctx, finish := context.WithCancelCause(ctx)
	a.Number, a.Server, a.Began, a.Resource = f.desk.number(), f.name, time.Now(), f.server.String()
	f.mu.Lock()
	f.latest, f.finish = &a, finish
	f.mu.Unlock()
	f.desk.changed(f)
	return ctx, a.Number
}

// conclude ends the attempt, with err as its outcome. It returns nil or an [Error].
func (f *Flow) conclude(ctx context.Context, err error) error {
	failure := f.run.failure(ctx, err)
	f.run = nil
	f.update(func(a *Attempt) {
		a.State, a.Ended = Done, time.Now()
		if failure != nil {
			a.State, a.At, a.Why = failure.State, failure.Step, failure.Why
		}
		f.finish(nil)
		f.finish, f.address = nil, ""
	})
	if failure == nil {
		return nil // and not a nil *Error
	}
	return failure
}

// errNotOffered ends a grant that the authorization server does not offer, so that the
// other one is tried.
var errNotOffered = errors.New("the authorization server does not offer this grant")

// authorize runs the SDK's flow. Without a page, a client with a secret needs no person if
// the authorization server says that it supports that.
func (f *Flow) authorize(ctx context.Context, refused *http.Response) error {
	secret := f.config.ClientSecret != ""
	if secret && f.desk.config.Headless {
		if err := f.byCredentials(ctx, refused); !errors.Is(err, errNotOffered) {
			return err
		}
		f.run.refusal = nil
	}
	err := f.byCode(ctx, refused)
	if secret && errors.Is(err, errNotOffered) && !f.desk.config.Headless {
		return f.byCredentials(ctx, refused)
	}
	return err
}

// request returns a refused request as the SDK is to see it: with the server's URL, which
// in HTTP+SSE is not that of each message.
func (f *Flow) request(ctx context.Context, refused *http.Response) *http.Request {
	req := refused.Request.Clone(ctx)
	req.URL = f.server
	return req
}

// copyOf returns a refusal without its body, which was read before.
func copyOf(refused *http.Response) *http.Response {
	out := *refused
	out.Body = http.NoBody
	return &out
}

func (f *Flow) byCredentials(ctx context.Context, refused *http.Response) error {
	if f.credentials == nil {
		var err error
		if f.credentials, err = f.newCredentials(); err != nil {
			return err
		}
	}
	f.run.grant = GrantCredentials
	f.update(func(a *Attempt) {
		a.Grant, a.Registration, a.ClientID = GrantCredentials, Preregistered, f.config.ClientID
	})
	if err := f.credentials.Authorize(ctx, f.request(ctx, refused), copyOf(refused)); err != nil {
		return err
	}
	source, err := f.credentials.TokenSource(ctx)
	if err != nil || source == nil {
		return errors.Join(err, errors.New("there is no token"))
	}
	token, err := source.Token()
	if err != nil {
		return err
	}
	f.grant(&grant{token: token, resource: f.run.resource})
	return nil
}

func (f *Flow) byCode(ctx context.Context, refused *http.Response) error {
	if f.code == nil {
		redirect, err := f.desk.redirect(f.config.RedirectPort)
		if err != nil {
			return err
		}
		if f.code, err = f.newCode(redirect); err != nil {
			return err
		}
	}
	f.run.grant = GrantCode
	f.update(func(a *Attempt) { a.Grant = GrantCode })
	return f.code.Authorize(ctx, f.request(ctx, refused), copyOf(refused))
}

// scopes returns the scopes to ask for. A step-up adds those that the server wants to
// those of the configuration.
func (f *Flow) scopes(discovered []string) []string {
	if len(f.config.Scopes) == 0 {
		return discovered
	}
	out := slices.Clone(f.config.Scopes)
	if f.run != nil && f.run.stepUp {
		for _, scope := range discovered {
			if !slices.Contains(out, scope) {
				out = append(out, scope)
			}
		}
	}
	return out
}

// keep is the SDK's hook for a token that came for an authorization code.
func (f *Flow) keep(_ context.Context, config *oauth2.Config, token *oauth2.Token) (oauth2.TokenSource, error) {
	f.grant(&grant{token: token, config: config, resource: f.run.resource})
	return oauth2.StaticTokenSource(token), nil
}
