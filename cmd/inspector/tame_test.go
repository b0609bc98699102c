// The race detector makes these tests several times slower: they run dozens of inspectors. Others run
// each subcommand with it.

//go:build !race

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// obeyed matches what a service that runs tests takes for a command.
var obeyed = regexp.MustCompile(`(?m)^\s*::(set-output|error)|##vso\[`)

// tame fails for a character that acts on a terminal, and for a command.
func tame(t *testing.T, what, text string, commands bool) {
	t.Helper()
	if !utf8.ValidString(text) {
		t.Errorf("%s: not UTF-8: %q", what, text)
	}
	for i, r := range text {
		if r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.In(r, unicode.Bidi_Control, unicode.Zl, unicode.Zp)) {
			t.Errorf("%s: %q in %q", what, r, text[max(0, i-200):min(len(text), i+40)])
			break
		}
	}
	if at := obeyed.FindStringIndex(text); commands && at != nil {
		t.Errorf("%s: a command in %q", what, text[max(0, at[0]-200):min(len(text), at[1]+40)])
	}
}

// TestNothingActsOnTheTerminal runs every subcommand with texts of a server that act on
// terminals, or that services which run tests take for commands. Only a transcript has the bytes
// of the wire.
func TestNothingActsOnTheTerminal(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	over := func(how string) []string { return []string{"--env", asHostile + "=" + how, "--", self} }
	server := over("serve")
	oddly := write(t, "odd.yaml", "default: {accept: valid}\nexpect: {result: other}\n")
	scenario := write(t, "scenario.yaml", fmt.Sprintf("target: {command: [%q], env: {%s: serve}}\ncalls:\n- {tool: act}\n- {tool: act, answers: [{answer: decline}], expect: {result: other}}\n- {tool: nothing}\n- {tool: act, answers: [{answer: decline}]}\n", self, asHostile))
	transcript := filepath.Join(t.TempDir(), "hostile.jsonl")
	recorded := inspectorRun(t, append([]string{"call", "act", "--record", transcript}, server...)...)
	tame(t, "an unanswered call", recorded.out+recorded.err, true)
	if recorded.code != exitUnanswered || !strings.Contains(recorded.err, `\u202e`) {
		t.Fatalf("the call ended with %d:\n%s", recorded.code, recorded.err)
	}
	text, err := os.ReadFile(transcript)
	if err != nil {
		t.Fatal(err)
	}
	other := write(t, "other.jsonl", strings.ReplaceAll(string(text), `"message":"`, `"message":"so `))
	for what, c := range map[string]struct {
		args []string
		code int
	}{
		"list":           {append([]string{"list"}, server...), exitRPC},
		"list as JSON":   {append([]string{"list", "--format", "json", "-v"}, server...), exitRPC},
		"no such tool":   {append([]string{"call", "nothing"}, server...), exitRPC},
		"refused":        {append([]string{"call", "act"}, over("refuse")...), exitConnect},
		"refused, list":  {append([]string{"list", "-v"}, over("refuse")...), exitConnect},
		"refused, check": {append([]string{"check"}, over("refuse")...), exitConnect},
		"unmet":          {append([]string{"call", "act", "--answers", oddly}, server...), exitUnmet},
		"JSON":           {append([]string{"call", "act", "--output", "json", "-v", "--answers", oddly}, server...), exitUnmet},
		"events":         {append([]string{"call", "act", "--output", "jsonl", "--answers", oddly, "--fail-on", "advice"}, server...), exitUnmet},
		"run":            {[]string{"run", scenario}, exitUnanswered},
		"run -v":         {[]string{"run", "-v", "--fail-on", "advice", scenario}, exitUnanswered},
		"run as TAP":     {[]string{"run", "--format", "tap", scenario}, exitUnanswered},
		"run as JUnit":   {[]string{"run", "--format", "junit", scenario}, exitUnanswered},
		"run as JSON":    {[]string{"run", "--format", "json", scenario}, exitUnanswered},
		"answers":        {[]string{"answers", transcript}, exitOK},
		"a scenario":     {[]string{"answers", "--scenario", transcript}, exitOK},
		"lint":           {[]string{"lint", transcript}, exitFindings},
		"lint as JSON":   {[]string{"lint", "--format", "json", transcript}, exitFindings},
		"lint as SARIF":  {[]string{"lint", "--format", "sarif", transcript}, exitFindings},
		"diff":           {[]string{"diff", transcript, other}, exitFindings},
		"JSON export":    {[]string{"export", "--format", "json", transcript}, exitOK},
		"Markdown":       {[]string{"export", "--format", "markdown", transcript}, exitOK},
		"Mermaid":        {[]string{"export", "--format", "mermaid", transcript}, exitOK},
		"HTML":           {[]string{"export", "--format", "html", transcript}, exitOK},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			got := inspectorRun(t, c.args...)
			tame(t, "standard output", got.out, what != "HTML") // a page is no log
			tame(t, "standard error", got.err, true)
			if got.code != c.code {
				t.Errorf("exit code %d, want %d:\n%s\n%s", got.code, c.code, got.out, got.err)
			}
			if strings.Contains(what, "JSON") && !json.Valid([]byte(got.out)) {
				t.Errorf("this is not JSON:\n%s", got.out)
			}
		})
	}
	for _, format := range []string{"text", "json", "junit", "markdown", "html", "sarif"} {
		t.Run("check as "+format, func(t *testing.T) {
			t.Parallel()
			got := inspectorRun(t, append([]string{"check", "--behaviour", "decline", "--protocol", "2025-11-25", "--format", format}, server...)...)
			tame(t, "standard output", got.out, format != "html")
			tame(t, "standard error", got.err, true)
			if got.code != exitOK && got.code != exitFindings {
				t.Errorf("exit code %d:\n%s\n%s", got.code, got.out, got.err)
			}
		})
	}
}

