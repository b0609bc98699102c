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

// questionsMost is how many questions of a call are answered badly, one at a time.
const questionsMost = 5

// trial is a Trial with how it is made.
type trial struct {
	Trial
	run      int                // of several that are made alike, from 1
	answers  string             // the answers file that it is made by
	declared client.Elicitation // "" for what is usual
	times    int                // calls at once
	pause    time.Duration      // that the behaviour takes by itself
	limit    time.Duration      // of all that a call may take
	waits    bool               // mostly for the limit
	slow     bool               // whatever the behaviour, since the call takes long
	ends     bool               // the connection, on purpose
	alone    bool               // no call follows, since none of that kind has a response
}

// asked is a question that honest runs were asked, with what is needed to answer it
// otherwise.
type asked struct {
	place   int             // among those of the call, from 1
	match   json.RawMessage // of the rule that answers it alone
	message string
	facts   fault.Facts
	answer  json.RawMessage // the honest one; nil if there was none
}

// questions are the elicitations of an honest run. messages reports whether a message was
// asked in every honest run, so that it tells the question.
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

// stateful reports whether a requestState came with the question.
func (a asked) stateful() bool { return a.facts.State != nil }

// messageShown is how much of a message stands in the rule that matches it.
const messageShown = 80

// matches is a match for one question alone.
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

// plan lists the trials of a call that asks in a revision, in the order in which they
// are best begun: those that mostly wait first.
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
			add(trial{Trial: Trial{Question: q.place}}, behaviour, rule{match: q.match, answer: quoted(behaviour)})
		}
	}
	add(trial{}, behaviourDeclineAlways, rule{answer: quoted("decline"), times: 20}, rule{answer: object("fault", "never")})
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
				continue // a later state holds more
			}
			of := f.Name
			if f.Group == fault.Content && f.Field != "" { // each field of each form that differs
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

// abandoned is how long a process may go on whose input was closed.
const abandoned = 5 * time.Second

func quoted(text string) json.RawMessage { return rawjson.AppendQuoted(nil, text) }

// content is what a question was honestly accepted with; nil if it was not.
func (a *asked) content() json.RawMessage {
	if content := rawjson.Member(a.answer, "content"); rawjson.KindOf(content) == rawjson.Object {
		return content
	}
	return nil
}

// spoilt is the answer of an answers file that misbehaves.
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

// How several calls at once are made and answered.
const (
	severalCalls = 3
	severalDelay = 200 * time.Millisecond
)

// severally answers the first question of each of several calls in reverse order, with
// contents that differ.
func severally(first asked) (rules []rule) {
	var about any = json.RawMessage(nil)
	if message := rawjson.Member(first.match, "message"); message != nil {
		about = message
	}
	for i := range severalCalls {
		answer := quoted("accept")
		if action := rawjson.Text(rawjson.Member(first.answer, "action")); action == behaviourDecline || action == behaviourCancel {
			answer = quoted(action)
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
