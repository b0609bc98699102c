package signin_test

import (
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
)

// world is an authorization server and a resource that it protects, on two origins. Its
// exported fields may be changed before the first request.
type world struct {
	Resource *httptest.Server // answers 401 without a token, at /mcp
	Issuer   *httptest.Server

	// Metadata is that of the resource, at its path, and Server that of the authorization
	// server; nil means 404.
	Metadata, Server map[string]any
	// Token answers a request for a token.
	Token func(form url.Values) (status int, body map[string]any)
	// Challenge replaces the challenge of a 401, and Registered adds to the response to a
	// registration.
	Challenge  string
	Registered map[string]any
	// Iss replaces the issuer in the redirect, and Denied is the error in place of a code.
	Iss, Denied string
	// Inner answers the requests with a token; nil answers 204.
	Inner http.Handler
	// Asked is called with each request, before it is answered; nil does nothing.
	Asked func(*http.Request)

	mu      sync.Mutex
	asked   []string // method and path of each request to both, in order
	codes   map[string]url.Values
	secrets []string // codes, tokens and secrets that were given out, and verifiers
	valid   map[string]bool
}

// newWorld starts both servers, which end with the test.
func newWorld(t *testing.T) *world {
	w := &world{codes: map[string]url.Values{}, valid: map[string]bool{}}
	w.Resource = httptest.NewServer(http.HandlerFunc(w.serveResource))
	t.Cleanup(w.Resource.Close)
	w.Issuer = httptest.NewServer(http.HandlerFunc(w.serveIssuer))
	t.Cleanup(w.Issuer.Close)
	w.Metadata = map[string]any{"resource": w.Resource.URL + "/mcp", "authorization_servers": []string{w.Issuer.URL}, "scopes_supported": []string{"read"}}
	w.Server = map[string]any{
		"issuer": w.Issuer.URL, "authorization_endpoint": w.Issuer.URL + "/authorize", "token_endpoint": w.Issuer.URL + "/token",
		"registration_endpoint": w.Issuer.URL + "/register", "code_challenge_methods_supported": []string{"S256"},
		"response_types_supported": []string{"code"}, "authorization_response_iss_parameter_supported": true,
	}
	w.Token = w.GiveToken
	return w
}

func (w *world) note(r *http.Request) {
	w.mu.Lock()
	w.asked = append(w.asked, r.Method+" "+r.URL.Path)
	w.mu.Unlock()
	if w.Asked != nil {
		w.Asked(r)
	}
}

// Secret returns a new secret.
func (w *world) Secret(prefix string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	text := prefix + rand.Text()
	w.secrets = append(w.secrets, text)
	return text
}

func (w *world) serveResource(rw http.ResponseWriter, r *http.Request) {
	w.note(r)
	if strings.HasPrefix(r.URL.Path, "/.well-known/oauth-protected-resource") {
		w.document(rw, w.Metadata, r.URL.Path == "/.well-known/oauth-protected-resource/mcp")
		return
	}
	token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	w.mu.Lock()
	valid := w.valid[token]
	w.mu.Unlock()
	if !valid {
		rw.Header().Set("WWW-Authenticate", cmp.Or(w.Challenge, `Bearer error="invalid_token", resource_metadata="`+w.Resource.URL+`/.well-known/oauth-protected-resource/mcp"`))
		http.Error(rw, "who are you?", http.StatusUnauthorized)
		return
	}
	if w.Inner != nil {
		w.Inner.ServeHTTP(rw, r)
		return
	}
	rw.WriteHeader(http.StatusNoContent)
}

func (w *world) document(rw http.ResponseWriter, document map[string]any, here bool) {
	if !here || document == nil {
		http.NotFound(rw, &http.Request{})
		return
	}
	rw.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(rw).Encode(document)
}

func (w *world) serveIssuer(rw http.ResponseWriter, r *http.Request) {
	w.note(r)
	switch r.URL.Path {
	case "/.well-known/oauth-authorization-server":
		w.document(rw, w.Server, true)
	case "/register":
		rw.Header().Set("Content-Type", "application/json")
		rw.WriteHeader(http.StatusCreated)
		registered := map[string]any{"client_id": "client-1", "token_endpoint_auth_method": "none", "registration_access_token": w.Secret("registration-")}
		maps.Copy(registered, w.Registered)
		_ = json.NewEncoder(rw).Encode(registered)
	case "/authorize":
		code := w.Secret("code-")
		w.mu.Lock()
		w.codes[code] = r.URL.Query()
		w.mu.Unlock()
		back := url.Values{"code": {code}, "state": {r.URL.Query().Get("state")}, "iss": {cmp.Or(w.Iss, w.Issuer.URL)}}
		if w.Denied != "" {
			back.Del("code")
			back.Set("error", w.Denied)
		}
		http.Redirect(rw, r, r.URL.Query().Get("redirect_uri")+"?"+back.Encode(), http.StatusFound)
	case "/token":
		_ = r.ParseForm()
		w.mu.Lock()
		if _, secret, ok := r.BasicAuth(); ok && secret != "" || r.PostForm.Has("client_secret") {
			w.asked = append(w.asked, "a client secret")
		}
		if verifier := r.PostForm.Get("code_verifier"); verifier != "" {
			w.secrets = append(w.secrets, verifier)
		}
		w.mu.Unlock()
		status, body := w.Token(r.PostForm)
		rw.Header().Set("Content-Type", "application/json")
		rw.WriteHeader(status)
		_ = json.NewEncoder(rw).Encode(body)
	default:
		http.NotFound(rw, r)
	}
}

// GiveToken is the default of Token. It checks the code and its verifier, and gives a JWT and a refresh token.
func (w *world) GiveToken(form url.Values) (int, map[string]any) {
	if form.Get("grant_type") == "authorization_code" {
		w.mu.Lock()
		asked := w.codes[form.Get("code")]
		delete(w.codes, form.Get("code"))
		w.mu.Unlock()
		sum := sha256.Sum256([]byte(form.Get("code_verifier")))
		if asked == nil || asked.Get("code_challenge") != base64.RawURLEncoding.EncodeToString(sum[:]) || form.Get("resource") != w.Resource.URL+"/mcp" {
			return http.StatusBadRequest, map[string]any{"error": "invalid_grant", "error_description": "the code is not good"}
		}
	}
	part := func(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }
	token := part(`{"alg":"RS256"}`) + "." + part(`{"sub":"mara"}`) + "." + w.Secret("signature-")
	w.mu.Lock()
	w.valid[token] = true
	w.secrets = append(w.secrets, token)
	w.mu.Unlock()
	return http.StatusOK, map[string]any{"access_token": token, "token_type": "Bearer", "expires_in": 3600, "refresh_token": w.Secret("refresh-"), "scope": "read"}
}

// Requests returns method and path of the requests so far, in order.
func (w *world) Requests() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.asked)
}

// Secrets returns the codes, tokens, secrets and verifiers so far.
func (w *world) Secrets() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.secrets)
}

// Revoke makes all tokens so far invalid.
func (w *world) Revoke() {
	w.mu.Lock()
	defer w.mu.Unlock()
	clear(w.valid)
}
