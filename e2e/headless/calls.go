package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"elicitation-inspector/bridge"

	"elicitation-inspector/bridge/conversation"
	"elicitation-inspector/bridge/elicit"
	"elicitation-inspector/bridge/live"
)

// callsFor returns the calls to make: those that the scenario prescribes, or else one
// for each item, with arguments that its schema suggests.
func callsFor(scenario string, items []conversation.Item, given []live.Request) ([]live.Request, error) {
	if given != nil {
		return given, nil
	}
	var out []live.Request
	for _, item := range items {
		r := live.Request{Kind: item.Kind, Name: item.Name, Key: item.Key}
		// Invalid arguments are sent anyway: the server must judge them.
		arguments, wrong := suggested(item.Schema)
		if wrong != nil {
			fmt.Fprintf(os.Stderr, "arguments of %s %s: %v\n", item.Kind, item.Name, wrong)
		}
		switch item.Kind {
		case conversation.Tool, conversation.Prompt:
			r.Arguments = arguments
		case conversation.Template:
			var err error
			if r.Key, err = conversation.ExpandTemplate(item.Key, arguments); err != nil {
				return nil, err
			}
		case conversation.Resource:
		}
		out = append(out, r)
	}
	if scenario == "json-schema-2020-12-preservation" {
		return out, echoSchema(items, out)
	}
	return out, nil
}

// echoSchema changes the call of json_schema_echo: its argument becomes the inputSchema
// of json_schema_2020_12_tool, as the scenario requires.
func echoSchema(items []conversation.Item, calls []live.Request) error {
	tool := func(name string) int {
		return slices.IndexFunc(items, func(i conversation.Item) bool { return i.Kind == conversation.Tool && i.Key == name })
	}
	focal, echo := tool("json_schema_2020_12_tool"), tool("json_schema_echo")
	if focal < 0 || echo < 0 {
		return errors.New("the server does not offer what the scenario is about")
	}
	calls[echo].Arguments = fmt.Appendf(nil, `{"schema":%s}`, items[focal].Schema)
	return nil
}

// answerTo accepts a form with values that its schema suggests, declines an elicitation
// that needs a person, and answers any other request with a valid minimal result.
func answerTo(q bridge.Question) live.Answer {
	switch {
	case q.Request == nil:
		return live.Answer{Result: q.Suggestion, Actor: conversation.ByScript}
	case q.Request.Mode == elicit.ModeForm:
		if content, wrong := suggested(q.Request.Schema); wrong == nil {
			return live.Answer{Action: "accept", Content: content, Actor: conversation.ByScript}
		}
	}
	return live.Answer{Action: "decline", Actor: conversation.ByScript}
}

// suggested returns the defaults of a schema, with a made-up value for each required
// field without a default. The error says why the schema rejects the values, or why
// there can be no form.
func suggested(schema json.RawMessage) (json.RawMessage, error) {
	fields, err := elicit.FieldsOf(schema)
	if err != nil || len(fields) == 0 {
		return json.RawMessage(`{}`), err
	}
	in := elicit.Defaults(fields)
	for i, f := range fields {
		if f.Required && f.Default == nil {
			in.Fields[i] = fill(f)
		}
	}
	content, problems, err := elicit.CheckInputs(schema, fields, in)
	if err == nil && len(problems) > 0 {
		err = fmt.Errorf("%s: %s", problems[0].Pointer, problems[0].Text)
	}
	return content, err
}

// fill returns a made-up value for a field.
func fill(f elicit.Field) elicit.Input {
	switch f.Kind {
	case elicit.Text:
		text := map[string]string{
			"email": "ada@example.org", "uri": "https://example.org/",
			"date": "2026-07-28", "date-time": "2026-07-28T12:00:00Z",
		}[f.Format]
		if text == "" {
			text = "text"
		}
		if f.MinLength != nil {
			text += strings.Repeat("x", max(0, *f.MinLength-len(text)))
		}
		if f.MaxLength != nil {
			text = text[:min(len(text), *f.MaxLength)]
		}
		return elicit.Input{Text: text, Empty: text == ""}
	case elicit.Number, elicit.Integer:
		if f.Minimum != "" {
			return elicit.Input{Text: f.Minimum}
		}
		return elicit.Input{Text: "1"}
	case elicit.Boolean:
		return elicit.Input{Text: "true"}
	case elicit.SingleChoice:
		return elicit.Input{Picks: []int{0}}
	case elicit.MultiChoice:
		in := elicit.Input{Picks: []int{0}}
		for f.MinItems != nil && len(in.Picks) < min(*f.MinItems, len(f.Choices)) {
			in.Picks = append(in.Picks, len(in.Picks))
		}
		return in
	default:
		return elicit.Input{JSON: "{}"}
	}
}
