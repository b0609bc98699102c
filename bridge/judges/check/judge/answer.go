package judge

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"elicitation-inspector/bridge/base/alike"
	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/judges/check/report"
	"elicitation-inspector/bridge/keep/script"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/meaning/elicit"
	"elicitation-inspector/bridge/meaning/fault"
)

// compared judges the trial's result by comparing it with the results of honest calls: a server
// that took a forged state, content against its schema, or another call's answer, mostly gives
// the result that it gives to honest ones, and says nothing else. Where honest results differ
// among each other, what differs counts for nothing.
func (j *Judgement) compared() {
	if j.Behaviour == BehaviourSeveral {
		j.crossed()
		j.judgeOverlap()
		return
	}
	onTrial := j.questionOnTrial()
	if onTrial == nil || len(j.Calls) != 1 || !slices.ContainsFunc(j.Honest, j.accepted) {
		return
	}
	m := j.Calls[0]
	if j.traits.Forges || j.traits.Forged != "" {
		j.asksWith(m, onTrial)
	}
	switch {
	case j.askedAgain() || m.responded() && !m.succeeded():
		j.standing = refused
		return
	case !m.succeeded():
		return
	}
	frames := []int64{onTrial.AskedSeq, onTrial.AnswerSeq, m.ResultSeq}
	switch {
	case j.Behaviour == BehaviourOtherArguments: // does the result depend on them, and is it that of this call all the same?
		shown := slices.ContainsFunc(textsIn(m.Arguments), func(value string) bool { return len(value) >= 4 && shows(m.Result, value) })
		if j.standing = j.against(j.Honest, m.Result, nil, unchanged); j.standing == same && shown {
			j.find(report.RuleForeignState, report.Fail, "The requestState was given out for other arguments, for which the question was declined, and the result is that of an accepted call: "+quoteResult(m), frames...)
		}
	case j.Behaviour == "other-tool":
		if name := mentioned(m, onTrial); name != "" {
			j.find(report.RuleForeignState, report.Fail, fmt.Sprintf("Another tool took the requestState and the answer of this one: its result has the value of %q: %s", name, quoteResult(m)), frames...)
		} else if own := j.Other; own != nil && own.succeeded() && len(own.Questions) > 0 && own.Questions[0].Message() != onTrial.Message() && m.Questions[len(m.Questions)-1] == onTrial && j.hasState(own.Questions[0]) {
			j.find(report.RuleForeignState, report.Fail, fmt.Sprintf("Another tool took the requestState and the answer of this one for its own: it did not ask %s, and its result is %s", wording.Quoted(own.Questions[0].Title()), quoteResult(m)), append(frames, own.Questions[0].AskedSeq)...)
		}
	case j.Behaviour == BehaviourRemembered:
		if j.Other != nil {
			j.remembersContent(m, distinctOf(*j.Other), frames)
		}
	case j.traits.Forges || j.traits.Forged != "":
		j.takesState(m, onTrial, frames)
	case isContentFault(j.Behaviour):
		j.usesContent(m, onTrial, frames)
	}
}

// accepted reports whether an honest call succeeded after the question under trial was
// accepted. Honest answers cancel a question if no valid content can be made up for it.
func (j *Judgement) accepted(honest Made) bool {
	place := slices.Index(j.Calls[0].Questions, j.questionOnTrial())
	return honest.succeeded() && place >= 0 && place < len(honest.Questions) && honest.Questions[place].Action == "accept"
}

// isContentFault reports whether a fault sends content that is invalid by the question's
// schema. It is false for extra-field, because JSON Schema allows further fields.
func isContentFault(name string) bool {
	f, err := fault.Find(name)
	return err == nil && f.Group == fault.Content && name != "extra-field" && name != "given-content"
}

func (o *Observation) askedAgain() bool {
	return !slices.ContainsFunc(o.Honest, func(m Made) bool { return len(m.Questions) >= len(o.Calls[0].Questions) })
}

// samplesMost is the number of different results that what varies is learnt from.
const samplesMost = 16

