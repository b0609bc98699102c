package protected

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"
)

// signedIn returns a client of the usual server that registered.
func signedIn(t *testing.T, base string) *testClient {
	t.Helper()
	c := newTestClient(t, base, Variant{})
	c.register()
	return c
}

// code returns a fresh code.
func (c *testClient) code() string {
	c.t.Helper()
	back, res := c.authorize(c.ask(ScopeUse), "allow")
	if back.Get("code") == "" {
		c.t.Fatalf("no code: %d %s", res.status, res.body)
	}
	return back.Get("code")
}

// refused checks that the token endpoint answers a form with an error.
func (c *testClient) refused(form url.Values, want string) {
	c.t.Helper()
	res, err := c.do(StepToken, post(c.issuer()+"/tokens", form))
	if err != nil || res.status < 400 || !strings.Contains(res.body, `"error":"`+want+`"`) {
		c.t.Errorf("%v: %d %s %v, want %s", form, res.status, res.body, err, want)
	}
}

// with returns a copy of a form with one value changed, or removed if it is empty.
func with(form url.Values, name, value string) url.Values {
	copied := url.Values{}
	for k, v := range form {
		copied[k] = v
	}
	if copied.Set(name, value); value == "" {
		copied.Del(name)
	}
	return copied
}

// TestCodeRules checks each rule by which a code is judged.
func TestCodeRules(t *testing.T) {
	now := time.Now()
	base := serve(t, Options{Now: func() time.Time { return now }})
	c := signedIn(t, base)
	for _, wrong := range [][3]string{
		{"code", "another", "invalid_grant"}, {"client_id", ClientID, "invalid_grant"}, {"client_id", "nobody", "invalid_client"},
		{"redirect_uri", "http://127.0.0.1:9/callback", "invalid_grant"}, {"redirect_uri", "", "invalid_grant"},
		{"code_verifier", verifier + "x", "invalid_grant"}, {"code_verifier", "", "invalid_grant"},
		{"resource", base + "/other", "invalid_target"}, {"grant_type", "password", "unsupported_grant_type"},
		{"grant_type", grantClient, "unauthorized_client"}, {"client_secret", "guessed", "invalid_client"},
		{"scope", "demo.use demo.transfer", "invalid_scope"},
	} {
		c.refused(with(c.redeem(c.code()), wrong[0], wrong[1]), wrong[2])
	}

	code := c.code()
	now = now.Add(codeLife + time.Second)
	c.refused(c.redeem(code), "invalid_grant")
	now = time.Now()

	code = c.code()
	got, ok := c.token(StepToken, c.redeem(code))
	if !ok {
		t.Fatal(c.wrong)
	}
	c.refused(c.redeem(code), "invalid_grant")
	c.refused(url.Values{"grant_type": {grantRefresh}, "client_id": {c.id}, "refresh_token": {got.Refresh}}, "invalid_grant")
}

// TestRefreshRules checks that a refresh token is good once, and only for its client.
func TestRefreshRules(t *testing.T) {
	c := signedIn(t, serve(t, Options{}))
	first, _ := c.signIn("demo.use demo.transfer")
	form := url.Values{"grant_type": {grantRefresh}, "client_id": {c.id}, "refresh_token": {first.Refresh}}
	c.refused(with(form, "client_id", ClientID), "invalid_grant")
	c.refused(with(form, "scope", "demo.use another"), "invalid_scope")
	second, ok := c.token(StepRefresh, with(form, "scope", "demo.use"))
	if !ok || second.Scope != "demo.use" {
		t.Fatalf("%+v %v", second, c.wrong)
	}
	c.refused(form, "invalid_grant") // it was stolen, so the one that replaced it is no good any more, either
	c.refused(with(form, "refresh_token", second.Refresh), "invalid_grant")
}

