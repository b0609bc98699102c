package transport

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptrace"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/oauthex"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/client/signin"
	"elicitation-inspector/bridge/wire"
)

// flight is one HTTP request while it runs, until its response body is closed.
type flight struct {
	remote *remote
	req    *http.Request
	cancel context.CancelCauseFunc
	wrote  atomic.Bool // the whole request was written
	of     string      // what the request carries, for notes; see ofUnit
	denied error       // why the request is not sent: the person has ended the refresh of its token
	over   func()      // ends the flight, once
}

// sessionHeader carries the session's id (specification 2025-11-25, Transports, Session
// Management).
const sessionHeader = "Mcp-Session-Id"

// nameHeader carries the name or URI in the params of a call's request (specification
// 2026-07-28, Streamable HTTP, Standard Request Headers).
const nameHeader = "Mcp-Name"

// prepare starts a flight for a request: it adds the spec's headers if the URL is of
// the server's origin, and ends the request when the link ends.
func (r *remote) prepare(req *http.Request) (*flight, error) {
	if !r.track() {
		return nil, errLinkClosed
	}
	ctx, cancel := context.WithCancelCause(req.Context())
	unhook := context.AfterFunc(r.life, func() { cancel(errLinkClosed) })
	f := &flight{remote: r, cancel: cancel, over: sync.OnceFunc(func() {
		unhook()
		cancel(nil)
		r.inFlight.Done()
	})}
	f.req = req.Clone(httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		WroteRequest: func(info httptrace.WroteRequestInfo) { f.wrote.Store(info.Err == nil) },
	}))
	if name := f.req.Header.Get(nameHeader); name != "" {
		f.req.Header.Set(nameHeader, headerValue(name)) // the SDK sends the name unencoded
	}
	if r.own(req.URL) {
		for name, values := range r.spec.Header {
			name = http.CanonicalHeaderKey(name)
			if name == "Host" && len(values) > 0 {
				f.req.Host = values[0]
				continue
			}
			f.req.Header[name] = slices.Clone(values)
		}
	}
	if f.req.Header.Get("User-Agent") == "" {
		f.req.Header.Set("User-Agent", "elicitation-inspector")
	}
	f.authorize()
	return f, nil
}

// named sets the headers with a call's method and name or URI where the SDK has not.
// The SDK does not know of a request that is sent twice, and does not read params that
// a fault made invalid.
func (f *flight) named(body []byte) {
	h := f.req.Header
	if h.Get("Mcp-Protocol-Version") < mcp.Revision20260728 || h.Get(nameHeader) != "" {
		return
	}
	m, err := wire.ParseMessage(body)
	if err != nil || !mcp.AsksForInput(m.Method) && !mcp.IsTask(m.Method) {
		return
	}
	member := "name"
	switch {
	case m.Method == mcp.MethodReadResource:
		member = "uri"
	case mcp.IsTask(m.Method): // extension tasks, Streamable HTTP: Routing Headers
		member = "taskId"
	}
	name := rawjson.Text(rawjson.Member(m.Params, member))
	h.Set("Mcp-Method", m.Method)
	h.Set(nameHeader, headerValue(name))
}

// headerValue encodes text for an HTTP header: unchanged, or in Base64 if a header
// cannot hold the text or if the text looks like such Base64 (specification 2026-07-28,
// Streamable HTTP, Value Encoding).
func headerValue(text string) string {
	const prefix, suffix = "=?base64?", "?="
	plain := !strings.ContainsFunc(text, func(r rune) bool { return r != '\t' && (r < ' ' || r > '~') }) &&
		strings.Trim(text, " \t") == text && !(strings.HasPrefix(text, prefix) && strings.HasSuffix(text, suffix))
	if plain {
		return text
	}
	return prefix + base64.StdEncoding.EncodeToString([]byte(text)) + suffix
}

// sent returns the request's headers including those that net/http adds.
func (f *flight) sent() http.Header {
	h := f.req.Header.Clone()
	host := f.req.Host
	if host == "" {
		host = f.req.URL.Host
	}
	h.Set("Host", host)
	if f.req.Body != nil {
		h.Set("Content-Length", strconv.FormatInt(f.req.ContentLength, 10))
	}
	if h.Get("Accept-Encoding") == "" && h.Get("Range") == "" {
		h.Set("Accept-Encoding", "gzip")
	}
	return h
}

// address returns the URL of a request without user information and fragment, which are
// not part of the request line.
func address(req *http.Request) string {
	u := *req.URL
	u.User, u.Fragment, u.RawFragment = nil, "", ""
	return u.String()
}

