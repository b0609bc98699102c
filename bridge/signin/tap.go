package signin

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"elicitation-inspector/bridge/rawjson"
	"elicitation-inspector/bridge/wire"
	"elicitation-inspector/bridge/wire/redact"
)

// Limits of one HTTP exchange of a sign-in.
const (
	exchangeTime  = 30 * time.Second // from the request to the end of the response
	answerMost    = 1 << 20          // bytes of a response's body
	redirectsMost = 5
)

// tap is the round tripper below the SDK's handlers. It classifies each request, holds it
// for the person if the flow is stepwise, sends it, and logs it with its response.
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
	if known := r.documents[req.URL.String()]; known != nil && req.Method == http.MethodGet {
		return known.response(req), nil // discovery for a second grant sends nothing again
	}
	if r.halted != nil {
		return nil, r.halted
	}
	form := r.classify(req, body)
	if r.halted != nil {
		return nil, r.halted
	}
	asked := registrationKey(r.issuer, req.URL, body)
	if known := f.registered[asked]; known != nil && r.step == wire.StepRegistration {
		f.update(func(a *Attempt) {
			a.Steps = append(a.Steps, StepTaken{Step: r.step, URL: f.masks().address(req.URL), Status: known.status, Reused: true})
		})
		r.judge(known)
		return known.response(req), nil
	}
	u, form, body, err := f.held(req.Context(), r.step, req.Method, req.URL, form, body)
	if err != nil {
		r.halted = err // else the SDK would try the next place
		return nil, err
	}
	if req.URL = u; form != nil {
		body = []byte(form.Encode())
	}
	asked = registrationKey(r.issuer, req.URL, body) // as the person has changed it
	if body != nil {
		req.ContentLength = int64(len(body))
		req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
		req.Body, _ = req.GetBody()
	}
	out, err := t.exchange(req, body)
	if err != nil {
		r.halted = err // else the SDK would try the next place, and drop this error
		return nil, err
	}
	step := r.step
	r.judge(out)
	switch {
	case r.halted != nil:
		return nil, r.halted
	case step == wire.StepRegistration && out.status < 300 && out.why == "":
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
	switch {
	case err != nil:
		return nil, fmt.Errorf("reading the response: %w", err)
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

// plainParams are the parameters of authorization requests, token requests and redirects
// whose values are shown. All other parameters are masked.
var plainParams = set(`response_type response_mode client_id redirect_uri scope resource audience code_challenge
	code_challenge_method prompt iss error error_description error_uri grant_type client_assertion_type
	subject_token_type requested_token_type token_type expires_in`)

// secretParams are the parameters of requests and redirects whose values are secrets by
// their names in OAuth, and secretMembers the members of responses. Their values are masked
// wherever they come up from then on. Other values are masked only where they stand, since
// an authorization server can send any word.
var (
	secretMembers = set(`access_token refresh_token id_token client_secret registration_access_token client_assertion assertion
		subject_token actor_token code_verifier device_code user_code password`)
	secretParams = set("code state nonce id_token_hint", secretMembers)
)

// secretHeaders are the headers whose values are masked, except for an authentication scheme.
var secretHeaders = set("authorization proxy-authorization cookie set-cookie dpop")

func set(names string, more ...map[string]bool) map[string]bool {
	m := map[string]bool{}
	for name := range strings.FieldsSeq(names) {
		m[name] = true
	}
	for _, other := range more {
		maps.Copy(m, other)
	}
	return m
}

// masks replaces the secrets of a server's sign-ins by a placeholder. It recognizes a secret
// by the name of its parameter, member or header first, and by its value from then on.
type masks struct {
	secrets *redact.Redaction
	server  string              // its name
	jwts    map[string]wire.JWT // collects the JWTs among the masked values, by name; may be nil
}

// hide returns the placeholder for a value. It learns the value if that is a secret, and
// the signature of a JWT on its own, too.
func (m masks) hide(name, value string, secret bool) string {
	jwt, ok := DecodeJWT(value)
	if ok && m.jwts != nil {
		m.jwts[name] = jwt
	}
	if secret && utf8.RuneCountInString(value) >= redact.LeastSecret {
		m.secrets.Secret(m.server, value)
		if ok {
			_, signature, _ := cutJWT(value)
			m.secrets.Secret(m.server, signature)
		}
	}
	return redact.Placeholder
}

func (m masks) text(text string) string { return m.secrets.TextOf(m.server, text) }

func (m masks) values(in url.Values) url.Values {
	out := url.Values{}
	for name, values := range in {
		for _, value := range values {
			out.Add(name, m.param(name, value))
		}
	}
	return out
}

func (m masks) param(name, value string) string {
	switch {
	case value == "":
		return ""
	case !plainParams[name]:
		return m.hide(name, value, secretParams[name])
	}
	return m.text(redact.WithoutQuery(value))
}

// encode is [url.Values.Encode], but leaves the placeholder readable.
func encode(v url.Values) string {
	return strings.ReplaceAll(v.Encode(), url.QueryEscape(redact.Placeholder), redact.Placeholder)
}

func (m masks) address(u *url.URL) string {
	plain := *u
	plain.User, plain.Fragment, plain.RawFragment = nil, "", ""
	if u.RawQuery != "" {
		plain.RawQuery = encode(m.values(u.Query()))
	}
	return plain.String()
}

func (m masks) header(h http.Header) http.Header {
	out := h.Clone()
	for name, values := range out {
		for i, value := range values {
			switch lower := strings.ToLower(name); {
			case secretHeaders[lower]:
				values[i] = m.credentials(value, lower != "set-cookie")
			case lower == "location":
				if u, err := url.Parse(value); err == nil {
					values[i] = m.address(u)
				}
			default:
				values[i] = m.text(value)
			}
		}
	}
	return out
}

// credentials masks the value of a secret header, except for its authentication scheme.
func (m masks) credentials(value string, secret bool) string {
	scheme, rest, ok := strings.Cut(value, " ")
	if !ok || strings.ContainsAny(scheme, "=;") {
		return m.hide("", value, secret)
	}
	if pair, err := base64.StdEncoding.DecodeString(rest); err == nil && strings.EqualFold(scheme, "Basic") {
		_, password, _ := strings.Cut(string(pair), ":")
		m.hide("", password, secret)
	}
	return scheme + " " + m.hide("", rest, secret)
}

// body returns the body of a request or a response with its secrets masked and learned. With
// secret, as for responses of a token endpoint, it masks all that it cannot tell from a
// secret.
func (m masks) body(h http.Header, body []byte, secret bool) string {
	media, _, _ := mime.ParseMediaType(h.Get("Content-Type"))
	switch {
	case len(body) == 0:
		return ""
	case rawjson.Valid(body):
		return m.text(string(m.json(body, secret)))
	case media == "application/x-www-form-urlencoded", secret && media == "text/plain":
		if v, err := url.ParseQuery(string(body)); err == nil {
			return encode(m.values(v))
		}
	}
	if secret {
		return redact.Placeholder
	}
	return m.text(string(body))
}

// json masks the strings whose members have the name of a secret, at any depth, and learns
// those of the document itself. With strict, it masks all strings except those in members
// named in plainParams.
func (m masks) json(body []byte, strict bool) []byte {
	c := rawjson.NewCursor(body)
	var out []byte
	from := 0
	var walk func(name string, depth int)
	walk = func(name string, depth int) {
		switch kind := c.Kind(); {
		case kind == rawjson.Object && depth < rawjson.MaxDepth:
			for member := range c.Members() {
				walk(member.String(), depth+1)
			}
		case kind == rawjson.Array && depth < rawjson.MaxDepth:
			for range c.Elements() {
				walk(name, depth+1)
			}
		case kind == rawjson.String && (secretParams[name] || strict && !plainParams[name]):
			start := c.Offset()
			c.Skip()
			hidden := m.hide(name, rawjson.Text(body[start:c.Offset()]), depth == 1 && secretMembers[name])
			out = append(append(out, body[from:start]...), `"`+hidden+`"`...)
			from = c.Offset()
		default:
			c.Skip()
		}
	}
	walk("", 0)
	return append(slices.Clip(out), body[from:]...)
}
