package signin

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"elicitation-inspector/bridge/wire"
)

// fetchCode has a person open the authorization URL, and returns the parameters of the redirect.
func (f *Flow) fetchCode(ctx context.Context, address string) (url.Values, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, err
	}
	r := f.run
	r.step = wire.StepAuthorization
	if !r.offers(GrantCode) || u.Host == "" {
		return nil, errNotOffered
	}
	params := u.Query()
	if f.another {
		params.Set("prompt", "login")
		f.another = false
	}
	u.RawQuery = params.Encode()
	if err := f.safe(u); err != nil {
		return nil, fmt.Errorf("the authorization endpoint %w", err)
	}
	query, forget := f.desk.await(params.Get("state"))
	defer forget()
	m := f.masks()
	shown, resource, plain := m.address(u), m.param("resource", params.Get("resource")), *u
	plain.RawQuery = ""
	f.mu.Lock()
	f.address = u.String()
	f.mu.Unlock()
	f.update(func(a *Attempt) {
		a.State, a.URL, a.Endpoint = Waiting, shown, plain.String()
		a.Scopes, a.Resource = strings.Fields(params.Get("scope")), resource
		a.RedirectURI, a.ClientID = params.Get("redirect_uri"), params.Get("client_id")
		switch a.ClientID {
		case f.config.MetadataURL:
			a.Registration = ByMetadataDocument
		case f.config.ClientID:
			a.Registration = Preregistered
		default:
			a.Registration = Dynamic
		}
	})
	switch c := f.desk.config; {
	case !c.Headless:
	case f.desk.alone.Load():
		return nil, fmt.Errorf("a person must sign in, and nobody did within %v (--oauth-wait)", c.Wait)
	case c.Tell == nil:
		return nil, errNobody
	default:
		f.log(wire.StepAuthorization, u, 0, "")
		c.Tell(f.name, u.String())
	}
	var limit <-chan time.Time
	if wait := f.desk.config.Wait; wait > 0 {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		limit = timer.C
	}
	select {
	case q := <-query:
		return f.redirected(q)
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case <-limit:
		f.desk.alone.Store(true)
		return nil, fmt.Errorf("nobody signed in within %v (--oauth-wait)", f.desk.config.Wait)
	}
}

// errNobody is the error of a sign-in that needs a person where there is none.
var errNobody = errors.New("a person must sign in, and this command does not wait for one: --oauth-wait 5m prints the address to open and waits; " +
	"a client with a secret or a key (--oauth-client-id), or a token that --oauth-keep has kept, needs no person")

// Open returns the authorization URL for the person's browser, and logs the visit. The URL
// is secret: whoever has it can finish the sign-in. Open returns false unless the attempt
// is Waiting.
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

// redirected returns the parameters of a redirect, or the error that they report.
func (f *Flow) redirected(q url.Values) (url.Values, error) {
	r := f.run
	r.step = wire.StepRedirect
	f.mu.Lock()
	f.address = ""
	f.mu.Unlock()
	a, _ := f.Attempt()
	u, err := url.Parse(a.RedirectURI + "?" + q.Encode())
	if err != nil {
		return nil, err
	}
	why := q.Get("error")
	if said := q.Get("error_description"); said != "" {
		why += ": " + said
	}
	f.update(func(a *Attempt) { a.State = Running })
	f.log(wire.StepRedirect, u, http.StatusOK, why)
	switch {
	case q.Get("error") != "":
		return nil, errors.New("the authorization server answered " + why)
	case q.Get("code") == "":
		return nil, errors.New("the redirect has no code")
	}
	return q, nil
}

// log logs a visit of the browser, and adds it to the steps of the attempt.
func (f *Flow) log(step wire.Step, u *url.URL, status int, why string) {
	m := f.masks()
	shown := m.address(u)
	why = m.text(why)
	a, _ := f.Attempt()
	f.took(StepTaken{Step: step, URL: shown, Status: status, Why: why}, wire.Frame{
		HTTPMethod: http.MethodGet, Note: &wire.Note{SignIn: &wire.SignIn{Number: a.Number, Step: step}},
	})
}

// took adds a step to the attempt, and logs it with the frame, whose URL, status and kind
// it fills in.
func (f *Flow) took(t StepTaken, frame wire.Frame) {
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

// ErrNotWaiting is the error of Decline and Cancel when no attempt is under way.
var ErrNotWaiting = errors.New("no sign-in waits for you")

// Decline ends the current attempt as Declined.
func (f *Flow) Decline() error { return f.end(errDeclined) }

// Cancel ends the current attempt as Cancelled.
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
