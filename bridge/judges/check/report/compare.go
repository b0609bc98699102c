package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/meaning/lint"
)

// trialKey identifies a trial across reports. For a linter finding it is only the call and
// the revision, because the finding stands in the first trial that shows it, which can be
// another one each time.
type trialKey struct {
	kind                       conversation.Kind
	key, revision              string
	behaviour, field, question string
}

type findingKey struct {
	trialKey
	rule string
}

// Compare sets the Baseline of a report, and New of its findings, by comparing it with an
// earlier report.
func Compare(earlier, now *Report) {
	before, tried, clear := map[findingKey]bool{}, map[trialKey]bool{}, map[trialKey]bool{}
	for key := range defects(earlier) {
		before[key] = true
	}
	for i := range now.Results {
		one := &now.Results[i]
		own, whole := keyOf(now, one, false), keyOf(now, one, true)
		tried[own], tried[whole] = true, true
		clear[own] = !slices.ContainsFunc(one.Findings, func(f Finding) bool { return f.Verdict == Inconclusive })
		clear[whole] = clear[whole] || clear[own]
	}
	b := &Baseline{Began: earlier.Began, Server: earlier.Server}
	found := map[findingKey]bool{}
	for key, d := range defects(now) {
		found[key] = true
		if d.finding.New = !before[key]; d.finding.New {
			b.New++
		} else {
			b.Known++
		}
	}
	for key, d := range defects(earlier) {
		past := Past{
			Kind: key.kind, Key: key.key, Behaviour: d.result.Behaviour, Revision: key.revision, Question: d.result.Question, Field: d.result.Field,
			Rule: key.rule, Verdict: d.finding.Verdict, Text: d.finding.Text,
		}
		switch {
		case found[key]:
		case !tried[key.trialKey]:
			b.Gone = append(b.Gone, past)
		case !clear[key.trialKey]:
			b.Unclear = append(b.Unclear, past)
		default:
			b.Mended = append(b.Mended, past)
		}
	}
	now.Baseline = b
}

func keyOf(r *Report, one *Result, linted bool) trialKey {
	call := r.Calls[one.Call]
	key := trialKey{kind: call.Kind, key: call.Key, revision: one.Revision}
	if !linted {
		key.behaviour, key.field, key.question = one.Behaviour, one.Field, fmt.Sprint(one.Question)
	}
	return key
}

// defect is a finding with verdict Fail or Warn.
type defect struct {
	result  *Result
	finding *Finding
}

func defects(r *Report) func(yield func(findingKey, defect) bool) {
	return func(yield func(findingKey, defect) bool) {
		for i := range r.Results {
			one := &r.Results[i]
			for k := range one.Findings {
				f := &one.Findings[k]
				if f.Verdict.Defect() && !yield(findingKey{keyOf(r, one, lint.RuleOf(f.Rule).ID != ""), f.Rule}, defect{one, f}) {
					return
				}
			}
		}
	}
}

// Compared sums the comparison up: "2 new, 3 fixed". It is "" without a baseline.
func Compared(b *Baseline) string {
	if b == nil {
		return ""
	}
	words := []string{fmt.Sprintf("%d new", b.New), fmt.Sprintf("%d fixed", len(b.Mended))}
	add := func(n int, what string) {
		if n > 0 {
			words = append(words, fmt.Sprintf("%d %s", n, what))
		}
	}
	add(b.Known, "as before")
	add(len(b.Unclear), "inconclusive now")
	add(len(b.Gone), "not tried this time")
	return strings.Join(words, ", ")
}

// since names the earlier report.
func since(b *Baseline) string {
	return fmt.Sprintf("the check of %s on %s", b.Server, b.Began.UTC().Format(time.DateOnly))
}
