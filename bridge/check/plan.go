package check

import (
	"encoding/json"
	"slices"
	"strconv"
	"time"

	"elicitation-inspector/bridge/client"
	"elicitation-inspector/bridge/conversation"
	"elicitation-inspector/bridge/elicit"
	"elicitation-inspector/bridge/fault"
	"elicitation-inspector/bridge/mcp"
	"elicitation-inspector/bridge/rawjson"
	"elicitation-inspector/bridge/script"
	"elicitation-inspector/bridge/wire"
)

// questionsMost is the number of questions of a call that behaviours answer, one question
// per trial.
const questionsMost = 5

// trial is a Trial with the settings for running it.
type trial struct {
	Trial
	run      int                // counts repeated trials, from 1; 0 for a trial that runs once
	answers  string             // the answers file
	declared client.Elicitation // the elicitation capability; "" for the default
	times    int                // number of simultaneous calls
	pause    time.Duration      // time that the behaviour itself takes
	limit    time.Duration      // time limit of a call, including pause
	waits    bool               // the trial is likely to last until its limit
	slow     bool               // honest calls already take long
	ends     bool               // the behaviour ends the connection
	alone    bool               // no honest call follows, because honest calls get no response
}

// asked is a question of an honest run, with the facts for answering it differently.
type asked struct {
	place   int             // position among the questions of the call, from 1
	match   json.RawMessage // of a rule that matches only this question
	message string
	facts   fault.Facts
	answer  json.RawMessage // the honest answer; nil if there was none
}

// questions returns the elicitations of an honest run. messages reports whether every
// honest run asked a question with this message, so that a rule can match it.
func questions(log *wire.Log, all []*conversation.Question, transport, key string, others []string, messages func(string) bool) (list []asked) {
	var states []json.RawMessage
	for i, q := range all {
		if q.Method != mcp.MethodElicit || len(list) == questionsMost {
			continue
		}
		request, err := elicit.Parse(q.Params)
		if err != nil {
			continue
		}
		one := asked{place: i + 1, message: request.Message, answer: q.Answer}
		one.match = one.matches(all, messages)
		one.facts = fault.Facts{
			Transport: transport, Via: q.Via, Method: q.Method, Request: request, Key: q.Key, InCall: true, ID: json.RawMessage("1"),
			Streamed: q.Stream == wire.StreamPostSSE || q.Stream == wire.StreamGetSSE, Tool: key, Others: others,
		}
		if f, err := log.Frame(q.AskedSeq); err == nil && q.Via == elicit.InRound {
			one.facts.State = rawjson.Member(f.Message.Result, "requestState")
			for _, state := range states {
				if string(state) != string(one.facts.State) {
					one.facts.Earlier = state
				}
			}
			if one.facts.State != nil {
				states = append(states, one.facts.State)
			}
		}
		list = append(list, one)
	}
	return list
}

// stateful reports whether the question came with a requestState.
func (a asked) stateful() bool { return a.facts.State != nil }

// messageShown is the number of characters of a message in the rule that matches it.
const messageShown = 80

