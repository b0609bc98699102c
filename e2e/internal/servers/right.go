package servers

import (
	"os"
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
	script := filepath.Join(dir, "server.mjs")
	err := os.WriteFile(script, typescript.Script, 0o600)
	if err == nil {
		err = os.Symlink(installed(t, "npm", "node_modules"), filepath.Join(dir, "node_modules"))
	}
	if err != nil {
		t.Fatal(err)
	}
	commands["typescript"] = []string{installed(t, "npm", "node_modules", "node", "bin", "node"), script}
	return commands
}
