package check

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/judges/check/judge"
	"elicitation-inspector/bridge/keep/script"
	"elicitation-inspector/bridge/meaning/elicit"
)

// honest describes how a well-behaved client answers a call's questions: by the rules of
// answers files, and by a default for questions that no rule matches.
type honest struct {
	rules     []json.RawMessage
	otherwise json.RawMessage
}

// honestOf joins answers files. The rules of earlier files come first, and the first
// default counts.
func honestOf(scripts []*script.Script) (h honest) {
	for _, s := range scripts {
		for _, rule := range s.Rules {
			h.rules = append(h.rules, rule.Source)
		}
		if s.Default != nil && h.otherwise == nil {
			h.otherwise = s.Default.Source
		}
	}
	if h.otherwise == nil {
		h.otherwise = json.RawMessage(`{"accept":"valid"}`)
	}
	return h
}

// rule is a rule of the answers file that comes before the honest rules.
type rule struct {
	match  json.RawMessage // nil for any question
	answer json.RawMessage
	delay  time.Duration
	times  int
}

// file returns an answers file with the given rules, the honest rules and the default.
func (h honest) file(rules ...rule) string {
	var b strings.Builder
	if len(rules)+len(h.rules) > 0 {
		b.WriteString("answers:\n")
	}
	for _, r := range rules {
		begin := "  - "
		line := func(key, value string) {
			b.WriteString(begin + key + ": " + value + "\n")
			begin = "    "
		}
		if r.match != nil {
			line("match", script.Flow(r.match))
		}
		line("answer", script.Flow(r.answer))
		if r.delay > 0 {
			line("delay", r.delay.String())
		}
		if r.times > 0 {
			line("times", fmt.Sprint(r.times))
		}
	}
	for _, r := range h.rules {
		b.WriteString("  - " + script.Flow(r) + "\n")
	}
	b.WriteString("default: " + script.Flow(h.otherwise) + "\n")
	return b.String()
}

// object writes a JSON object from alternating names and values. It omits members whose
// value is nil.
func object(members ...any) json.RawMessage {
	var out rawjson.ObjectWriter
	for i := 0; i < len(members); i += 2 {
		value, ok := members[i+1].(json.RawMessage)
		if !ok {
			value, _ = rawjson.Encode(members[i+1]) // a text or a number
		}
		out.Add(members[i].(string), value)
	}
	return out.JSON()
}

// distinct returns valid content that differs from base in every field that has another
// valid value, and differs from field to field and from call to call. Fields that ask for
// consent get yes. It returns base if no such content is valid.
func distinct(request *elicit.Request, base json.RawMessage, call int) json.RawMessage {
	return rewritten(request, base, func(f elicit.Field, place int, was json.RawMessage) json.RawMessage {
		if yes := judge.ConsentIn(f, true); yes != nil {
			return yes
		}
		return another(f, was, call*7+place)
	})
}

// reworded is distinct for texts and numbers alone. Other fields keep their values, so
// that the content is one that base shows to be accepted.
func reworded(request *elicit.Request, base json.RawMessage, call int) json.RawMessage {
	return rewritten(request, base, func(f elicit.Field, place int, was json.RawMessage) json.RawMessage {
		switch yes := judge.ConsentIn(f, true); {
		case yes != nil:
			return yes
		case f.Kind.Entry() == elicit.Typed:
			return another(f, was, call*7+place)
		}
		return was
	})
}

// denied returns base with no in every field that asks for consent, and false in every
// other boolean.
func denied(request *elicit.Request, base json.RawMessage) json.RawMessage {
	return rewritten(request, base, func(f elicit.Field, _ int, was json.RawMessage) json.RawMessage {
		switch no := judge.ConsentIn(f, false); {
		case no != nil:
			return no
		case f.Kind == elicit.Boolean:
			return json.RawMessage("false")
		}
		return was
	})
}

// rewritten returns base with other values of its fields, or base if the schema refuses
// those.
func rewritten(request *elicit.Request, base json.RawMessage, value func(f elicit.Field, place int, was json.RawMessage) json.RawMessage) json.RawMessage {
	var members []any
	for name, was := range rawjson.Members(base) {
		now := was
		if i := slices.IndexFunc(request.Fields, func(f elicit.Field) bool { return f.Name == name }); i >= 0 {
			now = value(request.Fields[i], i, was)
		}
		members = append(members, name, now)
	}
	content := object(members...)
	if problems, err := elicit.Check(request.Schema, content); err != nil || len(problems) > 0 {
		return base
	}
	return content
}

// otherArguments returns valid arguments with other texts and numbers; nil if there are
// none.
func otherArguments(schema, arguments json.RawMessage) json.RawMessage {
	fields, err := elicit.FieldsOf(schema)
	if err != nil || arguments == nil {
		return nil
	}
	other := reworded(&elicit.Request{Fields: fields, Schema: schema}, arguments, 9)
	if rawjson.Same(other, arguments) {
		return nil
	}
	return other
}

// another returns a valid value for the field that differs from was, or was if none is
// found. Each number n gives another value.
func another(f elicit.Field, was json.RawMessage, n int) json.RawMessage {
	for _, value := range f.Kind.Others(&f, n) {
		if f.Takes(value) && !rawjson.Same(value, was) {
			return value
		}
	}
	return was
}
