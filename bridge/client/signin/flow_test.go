package signin_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"elicitation-inspector/bridge/client/signin"
	"elicitation-inspector/bridge/wire"
)

// user signs in to a world with a flow, and keeps the frames that are logged.
type user struct {
	*world
	t    *testing.T
	desk *signin.Desk
	flow *signin.Flow
	log  *wire.Log

	revision string // of the requests
}

func newUser(t *testing.T, w *world, c signin.Config, d signin.DeskConfig) *user {
	t.Helper()
	log, err := wire.NewLog(wire.Options{})
	if err != nil {
		t.Fatal(err)
	}
	u := &user{world: w, t: t, desk: signin.NewDesk(d), log: log}
	log.Mask(u.desk.Masked)
	t.Cleanup(func() {
		if err := errors.Join(u.desk.Close(), log.Close()); err != nil {
			t.Error(err)
		}
	})
	if u.flow = u.desk.Flow("key", "protected", w.Resource.URL+"/mcp", c); u.flow == nil {
		t.Fatal("there is no flow")
	}
	return u
}

func (u *user) logged(f wire.Frame) {
	f.Dir, f.Server, f.Session, f.Transport = wire.Meta, "protected", "s-1", "http"
	u.log.Append(f)
}

// get requests the resource, and signs in if that is refused.
func (u *user) get(ctx context.Context) (int, error) {
	for again := false; ; again = true {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.Resource.URL+"/mcp", nil)
		if err != nil {
			return 0, err
		}
		token, err := u.flow.Token(ctx, true, u.logged)
		if err != nil {
			return 0, err
		}
		if token != "" {
			req.Header.Set("Authorization", "Bearer "+token)
		}
		req.Header.Set("Mcp-Protocol-Version", u.revision)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return 0, err
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
		if resp.StatusCode != http.StatusUnauthorized || again {
			return resp.StatusCode, nil
		}
		if err := u.flow.SignIn(ctx, resp, again, u.logged); err != nil {
			return 0, err
		}
	}
}

// visits opens the authorization URL as soon as the sign-in waits.
func (u *user) visits() {
	var visited sync.Map // the numbers of the attempts
	stop := u.desk.Watch(func(f *signin.Flow) {
		if a, _ := f.Attempt(); a.State == signin.Waiting {
			if _, before := visited.LoadOrStore(a.Number, true); before {
				return
			}
			if address, ok := f.Open(); ok {
				go visit(u.t, address)
			}
		}
	})
	u.t.Cleanup(stop)
}

// visit is the browser.
func visit(t *testing.T, address string) {
	resp, err := http.Get(address)
	if err != nil {
		t.Error(err)
		return
	}
	defer resp.Body.Close()
	text, _ := io.ReadAll(resp.Body)
	if resp.StatusCode != http.StatusOK || !strings.Contains(string(text), "close this tab") {
		t.Errorf("the browser sees %d: %s", resp.StatusCode, text)
	}
}

// steps returns the steps that the log has, in order.
func (u *user) steps() (out []wire.Step) {
	for seq := int64(1); seq <= u.log.Len(); seq++ {
		f, err := u.log.Frame(seq)
		if err != nil {
			u.t.Fatal(err)
		}
		if f.Note != nil && f.Note.Kind == wire.NoteSignIn {
			out = append(out, f.Note.SignIn.Step)
		}
	}
	return out
}

// noSecrets fails the test if the log has a secret.
func (u *user) noSecrets() {
	u.t.Helper()
	var all strings.Builder
	for seq := int64(1); seq <= u.log.Len(); seq++ {
		f, err := u.log.Frame(seq)
		if err != nil {
			u.t.Fatal(err)
		}
		all.Write(f.Raw)
		all.WriteString(f.URL)
		if f.Note != nil {
			all.Write(f.Note.JSON())
		}
		for name, values := range f.Header {
			all.WriteString(name + strings.Join(values, " "))
		}
	}
	secrets := u.Secrets()
	for _, secret := range secrets {
		if secret != "" && (strings.Contains(all.String(), secret) || strings.Contains(all.String(), url.QueryEscape(secret))) {
			u.t.Errorf("the log has the secret %q", secret)
		}
	}
	if len(secrets) < 3 {
		u.t.Errorf("only %d secrets were looked for", len(secrets))
	}
}

