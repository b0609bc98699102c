package script

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/base/written"
	"elicitation-inspector/bridge/meaning/elicit"
)

// Asked holds the expectations of a rule about the questions that it answers.
type Asked struct {
	Message *Text
	Names   []string      // names of all fields, in order; nil for any
	fields  *written.Node // patterns for the schemas of fields, by name; nil for none
	all     bool          // there are no fields but those that fields names
	Asked   int           // expected number of questions; -1 for any number
	more    bool          // more questions than that are expected, too
}

// Outcome is the expected result, error and findings of a call.
type Outcome struct {
	text     *Text // pattern for the result's text
	result   *written.Node
	error    *written.Node
	Findings []string // expected rules with findings; nil for any
}

// Came is the actual outcome of a call.
type Came struct {
	Result, Error json.RawMessage // at most one of them is set
	Failure       string          // why both are nil
	Findings      []string        // rules with findings
}

func (r *reader) asked(n *written.Node) *Asked {
	a := &Asked{Asked: -1}
	fields := func(n *written.Node) {
		if n.Kind == rawjson.Array {
			r.value(n, "allFields", &a.Names)
		} else if a.fields = n; r.kind(n, "allFields", rawjson.Object) {
			r.checkPattern(n)
		}
	}
	r.object(n, "what a rule expects", keys{
		"message": &a.Message,
		"asked": func(n *written.Node) {
			if a.more = n.Kind == rawjson.Object; a.more {
				r.object(n, "asked", keys{"minimum": &a.Asked})
			} else {
				r.count(n, "asked", 0, &a.Asked)
			}
		},
		"allFields": func(n *written.Node) {
			a.all = true
			fields(n)
		},
		"fields": func(n *written.Node) {
			r.formerName(n, "expect.fields", "expect.allFields"+wording.Either(n.Kind == rawjson.Object, ", where no others may be there", ""))
			fields(n)
		},
	})
	return a
}

// isMet reports whether a rule has answered as many questions as it should.
func (a *Asked) isMet(answered int) bool {
	return a.Asked < 0 || answered == a.Asked || a.more && answered > a.Asked
}

func (r *reader) outcome(n *written.Node) *Outcome {
	o := new(Outcome)
	r.object(n, "expect", keys{
		"result": func(n *written.Node) {
			if n.Kind == rawjson.String {
				r.value(n, "result", &o.text)
			} else if o.result = n; r.kind(n, "result", rawjson.Object) {
				r.checkPattern(n)
			}
		},
		"error": func(n *written.Node) {
			if o.error = n; r.kind(n, "error", rawjson.Object) {
				r.checkPattern(n)
			}
		},
		"findings": func(n *written.Node) {
			none := ""
			if n.Kind == rawjson.Array {
				r.value(n, "findings", &o.Findings)
			} else if r.oneOf("findings", &none, "none")(n); none != "" {
				o.Findings = []string{}
			}
		},
	})
	if result := n.Member("result"); result != nil && n.Member("error") != nil {
		r.wrong(result, "a call has a result or an error, not both")
	}
	return o
}

// checkPattern records the strings in a pattern that are invalid regular expressions.
func (r *reader) checkPattern(n *written.Node) {
	if n.Kind == rawjson.String {
		if _, err := ParseText(n.Text); err != nil {
			r.wrong(n, "%v", err)
		}
	}
	for _, v := range n.Values {
		r.checkPattern(v)
	}
}

// Decides reports whether a result or an error is expected. An error, or a result with
// isError, is then no failure by itself.
func (o *Outcome) Decides() bool {
	return o != nil && (o.text != nil || o.result != nil || o.error != nil)
}

// Check returns the expectations that the outcome of a call does not meet.
func (o *Outcome) Check(came Came) (unmet []string) {
	if o == nil {
		return nil
	}
	wantsResult := o.text != nil || o.result != nil
	switch {
	case wantsResult && came.Result == nil:
		unmet = append(unmet, "result: there is none, but "+came.words())
	case o.error != nil && came.Error == nil:
		unmet = append(unmet, "error: there is none, but "+came.words())
	case o.text != nil && !o.text.Matches(TextOf(came.Result)):
		unmet = append(unmet, differs("result: its text", o.text.source, wording.Shorten(TextOf(came.Result), shown)))
	case o.result != nil:
		unmet = compare(o.result, came.Result, "result")
	case o.error != nil:
		unmet = compare(o.error, came.Error, "error")
	}
	if o.Findings != nil {
		for _, rule := range came.Findings {
			if !slices.Contains(o.Findings, rule) {
				unmet = append(unmet, "findings: "+rule+" is broken")
			}
		}
		for _, rule := range o.Findings {
			if !slices.Contains(came.Findings, rule) {
				unmet = append(unmet, "findings: "+rule+" is not broken")
			}
		}
	}
	return unmet
}

