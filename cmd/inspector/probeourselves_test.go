// The race detector makes this test several times slower. Other tests run the same code
// concurrently.

//go:build !race

package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/judges/probe"
)

// asAsked answers the forms that ask for certain values, and any other with one that is valid.
const asAsked = `answers:
  - {match: {message: "Decline *"}, answer: decline}
  - {match: {message: "* and decline."}, answer: decline}
  - {match: {message: "Close this question*"}, answer: cancel}
  - {match: {message: "*\"fits\"*"}, answer: {accept: {value: fits}}}
  - {match: {message: "*\"AB-1234\"*"}, answer: {accept: {value: AB-1234}}}
  - {match: {message: "*\"ada@example.com\"*"}, answer: {accept: {value: ada@example.com}}}
  - {match: {message: "*29 February 2028*"}, answer: {accept: {value: "2028-02-29"}}}
  - {match: {message: "*enter 7,*"}, answer: {accept: {value: 7}}}
  - {match: {message: "*enter 10,*"}, answer: {accept: {value: 10}}}
  - {match: {message: "*Enter 0.5,*"}, answer: {accept: {value: 0.5}}}
  - {match: {message: "*Choose \"Blue\", and*"}, answer: {accept: {value: {$choice: 3}}}}
  - {match: {message: "*Choose \"Red\" and \"Blue\"*"}, answer: {accept: {value: [{$choice: 1}, {$choice: 3}]}}}
  - {match: {message: "*\"choice 299\"*"}, answer: {accept: {value: choice 299}}}
default: {accept: valid}
`

// TestProbeOfOurselves checks that our own client, without a person, comes out of the probes
// clean: with works, or with not seen where only a person could follow the message.
func TestProbeOfOurselves(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	answers := write(t, "answers.yaml", asAsked)
	unseen := []string{
		"optional-empty", "text-long", "required", "fields-many",
		"withdrawn", "outside-call", "patience", "url-required", "round-unknown-type", "round-prompt", "round-resource", "elicitation-undeclared", "task-undeclared",
	}
	for _, revision := range mcp.Revisions {
		for _, transport := range []string{"stdio", "http"} {
			t.Run(revision+" over "+transport, func(t *testing.T) {
				t.Parallel()
				path := filepath.Join(t.TempDir(), "report.json")
				target := []string{"--env", asInspector + "=1", "--", self, "probe", "--listen", "127.0.0.1:0", "--report", path}
				stop := func() {}
				if transport == "http" {
					var url string
					url, stop = serveProbe(t, "--report", path)
					target = []string{url}
				}
				calls := []string{probe.All}
				if transport == "http" { // where the report is of all calls
					for _, name := range []string{"task-call", "task-poll", "task-keys"} {
						if probe.Find(name).In(revision) {
							calls = append(calls, name)
						}
					}
				}
				for _, name := range calls {
					got := inspectorRun(t, append([]string{"call", name, "--protocol", revision, "--args", `{"rounds":1000}`, "--answers", answers, "--timeout", "0"}, target...)...)
					if got.code != 0 {
						t.Fatalf("exit code %d\n%s%s", got.code, got.out, got.err)
					}
				}
				stop()
				c := readProbe(t, path)
				if c.Revision != revision || c.Transport != transport || !strings.HasPrefix(c.Name, "elicitation-inspector") {
					t.Errorf("the client is %+v", c.Identity)
				}
				for _, r := range c.Results {
					want := probe.Works
					if slices.Contains(unseen, r.Probe) || probe.Find(r.Probe).OnlyLooks || probe.Find(r.Probe).Group == probe.Tasks && probe.Find(r.Probe).Apart && !slices.Contains(calls, r.Probe) {
						want = probe.NotSeen
					}
					if r.Verdict != want || want == probe.Works && r.Probe != "declared" && (len(r.Frames) == 0 || len(r.Evidence) == 0) {
						t.Errorf("%s: %s: %s %v", r.Probe, r.Verdict, r.How, r.Frames)
					}
				}
			})
		}
	}
}
