package servers

import (
	"path/filepath"
	"slices"
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

// RightOverHTTP starts those of the commands of [Right] that serve over Streamable
// HTTP, and returns their addresses by name.
func RightOverHTTP(t testing.TB, commands map[string][]string) map[string]string {
	t.Helper()
	port := FreePort(t)
	listen(t, "listening at", []string{"PORT=" + port}, commands["typescript"]...)
	urls := map[string]string{"typescript": "http://127.0.0.1:" + port + "/mcp"}
	address := "127.0.0.1:" + FreePort(t)
	listen(t, "listening at", nil, append(commands["mcpgo"], address)...)
	urls["mcpgo"] = "http://" + address + "/mcp"
	urls["gosdk"] = FlagHTTP(t, commands["gosdk"])
	urls["hand"] = FlagHTTP(t, commands["hand"])
	return urls
}

// FlagHTTP starts one of the commands gosdk and hand of [Right] over Streamable HTTP,
// and returns its address.
func FlagHTTP(t testing.TB, command []string, flags ...string) string {
	t.Helper()
	address := "127.0.0.1:" + FreePort(t)
	listen(t, "listening at", nil, slices.Concat(command, []string{"-http", address}, flags)...)
	return "http://" + address + "/"
}
