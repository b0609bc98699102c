package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"elicitation-inspector/bridge/fault"
)

// newFaultHelp returns a help topic without a command: the names of faults.
func newFaultHelp() *cobra.Command {
	var b strings.Builder
	b.WriteString(`An answers file may answer wrongly on purpose, by the name of a fault: {fault: NAME},
with its parameters beside it. The page has the same in its menu Misbehave.
`)
	for _, group := range fault.Groups() {
		fmt.Fprintf(&b, "\n%s\n", group.Title())
		for _, f := range fault.All() {
			if f.Group != group {
				continue
			}
			fmt.Fprintf(&b, "  %-24s %s", f.Name, f.Does)
			if len(f.Params) > 0 {
				fmt.Fprintf(&b, " [%s]", strings.Join(f.Params, ", "))
			}
			b.WriteString("\n")
		}
	}
	return &cobra.Command{Use: "faults", Short: "The names of faults, for answers files", Long: strings.TrimSuffix(b.String(), "\n")}
}
