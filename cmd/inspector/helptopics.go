package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"elicitation-inspector/bridge/fault"
	"elicitation-inspector/bridge/wire/query"
)

// newFilterHelp returns a help topic without a command: the language of filter lines.
func newFilterHelp() *cobra.Command {
	var b strings.Builder
	b.WriteString(`A filter line picks frames: in the page's text box Filter, and in the flag
--filter of 'inspector export'. It is made of terms, words and regular expressions.

`)
	for _, t := range query.Terms() {
		fmt.Fprintf(&b, "  %-22s %s\n", t.Example, t.Means)
	}
	b.WriteString(`
  word "two words"       the text in the frame, upper and lower case being the same
  /re+gexp/ /re/i        a regular expression (RE2) that matches in the frame

Side by side, or with "and" or "&&" between them, they must all hold. "or" or
"||" means either, "!", "-" or "not" before one its opposite, and parentheses
group. Several values of one term are separated by commas; * stands for any
text. Numbers and sizes are compared with : > >= < <=, and != is the opposite
of the colon. White space may stand around these. "error" is all that failed:
JSON-RPC errors (rpc-error alone), results with isError, HTTP statuses of 400
and above, processes that exit with a code other than 0.

  method:elicitation/* !kind:noise ms>500
  (kind:error or finding:any) after:+10s`)
	return &cobra.Command{Use: "filter", Short: "The language of filter lines", Long: b.String()}
}

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
