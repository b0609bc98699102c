package check

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"elicitation-inspector/bridge/judges/check/judge"
	"elicitation-inspector/bridge/judges/check/report"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/meaning/fault"
)

// looks holds the words of a witness before, during and after one trial.
type looks struct {
	of                   *watcher
	before, asked, after []string // asked: while the question under trial waited; nil if it was not asked
	err                  error
	timedOut             bool
	sameState            bool // the call used a requestState again, and got it, so that it used its own
}

func (l *looks) take(ctx context.Context, into *[]string) {
	lines, err := l.of.look(ctx)
	if err != nil {
		l.err = err
		return
	}
	*into = lines
}

// late is how long a server may take to act after it has been cancelled, or got an answer
// that comes after its response.
const late = 500 * time.Millisecond

// linger keeps the session open for a moment where the call has no response, or an answer may
// have come after it: a server whose input ends may not get to act on that.
func (l *looks) linger(ctx context.Context, t *trial, out outcomes) {
	l.timedOut = len(out.calls) > 0 && out.calls[0].TimedOut
	if len(out.calls) > 0 && (t.Follows || t.Behaviour == "answer-withdrawn" || out.calls[0].Result == nil && out.calls[0].Error == nil) {
		select {
		case <-time.After(late):
		case <-ctx.Done():
		}
	}
}

// refuses reports whether the behaviour of a trial gives no consent, so that the trial must
// change nothing.
func (t *trial) refuses() bool {
	f, err := fault.Find(t.Behaviour)
	return t.Did != "" || t.Behaviour == judge.BehaviourDenied || t.Behaviour == "never" || err == nil && (f.Group == fault.Error || f.Group == fault.Result || f.Group == fault.Content && t.Field != "")
}

// watch makes trials with looks at the witnesses, before all others are made: it records
// their effects for the judge. Accepted calls are made alone; what refuses is
// made at the same time, since it must change nothing.
func (r *runner) watch(ctx context.Context, groups []*group) {
	groups = slices.DeleteFunc(slices.Clone(groups), func(g *group) bool { return g == nil || g.c.watcher == nil })
	var learning sync.WaitGroup
	learns := map[*watcher]bool{}
	for _, g := range groups {
		if w := g.c.watcher; !learns[w] {
			learns[w] = true
			learning.Go(func() { w.failed = w.learn(ctx) })
		}
	}
	learning.Wait()
	looks := 0
	for _, g := range groups {
		looks += 2 + len(slices.DeleteFunc(slices.Clone(g.trials), func(t *trial) bool { return !t.refuses() && !t.Twice }))
	}
	r.reserve(looks)
	var seeing []*group
	for _, g := range groups {
		if r.agrees(ctx, g) {
			seeing = append(seeing, g)
		}
	}
	r.notSeen(ctx, groups, seeing)
	var plain, withdrawn []seen
	for _, g := range seeing {
		for _, t := range g.trials {
			switch {
			case t.Behaviour == "answer-withdrawn":
				withdrawn = append(withdrawn, seen{g: g, t: t})
			case t.refuses():
				plain = append(plain, seen{g: g, t: t})
			}
		}
	}
	r.refuseAll(ctx, plain)
	// Where the server does not give up by itself, its question is over when the client cancels.
	r.refuseAll(ctx, slices.DeleteFunc(withdrawn, func(s seen) bool { return s.g.patient }))
	r.reserve(0)
}

// seen is a trial that a witness is looked at for.
type seen struct {
	g     *group
	t     *trial
	waits bool // it waits for the limit of its call
}

// agrees makes a call with honest answers, alone, and with one answer sent twice. It reports
// whether the witness sees what an accepted call does.
func (r *runner) agrees(ctx context.Context, g *group) bool {
	if g.c.watcher.failed != nil || ctx.Err() != nil {
		return false
	}
	honest := &trial{Trial: g.base, answers: g.c.honest.file()}
	honest.Behaviour = judge.BehaviourAccept
	var once []float64
	steady := true
	for range 2 { // what is done again may change nothing, and then nothing is to be seen of a refusal either
		l := r.looked(ctx, g, honest, nil)
		if l == nil || l.err != nil || slices.Equal(l.before, l.after) {
			return false
		}
		change := amount(l.before, l.after)
		steady = once == nil || slices.Equal(once, change)
		once = change
	}
	for _, t := range g.trials {
		if !steady || !t.Twice {
			continue
		}
		if l := r.looked(ctx, g, t, nil); l != nil && l.err == nil && !l.sameState && isTwice(once, amount(l.before, l.after)) {
			t.twice = l.of.saw(l.before, l.after, "the call") + ", which is twice the change of a call that is accepted once"
		}
	}
	return true
}

// notSeen notes the calls whose witness sees no accepted call.
func (r *runner) notSeen(ctx context.Context, groups, seeing []*group) {
	for _, g := range groups {
		if slices.Contains(seeing, g) || ctx.Err() != nil {
			continue
		}
		p := report.Problem{
			Kind: report.WitnessBlind, Revisions: []string{g.base.Revision}, Text: fmt.Sprintf("The witness %s says the same before and after a call that is accepted, so that it can say nothing of one that is refused.", g.c.watcher.Source),
			Do: "Look at what the call changes. If the call changes it only once, put it back with --reset.",
		}
		if err := g.c.watcher.failed; err != nil {
			p.Text, p.Do = "The witness cannot be used: "+err.Error()+".", "Fix it, or name another one."
		}
		r.note(g.base.Call, p)
	}
}

