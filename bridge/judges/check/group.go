package check

import (
	"context"
	"slices"
	"sync"
	"time"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/judges/check/judge"
	"elicitation-inspector/bridge/judges/check/report"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/meaning/lint"
)

// Time limits of the server's own time: for honest calls, and the minimum for other calls.
const (
	honestLimit = 15 * time.Second
	leastLimit  = 5 * time.Second
)

// slowFrom is the duration from which an honest call counts as mostly waiting.
const slowFrom = 4 * worksFor

// reference holds the honest runs of a call in a revision.
type reference struct {
	made, after []judge.Made
	rules       map[string]bool // IDs of the linter rules that the server breaks in these runs
}

// group holds the trials of a call in a revision.
type group struct {
	c      *chosen
	base   report.Trial
	ref    reference
	trials []*trial
	limit  time.Duration
	tried  []*assessed // of trials; nil where ctx ended
	// patient reports that the server waits for an answer for longer than the limit.
	patient bool
	// early reports that a witness saw the call act before its question was answered.
	early bool
}

// prepare makes a call with honest answers, and plans its trials. It returns nil if there
// are none.
func (r *runner) prepare(ctx context.Context, c *chosen, base report.Trial) *group {
	first := r.honest(ctx, c, base, 1)
	if first == nil {
		return nil
	}
	defer first.close()
	runs := []*made{first}
	asks := slices.ContainsFunc(first.questions(), func(q *conversation.Question) bool { return q.Method == mcp.MethodElicit })
	r.honestly(base.Call, first, asks)
	if asks && r.Asked != nil {
		r.Asked(first.session.Log(), first.transcript)
	}
	switch {
	case first.Unconnected == "" && first.Exit == nil && !asks:
		first.Quiet = true // the other revisions are judged first
		one := r.judge(c, first)
		r.mu.Lock()
		r.silent = append(r.silent, one)
		r.mu.Unlock()
		return nil
	case asks && first.Exit == nil && !first.Calls[0].TimedOut:
		if second := r.honest(ctx, c, base, 2); second != nil {
			defer second.close()
			runs = append(runs, second)
		}
	}
	ref := r.weigh(c, runs)
	list := r.questions(c, runs)
	if len(list) == 0 {
		return nil
	}
	trials, limit := r.plan(c, base, list), r.limit(c, ref.made)
	slow := slices.ContainsFunc(ref.made, func(m judge.Made) bool { return m.End.Sub(m.Start) > slowFrom })
	for _, t := range trials {
		t.alone, t.slow = first.Calls[0].TimedOut, slow
	}
	r.expect(trials, limit) // so that the total is known before the first one is made
	return &group{c: c, base: base, ref: ref, trials: trials, limit: limit}
}

func (r *runner) tryAll(ctx context.Context, g *group) {
	g.tried = make([]*assessed, len(g.trials))
	var running sync.WaitGroup
	for i, t := range g.trials {
		running.Go(func() { g.tried[i] = r.try(ctx, g.c, t, g.limit, g.ref) })
	}
	running.Wait()
}

// conclude repeats trials without a response, judges all trials of a call in a revision by
// comparing them with each other, and adds their results to the report.
func (r *runner) conclude(ctx context.Context, g *group) {
	r.confirm(ctx, g)
	judge.Together(judgementsOf(g.tried))
	for _, one := range g.tried {
		if one != nil {
			r.over(r.result(one))
		}
	}
}

// confirm repeats trials without a response in time, with twice the limit, because a busy
// machine can be the cause. It stops at the first trial of a behaviour that times out
// again: the behaviour's other trials then keep their findings. If all sessions share the
// server, it makes one repeat at a time.
func (r *runner) confirm(ctx context.Context, g *group) {
	hung := map[string][]int{} // indexes into list by behaviour
	for i, one := range g.tried {
		if one != nil && one.hung() {
			hung[one.Behaviour] = append(hung[one.Behaviour], i)
		}
	}
	var running sync.WaitGroup
	for _, places := range hung {
		running.Go(func() {
			for _, i := range places {
				again := *g.trials[i]
				again.run, again.Lasts = 2, true
				r.expect([]*trial{&again}, 2*g.limit)
				if r.shared {
					r.repeat <- struct{}{}
				}
				second := r.try(ctx, g.c, &again, 2*g.limit, g.ref)
				if r.shared {
					<-r.repeat
				}
				if second == nil {
					return
				}
				if g.tried[i] = second; !second.hung() {
					continue
				}
				for k, f := range second.Findings {
					if isHanging(f) {
						second.Findings[k].Text += " It was so in two trials, the second of which gave it twice the time."
					}
				}
				return
			}
		})
	}
	running.Wait()
}

