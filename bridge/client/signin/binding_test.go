package signin_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"elicitation-inspector/bridge/client/headless"
	"elicitation-inspector/bridge/client/live"
	"elicitation-inspector/bridge/client/target"
	"elicitation-inspector/bridge/meaning/conversation"

	"elicitation-inspector/bridge/client/signin"
	"elicitation-inspector/bridge/wire"
)

// kept returns a frame of a server as the log keeps it.
func (u *user) kept(server, raw string) string {
	return string(u.log.Append(wire.Frame{Dir: wire.ServerToClient, Server: server, Session: "s-2", Transport: "http", Raw: []byte(raw)}).Raw)
}

// signsIn signs in, and fails the test if that fails.
func (u *user) signsIn() {
	u.t.Helper()
	if status, err := u.get(u.t.Context()); err != nil || status != http.StatusNoContent {
		u.t.Fatalf("the request ended with %d, %v", status, err)
	}
}

// token returns the first access token that was given out.
func (w *world) token() string {
	secrets := w.Secrets()
	return secrets[slices.IndexFunc(secrets, func(s string) bool { return strings.Count(s, ".") == 2 })]
}

// Of a sign-in, only what is a secret by its name is masked elsewhere, and it changes no
// message's form.
func TestOnlySecretsAreMaskedElsewhere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Token = func(form url.Values) (int, map[string]any) {
		status, body := w.GiveToken(form)
		body["environment"], body["deep"] = "production", map[string]any{"access_token": "staging-and-more-of-it"}
		body["id_token"], body["refresh_token"] = "requestedSchema", "elicitation/create"
		return status, body
	}
	u := newUser(t, w, signin.Config{}, signin.DeskConfig{})
	u.visits()
	u.signsIn()
	honest := `{"jsonrpc":"2.0","id":"elicitation/create","method":"elicitation/create","params":{"message":"Where to? requestedSchema","requestedSchema":{"type":"object","properties":{"environment":{"type":"string","enum":["production","staging-and-more-of-it"]}}}}}`
	for _, server := range []string{"other", "protected"} {
		got := u.kept(server, honest)
		want := honest
		if server == "protected" { // what it gives as a secret is masked in its own texts
			want = strings.Replace(honest, "Where to? requestedSchema", "Where to? [REDACTED]", 1)
		}
		if got != want {
			t.Errorf("%s: the log has\n%s, want\n%s", server, got, want)
		}
	}
	if got := u.kept("other", `{"jsonrpc":"2.0","method":"m","params":{"said":"`+w.token()+`"}}`); strings.Contains(got, w.token()) {
		t.Errorf("another server's frame has a token: %s", got)
	}
}

// What one authorization server sends does not push out the tokens of another.
func TestJunkPushesNoTokenOut(t *testing.T) {
	t.Parallel()
	flood := newWorld(t)
	flood.Token = func(form url.Values) (int, map[string]any) {
		status, body := flood.GiveToken(form)
		junk := make([]string, 55_000)
		for i := range junk {
			junk[i] = fmt.Sprintf("junk-%06d", i)
		}
		body["junk"] = junk
		return status, body
	}
	u := newUser(t, flood, signin.Config{}, signin.DeskConfig{})
	u.visits()
	u.signsIn()
	w := newWorld(t)
	other := &user{world: w, t: t, desk: u.desk, log: u.log, flow: u.desk.Flow("other", "other", w.Resource.URL+"/mcp", signin.Config{})}
	other.signsIn()
	for _, secret := range other.Secrets() {
		if got := other.kept("other", `{"jsonrpc":"2.0","method":"m","params":{"said":"`+secret+`"}}`); strings.Contains(got, secret) {
			t.Errorf("a frame has the secret: %s", got)
		}
	}
}

// moves makes the resource name another authorization server.
func (w *world) moves(to *world) {
	w.Metadata["authorization_servers"] = []string{to.Issuer.URL}
}

// A client belongs to the issuer that has registered it: another one gets a new
// registration, even where it names the same endpoint.
func TestAnotherIssuerRegistersAnew(t *testing.T) {
	t.Parallel()
	w, evil := newWorld(t), newWorld(t)
	u := newUser(t, w, signin.Config{}, signin.DeskConfig{})
	u.visits()
	u.signsIn()
	w.moves(evil)
	evil.Server["registration_endpoint"] = w.Issuer.URL + "/register"
	w.Revoke()
	if err := u.flow.SignOut(false); err != nil {
		t.Fatal(err)
	}
	_, _ = u.get(t.Context()) // evil's codes are for another resource, so this fails at the token
	registrations := 0
	for _, asked := range w.Requests() {
		if asked == "POST /register" {
			registrations++
		}
	}
	if registrations != 2 || !slices.Contains(evil.Requests(), "POST /token") {
		t.Errorf("there were %d registrations, and the other issuer saw %q", registrations, evil.Requests())
	}
}