// TestAuthorizationRules checks what is told on a page, because the client is in doubt, and what is told to the client.
func TestAuthorizationRules(t *testing.T) {
	base := serve(t, Options{})
	c := signedIn(t, base)
	for _, wrong := range [][2]string{
		{"client_id", "nobody"}, {"client_id", ""}, {"redirect_uri", "http://127.0.0.1:9/callback?keep=2"}, {"redirect_uri", ""},
		{"redirect_uri", redirect + "&x=1"}, {"redirect_uri", "http://127.0.0.1:10/callback?keep=1"}, {"client_id", "https://"},
		{"client_id", "http://127.0.0.1/client.json"},
	} {
		if back, res := c.authorize(with(c.ask(ScopeUse), wrong[0], wrong[1]), "allow"); back != nil || res.status != http.StatusBadRequest {
			t.Errorf("%v: %d %v", wrong, res.status, back)
		}
	}
	for _, wrong := range [][3]string{
		{"response_type", "token", "unsupported_response_type"}, {"code_challenge", "", "invalid_request"},
		{"code_challenge_method", "plain", "invalid_request"}, {"code_challenge_method", "", "invalid_request"},
		{"resource", base + "/other", "invalid_target"}, {"resource", "", "invalid_target"}, {"scope", "demo.use admin", "invalid_scope"},
	} {
		back, res := c.authorize(with(c.ask(ScopeUse), wrong[0], wrong[1]), "allow")
		if back.Get("error") != wrong[2] || back.Get("state") != state || back.Get("iss") != c.issuer() || back.Has("code") {
			t.Errorf("%v: %d %v", wrong, res.status, back)
		}
	}
	if back, _ := c.authorize(c.ask(ScopeUse), "deny"); back.Get("error") != "access_denied" || back.Has("code") {
		t.Errorf("after a denial: %v", back)
	}
	c.id = ClientID
	for uri, good := range map[string]bool{
		"http://127.0.0.1:1234/any": true, "http://localhost/": true, "http://[::1]:5/x": true,
		"http://127.0.0.1.elsewhere.example/": false, "https://elsewhere.example/": false, "http://127.0.0.1@elsewhere.example/": false,
		"http://me@127.0.0.1/": false, "javascript://127.0.0.1/%0aalert(1)": false,
	} {
		res, _ := c.do(StepRedirect, get(c.issuer()+"/consent?"+with(c.ask(ScopeUse), "redirect_uri", uri).Encode()))
		if (res.status == http.StatusOK) != good {
			t.Errorf("%s: %d", uri, res.status)
		}
	}
}

// TestConsentIsOnce checks that a page can be used once, by a form of its own.
func TestConsentIsOnce(t *testing.T) {
	c := signedIn(t, serve(t, Options{}))
	res, _ := c.do(StepRedirect, get(c.issuer()+"/consent?"+c.ask(ScopeUse).Encode()))
	form := url.Values{"request": {hidden.FindStringSubmatch(res.body)[1]}, "choice": {"allow"}, "user": {"Robin"}}
	foreign := post(c.issuer()+"/consent", form)
	foreign.Header.Set("Origin", "https://elsewhere.example")
	for i, try := range []struct {
		req  *http.Request
		want int
	}{
		{foreign, http.StatusForbidden},
		{post(c.issuer()+"/consent", with(form, "user", "Eve")), http.StatusBadRequest},
		{post(c.issuer()+"/consent", with(form, "choice", "")), http.StatusBadRequest},
		{post(c.issuer()+"/consent", with(form, "request", "guessed")), http.StatusNotFound},
		{post(c.issuer()+"/consent", form), http.StatusSeeOther},
		{post(c.issuer()+"/consent", form), http.StatusNotFound},
	} {
		if res, _ := c.do(StepRedirect, try.req); res.status != try.want {
			t.Errorf("%d: %d %s", i, res.status, res.body)
		}
	}
}

// TestTokenRules checks which tokens the protected server refuses.
func TestTokenRules(t *testing.T) {
	now := time.Now()
	base := serve(t, Options{Now: func() time.Time { return now }})
	c := signedIn(t, base)
	got, _ := c.signIn(ScopeUse)
	refused := func(token, why string) {
		t.Helper()
		res, _ := c.do(StepRequest, c.initialize(token))
		if res.status != http.StatusUnauthorized || !strings.HasPrefix(res.header.Get("WWW-Authenticate"), `Bearer error="invalid_token", `) || !strings.Contains(res.body, why) {
			t.Errorf("%s: %d %v %s", why, res.status, res.header["Www-Authenticate"], res.body)
		}
	}
	refused("x", "not a JWT")
	parts := strings.Split(got.Access, ".")
	payload, _ := base64.RawURLEncoding.DecodeString(parts[1])
	richer := base64.RawURLEncoding.EncodeToString([]byte(strings.Replace(string(payload), "demo.use", "demo.use demo.transfer", 1)))
	refused(parts[0]+"."+richer+"."+parts[2], "signature")
	none := base64.RawURLEncoding.EncodeToString([]byte(`{"typ":"at+jwt","alg":"none"}`))
	refused(none+"."+parts[1]+".", "not a JWT")
	other := newTestClient(t, base, Variants()[0])
	foreign, _ := other.signIn(ScopeUse)
	refused(foreign.Access, "signature")
	now = now.Add(tokenLife)
	refused(got.Access, "expired")

	restarted := signedIn(t, serve(t, Options{}))
	restarted.refused(url.Values{"grant_type": {grantRefresh}, "client_id": {c.id}, "refresh_token": {got.Refresh}}, "invalid_client")
	if res, _ := restarted.do(StepRequest, restarted.initialize(got.Access)); res.status != http.StatusUnauthorized {
		t.Errorf("after a restart: %d", res.status)
	}
}

