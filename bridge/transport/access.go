package transport

import (
	"context"
	"net/http"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/oauthex"

	"elicitation-inspector/bridge/wire"
	"elicitation-inspector/bridge/wording"
)

// Access provides the access tokens for a server. It passes the frames of a sign-in to note.
type Access interface {
	// Token returns the token for the next request, "" if there is none. With fresh, it
	// refreshes an expired token; it returns an error if the person ends that.
	Token(ctx context.Context, fresh bool, note func(wire.Frame)) (string, error)
	// SignIn gets a new token after the server has refused a request. again says that the
	// request was already sent again after an earlier SignIn.
	SignIn(ctx context.Context, refused *http.Response, again bool, note func(wire.Frame)) error
	// Busy reports whether a sign-in is under way, for which requests wait and a person may be needed.
	Busy() bool
}

// signInsMost is how often one request may lead to a sign-in: once because it has no valid
// token, and once because the token lacks a scope.
const signInsMost = 2

// access returns the Access for the request; nil if the inspector adds no token to it.
func (f *flight) access() Access {
	if f.remote.spec.Access == nil || !f.remote.own(f.req.URL) {
		return nil
	}
	return f.remote.spec.Access
}

// authorize sets the current token in the request's Authorization header. It refreshes no
// token while the connection is being closed, because a person may hold the refresh.
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
		r.tap.observer.Noted(noteOf(resp, wire.Note{Kind: wire.NoteHTTPStatus, Of: f.of, Said: quoted(said.head)}))
		if err := f.access().SignIn(f.req.Context(), resp, times > 0, r.tap.observer.Noted); err != nil {
			refusal := "HTTP " + statusText(resp) + wording.After(": ", errorText(resp, said.head))
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
