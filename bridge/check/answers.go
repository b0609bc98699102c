package check

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"elicitation-inspector/bridge/elicit"
	"elicitation-inspector/bridge/rawjson"
	"elicitation-inspector/bridge/script"
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
	out := []byte{'{'}
	for i := 0; i < len(members); i += 2 {
		value, ok := members[i+1].(json.RawMessage)
		if !ok {
			value, _ = rawjson.Encode(members[i+1]) // a text or a number
		}
		if value == nil {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(rawjson.AppendQuoted(out, members[i].(string)), ':')
		out = append(out, value...)
	}
	return append(out, '}')
}

// distinct returns valid content that differs from base in every field that has another
// valid value. Each number several, from 0, gives other values. It returns base if no such
// content is valid.
func distinct(request *elicit.Request, base json.RawMessage, several int) json.RawMessage {
	var members []any
	for name, was := range rawjson.Members(base) {
		value := was
		for _, f := range request.Fields {
			if f.Name == name {
				value = another(f, was, several)
			}
		}
		members = append(members, name, value)
	}
	content := object(members...)
	if problems, err := elicit.Check(request.Schema, content); err != nil || len(problems) > 0 {
		return base
	}
	return content
}

// another returns a valid value for the field that differs from was, or was if none is
// found.
func another(f elicit.Field, was json.RawMessage, several int) json.RawMessage {
	for _, value := range others(f, several) {
		problems, err := elicit.Check(f.Schema, value)
		if err == nil && len(problems) == 0 && string(value) != string(rawjson.AppendCompact(nil, was)) {
			return value
		}
	}
	return was
}

// others lists values for a field that are unlikely to be in a result by chance.
func others(f elicit.Field, several int) (list []json.RawMessage) {
	text := func(format string) {
		list = append(list, rawjson.Quoted(fmt.Sprintf(format, []string{"narwhal", "quokka", "axolotl", "pangolin"}[several%4])))
	}
	number := func(n any) { list = append(list, json.RawMessage(fmt.Sprint(n))) }
	switch f.Kind {
	case elicit.Text:
		for _, format := range []string{"%s-73519", "%[1]s-73519-%[1]s-73519-%[1]s", "%.5s", "%.2s"} {
			text(format)
		}
		for _, format := range []string{"%s73519@example.com", "https://%s73519.example/", "%s73519.example"} {
			text(format)
		}
		list = append(list, rawjson.Quoted(fmt.Sprintf("2031-07-%02dT09:41:17Z", 11+several)), rawjson.Quoted(fmt.Sprintf("2031-07-%02d", 11+several)))
	case elicit.Number, elicit.Integer:
		for _, n := range []int{73519, 7351, 735, 73, 7, 4, 2, 0} {
			number(n + several)
		}
	case elicit.Boolean:
		number(several%2 == 1)
	case elicit.SingleChoice:
		for i := range f.Choices {
			list = append(list, rawjson.Quoted(f.Choices[(len(f.Choices)-1-several%len(f.Choices)+i)%len(f.Choices)].Value))
		}
	case elicit.MultiChoice:
		for i := range f.Choices {
			list = append(list, rawjson.AppendQuoted([]byte{'['}, f.Choices[(several+i)%len(f.Choices)].Value))
			list[len(list)-1] = append(list[len(list)-1], ']')
		}
	}
	return list
}