// against compares a result with each honest result and returns the most telling standing.
// What varies from call to call is learnt from all calls with the same answers. changes
// returns the values that the trial sent in place of those that an honest call sent.
func (o *Observation) against(calls []Made, result json.RawMessage, blank []string, changes func(honest Made) []alike.Change) standing {
	most := different
	for i, h := range calls {
		if !h.succeeded() {
			continue
		}
		c := alike.Comparison{Base: h.Result, Changes: changes(h), Blank: blank, Sent: append(textsIn(h.Arguments), contentsOf(h)...)}
		for k, other := range slices.Concat(calls, o.samples()) {
			known := func(result json.RawMessage) bool { return rawjson.Same(result, other.Result) }
			if k != i && len(c.Again) < samplesMost && other.succeeded() && sameAnswers(h, other) && !slices.ContainsFunc(c.Again, known) {
				c.Again = append(c.Again, other.Result)
			}
		}
		like := []standing{alike.Different: different, alike.Same: same, alike.Telling: filled}[c.Of(result)]
		if c.Loose = true; like == different && c.Of(result) != alike.Different {
			like = unlike
		}
		most = max(most, like)
	}
	return most
}

// samples returns the calls with honest answers other than those of sessions that had
// nothing else: they show what varies from call to call.
func (o *Observation) samples() []Made {
	list := slices.Concat(o.HonestAfter, o.Later)
	if o.hasSample() {
		list = append(list, *o.After)
	}
	return list
}

// hasSample reports whether the call after the trial shows what varies by itself. It does not
// where the client declared less, or where its result has what the trial's calls were answered
// with.
func (o *Observation) hasSample() bool {
	if o.After == nil || TraitsOf(o.Behaviour).Declares != "" {
		return false
	}
	own := contentsOf(*o.After)
	return !slices.ContainsFunc(distinctOf(o.Calls...), func(text string) bool {
		return !slices.Contains(own, text) && shows(o.After.Result, text)
	})
}

// contentsOf returns the texts and numbers that calls were answered with.
func contentsOf(calls ...Made) (list []string) {
	for _, m := range calls {
		for _, q := range m.Questions {
			list = append(list, textsIn(contentOf(q))...)
		}
	}
	return list
}

// distinctOf is contentsOf without what can be in a result by chance.
func distinctOf(calls ...Made) (list []string) {
	for _, m := range calls {
		for _, q := range m.Questions {
			for _, value := range fault.Leaves(contentOf(q)) {
				if isDistinct(value) {
					list = append(list, textsIn(value)...)
				}
			}
		}
	}
	return list
}

func sameAnswers(a, b Made) bool {
	return slices.EqualFunc(a.Questions, b.Questions, func(p, q *conversation.Question) bool {
		one, other := contentOf(p), contentOf(q)
		return one == nil && other == nil || one != nil && other != nil && rawjson.Same(one, other)
	})
}

// contentOf returns the content of the answer to a question; nil if there is none.
func contentOf(q *conversation.Question) json.RawMessage {
	if q == nil {
		return nil
	}
	return rawjson.Member(q.Answer, "content")
}

// changes returns a function that lists the fields whose values differ between these answers
// and an honest call's; an answer that is nil is left out. telling reports whether a new value in the result proves that the
// server used the content of the question; the field "" is all of the content.
func changes(answers []*conversation.Question, telling func(q *conversation.Question, field string, value json.RawMessage) bool) func(Made) []alike.Change {
	return func(honest Made) (list []alike.Change) {
		for i, q := range answers[:min(len(answers), len(honest.Questions))] {
			if q == nil {
				continue
			}
			old, new := contentOf(honest.Questions[i]), contentOf(q)
			if old != nil && new != nil && !rawjson.Same(old, new) {
				list = append(list, alike.Change{Old: old, New: new, Telling: telling(q, "", new)})
			}
			for name, value := range rawjson.Members(old) {
				now := rawjson.Member(new, name)
				if now == nil || !rawjson.Same(value, now) {
					list = append(list, alike.Change{Old: value, New: now, Telling: telling(q, name, now)})
				}
			}
		}
		return list
	}
}

