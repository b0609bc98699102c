package signin

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"time"

	"elicitation-inspector/bridge/wire"
	"elicitation-inspector/bridge/wire/redact"
)

// State is the progress of a sign-in.
type State int

// The states of a sign-in.
const (
	Running   State = iota // requests are on their way
	Held                   // a request waits for the person's decision; see [Attempt.Held]
	Waiting                // the person is expected to sign in at the authorization server
	Done                   // the server has a token
	Declined               // by the person
	Cancelled              // by the person
	Failed                 // at [Attempt.FailedAt], because of [Attempt.Why]
	Withdrawn              // the connection that needed the token has ended
)

var states = [...]string{"running", "held", "waiting", "signed in", "declined", "cancelled", "failed", "withdrawn"}

func (s State) String() string { return states[s] }

// Over reports whether the sign-in has ended.
func (s State) Over() bool { return s >= Done }

// Attempt is the state of one sign-in or refresh, without secrets, for a page to show.
type Attempt struct {
	Number int    // counts the attempts at a desk from 1; the notes of frames have it, too
	Server string // the server's name
	State  State
	Began  time.Time
	Ended  time.Time // zero until the attempt ends
	// Refused is the status of the server's response that led to the sign-in: 401, or 403
	// for a step-up; 0 for a refresh. Challenge is the WWW-Authenticate header of that response.
	Refused   int
	Challenge string

	Grant        Grant
	Issuer       string // of the authorization server, from its metadata or that of the resource
	Endpoint     string // the authorization endpoint, without its query
	URL          string // the authorization URL, with its secrets masked
	Scopes       []string
	Resource     string
	RedirectURI  string
	ClientID     string
	Registration Registration

	Steps []StepTaken // in order, after those of a refresh that failed just before; a step may be taken several times
	Held  *Request    // the request that waits for the person's decision; nil if none does
	// FailedAt is the step at which a Failed attempt ended, and Why is the reason.
	FailedAt wire.Step
	Why      string
}

// StepTaken is one exchange of an attempt: a request of the inspector, or a visit of the browser.
type StepTaken struct {
	Step   wire.Step
	URL    string // with its secrets masked
	Status int    // of the response, 0 if there is none
	Took   time.Duration
	Why    string // why the exchange failed; "" if it did not
	Reused bool   // nothing was sent, because an earlier attempt registered the client
}

// Error is the error of an attempt that ended without a token.
type Error struct {
	State State
	Step  wire.Step // where a Failed attempt ended
	Why   string

	cause error // how the person ended the attempt; nil otherwise
}

// Unwrap returns how the person ended the attempt, nil if it ended otherwise.
func (e *Error) Unwrap() error { return e.cause }

func (e *Error) Error() string {
	switch e.State {
	case Failed:
		return fmt.Sprintf("signing in failed at the %s: %s", e.Step, e.Why)
	case Withdrawn:
		return "signing in was given up"
	}
	return fmt.Sprintf("signing in was %s", e.State)
}

// errDeclined, errCancelled and errStopped are the causes with which a person ends an attempt.
var (
	errDeclined  = errors.New("declined")
	errCancelled = errors.New("cancelled")
	errStopped   = errors.New("it was stopped before this request")
)

func endedByPerson(err error) bool {
	return errors.Is(err, errDeclined) || errors.Is(err, errCancelled) || errors.Is(err, errStopped)
}

// Request is a request of an attempt that waits for the person's decision. Its secrets are
// masked.
type Request struct {
	Step   wire.Step
	Method string
	URL    string // without the query if Fields hold it
	// Fields are the parameters: of the query of an authorization URL or a redirect, or of
	// the form of a token request.
	Fields []Field
	Body   string // JSON of a registration; "" for other requests
}

// Field is one parameter of a request. The value of a secret is [redact.Placeholder].
type Field struct{ Name, Value string }

// Change sends a held request with one parameter wrong on purpose.
type Change struct {
	ID, Name string
	field    string // name of the parameter; requests without it do not have the change
	value    string // the wrong value; "" leaves the parameter out
}

