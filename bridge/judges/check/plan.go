package check

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"time"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/judges/check/judge"
	"elicitation-inspector/bridge/judges/check/report"
	"elicitation-inspector/bridge/keep/script"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/meaning/elicit"
	"elicitation-inspector/bridge/meaning/fault"
	"elicitation-inspector/bridge/wire"
)

// questionsMost is the number of questions of a call that behaviours answer, one question
// per trial.
const questionsMost = 5

type trial struct {
	report.Trial
	judge.Traits
	run      int           // counts repeated trials, from 1; 0 for a trial that runs once
	answers  string        // the answers file
	times    int           // number of simultaneous calls
	pause    time.Duration // time that the behaviour itself takes
	limit    time.Duration // time limit of a call, including pause
	slow     bool          // honest calls already take long
	sessions int           // number of sessions that new-session starts
	before   *before       // the call before, such as the one whose requestState the trial sends; nil for none
	other    string        // the tool that other-tool sends the state to
	alone    bool          // no honest call follows
	looks    *looks        // of the witness, around the trial; nil for none

	// What a witness saw when the trial was made with looks; see Observation.
	effect       judge.Effect
	early, twice string
}

// before is a call that is made before the trial's own, in the same session.
type before struct {
	arguments json.RawMessage
	answers   string
	// then returns the answers of the trial's own call, which send the last requestState
	// of this one.
	then func(state json.RawMessage) string
}

// asked is a question of an honest run, with the facts for answering it differently.
type asked struct {
	place   int             // position among the questions of the call, from 1
	match   json.RawMessage // of a rule that matches only this question
	message string
	facts   fault.Facts
	answer  json.RawMessage            // the honest answer; nil if there was none
	after   time.Duration              // from the beginning of the call to the question
	forged  map[string]json.RawMessage // by pointer into the requestState: another valid answer to an earlier question
}

// questions returns the elicitations of the first of the honest runs of a call. A rule can match
// one by its message where every run asked a question with that message.
func (r *runner) questions(c *chosen, runs []*made) (list []asked) {
	first := runs[0]
	all := first.questions()
	var others []string // the other tools that a requestState may be sent to
	for _, item := range r.items {
		if item.Kind == c.Kind && item.Key != c.Key && item.Kind == conversation.Tool && r.forbids(item) == "" && !item.Destructive {
			others = append(others, item.Key)
		}
	}
	var states []json.RawMessage
	for i, q := range all {
		if q.Method != mcp.MethodElicit || len(list) == questionsMost {
			continue
		}
		request, err := elicit.Parse(q.Params)
		if err != nil {
			continue
		}
		one := asked{place: i + 1, message: request.Message, answer: q.Answer, after: q.Asked.Sub(first.Calls[0].Start)}
		one.match = one.matches(all, len(runs) > 1 && slices.ContainsFunc(runs[1].questions(), func(q *conversation.Question) bool { return q.Message() == one.message }))
		one.facts = fault.Facts{
			Transport: first.transport, Via: q.Via, Method: q.Method, Request: request, Key: q.Key, InCall: true, ID: json.RawMessage("1"),
			Streamed: q.Stream == wire.StreamPostSSE || q.Stream == wire.StreamGetSSE, Tool: c.Key, Others: others,
		}
		one.facts.OwnTask = q.Task != nil
		if first.Calls[0].Task != nil {
			one.facts.Task = "a task of each trial"
		}
		if f, err := first.Log.Frame(q.AskedSeq); err == nil && q.Via == elicit.InRound {
			one.facts.State = rawjson.Member(f.Message.Result, "requestState")
			for _, state := range states {
				if string(state) != string(one.facts.State) {
					one.facts.Earlier = state
				}
			}
			if one.facts.State != nil {
				states = append(states, one.facts.State)
				one.forged = forgeable(one.facts.State, list)
			}
		}
		list = append(list, one)
	}
	return list
}

// forgeable returns other valid values for those inside a requestState that are answers to
// earlier questions: a server that checks what it reads would refuse any other.
func forgeable(state json.RawMessage, earlier []asked) map[string]json.RawMessage {
	out := map[string]json.RawMessage{}
	for pointer, value := range fault.StateValues(state) {
		for _, e := range earlier {
			for _, f := range e.facts.Request.Fields {
				if was := rawjson.Member(e.content(), f.Name); was != nil && rawjson.Same(was, value) {
					if other := another(f, was, 5); !rawjson.Same(other, was) {
						out[pointer] = other
					}
				}
			}
		}
	}
	return out
}

// forgery returns the state of the question with one value that is another one: a false that
// becomes true, an answer, or else any; nil if it has none that can be read.
func (a *asked) forgery() json.RawMessage {
	values := fault.StateValues(a.facts.State)
	weight := func(pointer string) int {
		return map[bool]int{a.forged[pointer] != nil: 1, string(values[pointer]) == "false": 2}[true]
	}
	pointers := slices.Sorted(maps.Keys(values))
	if len(pointers) == 0 {
		return nil
	}
	at := slices.MaxFunc(pointers, func(a, b string) int { return weight(a) - weight(b) })
	state, _ := fault.Forge(a.facts.State, at, a.forged[at]) // nil without a value
	return state
}

