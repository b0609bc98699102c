package servers

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"
)

// walker signs in step by step, as the client and as the browser.
type walker struct {
	t      *testing.T
	oauth  *OAuth
	server *Protected
	client string // client_id
	meta   struct {
		Issuer        string
		Authorization string   `json:"authorization_endpoint"`
		Token         string   `json:"token_endpoint"`
		Registration  string   `json:"registration_endpoint"`
		Methods       []string `json:"code_challenge_methods_supported"`
		Iss           bool     `json:"authorization_response_iss_parameter_supported"`
	}
	browser *http.Client
	session string
}

const (
	callback = "http://127.0.0.1:9/callback"
	verifier = "a-verifier-that-is-at-least-forty-three-characters"
)

// send sends a request, and returns the response with its body.
func (w *walker) send(client *http.Client, method, url, contentType, body string, header ...string) (*http.Response, string) {
	w.t.Helper()
	req, err := http.NewRequestWithContext(w.t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	req.Close = true // the server closes connections when it restarts
	req.Header.Set("Content-Type", contentType)
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	res, err := client.Do(req)
	if err != nil {
		w.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return res, string(text)
}

// read sends a request, and decodes the JSON of the response, which must have the given
// status.
func (w *walker) read(status int, into any, method, url, contentType, body string) {
	w.t.Helper()
	res, text := w.send(http.DefaultClient, method, url, contentType, body)
	if err := json.Unmarshal([]byte(text), into); err != nil || res.StatusCode != status {
		w.t.Fatalf("%s %s: %s %s %v", method, url, res.Status, text, err)
	}
}

// mcp sends an MCP message to the protected server.
func (w *walker) mcp(token, method, params string) (*http.Response, string) {
	w.t.Helper()
	return w.send(http.DefaultClient, http.MethodPost, w.server.URL, "application/json",
		fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, method, params),
		"Accept", "application/json, text/event-stream", "Authorization", "Bearer "+token, "Mcp-Session-Id", w.session)
}

func (w *walker) initialize(token string) (*http.Response, string) {
	w.t.Helper()
	w.session = ""
	res, text := w.mcp(token, "initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"walker","version":"1"}}`)
	w.session = res.Header.Get("Mcp-Session-Id")
	return res, text
}

// discover reads all metadata documents, and registers a client.
func (w *walker) discover() {
	w.t.Helper()
	res, _ := w.send(http.DefaultClient, http.MethodPost, w.server.URL, "application/json", "{}")
	_, metadata, _ := strings.Cut(res.Header.Get("WWW-Authenticate"), `resource_metadata="`)
	metadata, _, _ = strings.Cut(metadata, `"`)
	var resource struct {
		Resource string
		Servers  []string `json:"authorization_servers"`
	}
	w.read(http.StatusOK, &resource, http.MethodGet, metadata, "", "")
	if res.StatusCode != http.StatusUnauthorized || resource.Resource != w.server.URL || !slices.Equal(resource.Servers, []string{w.oauth.Issuer}) {
		w.t.Fatalf("%s %+v", res.Status, resource)
	}
	w.read(http.StatusOK, &w.meta, http.MethodGet, resource.Servers[0]+"/.well-known/oauth-authorization-server", "", "")
	if w.meta.Issuer != w.oauth.Issuer || !slices.Equal(w.meta.Methods, []string{"S256"}) || !w.meta.Iss {
		w.t.Fatalf("%+v", w.meta)
	}
	var registered struct {
		ID string `json:"client_id"`
	}
	w.read(http.StatusCreated, &registered, http.MethodPost, w.meta.Registration, "application/json",
		`{"client_name":"Walker","application_type":"native","redirect_uris":["`+callback+`"],"token_endpoint_auth_method":"none",
		"grant_types":["authorization_code","refresh_token"],"response_types":["code"]}`)
	w.client = registered.ID
}

// authorize opens the authorization URL, presses a button, and returns the query of the
// redirect back.
func (w *walker) authorize(scope, choice string) url.Values {
	w.t.Helper()
	sum := sha256.Sum256([]byte(verifier))
	ask := url.Values{
		"response_type": {"code"}, "client_id": {w.client}, "redirect_uri": {callback}, "state": {"s"}, "scope": {scope},
		"code_challenge": {base64.RawURLEncoding.EncodeToString(sum[:])}, "code_challenge_method": {"S256"}, "resource": {w.server.URL},
	}
	res, text := w.send(w.browser, http.MethodGet, w.meta.Authorization+"?"+ask.Encode(), "", "")
	if strings.Contains(text, ">Allow</button>") {
		page := res.Request.URL.String()
		res, text = w.send(w.browser, http.MethodPost, page, "application/x-www-form-urlencoded", "choice="+choice)
	}
	back, err := res.Location()
	if err != nil {
		w.t.Fatalf("%s %s: %v", res.Status, text, err)
	}
	q := back.Query()
	if q.Get("state") != "s" || q.Get("iss") != w.oauth.Issuer {
		w.t.Errorf("the browser came back with %v", q)
	}
	return q
}

type tokens struct {
	Access  string `json:"access_token"`
	Refresh string `json:"refresh_token"`
	Scope   string `json:"scope"`
	Error   string `json:"error"`
}

func (w *walker) token(status int, form url.Values) (got tokens) {
	w.t.Helper()
	form.Set("client_id", w.client)
	w.read(status, &got, http.MethodPost, w.meta.Token, "application/x-www-form-urlencoded", form.Encode())
	return got
}

func (w *walker) signIn(scope string) tokens {
	w.t.Helper()
	return w.token(http.StatusOK, url.Values{
		"grant_type": {"authorization_code"}, "code": {w.authorize(scope, "allow").Get("code")},
		"redirect_uri": {callback}, "code_verifier": {verifier}, "resource": {w.server.URL},
	})
}

func (w *walker) refresh(status int, token string) tokens {
	w.t.Helper()
	return w.token(status, url.Values{"grant_type": {"refresh_token"}, "refresh_token": {token}, "resource": {w.server.URL}})
}

// expect returns a check of a response's status and body.
func (w *walker) expect(status int, part string) func(*http.Response, string) {
	return func(res *http.Response, text string) {
		w.t.Helper()
		if text = res.Header.Get("WWW-Authenticate") + text; res.StatusCode != status || !strings.Contains(text, part) {
			w.t.Errorf("%s: %s %s, want %d %s", w.server.URL, res.Status, text, status, part)
		}
	}
}

func newWalker(t *testing.T, provider *OAuth, server *Protected) *walker {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &walker{t: t, oauth: provider, server: server, browser: &http.Client{Jar: jar, CheckRedirect: func(r *http.Request, _ []*http.Request) error {
		if strings.HasPrefix(r.URL.String(), callback) {
			return http.ErrUseLastResponse
		}
		return nil
	}}}
}

// TestOAuth walks through sign-in, step-up, refresh, denial, a wrong scope, and restarts, at
// both protected servers.
func TestOAuth(t *testing.T) {
	provider := NewOAuth(t, time.Hour)
	walkers := []*walker{newWalker(t, provider, provider.TypeScript()), newWalker(t, provider, provider.GoSDK())}
	var last []tokens
	for _, w := range walkers {
		last = append(last, w.walk())
	}
	provider.Restart()
	for i, w := range walkers {
		w.expect(http.StatusUnauthorized, "resource_metadata=")(w.initialize(last[i].Access))
		if got := w.refresh(http.StatusUnauthorized, last[i].Refresh); got.Error != "invalid_client" {
			t.Errorf("after the provider's restart: %+v", got)
		}
		w.discover()
		w.expect(http.StatusOK, "oauth-")(w.initialize(w.signIn("use").Access))
	}

	w := walkers[0]
	var got tokens
	w.read(http.StatusOK, &got, http.MethodPost, strings.Replace(provider.Issuer, "://", "://"+ServiceID+":"+ServiceSecret+"@", 1)+"/token",
		"application/x-www-form-urlencoded", url.Values{"grant_type": {"client_credentials"}, "scope": {"use"}, "resource": {w.server.URL}}.Encode())
	w.expect(http.StatusOK, "oauth-")(w.initialize(got.Access))
}

// walk takes all steps at one server up to its restart, and returns valid tokens.
func (w *walker) walk() tokens {
	w.t.Helper()
	transfer := func(token string) (*http.Response, string) {
		w.t.Helper()
		return w.mcp(token, "tools/call", `{"name":"transfer","arguments":{}}`)
	}
	w.discover()
	if got := w.authorize("use", "deny").Get("error"); got != "access_denied" {
		w.t.Errorf("after a denial: %s", got)
	}
	if got := w.signIn("use everything"); got.Scope != "use" { // this provider omits scopes that it does not know
		w.t.Errorf("with a wrong scope: %q", got.Scope)
	}
	first := w.signIn("use")
	w.expect(http.StatusOK, "oauth-")(w.initialize(first.Access))
	w.expect(http.StatusForbidden, `error="insufficient_scope"`)(transfer(first.Access))
	more := w.signIn("use transfer")
	w.expect(http.StatusOK, "Transferred.")(transfer(more.Access))
	next := w.refresh(http.StatusOK, more.Refresh)
	w.expect(http.StatusOK, "Transferred.")(transfer(next.Access))

	w.server.Restart()
	w.expect(http.StatusNotFound, "")(transfer(next.Access))
	w.expect(http.StatusOK, "oauth-")(w.initialize(next.Access))
	if got := w.refresh(http.StatusBadRequest, more.Refresh); got.Error != "invalid_grant" {
		w.t.Errorf("with a used refresh token: %+v", got)
	}
	return next
}
