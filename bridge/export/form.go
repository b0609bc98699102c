package export

import (
	"encoding/json"
	"slices"
	"strings"

	"elicitation-inspector/bridge/elicit"
	"elicitation-inspector/bridge/rawjson"
)

// shownField is a field of a question as it looked, with what stood in it. Its
// texts have been made visible.
type shownField struct {
	elicit.Field
	Kind    string // a word for the control: text, long, number, integer, boolean, choice, choices, json
	Value   string // as a person reads it
	Choices []shownChoice
	Stray   bool     // Value is none of the choices
	Rules   []string // what an answer must satisfy, in words
}

type shownChoice struct {
	Title  string
	Picked bool
}

// fieldsOf are the fields of a question with what stood in them.
func fieldsOf(fields []elicit.Field, inputs elicit.Inputs) []shownField {
	out := make([]shownField, 0, len(fields))
	for i, f := range fields {
		var in elicit.Input
		if i < len(inputs.Fields) {
			in = inputs.Fields[i]
		}
		s := shownField{Field: f, Value: in.Text, Rules: rulesOf(f)}
		switch f.Kind {
		case elicit.Text:
			s.Kind = "text"
			if strings.Contains(in.Text, "\n") {
				s.Kind = "long"
			}
		case elicit.Number:
			s.Kind = "number"
		case elicit.Integer:
			s.Kind = "integer"
		case elicit.Boolean:
			s.Kind = "boolean"
			s.Value = map[string]string{"true": "yes", "false": "no"}[in.Text]
		case elicit.SingleChoice, elicit.MultiChoice:
			s.Kind = "choice"
			if f.Kind == elicit.MultiChoice {
				s.Kind = "choices"
			}
			var titles []string
			for k, c := range f.Choices {
				s.Choices = append(s.Choices, shownChoice{visible(c.Title), slices.Contains(in.Picks, k)})
			}
			for _, k := range in.Picks {
				titles = append(titles, f.Choices[k].Title)
			}
			s.Value = strings.Join(titles, ", ")
		default:
			s.Kind = "json"
		}
		if in.JSON != "" {
			s.Value = in.JSON
			if s.Stray = len(s.Choices) > 0; !s.Stray {
				s.Kind = "json"
			}
		} else if in.Empty && s.Value == "" {
			s.Value = "(empty)"
		}
		s.Name, s.Label, s.Description, s.Value = visible(f.Name), visible(f.Label), visible(f.Description), visible(s.Value)
		out = append(out, s)
	}
	return out
}

// rulesOf says in words what the schema asks of a field.
func rulesOf(f elicit.Field) []string {
	var out []string
	add := func(words string, is bool) {
		if is {
			out = append(out, visible(words))
		}
	}
	limit := func(words string, n *int, one string) {
		if n != nil {
			out = append(out, words+" "+counted(*n, one))
		}
	}
	add("format "+f.Format, f.Format != "")
	add("pattern "+f.Pattern, f.Pattern != "")
	add("at least "+f.Minimum, f.Minimum != "")
	add("at most "+f.Maximum, f.Maximum != "")
	add("more than "+f.ExclusiveMinimum, f.ExclusiveMinimum != "")
	add("less than "+f.ExclusiveMaximum, f.ExclusiveMaximum != "")
	add("a multiple of "+f.MultipleOf, f.MultipleOf != "")
	limit("at least", f.MinLength, "character")
	limit("at most", f.MaxLength, "character")
	limit("at least", f.MinItems, "choice")
	limit("at most", f.MaxItems, "choice")
	add(f.Why, f.Why != "")
	return out
}

// shownResult is what a call brought back, for reading.
type shownResult struct {
	Blocks []shownBlock
	JSON   string // what there is beside the blocks, laid out; "" if nothing
}

// shownBlock is one block of content (MCP, Tools, Tool Result; Prompts;
// Resources).
type shownBlock struct {
	Type, Role, About string
	Text              string
}

// resultOf reads a result as far as it is text; the rest is named.
func resultOf(result json.RawMessage) shownResult {
	var out shownResult
	if result == nil {
		return out
	}
	m := members(result)
	var list []json.RawMessage
	for _, name := range []string{"content", "contents", "messages"} {
		if json.Unmarshal(m[name], &list) != nil {
			continue
		}
		for _, raw := range list {
			out.Blocks = append(out.Blocks, blockOf(raw))
		}
	}
	if structured := m["structuredContent"]; structured != nil {
		out.JSON = rawjson.Pretty(structured)
	}
	if len(out.Blocks) == 0 && out.JSON == "" {
		out.JSON = rawjson.Pretty(result)
	}
	return out
}

func blockOf(raw json.RawMessage) shownBlock {
	m := members(raw)
	if inner := m["content"]; inner != nil && m["role"] != nil {
		b := blockOf(inner)
		b.Role = line(text(m["role"]), 60)
		return b
	}
	if inner := m["resource"]; inner != nil {
		b := blockOf(inner)
		b.Type = "resource"
		return b
	}
	b := shownBlock{Type: line(text(m["type"]), 60), Text: text(m["text"])}
	if b.Type == "" {
		b.Type = "resource"
	}
	var about []string
	for _, name := range []string{"name", "uri", "mimeType", "description"} {
		if words := text(m[name]); words != "" {
			about = append(about, words)
		}
	}
	for _, name := range []string{"data", "blob"} {
		if data := text(m[name]); data != "" {
			about = append(about, counted(len(data)/4*3, "byte")+", about")
		}
	}
	if b.About = line(strings.Join(about, " · "), 400); b.Text == "" && b.About == "" {
		b.Text = rawjson.Pretty(raw)
	}
	return b
}
