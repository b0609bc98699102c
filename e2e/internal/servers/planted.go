package servers

import (
	"path/filepath"
	"testing"

	"elicitation-inspector/e2e/internal/inspector"
	"elicitation-inspector/e2e/servers/planted/typescript"
)

// Planted builds the servers with changes to plant, and returns their commands by name.
func Planted(t testing.TB) map[string][]string {
	t.Helper()
	dir := t.TempDir()
	commands := map[string][]string{"typescript": nodeScript(t, typescript.Script)}
	for _, name := range []string{"gosdk", "mcpgo"} {
		commands[name] = []string{filepath.Join(dir, name)}
		if err := inspector.Build(".", commands[name][0], "elicitation-inspector/e2e/servers/planted/"+name); err != nil {
			t.Fatal(err)
		}
	}
	return commands
}
