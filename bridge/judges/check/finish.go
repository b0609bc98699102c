package check

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/judges/check/judge"
	"elicitation-inspector/bridge/judges/check/report"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/wire"
)

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
		for i, c := range r.calls {
			out.Problems = append(out.Problems, r.unproven(i, c)...)
		}
	}
	slices.SortStableFunc(out.Problems, func(a, b report.Problem) int {
		return a.Kind.Rank() - b.Kind.Rank()
	})
	order, tried := map[string]int{}, map[string]bool{}
	for _, one := range r.results {
		tried[one.Behaviour] = true
	}
	for _, b := range judge.Behaviours() {
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
	r.Server.Redaction.Document(out) // all trials have been learnt by now
}

// unproven returns the problems of a call of which most trials could not be made, or that
// has the result of an accepted call after a decline.
func (r *runner) unproven(call int, c chosen) (list []report.Problem) {
	made, untried, name := 0, 0, string(c.Kind)+" "+c.Key
	proceeds := report.Problem{Kind: report.DeclineProceeds, Call: name, Text: "After a decline its result is that of an accepted call. Nobody looked whether it was done.", Do: "Name something that shows what it does: --witness 'command:LINE'"}
	for _, one := range r.results {
		if one.Call == call {
			made++
		}
		for _, f := range one.Findings {
			switch {
			case one.Call != call:
			case f.Rule == report.RuleNotTried:
				untried++
			case f.Rule == report.RuleConsent && f.Verdict == report.Warn && !slices.Contains(proceeds.Revisions, one.Revision):
				proceeds.Revisions = append(proceeds.Revisions, one.Revision)
			}
		}
	}
	if 2*untried > made && len(r.Behaviours) == 0 {
		list = append(list, report.Problem{Kind: report.MostlyUntried, Call: name, Text: fmt.Sprintf("Of its %s, %d could not be made as they were meant, so that little of it was judged.", wording.Plural(made, "trial"), untried),
			Do: "See why it does not ask each time: put the world back with --reset, or give arguments with which it always asks."})
	}
	reads := func(item conversation.Item) bool { // it shows something, and needs no arguments
		return item.Key != c.Key && (item.Kind == conversation.Resource || item.Kind == conversation.Tool && item.ReadOnly && strings.Trim(string(rawjson.Member(item.Schema, "required")), "[] ") == "")
	}
	if i := slices.IndexFunc(r.items, reads); i >= 0 {
		proceeds.Do += ", or perhaps --witness " + wording.ShellWord(string(r.items[i].Kind)+":"+r.items[i].Key)
	}
	if proceeds.Do += "."; len(proceeds.Revisions) > 0 {
		list = append(list, proceeds)
	}
	return list
}

// undeclaredMode is the ID of the linter's rule on questions in a mode that the client did
// not declare.
const undeclaredMode = "mode-undeclared"

// tellOnce keeps each linter finding only in the first trial of its call and revision, so
// that one defect is one finding. Questions in an undeclared mode stay once for each
// declaration of the client, because these are different defects.
func tellOnce(results []report.Result) {
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
			if report.RuleOf(f.Rule).ID == "" { // a rule of the linter
				told[of(one, f)] = true
			}
		}
	}
}

func (p *progress) note(call int, problem report.Problem) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.problems[call] = append(p.problems[call], problem)
}

// honestly notes whether an honest run asked something, and if it failed.
func (r *runner) honestly(call int, m *made, asks bool) {
	r.mu.Lock()
	r.asked[call] = r.asked[call] || asks
	r.mu.Unlock()
	if m.Unconnected == "" && m.Exit == nil && !slices.ContainsFunc(m.Calls, judge.Made.Failed) {
		return
	}
	how := strings.TrimSuffix(m.outcome(), ".")
	if !strings.HasSuffix(how, "…") {
		how += "."
	}
	p := report.Problem{
		Kind: report.CallBroken, Revisions: []string{m.Revision}, Text: "It asked nothing, and did not succeed: " + how,
		Do: "Give it arguments that it takes, with --args or in a plan, or leave it out with skip in a plan.",
	}
	switch {
	case len(m.questions()) > 0:
		p.Text = "It asked the client, but no person, and did not succeed: " + how
		p.Do = "Declare what it asks for, with --sampling or --roots, or leave it out with skip in a plan."
	case len(m.Calls) > 0 && m.Calls[0].Unsent != "":
		p.Do = "Have it ask by an input-required result in this revision, or check the others alone with --protocol."
	case len(m.Calls) > 0 && m.Calls[0].TimedOut:
		p.Do = "Give it more time with --timeout, or arguments with which it ends; or leave it out with skip in a plan."
	}
	if asks {
		p.Kind, p.Text = report.HonestFailed, "It failed though its questions were answered honestly, so that nothing shows what a right answer does: "+how
		p.Do = "Give answers that it takes, with --answers or in a plan."
		if !slices.ContainsFunc(m.questions(), func(q *conversation.Question) bool { return q.State != conversation.Refused }) {
			p.Text = "It failed, and nobody could be asked what it asks, since the client had not declared that: " + how
			p.Do = "Have it do without that in this revision, or check the others alone with --protocol."
		}
	}
	r.note(call, p)
}

