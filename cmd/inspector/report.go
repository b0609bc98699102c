package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"elicitation-inspector/bridge/check/report"
	"elicitation-inspector/bridge/wording"
)

// reports maps the output formats of run to their writers.
var reports = map[string]func(io.Writer, []*suite) error{
	"text": reportText, "tap": reportTAP, "junit": reportJUnit, "json": reportJSON,
}

func below(indent, text string) string {
	return indent + strings.ReplaceAll(text, "\n", "\n"+indent)
}

func reportText(w io.Writer, suites []*suite) error {
	var b strings.Builder
	good, all := 0, 0
	for _, s := range suites {
		b.WriteString(s.name() + "\n")
		for _, c := range s.Calls {
			all++
			word := "FAIL"
			if c.Exit == exitOK {
				word = "ok  "
				good++
			}
			fmt.Fprintf(&b, "  %s %s (%.0f ms)\n", word, wording.EscapeLine(c.Name), c.Seconds*1000)
			if c.Why != "" {
				b.WriteString(below("       ", c.Why) + "\n")
			}
		}
	}
	fmt.Fprintf(&b, "%d of %s as expected\n", good, wording.Plural(all, "call"))
	_, err := io.WriteString(w, b.String())
	return err
}

func reportTAP(w io.Writer, suites []*suite) error {
	var b strings.Builder
	n := 0
	for _, s := range suites {
		for _, c := range s.Calls {
			n++
			word := "not ok"
			if c.Exit == exitOK {
				word = "ok"
			}
			name := strings.NewReplacer("#", `\#`, "\\", `\\`).Replace(wording.EscapeLine(s.name() + ": " + c.Name))
			fmt.Fprintf(&b, "%s %d - %s\n", word, n, name)
			if c.Exit != exitOK {
				fmt.Fprintf(&b, "  ---\n  exit: %d\n  message: |\n%s\n  ...\n", c.Exit, below("    ", c.Why))
			}
		}
	}
	_, err := fmt.Fprintf(w, "TAP version 14\n1..%d\n%s", n, b.String())
	return err
}

func reportJUnit(w io.Writer, suites []*suite) error {
	list := []report.Suite{}
	for _, s := range suites {
		one := report.Suite{Name: s.name(), Time: report.Seconds(s.took)}
		for _, c := range s.Calls {
			test := report.Case{Name: wording.EscapeLine(c.Name), Class: s.name(), Time: report.Seconds(time.Duration(c.Seconds * float64(time.Second)))}
			if c.Exit != exitOK {
				why := wording.Escape(c.Why) // XML has no controls
				first, _, _ := strings.Cut(why, "\n")
				test.Failure = &report.Failure{Message: first, Type: "exit " + strconv.Itoa(c.Exit), Text: why}
			}
			one.Add(test)
		}
		list = append(list, one)
	}
	return report.WriteSuites(w, list)
}

func reportJSON(w io.Writer, suites []*suite) error { return writeIndented(w, suites) }