// usesContent judges whether the server used content that is invalid by the schema.
func (j *Judgement) usesContent(m Made, onTrial *conversation.Question, frames []int64) {
	required := requiredOf(onTrial)
	if len(required) == 0 && j.traits.Content == noContent {
		return // the schema requires no field
	}
	telling := func(q *conversation.Question, field string, value json.RawMessage) bool {
		return q == onTrial && (value != nil || slices.Contains(required, field) || j.traits.Content == noFields)
	}
	what := fmt.Sprintf("The content that went back breaks its schema (%s), and the result is that of an honest call", wrongOf(onTrial))
	switch j.standing = j.against(j.Honest, m.Result, alike.Blanks, changes(m.Questions, telling)); j.standing {
	case filled:
		j.find(report.RuleInvalidContent, report.Fail, fmt.Sprintf("%s with it: %s", what, quoteResult(m)), frames...)
	case same:
		j.find(report.RuleInvalidContent, report.Inconclusive, what+", word for word. That does not show whether the value was used, replaced or never looked at.", frames...)
	}
}

func requiredOf(q *conversation.Question) (required []string) {
	for _, f := range fieldsOf(q) {
		if f.Required {
			required = append(required, f.Name)
		}
	}
	return required
}

// fieldsOf returns the fields of a question's form; nil if it has none that can be read.
func fieldsOf(q *conversation.Question) []elicit.Field {
	request, err := elicit.Parse(q.Params)
	if err != nil {
		return nil
	}
	return request.Fields
}

// wrongOf describes the defect of an answer, for use inside a sentence.
func wrongOf(q *conversation.Question) string {
	if problems := q.SchemaProblems(); len(problems) > 0 {
		return strings.TrimSuffix(problems[0].Text, ".")
	}
	return q.Wrong
}

func quoteResult(m Made) string {
	return wording.Quoted(script.TextOf(m.Result))
}

// mentioned returns a field of the answer whose value is in the result and cannot come
// from elsewhere; "" if there is none.
func mentioned(m Made, onTrial *conversation.Question) string {
	for name, value := range rawjson.Members(contentOf(onTrial)) {
		if isDistinct(value) && m.brings(alike.Forms(value)[0], mentions) {
			return name
		}
	}
	return ""
}

// brings reports whether the result has a text that neither the arguments nor the questions
// have; in is mentions or shows.
func (m Made) brings(text string, in func(raw json.RawMessage, text string) bool) bool {
	return in(m.Result, text) && !in(m.Arguments, text) && !slices.ContainsFunc(m.Questions, func(q *conversation.Question) bool { return in(q.Params, text) })
}

// isDistinct reports whether a value is unlikely to be in a result by chance.
func isDistinct(value json.RawMessage) bool {
	switch rawjson.KindOf(value) {
	case rawjson.String:
		return len(rawjson.Text(value)) >= 4
	case rawjson.Number:
		return len(value) >= 3
	case rawjson.Object, rawjson.Array:
		return len(value) >= 6
	}
	return false
}

// remembersContent judges whether a call that was accepted without content has what the call
// before it was answered with.
func (j *Judgement) remembersContent(m Made, earlier []string, frames []int64) {
	for _, text := range earlier {
		if m.brings(text, shows) {
			j.find(report.RuleInvalidContent, report.Fail, fmt.Sprintf("The client accepted without content, and the result has %s, which the call before it was answered with: %s", wording.Quoted(text), quoteResult(m)), frames...)
			return
		}
	}
}

// hasState reports whether a question came with a requestState.
func (o *Observation) hasState(q *conversation.Question) bool {
	f, err := o.Log.Frame(q.AskedSeq)
	return err == nil && rawjson.Member(f.Message.Result, "requestState") != nil
}

// takesState judges whether the server accepted a requestState that it did not send.
func (j *Judgement) takesState(m Made, onTrial *conversation.Question, frames []int64) {
	j.standing = j.against(j.Honest, m.Result, nil, func(h Made) (list []alike.Change) {
		list = changes(m.Questions, func(*conversation.Question, string, json.RawMessage) bool { return false })(h)
		for _, value := range carried(h, onTrial) {
			j.carries = j.carries || isDistinct(value)
			list = append(list, alike.Change{Old: value, Any: true, Telling: true})
		}
		return list
	})
	with := "a changed requestState"
	switch j.Behaviour {
	case "invented-state":
		with = "an invented requestState"
	case "no-state":
		with = "no requestState"
	}
	what := fmt.Sprintf("The call came back with %s, and the result is that of an honest call", with)
	if j.traits.Forged != "" {
		return // together with other refusals
	}
	invented := j.invented(m, onTrial)
	switch {
	case invented != "":
		j.find(report.RuleForgedState, report.Fail, fmt.Sprintf("The call came back with %s, and the result has what the client put there, %s: %s", with, wording.Quoted(invented), quoteResult(m)), frames...)
	case j.standing == filled:
		j.find(report.RuleForgedState, report.Fail, fmt.Sprintf("%s, with something else in place of the answer to an earlier round: %s", what, quoteResult(m)), frames...)
	case j.standing == same:
		j.find(report.RuleForgedState, report.Inconclusive, what+". Nothing on the wire shows that the state matters.", frames...)
	}
}

