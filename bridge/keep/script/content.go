package script

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/base/written"
	"elicitation-inspector/bridge/meaning/elicit"
	"elicitation-inspector/bridge/wire/redact"
)

// Names of special values: objects whose only member has one of these names.
const (
	fromEnv     = "$env"     // an environment variable
	fromChoice  = "$choice"  // one of the field's choices: its position from 1, or a pattern for its title or value
	fromDefault = "$default" // the field's default
)

// special returns the name and the argument of a special value; "" for a literal value.
func special(n *written.Node) (name string, of *written.Node) {
	if n.Kind == rawjson.Object && len(n.Names) == 1 && strings.HasPrefix(n.Names[0].Text, "$") {
		return n.Names[0].Text, n.Values[0]
	}
	return "", nil
}

// leftOut says that a value has to be filled in.
const leftOut = "the transcript left this value out as a secret: put it here"

// complete records the values that are to be sent and that a transcript left out.
func (r *reader) complete(n *written.Node) {
	if strings.Contains(n.Text, redact.Placeholder) {
		r.wrong(n, leftOut)
	}
	for _, inner := range slices.Concat(n.Names, n.Values) {
		r.complete(inner)
	}
}

// checkValue records mistakes in the value of a field.
func (r *reader) checkValue(n *written.Node) {
	for _, element := range n.Values {
		if n.Kind == rawjson.Array {
			r.checkValue(element)
		}
	}
	name, of := special(n)
	switch name {
	case "":
	case fromEnv:
		if r.kind(of, fromEnv, rawjson.String) {
			if _, set := r.env(of.Text); !set {
				r.wrong(of, "the environment has no variable %s", of.Text)
			}
		}
	case fromChoice:
		place, err := strconv.Atoi(string(of.Scalar))
		_, bad := ParseText(of.Text)
		switch {
		case of.Kind == rawjson.Number && (err != nil || place < 1):
			r.wrong(of, "%s is %s, not the place of a choice from 1 on", fromChoice, of.Scalar)
		case of.Kind != rawjson.Number && of.Kind != rawjson.String:
			r.wrong(of, "%s wants the place of a choice from 1 on, or its title or value", fromChoice)
		case bad != nil:
			r.wrong(of, "%v", bad)
		}
	case fromDefault:
		if string(of.Scalar) != "true" {
			r.wrong(of, "%s can only be true", fromDefault)
		}
	default:
		r.wrong(n.Names[0], "there is no %s%s", name, suggest(name, []string{fromEnv, fromChoice, fromDefault}))
	}
}

// content returns the content of an accepted form. The error says why there is no
// content that may be sent.
func (a *Answer) content(request *elicit.Request) (json.RawMessage, error) {
	var content json.RawMessage
	switch a.Content {
	case Values:
		var err error
		if content, err = a.filled(request); err != nil {
			return nil, err
		}
	case Valid:
		content = elicit.Valid(request.Fields)
	default:
		content, _ = elicit.Content(request.Fields, elicit.Defaults(request.Fields))
	}
	if a.Anyway || request.Schema == nil {
		return content, nil
	}
	if last := a.checked.Load(); last != nil && bytes.Equal(last.schema, request.Schema) && bytes.Equal(last.content, content) {
		return content, nil
	}
	problems, err := elicit.Check(request.Schema, content)
	if err != nil {
		return nil, fmt.Errorf("the answer cannot be checked: %w; \"anyway: true\" sends it all the same", err)
	}
	if len(problems) == 0 {
		a.checked.Store(&checked{request.Schema, content})
		return content, nil
	}
	var all []string
	for _, p := range problems {
		all = append(all, strings.ReplaceAll(p.Named(request.Fields), "You entered", "The answer has"))
	}
	return nil, fmt.Errorf("the answer does not satisfy the schema, and is not sent without \"anyway: true\": %s", strings.Join(all, " "))
}

// checked is a valid content with its schema. It is kept, because a check takes longer than
// everything else here, and servers often repeat a question.
type checked struct{ schema, content []byte }

