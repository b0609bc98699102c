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

func (t Tally) words() string { return lint.Tally(t) }

func (s Server) found() string { return cmp.Or(s.Findings.words(), "No findings") }

// foundWords describes a row's findings for people who cannot see the mark.
func (r Row) foundWords() string {
	return lint.Sum(r.Findings)
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

// FoundIn is a finding with the call that its frame belongs to.
type FoundIn struct {
	lint.Found
	Call string // name of the tool, prompt or resource; "" for none
}

// occurrencesShown is the maximum number of frames with the same finding, and of different
// findings of one rule, in the panel.
const occurrencesShown = 50

// sameFinding is a finding with all frames of which it was made.
type sameFinding []FoundIn

// grouped groups findings by severity and rule, the gravest first, and within a rule those
// that say the same.
func grouped(list []FoundIn) (rules [][]sameFinding) {
	sorted := slices.SortedStableFunc(slices.Values(list), func(a, b FoundIn) int {
		return cmp.Or(cmp.Compare(a.Severity, b.Severity), strings.Compare(a.Rule, b.Rule))
	})
	at := map[lint.Alike]int{} // index in the last rule
	for _, f := range sorted {
		last := len(rules) - 1
		if last < 0 || rules[last][0][0].Rule != f.Rule || rules[last][0][0].Severity != f.Severity {
			rules, last = append(rules, nil), last+1
			clear(at)
		}
		i, known := at[f.Alike()]
		if !known {
			at[f.Alike()] = len(rules[last])
			rules[last] = append(rules[last], sameFinding{f})
			continue
		}
		rules[last][i] = append(rules[last][i], f)
	}
	return rules
}
