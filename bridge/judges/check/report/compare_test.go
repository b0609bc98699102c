package report

import (
	"slices"
	"testing"
)

// turned returns the report with all its lists in another order.
func turned(r *Report) *Report {
	slices.Reverse(r.Calls)
	slices.Reverse(r.Behaviours)
	slices.Reverse(r.Results)
	for i := range r.Results {
		r.Results[i].Call = len(r.Calls) - 1 - r.Results[i].Call
		slices.Reverse(r.Results[i].Findings)
	}
	return r
}

func TestCompare(t *testing.T) {
	found := func(rule string, v Verdict) Finding { return Finding{Rule: rule, Verdict: v} }
	for name, c := range map[string]struct {
		change func(now *Report)
		want   string
	}{
		"the same":              {func(*Report) {}, "0 new, 0 fixed, 5 as before"},
		"another order":         {func(now *Report) { turned(now) }, "0 new, 0 fixed, 5 as before"},
		"another text":          {func(now *Report) { now.Results[3].Findings[0].Text = "It died." }, "0 new, 0 fixed, 5 as before"},
		"fixed":                 {func(now *Report) { now.Results[3].Findings, now.Results[3].Verdict = nil, Pass }, "0 new, 1 fixed, 4 as before"},
		"one of two is mended":  {func(now *Report) { now.Results[2].Findings = now.Results[2].Findings[:1] }, "0 new, 1 fixed, 4 as before"},
		"new":                   {func(now *Report) { now.Results[0].Findings = []Finding{found("no-response", Fail)} }, "1 new, 0 fixed, 5 as before"},
		"new in another field":  {func(now *Report) { now.Results[4].Field = "colour" }, "1 new, 0 fixed, 4 as before, 1 not tried this time"},
		"the trial is not made": {func(now *Report) { now.Results = slices.Delete(now.Results, 3, 4) }, "0 new, 0 fixed, 4 as before, 1 not tried this time"},
		"inconclusive now": {func(now *Report) {
			now.Results[3].Findings = []Finding{found("not-tried", Inconclusive)}
		}, "0 new, 0 fixed, 4 as before, 1 inconclusive now"},
		"inconclusive is no new": {func(now *Report) { now.Results[0].Findings = []Finding{found("x", Inconclusive)} }, "0 new, 0 fixed, 5 as before"},
		// The linter's findings stand in the first trial that shows them.
		"linted in another trial": {func(now *Report) {
			now.Results[3].Findings = append(now.Results[3].Findings, now.Results[1].Findings...)
			now.Results = slices.Delete(now.Results, 1, 2)
		}, "0 new, 0 fixed, 5 as before"},
		"linted and fixed": {func(now *Report) { now.Results[1].Findings = nil }, "0 new, 1 fixed, 4 as before"},
	} {
		now := sample()
		c.change(now)
		Compare(sample(), now)
		if got := Compared(now.Baseline); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
		marked := 0
		for _, d := range defects(now) {
			if d.finding.New {
				marked++
			}
		}
		if marked != now.Baseline.New {
			t.Errorf("%s: %d are marked new, not %d", name, marked, now.Baseline.New)
		}
	}
	if Compared(nil) != "" {
		t.Error("a report that was not compared says so")
	}
}
