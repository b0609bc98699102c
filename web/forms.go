package web

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/labstack/echo/v4"

	"elicitation-inspector/bridge/elicit"
	"elicitation-inspector/bridge/rawjson"
	"elicitation-inspector/views/forms"
)

// submission is the state of a form, with the tab that is shown.
type submission struct {
	json    bool
	content string        // text of the JSON tab
	inputs  elicit.Inputs // inputs of the form tab
	checked bool          // a check has failed, so that "Send anyway" is offered
	gaveUp  string        // why the last check gave up; "" if it had a result
}

// submitted reads a posted form. Values too long for the page are taken from before.
func submitted(c echo.Context, fields []elicit.Field, before submission) submission {
	form := c.Request().Form // see wholeForm
	sub := submission{json: form.Get("tab") == "json", content: form.Get("content"), inputs: elicit.InputsFrom(fields, form)}
	sub.keep(form["kept"], before)
	return sub
}

// keep copies the parts that the form names as kept from before: content, extra, the
// index of a field, or an index and "-" for all fields from there on.
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

// untouched returns a form with the defaults of its schema. With json, it opens the
// JSON tab.
func untouched(fields []elicit.Field, json bool) submission {
	sub := submission{json: json, inputs: elicit.Defaults(fields)}
	if json {
		sub.content = "{}"
	}
	return sub
}

// value returns the JSON of a submission; nil if the text of the JSON tab is invalid.
// The problems do not include those by the schema.
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

// check returns the value, and its problems including those by the schema. An invalid
// schema causes no problems: the linter reports it as a mistake of the server.
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

// unchecked returns the problem of a check that gave up. It leaves the decision to the
// person.
func (sub *submission) unchecked() elicit.Problem {
	return elicit.Problem{Field: -1, Text: "This could not be checked: " + sub.gaveUp + ". Whether to send it is up to you."}
}

// found returns the problems of a draft that was checked before. It does not repeat a
// check that gave up, which may have taken seconds.
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

// switched returns the submission in the other tab, without loss.
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

// view returns the form for the page. wrap makes the full result of the content.
func (sub submission) view(id string, fields []elicit.Field, problems []elicit.Problem, wrap func(json.RawMessage) json.RawMessage) forms.Form {
	f := forms.Form{
		ID: id, JSON: sub.json, Content: sub.content, Extra: string(sub.inputs.Extra), Checked: sub.checked,
	}
	defaults := elicit.Defaults(fields)
	for i, field := range fields {
		input := elicit.Input{}
		if i < len(sub.inputs.Fields) {
			input = sub.inputs.Fields[i]
		}
		f.Fields = append(f.Fields, forms.Field{
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

// reset sets a field, given by its index, to its default.
func (sub *submission) reset(fields []elicit.Field, index string) error {
	i, err := strconv.Atoi(index)
	if err != nil || i < 0 || i >= len(fields) {
		return bad("There is no field %q.", index)
	}
	sub.inputs.Fields[i] = elicit.Defaults(fields).Fields[i]
	return nil
}

// drafts keeps the inputs of pending questions across reloads, tabs and lost
// connections.
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

const choicesMost = 100

func (s *Server) formChoices(c echo.Context, f callForm) error {
	return choices(c, argumentsID, f.fields)
}

func (s *Server) questionChoices(c echo.Context, q answerable) error {
	return choices(c, formID(q.Number), q.fields)
}

// choices answers with a window of the choices that match a search: count choices from
// the 0-based position from on, or around the choice with the index near, whose
// position is X-Near. X-Total is the number of matches.
func choices(c echo.Context, form string, fields []elicit.Field) error {
	i, err := queryNumber(c, "field", 0)
	from, err1 := queryNumber(c, "from", 0)
	count, err2 := queryNumber(c, "count", choicesMost)
	if err := cmp.Or(err, err1, err2); err != nil {
		return err
	}
	if i >= int64(len(fields)) {
		return echo.ErrNotFound
	}
	field := forms.Field{Field: fields[i], Index: int(i), ID: form + "-" + elicit.InputName(int(i))}
	matches := field.Matches(c.QueryParam("search"))
	h := c.Response().Header()
	if near, err := strconv.Atoi(c.QueryParam("near")); err == nil {
		if place := slices.Index(matches, near); place >= 0 {
			h.Set("X-Near", strconv.Itoa(place))
			from = int64(max(0, place-int(count)/2))
		}
	}
	h.Set("X-Total", strconv.Itoa(len(matches)))
	start := int(min(from, int64(len(matches))))
	end := min(len(matches), start+int(min(count, choicesMost)))
	return html(c, forms.ChoiceRows(field, matches[start:end], start, len(matches)))
}