// filled returns the content with the values in the file's order. If rest adds values,
// all are in the schema's order.
func (a *Answer) filled(request *elicit.Request) (json.RawMessage, error) {
	given := map[string]json.RawMessage{}
	order := []string{}
	for i, name := range a.values.Names {
		at := slices.IndexFunc(request.Fields, func(f elicit.Field) bool { return f.Name == name.Text })
		var field *elicit.Field
		if at >= 0 {
			field = &request.Fields[at]
		}
		value, err := a.value(a.values.Values[i], field)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name.Text, err)
		}
		given[name.Text], order = value, append(order, name.Text)
	}
	if a.rest != "" {
		order = a.complete(request, given, order)
	}
	var out rawjson.ObjectWriter
	for _, name := range order {
		out.Add(name, given[name])
	}
	return out.JSON(), nil
}

// complete adds to given the form's values for other fields, as rest says. It returns
// all names: the form's fields in order, and then other names from order.
func (a *Answer) complete(request *elicit.Request, given map[string]json.RawMessage, order []string) []string {
	form := elicit.Valid(request.Fields)
	if a.rest == Defaults {
		form, _ = elicit.Content(request.Fields, elicit.Defaults(request.Fields))
	}
	for name, value := range rawjson.Members(form) {
		if given[name] == nil {
			given[name] = value
		}
	}
	var all []string
	for _, f := range request.Fields {
		if given[f.Name] != nil {
			all = append(all, f.Name)
		}
	}
	for _, name := range order {
		if !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	return all
}

// value returns the JSON of a field's value. field is nil if the question has no such
// field.
func (a *Answer) value(n *written.Node, field *elicit.Field) (json.RawMessage, error) {
	name, of := special(n)
	switch {
	case name == fromEnv:
		text, set := a.env(of.Text)
		if !set {
			return nil, fmt.Errorf("the environment has no variable %s", of.Text)
		}
		return typed(text, field), nil
	case name != "" && field == nil:
		return nil, errors.New("the question has no such field")
	case name == fromChoice:
		return chosen(of, field)
	case name == fromDefault && field.Default == nil:
		return nil, errors.New("the field has no default")
	case name == fromDefault:
		return rawjson.Compact(field.Default)
	case n.Kind == rawjson.Array:
		var out rawjson.ArrayWriter
		for _, element := range n.Values {
			value, err := a.value(element, field)
			if err != nil {
				return nil, err
			}
			out.Add(value)
		}
		return out.JSON(), nil
	}
	return n.JSON(), nil
}

// typed returns the JSON of a text by the type of its field: a number, a boolean, any
// JSON, or else a string.
func typed(text string, field *elicit.Field) json.RawMessage {
	if field != nil {
		is, takes := rawjson.KindOf([]byte(text)), field.Kind.Type()
		literal := is == takes && (is == rawjson.Number || is == rawjson.Boolean)
		if rawjson.Valid([]byte(text)) && (literal || takes == rawjson.None) {
			return json.RawMessage(text)
		}
	}
	return rawjson.Quoted(text)
}

// chosen returns the value of the choice that n names by position or pattern.
func chosen(n *written.Node, field *elicit.Field) (json.RawMessage, error) {
	if len(field.Choices) == 0 {
		return nil, errors.New("the field has no choices")
	}
	if n.Kind == rawjson.Number {
		place, _ := strconv.Atoi(string(n.Scalar)) // checkValue has checked it
		if place > len(field.Choices) {
			return nil, fmt.Errorf("the field has %d choices, and no number %d", len(field.Choices), place)
		}
		return rawjson.Quoted(field.Choices[place-1].Value), nil
	}
	pattern, err := ParseText(n.Text)
	if err != nil {
		return nil, err
	}
	for _, c := range field.Choices {
		if pattern.Matches(c.Title) || pattern.Matches(c.Value) {
			return rawjson.Quoted(c.Value), nil
		}
	}
	return nil, fmt.Errorf("none of the field's choices is %q", n.Text)
}
