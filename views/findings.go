package views

import (
	"cmp"
	"slices"
	"strings"

	"elicitation-inspector/bridge/elicit/lint"
)

// severities are the linter's, the gravest first.
var severities = []string{"violation", "should", "advice"}

// severityWord is a severity as people read it. SHOULD is the specification's
// own word (RFC 2119).
func severityWord(severity string) string {
	switch severity {
	case "violation":
		return "Violation"
	case "should":
		return "SHOULD"
	case "advice":
		return "Advice"
	}
	return severity
}

// counted words how many findings there are of each severity.
func counted(violations, shoulds, advices int) string {
	part := func(n int, one, many string) string {
		if n == 0 {
			return ""
		}
		return plural(n, one, many)
	}
	return join(", ", part(violations, "violation", "violations"), part(shoulds, "SHOULD not followed", "SHOULDs not followed"), part(advices, "piece of advice", "pieces of advice"))
}

func countOf(list []Finding, severity string) int {
	n := 0
	for _, f := range list {
		if f.Severity == severity {
			n++
		}
	}
	return n
}

func countsOf(list []Finding) string {
	return counted(countOf(list, "violation"), countOf(list, "should"), countOf(list, "advice"))
}

// worst is the gravest severity in a list, "" if it is empty.
func worst(list []Finding) string {
	if len(list) == 0 {
		return ""
	}
	return gravestFirst(list)[0].Severity
}

func gravity(severity string) int { return slices.Index(severities, severity) }

func gravestFirst(list []Finding) []Finding {
	out := slices.Clone(list)
	slices.SortStableFunc(out, func(a, b Finding) int { return cmp.Compare(gravity(a.Severity), gravity(b.Severity)) })
	return out
}

// place is the JSON pointer into the frame, or a word for all of it.
func (f Finding) place() string {
	if f.Pointer == "" {
		return "the whole frame"
	}
	return f.Pointer
}

// ruleGroup is all that was found by one rule; the first stands for them.
type ruleGroup struct {
	Finding
	list []Finding
}

// broken words what breaks the rule, in general.
func (g ruleGroup) broken() string {
	for _, r := range lint.Rules() {
		if r.ID == g.Rule {
			// A keyword of JSON Schema keeps its letters.
			if word, _, _ := strings.Cut(r.Breaks, " "); strings.ToLower(word) != word {
				return r.Breaks
			}
			return strings.ToUpper(r.Breaks[:1]) + r.Breaks[1:]
		}
	}
	return g.Text
}

// times says how often a rule was broken, where that was more than once.
func (g ruleGroup) times() string {
	if len(g.list) < 2 {
		return ""
	}
	return "×" + grouped(int64(len(g.list)))
}

// occurrencesShown is how many findings of one rule the panel lists.
const occurrencesShown = 50

// byRule groups findings, the gravest first and then by name.
func byRule(list []Finding) []ruleGroup {
	var out []ruleGroup
	at := map[string]int{}
	for _, f := range list {
		key := f.Severity + " " + f.Rule
		i, ok := at[key]
		if !ok {
			i = len(out)
			at[key] = i
			out = append(out, ruleGroup{Finding: f})
		}
		out[i].list = append(out[i].list, f)
	}
	slices.SortStableFunc(out, func(a, b ruleGroup) int {
		return cmp.Or(cmp.Compare(gravity(a.Severity), gravity(b.Severity)), strings.Compare(a.Rule, b.Rule))
	})
	return out
}

// found words a server's counts.
func (s Server) found() string {
	return cmp.Or(counted(s.Violations, s.Shoulds, s.Advices), "No findings")
}

func (s Server) worst() string {
	for i, n := range []int{s.Violations, s.Shoulds, s.Advices} {
		if n > 0 {
			return severities[i]
		}
	}
	return ""
}

// foundWords tell a row's findings to those who cannot see the mark.
func (r Row) foundWords() string {
	worst := countsOf([]Finding{{Severity: r.Worst}})
	if r.Findings == 1 {
		return worst
	}
	return plural(r.Findings, "finding", "findings") + ", the most serious a " + strings.TrimPrefix(worst, "1 ")
}