// asksWith judges whether the server went on to ask with what the client put into the state.
func (j *Judgement) asksWith(m Made, onTrial *conversation.Question) {
	place := slices.Index(m.Questions, onTrial)
	for _, text := range j.put(onTrial) {
		before := func(q *conversation.Question) bool { return shows(q.Params, text) || shows(q.Answer, text) }
		for _, q := range m.Questions[place+1:] {
			if shows(q.Params, text) && !shows(m.Arguments, text) && !slices.ContainsFunc(m.Questions[:place+1], before) {
				j.find(report.RuleForgedState, report.Fail, fmt.Sprintf("The server asked on with what the client put into the requestState, %s: %s", wording.Quoted(text), wording.Quoted(q.Title())), onTrial.AskedSeq, onTrial.AnswerSeq, q.AskedSeq)
				return
			}
		}
	}
}

// invented returns a text that is in the result and comes from the requestState that the
// client made; "" if there is none.
func (o *Observation) invented(m Made, onTrial *conversation.Question) string {
	for _, text := range o.put(onTrial) {
		switch {
		case !m.brings(text, shows):
		case slices.ContainsFunc(o.Honest, func(h Made) bool { return shows(h.Result, text) }):
		case slices.ContainsFunc(m.Questions, func(q *conversation.Question) bool { return shows(q.Answer, text) }):
		default:
			return text
		}
	}
	return ""
}

// put lists the texts of four characters and more that the requestState of an answer has,
// and the server's own has not.
func (o *Observation) put(onTrial *conversation.Question) []string {
	asked, err := o.Log.Frame(onTrial.AskedSeq)
	if err != nil {
		return nil
	}
	sent, err := o.Log.Frame(onTrial.AnswerSeq)
	if err != nil {
		return nil
	}
	right := stateTexts(rawjson.Member(asked.Message.Result, "requestState"))
	return slices.DeleteFunc(stateTexts(rawjson.Member(sent.Message.Params, "requestState")), func(text string) bool {
		return len(text) < 4 || slices.Contains(right, text)
	})
}

func stateTexts(state json.RawMessage) []string {
	list := []string{rawjson.Text(state)}
	for _, value := range fault.StateValues(state) {
		list = append(list, textsIn(value)...)
	}
	return list
}

// carried lists the values of an honest result that were answered in rounds before the
// question under trial, and that no question and no later answer has. The server keeps
// nothing between rounds, so it read them from the requestState.
func carried(h Made, onTrial *conversation.Question) (list []json.RawMessage) {
	for _, q := range h.Questions {
		if q.Round >= onTrial.Round {
			break
		}
		for _, value := range rawjson.Members(contentOf(q)) {
			form := alike.Forms(value)[0]
			again := func(other *conversation.Question) bool {
				return other.Round >= onTrial.Round && mentions(other.Answer, form)
			}
			if (isDistinct(value) && h.brings(form, mentions) || rawjson.KindOf(value) == rawjson.Number && h.brings(form, shows)) && !slices.ContainsFunc(h.Questions, again) {
				list = append(list, value)
			}
		}
	}
	return list
}

// mentions reports whether the texts and numbers in a JSON value contain a text.
func mentions(raw json.RawMessage, text string) bool {
	return strings.Contains(strings.Join(textsIn(raw), "\n"), text)
}

// shows is mentions for a text that is no part of a longer word.
func shows(raw json.RawMessage, text string) bool {
	return slices.ContainsFunc(textsIn(raw), func(in string) bool { return alike.Shows(in, text) })
}

func textsIn(raw json.RawMessage) (list []string) {
	for _, value := range fault.Leaves(raw) {
		switch rawjson.KindOf(value) {
		case rawjson.String:
			list = append(list, rawjson.Text(value))
		case rawjson.Number:
			list = append(list, string(rawjson.Trim(value)))
		}
	}
	return list
}
