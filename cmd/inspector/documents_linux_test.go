// The race detector makes this test several times slower: it runs dozens of inspectors. Others run
// each subcommand with it.

//go:build !race

package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"elicitation-inspector/bridge/judges/diff"
	"elicitation-inspector/bridge/judges/fit"
	probed "elicitation-inspector/bridge/judges/probe/report"
	"elicitation-inspector/bridge/keep/export"
)

// TestNoDocumentHasSecrets has a server and a client whose every text is a secret, and looks into
// every document of every command that takes --redact-value, in all of the formats that there are.
// A command that is not among them, or a new one, fails the test.
func TestNoDocumentHasSecrets(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	raw := filepath.Join(dir, "raw.jsonl")
	server := []string{"--env", asHostile + "=secret", "--", self}
	leaves := []string{"--redact-value", everywhere}
	answers := write(t, "a.yaml", "default: decline\n")
	if got := inspectorRun(t, append([]string{"call", "act", "--answers", answers, "--record", raw}, server...)...); !strings.Contains(got.out, everywhere) {
		t.Fatalf("the call has no secret: %d\n%s%s", got.code, got.out, got.err)
	}
	clean := func(what, text string) {
		t.Helper()
		if text == "" || strings.Contains(text, everywhere) {
			t.Errorf("%s has the secret:\n%.3000s", what, text)
		}
	}
	file := func(path string) string {
		t.Helper()
		text, err := os.ReadFile(path)
		if err != nil {
			t.Error(err)
		}
		return string(text)
	}
	covered := map[string]func(){
		"call": func() {
			path := filepath.Join(dir, "call.jsonl")
			inspectorRun(t, slices.Concat([]string{"call", "act", "--answers", answers, "--record", path}, leaves, server)...)
			clean("the transcript of a call", file(path))
		},
		"list": func() {
			path := filepath.Join(dir, "list.jsonl")
			inspectorRun(t, slices.Concat([]string{"list", "--record", path}, leaves, server)...)
			clean("the transcript of a list", file(path))
		},
		"run": func() {
			scenario := write(t, "s.yaml", fmt.Sprintf("target: {command: [%q], env: {%s: secret}}\ncalls: [{tool: act, default: decline}]\n", self, asHostile))
			inspectorRun(t, slices.Concat([]string{"run", scenario, "--record", filepath.Join(dir, "run")}, leaves)...)
			clean("the transcript of a run", file(filepath.Join(dir, "run", "s.jsonl")))
		},
		"check": func() {
			for _, format := range checkFormats {
				got := inspectorRun(t, slices.Concat([]string{"check", "--behaviour", "decline", "--behaviour", "cancel", "--protocol", "2025-11-25", "--format", format.Name}, leaves, server)...)
				clean("check as "+format.Name, got.out)
				if strings.Contains(got.err, everywhere) {
					t.Errorf("the standard error of check: %s", got.err)
				}
			}
		},
		"lint": func() {
			for _, format := range lintFormats {
				clean("lint as "+format.Name, inspectorRun(t, slices.Concat([]string{"lint", "--format", format.Name, raw}, leaves)...).out)
			}
		},
		"diff": func() {
			now := filepath.Join(dir, "now.jsonl")
			text := strings.ReplaceAll(file(raw), everywhere, everywhere+"2")
			if err := os.WriteFile(now, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			for _, format := range diff.Formats {
				clean("diff as "+format.Name, inspectorRun(t, slices.Concat([]string{"diff", "--format", format.Name, raw, now}, leaves)...).out)
			}
		},
		"replay": func() {
			path := filepath.Join(dir, "replay.jsonl")
			got := inspectorRun(t, slices.Concat([]string{"replay", raw, "--record", path}, leaves, server)...)
			clean("the transcript of a replay", file(path))
			clean("what a replay says", got.out+got.err)
		},
		"export": func() {
			for _, format := range export.Documents {
				if !format.OverHTTP {
					clean("export as "+format.Name, inspectorRun(t, slices.Concat([]string{"export", "--format", format.Name, raw}, leaves)...).out)
				}
			}
		},
		"fit": func() {
			for _, format := range fit.Formats {
				clean("fit as "+format.Name, inspectorRun(t, slices.Concat([]string{"fit", "--format", format.Name, raw}, leaves)...).out)
			}
		},
		"tap": func() {
			for _, format := range probed.Formats {
				ending := format.Ending
				path := filepath.Join(dir, "tap"+ending)
				tapped := []string{"--", "env", asInspector + "=1", self, "tap", "--report", path, "--redact-value", everywhere, "--", "env", asHostile + "=secret", self}
				inspectorRun(t, slices.Concat([]string{"call", "act", "--answers", answers}, tapped)...)
				clean("tap's report"+ending, file(path))
			}
		},
		"probe": func() {
			for _, format := range probed.Formats {
				ending := format.Ending
				path := filepath.Join(dir, "probe"+ending)
				cmd := exec.Command(self, slices.Concat([]string{"probe", "--no-open", "--listen", "127.0.0.1:0", "--report", path}, leaves)...)
				cmd.Env = append(os.Environ(), asInspector+"=1")
				in, err := cmd.StdinPipe()
				if err != nil {
					t.Fatal(err)
				}
				out, err := cmd.StdoutPipe()
				if err != nil {
					t.Fatal(err)
				}
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				fmt.Fprintf(in, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{}},"clientInfo":{"name":%[1]q,"version":%[1]q}}}`+"\n", everywhere)
				fmt.Fprintln(in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
				fmt.Fprintf(in, `{"jsonrpc":"2.0","id":%q,"method":"tools/call","params":{"name":"accept"}}`+"\n", everywhere)
				_ = in.Close()
				_, _ = io.Copy(io.Discard, out)
				_ = cmd.Wait() // the exit code is that of what the probe says of such a client
				clean("probe's report"+ending, file(path))
			}
		},
		"open":      func() {}, // what is downloaded: TestSecretsStayInWhereverTheyAreRepeated
		"inspector": func() {}, // likewise
	}
	root := newRoot(io.Discard, io.Discard)
	for _, cmd := range append(root.Commands(), root) {
		if cmd.Flags().Lookup("redact-value") == nil {
			continue
		}
		if covered[cmd.Name()] == nil {
			t.Errorf("nobody looks into what %s writes", cmd.Name())
			continue
		}
		covered[cmd.Name()]()
	}
}