// lastStateful returns the index of the last question with a requestState; -1 for none.
func lastStateful(list []asked) int {
	for i := len(list) - 1; i >= 0; i-- {
		if list[i].facts.State != nil {
			return i
		}
	}
	return -1
}

// messageShown is the number of characters of a message in the rule that matches it.
const messageShown = 80

// matches returns the match of a rule for this question only, among all of the call.
func (a *asked) matches(all []*conversation.Question, byMessage bool) json.RawMessage {
	pattern := script.Literal(a.message)
	if runes := []rune(a.message); len(runes) > messageShown {
		pattern = script.Literal(string(runes[:messageShown])) + "*"
	}
	text, err := script.ParseText(pattern)
	if a.message == "" || !byMessage || err != nil {
		return object("nth", json.RawMessage(strconv.Itoa(a.place)))
	}
	nth := 0
	for _, q := range all[:a.place] {
		if text.Matches(q.Message()) {
			nth++
		}
	}
	return object("message", pattern, "nth", json.RawMessage(strconv.Itoa(nth)))
}

// otherwise holds the content in place of the honest one, by the behaviours that accept
// with other content.
var otherwise = map[string]func(*elicit.Request, json.RawMessage) json.RawMessage{
	judge.BehaviourOther:  func(r *elicit.Request, base json.RawMessage) json.RawMessage { return distinct(r, base, 3) },
	judge.BehaviourDenied: denied,
}

// plan lists the trials of a call in a revision. Trials that mostly wait come first,
// because they take longest, and then plain answers.
func (r *runner) plan(c *chosen, base report.Trial, list []asked) []*trial {
	var trials []*trial
	add := func(t trial, behaviour string, rules ...rule) {
		if r.tries(behaviour) {
			t.Call, t.Revision, t.Behaviour, t.Traits = base.Call, base.Revision, behaviour, judge.TraitsOf(behaviour)
			t.pause += time.Duration(t.Seconds * float64(time.Second))
			t.answers = c.honest.file(rules...)
			trials = append(trials, &t)
		}
	}
	for _, behaviour := range []string{judge.BehaviourDecline, judge.BehaviourCancel} {
		for _, q := range list {
			add(trial{Trial: report.Trial{Question: q.place}}, behaviour, rule{match: q.match, answer: rawjson.Quoted(behaviour)})
		}
	}
	add(trial{}, judge.BehaviourDeclineAlways, rule{answer: rawjson.Quoted("decline"), times: 20}, rule{answer: object("fault", "never")})
	for behaviour, contentOf := range otherwise {
		var rules []rule
		for _, q := range list {
			if content := q.content(); content != nil {
				if other := contentOf(q.facts.Request, content); !rawjson.Same(other, content) {
					rules = append(rules, rule{match: q.match, answer: object("accept", other)})
				}
			}
		}
		if rules != nil {
			add(trial{}, behaviour, rules...)
		}
	}
	for _, behaviour := range []string{judge.BehaviourNone, judge.BehaviourForm, judge.BehaviourURL} {
		if behaviour == judge.BehaviourNone || base.Revision != mcp.Revision20250618 { // which does not distinguish the modes
			add(trial{}, behaviour)
		}
	}
	if len(list) > 0 {
		rules := severally(list[0])
		add(trial{times: severalCalls, pause: rules[0].delay}, judge.BehaviourSeveral, rules...)
	}
	for _, q := range list {
		content := q.content()
		if content == nil || !slices.ContainsFunc(q.facts.Request.Fields, func(f elicit.Field) bool { return f.Required }) {
			continue
		}
		if other := distinct(q.facts.Request, content, 5); !rawjson.Same(other, content) {
			without := rule{match: q.match, answer: object("fault", "no-content")}
			add(trial{Trial: report.Trial{Question: q.place}, before: &before{c.Arguments, c.honest.file(rule{match: q.match, answer: object("accept", other)}), func(json.RawMessage) string { return c.honest.file(without) }}}, judge.BehaviourRemembered)
			break
		}
	}
	if i := lastStateful(list); i >= 0 {
		q := list[i]
		send := func(state json.RawMessage) rule {
			var answer json.RawMessage
			if content := q.content(); content != nil {
				answer = object("action", "accept", "content", content)
			}
			return rule{match: q.match, answer: object("fault", "invented-state", "json", state, "answer", answer)}
		}
		then := func(state json.RawMessage) string { return c.honest.file(send(state)) }
		own := report.Trial{Question: q.place}
		add(trial{Trial: own, before: &before{c.Arguments, c.honest.file(), then}}, judge.BehaviourUsed)
		add(trial{Trial: own}, judge.BehaviourOtherSession, send(q.facts.State))
		if state := q.forgery(); state != nil {
			add(trial{Trial: own}, judge.BehaviourForgedDeclined, rule{match: q.match, answer: object("fault", "invented-state", "json", state, "answer", object("action", "decline"))})
			add(trial{Trial: own}, judge.BehaviourForgedAlone, rule{match: q.match, answer: object("fault", "missing-key", "json", state)})
		}
		if c.other != nil {
			declined := c.honest.file(rule{match: q.match, answer: rawjson.Quoted(judge.BehaviourDecline)})
			add(trial{Trial: own, before: &before{c.other, declined, then}}, judge.BehaviourOtherArguments)
		}
	}
	tried := map[string]bool{}
	for i, q := range list {
		q.facts.Revision = base.Revision
		for _, f := range q.faults() {
			if judge.TraitsOf(f.Name).Forges && lastStateful(list) > i {
				continue // a later question's state holds more answers
			}
			of := f.Name
			if f.Group == fault.Round {
				of += " " + f.Field
			}
			if f.Group == fault.Content && f.Field != "" { // once for each field of each different form
				of += " " + f.Field + " " + string(q.facts.Request.Schema)
			}
			if tried[of] || slices.Contains(judge.Unplanned, f.Name) {
				continue
			}
			tried[of] = true
			t := trial{Trial: report.Trial{Question: q.place, Field: f.Field}}
			rules := []rule{{match: q.match, answer: q.spoilt(f)}}
			if f.Name == "new-session" { // at every round
				for _, later := range list[i+1:] {
					rules = append(rules, rule{match: later.match, answer: later.spoilt(f)})
				}
			}
			if f.Name == "other-tool" {
				t.other = q.facts.Others[0]
			}
			t.sessions = len(rules)
			add(t, f.Name, rules...)
		}
	}
	slices.SortStableFunc(trials, func(a, b *trial) int { return cmp.Compare(a.turn(), b.turn()) })
	return trials
}