// matches returns the match of a rule for this question only.
func (a *asked) matches(all []*conversation.Question, messages func(string) bool) json.RawMessage {
	if a.message == "" || !messages(a.message) {
		return object("nth", json.RawMessage(strconv.Itoa(a.place)))
	}
	pattern := script.Literal(a.message)
	if runes := []rune(a.message); len(runes) > messageShown {
		pattern = script.Literal(string(runes[:messageShown])) + "*"
	}
	text, err := script.ParseText(pattern)
	if err != nil {
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

// plan lists the trials of a call in a revision. Trials that mostly wait come first,
// because they take longest.
func (r *runner) plan(c *chosen, base Trial, list []asked) []*trial {
	var trials []*trial
	add := func(t trial, behaviour string, rules ...rule) *trial {
		if !r.tries(behaviour) {
			return &t
		}
		t.Call, t.Revision, t.Behaviour = base.Call, base.Revision, behaviour
		t.answers = c.honest.file(rules...)
		trials = append(trials, &t)
		return &t
	}
	for _, behaviour := range []string{behaviourDecline, behaviourCancel} {
		for _, q := range list {
			add(trial{Trial: Trial{Question: q.place}}, behaviour, rule{match: q.match, answer: rawjson.Quoted(behaviour)})
		}
	}
	add(trial{}, behaviourDeclineAlways, rule{answer: rawjson.Quoted("decline"), times: 20}, rule{answer: object("fault", "never")})
	for behaviour, declared := range declarations {
		if declarable(behaviour, base.Revision) {
			add(trial{declared: declared}, behaviour)
		}
	}
	if len(list) > 0 {
		add(trial{times: severalCalls, pause: severalCalls * severalDelay}, behaviourSeveral, severally(list[0])...)
	}
	tried := map[string]bool{}
	for i, q := range list {
		q.facts.Revision = base.Revision
		for _, f := range fault.For(q.facts) {
			if slices.Contains(forgeries, f.Name) && slices.ContainsFunc(list[i+1:], asked.stateful) {
				continue // a later question's state holds more answers
			}
			of := f.Name
			if f.Group == fault.Content && f.Field != "" { // once for each field of each different form
				of += " " + f.Field + " " + string(q.facts.Request.Schema)
			}
			if tried[of] || slices.Contains(unplanned, f.Name) {
				continue
			}
			tried[of] = true
			t := trial{Trial: Trial{Question: q.place, Field: f.Field}, waits: slices.Contains(waiting, f.Name), ends: slices.Contains(ending, f.Name)}
			t.pause = time.Duration(slow[f.Name] * float64(time.Second))
			if f.Name == "close-connection" {
				t.pause = abandoned
			}
			add(t, f.Name, rule{match: q.match, answer: q.spoilt(f)})
		}
	}
	slices.SortStableFunc(trials, func(a, b *trial) int {
		switch {
		case a.waits == b.waits:
			return 0
		case a.waits:
			return -1
		}
		return 1
	})
	return trials
}

// abandoned is how long a process may keep running after its input was closed.
const abandoned = 5 * time.Second

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
	var seconds, answer, tool any = json.RawMessage(nil), json.RawMessage(nil), json.RawMessage(nil)
	field := any(json.RawMessage(nil))
	if f.Field != "" {
		field = f.Field
	}
	if s, ok := slow[f.Name]; ok {
		seconds = json.RawMessage(strconv.FormatFloat(s, 'f', -1, 64))
	}
	content := a.content()
	switch valid := fault.Valid(a.facts.Request); {
	case !f.Takes("answer"):
	case f.Name == "decline-with-content" || f.Name == "cancel-with-content":
		if content == nil {
			content = valid
		}
		answer = object("action", "accept", "content", distinct(a.facts.Request, content, 0))
	case content != nil && string(content) != string(valid):
		answer = object("action", "accept", "content", content)
	}
	if f.Takes("tool") && len(a.facts.Others) > 0 {
		tool = a.facts.Others[0]
	}
	return object("fault", f.Name, "field", field, "seconds", seconds, "tool", tool, "answer", answer)
}

// Number of simultaneous calls, and the delay between their answers.
const (
	severalCalls = 3
	severalDelay = 200 * time.Millisecond
)

// severally returns rules that answer the first question of simultaneous calls in reverse
// order, with different content.
func severally(first asked) (rules []rule) {
	var about any = json.RawMessage(nil)
	if message := rawjson.Member(first.match, "message"); message != nil {
		about = message
	}
	for i := range severalCalls {
		answer := rawjson.Quoted("accept")
		if action := rawjson.Text(rawjson.Member(first.answer, "action")); action == behaviourDecline || action == behaviourCancel {
			answer = rawjson.Quoted(action)
		} else if content := first.content(); content != nil {
			answer = object("accept", distinct(first.facts.Request, content, i))
		}
		rules = append(rules, rule{
			match:  object("message", about, "nth", json.RawMessage(strconv.Itoa(i+1))),
			answer: answer, delay: time.Duration(severalCalls-i) * severalDelay,
		})
	}
	return rules
}
