package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"elicitation-inspector/e2e/internal/inspector"
	"elicitation-inspector/e2e/internal/servers"
)

// conformanceTime limits one scenario. The slowest takes two seconds, and the client
// stops by itself after twenty.
const conformanceTime = 60 * time.Second

// The official conformance suite, against the calls of the command line, with the sign-ins
// that it scores. The suite lists its scenarios, so new ones of a new version run, too.
func TestConformance(t *testing.T) {
	t.Parallel()
	suite := servers.Node(t, "@modelcontextprotocol", "conformance", "dist", "index.js")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, filepath.Join(binaries, "client")); err != nil { // the suite's shell would split a path with spaces
		t.Fatal(err)
	}
	run := map[string]int{"2025-06-18": 0, "2025-11-25": 0, "2026-07-28": 0, extension: 0} // scenarios by revision
	for i, s := range scenarios(t, suite, "--client") {
		if why := leftOut[s.name]; why != "" {
			t.Logf("%s is left out: %s", s.name, why)
			continue
		}
		for _, revision := range s.revisions {
			if _, ok := run[revision]; !ok {
				t.Errorf("the suite has %s for a revision that the inspector does not know: %q", s.name, revision)
				continue
			}
			run[revision]++
			if !s.turn(i, revision) {
				continue
			}
			t.Run(revision+"/"+s.name, func(t *testing.T) {
				t.Parallel()
				conform(t, suite, s.name, revision)
			})
		}
	}
	for revision, n := range run {
		if n == 0 {
			t.Errorf("the suite has nothing for %s", revision)
		}
	}
}

// asks matches the suite's scenarios for servers that are about questions and tasks. That of
// notifications about tasks checks nothing.
var asks = regexp.MustCompile(`^(tools-call-elicitation|elicitation-.*|input-required-result-.*|tasks-.*)$`)

// passed matches what the suite says where every check has passed.
var passed = regexp.MustCompile(`Passed: ([1-9]\d*)/([1-9]\d*), 0 failed, 0 warnings`)

// The official conformance suite, against the demo server with what it calls: every scenario
// about questions and tasks that it lists, in each of its revisions.
func TestServerConformance(t *testing.T) {
	t.Parallel()
	suite := servers.Node(t, "@modelcontextprotocol", "conformance", "dist", "index.js")
	url := demoOverHTTP(t, "--conformance")
	run := map[string]int{} // scenarios by revision
	for i, s := range scenarios(t, suite, "--server") {
		if !asks.MatchString(s.name) || s.name == "tasks-status-notifications" {
			continue
		}
		for _, revision := range s.revisions {
			run[revision]++
			if !s.turn(i, revision) {
				continue
			}
			t.Run(revision+"/"+s.name, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), conformanceTime)
				defer cancel()
				args := append(suite[1:], "server", "--url", url, "--scenario", s.name)
				if revision != extension {
					args = append(args, "--spec-version", revision)
				}
				out, err := exec.CommandContext(ctx, suite[0], args...).CombinedOutput()
				if found := passed.FindSubmatch(out); err != nil || found == nil || string(found[1]) != string(found[2]) {
					t.Errorf("%v\n%s", err, out)
				}
			})
		}
	}
	if run["2025-06-18"] < 1 || run["2025-11-25"] < 3 || run["2026-07-28"] < 14 || run[extension] < 9 {
		t.Errorf("the suite has fewer scenarios about questions than it had: %v", run)
	}
}

// scenario is one of the suite's scenarios.
type scenario struct {
	name      string
	revisions []string // revisions in which it applies; "extension" if in none
}

// turn reports whether a run tries the scenario at this place of the list in a revision: with
// -whole in all of its revisions, otherwise in one of them.
func (s scenario) turn(place int, revision string) bool {
	return *whole || s.revisions[place%len(s.revisions)] == revision
}

// extension is the revision of scenarios that belong to none.
const extension = "extension"