// turn is the place of the trial in the order in which trials begin.
func (t *trial) turn() int {
	switch {
	case t.Lasts:
		return 0
	case t.Soon:
		return 1
	}
	return 2
}

// forgedMost is the number of values inside a requestState that are changed.
const forgedMost = 6

// faults lists the faults that fit the question, with one for each value that can be
// changed inside its requestState.
func (a *asked) faults() (list []fault.Fault) {
	for _, f := range fault.For(a.facts) {
		if f.Name != "changed-state-inside" {
			list = append(list, f)
			continue
		}
		pointers := slices.Sorted(maps.Keys(fault.StateValues(a.facts.State)))
		for _, f.Field = range pointers[:min(len(pointers), forgedMost)] {
			list = append(list, f)
		}
	}
	return list
}

// content returns the content of the honest answer; nil if it was not an accept with
// content.
func (a *asked) content() json.RawMessage {
	if content := rawjson.Member(a.answer, "content"); rawjson.KindOf(content) == rawjson.Object {
		return content
	}
	return nil
}

// spoilt returns the answer of an answers file that carries the fault out.
func (a *asked) spoilt(f fault.Fault) json.RawMessage {
	var out rawjson.ObjectWriter
	out.Add("fault", rawjson.Quoted(f.Name))
	if f.Field != "" {
		out.Add("field", rawjson.Quoted(f.Field))
	}
	if s := judge.TraitsOf(f.Name).Seconds; s > 0 && f.Takes("seconds") {
		out.Add("seconds", json.RawMessage(strconv.FormatFloat(s, 'f', -1, 64)))
	}
	if f.Takes("tool") && len(a.facts.Others) > 0 {
		out.Add("tool", rawjson.Quoted(a.facts.Others[0]))
	}
	if other := a.forged[f.Field]; f.Name == "changed-state-inside" && other != nil {
		out.Add("json", other)
	}
	content := a.content()
	switch valid := elicit.Valid(a.facts.Request.Fields); {
	case !f.Takes("answer"):
	case judge.TraitsOf(f.Name).Content == judge.Unaccepted:
		if content == nil {
			content = valid
		}
		place := slices.IndexFunc(fault.All(), func(other fault.Fault) bool { return other.Name == f.Name })
		out.Add("answer", object("action", "accept", "content", reworded(a.facts.Request, content, 4+place)))
	case content != nil && string(content) != string(valid):
		out.Add("answer", object("action", "accept", "content", content))
	}
	return out.JSON()
}

// severalCalls is the number of simultaneous calls.
const severalCalls = 3

// severally returns rules that answer the first question of simultaneous calls with
// different content. Their delays are how long these questions wait at most for each other:
// several times as long as the question of an honest call took to come.
func severally(first asked) (rules []rule) {
	patience := 2*time.Second + 3*first.after
	for i := range severalCalls {
		answer := rawjson.Quoted("accept")
		if action := rawjson.Text(rawjson.Member(first.answer, "action")); action == judge.BehaviourDecline || action == judge.BehaviourCancel {
			answer = rawjson.Quoted(action)
		} else if content := first.content(); content != nil {
			answer = object("accept", distinct(first.facts.Request, content, i))
		}
		rules = append(rules, rule{
			match:  object("message", rawjson.Member(first.match, "message"), "nth", json.RawMessage(strconv.Itoa(i+1))),
			answer: answer, delay: patience,
		})
	}
	return rules
}
