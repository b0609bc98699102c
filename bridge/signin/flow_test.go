package signin_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"elicitation-inspector/bridge/signin"
	"elicitation-inspector/bridge/wire"
)

// user signs in to a world with a flow, and keeps the frames that are logged.
type user struct {
	*world
	desk *signin.Desk
	flow *signin.Flow
	log  *wire.Log
}

func newUser(t *testing.T, w *world, c signin.Config, d signin.DeskConfig) *user {
	t.Helper()
	log, err := wire.NewLog(wire.Options{})
	if err != nil {
		t.Fatal(err)
	}
	u := &user{world: w, desk: signin.NewDesk(d), log: log}
	log.Mask(u.desk.Masked)
	t.Cleanup(func() {
		if err := errors.Join(u.desk.Close(), log.Close()); err != nil {
			t.Error(err)
		}
	})
	if u.flow = u.desk.Flow("key", "protected", w.resource.URL+"/mcp", c); u.flow == nil {
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
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.resource.URL+"/mcp", nil)
		if err != nil {
			return 0, err
		}
		if token := u.flow.Token(ctx, u.logged); token != "" {
			req.Header.Set("Authorization", "Bearer "+token)
		}
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
	u.world.mu.Lock()
	defer u.world.mu.Unlock()
	secrets := u.world.secrets
	for _, form := range u.world.forms {
		secrets = append(secrets, form.Get("code_verifier"))
	}
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
	if a.State != signin.Done || a.Registration != signin.Dynamic || a.Issuer != u.issuer.URL || a.Resource != u.resource.URL+"/mcp" || a.ClientID != "client-1" {
		t.Errorf("the attempt is %+v", a)
	}
	want := "[resource metadata authorization server metadata client registration authorization redirect token]"
	if got := join(u.steps()); got != want {
		t.Errorf("the steps are %s, want %s", got, want)
	}
	u.noSecrets()
}

func join(steps []wire.Step) string {
	var words []string
	for _, s := range steps {
		words = append(words, s.String())
	}
	return "[" + strings.Join(words, " ") + "]"
}
