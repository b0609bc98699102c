package views

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"elicitation-inspector/bridge/lint"
	"elicitation-inspector/bridge/wording"
)

// Tally is the number of findings of each severity.
type Tally map[lint.Severity]int

// TallyOf counts findings.
func TallyOf(list []lint.Finding) Tally {
	t := Tally{}
	for _, f := range list {
		t[f.Severity]++
	}
	return t
}

func (t Tally) total() (n int) {
	for _, count := range t {
		n += count
	}
	return n
}

// worst returns the gravest severity, "" if there are no findings.
func (t Tally) worst() string {
	if len(t) == 0 {
		return ""
	}
	return slices.Min(slices.Collect(maps.Keys(t))).String()
}

func (t Tally) words() string {
	part := func(s lint.Severity, one, many string) string {
		return either(t[s] > 0, wording.Count(t[s], one, many), "")
	}
	return wording.Join(" · ", part(lint.Violation, "violation", "violations"), part(lint.Should, "recommendation", "recommendations"), part(lint.Advice, "suggestion", "suggestions"))
}

func (s Server) found() string { return cmp.Or(s.Findings.words(), "No findings") }

// foundWords describes a row's findings for people who cannot see the mark.
func (r Row) foundWords() string {
	n := r.Findings.total()
	if n == 1 {
		return r.Findings.words()
	}
	return wording.Count(n, "finding", "findings") + ": " + r.Findings.words()
}

// whereIn returns a JSON pointer into a frame, or a word for the whole frame.
func whereIn(pointer string) string { return cmp.Or(pointer, "the whole frame") }

func broken(f lint.Found) string {
	for _, r := range lint.Rules() {
		if r.ID == f.Rule {
			// Keep the case of keywords of JSON Schema.
			if word, _, _ := strings.Cut(r.Breaks, " "); strings.ToLower(word) != word {
				return r.Breaks
			}
			return wording.Capital(r.Breaks)
		}
	}
	return f.Text
}

// times formats a number of occurrences, "" for one.
func times(n int) string { return either(n > 1, "×"+wording.Grouped(int64(n)), "") }

// occurrencesShown is the maximum number of findings of one rule in the panel.
const occurrencesShown = 50

func byRule(list []lint.Found) [][]lint.Found {
	compare := func(a, b lint.Found) int {
		return cmp.Or(cmp.Compare(a.Severity, b.Severity), strings.Compare(a.Rule, b.Rule))
	}
	var out [][]lint.Found
	for _, f := range slices.SortedStableFunc(slices.Values(list), compare) {
		if last := len(out) - 1; last >= 0 && compare(out[last][0], f) == 0 {
			out[last] = append(out[last], f)
		} else {
			out = append(out, []lint.Found{f})
		}
	}
	return out
}