// leftOut are the scenarios that are not run, with the reason. The suite scores none of these.
var leftOut = map[string]string{
	"auth/2025-03-26-oauth-metadata-backcompat": "the inspector does not speak 2025-03-26",
	"auth/2025-03-26-oauth-endpoint-fallback":   "the inspector does not speak 2025-03-26",
	"auth/enterprise-managed-authorization":     "the inspector has no identity provider of an enterprise",
	"auth/dpop":                                 "the inspector does not bind tokens to a key (DPoP)",
	"auth/dpop-nonce":                           "the inspector does not bind tokens to a key (DPoP)",
	"auth/wif-jwt-bearer":                       "the inspector has no identity of a workload",
	"sep-2640-client-no-prefetch":               "the inspector does not know skills (SEP-2640)",
	"sep-2640-client-verify-digest":             "the inspector does not know skills (SEP-2640)",
	"sep-2640-client-verify-size":               "the inspector does not know skills (SEP-2640)",
	"sep-2640-client-verify-frontmatter":        "the inspector does not know skills (SEP-2640)",
}

// skipped are the checks that the suite skips: those of requests that 2026-07-28 does not have.
var skipped = []string{"ClientMcpMethodHeader_initialize", "ClientMcpMethodHeader_notifications_initialized"}

var scenarioLine = regexp.MustCompile(`^  - (\S+) \[([^\]]+)\]$`)

// scenarios returns the suite's list of a kind: --client or --server.
func scenarios(t *testing.T, suite []string, kind string) []scenario {
	t.Helper()
	out, err := exec.Command(suite[0], append(suite[1:], "list", kind)...).Output()
	if err != nil {
		t.Fatalf("listing the suite's scenarios: %v", err)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	var list []scenario
	for _, line := range lines[1:] {
		m := scenarioLine.FindStringSubmatch(line)
		if m == nil {
			t.Fatalf("no scenario: %q", line)
		}
		list = append(list, scenario{m[1], strings.Split(m[2], ",")})
	}
	return list
}

// check is one check of a scenario with its outcome.
type check struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	Status  string `json:"status"`
	Message string `json:"errorMessage"`
}

// conform runs one scenario. It fails if the suite fails, if any check fails, or if
// nothing was checked.
func conform(t *testing.T, suite []string, name, revision string) {
	ctx, cancel := context.WithTimeout(t.Context(), conformanceTime)
	defer cancel()
	results := t.TempDir()
	args := []string{"client", "--scenario", name, "--command", "./client", "--output-dir", results}
	if revision != extension {
		args = append(args, "--spec-version", revision)
	}
	cmd := exec.CommandContext(ctx, suite[0], append(suite[1:], args...)...)
	cmd.Dir, cmd.Env = binaries, append(os.Environ(), clientEnv+"="+inspector.Binary)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	report, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("the suite: %v\n%s", err, report)
	}
	if stderr := readResult(t, results, name, "stderr.txt"); bytes.Contains(stderr, []byte("DATA RACE")) {
		t.Errorf("%s", stderr)
	}
	var checks []check
	if err := json.Unmarshal(readResult(t, results, name, "checks.json"), &checks); err != nil {
		t.Fatal(err)
	}
	passed := 0
	for _, c := range checks {
		switch c.Status {
		case "SUCCESS":
			passed++
		case "INFO":
		default:
			if c.Status != "SKIPPED" || !slices.Contains(skipped, c.Name) {
				t.Errorf("%s %s (%s): %s", c.Status, c.ID, c.Name, c.Message)
			}
		}
	}
	if passed == 0 {
		t.Error("nothing was checked")
	}
	t.Logf("%d checks passed", passed)
}

// readResult reads a file that the suite has written for its one run of a scenario.
func readResult(t *testing.T, results, scenario, file string) []byte {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(results, filepath.FromSlash(scenario)+"-*", file))
	if err != nil || len(found) != 1 {
		t.Fatalf("%s of %s: found %q (%v)", file, scenario, found, err)
	}
	raw, err := os.ReadFile(found[0])
	if err != nil {
		t.Fatal(err)
	}
	return raw
}