// wrongResource is a URL whose host does not exist (RFC 6761).
const wrongResource = "https://another.invalid/mcp"

var changes = []Change{
	{"scope", "Send with another scope", "scope", "another-scope"},
	{"pkce", "Send without PKCE", "code_challenge", ""},
	{"verifier", "Send without PKCE", "code_verifier", ""},
	{"resource", "Send with a wrong resource", "resource", wrongResource},
	{"state", "Send with a tampered state", "state", "tampered"},
	{"code", "Send with a wrong code", "code", "wrong"},
	{"refresh", "Send with an expired token", "refresh_token", "expired"},
}

// Changes lists the changes that the request can be sent with.
func (r *Request) Changes() (out []Change) {
	for _, c := range changes {
		if slices.ContainsFunc(r.Fields, func(f Field) bool { return f.Name == c.field }) {
			out = append(out, c)
		}
	}
	return out
}

// Change makes the change with this ID, and reports whether there is one.
func (r *Request) Change(id string) bool {
	i := slices.IndexFunc(changes, func(c Change) bool { return c.ID == id })
	if i < 0 {
		return false
	}
	c := changes[i]
	r.Fields = slices.DeleteFunc(r.Fields, func(f Field) bool {
		return f.Name == c.field && c.value == "" || c.ID == "pkce" && f.Name == "code_challenge_method"
	})
	for i := range r.Fields {
		if r.Fields[i].Name == c.field {
			r.Fields[i].Value = c.value
		}
	}
	return true
}

// Decision is the person's decision about a held request.
type Decision struct {
	Stop bool // end the attempt instead of sending the request
	// Changed is the request to send in place of the held one; nil sends that unchanged. A
	// field whose value is [redact.Placeholder] keeps its secret value.
	Changed *Request
}

// ErrNotHeld is the error of a decision when no request is held.
var ErrNotHeld = errors.New("no request of a sign-in is held")

// held waits for the person's decision about a request if the flow is stepwise. It returns
// the URL, the parameters and the body to send.
func (f *Flow) held(ctx context.Context, step wire.Step, method string, u *url.URL, params url.Values, body []byte) (*url.URL, url.Values, []byte, error) {
	if !f.Stepwise() {
		return u, params, body, nil
	}
	shown := *u
	if step == wire.StepAuthorization || step == wire.StepRedirect {
		shown.RawQuery = ""
	}
	m := f.masks()
	req := &Request{Step: step, Method: method, URL: m.address(&shown)}
	for _, name := range slices.Sorted(maps.Keys(params)) {
		for _, value := range params[name] {
			req.Fields = append(req.Fields, Field{name, m.param(name, value)})
		}
	}
	if step == wire.StepRegistration {
		req.Body = m.body(http.Header{}, body, false)
	}
	decided := make(chan Decision, 1)
	f.update(func(a *Attempt) {
		a.State, a.Held = Held, req
		f.decided = decided
	})
	defer f.update(func(a *Attempt) {
		a.State, a.Held = Running, nil
		f.decided = nil
	})
	var d Decision
	select {
	case d = <-decided:
	case <-ctx.Done():
		return nil, nil, nil, context.Cause(ctx)
	}
	switch {
	case d.Stop:
		return nil, nil, nil, errStopped
	case d.Changed == nil:
		return u, params, body, nil
	}
	changed := u
	if d.Changed.URL != req.URL {
		var err error
		if changed, err = url.Parse(d.Changed.URL); err != nil {
			return nil, nil, nil, err
		}
	}
	if d.Changed.Body != req.Body {
		body = []byte(d.Changed.Body)
	}
	fields, used := url.Values{}, map[string]int{}
	for _, f := range d.Changed.Fields {
		if f.Value == redact.Placeholder {
			if i := used[f.Name]; i < len(params[f.Name]) {
				f.Value = params[f.Name][i]
			}
			used[f.Name]++
		}
		fields.Add(f.Name, f.Value)
	}
	return changed, fields, body, nil
}
