package signin

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"elicitation-inspector/bridge/wire"
	"elicitation-inspector/bridge/wire/redact"
)

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

// Decision is the person's decision about a held request.
type Decision struct {
	Stop bool // end the attempt instead of sending the request
	// Changed is the request to send in place of the held one; nil sends that unchanged. A
	// field whose value is [redact.Placeholder] keeps its secret value.
	Changed *Request
}

// ErrNotHeld is the error of a decision when no request is held.
var ErrNotHeld = errors.New("no request of a sign-in is held")

// fieldsOf returns parameters as fields, sorted by name, with their secrets masked.
func (m masks) fieldsOf(v url.Values) (out []Field) {
	for name, values := range m.values(v) {
		for _, value := range values {
			out = append(out, Field{name, value})
		}
	}
	slices.SortStableFunc(out, func(a, b Field) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// restored returns fields as parameters, and puts the original values back where a field
// has the placeholder.
func restored(fields []Field, original url.Values) url.Values {
	out, used := url.Values{}, map[string]int{}
	for _, f := range fields {
		if f.Value == redact.Placeholder {
			if i := used[f.Name]; i < len(original[f.Name]) {
				f.Value = original[f.Name][i]
			}
			used[f.Name]++
		}
		out.Add(f.Name, f.Value)
	}
	return out
}

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
	req := &Request{Step: step, Method: method, URL: m.address(&shown), Fields: m.fieldsOf(params)}
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
	return changed, restored(d.Changed.Fields, params), body, nil
}

// withBody replaces the body of a request.
func withBody(req *http.Request, body []byte) {
	req.Body, req.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
}
