package e2e

import (
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"elicitation-inspector/bridge/testdata/protectedtest"
	"elicitation-inspector/e2e/internal/inspector"
	"elicitation-inspector/e2e/internal/page"
)

// No code, verifier, state, token or secret is in what the page shows while a person signs
// in, in what can be saved or copied from it, in the recording, in any other file
// or in the program's output.
func TestSignInSecrets(t *testing.T) {
	t.Parallel()
	w := protectedtest.New(t)
	dir := t.TempDir()
	record := filepath.Join(dir, "signin.jsonl")
	p := inspector.StartWith(t, inspector.Options{Env: []string{"TMPDIR=" + dir}}, "--no-open", "--listen", "127.0.0.1:0", "--record", record, w.URL+"/mcp")
	s := &session{t: t, Process: p, page: browser.Open(t, p.URL)}
	seen := map[string]string{}
	look := func(when string) {
		t.Helper()
		seen["page, "+when] = page.Eval[string](s.page, `document.documentElement.outerHTML + [...document.querySelectorAll("input, textarea")].map(i => i.value).join("\n")`)
		seen["new page, "+when] = s.get("/")
	}
	s.signIn("waiting")
	look("waiting")
	s.visits()
	s.signIn("signed in")
	look("signed in")
	s.serverDetails().Button("Refresh now").Click()
	s.page.Press(page.Escape)
	s.page.Region("Sign-ins").Article("").All().Having("data-outcome", "refreshed").Wait()
	s.call("who_am_i")
	s.result("elicitation-inspector")
	look("at the end")

	server := strings.TrimPrefix(s.signIn("signed in").Attr("id"), "sign-in-")
	for _, path := range []string{
		"/wire.jsonl", "/export/html", "/export/markdown", "/export/mermaid", "/export/har", "/export/json", "/findings.json", "/ledger",
		"/palette?search=token", "/answers.yaml", "/servers/" + server + "/signin/ladder", "/servers/" + server + "/signin/ladder?as=svg",
		"/servers/" + server + "/signin/ladder?as=mermaid",
	} {
		seen[path] = s.get(path)
	}
	curls := 0
	for i := range s.Wire() {
		at := "/wire/frames/" + strconv.Itoa(i+1)
		seen[at] = s.get(at)
		for _, form := range []string{"/raw", "/copy/raw", "/copy/pretty", "/copy/line", "/copy/curl", "/copy/curl?secrets=1"} {
			resp, text := s.read(s.Client().Get(s.Base + at + form)) // not every frame has every form
			if seen[at+form] = text; resp.StatusCode == http.StatusOK && strings.Contains(text, "/auth/tokens") {
				curls++
			}
		}
	}
	if curls == 0 {
		t.Error("no request of the sign-in was copied")
	}
	if err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil // files of others come and go
		}
		if text, err := os.ReadFile(path); err == nil {
			seen[path] = string(text)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	seen["standard output"], seen["standard error"] = s.Stdout(), s.Stderr()
	secrets := w.Secrets()
	if len(secrets) < 9 || !strings.Contains(seen[record], `"step":"refresh"`) {
		t.Errorf("%d secrets were searched for, and the recording has %d bytes", len(secrets), len(seen[record]))
	}
	for where, text := range seen {
		if i := slices.IndexFunc(secrets, func(secret string) bool {
			return strings.Contains(text, secret) || strings.Contains(text, url.QueryEscape(secret))
		}); i >= 0 {
			t.Errorf("%s has the secret %q", where, secrets[i])
		}
	}
}
