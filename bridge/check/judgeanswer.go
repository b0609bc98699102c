package check

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"elicitation-inspector/bridge/conversation"
	"elicitation-inspector/bridge/elicit"
	"elicitation-inspector/bridge/fault"
	"elicitation-inspector/bridge/rawjson"
	"elicitation-inspector/bridge/script"
	"elicitation-inspector/bridge/wording"
)

// compared judges the trial's result by comparing it with the results of honest calls.
func (j *judgement) compared() {
	if j.Behaviour == behaviourSeveral {
		j.crossed()
		return
	}
	deed := j.deed()
	if deed == nil || len(j.Calls) != 1 || !slices.ContainsFunc(j.Honest, j.accepted) {
		return
	}
	m := j.Calls[0]
	switch {
	case j.askedAgain() || m.responded() && !m.succeeded():
		j.standing = refused
		return
	case !m.succeeded():
		return
	}
	frames := []int64{deed.AskedSeq, deed.AnswerSeq, m.ResultSeq}
	switch {
	case slices.Contains([]string{behaviourDecline, behaviourCancel, "cancel-then-accept", "unknown-action", "no-action"}, j.Behaviour):
		j.actsOnRefusal(m, deed, frames)
	case j.Behaviour == "decline-with-content", j.Behaviour == "cancel-with-content":
		j.usesRefused(m, deed, frames)
	case j.Behaviour == "other-tool":
		j.takesForeign(m, deed, frames)
	case slices.Contains(forgeries, j.Behaviour):
		j.takesState(m, deed, frames)
	case isContentFault(j.Behaviour):
		j.usesContent(m, deed, frames)
	}
}

// accepted reports whether an honest call succeeded after the question under trial was
// accepted. Honest answers cancel a question if no valid content can be made up for it.
func (j *judgement) accepted(honest Made) bool {
	place := slices.Index(j.Calls[0].Questions, j.deed())
	return honest.succeeded() && place >= 0 && place < len(honest.Questions) && honest.Questions[place].Action == "accept"
}

// isContentFault reports whether a fault sends content that is invalid by the question's
// schema. It is false for extra-field, because JSON Schema allows further fields.
func isContentFault(name string) bool {
	f, err := fault.Find(name)
	return err == nil && f.Group == fault.Content && name != "extra-field" && name != "given-content"
}

// askedAgain reports whether the server asked more questions than in honest calls.
func (j *judgement) askedAgain() bool {
	return !slices.ContainsFunc(j.Honest, func(m Made) bool { return m.Call != nil && len(m.Questions) >= len(j.Calls[0].Questions) })
}

// against compares a result with each honest result and returns the most telling standing.
// changes returns the values that the trial sent in place of those that an honest call
// sent.
func (j *judgement) against(result json.RawMessage, blank []string, changes func(honest Made) []change) standing {
	most := different
	for i, h := range j.Honest {
		if !h.succeeded() {
			continue
		}
		c := comparison{honest: h.Result, changes: changes(h), blank: blank}
		for k, other := range j.Honest {
			if k != i && other.succeeded() && sameAnswers(h, other) {
				c.again = other.Result
			}
		}
		like := c.of(result)
		if c.loose = true; like == different && c.of(result) != different {
			like = unlike
		}
		most = max(most, like)
	}
	return most
}

// sameAnswers reports whether two calls have the same content in their answers.
func sameAnswers(a, b Made) bool {
	return slices.EqualFunc(a.Questions, b.Questions, func(p, q *conversation.Question) bool {
		one, other := contentOf(p), contentOf(q)
		return one == nil && other == nil || one != nil && other != nil && equal(one, other)
	})
}

// contentOf returns the content of an answer; nil if it has none.
func contentOf(q *conversation.Question) json.RawMessage { return rawjson.Member(q.Answer, "content") }