func TestSignIn(t *testing.T) {
	u := newUser(t, newWorld(t), signin.Config{}, signin.DeskConfig{})
	u.visits()
	if status, err := u.get(t.Context()); err != nil || status != http.StatusNoContent {
		t.Fatalf("the request ended with %d, %v", status, err)
	}
	a, _ := u.flow.Attempt()
	if a.State != signin.Done || a.Registration != signin.Dynamic || a.Issuer != u.Issuer.URL || a.Resource != u.Resource.URL+"/mcp" || a.ClientID != "client-1" {
		t.Errorf("the attempt is %+v", a)
	}
	want := "[resource metadata authorization server metadata client registration authorization redirect token]"
	if got := join(u.steps()); got != want {
		t.Errorf("the steps are %s, want %s", got, want)
	}
	u.noSecrets()
}

// TestSignInToTheLetter signs in where addresses have slashes, challenges have spaces or cannot be
// read, and a client gets a secret that it must not send.
func TestSignInToTheLetter(t *testing.T) {
	t.Parallel()
	slash := func(w *world) {
		w.Metadata["authorization_servers"] = []string{w.Issuer.URL + "/"}
	}
	cases := []struct {
		name     string
		spoil    func(*world)
		revision string
		why      string // of a failure; "" for none
	}{
		{"an issuer with a slash", func(w *world) {
			slash(w)
			w.Server["issuer"], w.Iss = w.Issuer.URL+"/", w.Issuer.URL+"/"
		}, "2026-07-28", ""},
		{"an issuer that differs by a slash", slash, "2025-11-25", ""},
		{"the same in 2026-07-28", slash, "2026-07-28", "must be identical, to the slash"},
		{"spaces in the challenge", func(w *world) {
			w.Challenge = `Bearer error = "invalid_token" , scope = "a = b", resource_metadata ="` + w.Resource.URL + `/.well-known/oauth-protected-resource/mcp"`
		}, "", ""},
		{"a challenge that cannot be read", func(w *world) { w.Challenge = `Bearer resource_metadata` }, "", ""},
		{"a secret of nobody", func(w *world) { w.Registered = map[string]any{"client_secret": w.Secret("client-")} }, "", ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			c.spoil(w)
			u := newUser(t, w, signin.Config{}, signin.DeskConfig{})
			u.revision = c.revision
			u.visits()
			status, err := u.get(t.Context())
			a, _ := u.flow.Attempt()
			if c.why == "" && (err != nil || status != http.StatusNoContent) || c.why != "" && (err == nil || !strings.Contains(a.Why, c.why)) {
				t.Errorf("it ended with %d, %v: %s", status, err, a.Why)
			}
			for _, asked := range w.Requests() {
				if strings.HasSuffix(asked, "/") || strings.Contains(asked, "secret") {
					t.Errorf("it sent %s", asked)
				}
			}
		})
	}
}

func join(steps []wire.Step) string {
	var words []string
	for _, s := range steps {
		words = append(words, s.String())
	}
	return "[" + strings.Join(words, " ") + "]"
}

