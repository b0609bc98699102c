package judge

import (
	"encoding/json"
	"fmt"
	"slices"

	"elicitation-inspector/bridge/base/alike"
	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/judges/check/report"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/meaning/elicit"
	"elicitation-inspector/bridge/meaning/fault"
)

// Together judges the trials of one call in one revision by comparing them. A result
// that equals an honest one proves something only if other trials show that the result
// depends on the answer, or that the server checks the requestState.
func Together(list []*Judgement) {
	if len(list) == 0 {
		return
	}
	failsAfterwards(list)
	var later []Made
	for _, j := range list {
		if j.hasSample() {
			later = append(later, *j.After)
		}
	}
	for _, j := range list {
		j.Later = later
	}
	steady := !slices.ContainsFunc(list, (*Judgement).unsteady)
	judgeConsent(list, steady)
	if !steady {
		return
	}
	for _, j := range list {
		if j.Behaviour == BehaviourOther {
			j.judgeLeak(list)
		}
		onTrial := j.questionOnTrial()
		if refusal := map[string]string{"invented-state": BehaviourDecline, "missing-key": "missing-key"}[j.traits.Forged]; refusal != "" && onTrial != nil && (j.standing == same || j.standing == filled) &&
			j.anyStands(list, []string{refusal}, refused, different) {
			j.find(report.RuleForgedState, report.Fail, "The client sent a requestState that it had forged, and did not accept, and the result is that of an accepted call: "+quoteResult(j.Calls[0])+". With the server's own state it is another one.", onTrial.AskedSeq, onTrial.AnswerSeq, j.Calls[0].ResultSeq)
		}
		if j.standing != same || onTrial == nil || j.says(report.RuleConsent, report.Fail) {
			continue
		}
		frames := []int64{onTrial.AskedSeq, onTrial.AnswerSeq, j.Calls[0].ResultSeq}
		switch {
		case isContentFault(j.Behaviour):
			for _, f := range fault.All() {
				if isContentFault(f.Name) && TraitsOf(f.Name).Content == withFields && f.Name != j.Behaviour && j.anyStands(list, []string{f.Name}, refused) {
					j.instead(report.RuleInvalidContent, report.Fail, fmt.Sprintf("The content that went back breaks its schema (%s), and the result is that of an honest call, word for word: %s. Other invalid content is refused (%s).",
						wrongOf(onTrial), quoteResult(j.Calls[0]), f.Name), frames)
					break
				}
			}
		case j.carries && j.Behaviour != "no-state" && j.Behaviour != "changed-state-inside" && j.anyStands(list, []string{"no-state"}, refused, different, filled):
			j.instead(report.RuleForgedState, report.Fail, fmt.Sprintf("The call came back with a requestState that is not the server's own, and the result is that of an honest call: %s. It has the answer to an earlier round from the state, because there is no other way to it.",
				quoteResult(j.Calls[0])), frames)
		}
	}
}

// failsAfterwards separates trials that make a tool unusable from tools that fail by
// chance: after few of the trials the next call fails twice, and after none it fails only
// once.
func failsAfterwards(list []*Judgement) {
	made, failing := 0, 0
	for _, j := range list {
		if j.After == nil || !j.After.responded() || j.declaresLess() {
			continue
		}
		made++
		if j.After.Failed() {
			failing++
			if j.Again == nil || j.Again.succeeded() {
				return
			}
		}
	}
	for _, j := range list {
		if j.refusesAfter && 4*failing <= made {
			j.instead(report.RuleRefusesAfter, report.Fail, fmt.Sprintf("The next call in the session was answered honestly, and failed (%s), and so did the one after it. After most other trials it does not.", j.After.failure()),
				[]int64{j.After.Began(), j.After.ResultSeq, j.Again.ResultSeq})
		}
	}
}

// unsteady reports whether the results of honest calls differ in more than times and
// numbers, so that a different result proves nothing.
func (j *Judgement) unsteady() bool {
	calls := slices.Concat(j.Honest, j.HonestAfter)
	if j.After != nil && j.After.responded() && !j.declaresLess() && !(j.After.Failed() && j.says(report.RuleRefusesAfter, report.Warn)) {
		calls = append(calls, *j.After)
	}
	for _, m := range calls {
		loose := alike.Comparison{Base: calls[0].Result, Loose: true}
		if !m.succeeded() || !calls[0].succeeded() || loose.Of(m.Result) == alike.Different {
			return true
		}
	}
	return false
}

// any reports whether a trial of these behaviours about the same question is so.
func (j *Judgement) any(list []*Judgement, behaviours []string, is func(*Judgement) bool) bool {
	return slices.ContainsFunc(list, func(other *Judgement) bool {
		return (j.Question == 0 || other.Question == j.Question) && slices.Contains(behaviours, other.Behaviour) && is(other)
	})
}

// anyStands reports whether one of these trials has one of these standings.
func (j *Judgement) anyStands(list []*Judgement, behaviours []string, standings ...standing) bool {
	return j.any(list, behaviours, func(other *Judgement) bool { return slices.Contains(standings, other.standing) })
}

// says reports whether the trial has a finding of the rule with the verdict.
func (j *Judgement) says(rule string, v report.Verdict) bool {
	return slices.ContainsFunc(j.Findings, func(f report.Finding) bool { return f.Rule == rule && f.Verdict == v })
}

