package signin_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/zalando/go-keyring"

	"elicitation-inspector/bridge/client/signin"
)

// A token that is kept serves the next run, which needs no person, and can refresh it.
func TestKeep(t *testing.T) {
	keyring.MockInit()
	w := newWorld(t)
	first := newUser(t, w, signin.Config{Keep: true}, signin.DeskConfig{})
	first.visits()
	if _, err := first.get(t.Context()); err != nil {
		t.Fatal(err)
	}
	second := newUser(t, w, signin.Config{Keep: true}, signin.DeskConfig{Headless: true})
	if status, err := second.get(t.Context()); err != nil || status != http.StatusNoContent || len(second.steps()) != 0 {
		t.Errorf("with the token that is kept: %d, %v, %v", status, err, second.steps())
	}
	w.Revoke()
	if status, err := second.get(t.Context()); err != nil || status != http.StatusNoContent || join(second.steps()) != "[token refresh]" {
		t.Errorf("with a token that is refreshed: %d, %v, %v", status, err, second.steps())
	}
	second.noSecrets()
	if err := second.flow.SignOut(false); err != nil {
		t.Fatal(err)
	}
	third := newUser(t, w, signin.Config{Keep: true}, signin.DeskConfig{Headless: true})
	if _, err := third.get(t.Context()); err == nil {
		t.Error("the token is kept after signing out")
	}
}

// The client is not registered again in the next run.
func TestKeepsRegistration(t *testing.T) {
	keyring.MockInit()
	w := newWorld(t)
	var desk *signin.Desk
	page := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) { desk.ServeHTTP(rw, r) }))
	defer page.Close()
	for run, want := range []string{
		"[resource metadata authorization server metadata client registration authorization redirect token]",
		"[token refresh resource metadata authorization server metadata authorization redirect token]",
	} {
		u := newUser(t, w, signin.Config{Keep: true}, signin.DeskConfig{Page: page.URL})
		desk = u.desk
		u.visits()
		if status, err := u.get(t.Context()); err != nil || status != http.StatusNoContent || join(u.steps()) != want {
			t.Errorf("run %d: %d, %v, %v", run+1, status, err, u.steps())
		}
		u.noSecrets()
		w.Revoke()
		w.Token = func(form url.Values) (int, map[string]any) {
			if form.Get("grant_type") == "refresh_token" {
				return http.StatusBadRequest, map[string]any{"error": "invalid_grant"}
			}
			return w.GiveToken(form)
		}
	}
}

// Without a keyring, tokens stay in memory, and that is told.
func TestNoKeyring(t *testing.T) {
	keyring.MockInitWithError(errors.New("there is no keyring"))
	var said strings.Builder
	u := newUser(t, newWorld(t), signin.Config{Keep: true}, signin.DeskConfig{Warn: func(text string) { said.WriteString(text + "\n") }})
	u.visits()
	if status, err := u.get(t.Context()); err != nil || status != http.StatusNoContent {
		t.Errorf("the request ended with %d, %v", status, err)
	}
	if strings.Count(said.String(), "there is no keyring; it stays in memory") != 2 {
		t.Errorf("this was told:\n%s", said.String())
	}
}