// questions returns the questions of the trial's first call.
func (m *made) questions() []*conversation.Question {
	if len(m.Calls) == 0 {
		return nil
	}
	return m.Calls[0].Questions
}

// honest makes a call with honest answers. It returns nil if ctx ends.
func (r *runner) honest(ctx context.Context, c *chosen, base report.Trial, run int) *made {
	t := &trial{Trial: base, run: run, answers: c.honest.file()}
	t.Behaviour = judge.BehaviourAccept
	limit := max(r.Timeout, c.timeout)
	if limit == 0 {
		limit = honestLimit
	}
	r.expect([]*trial{t}, limit)
	return r.make(ctx, c, t, limit)
}

// limit returns the limit of the server's own time in a call, from the durations of honest
// calls unless the options have one.
func (r *runner) limit(c *chosen, honest []judge.Made) time.Duration {
	if limit := max(r.Timeout, c.timeout); limit != 0 {
		return limit
	}
	limit := leastLimit
	for _, m := range honest {
		if !m.TimedOut {
			limit = max(limit, 3*m.End.Sub(m.Start)+2*time.Second)
		}
	}
	return limit
}

// weigh judges the honest runs by comparing them with each other, and adds the most severe
// result to the report.
func (r *runner) weigh(c *chosen, runs []*made) reference {
	ref := reference{rules: map[string]bool{}}
	for _, m := range runs {
		ref.made = append(ref.made, m.Calls...)
		if m.After != nil {
			ref.after = append(ref.after, *m.After)
		}
		for _, f := range m.Found {
			ref.rules[f.Rule] = true
		}
	}
	var worst *assessed // the first of equally severe ones
	for _, m := range runs {
		m.Honest, m.HonestAfter = ref.made, ref.after
		one := r.judge(c, m)
		if worst == nil || report.Worst(one.Findings).Rank() < report.Worst(worst.Findings).Rank() {
			worst = one
		}
	}
	if r.tries(judge.BehaviourAccept) || slices.ContainsFunc(worst.Findings, func(f report.Finding) bool { return report.RuleOf(f.Rule).ID == "" }) {
		r.over(r.result(worst)) // what the linter says stands in every report
	}
	return ref
}

// try runs a trial and judges it without the other trials. It returns nil if ctx ends.
func (r *runner) try(ctx context.Context, c *chosen, t *trial, limit time.Duration, ref reference) *assessed {
	m := r.make(ctx, c, t, limit)
	if m == nil {
		return nil
	}
	defer m.close()
	m.Honest, m.HonestAfter = ref.made, ref.after
	// Linter findings that honest runs have too are reported there.
	m.Found = slices.DeleteFunc(m.Found, func(f lint.Found) bool { return ref.rules[f.Rule] })
	one := r.judge(c, m)
	r.ended(r.result(one))
	return one
}

// judgementsOf leaves out trials that did not run because ctx ended.
func judgementsOf(list []*assessed) (all []*judge.Judgement) {
	for _, one := range list {
		if one != nil {
			all = append(all, one.Judgement)
		}
	}
	return all
}

// over adds the final result of a trial to the report.
func (r *runner) over(result report.Result) {
	r.mu.Lock()
	r.results = append(r.results, result)
	r.mu.Unlock()
	r.ended(result)
}

func (r *runner) ended(result report.Result) {
	if r.Ended != nil {
		result.Findings = slices.Clone(result.Findings) // the report's findings may still change
		r.Ended(result)
	}
}