// instead replaces the inconclusive finding of a rule with a new one.
func (j *Judgement) instead(rule string, gravest report.Verdict, text string, frames []int64) {
	j.Findings = slices.DeleteFunc(j.Findings, func(f report.Finding) bool { return f.Rule == rule && f.Verdict == report.Inconclusive })
	j.find(rule, gravest, text, frames...)
}

// crossed judges whether simultaneous calls got each other's answers.
func (j *Judgement) crossed() {
	if slices.ContainsFunc(j.Calls, func(m Made) bool { return m.Guessed }) {
		j.sharesAnswers()
		return
	}
	for _, m := range j.Calls {
		if !m.succeeded() || len(m.Questions) == 0 {
			continue
		}
		var whose []Made // the calls whose content the result shows
		for _, other := range j.Calls {
			if j.showsContent(m, other) {
				whose = append(whose, other)
			}
		}
		if len(whose) == 1 && whose[0].Call != m.Call {
			j.find(report.RuleCrossed, report.Fail, fmt.Sprintf("A call came back with the answer that was given to another one at the same time: %s", quoteResult(m)),
				m.Began(), m.lastAnswer(), m.ResultSeq, whose[0].lastAnswer())
		}
	}
}

// sharesAnswers judges simultaneous calls of which nobody knows which question belongs to
// which: two of them must not show a value that was given once.
func (j *Judgement) sharesAnswers() {
	given := map[string]int{} // how often a value was given
	values := distinctOf(j.Calls...)
	for _, value := range values {
		given[value]++
	}
	for _, value := range values {
		var alike []Made
		var frames []int64
		for _, m := range j.Calls {
			if given[value] == 1 && m.succeeded() && m.brings(value, shows) {
				alike, frames = append(alike, m), append(frames, m.Began(), m.ResultSeq)
			}
		}
		if len(alike) > 1 && !slices.ContainsFunc(j.Honest, func(h Made) bool { return shows(h.Result, value) }) {
			j.find(report.RuleCrossed, report.Fail, fmt.Sprintf("%d of %s at the same time came back with %s, which was answered once: %s", len(alike), wording.Plural(len(j.Calls), "call"), wording.Quoted(value), quoteResult(alike[0])), frames...)
			return
		}
	}
}

// judgeOverlap adds that simultaneous calls could not get each other's answers if none of their
// questions waited while that of another call did.
func (j *Judgement) judgeOverlap() {
	waited := func(calls ...Made) int { // the number of questions that were asked before the first answer
		first := j.Last + 1
		var asked []int64
		for _, m := range calls {
			for _, q := range m.Questions {
				if asked = append(asked, q.AskedSeq); q.AnswerSeq != 0 {
					first = min(first, q.AnswerSeq)
				}
			}
		}
		return len(slices.DeleteFunc(asked, func(seq int64) bool { return seq > first }))
	}
	alone := 0
	for _, m := range j.Honest {
		alone = max(alone, waited(m))
	}
	if j.Exit != nil || slices.ContainsFunc(j.Calls, Made.unanswered) || waited(j.Calls...) > alone {
		return
	}
	var frames []int64
	for _, m := range j.Calls {
		frames = append(frames, m.Began(), m.lastAnswer())
	}
	j.find(report.RuleNotTried, report.Inconclusive, "The calls did not meet: no question of one of them waited while that of another one did, so that no answer could go to the wrong call.", frames...)
}

// judgeLeak judges whether an accepted call shows the address that the check made up for honest
// calls, in other sessions, in place of its own. Any other value may be one that the server
// prints whatever is answered.
func (j *Judgement) judgeLeak(list []*Judgement) {
	if len(j.Calls) != 1 || !j.Calls[0].succeeded() || j.against(j.Honest, j.Calls[0].Result, nil, unchanged) != same {
		return
	}
	m := j.Calls[0]
	for _, h := range j.Honest {
		for i, q := range m.Questions[:min(len(m.Questions), len(h.Questions))] {
			for name, value := range rawjson.Members(contentOf(h.Questions[i])) {
				const address = elicit.MadeUpEmail
				own := rawjson.Member(contentOf(q), name)
				switch {
				case rawjson.Text(value) != address || own == nil || rawjson.Same(own, value):
				case !m.brings(address, shows) || shows(m.Result, rawjson.Text(own)):
				case slices.ContainsFunc(list, func(other *Judgement) bool { return other.lacks != nil && shows(other.Calls[0].Result, address) }):
				default:
					j.find(report.RuleCrossed, report.Fail, fmt.Sprintf("The client answered with %s, and the result has %s, which was answered in another session: %s",
						wording.Quoted(rawjson.Text(own)), wording.Quoted(address), quoteResult(m)), q.AskedSeq, q.AnswerSeq, m.ResultSeq)
					return
				}
			}
		}
	}
}

// showsContent reports whether the result of a call equals an honest one with the content
// that another call was answered with.
func (o *Observation) showsContent(m, answered Made) bool {
	return o.against(o.Honest, m.Result, nil, changes(answered.Questions, func(_ *conversation.Question, field string, value json.RawMessage) bool {
		return field != "" && isDistinct(value) || field == "" && slices.ContainsFunc(valuesOf(value), isDistinct)
	})) == filled
}
