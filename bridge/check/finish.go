package check

import (
	"cmp"
	"context"
	"slices"
	"time"

	"elicitation-inspector/bridge/check/report"
	"elicitation-inspector/bridge/lint"
)

// finish completes the report.
func (r *runner) finish(ctx context.Context) {
	out := &r.report
	out.Took = time.Since(r.began).Round(time.Millisecond)
	out.Directory, out.Made = r.Record, r.look().Done
	switch {
	case ctx.Err() != nil:
		out.Stopped = "interrupted"
	case r.failed != nil:
		out.Stopped = r.failed.Error()
	}
	place, tries := map[int]int{}, false // place: index in the report, by index in r.calls
	for _, one := range r.results {
		place[one.Call] = -1
		tries = tries || r.asked[one.Call] && !slices.ContainsFunc(one.Findings, func(f report.Finding) bool { return f.Rule == report.RuleNotTried })
	}
	for i, c := range r.calls {
		if _, has := place[i]; has {
			place[i] = len(out.Calls)
			out.Calls = append(out.Calls, c.Call)
		}
		if !r.asked[i] && ctx.Err() == nil {
			out.Silent = append(out.Silent, c.Call)
		}
		out.Problems = append(out.Problems, summed(c.Call, r.problems[i])...)
	}
	if ctx.Err() == nil && r.failed == nil {
		out.Problems = append(out.Problems, r.unasked(tries)...)
	}
	slices.SortStableFunc(out.Problems, func(a, b report.Problem) int {
		return a.Kind.Rank() - b.Kind.Rank()
	})
	order, tried := map[string]int{}, map[string]bool{}
	for _, one := range r.results {
		tried[one.Behaviour] = true
	}
	for _, b := range Behaviours() {
		if tried[b.Name] {
			order[b.Name] = len(out.Behaviours)
			out.Behaviours = append(out.Behaviours, b)
		}
	}
	for _, one := range r.results {
		one.Call = place[one.Call]
		out.Results = append(out.Results, one)
	}
	slices.SortStableFunc(out.Results, func(a, b report.Result) int {
		return cmp.Or(cmp.Compare(a.Call, b.Call), cmp.Compare(order[a.Behaviour], order[b.Behaviour]),
			cmp.Compare(a.Question, b.Question), cmp.Compare(a.Field, b.Field), cmp.Compare(b.Revision, a.Revision))
	})
	tellOnce(out.Results)
}

// undeclaredMode is the ID of the linter's rule on questions in a mode that the client did
// not declare.
const undeclaredMode = "mode-undeclared"

// tellOnce keeps each linter finding only in the first trial of its call and revision, so
// that one defect is one finding. Questions in an undeclared mode stay once for each
// declaration of the client, because these are different defects.
func tellOnce(results []report.Result) {
	rules := map[string]bool{}
	for _, rule := range lint.Rules() {
		rules[rule.ID] = true
	}
	type defect struct {
		call                     int
		revision, rule, declared string
	}
	of := func(r *report.Result, f report.Finding) defect {
		d := defect{call: r.Call, revision: r.Revision, rule: f.Rule}
		if f.Rule == undeclaredMode {
			d.declared = r.Behaviour
		}
		return d
	}
	told := map[defect]bool{}
	for i := range results {
		one := &results[i]
		one.Findings = slices.DeleteFunc(one.Findings, func(f report.Finding) bool { return told[of(one, f)] })
		one.Verdict = report.Worst(one.Findings)
		for _, f := range one.Findings {
			if rules[f.Rule] {
				told[of(one, f)] = true
			}
		}
	}
}