func (c *Came) words() string {
	switch {
	case c.Result != nil:
		return "the result " + briefly(c.Result)
	case c.Error != nil:
		return "the error " + briefly(c.Error)
	}
	return "the call failed: " + c.Failure
}

// TextOf joins the texts in a result's content with line feeds.
func TextOf(result json.RawMessage) string {
	var texts []string
	for _, list := range []string{"content", "contents", "messages"} {
		for _, block := range rawjson.Elements(rawjson.Member(result, list)) {
			if list == "messages" {
				block = rawjson.Member(block, "content")
			}
			if text := rawjson.Member(block, "text"); text != nil {
				texts = append(texts, rawjson.Text(text))
			}
		}
	}
	return strings.Join(texts, "\n")
}

// shown is how many characters of a value are shown in a difference.
const shown = 400

func briefly(raw json.RawMessage) string {
	return wording.Shorten(string(rawjson.AppendCompact(nil, raw)), shown)
}

// check returns the expectations that a question does not meet.
func (a *Asked) check(q *Question) (unmet []string) {
	var request elicit.Request
	if q.Request != nil {
		request = *q.Request
	}
	if !a.Message.Matches(request.Message) {
		unmet = append(unmet, differs("message", a.Message.source, request.Message))
	}
	var names []string
	for _, f := range request.Fields {
		names = append(names, f.Name)
	}
	if a.Names != nil && !slices.Equal(a.Names, names) {
		unmet = append(unmet, differs("fields", strings.Join(a.Names, ", "), strings.Join(names, ", ")))
	}
	if a.fields == nil {
		return unmet
	}
	for i, name := range a.fields.Names {
		at := slices.Index(names, name.Text)
		if at < 0 {
			unmet = append(unmet, fmt.Sprintf("fields: there is no %s; there are %s", name.Text, wording.Series(names)))
			continue
		}
		unmet = append(unmet, compare(a.fields.Values[i], contract(&request.Fields[at]), "fields."+name.Text)...)
	}
	for _, name := range names {
		if a.all && a.fields.Member(name) == nil {
			unmet = append(unmet, fmt.Sprintf("fields: there is %s, which is not expected", name))
		}
	}
	return unmet
}

// contract returns the schema of a field with two members more: required, which a JSON Schema
// has outside of the property, and choices, the values of its choices, which a schema can write
// as enum, oneOf or anyOf, and for several in items.
func contract(f *elicit.Field) json.RawMessage {
	if rawjson.KindOf(f.Schema) != rawjson.Object {
		return f.Schema
	}
	var w rawjson.ObjectWriter
	w.Add("required", fmt.Appendf(nil, "%t", f.Required))
	if len(f.Choices) > 0 {
		var values []string
		for _, c := range f.Choices {
			values = append(values, c.Value)
		}
		w.Add("choices", texts(values))
	}
	for name, value := range rawjson.Members(f.Schema) {
		w.Add(name, value)
	}
	return w.JSON()
}

func differs(what, want, got string) string {
	return fmt.Sprintf("%s\n    want: %s\n    got:  %s", what, indented(want), indented(got))
}

func indented(text string) string { return strings.ReplaceAll(text, "\n", "\n          ") }

// compare returns the differences between a pattern and a value. Each member of a
// pattern object must be there and match, and there may be others; an array must match
// element by element; strings are patterns, and * alone matches any value.
func compare(want *written.Node, got json.RawMessage, path string) (unmet []string) {
	if got == nil {
		return []string{differs(path, briefly(want.JSON()), "nothing")}
	}
	if want.Kind == rawjson.String && want.Text == "*" {
		return nil
	}
	kind := rawjson.KindOf(got)
	same := want.Kind == kind
	switch {
	case !same:
	case kind == rawjson.Object:
		for i, name := range want.Names {
			unmet = append(unmet, compare(want.Values[i], rawjson.Member(got, name.Text), path+"."+name.Text)...)
		}
		return unmet
	case kind == rawjson.Array:
		var elements []json.RawMessage
		for _, e := range rawjson.Elements(got) {
			elements = append(elements, e)
		}
		if same = len(elements) == len(want.Values); !same {
			path += fmt.Sprintf(" (%s, not %d)", wording.Plural(len(elements), "element"), len(want.Values))
			break
		}
		for i, e := range elements {
			unmet = append(unmet, compare(want.Values[i], e, fmt.Sprintf("%s[%d]", path, i))...)
		}
		return unmet
	case kind == rawjson.String:
		pattern, err := ParseText(want.Text)
		same = err == nil && pattern.Matches(rawjson.Text(got))
	case kind == rawjson.Number:
		same = rawjson.Same(want.Scalar, got)
	default:
		same = string(want.Scalar) == string(rawjson.Trim(got))
	}
	if same {
		return nil
	}
	return []string{differs(path, briefly(want.JSON()), briefly(got))}
}