// TestNothingActsOnTheTerminalOverHTTP runs subcommands with HTTP servers that refuse to connect,
// or to sign in, in words that act on terminals.
func TestNothingActsOnTheTerminalOverHTTP(t *testing.T) {
	t.Parallel()
	quoted, err := json.Marshal(evil)
	if err != nil {
		t.Fatal(err)
	}
	var base string
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		status, body := http.StatusOK, ""
		switch {
		case r.URL.Path == "/400/mcp":
			status, body = http.StatusBadRequest, evil
		case r.URL.Path == "/500/mcp":
			status, body = http.StatusInternalServerError, evil
		case r.URL.Path == "/error/mcp":
			status, body = http.StatusBadRequest, `{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":`+string(quoted)+`}}`
		case r.URL.Path == "/oauth/mcp":
			w.Header().Set("WWW-Authenticate", `Bearer resource_metadata="`+base+`/meta"`)
			status = http.StatusUnauthorized
		case r.URL.Path == "/meta":
			body = fmt.Sprintf(`{"resource":"%s/oauth/mcp","authorization_servers":["%s"]}`, base, base)
		case strings.HasPrefix(r.URL.Path, "/.well-known/"):
			body = fmt.Sprintf(`{"issuer":"%[1]s","authorization_endpoint":"%[1]s/authorize","token_endpoint":"%[1]s/token","registration_endpoint":"%[1]s/register","response_types_supported":["code"],"code_challenge_methods_supported":["S256"]}`, base)
		case r.URL.Path == "/register":
			status, body = http.StatusBadRequest, `{"error":"invalid_client_metadata","error_description":`+string(quoted)+`}`
		default:
			status = http.StatusNotFound
		}
		if strings.HasPrefix(body, "{") {
			w.Header().Set("Content-Type", "application/json")
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}))
	t.Cleanup(site.Close)
	base = site.URL
	for _, path := range []string{"/400/mcp", "/500/mcp", "/error/mcp", "/oauth/mcp"} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			scenario := write(t, "scenario.yaml", "target: {url: '"+base+path+"'}\ncalls: [{tool: act}]\n")
			transcript := filepath.Join(t.TempDir(), "hostile.jsonl")
			said := false
			for _, args := range [][]string{
				{"list", "-v", "--oauth-wait", "5s"}, {"call", "act", "--record", transcript, "--oauth-wait", "5s"}, {"check", "--protocol", "2025-11-25", "--oauth-wait", "5s"},
				{"run", "--oauth-wait", "5s", scenario}, {"run", "--format", "junit", "--oauth-wait", "5s", scenario},
			} {
				if args[0] != "run" {
					args = append(args, base+path)
				}
				got := inspectorRun(t, args...)
				tame(t, strings.Join(args[:2], " ")+", standard output", got.out, true)
				tame(t, strings.Join(args[:2], " ")+", standard error", got.err, true)
				if got.code != exitConnect {
					t.Errorf("%v: exit code %d:\n%s\n%s", args, got.code, got.out, got.err)
				}
				said = said || strings.Contains(got.out+got.err, `\u202e`)
			}
			if !said {
				t.Error("nothing quotes the server, so that nothing is tested")
			}
			for _, format := range []string{"har", "html", "markdown"} {
				got := inspectorRun(t, "export", "--format", format, transcript)
				tame(t, format, got.out+got.err, format != "html")
				if got.code != exitOK {
					t.Errorf("%s: exit code %d:\n%s", format, got.code, got.err)
				}
			}
		})
	}
}