// summed joins the problems of a call that differ only in the revision.
func summed(call report.Call, list []report.Problem) (out []report.Problem) {
	for _, p := range list {
		same := func(o report.Problem) bool { return o.Kind == p.Kind && o.Text == p.Text }
		if i := slices.IndexFunc(out, same); i >= 0 {
			out[i].Revisions = append(out[i].Revisions, p.Revisions...)
			continue
		}
		p.Call = string(call.Kind) + " " + call.Key
		out = append(out, p)
	}
	for _, p := range out {
		slices.Sort(p.Revisions)
		slices.Reverse(p.Revisions)
	}
	return out
}

// unasked returns the problems of a check in which nothing was tried, or in which a call
// that the user named asked nothing.
func (r *runner) unasked(tried bool) (list []report.Problem) {
	untried := slices.Clone(r.report.Skipped)
	for _, c := range r.report.Silent {
		untried = append(untried, report.NotMade{Call: c, Why: "It asked nothing in any revision."})
	}
	var destructive []string
	for i, c := range untried {
		name := string(c.Kind) + " " + c.Key
		if c.Destructive && i < len(r.report.Skipped) {
			destructive = append(destructive, c.Key)
		}
		isNamed := func(w Wanted) bool { return w.Key == c.Key && (w.Kind == "" || w.Kind == c.Kind) }
		if c.Why == skippedByPlan || !slices.ContainsFunc(r.Wanted, isNamed) ||
			slices.ContainsFunc(r.report.Problems, func(p report.Problem) bool { return p.Call == name }) {
			continue
		}
		do := "Give it the arguments with which it asks, with --args or in a plan; or leave it out."
		if c.Destructive && i < len(r.report.Skipped) { // what was skipped says itself what would let it in
			do = "Allow it if the server may be harmed, or leave it out."
		}
		list = append(list, report.Problem{Kind: report.AskedNothing, Call: name, Text: "It was named, and not tried: " + c.Why, Do: do})
	}
	if tried || len(r.calls) > 0 && len(list)+len(r.report.Problems) > 0 {
		return list
	}
	p := report.Problem{Kind: report.NothingTried, Text: "Nothing was tried: no call of the server asked a question that a behaviour answers.", Do: "Name a tool that asks, with the arguments with which it does: inspector check TOOL --args JSON."}
	if len(destructive) > 0 {
		const shown = 20
		most := min(len(destructive), shown)
		p.Text = fmt.Sprintf("Nothing was tried: %s left out because of the annotation destructiveHint, which some libraries set where nothing is said.", wording.Plural(len(destructive), "tool"))
		p.Do = "Point the check at a server that may be harmed, and allow them: --allow-destructive '*' would let in " + strings.Join(destructive[:most], ", ")
		if more := len(destructive) - most; more > 0 {
			p.Do += fmt.Sprintf(" and %d more", more)
		}
		p.Do += "."
	}
	return append(list, p)
}

// unspoken lists the revisions that the server announces or the user named, and in which
// there was no session.
func (r *runner) unspoken(revisions []string, met []greeted) (list []report.Problem) {
	announced := slices.Clone(r.Revisions)
	for _, m := range met {
		announced = append(announced, m.announced...)
	}
	for i, revision := range revisions {
		if m := met[i]; slices.Contains(announced, revision) && !slices.Contains(r.revisions, revision) {
			why := fmt.Sprintf("the server speaks %s in its place", m.protocol)
			if m.err != nil {
				why = m.err.Error()
			}
			list = append(list, report.Problem{
				Kind: report.NotSpoken, Revisions: []string{revision}, Text: fmt.Sprintf("Nothing was tried in %s: %s.", revision, why),
				Do: "Fix the server, or have it announce only the revisions that it speaks; --protocol checks one revision alone.",
			})
		}
	}
	return list
}

// announcedIn returns the revisions that a server says it speaks, in the messages of a log.
func announcedIn(log *wire.Log) (list []string) {
	for seq := int64(1); seq <= log.Len(); seq++ {
		f, err := log.Frame(seq)
		if err != nil || f.Dir != wire.ServerToClient {
			continue
		}
		list = append(list, rawjson.Text(rawjson.Member(f.Message.Result, "protocolVersion")))
		for _, all := range []json.RawMessage{rawjson.Member(f.Message.Result, "supportedVersions"), rawjson.Member(rawjson.Member(f.Message.Error, "data"), "supported")} {
			for _, v := range rawjson.Elements(all) {
				list = append(list, rawjson.Text(v))
			}
		}
	}
	return list
}