// A sign-in that ends without a token names the step and the reason.
func TestFailures(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name  string
		spoil func(*world)
		step  wire.Step
		why   string
	}{
		{"another resource", func(w *world) { w.Metadata["resource"] = "https://other.example/mcp" }, wire.StepResource, "the resource https://other.example/mcp, and not of"},
		{"no authorization server", func(w *world) { delete(w.Metadata, "authorization_servers") }, wire.StepResource, "no authorization servers"},
		{"an unsafe authorization server", func(w *world) { w.Metadata["authorization_servers"] = []string{"http://as.example"} }, wire.StepResource, "neither https"},
		{"another issuer", func(w *world) { w.Server["issuer"] = "https://evil.example" }, wire.StepServer, "the issuer is"},
		{"no PKCE", func(w *world) { delete(w.Server, "code_challenge_methods_supported") }, wire.StepServer, "PKCE"},
		{"no registration", func(w *world) { delete(w.Server, "registration_endpoint") }, wire.StepRegistration, "give its id with --oauth-client-id"},
		{"iss is not the issuer", func(w *world) { w.Iss = "https://evil.example" }, wire.StepRedirect, `issuer "https://evil.example" does not match`},
		{"access denied", func(w *world) { w.Denied = "access_denied" }, wire.StepRedirect, "access_denied"},
		{"no token", func(w *world) {
			w.Token = func(url.Values) (int, map[string]any) {
				return http.StatusBadRequest, map[string]any{"error": "invalid_grant", "error_description": "too late"}
			}
		}, wire.StepToken, "HTTP 400: invalid_grant: too late"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			c.spoil(w)
			u := newUser(t, w, signin.Config{}, signin.DeskConfig{})
			u.visits()
			_, err := u.get(t.Context())
			a, _ := u.flow.Attempt()
			if err == nil || a.State != signin.Failed || a.FailedAt != c.step || !strings.Contains(a.Why, c.why) {
				t.Errorf("the sign-in ended with %v at %q: %q\n%v", a.State, a.FailedAt, a.Why, err)
			}
			asked := map[string]bool{}
			for _, taken := range a.Steps {
				if document := taken.Step == wire.StepResource || taken.Step == wire.StepServer; document && asked[taken.URL] {
					t.Errorf("%s is asked for twice", taken.URL)
				}
				asked[taken.URL] = true
			}
			if c.step == wire.StepToken {
				u.noSecrets()
			}
		})
	}
}

// A server elsewhere may not have the inspector ask what is on this machine.
func TestRemoteServerNamesThisMachine(t *testing.T) {
	t.Parallel()
	for _, place := range []string{"http://127.0.0.1:1/metadata", "https://localhost/metadata", "https://a.localhost./metadata", "https://[::1]/metadata"} {
		desk := signin.NewDesk(signin.DeskConfig{})
		flow := desk.Flow("key", "remote", "https://server.example/mcp", signin.Config{})
		req := httptest.NewRequest(http.MethodPost, "https://server.example/mcp", nil)
		refused := &http.Response{StatusCode: http.StatusUnauthorized, Request: req, Body: http.NoBody, Header: http.Header{
			"Www-Authenticate": {`Bearer resource_metadata="` + place + `"`},
		}}
		err := flow.SignIn(t.Context(), refused, false, func(wire.Frame) {})
		if a, _ := flow.Attempt(); err == nil || a.FailedAt != wire.StepResource || !strings.Contains(a.Why, "is on this machine") {
			t.Errorf("%s: the sign-in ended with %v", place, err)
		}
	}
}

// waits calls then as soon as the sign-in is in a state.
func (u *user) waits(in signin.State, then func()) {
	var once sync.Once
	stop := u.desk.Watch(func(f *signin.Flow) {
		if a, _ := f.Attempt(); a.State == in {
			once.Do(func() { go then() })
		}
	})
	u.t.Cleanup(stop)
}

// A person may end a sign-in, and a connection that goes withdraws it.
func TestEnds(t *testing.T) {
	t.Parallel()
	cases := map[signin.State]func(*user, context.CancelFunc){
		signin.Declined:  func(u *user, _ context.CancelFunc) { _ = u.flow.Decline() },
		signin.Cancelled: func(u *user, _ context.CancelFunc) { _ = u.flow.Cancel() },
		signin.Withdrawn: func(_ *user, gone context.CancelFunc) { gone() },
	}
	for state, end := range cases {
		u := newUser(t, newWorld(t), signin.Config{}, signin.DeskConfig{})
		ctx, gone := context.WithCancel(t.Context())
		u.waits(signin.Waiting, func() { end(u, gone) })
		if _, err := u.get(ctx); err == nil {
			t.Errorf("%s: there is no error", state)
		}
		gone()
		a, _ := u.flow.Attempt()
		if a.State != state || !a.State.Over() || a.Ended.IsZero() {
			t.Errorf("the sign-in is %s, want %s", a.State, state)
		}
		if _, waits := u.flow.Open(); waits || u.flow.Decline() == nil {
			t.Errorf("%s: the sign-in still waits for a person", state)
		}
	}
}

