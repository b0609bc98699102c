package protected

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/oauthex"

	"elicitation-inspector/bridge/servers/demo"
)

// serve serves the demo behind OAuth, and returns its base URL.
func serve(t *testing.T, o Options) string {
	t.Helper()
	d := demo.New(demo.Options{})
	web := httptest.NewUnstartedServer(nil)
	o.BaseURL = "http://" + web.Listener.Addr().String()
	web.Config.Handler = Handler(d, o)
	web.Start()
	t.Cleanup(func() {
		web.Close()
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return o.BaseURL
}

// testClient signs in by hand at one variant. It goes on with what ought to be when something is wrong, so that it sees
// everything that is.
type testClient struct {
	t       *testing.T
	base    string
	variant Variant
	id      string
	wrong   []string // what differs from the usual server
}

func newTestClient(t *testing.T, base string, v Variant) *testClient {
	return &testClient{t: t, base: base, variant: v, id: ClientID}
}

func (c *testClient) resource() string { return c.base + c.variant.Path() }
func (c *testClient) issuer() string {
	return strings.TrimSuffix(c.resource(), mcpPath) + authPath
}

func (c *testClient) differs(step Step, format string, a ...any) {
	text := string(step) + ": " + strings.ReplaceAll(fmt.Sprintf(format, a...), c.base, "BASE")
	if !slices.Contains(c.wrong, text) {
		c.wrong = append(c.wrong, text)
	}
}

const (
	state    = "the state"
	redirect = "http://127.0.0.1:9/callback?keep=1"
	verifier = "a-verifier-that-is-at-least-forty-three-characters"
)

// response is an HTTP response that was read.
type response struct {
	status int
	header http.Header
	body   string
}

// errTooLarge says that a body was longer than a client should read.
var errTooLarge = errors.New("too large")

// do sends a request of a step, and does not follow redirects. Only where the variant hangs it waits briefly.
func (c *testClient) do(step Step, req *http.Request) (response, error) {
	c.t.Helper()
	if strings.HasSuffix(c.variant.Name, "-hanging") && step == c.variant.Step {
		ctx, cancel := context.WithTimeout(req.Context(), 100*time.Millisecond)
		defer cancel()
		req = req.WithContext(ctx)
	}
	res, err := http.DefaultTransport.RoundTrip(req)
	if errors.Is(err, context.DeadlineExceeded) {
		return response{}, err
	}
	if err != nil {
		c.t.Fatal(err)
	}
	defer res.Body.Close()
	if res.Header.Get("Content-Type") == "text/event-stream" {
		return response{res.StatusCode, res.Header, ""}, nil
	}
	body, err := io.ReadAll(io.LimitReader(res.Body, maxBody))
	if len(body) == maxBody {
		err = errTooLarge
	}
	return response{res.StatusCode, res.Header, string(body)}, err
}

// read is do with the JSON body of an answer decoded, which must have a status.
func (c *testClient) read(step Step, req *http.Request, status int, into any) bool {
	c.t.Helper()
	res, err := c.do(step, req)
	if err == nil && res.status == status {
		err = json.Unmarshal([]byte(res.body), into)
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		c.differs(step, "hangs")
	case errors.Is(err, errTooLarge):
		c.differs(step, "is huge")
	case err != nil:
		c.differs(step, "is not JSON")
	case res.status != status:
		c.differs(step, "%d %s", res.status, strings.TrimSpace(res.body))
	}
	return err == nil && res.status == status
}

func get(url string) *http.Request { return newRequest(http.MethodGet, url, "", "") }

func newRequest(method, url, contentType, body string) *http.Request {
	req, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		panic(err)
	}
	req.Header.Set("Content-Type", contentType)
	return req
}

func post(url string, form url.Values) *http.Request {
	return newRequest(http.MethodPost, url, "application/x-www-form-urlencoded", form.Encode())
}

// message returns an MCP request with a token.
func (c *testClient) message(token, method, params string) *http.Request {
	req := newRequest(http.MethodPost, c.resource(), "application/json",
		fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, method, params))
	req.Header.Set("Accept", "application/json, text/event-stream")
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	return req
}

