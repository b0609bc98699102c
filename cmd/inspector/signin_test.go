package main

import (
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"testing"

	faulted "elicitation-inspector/bridge/testdata/protected"
)

// A transcript has the steps of a sign-in in order, without their secrets.
func TestCallSignsIn(t *testing.T) {
	t.Parallel()
	w := watch(t)
	c := w.signInAndCall(t, faulted.Variant{})
	if c.code != 0 {
		t.Fatalf("exit code %d\n%s", c.code, c.err)
	}
	text := c.outputs["flow.jsonl"]
	at := 0
	for _, step := range []string{"resource-metadata", "authorization-metadata", "registration", "authorization", "redirect", "token"} {
		next := strings.Index(text[at:], `"step":"`+step+`"`)
		if next < 0 {
			t.Fatalf("the transcript does not have %s after what comes before it:\n%s", step, text)
		}
		at += next
	}
	for _, kept := range []string{w.URL + "/mcp", `"sub":"Robin"`, "code_challenge_method=S256"} {
		if !strings.Contains(text, kept) {
			t.Errorf("the transcript does not have %q", kept)
		}
	}
}

func TestCallWithoutAPerson(t *testing.T) {
	t.Parallel()
	w := watch(t)
	service := serviceFlags(t)
	token := w.token(t)
	cases := []struct {
		name string
		args []string
		code int
		err  string
	}{
		{"client credentials", append([]string{"call", "who_am_i"}, service...), 0, ""},
		{"a token", []string{"call", "who_am_i", "--header", "Authorization: Bearer " + token}, 0, ""},
		{"check, client credentials", append([]string{"check", "--quiet", "--format", "junit", "who_am_i"}, service...), exitAskedNothing, ""},
		{"check as SARIF", append([]string{"check", "--format", "sarif", "who_am_i"}, service...), exitAskedNothing, ""},
		{"check, a token", []string{"check", "--quiet", "--format", "html", "--header", "Authorization: Bearer " + token, "who_am_i"}, exitAskedNothing, ""},
		{"nobody", []string{"call", "who_am_i", "--no-input"}, exitConnect, "signing in failed at the authorization: a person must sign in"},
		{"no sign-in", []string{"call", "who_am_i", "--no-oauth"}, exitConnect, "Give a token with --header"},
		{"a wrong token", []string{"call", "who_am_i", "--header", "Authorization: Bearer wrong-token"}, exitConnect, "is not accepted"},
		{"no secret", []string{"call", "who_am_i", "--oauth-client-secret-file", "nowhere", "--oauth-client-id", "ci"}, exitUsage, "--oauth-client-secret-file: open nowhere"},
		{"a key that is none", []string{"call", "who_am_i", "--oauth-client-key-file", service[3], "--oauth-client-id", "ci"}, exitUsage, "no PEM block"},
		{"a secret without id", []string{"call", "who_am_i", "--oauth-client-secret-file", service[3]}, exitUsage, "needs a client id"},
		{"list, client credentials", append([]string{"list"}, service...), 0, ""},
		{"list, a token", []string{"list", "--header", "Authorization: Bearer " + token}, 0, ""},
		{"list, nobody", []string{"list"}, exitConnect, "signing in failed at the authorization: a person must sign in"},
		{"list, nobody comes", []string{"list", "--oauth-wait", "1ms"}, exitConnect, "nobody signed in within 1ms (--oauth-wait)"},
		{"call, no terminal", []string{"call", "who_am_i"}, exitConnect, "a person must sign in, and this command does not wait for one: --oauth-wait"},
		{"check, nobody comes", []string{"check", "--quiet", "--oauth-wait", "1ms", "who_am_i"}, exitConnect, "nobody signed in within 1ms"},
		{"check, nobody", []string{"check", "--quiet", "who_am_i"}, exitConnect, "a person must sign in"},
	}
	for _, c := range cases {
		got := inspectorRun(t, append(c.args, w.URL+"/mcp")...)
		if got.code != c.code || !strings.Contains(got.err, c.err) {
			t.Errorf("%s: exit code %d, want %d\n%s\n%s", c.name, got.code, c.code, got.out, got.err)
		}
		holds(t, c.name, got.out+got.err, w.Secrets())
	}
}

// token returns a token for the service's credentials.
func (w guarded) token(t *testing.T) string {
	t.Helper()
	res, err := http.PostForm(w.URL+"/auth/tokens", url.Values{
		"grant_type": {"client_credentials"}, "client_id": {faulted.ServiceID}, "client_secret": {faulted.ServiceSecret},
		"scope": {"demo.use"}, "resource": {w.URL + "/mcp"},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var said struct {
		AccessToken string `json:"access_token"`
	}
	if err := json.NewDecoder(res.Body).Decode(&said); err != nil || said.AccessToken == "" {
		t.Fatalf("there is no token: %s %v", res.Status, err)
	}
	return said.AccessToken
}

// A call with a token in the system's keyring needs no person.
func TestKeptToken(t *testing.T) {
	t.Parallel()
	w := watch(t)
	server := w.URL + "/mcp"
	kept, err := json.Marshal(map[string]any{"resource": server, "token": map[string]any{"access_token": w.token(t), "token_type": "Bearer"}})
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		code int
	}{
		{[]string{"call", "who_am_i"}, 0},
		{[]string{"call", "transfer_money"}, exitConnect}, // the token lacks a scope, and nobody can grant it
		{[]string{"list"}, 0},
		{[]string{"check", "--quiet", "who_am_i"}, exitAskedNothing}, // signed in, and asked nothing
	} {
		cmd := exec.CommandContext(t.Context(), self, append(c.args, "--oauth-keep", server)...)
		cmd.Env = append(os.Environ(), asInspector+"=1", inKeyring+"="+server+" "+string(kept))
		out, _ := cmd.CombinedOutput() // the exit code is checked
		if code := cmd.ProcessState.ExitCode(); code != c.code {
			t.Errorf("%s: exit code %d, want %d\n%s", c.args, code, c.code, out)
		}
		holds(t, c.args[0], string(out), w.Secrets())
	}
}

// holds fails the test if an output contains one of the secrets.
func holds(t *testing.T, name, out string, secrets []string) {
	t.Helper()
	for _, s := range secrets {
		for _, form := range []string{s, url.QueryEscape(s)} {
			if at := strings.Index(out, form); at >= 0 {
				t.Errorf("%s holds %q: …%s…", name, form, out[max(at-80, 0):min(at+80, len(out))])
				break
			}
		}
	}
}
