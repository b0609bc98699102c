package servers

import (
	"path/filepath"
	"testing"

	"elicitation-inspector/e2e/internal/inspector"
	"elicitation-inspector/e2e/servers/right/typescript"
)

// Right builds the servers that break no rules, and returns their commands by name.
func Right(t testing.TB) map[string][]string {
	t.Helper()
	dir := t.TempDir()
	commands := map[string][]string{}
	for _, name := range []string{"gosdk", "mcpgo", "hand"} {
		binary := filepath.Join(dir, name)
		if err := inspector.Build(".", binary, "elicitation-inspector/e2e/servers/right/"+name); err != nil {
			t.Fatal(err)
		}
		commands[name] = []string{binary}
	}
	commands["typescript"] = nodeScript(t, typescript.Script)
	return commands
}
