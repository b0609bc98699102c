package signin

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/auth"

	"elicitation-inspector/bridge/wire"
)

// fetch is the SDK's hook that sends a person to the authorization server. It returns what
// the browser brought back.
func (f *Flow) fetch(ctx context.Context, args *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
	u, err := url.Parse(args.URL)
	if err != nil {
		return nil, err
	}
	r := f.run
	if err := r.undiscovered(); err != nil {
		return nil, err
	}
	r.step = wire.StepAuthorization
	if !r.offers(GrantCode) || u.Host == "" {
		return nil, errNotOffered
	}
	params := u.Query()
	if f.another {
		params.Set("prompt", "login")
		f.another = false
	}
	if u, params, _, err = f.held(ctx, wire.StepAuthorization, http.MethodGet, u, params, nil); err != nil {
		return nil, err
	}
	u.RawQuery = params.Encode()
	if err := f.safe(u); err != nil {
		return nil, fmt.Errorf("the authorization endpoint %w", err)
	}
	came, forget := f.desk.await(params.Get("state"))
	defer forget()
	f.wait(u, params)
	if err := f.tell(u); err != nil {
		return nil, err
	}
	select {
	case back := <-came:
		return f.back(ctx, back)
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// wait shows that the person is awaited.
func (f *Flow) wait(u *url.URL, params url.Values) {
	m := f.desk.masks()
	shown, plain := m.address(u), *u
	plain.RawQuery = ""
	f.mu.Lock()
	f.address = u.String()
	f.mu.Unlock()
	f.update(func(a *Attempt) {
		a.State, a.URL, a.Endpoint = Waiting, shown, plain.String()
		a.Scopes, a.Resource = strings.Fields(params.Get("scope")), m.param("resource", params.Get("resource"))
		a.RedirectURI, a.ClientID = params.Get("redirect_uri"), params.Get("client_id")
		a.Registration = f.registeredBy(a.ClientID)
	})
}

// registeredBy returns how the client got its id.
func (f *Flow) registeredBy(id string) Registration {
	switch id {
	case "":
		return ""
	case f.config.MetadataURL:
		return ByMetadataDocument
	case f.config.ClientID:
		return Preregistered
	}
	return Dynamic
}

// tell tells a person without a page where to sign in.
func (f *Flow) tell(u *url.URL) error {
	switch {
	case !f.desk.config.Headless:
		return nil
	case f.desk.config.Tell == nil:
		return errors.New("a person must sign in, and nobody is there; a client secret (--oauth-client-id and --oauth-client-secret-file), a token that --oauth-keep has kept, or --header 'Authorization: Bearer TOKEN' needs no person")
	}
	f.log(wire.StepAuthorization, u, 0, "")
	f.desk.config.Tell(f.name, u.String())
	return nil
}

// Open returns the authorization URL for the person's browser, and logs that it is
// opened. It is secret: whoever has it can finish the sign-in. It returns false if no
// person is awaited.
func (f *Flow) Open() (string, bool) {
	f.mu.Lock()
	address := f.address
	f.mu.Unlock()
	u, err := url.Parse(address)
	if address == "" || err != nil {
		return "", false
	}
	f.log(wire.StepAuthorization, u, 0, "")
	return address, true
}

// back takes what the browser brought back.
func (f *Flow) back(ctx context.Context, q url.Values) (*auth.AuthorizationResult, error) {
	r := f.run
	r.step = wire.StepRedirect
	f.mu.Lock()
	f.address = ""
	f.mu.Unlock()
	u, err := url.Parse(r.redirect(q))
	if err != nil {
		return nil, err
	}
	why := q.Get("error")
	if said := q.Get("error_description"); said != "" {
		why += ": " + said
	}
	f.update(func(a *Attempt) { a.State = Running })
	f.log(wire.StepRedirect, u, http.StatusOK, why)
	if _, q, _, err = f.held(ctx, wire.StepRedirect, http.MethodGet, u, q, nil); err != nil {
		return nil, err
	}
	switch {
	case q.Get("error") != "":
		return nil, errors.New("the authorization server answered " + why)
	case q.Get("code") == "":
		return nil, errors.New("the redirect has no code")
	}
	return &auth.AuthorizationResult{Code: q.Get("code"), State: q.Get("state"), Iss: q.Get("iss")}, nil
}

// log logs a step that the browser takes, and adds it to the attempt.
func (f *Flow) log(step wire.Step, u *url.URL, status int, why string) {
	m := f.desk.masks()
	shown := m.address(u)
	why = m.text(why)
	a, _ := f.Attempt()
	f.took(Taken{Step: step, URL: shown, Status: status, Why: why}, wire.Frame{
		HTTPMethod: http.MethodGet, Note: &wire.Note{SignIn: &wire.SignIn{Number: a.Number, Step: step}},
	})
}

// took logs a step that was taken, and adds it to the attempt. The rest of the frame is
// filled in.
func (f *Flow) took(t Taken, frame wire.Frame) {
	frame.URL, frame.Status, frame.Failed = t.URL, t.Status, t.Why != ""
	frame.Note.Kind, frame.Note.Why = wire.NoteSignIn, t.Why
	f.mu.Lock()
	note := f.note
	f.mu.Unlock()
	if note != nil {
		note(frame)
	}
	f.update(func(a *Attempt) { a.Steps = append(a.Steps, t) })
}

// ErrNotWaiting is the error of deciding about a sign-in that waits for nobody.
var ErrNotWaiting = errors.New("no sign-in waits for you")

// Decline ends the sign-in that goes on: the person does not want it.
func (f *Flow) Decline() error { return f.end(errDeclined) }

// Cancel ends the sign-in that goes on: the person does not want it now.
func (f *Flow) Cancel() error { return f.end(errCancelled) }

func (f *Flow) end(cause error) error {
	f.mu.Lock()
	finish := f.finish
	f.mu.Unlock()
	if finish == nil {
		return ErrNotWaiting
	}
	finish(cause)
	return nil
}

// Stepwise reports whether the sign-ins of the server are held before each step.
func (f *Flow) Stepwise() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.stepwise
}

// SetStepwise turns that on or off. A request that is held stays so until it is decided
// about.
func (f *Flow) SetStepwise(on bool) {
	f.mu.Lock()
	f.stepwise = on
	f.mu.Unlock()
	f.desk.changed(f)
}

// Decide decides about the request that is held.
func (f *Flow) Decide(d Decision) error {
	f.mu.Lock()
	decided := f.decided
	f.decided = nil
	f.mu.Unlock()
	if decided == nil {
		return ErrNotHeld
	}
	decided <- d // there is room for one
	return nil
}
