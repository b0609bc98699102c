package main

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"elicitation-inspector/bridge/signin/signintest"
)

// behindOAuth starts a protected MCP server with a tool that returns the headers of its
// request.
func behindOAuth(t *testing.T) *signintest.World {
	t.Helper()
	s := mcp.NewServer(&mcp.Implementation{Name: "protected", Version: "1"}, nil)
	mcp.AddTool(s, &mcp.Tool{Name: "whoami"}, func(_ context.Context, req *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
		text := "you sent " + req.Extra.Header.Get("Authorization")
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}, nil, nil
	})
	w := signintest.New(t)
	w.Inner = mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, nil)
	return w
}

// signingIn runs the inspector, and opens the address that it prints in place of a person.
func signingIn(t *testing.T, args ...string) ended {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var out, said strings.Builder
	cmd := exec.CommandContext(ctx, self, args...)
	cmd.Env, cmd.Stdout = append(os.Environ(), asInspector+"=1"), &out
	errOut, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewScanner(errOut); lines.Scan(); {
		said.WriteString(lines.Text() + "\n")
		if strings.HasPrefix(lines.Text(), "http://") {
			resp, err := http.Get(lines.Text())
			if err != nil {
				t.Fatal(err)
			}
			_, _ = io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
		}
	}
	_ = cmd.Wait() // the exit code is checked
	return ended{cmd.ProcessState.ExitCode(), out.String(), said.String()}
}

func TestCallSignsIn(t *testing.T) {
	t.Parallel()
	w := behindOAuth(t)
	file := filepath.Join(t.TempDir(), "signin.jsonl")
	got := signingIn(t, "call", "whoami", "--record", file, w.Resource.URL+"/mcp")
	if got.code != 0 || got.out != "you sent Bearer [REDACTED]\n" {
		t.Errorf("exit code %d\n%s\n%s", got.code, got.out, got.err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	at := 0
	for _, step := range []string{"resource-metadata", "authorization-metadata", "registration", "redirect", "token"} {
		next := strings.Index(string(text[at:]), `"step":"`+step+`"`)
		if next < 0 {
			t.Fatalf("the transcript does not have %s after what comes before it:\n%s", step, text)
		}
		at += next
	}
	secrets := w.Secrets()
	for _, secret := range secrets {
		if strings.Contains(string(text), secret) || strings.Contains(got.out, secret) || strings.Contains(got.err, secret) {
			t.Errorf("the secret %q is not masked", secret)
		}
	}
	if len(secrets) < 5 {
		t.Errorf("there are only %d secrets", len(secrets))
	}
	for _, kept := range []string{w.Resource.URL + "/mcp", `"sub":"mara"`, "code_challenge_method=S256"} {
		if !strings.Contains(string(text), kept) {
			t.Errorf("the transcript does not have %q", kept)
		}
	}
}

func TestCallWithoutAPerson(t *testing.T) {
	t.Parallel()
	w := behindOAuth(t)
	w.Server["grant_types_supported"] = []string{"client_credentials"}
	secret := write(t, "secret", w.Secret("client-secret-")+"\n")
	url := w.Resource.URL + "/mcp"
	cases := []struct {
		name string
		args []string
		code int
		err  string
	}{
		{"client credentials", []string{"--oauth-client-id", "ci", "--oauth-client-secret-file", secret}, 0, ""},
		{"nobody", []string{"--no-input"}, exitConnect, "signing in failed at the "},
		{"no sign-in", []string{"--no-oauth"}, exitConnect, "Give a token with --header"},
		{"a wrong token", []string{"--header", "Authorization: Bearer wrong-token"}, exitConnect, "is not accepted"},
		{"no secret", []string{"--oauth-client-secret-file", "nowhere", "--oauth-client-id", "ci"}, exitUsage, "--oauth-client-secret-file: open nowhere"},
		{"a secret without id", []string{"--oauth-client-secret-file", secret}, exitUsage, "needs a client id"},
	}
	for _, c := range cases {
		got := inspectorRun(t, append(append([]string{"call", "whoami"}, c.args...), url)...)
		if got.code != c.code || !strings.Contains(got.err, c.err) {
			t.Errorf("%s: exit code %d, want %d\n%s\n%s", c.name, got.code, c.code, got.out, got.err)
		}
	}
}