// do sends the request. The flight ends when do fails, or when the response's body is
// closed.
func (f *flight) do() (*http.Response, error) {
	resp, err := f.signedIn()
	if err != nil {
		var refused *signin.Error
		if cause := context.Cause(f.req.Context()); cause != nil {
			err = cause
		} else if !errors.As(err, &refused) {
			f.remote.suspect()
		}
		f.over()
		return nil, err
	}
	f.remote.answered.Store(true)
	inner := resp.Body
	resp.Body = body{inner, func() error {
		defer f.over()
		return inner.Close()
	}}
	return resp, nil
}

func standIn(req *http.Request, status int, header http.Header, body io.ReadCloser) *http.Response {
	h := http.Header{}
	maps.Copy(h, header)
	h.Del("Content-Length")
	return &http.Response{
		Status: fmt.Sprintf("%d %s", status, http.StatusText(status)), StatusCode: status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: h, Body: body, ContentLength: -1, Request: req,
	}
}

// body is a response body with a Close function of its own.
type body struct {
	io.Reader
	close func() error
}

func (b body) Close() error { return b.close() }

// lazyReader reads from the reader that the function returns. Every Read calls the
// function.
type lazyReader func() (io.Reader, error)

func (open lazyReader) Read(p []byte) (int, error) {
	r, err := open()
	if err != nil {
		return 0, err
	}
	return r.Read(p)
}

// signInsMost is how often one request may lead to a sign-in: once because it has no valid
// token, and once because the token lacks a scope.
const signInsMost = 2

// access returns the flow that has the token for the request; nil if the inspector adds none.
func (f *flight) access() *signin.Flow {
	if !f.remote.own(f.req.URL) {
		return nil
	}
	return f.remote.spec.Access
}

// authorize sets the current token in the request's Authorization header. It refreshes no
// token while the connection is being closed, because the authorization server may take long.
func (f *flight) authorize() {
	a := f.access()
	if a == nil {
		return
	}
	f.req.Header.Del("Authorization")
	token, err := a.Token(f.req.Context(), !f.remote.closing.Load(), f.remote.tap.observer.Noted)
	if f.denied = err; token != "" {
		f.req.Header.Set("Authorization", "Bearer "+token)
	}
}

// signedIn sends the request. If the server asks for a token, or for a token with more
// scopes, it signs in, and sends the request again.
func (f *flight) signedIn() (*http.Response, error) {
	r := f.remote
	for times := 0; ; times++ {
		if f.denied != nil {
			return nil, f.denied
		}
		resp, err := r.base.RoundTrip(f.req)
		if err != nil || times == signInsMost || f.access() == nil || r.closing.Load() || !wantsSignIn(resp) {
			return resp, err
		}
		said := r.explanation(resp)
		resp.Body, resp.Request = http.NoBody, f.req
		r.tap.observer.Noted(noteOf(resp, wire.Note{Kind: wire.NoteHTTPStatus, Of: f.of, Said: quoted(said.Head)}))
		if err := f.access().SignIn(f.req.Context(), resp, times > 0, r.tap.observer.Noted); err != nil {
			refusal := "HTTP " + statusText(resp) + wording.After(": ", errorText(resp, said.Head))
			return nil, &Failure{Status: resp.StatusCode, Text: refusal + "; " + err.Error(), Challenge: challenge(resp), cause: err}
		}
		f.authorize()
		if f.req.GetBody != nil {
			if f.req.Body, err = f.req.GetBody(); err != nil {
				return nil, err
			}
		}
		again := wire.Frame{Note: &wire.Note{Kind: wire.NoteSentAgain, Of: f.of}, HTTPMethod: f.req.Method, URL: address(f.req), Header: f.sent()}
		r.tap.observer.Noted(again)
	}
}

// wantsSignIn reports whether a response asks for a token, or for a token with more
// scopes (specification 2025-11-25, Authorization, Access Token Usage, and Scope
// Challenge Handling).
func wantsSignIn(resp *http.Response) bool {
	switch resp.StatusCode {
	case http.StatusUnauthorized:
		return true
	case http.StatusForbidden:
	default:
		return false
	}
	challenges, err := oauthex.ParseWWWAuthenticate(resp.Header.Values("WWW-Authenticate"))
	if err != nil {
		return false
	}
	for _, c := range challenges {
		if strings.EqualFold(c.Scheme, "bearer") && c.Params["error"] == "insufficient_scope" {
			return true
		}
	}
	return false
}
