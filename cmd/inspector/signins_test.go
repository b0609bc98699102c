package main

import (
	"bufio"
	"html"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"elicitation-inspector/bridge/meaning/lint"
	faulted "elicitation-inspector/bridge/testdata/protected"
	"elicitation-inspector/bridge/testdata/protectedtest"
	"elicitation-inspector/bridge/wire"
)

// guarded is the demo server behind OAuth, which collects the secrets that it exchanges.
type guarded struct{ *protectedtest.Server }

func watch(t *testing.T) guarded { return guarded{protectedtest.New(t)} }

var hiddenField = regexp.MustCompile(`name="request" value="(\w+)"`)

// allow opens an authorization URL, presses Allow, and follows the redirect to the inspector,
// like a person. It returns the text of the inspector's page.
func allow(address string) (status int, text string, err error) {
	res, err := http.Get(address) // a refusal redirects without a choice
	if err != nil {
		return 0, "", err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if m := hiddenField.FindSubmatch(body); m != nil && err == nil {
		res, err = http.PostForm(address, url.Values{"request": {string(m[1])}, "choice": {"allow"}, "user": {"Robin"}})
		if err != nil {
			return 0, "", err
		}
		defer res.Body.Close()
		body, err = io.ReadAll(res.Body)
	}
	return res.StatusCode, string(body), err
}

// attempted is the outcome of a call, with everything that the inspector wrote.
type attempted struct {
	code     int
	err      string
	broken   string // the rules that the transcript breaks, separated by spaces
	outputs  map[string]string
	callback string // text of the page that the browser is redirected to
}

// signInAndCall calls a tool of a variant of the server, and signs in if the inspector asks for
// it.
func (w guarded) signInAndCall(t *testing.T, v faulted.Variant, flags ...string) attempted {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	record := filepath.Join(dir, "flow.jsonl")
	tool := "who_am_i"
	if v.Step == faulted.StepUp {
		tool = faulted.StepUpTool
	}
	args := append([]string{"call", tool, "--protocol", "2025-11-25", "--timeout", "10s", "--oauth-wait", "1m", "--record", record}, flags...)
	cmd := exec.CommandContext(t.Context(), self, append(args, w.URL+v.Path())...)
	cmd.Env = append(os.Environ(), asInspector+"=1", "TMPDIR="+dir)
	var out strings.Builder
	cmd.Stdout = &out
	pipe, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	var c attempted
	var said strings.Builder
	for in := bufio.NewScanner(pipe); in.Scan(); {
		if !strings.HasPrefix(in.Text(), w.URL) || !strings.Contains(in.Text(), "/consent?") {
			said.WriteString(in.Text() + "\n")
			continue
		}
		status, text, err := allow(in.Text())
		if err != nil {
			t.Error(err)
		}
		if c.callback = text; status >= 400 {
			_ = cmd.Process.Signal(os.Interrupt) // the inspector waits for a usable answer
		}
	}
	_ = cmd.Wait() // the exit code is checked
	c.code, c.err = cmd.ProcessState.ExitCode(), said.String()
	c.outputs = map[string]string{"standard output": out.String(), "standard error": c.err, "the callback page": c.callback}
	if v.Name == "" {
		for _, format := range []string{"html", "markdown", "har", "mermaid", "json", "jsonl"} {
			exported := inspectorRun(t, "export", record, "--format", format)
			if c.outputs["export "+format] = exported.out + exported.err; exported.code != 0 || exported.out == "" {
				t.Errorf("%s: exit code %d\n%s", format, exported.code, exported.err)
			}
		}
	}
	c.broken = rulesIn(t, record)
	files, _ := filepath.Glob(filepath.Join(dir, "*"))
	for _, path := range files {
		raw, _ := os.ReadFile(path)
		c.outputs[filepath.Base(path)] = string(raw)
	}
	return c
}

// refusals holds, for each variant that must fail, the step at which the call fails and a part of
// the reason.
var refusals = map[string][2]string{
	"resource-metadata-missing":   {"resource metadata", "404"},
	"resource-metadata-elsewhere": {"resource metadata", "404"},
	"resource-mismatch":           {"resource metadata", "/other"},
	"no-authorization-server":     {"resource metadata", "authorization server"},
	"resource-metadata-invalid":   {"resource metadata", "JSON"},
	"resource-metadata-huge":      {"resource metadata", "bytes"},
	"server-metadata-missing":     {"authorization server metadata", "404"},
	"issuer-mismatch":             {"authorization server metadata", "https://elsewhere.example"},
	"s256-missing":                {"authorization server metadata", "S256"},
	"pkce-missing":                {"authorization server metadata", "PKCE"},
	"http-endpoints":              {"authorization server metadata", "http://elsewhere.example"},
	"server-metadata-invalid":     {"authorization server metadata", ""},
	"server-metadata-huge":        {"authorization server metadata", "bytes"},
	"registration-refused":        {"client registration", "Registration is closed."},
	"registration-empty":          {"client registration", "client_id"},
	"scope-refused":               {"redirect", "invalid_scope"},
	"denied":                      {"redirect", "access_denied"},
	"iss-missing":                 {"redirect", "iss"},
	"iss-wrong":                   {"redirect", "https://elsewhere.example"},
	"token-refused":               {"token", "invalid_grant"},
	"token-unavailable":           {"token", "503"},
	"token-redirected":            {"token", "307"},
	"token-invalid":               {"token", ""},
	"token-huge":                  {"token", "bytes"},
	"token-type":                  {"token", "mac"},
	"audience-wrong":              {"", "audience"},
	"step-up-unnamed":             {"", "403"},
	"step-up-endless":             {"", "403"},
}

// serviceFlags returns the flags of a client with its own credentials, which needs no person.
func serviceFlags(t *testing.T) []string {
	t.Helper()
	return []string{"--oauth-client-id", faulted.ServiceID, "--oauth-client-secret-file", write(t, "secret", faulted.ServiceSecret+"\n")}
}

// broken holds the rules that the linter finds broken in each variant, in the order of the
// frames, each once.
var broken = map[string]string{
	"challenge-missing":           "challenge-missing",
	"challenge-scheme":            "challenge-missing",
	"resource-metadata-missing":   "resource-metadata-missing",
	"resource-metadata-elsewhere": "resource-metadata-missing",
	"resource-mismatch":           "resource-mismatch",
	"resource-metadata-invalid":   "resource-metadata-invalid",
	"server-metadata-invalid":     "server-metadata-invalid",
	"no-authorization-server":     "authorization-server-missing",
	"server-metadata-missing":     "server-metadata-missing",
	"issuer-mismatch":             "issuer-mismatch",
	"s256-missing":                "s256-missing",
	"pkce-missing":                "s256-missing",
	"http-endpoints":              "endpoint-insecure",
	"iss-missing":                 "iss-mismatch",
	"iss-wrong":                   "iss-mismatch",
	"token-redirected":            "redirect-elsewhere",
	"step-up-unnamed":             "scope-unnamed",
}

// rulesIn returns the rules that a transcript breaks.
func rulesIn(t *testing.T, path string) string {
	t.Helper()
	log, err := wire.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	if err := log.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	found, _, err := lint.FindingsOf(t.Context(), log)
	if err != nil {
		t.Fatal(err)
	}
	var rules []string
	for _, f := range found {
		if !slices.Contains(rules, f.Rule) {
			rules = append(rules, f.Rule)
		}
	}
	return strings.Join(rules, " ")
}

func (w guarded) judge(t *testing.T, v faulted.Variant, c attempted) {
	t.Helper()
	switch refusal, fails := refusals[v.Name]; {
	case v.Name == "state-wrong":
		if c.code == 0 || c.callback == "" {
			t.Errorf("exit code %d, and the callback page said %q", c.code, c.callback)
		}
	case !fails && c.code != 0:
		t.Errorf("exit code %d:\n%s", c.code, c.err)
	case fails && c.code == 0:
		t.Error("the call succeeded")
	case fails && (refusal[0] != "" && !strings.Contains(c.err, "failed at the "+refusal[0]+":") || !strings.Contains(html.UnescapeString(c.err), refusal[1])):
		t.Errorf("want %q and %q in\n%s", refusal[0], refusal[1], c.err)
	}
	if c.broken != broken[v.Name] {
		t.Errorf("the linter finds %q broken, want %q", c.broken, broken[v.Name])
	}
	for name, text := range c.outputs {
		holds(t, name, text, w.Secrets())
	}
}
