package signin_test

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
)

// world is an authorization server and a protected resource, on two origins. Its fields
// are changed before the sign-in begins.
type world struct {
	t        *testing.T
	resource *httptest.Server // answers 401 without a token, at /mcp
	issuer   *httptest.Server

	metadata map[string]any // of the resource, at its path; nil: 404
	server   map[string]any // of the authorization server
	token    func(form url.Values) (int, map[string]any)

	mu      sync.Mutex
	asked   []string // method and path of each request to both, in order
	codes   map[string]url.Values
	secrets []string // codes, tokens and secrets that were given out
	valid   map[string]bool
	scopes  string // that a token needs; "" for any
	forms   []url.Values
}

func newWorld(t *testing.T) *world {
	w := &world{t: t, codes: map[string]url.Values{}, valid: map[string]bool{}}
	w.resource = httptest.NewServer(http.HandlerFunc(w.serveResource))
	t.Cleanup(w.resource.Close)
	w.issuer = httptest.NewServer(http.HandlerFunc(w.serveIssuer))
	t.Cleanup(w.issuer.Close)
	w.metadata = map[string]any{"resource": w.resource.URL + "/mcp", "authorization_servers": []string{w.issuer.URL}, "scopes_supported": []string{"read"}}
	w.server = map[string]any{
		"issuer": w.issuer.URL, "authorization_endpoint": w.issuer.URL + "/authorize", "token_endpoint": w.issuer.URL + "/token",
		"registration_endpoint": w.issuer.URL + "/register", "code_challenge_methods_supported": []string{"S256"},
		"response_types_supported": []string{"code"}, "authorization_response_iss_parameter_supported": true,
	}
	w.token = w.answerToken
	return w
}

func (w *world) note(r *http.Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked = append(w.asked, r.Method+" "+r.URL.Path)
}

// fresh returns a new secret.
func (w *world) fresh(prefix string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	text := prefix + rand.Text()
	w.secrets = append(w.secrets, text)
	return text
}

func (w *world) serveResource(rw http.ResponseWriter, r *http.Request) {
	w.note(r)
	if strings.HasPrefix(r.URL.Path, "/.well-known/oauth-protected-resource") {
		w.document(rw, w.metadata, r.URL.Path == "/.well-known/oauth-protected-resource/mcp")
		return
	}
	token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	w.mu.Lock()
	valid := w.valid[token]
	w.mu.Unlock()
	if !valid {
		rw.Header().Set("WWW-Authenticate", `Bearer error="invalid_token", resource_metadata="`+w.resource.URL+`/.well-known/oauth-protected-resource/mcp"`)
		http.Error(rw, "who are you?", http.StatusUnauthorized)
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
		w.document(rw, w.server, true)
	case "/register":
		rw.Header().Set("Content-Type", "application/json")
		rw.WriteHeader(http.StatusCreated)
		_ = json.NewEncoder(rw).Encode(map[string]any{"client_id": "client-1", "token_endpoint_auth_method": "none", "registration_access_token": w.fresh("registration-")})
	case "/authorize":
		code := w.fresh("code-")
		w.mu.Lock()
		w.codes[code] = r.URL.Query()
		w.mu.Unlock()
		back := url.Values{"code": {code}, "state": {r.URL.Query().Get("state")}, "iss": {w.issuer.URL}}
		http.Redirect(rw, r, r.URL.Query().Get("redirect_uri")+"?"+back.Encode(), http.StatusFound)
	case "/token":
		_ = r.ParseForm()
		w.mu.Lock()
		w.forms = append(w.forms, r.PostForm)
		w.mu.Unlock()
		status, body := w.token(r.PostForm)
		rw.Header().Set("Content-Type", "application/json")
		rw.WriteHeader(status)
		_ = json.NewEncoder(rw).Encode(body)
	default:
		http.NotFound(rw, r)
	}
}

// answerToken checks the code and its verifier, and gives a JWT and a refresh token.
func (w *world) answerToken(form url.Values) (int, map[string]any) {
	if form.Get("grant_type") == "authorization_code" {
		w.mu.Lock()
		asked := w.codes[form.Get("code")]
		delete(w.codes, form.Get("code"))
		w.mu.Unlock()
		sum := sha256.Sum256([]byte(form.Get("code_verifier")))
		if asked == nil || asked.Get("code_challenge") != base64.RawURLEncoding.EncodeToString(sum[:]) || form.Get("resource") != w.resource.URL+"/mcp" {
			return http.StatusBadRequest, map[string]any{"error": "invalid_grant", "error_description": "the code is not good"}
		}
	}
	part := func(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }
	token := part(`{"alg":"RS256"}`) + "." + part(`{"sub":"mara"}`) + "." + w.fresh("signature-")
	w.mu.Lock()
	w.valid[token] = true
	w.secrets = append(w.secrets, token)
	w.mu.Unlock()
	return http.StatusOK, map[string]any{"access_token": token, "token_type": "Bearer", "expires_in": 3600, "refresh_token": w.fresh("refresh-"), "scope": "read"}
}

func (w *world) requests() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.asked)
}