func (c *testClient) initialize(token string) *http.Request {
	return c.message(token, "initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}`)
}

// transfer returns a call of the tool that needs a further scope. It is of no session, so a server that lets it through
// answers 404 or 400.
func (c *testClient) transfer(token string) *http.Request {
	req := c.message(token, "tools/call", `{"name":"transfer_money","arguments":{}}`)
	req.Header.Set("Mcp-Session-Id", "none")
	return req
}

// tokens is the answer of a token endpoint.
type tokens struct {
	Access  string `json:"access_token"`
	Type    string `json:"token_type"`
	Expires int    `json:"expires_in"`
	Refresh string `json:"refresh_token"`
	Scope   string `json:"scope"`
}

// walk takes all steps, and returns what differs from the usual server.
func (c *testClient) walk() []string {
	c.t.Helper()
	c.challenged()
	c.resourceMetadata()
	c.serverMetadata()
	c.register()
	first, ok := c.signIn(ScopeUse)
	if !ok {
		return c.wrong
	}
	if res, _ := c.do(StepRequest, c.initialize(first.Access)); res.status != http.StatusOK {
		c.differs(StepRequest, "%d %s", res.status, strings.TrimSpace(res.body))
		return c.wrong
	}
	c.stepUp(first)
	c.renew(first)
	return c.wrong
}

func (c *testClient) challenged() {
	res, _ := c.do(StepChallenge, c.initialize(""))
	want := fmt.Sprintf(`Bearer resource_metadata="%s/.well-known/oauth-protected-resource%s", scope="demo.use"`, c.base, c.variant.Path())
	if got := res.header.Get("WWW-Authenticate"); res.status != http.StatusUnauthorized || got != want {
		c.differs(StepChallenge, "%d %s", res.status, got)
	}
}

func (c *testClient) resourceMetadata() {
	var m oauthex.ProtectedResourceMetadata
	if !c.read(StepResourceMetadata, get(c.base+"/.well-known/oauth-protected-resource"+c.variant.Path()), http.StatusOK, &m) {
		return
	}
	if m.Resource != c.resource() {
		c.differs(StepResourceMetadata, "resource %s", m.Resource)
	}
	if !slices.Equal(m.AuthorizationServers, []string{c.issuer()}) {
		c.differs(StepResourceMetadata, "servers %v", m.AuthorizationServers)
	}
	if !slices.Equal(m.ScopesSupported, []string{"demo.use"}) || !slices.Equal(m.BearerMethodsSupported, []string{"header"}) {
		c.differs(StepResourceMetadata, "scopes %v, methods %v", m.ScopesSupported, m.BearerMethodsSupported)
	}
}

func (c *testClient) serverMetadata() {
	got := map[string]any{}
	path := strings.TrimPrefix(c.issuer(), c.base)
	if !c.read(StepServerMetadata, get(c.base+"/.well-known/oauth-authorization-server"+path), http.StatusOK, &got) {
		return
	}
	for name, want := range map[string]any{
		"issuer": c.issuer(), "authorization_endpoint": c.issuer() + "/consent", "token_endpoint": c.issuer() + "/tokens",
		"registration_endpoint": c.issuer() + "/clients", "jwks_uri": c.issuer() + "/keys",
		"scopes_supported": []any{"demo.use", "demo.transfer"}, "response_types_supported": []any{"code"}, "response_modes_supported": []any{"query"},
		"code_challenge_methods_supported": []any{"S256"}, "authorization_response_iss_parameter_supported": true,
		"client_id_metadata_document_supported": true, "grant_types_supported": []any{grantCode, grantRefresh, grantClient},
		"token_endpoint_auth_methods_supported": []any{methodNone, methodBasic, methodPost},
	} {
		if fmt.Sprint(got[name]) != fmt.Sprint(want) {
			c.differs(StepServerMetadata, "%s %v", name, got[name])
		}
		delete(got, name)
	}
	for name := range got {
		c.differs(StepServerMetadata, "also %s", name)
	}
	slices.Sort(c.wrong)
}

// register registers a client, and keeps to the one that is known already if that fails.
func (c *testClient) register() {
	var got struct {
		ID           string   `json:"client_id"`
		RedirectURIs []string `json:"redirect_uris"`
	}
	req := newRequest(http.MethodPost, c.issuer()+"/clients", "application/json",
		`{"client_name":"Test","redirect_uris":["`+redirect+`"],"grant_types":["authorization_code","refresh_token"],"token_endpoint_auth_method":"none"}`)
	switch {
	case !c.read(StepRegistration, req, http.StatusCreated, &got):
	case got.ID == "":
		c.differs(StepRegistration, "no client_id")
	default:
		c.id = got.ID
	}
}

// ask returns the query of an authorization request.
func (c *testClient) ask(scope string) url.Values {
	sum := sha256.Sum256([]byte(verifier))
	return url.Values{
		"response_type": {"code"}, "client_id": {c.id}, "redirect_uri": {redirect}, "state": {state}, "scope": {scope},
		"code_challenge": {encoding.EncodeToString(sum[:])}, "code_challenge_method": {"S256"}, "resource": {c.resource()},
	}
}

var hidden = regexp.MustCompile(`name="request" value="(\w+)"`)

// authorize sends an authorization request, chooses on the page, and returns what the browser would bring back.
func (c *testClient) authorize(ask url.Values, choice string) (url.Values, response) {
	c.t.Helper()
	res, _ := c.do(StepRedirect, get(c.issuer()+"/consent?"+ask.Encode()))
	if m := hidden.FindStringSubmatch(res.body); m != nil {
		res, _ = c.do(StepRedirect, post(c.issuer()+"/consent", url.Values{"request": {m[1]}, "choice": {choice}, "user": {"Sam"}}))
	}
	u, err := url.Parse(res.header.Get("Location"))
	if err != nil || res.status != http.StatusSeeOther {
		return nil, res
	}
	if got := u.Scheme + "://" + u.Host + u.Path; got != "http://127.0.0.1:9/callback" {
		c.differs(StepRedirect, "back to %s", got)
	}
	return u.Query(), res
}

// signIn gets tokens with a code.
func (c *testClient) signIn(scope string) (tokens, bool) {
	c.t.Helper()
	back, res := c.authorize(c.ask(scope), "allow")
	if back == nil {
		c.t.Fatalf("%s: %d %s", c.variant.Name, res.status, res.body)
	}
	if got := back.Get("state"); got != state {
		c.differs(StepRedirect, "state %q", got)
	}
	if got := back.Get("iss"); got != c.issuer() {
		c.differs(StepRedirect, "iss %q", got)
	}
	if got := back.Get("keep"); got != "1" {
		c.differs(StepRedirect, "keep %q", got)
	}
	if back.Has("error") {
		c.differs(StepRedirect, "%s", back.Get("error"))
		return tokens{}, false
	}
	got, ok := c.token(StepToken, c.redeem(back.Get("code")))
	if ok && (got.Scope != scope || got.Type != "Bearer" || got.Expires != 60 && c.variant.Step != StepRefresh) {
		c.differs(StepToken, "scope %q, type %q, expires in %d", got.Scope, got.Type, got.Expires)
	}
	return got, ok
}

// redeem returns the form that redeems a code.
func (c *testClient) redeem(code string) url.Values {
	return url.Values{
		"grant_type": {grantCode}, "client_id": {c.id}, "code": {code}, "redirect_uri": {redirect},
		"code_verifier": {verifier}, "resource": {c.resource()},
	}
}

func (c *testClient) token(step Step, form url.Values) (got tokens, ok bool) {
	c.t.Helper()
	if !c.read(step, post(c.issuer()+"/tokens", form), http.StatusOK, &got) {
		return got, false
	}
	if got.Access == "" {
		c.differs(step, "no access_token")
	}
	return got, got.Access != ""
}

func (c *testClient) stepUp(first tokens) {
	res, _ := c.do(StepUp, c.transfer(first.Access))
	want := fmt.Sprintf(`Bearer error="insufficient_scope", resource_metadata="%s/.well-known/oauth-protected-resource%s", scope="demo.use demo.transfer"`,
		c.base, c.variant.Path())
	if got := res.header.Get("WWW-Authenticate"); res.status != http.StatusForbidden || got != want {
		c.differs(StepUp, "%d %s", res.status, got)
	}
	more, ok := c.signIn("demo.use demo.transfer")
	if !ok {
		return
	}
	if res, _ := c.do(StepUp, c.transfer(more.Access)); res.status != http.StatusNotFound {
		c.differs(StepUp, "then %d", res.status)
	}
}

func (c *testClient) renew(first tokens) {
	if first.Expires != 60 {
		c.differs(StepRefresh, "expires in %d", first.Expires)
	}
	if first.Refresh == "" {
		c.differs(StepRefresh, "no refresh_token")
		return
	}
	next, ok := c.token(StepRefresh, url.Values{"grant_type": {grantRefresh}, "client_id": {c.id}, "refresh_token": {first.Refresh}})
	if !ok {
		return
	}
	if next.Refresh == first.Refresh || next.Access == first.Access || next.Scope != "demo.use" {
		c.differs(StepRefresh, "the same again, scope %q", next.Scope)
	}
	if res, _ := c.do(StepRefresh, c.initialize(next.Access)); res.status != http.StatusOK {
		c.differs(StepRefresh, "then %d", res.status)
	}
}
