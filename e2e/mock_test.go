package e2e

import (
	"context"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"elicitation-inspector/e2e/internal/inspector"
	"elicitation-inspector/e2e/internal/servers"
)

// Clients of others say the same of a mock as of the server that was recorded: a probe, whose questions they answer. Each
// of these clients was written for that server, and is unchanged.
func TestMockServesOtherClients(t *testing.T) {
	t.Parallel()
	node := servers.Node(t)
	clients := map[string][]string{"TypeScript SDK": {node[0], "clients/typescript/client.mjs", node[1], "plain"}}
	for _, name := range []string{"gosdk", "mcpgo"} {
		clients[name] = []string{filepath.Join(t.TempDir(), name)}
		if err := inspector.Build(".", clients[name][0], "./clients/"+name); err != nil {
			t.Fatal(err)
		}
	}
	for name, client := range clients {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "probe.jsonl")
			said := func(args ...string) string {
				ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
				defer cancel()
				command := slices.Concat(client, []string{inspector.Binary}, args)
				out, err := exec.CommandContext(ctx, command[0], command[1:]...).CombinedOutput()
				if err != nil {
					t.Fatalf("%v\n%s", err, out)
				}
				return string(out)
			}
			recorded := said("probe", "--no-open", "--listen", "127.0.0.1:0", "--record", path)
			if again := said("mock", path); again != recorded || recorded == "" {
				t.Errorf("of the mock:\n%s\nof the server:\n%s", again, recorded)
			}
		})
	}
}