// changes returns a function that lists the fields whose values differ between the trial's
// answers and an honest call's. telling reports whether a new value in the result proves
// that the server used the content under trial.
func (j *judgement) changes(deed *conversation.Question, telling func(field string, value json.RawMessage) bool) func(Made) []change {
	return func(honest Made) (list []change) {
		for i, q := range j.Calls[0].Questions {
			if i >= len(honest.Questions) {
				break
			}
			old, new := contentOf(honest.Questions[i]), contentOf(q)
			if q == deed && old != nil && new != nil && !equal(old, new) {
				list = append(list, change{old: old, new: new, telling: telling("", new)})
			}
			for name, value := range rawjson.Members(old) {
				now := rawjson.Member(new, name)
				if now == nil || !equal(value, now) {
					list = append(list, change{old: value, new: now, telling: q == deed && telling(name, now)})
				}
			}
		}
		return list
	}
}

// usesContent judges whether the server used content that is invalid by the schema.
func (j *judgement) usesContent(m Made, deed *conversation.Question, frames []int64) {
	required := requiredOf(deed)
	if len(required) == 0 && slices.Contains(absent, j.Behaviour) {
		return // the schema requires no field
	}
	telling := func(field string, value json.RawMessage) bool {
		return value != nil || slices.Contains(required, field) || j.Behaviour == "array-content"
	}
	what := fmt.Sprintf("The content that went back breaks its schema (%s), and the result is that of an honest call", wrongOf(deed))
	switch j.standing = j.against(m.Result, blanks, j.changes(deed, telling)); j.standing {
	case filled:
		j.find(ruleInvalidContent, Fail, fmt.Sprintf("%s with it: %s", what, quoteResult(m)), frames...)
	case same:
		j.find(ruleInvalidContent, Inconclusive, what+", word for word. That does not show whether the value was used, replaced or never looked at.", frames...)
	}
}

// absent lists the faults that omit the content of an answer.
var absent = []string{"no-content", "null-content"}

// requiredOf lists the fields that a question's schema requires.
func requiredOf(q *conversation.Question) (required []string) {
	if request, err := elicit.Parse(q.Params); err == nil {
		for _, f := range request.Fields {
			if f.Required {
				required = append(required, f.Name)
			}
		}
	}
	return required
}

// wrongOf describes the defect of an answer, for use inside a sentence.
func wrongOf(q *conversation.Question) string {
	if problems := q.Anyway(); len(problems) > 0 {
		return strings.TrimSuffix(problems[0].Text, ".")
	}
	return q.Wrong
}

func quoteResult(m Made) string {
	return wording.Quoted(script.TextOf(m.Result))
}

// unclearRefusal ends the text on a result that is equal after a refusal, if no other
// trial shows that the result depends on the answer.
const unclearRefusal = ", word for word. Nothing on the wire shows whether it depends on the answer at all."

// actsOnRefusal judges whether the server treated a decline or cancel as an accept.
func (j *judgement) actsOnRefusal(m Made, deed *conversation.Question, frames []int64) {
	telling := func(string, json.RawMessage) bool { return true }
	what := fmt.Sprintf("The answer was no acceptance (%s), and the result is that of an honest call", said(deed))
	switch j.standing = j.against(m.Result, undefined, j.changes(deed, telling)); j.standing {
	case filled:
		j.find(ruleActsOnDecline, Warn, fmt.Sprintf("%s with nothing in place of what was accepted: %s", what, quoteResult(m)), frames...)
	case same:
		j.find(ruleActsOnDecline, Inconclusive, what+unclearRefusal, frames...)
	}
}

// said returns the action of an answer, for use inside a sentence.
func said(q *conversation.Question) string {
	if q.Action == "" {
		return "it had no action"
	}
	return q.Action
}

// usesRefused judges whether the server used content that came with a decline or cancel.
func (j *judgement) usesRefused(m Made, deed *conversation.Question, frames []int64) {
	telling := func(_ string, value json.RawMessage) bool { return isDistinct(value) }
	what := fmt.Sprintf("The answer was %s, and the result is that of an honest call", said(deed))
	switch j.standing = j.against(m.Result, nil, j.changes(deed, telling)); j.standing {
	case filled:
		j.find(ruleActsOnDecline, Fail, fmt.Sprintf("%s with the content that was refused: %s", what, quoteResult(m)), frames...)
		return
	case same:
		j.find(ruleActsOnDecline, Inconclusive, what+unclearRefusal, frames...)
		return
	}
	if name := j.mentioned(m, deed); name != "" {
		j.find(ruleActsOnDecline, Inconclusive, fmt.Sprintf("The answer was %s, and the result mentions the value of %q that came with it. The wire does not show whether it was used or only repeated.", said(deed), name), frames...)
	}
}