// TestService checks the client credentials grant.
func TestService(t *testing.T) {
	c := newTestClient(t, serve(t, Options{}), Variant{})
	form := url.Values{"grant_type": {grantClient}, "client_id": {ServiceID}, "client_secret": {ServiceSecret}, "scope": {"demo.use demo.transfer"}}
	c.refused(with(form, "client_secret", "wrong"), "invalid_client")
	c.refused(with(form, "client_secret", ""), "invalid_client")
	c.refused(with(form, "scope", "admin"), "invalid_scope")
	c.refused(with(form, "client_id", ClientID), "invalid_client")
	if got, _ := c.token(StepToken, form); got.Refresh != "" || got.Scope != "demo.use demo.transfer" {
		t.Errorf("%+v", got)
	}
	req := post(c.issuer()+"/tokens", url.Values{"grant_type": {grantClient}})
	req.SetBasicAuth(url.QueryEscape(ServiceID), url.QueryEscape(ServiceSecret))
	var got tokens
	if !c.read(StepToken, req, http.StatusOK, &got) {
		t.Fatal(c.wrong)
	}
	if res, _ := c.do(StepRequest, c.initialize(got.Access)); res.status != http.StatusOK {
		t.Errorf("%d %s", res.status, res.body)
	}
}

// TestRegistrationRules checks what is registered, and what is refused.
func TestRegistrationRules(t *testing.T) {
	c := newTestClient(t, serve(t, Options{}), Variant{})
	for body, want := range map[string]string{
		`{`:  "invalid_client_metadata",
		`{}`: "invalid_redirect_uri",
		`{"redirect_uris":["http://elsewhere.example/"]}`:                                            "invalid_redirect_uri",
		`{"redirect_uris":["/callback"]}`:                                                            "invalid_redirect_uri",
		`{"redirect_uris":["https://elsewhere.example/#x"]}`:                                         "invalid_redirect_uri",
		`{"redirect_uris":["javascript:alert(1)"]}`:                                                  "invalid_redirect_uri",
		`{"redirect_uris":["https://a.example/"],"grant_types":["client_credentials"]}`:              "invalid_client_metadata",
		`{"redirect_uris":["https://a.example/"],"token_endpoint_auth_method":"private_key_jwt"}`:    "invalid_client_metadata",
		`{"redirect_uris":["https://a.example/","com.example.app:/x","http://[::1]/"]}`:              "",
		`{"redirect_uris":["https://a.example/"],"token_endpoint_auth_method":"client_secret_post"}`: "",
	} {
		res, _ := c.do(StepRegistration, newRequest(http.MethodPost, c.issuer()+"/clients", "application/json", body))
		got := res.status == http.StatusCreated && strings.Contains(res.body, `"client_secret":"`) && strings.Contains(res.body, `"client_secret_expires_at":0`)
		if want == "" && !got || want != "" && !strings.Contains(res.body, want) {
			t.Errorf("%s: %d %s", body, res.status, res.body)
		}
	}
}

// TestMetadataDocument checks a client whose id is the URL of its document.
func TestMetadataDocument(t *testing.T) {
	says := map[string]string{}
	documents := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, ok := says[r.URL.Path]
		if !ok {
			http.Redirect(w, r, "/good", http.StatusFound)
			return
		}
		fmt.Fprint(w, body)
	}))
	t.Cleanup(documents.Close)
	document := `{"client_id":"` + documents.URL + `%s","client_name":"Ada","redirect_uris":["` + redirect + `"],"grant_types":["authorization_code","refresh_token"]}`
	says["/good"], says["/other"], says["/json"] = fmt.Sprintf(document, "/good"), fmt.Sprintf(document, "/good"), "{"
	says["/huge"] = strings.Repeat(" ", maxBody) + fmt.Sprintf(document, "/huge")
	c := newTestClient(t, serve(t, Options{Fetcher: documents.Client()}), Variant{})
	for _, path := range []string{"/other", "/json", "/huge", "/moved", "/", ""} {
		c.id = documents.URL + path
		if back, res := c.authorize(c.ask(ScopeUse), "allow"); back != nil || res.status != http.StatusBadRequest {
			t.Errorf("%s: %d %v", cmp.Or(path, "no path"), res.status, back)
		}
	}
	c.id = documents.URL + "/good"
	if got, ok := c.signIn(ScopeUse); !ok || got.Refresh == "" {
		t.Errorf("%+v %v", got, c.wrong)
	}
}

// TestOtherHost checks that the server answers under its own name only.
func TestOtherHost(t *testing.T) {
	c := newTestClient(t, serve(t, Options{}), Variant{})
	req := c.initialize("")
	req.Host = "rebound.example"
	if res, _ := c.do(StepChallenge, req); res.status != http.StatusMisdirectedRequest {
		t.Errorf("%d %s", res.status, res.body)
	}
}

// TestShelf checks that a shelf forgets its oldest values, and what was taken.
func TestShelf(t *testing.T) {
	var s shelf[int]
	for i := range maxKept + 2 {
		s.put(fmt.Sprint(i), i)
	}
	forgotten, kept, taken := s.get("1"), s.take("2"), s.get("2")
	if forgotten != 0 || kept != 2 || taken != 0 || len(s.values) != maxKept-1 || len(s.order) != maxKept {
		t.Errorf("%d %d %d %d %d", forgotten, kept, taken, len(s.values), len(s.order))
	}
}