// A configured client is made known only to the issuer that it belongs to.
func TestConfiguredClientStaysWithItsIssuer(t *testing.T) {
	t.Parallel()
	w, evil := newWorld(t), newWorld(t)
	u := newUser(t, w, signin.Config{ClientID: "ours", ClientSecret: "our-secret-4711"}, signin.DeskConfig{})
	u.visits()
	u.signsIn()
	w.moves(evil)
	w.Revoke()
	refused := func(u *user) {
		t.Helper()
		_, err := u.get(t.Context())
		a, _ := u.flow.Attempt()
		if err == nil || a.FailedAt != wire.StepServer || !strings.Contains(a.Why, "belongs to the authorization server "+w.Issuer.URL) {
			t.Errorf("the sign-in ended with %v at %q: %q", err, a.FailedAt, a.Why)
		}
	}
	if err := u.flow.SignOut(false); err != nil {
		t.Fatal(err)
	}
	refused(u)
	second := newUser(t, w, signin.Config{ClientID: "ours", ClientSecret: "our-secret-4711", Issuer: w.Issuer.URL}, signin.DeskConfig{Headless: true})
	refused(second)
	for _, asked := range evil.Requests() {
		if strings.HasPrefix(asked, "POST") || strings.Contains(asked, "authorize") {
			t.Errorf("the other issuer saw %s", asked)
		}
	}
}

// Signing out does not wait for a sign-in that waits for a person.
func TestSignOutWhileAPersonSignsIn(t *testing.T) {
	t.Parallel()
	u := newUser(t, newWorld(t), signin.Config{}, signin.DeskConfig{})
	out := make(chan error, 1)
	u.waits(signin.Waiting, func() {
		out <- u.flow.SignOut(false)
		_ = u.flow.Cancel()
	})
	if _, err := u.get(t.Context()); err == nil {
		t.Error("the sign-in was not cancelled")
	}
	if err := <-out; !errors.Is(err, signin.ErrUnderWay) {
		t.Errorf("signing out ended with %v", err)
	}
}

// echoing asks with the token of the request that opened the session.
func echoing(r *http.Request, answered chan<- any) *mcp.Server {
	token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	s := mcp.NewServer(&mcp.Implementation{Name: "guarded", Version: "1"}, nil)
	mcp.AddTool(s, &mcp.Tool{Name: "ask"}, func(ctx context.Context, req *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
		answer, err := req.Session.Elicit(ctx, &mcp.ElicitParams{Message: "Is it " + token + "?", RequestedSchema: map[string]any{
			"type": "object", "properties": map[string]any{"which": map[string]any{"type": "string", "title": "not " + token, "enum": []string{token, "none"}, "default": token}},
		}})
		if err == nil {
			answered <- answer.Content["which"]
		}
		return &mcp.CallToolResult{}, nil, err
	})
	return s
}

// A token that a server repeats in a question is masked where the question is shown, and
// is in the answer that chooses it.
func TestTokensInQuestionsAreMasked(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	answered := make(chan any, 1)
	w.Inner = mcp.NewStreamableHTTPHandler(func(r *http.Request) *mcp.Server { return echoing(r, answered) }, nil)
	in := inspect(t, w, conversation.ClientSettings{Protocol: "2025-11-25"})
	id := in.Servers()[0].ID
	visit(t, <-in.asked)
	in.until(func() bool { s, err := in.Server(id); return err != nil || s.State == conversation.ServerReady })
	if _, err := in.Begin(live.Request{Server: id, Kind: conversation.Tool, Name: "ask", Key: "ask"}); err != nil {
		t.Fatal(err)
	}
	in.until(func() bool { return len(in.Questions()) > 0 })
	q := in.Questions()[0]
	token := w.token()
	if q.Request == nil || q.Request.Message != "Is it [REDACTED]?" || q.Request.Fields[0].Label != "not [REDACTED]" || strings.Contains(string(q.Params), token) {
		t.Fatalf("the question shows %s", q.Params)
	}
	if err := in.Answer(q.Number, live.Answer{Action: "accept", Content: []byte(`{"which":"[REDACTED]"}`), Actor: conversation.ByPerson}); err != nil {
		t.Fatal(err)
	}
	if got := <-answered; got != token {
		t.Errorf("the server got %v, want the token", got)
	}
	if q, err := in.Question(q.Number); err != nil || strings.Contains(string(q.Answer), token) {
		t.Errorf("the answer shows %s, %v", q.Answer, err)
	}
}

// A question that nothing answers is reported without the token that it repeats.
func TestTokensInUnansweredQuestionsAreMasked(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Inner = mcp.NewStreamableHTTPHandler(func(r *http.Request) *mcp.Server { return echoing(r, make(chan any, 1)) }, nil)
	desk := signin.NewDesk(signin.DeskConfig{Headless: true, Tell: func(_, address string) { go visit(t, address) }})
	s, err := headless.Open(t.Context(), headless.Config{
		Target: target.Spec{Name: "guarded", URL: w.Resource.URL + "/mcp"}, SignIns: desk, Settings: conversation.ClientSettings{Protocol: "2025-11-25"},
	})
	if err != nil {
		t.Fatal(err)
	}
	out, err := s.Call(t.Context(), headless.Call{Kind: conversation.Tool, Key: "ask"})
	if err != nil || len(out.Unanswered) != 1 {
		t.Fatalf("the call ended with %+v, %v", out, err)
	}
	if q := out.Unanswered[0].Question; q.Request.Message != "Is it [REDACTED]?" || !strings.Contains(string(q.Params), `"enum":["[REDACTED]","none"]`) {
		t.Errorf("the question shows %s", q.Params)
	}
	if err := errors.Join(s.Close(), desk.Close()); err != nil {
		t.Error(err)
	}
}