// mentioned returns a field of the answer whose value is in the result and cannot come
// from elsewhere; "" if there is none.
func (j *judgement) mentioned(m Made, deed *conversation.Question) string {
	for name, value := range rawjson.Members(contentOf(deed)) {
		form := forms(value)[0]
		has := func(raw json.RawMessage) bool { return strings.Contains(strings.Join(textsIn(raw), "\n"), form) }
		switch {
		case !isDistinct(value) || !has(m.Result) || has(m.Arguments):
		case slices.ContainsFunc(m.Questions, func(q *conversation.Question) bool { return has(q.Params) }):
		default:
			return name
		}
	}
	return ""
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

// forgeries lists the faults that send no requestState, or another one than the server
// sent.
var forgeries = []string{"changed-state", "invented-state", "no-state"}

// takesState judges whether the server accepted a requestState that it did not send.
func (j *judgement) takesState(m Made, deed *conversation.Question, frames []int64) {
	j.standing = j.against(m.Result, nil, func(h Made) (list []change) {
		list = j.changes(deed, func(string, json.RawMessage) bool { return false })(h)
		for _, value := range j.carried(h, deed) {
			j.carries = true
			list = append(list, change{old: value, any: true, telling: true})
		}
		return list
	})
	what := fmt.Sprintf("The call came back with %s, and the result is that of an honest call", map[string]string{
		"changed-state": "a changed requestState", "invented-state": "an invented requestState", "no-state": "no requestState"}[j.Behaviour])
	switch j.standing {
	case filled:
		j.find(ruleForgedState, Fail, fmt.Sprintf("%s, with something else in place of the answer to an earlier round: %s", what, quoteResult(m)), frames...)
	case same:
		j.find(ruleForgedState, Inconclusive, what+". Nothing on the wire shows that the state matters.", frames...)
	}
}

// takesForeign judges whether another tool accepted the requestState and the answer of
// this one.
func (j *judgement) takesForeign(m Made, deed *conversation.Question, frames []int64) {
	if name := j.mentioned(m, deed); name != "" {
		j.find(ruleForeignState, Fail, fmt.Sprintf("Another tool took the requestState and the answer of this one: its result has the value of %q: %s", name, quoteResult(m)), frames...)
	}
}

// carried lists the values of an honest result that were answered in rounds before the
// question under trial, and that no question and no later answer has. The server keeps
// nothing between rounds, so it read them from the requestState.
func (j *judgement) carried(h Made, deed *conversation.Question) (list []json.RawMessage) {
	for _, q := range h.Questions {
		if q.Round >= deed.Round {
			break
		}
		for _, value := range rawjson.Members(contentOf(q)) {
			form := forms(value)[0]
			known := func(raw json.RawMessage) bool { return strings.Contains(strings.Join(textsIn(raw), "\n"), form) }
			elsewhere := slices.ContainsFunc(h.Questions, func(other *conversation.Question) bool {
				return known(other.Params) || other.Round >= deed.Round && known(other.Answer)
			})
			if isDistinct(value) && known(h.Result) && !known(h.Arguments) && !elsewhere {
				list = append(list, value)
			}
		}
	}
	return list
}

// textsIn lists the texts and numbers in a JSON value.
func textsIn(raw json.RawMessage) (list []string) {
	switch rawjson.KindOf(raw) {
	case rawjson.Object:
		for _, value := range rawjson.Members(raw) {
			list = append(list, textsIn(value)...)
		}
	case rawjson.Array:
		for _, value := range rawjson.Elements(raw) {
			list = append(list, textsIn(value)...)
		}
	case rawjson.String:
		list = []string{rawjson.Text(raw)}
	case rawjson.Number:
		list = []string{string(rawjson.Trim(raw))}
	}
	return list
}
