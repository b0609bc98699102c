package report

import (
	"fmt"
	"io"
	"strings"
	"time"

	"elicitation-inspector/bridge/check"
	"elicitation-inspector/bridge/export/paper"
	"elicitation-inspector/bridge/junit"
)

// writeJUnit writes a test suite for each call and revision, with a test case for each
// trial. JUnit has no warnings: a trial with warnings passes, and they are in its output.
// An inconclusive trial is skipped.
func writeJUnit(w io.Writer, r *check.Report) error {
	suites := []junit.Suite{}
	for i, call := range r.Calls {
		for _, revision := range r.Revisions {
			s := junit.Suite{Name: paper.Visible(fmt.Sprintf("%s %s, %s", call.Kind, call.Key, revision))}
			var took time.Duration
			for k := range r.Results {
				if one := &r.Results[k]; one.Call == i && one.Revision == revision {
					took += one.Took
					s.Add(testCase(one, s.Name))
				}
			}
			if s.Tests == 0 {
				continue
			}
			s.Time = junit.Seconds(took)
			s.Properties = []junit.Property{{Name: "server", Value: paper.Visible(r.Server)}, {Name: "inspector", Value: r.Inspector}}
			if words := Compared(r.Baseline); words != "" {
				s.Time = junit.Seconds(took)
				s.Properties = append(s.Properties, junit.Property{Name: "baseline", Value: words})
			}
			suites = append(suites, s)
		}
	}
	return junit.Write(w, suites)
}

func testCase(one *check.Result, suite string) junit.Case {
	name, _ := strings.CutSuffix(Trial(one.Trial), ", "+one.Revision)
	c := junit.Case{Name: paper.Visible(name), Class: suite, Time: junit.Seconds(one.Took)}
	rule, message, text := sentences(one)
	switch one.Verdict {
	case check.Fail:
		c.Failure = &junit.Failure{Message: message, Type: rule, Text: text}
	case check.Inconclusive:
		c.Skipped = &junit.Skipped{Message: message}
	case check.Warn:
		c.Out = text
	}
	return c
}

// sentences returns the rule and text of a trial's most severe finding, and the texts of
// all findings.
func sentences(one *check.Result) (rule, message, text string) {
	var b strings.Builder
	for _, f := range one.Findings {
		mark := ""
		if f.New {
			mark = "new: "
		}
		if message == "" && f.Verdict == one.Verdict {
			rule, message = f.Rule, paper.Line(mark+f.Text, 400)
		}
		fmt.Fprintf(&b, "%s%s [%s] %s\n", mark, f.Verdict, f.Rule, f.Text)
		if f.Reference != "" {
			fmt.Fprintf(&b, "  %s\n", f.Reference)
		}
		fmt.Fprintf(&b, "  frames %s", strings.Trim(fmt.Sprint(f.Frames), "[]"))
		if one.Transcript != "" {
			fmt.Fprintf(&b, " of %s", one.Transcript)
		}
		b.WriteString("\n")
	}
	fmt.Fprintf(&b, "The call ended: %s\n\n%s\n", one.Outcome, one.Reproduce)
	return rule, message, paper.Visible(b.String())
}
