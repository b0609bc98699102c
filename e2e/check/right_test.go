package check

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/e2e/internal/inspector"
	"elicitation-inspector/e2e/internal/servers"
)

// The servers without faults do what the answer allows, and nothing else. Without -whole, each
// is called in one revision.
func TestRightServersKeepToTheAnswer(t *testing.T) {
	t.Parallel()
	const pages = "pay_deposit sign_contract open_gate pay_toll" // which 2025-06-18 cannot ask to open
	const defaults = "order_pizza empty_bin"                     // which a plain acceptance does no more than a decline
	arguments := map[string]string{"rent_bike": `{"bike":"red"}`}
	accept, decline := file(t, "default: {accept: valid}"), file(t, "default: decline")
	for name, command := range servers.Right(t) {
		revisions := mcp.Revisions
		if !*whole {
			// The faulty and the right servers are checked in the other ones.
			at := slices.Index([]string{"hand", "typescript", "gosdk", "mcpgo"}, name) % 3
			revisions = revisions[at:][:1]
		}
		for _, revision := range revisions {
			list, code := run(t, append([]string{"list", "--protocol", revision, "--"}, command...)...)
			if code == 3 && name == "typescript" && revision == mcp.Revision20260728 {
				continue // its SDK does not speak this revision
			}
			tools := 0
			for line := range strings.Lines(list) {
				tool := strings.Fields(line)[1]
				tools++
				t.Run(name+"/"+revision+"/"+tool, func(t *testing.T) {
					t.Parallel()
					call := func(answers string) (string, int) {
						return run(t, append([]string{"call", tool, "--args", arguments[tool], "--protocol", revision, "--fail-on", "should", "--answers", answers, "--"}, command...)...)
					}
					yes, code := call(accept)
					if revision == mcp.Revision20250618 && strings.Contains(pages, tool) {
						if code != 1 && code != 4 {
							t.Errorf("without URL mode: exit code %d: %s", code, yes)
						}
						return
					}
					if code != 0 || yes == "" {
						t.Errorf("accepted: exit code %d: %s", code, yes)
					}
					if no, code := call(decline); no == yes && !strings.Contains(defaults, tool) || !slices.Contains([]int{0, 1, 4}, code) {
						t.Errorf("declined: exit code %d: %s", code, no)
					}
				})
			}
			if tools < 3 {
				t.Errorf("%s has only %d tools in %s", name, tools, revision)
			}
		}
	}
}

// file writes a file of the test.
func file(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "answers.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// run runs the inspector and returns its standard output and its exit code.
func run(t *testing.T, args ...string) (out string, code int) {
	t.Helper()
	text, err := exec.CommandContext(t.Context(), inspector.Binary, args...).Output()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		return string(text), exit.ExitCode()
	case err != nil:
		t.Fatal(err)
	}
	return string(text), 0
}
