package forms

import (
	"context"
	"encoding/json"
	"fmt"
	"mime/multipart"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/meaning/elicit"
)

// Submission is the state of a form, with what is typed into its tabs.
type Submission struct {
	JSON    bool          // the JSON tab is shown
	Content string        // text of the JSON tab
	Inputs  elicit.Inputs // inputs of the form tab
	Checked bool          // a check has failed, so that "Send anyway" is offered
	GaveUp  string        // why the last check gave up; "" if it had a result
}

// Submitted reads a posted form. Values too long for the page are taken from before.
func Submitted(form *multipart.Form, fields []elicit.Field, before Submission) Submission {
	values := url.Values(form.Value)
	sub := Submission{JSON: values.Get("tab") == "json", Content: values.Get("content"), Inputs: elicit.InputsFrom(fields, form)}
	sub.keep(values["kept"], before)
	return sub
}

// keep copies the parts that the form names as kept from before: content, extra, the
// index of a field, or an index and "-" for all fields from there on.
func (sub *Submission) keep(kept []string, before Submission) {
	for _, what := range kept {
		switch what {
		case "content":
			sub.Content = before.Content
		case "extra":
			sub.Inputs.Extra = before.Inputs.Extra
		default:
			from, onwards := strings.CutSuffix(what, "-")
			n, err := strconv.Atoi(from)
			if err != nil || n < 0 || n >= len(sub.Inputs.Fields) || n >= len(before.Inputs.Fields) {
				continue
			}
			end := n + 1
			if onwards {
				end = min(len(sub.Inputs.Fields), len(before.Inputs.Fields))
			}
			for i := n; i < end; i++ {
				if sub.Inputs.Fields[i].Equal(elicit.Input{}) { // else another file was chosen
					sub.Inputs.Fields[i] = before.Inputs.Fields[i]
				}
			}
		}
	}
}

// Untouched returns a form with the defaults of its schema. With json, it opens the
// JSON tab.
func Untouched(fields []elicit.Field, json bool) Submission {
	sub := Submission{JSON: json, Inputs: elicit.Defaults(fields)}
	if json {
		sub.Content = "{}"
	}
	return sub
}

// Value returns the JSON of a submission; nil if the text of the JSON tab is invalid.
// The problems do not include those by the schema.
func (sub Submission) Value(fields []elicit.Field) (json.RawMessage, []elicit.Problem) {
	if !sub.JSON {
		return elicit.Content(fields, sub.Inputs)
	}
	value, err := rawjson.Compact(json.RawMessage(sub.Content))
	if err != nil {
		return nil, []elicit.Problem{{Field: -1, Text: "Not JSON: " + err.Error() + "."}}
	}
	return value, nil
}

// Check returns the value, and its problems including those by the schema. An invalid
// schema causes no problems: the linter reports it as a mistake of the server.
func (sub *Submission) Check(fields []elicit.Field, schema json.RawMessage) (json.RawMessage, []elicit.Problem) {
	value, problems := sub.Value(fields)
	sub.GaveUp = ""
	if value == nil || schema == nil {
		return value, problems
	}
	var err error
	if sub.JSON {
		problems, err = elicit.Check(schema, value)
	} else {
		value, problems, err = elicit.CheckInputs(schema, fields, sub.Inputs)
	}
	if elicit.Unchecked(err) {
		sub.GaveUp = err.Error()
		problems = append(problems, sub.unchecked())
	}
	return value, problems
}

// Recheck returns the problems of a submission that was checked before. It does not repeat a
// check that gave up, which may have taken seconds.
func (sub *Submission) Recheck(fields []elicit.Field, schema json.RawMessage) []elicit.Problem {
	if sub.GaveUp != "" {
		_, problems := sub.Value(fields)
		return append(problems, sub.unchecked())
	}
	_, problems := sub.Check(fields, schema)
	return problems
}

// unchecked returns the problem of a check that gave up. It leaves the decision to the
// person.
func (sub *Submission) unchecked() elicit.Problem {
	return elicit.Problem{Field: -1, Text: "This could not be checked: " + sub.GaveUp + ". Whether to send it is up to you."}
}

// Switched returns the submission in the other tab, without loss.
func (sub Submission) Switched(fields []elicit.Field, toJSON bool) (Submission, []elicit.Problem) {
	if sub.JSON == toJSON {
		return sub, nil
	}
	if toJSON {
		value, _ := elicit.Content(fields, sub.Inputs)
		return Submission{JSON: true, Content: rawjson.Pretty(value), Inputs: sub.Inputs}, nil
	}
	inputs, err := elicit.InputsOf(fields, json.RawMessage(sub.Content))
	if err != nil {
		return sub, []elicit.Problem{{Field: -1, Text: "A form cannot show this: " + err.Error() + "."}}
	}
	return Submission{Inputs: inputs}, nil
}

// View returns the form for the page. wrap makes the full result of the content.
func (sub Submission) View(id string, fields []elicit.Field, problems []elicit.Problem, wrap func(json.RawMessage) json.RawMessage) Form {
	f := Form{
		ID: id, JSON: sub.JSON, Content: sub.Content, Extra: string(sub.Inputs.Extra), Checked: sub.Checked,
	}
	defaults := elicit.Defaults(fields)
	for i, field := range fields {
		input := elicit.Input{}
		if i < len(sub.Inputs.Fields) {
			input = sub.Inputs.Fields[i]
		}
		f.Fields = append(f.Fields, Field{
			Field: field, Index: i, ID: id + "-" + elicit.InputName(i), Input: input,
			Changed: !input.Equal(defaults.Fields[i]),
		})
	}
	for _, p := range problems {
		if p.Field >= 0 && p.Field < len(f.Fields) && !sub.JSON {
			f.Fields[p.Field].Problems = append(f.Fields[p.Field].Problems, p.Text)
			continue
		}
		f.Problems = append(f.Problems, p.Labelled(fields))
	}
	if value, _ := sub.Value(fields); value != nil {
		f.Preview = rawjson.Pretty(wrap(value))
	}
	return f
}

// Reset sets a field, given by its index, to its default.
func (sub *Submission) Reset(fields []elicit.Field, index string) error {
	i, err := strconv.Atoi(index)
	if err != nil || i < 0 || i >= len(fields) {
		return fmt.Errorf("there is no field %q", index)
	}
	sub.Inputs.Fields[i] = elicit.Defaults(fields).Fields[i]
	return nil
}

// Lost reports whether typed text would be lost if its form were drawn again, because it is
// too long for the page and before does not have it.
func (sub Submission) Lost(ctx context.Context, fields []Field, before Submission) (bool, error) {
	if sub.JSON {
		return sub.Content != before.Content && tooLong(sub.Content), nil
	}
	_, kept, err := drawFields(ctx, fields)
	return slices.ContainsFunc(kept, func(i int) bool {
		return i >= len(before.Inputs.Fields) || !sub.Inputs.Fields[i].Equal(before.Inputs.Fields[i])
	}), err
}
