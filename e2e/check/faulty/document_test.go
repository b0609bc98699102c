package faulty

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write docs/faulty.md anew")

const introduction = `# The faulty server

` + "`go run ./servers/faulty`" + ` in the folder e2e of a checkout runs an MCP server over stdio whose
tools are right in everything but one thing each. Whoever looks for defects in servers can
see here what is found. It speaks 2025-06-18, 2025-11-25 and 2026-07-28; the table says which tools there are only in some
of them. *Found* is what ` + "`inspector check`" + ` says under these behaviours
([misbehave.md](misbehave.md) tells what the client does then), and it says nothing else.

This page is written by ` + "`go test ./check/faulty -update`" + ` in that folder.

Tools with effects write them into the file ` + "`$FAULTY_LEDGER`" + `, or without it into the memory of the
process. The tool ` + "`ledger`" + ` and the resource ` + "`ledger:TOOL`" + ` say how often a tool did what it does:

` + "```" + `
go build -o faulty ./servers/faulty
FAULTY_LEDGER=/tmp/ledger inspector check draw_cash --witness resource:ledger:draw_cash -- ./faulty
` + "```" + `

| tool | what it does wrong | revisions | found | under |
|---|---|---|---|---|
`

// TestDocumentation compares docs/faulty.md with the tools.
func TestDocumentation(t *testing.T) {
	const path = "../../../docs/faulty.md"
	var b strings.Builder
	b.WriteString(introduction)
	for _, tool := range tools {
		revisions := "all"
		switch {
		case tool.since != "" && tool.before != "":
			revisions = "from " + tool.since + ", before " + tool.before
		case tool.since != "":
			revisions = "from " + tool.since
		case tool.before != "":
			revisions = "before " + tool.before
		}
		for _, p := range tool.plants {
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s: `%s` | %s |\n", tool.name, tool.does, revisions, p.Verdict, strings.Join(p.Rules, "` or `"), strings.Join(p.Behaviours, ", ")+map[bool]string{true: " (with a witness)"}[p.Witness])
		}
	}
	if *update {
		if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != b.String() {
		t.Errorf("docs/faulty.md is out of date (%v): run go test ./check/faulty -update", err)
	}
}
