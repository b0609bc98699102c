package signin

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/wire"
)

// Limits of one HTTP exchange of a sign-in.
const (
	exchangeTime  = 30 * time.Second // from the request to the end of the response
	answerMost    = 1 << 20          // bytes of a response's body
	redirectsMost = 5
)

// tap is the round tripper of an attempt. It sends each request as one of the current step, and logs
// it with its response.
type tap struct{ flow *Flow }

// answer is a response with its whole body.
type answer struct {
	status int
	header http.Header
	body   []byte
	why    string // what is wrong with it; "" if nothing is
}

func (a *answer) response(req *http.Request) *http.Response {
	return &http.Response{
		Status: fmt.Sprintf("%d %s", a.status, http.StatusText(a.status)), StatusCode: a.status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: a.header.Clone(), Body: io.NopCloser(bytes.NewReader(a.body)), ContentLength: int64(len(a.body)), Request: req,
	}
}

func (t tap) RoundTrip(req *http.Request) (*http.Response, error) {
	f, r := t.flow, t.flow.run
	if r == nil {
		return nil, errors.New("no sign-in goes on")
	}
	var body []byte
	if req.Body != nil {
		var err error
		if body, err = io.ReadAll(req.Body); err != nil {
			return nil, err
		}
		_ = req.Body.Close()
	}
	req = req.Clone(req.Context())
	if strings.Contains(req.URL.Path, "/.well-known/") && req.URL.String() != r.metadataURL { // RFC 8414 and RFC 9728, 3.1: a terminating slash goes first
		req.URL.Path = strings.TrimSuffix(req.URL.Path, "/")
	}
	if known := r.documents[req.URL.String()]; known != nil && req.Method == http.MethodGet {
		r.latest = known
		return known.response(req), nil // two places can have the same address
	}
	if r.halted == nil && (r.step == wire.StepToken || r.step == wire.StepRefresh) {
		body, r.halted = r.completed(req, body)
	}
	if r.halted != nil {
		return nil, r.halted
	}
	asked := ""
	if r.step == wire.StepRegistration {
		asked = registrationKey(r.server.Issuer, req.URL, body)
	}
	if known := f.registered[asked]; known != nil {
		taken := StepTaken{Step: r.step, URL: f.masks().address(req.URL), Status: known.status, Reused: true}
		f.update(func(a *Attempt) { a.Steps = append(a.Steps, taken) })
		return known.response(req), nil
	}
	if body != nil {
		req.ContentLength = int64(len(body))
		req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
		req.Body, _ = req.GetBody()
	}
	out, err := t.exchange(req, body)
	if err != nil {
		r.halted = err // else the next place would be tried, and this error dropped
		return nil, err
	}
	r.judge(out)
	if r.step == wire.StepRegistration && rawjson.Text(rawjson.Member(out.body, "token_endpoint_auth_method")) == "none" {
		out.body = rawjson.Without(out.body, "client_secret") // a client that is registered for none sends none
	}
	if r.halted != nil {
		return nil, r.halted
	}
	switch {
	case r.step == wire.StepRegistration && out.status < 300:
		f.registered[asked] = out
	case req.Method == http.MethodGet:
		r.documents[req.URL.String()] = out
	}
	return out.response(req), nil
}

// registrationKey identifies a registration. A client belongs to the issuer that has
// registered it, whatever endpoint another issuer names.
func registrationKey(issuer string, u *url.URL, body []byte) string {
	return issuer + "\n" + u.String() + "\n" + string(body)
}

func (t tap) exchange(req *http.Request, body []byte) (*answer, error) {
	began := time.Now()
	out, err := t.flow.send(req)
	took := time.Since(began)
	f, r := t.flow, t.flow.run
	m := f.masks()
	m.jwts = map[string]wire.JWT{}
	secret := r.step == wire.StepToken || r.step == wire.StepRefresh
	taken := StepTaken{Step: r.step, URL: m.address(req.URL), Took: took}
	shown := &wire.SignIn{Number: r.number, Step: r.step, Header: m.header(req.Header), Sent: m.body(req.Header, body, false)}
	frame := wire.Frame{HTTPMethod: req.Method, Note: &wire.Note{SignIn: shown, At: began, Took: took.Round(time.Microsecond).String()}}
	if err != nil {
		taken.Why = m.text(plainly(err))
	} else {
		shown.Received = m.body(out.header, out.body, secret && out.status < 300)
		frame.Header = m.header(out.header)
		out.why = r.wrong(req, out)
		taken.Status, taken.Why = out.status, m.text(out.why)
	}
	if len(m.jwts) > 0 {
		shown.JWTs = m.jwts
	}
	f.took(taken, frame)
	return out, err
}

// send sends a request if its URL is safe, and reads the response within the limits.
func (f *Flow) send(req *http.Request) (*answer, error) {
	if err := f.safe(req.URL); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(req.Context(), exchangeTime)
	defer cancel()
	if req.Header.Get("User-Agent") == "" {
		req.Header.Set("User-Agent", "elicitation-inspector")
	}
	resp, err := f.desk.transport.RoundTrip(req.WithContext(ctx))
	if errors.Is(err, context.DeadlineExceeded) {
		return nil, fmt.Errorf("no response within %s", exchangeTime)
	}
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, answerMost+1))
	switch coding := resp.Header.Get("Content-Encoding"); {
	case err != nil:
		return nil, fmt.Errorf("reading the response: %w", err)
	case coding != "" && coding != "identity":
		return nil, fmt.Errorf("the response is encoded as %s, which was not asked for", coding)
	case len(body) > answerMost:
		return nil, fmt.Errorf("the response has more than %d bytes", answerMost)
	}
	return &answer{status: resp.StatusCode, header: resp.Header, body: body}, nil
}

// plainly returns the text of an error without the method and URL that net/http adds.
func plainly(err error) string {
	if wrapped := new(url.Error); errors.As(err, &wrapped) {
		return wrapped.Err.Error()
	}
	return err.Error()
}
