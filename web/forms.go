package web

import (
	"encoding/json"
	"strconv"
	"strings"
	"sync"

	"github.com/labstack/echo/v4"

	"elicitation-inspector/bridge/elicit"
	"elicitation-inspector/bridge/rawjson"
	"elicitation-inspector/views"
)

// submission is what a form holds, in the one of its two tabs that is on show.
type submission struct {
	json    bool
	content string        // the JSON tab's text
	inputs  elicit.Inputs // the form tab's
	checked bool          // a check has failed, so that "Send anyway" is offered
	gaveUp  string        // why the last check came to no result; "" if it did
}

// submitted reads a posted form. What the page does not hold because it is too
// long for it comes from what the form held before.
func submitted(c echo.Context, fields []elicit.Field, before submission) submission {
	form := c.Request().Form // see wholeForm
	sub := submission{json: form.Get("tab") == "json", content: form.Get("content"), inputs: elicit.InputsFrom(fields, form)}
	sub.keep(form["kept"], before)
	return sub
}

// keep takes over what a form names as kept: content, extra, the index of a
// field, or that and "-" for all fields from there on.
func (sub *submission) keep(kept []string, before submission) {
	for _, what := range kept {
		switch what {
		case "content":
			sub.content = before.content
		case "extra":
			sub.inputs.Extra = before.inputs.Extra
		default:
			from, onwards := strings.CutSuffix(what, "-")
			n, err := strconv.Atoi(from)
			if err != nil || n < 0 || n >= len(sub.inputs.Fields) || n >= len(before.inputs.Fields) {
				continue
			}
			end := n + 1
			if onwards {
				end = min(len(sub.inputs.Fields), len(before.inputs.Fields))
			}
			copy(sub.inputs.Fields[n:end], before.inputs.Fields[n:end])
		}
	}
}

// untouched is a form as its schema fills it in. Where there is no field to
// draw, it opens as JSON.
func untouched(fields []elicit.Field, json bool) submission {
	sub := submission{json: json, inputs: elicit.Defaults(fields)}
	if json {
		sub.content = "{}"
	}
	return sub
}

// value is the JSON that a submission amounts to; nil where the JSON tab holds
// none. The problems are those of putting it together, not of the schema.
func (sub submission) value(fields []elicit.Field) (json.RawMessage, []elicit.Problem) {
	if !sub.json {
		return elicit.Content(fields, sub.inputs)
	}
	value, err := rawjson.Compact(json.RawMessage(sub.content))
	if err != nil {
		return nil, []elicit.Problem{{Field: -1, Text: "Not JSON: " + err.Error() + "."}}
	}
	return value, nil
}

// check is value, judged by the schema as well. A schema that is none rejects
// nothing: that it is none is the linter's to say, of the server and not of the
// person.
func (sub *submission) check(fields []elicit.Field, schema json.RawMessage) (json.RawMessage, []elicit.Problem) {
	value, problems := sub.value(fields)
	sub.gaveUp = ""
	if value == nil || schema == nil {
		return value, problems
	}
	var err error
	if sub.json {
		problems, err = elicit.Check(schema, value)
	} else {
		value, problems, err = elicit.CheckInputs(schema, fields, sub.inputs)
	}
	if elicit.Unchecked(err) {
		sub.gaveUp = err.Error()
		problems = append(problems, sub.unchecked())
	}
	return value, problems
}

// unchecked says why there is no judgement, and whose it is then.
func (sub *submission) unchecked() elicit.Problem {
	return elicit.Problem{Field: -1, Text: "This could not be checked: " + sub.gaveUp + ". Whether to send it is up to you."}
}

// found is what is wrong with a draft that has been checked. A check that gave up
// is not tried again: it may have taken seconds.
func (d *drafts) found(question int, sub submission, fields []elicit.Field, schema json.RawMessage) []elicit.Problem {
	if sub.gaveUp != "" {
		_, problems := sub.value(fields)
		return append(problems, sub.unchecked())
	}
	_, problems := sub.check(fields, schema)
	d.mu.Lock()
	defer d.mu.Unlock()
	if kept, ok := d.kept[question]; ok && sub.gaveUp != "" {
		kept.gaveUp = sub.gaveUp
		d.kept[question] = kept
	}
	return problems
}

// switched is the submission in the other tab. Nothing is lost on the way.
func (sub submission) switched(fields []elicit.Field, toJSON bool) (submission, []elicit.Problem) {
	if sub.json == toJSON {
		return sub, nil
	}
	if toJSON {
		value, _ := elicit.Content(fields, sub.inputs)
		return submission{json: true, content: rawjson.Pretty(value), inputs: sub.inputs}, nil
	}
	inputs, err := elicit.InputsOf(fields, json.RawMessage(sub.content))
	if err != nil {
		return sub, []elicit.Problem{{Field: -1, Text: "A form cannot show this: " + err.Error() + "."}}
	}
	return submission{inputs: inputs}, nil
}

// view is the form as the page draws it. wrap turns the content into all that
// would be sent.
func (sub submission) view(id string, fields []elicit.Field, problems []elicit.Problem, wrap func(json.RawMessage) json.RawMessage) views.Form {
	f := views.Form{
		ID: id, JSON: sub.json, Content: sub.content, Extra: string(sub.inputs.Extra), Checked: sub.checked,
	}
	defaults := elicit.Defaults(fields)
	for i, field := range fields {
		input := elicit.Input{}
		if i < len(sub.inputs.Fields) {
			input = sub.inputs.Fields[i]
		}
		f.Fields = append(f.Fields, views.Field{
			Field: field, Index: i, ID: id + "-" + elicit.InputName(i), Input: input,
			Changed: !input.Equal(defaults.Fields[i]),
		})
	}
	for _, p := range problems {
		if p.Field >= 0 && p.Field < len(f.Fields) && !sub.json {
			f.Fields[p.Field].Problems = append(f.Fields[p.Field].Problems, p.Text)
			continue
		}
		text := p.Text
		if p.Field >= 0 && p.Field < len(fields) {
			text = fields[p.Field].Label + ": " + text
		}
		f.Problems = append(f.Problems, text)
	}
	if value, _ := sub.value(fields); value != nil {
		f.Preview = rawjson.Pretty(wrap(value))
	}
	return f
}

// reset puts the field with the given index back to its default.
func (sub *submission) reset(fields []elicit.Field, index string) error {
	i, err := strconv.Atoi(index)
	if err != nil || i < 0 || i >= len(fields) {
		return bad("There is no field %q.", index)
	}
	sub.inputs.Fields[i] = elicit.Defaults(fields).Fields[i]
	return nil
}

// drafts keeps what is typed into pending questions, so that a reload, a second
// tab or a lost connection loses none of it.
type drafts struct {
	mu   sync.Mutex
	kept map[int]submission
}

func (d *drafts) get(question int) (submission, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	sub, ok := d.kept[question]
	return sub, ok
}

func (d *drafts) put(question int, sub submission) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.kept[question] = sub
}

func (d *drafts) drop(question int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.kept, question)
}