// Requests that are refused at the same time lead to one sign-in.
func TestTogether(t *testing.T) {
	t.Parallel()
	u := newUser(t, newWorld(t), signin.Config{}, signin.DeskConfig{})
	u.visits()
	var all sync.WaitGroup
	for range 5 {
		all.Go(func() {
			if status, err := u.get(t.Context()); err != nil || status != http.StatusNoContent {
				t.Errorf("a request ended with %d, %v", status, err)
			}
		})
	}
	all.Wait()
	if a, _ := u.flow.Attempt(); a.Number != 1 {
		t.Errorf("there were %d sign-ins", a.Number)
	}
}

// A request that went out before there was a token, and is refused afterwards, goes out
// again with the token, and leads to no sign-in of its own.
func TestRefusedLate(t *testing.T) {
	t.Parallel()
	u := newUser(t, newWorld(t), signin.Config{}, signin.DeskConfig{})
	u.visits()
	early, err := http.Get(u.Resource.URL + "/mcp")
	if err != nil {
		t.Fatal(err)
	}
	early.Body.Close()
	if status, err := u.get(t.Context()); err != nil || status != http.StatusNoContent {
		t.Fatalf("the request ended with %d, %v", status, err)
	}
	if err := u.flow.SignIn(t.Context(), early, false, u.logged); err != nil {
		t.Error(err)
	}
	if a, _ := u.flow.Attempt(); a.Number != 1 {
		t.Errorf("there were %d sign-ins", a.Number)
	}
}

// A token that is expired or revoked is refreshed, and the client is registered once.
func TestRefresh(t *testing.T) {
	t.Parallel()
	u := newUser(t, newWorld(t), signin.Config{}, signin.DeskConfig{})
	u.visits()
	get := func() {
		t.Helper()
		if status, err := u.get(t.Context()); err != nil || status != http.StatusNoContent {
			t.Fatalf("the request ended with %d, %v", status, err)
		}
	}
	get()
	if err := u.flow.Expire(); err != nil {
		t.Fatal(err)
	}
	get()
	u.Revoke()
	get()
	if err := u.flow.SignOut(true); err != nil {
		t.Fatal(err)
	}
	get()
	want := "[resource metadata authorization server metadata client registration authorization redirect token token refresh token refresh " +
		"resource metadata authorization server metadata authorization redirect token]"
	if got := join(u.steps()); got != want {
		t.Errorf("the steps are %s, want %s", got, want)
	}
	u.noSecrets()
}

// The callback takes nothing but a state that is awaited, once.
func TestCallback(t *testing.T) {
	t.Parallel()
	desk := signin.NewDesk(signin.DeskConfig{})
	for _, c := range []struct {
		method, target string
		status         int
	}{
		{http.MethodGet, "/oauth/callback?code=x&state=unknown", http.StatusBadRequest},
		{http.MethodGet, "/oauth/callback", http.StatusBadRequest},
		{http.MethodPost, "/oauth/callback?code=x&state=unknown", http.StatusNotFound},
		{http.MethodGet, "/other", http.StatusNotFound},
		{http.MethodGet, "/oauth/callback?state=" + strings.Repeat("x", 20<<10), http.StatusNotFound},
	} {
		w := httptest.NewRecorder()
		desk.ServeHTTP(w, httptest.NewRequest(c.method, c.target, nil))
		if w.Code != c.status || strings.Contains(w.Body.String(), "unknown") {
			t.Errorf("%s %.40s: %d %s", c.method, c.target, w.Code, w.Body)
		}
	}
}
