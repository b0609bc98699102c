package export

import (
	"encoding/json"
	"slices"
	"strings"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/meaning/elicit"
	"elicitation-inspector/bridge/meaning/lint"
)

type question struct {
	*conversation.Question
	Position   int   // position within its call, from 1
	To         int64 // frame that settled it, or that ended its call
	Findings   []lint.Found
	Request    *elicit.Request // nil if the question is not chosen, or cannot be parsed as an elicitation
	Unreadable error           // why an elicitation cannot be parsed
	Fields     []field
}

func questionOf(q *conversation.Question, position int, response int64, said *remarks) question {
	out := question{Question: q, Position: position}
	out.Findings = lint.OfQuestion(q, response, func(seq int64) []lint.Found { return said.found[seq] })
	if q.AskedUnseen {
		return out
	}
	request, inputs, err := q.Form()
	if err != nil {
		if q.Method == mcp.MethodElicit {
			out.Unreadable = err
		}
		return out
	}
	out.Request = request
	before := elicit.Defaults(request.Fields).Fields
	for i, f := range request.Fields {
		var in elicit.Input
		if i < len(inputs.Fields) {
			in = inputs.Fields[i]
		}
		one := fieldOf(f, in)
		if q.Action == "accept" {
			one.Asked = new(fieldOf(f, before[i]))
		}
		out.Fields = append(out.Fields, one)
	}
	return out
}

// Outcome is the outcome of the question, for its colour.
func (q *question) Outcome() Outcome { return outcomeOf(q.Question) }

// Raw reports whether the question is shown as JSON, because it cannot be shown as a
// form.
func (q *question) Raw() bool {
	return !q.AskedUnseen && (q.Request == nil || q.Request.Trouble != "")
}

// Returned returns the JSON of the result, or of the error in place of a result.
func (q *question) Returned() []byte {
	if q.Error != nil {
		return q.Error
	}
	return q.Answer
}

// field is a form field of a question, with its value in the answer. Its texts are made
// visible; see visible.
type field struct {
	elicit.Field
	Value   string // for display
	Long    bool   // Value may have several lines
	Stray   bool   // Value is not among the choices
	Asked   *field // as it was before the answer, nil if it is as it was asked
	Choices []choice
	Rules   []string // limits of the schema, in words
}

type choice struct {
	Title  string
	Picked bool
}

func fieldOf(f elicit.Field, in elicit.Input) field {
	out := field{Field: f, Value: f.Kind.Words(&f, in)}
	for _, rule := range append(f.Limits(), f.Why) {
		if rule != "" {
			out.Rules = append(out.Rules, Visible(rule))
		}
	}
	for i, c := range f.Choices {
		out.Choices = append(out.Choices, choice{Visible(c.Title), slices.Contains(in.Picks, i)})
	}
	switch {
	case in.JSON != "":
		out.Value, out.Stray = in.JSON, len(f.Choices) > 0
	case in.Empty && out.Value == "":
		out.Value = "(empty)"
	}
	out.Long = f.Kind.Entry() == elicit.Written || in.JSON != "" || strings.Contains(in.Text, "\n")
	out.Name, out.Label, out.Description, out.Value = Visible(f.Name), Visible(f.Label), Visible(f.Description), Visible(out.Value)
	return out
}

// block is one block of content (MCP, Tools, Tool Result; Prompts; Resources).
type block struct {
	Type, Role, About string
	Text              string
	JSON              json.RawMessage // shown instead of the other fields, if set
}

// Plain reports whether the block is text without a role or details.
func (b block) Plain() bool { return b.Type == "text" && b.Role == "" && b.About == "" }

// Heading returns the block's role, type and details in one line.
func (b block) Heading() string { return strings.Trim(b.Role+" · "+b.Type+" · "+b.About, " ·") }

// blocksOf returns the blocks of a result. Blocks without text are described by name,
// URI, type and size.
func blocksOf(result json.RawMessage) (out []block) {
	if result == nil {
		return nil
	}
	read, _ := conversation.ReadResult(result) // an unreadable result is shown as JSON below
	for _, c := range read.Content {
		out = append(out, blockOf(c))
	}
	if read.Structured != nil {
		out = append(out, block{JSON: read.Structured})
	}
	if out == nil {
		out = append(out, block{JSON: result})
	}
	return out
}

func blockOf(c conversation.Content) block {
	size := ""
	if c.Bytes != nil {
		size = wording.Plural(len(c.Bytes), "byte")
	}
	about := wording.Join(" · ", c.Name, c.URI, c.MIME, c.Description, c.Problem, size)
	b := block{Type: Line(c.Type, 60), Role: Line(c.Role, 60), Text: c.Text, About: Line(about, 400)}
	if b.Text == "" && b.About == "" {
		b.Text = rawjson.Pretty(c.Raw)
	}
	return b
}