// refuseAll makes trials that refuse, and notes what changes during several of them and for
// none alone.
func (r *runner) refuseAll(ctx context.Context, list []seen) {
	if changed, alone := r.refusing(ctx, list, false); !changed || alone || ctx.Err() != nil {
		return
	}
	r.note(list[0].g.base.Call, report.Problem{Kind: report.EffectUnrepeated, Text: fmt.Sprintf("The witness %s changed while several trials refused at the same time, and for none of them alone.", list[0].g.c.watcher.Source),
		Do: "See what else changes what the witness shows; or have the trials made one at a time, with --reset."})
}

// refusing makes trials that refuse, at the same time, and reports whether something changed,
// and whether it did for one of them alone. Where something changes during some of them, each
// half of these is made again, down to a trial by itself: those that wait apart from the
// others, side by side. What several trials show counts for none of them. known reports that
// something changes during these, so that only their halves need to be made.
func (r *runner) refusing(ctx context.Context, list []seen, known bool) (changed, alone bool) {
	// Where a trial has shown that the call acts before any answer, the same need not be waited for.
	list = slices.DeleteFunc(slices.Clone(list), func(s seen) bool { return s.t.Lasts && s.g.early })
	suspects := list
	if !known || len(list) == 1 {
		suspects = r.refuse(ctx, list)
	}
	switch {
	case len(suspects) == 0 || ctx.Err() != nil:
		return false, false
	case len(list) == 1:
		list[0].g.early = list[0].g.early || list[0].t.early != ""
		return true, true
	}
	for _, s := range suspects {
		s.t.effect, s.t.early = judge.Effect{}, ""
	}
	slices.SortFunc(suspects, func(a, b seen) int {
		if a.waits != b.waits { // those that wait come first
			return map[bool]int{true: -1, false: 1}[a.waits]
		}
		return cmp.Or(a.t.turn()-b.t.turn(), cmp.Compare(a.t.Behaviour, b.t.Behaviour))
	})
	half := slices.IndexFunc(suspects, func(s seen) bool { return !s.waits })
	apart := half > 0
	if !apart {
		half = (len(suspects) + 1) / 2
	}
	first, one := r.refusing(ctx, suspects[half:], false)
	// After a clean half it is the other one, and that need not be made as a whole again.
	_, other := r.refusing(ctx, suspects[:half], !first && !apart)
	return true, one || other
}

// refuse makes trials that refuse at the same time, and returns those during which something
// changed.
func (r *runner) refuse(ctx context.Context, list []seen) (suspects []seen) {
	var mu sync.Mutex
	var making sync.WaitGroup
	opening := map[*watcher][]string{}
	for _, s := range list {
		if _, has := opening[s.g.c.watcher]; has {
			continue
		}
		lines, err := s.g.c.watcher.look(ctx)
		if err != nil {
			lines = nil
		}
		opening[s.g.c.watcher] = lines
	}
	quiet := map[*watcher][]seen{} // trials during which nothing changed
	for _, s := range list {
		before := opening[s.g.c.watcher]
		if before == nil {
			continue
		}
		making.Go(func() {
			s.t.effect, s.t.early = judge.Effect{}, ""
			l := r.looked(ctx, s.g, s.t, before)
			if l == nil || l.err != nil {
				return
			}
			mu.Lock()
			defer mu.Unlock()
			s.waits = s.t.Lasts || l.timedOut
			s.g.patient = s.g.patient || s.t.Behaviour == "never" && l.timedOut
			if s.t.sees(l); !slices.Equal(l.before, l.after) || l.asked != nil && !slices.Equal(l.before, l.asked) {
				suspects = append(suspects, s)
			} else {
				quiet[l.of] = append(quiet[l.of], s)
			}
		})
	}
	making.Wait()
	if len(suspects) > 1 {
		r.reserve(len(suspects)) // about as many are made again
	}
	for w, silent := range quiet { // what is done only after the response
		if closing, err := w.look(ctx); err == nil && !slices.Equal(closing, opening[w]) && !slices.ContainsFunc(suspects, func(s seen) bool { return s.g.c.watcher == w }) {
			if suspects = append(suspects, silent...); len(list) == 1 {
				s := silent[0]
				s.t.effect = judge.Effect{State: judge.Changed, Text: w.saw(opening[w], closing, "the call")}
			}
		}
	}
	return suspects
}

// looked makes a trial and looks at the witness of its call. before holds the words of the
// witness if nothing happens; if it is nil, looked asks for them. It returns nil if ctx ends.
func (r *runner) looked(ctx context.Context, g *group, t *trial, before []string) *looks {
	again := *t
	again.run, again.alone = int(r.runs.Add(1))+2, true // no other run of the trial has this number
	again.looks = &looks{of: g.c.watcher, before: before}
	r.expect([]*trial{&again}, g.limit)
	m := r.make(ctx, g.c, &again, g.limit)
	if m == nil {
		return nil
	}
	defer m.close()
	agreedAfter := m.Behaviour != judge.BehaviourAccept && slices.ContainsFunc(m.questions(), func(q *conversation.Question) bool {
		return q.Fault == "" && q.Action == "accept" && slices.Index(m.questions(), q) >= max(t.Question, 1)
	})
	if m.Unconnected != "" || agreedAfter { // an effect may be of what was accepted honestly after the question under trial
		return nil
	}
	return again.looks
}

// sees takes over what a witness saw of the trial.
func (t *trial) sees(l *looks) {
	from := l.before
	if l.asked != nil {
		from = l.asked
		if t.Question <= 1 {
			t.early = l.of.saw(l.before, l.asked, "the question")
		}
	}
	if l.err != nil || l.after == nil {
		return
	}
	t.effect = judge.Effect{State: judge.Unchanged, Text: l.of.Source + " said the same before and after it"}
	if saw := l.of.saw(from, l.after, "the answer"); saw != "" {
		t.effect = judge.Effect{State: judge.Changed, Text: saw}
	}
}
