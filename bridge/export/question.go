package export

import (
	"slices"
	"strings"

	"elicitation-inspector/bridge/conversation"
	"elicitation-inspector/bridge/elicit"
	"elicitation-inspector/bridge/export/paper"
	"elicitation-inspector/bridge/findings"
	"elicitation-inspector/bridge/mcp"
	"elicitation-inspector/bridge/wording"
)

// question is a question in a report.
type question struct {
	*conversation.Question
	Position   int   // position within its call, from 1
	To         int64 // frame that settled it, or that ended its call
	Findings   []findings.Found
	Request    *elicit.Request // nil if the question is not chosen, or cannot be parsed as an elicitation
	Unreadable error           // why an elicitation cannot be parsed
	Fields     []field
}

func questionOf(q *conversation.Question, position int, said *remarks) question {
	out := question{Question: q, Position: position, Findings: said.of(q)}
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
	out := field{Field: f, Value: in.Text, Rules: rulesOf(f)}
	for i, c := range f.Choices {
		out.Choices = append(out.Choices, choice{paper.Visible(c.Title), slices.Contains(in.Picks, i)})
	}
	switch f.Kind {
	case elicit.Boolean:
		out.Value = map[string]string{"true": "yes", "false": "no"}[in.Text]
	case elicit.SingleChoice, elicit.MultiChoice:
		var titles []string
		for _, i := range in.Picks {
			titles = append(titles, f.Choices[i].Title)
		}
		out.Value = strings.Join(titles, ", ")
	}
	switch {
	case in.JSON != "":
		out.Value, out.Stray = in.JSON, len(f.Choices) > 0
	case in.Empty && out.Value == "":
		out.Value = "(empty)"
	}
	out.Long = f.Kind == elicit.JSON || in.JSON != "" || strings.Contains(in.Text, "\n")
	out.Name, out.Label, out.Description, out.Value = paper.Visible(f.Name), paper.Visible(f.Label), paper.Visible(f.Description), paper.Visible(out.Value)
	return out
}

// rulesOf describes the limits that the schema sets for a field.
func rulesOf(f elicit.Field) []string {
	var out []string
	add := func(words, value string) {
		if value != "" {
			out = append(out, paper.Visible(words+value))
		}
	}
	limit := func(words string, n *int, one string) {
		if n != nil {
			add(words, wording.Plural(*n, one))
		}
	}
	add("format ", f.Format)
	add("pattern ", f.Pattern)
	add("at least ", f.Minimum)
	add("at most ", f.Maximum)
	add("more than ", f.ExclusiveMinimum)
	add("less than ", f.ExclusiveMaximum)
	add("a multiple of ", f.MultipleOf)
	limit("at least ", f.MinLength, "character")
	limit("at most ", f.MaxLength, "character")
	limit("at least ", f.MinItems, "choice")
	limit("at most ", f.MaxItems, "choice")
	add("", f.Why)
	return out
}
