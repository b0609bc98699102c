//lint:file-ignore SA1019 2026-07-28 deprecates sampling, roots and logging, and servers of every revision still use them.

package demo

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	protocol "elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/meaning/elicit"
)

// question is one request for input to the client.
type question struct {
	key     string // unique among the questions of the story
	method  string // method of the request; "" means an elicitation
	message string
	schema  string          // schema of form mode
	url     string          // URL of URL mode
	id      string          // elicitationId of URL mode, for 2025-11-25
	params  json.RawMessage // exact params, in place of those made from the fields above; null for none
	unruly  bool            // ask any client, and accept any answer

	into any // pointer to decode an accepted form into, or a *answer for any answer; nil to ignore the answer

	// Texts that end the story if the person does not accept. If a text is empty, the story continues.
	declined, cancelled string
}

//go:embed questions.json
var questionsJSON string

// forms holds the questions in form mode, by key.
var forms = read[map[string]struct {
	Message, Declined, Cancelled string
	Schema                       json.RawMessage
}](questionsJSON)

// form returns a question of questions.json. Its texts refer to values by their position, as in %[1]s.
func form(key string, into any, values ...any) question {
	filled := func(text string) string {
		if !strings.Contains(text, "%[") {
			return text
		}
		return fmt.Sprintf(text, values...)
	}
	f := forms()[key]
	return question{
		key: key, message: filled(f.Message), schema: filled(string(f.Schema)),
		declined: filled(f.Declined), cancelled: filled(f.Cancelled), into: into,
	}
}

func (q question) requestMethod() string { return cmp.Or(q.method, protocol.MethodElicit) }

// encode returns the params for a revision, or null for none: 2025-06-18 has no modes, and only 2025-11-25 has an
// elicitationId.
func (q question) encode(revision string) json.RawMessage {
	if q.params != nil {
		return q.params
	}
	p := struct {
		Mode          string          `json:"mode,omitempty"`
		Message       string          `json:"message"`
		URL           string          `json:"url,omitempty"`
		ElicitationID string          `json:"elicitationId,omitempty"`
		Schema        json.RawMessage `json:"requestedSchema,omitempty"`
	}{Message: q.message, URL: q.url, Schema: json.RawMessage(q.schema)}
	switch {
	case revision < protocol.Revision20251125:
	case q.url == "":
		p.Mode = "form"
	default:
		p.Mode = "url"
	}
	if revision == protocol.Revision20251125 {
		p.ElicitationID = q.id
	}
	return mustJSON(p)
}

// missing returns the capability that a question needs and the client has not declared; "" if there is none.
func (r served) missing(q question) string {
	modes := r.Modes()
	switch {
	case q.unruly:
	case q.method == protocol.MethodSample && r.Declared().Sampling == nil:
		return `{"sampling":{}}`
	case q.method == protocol.MethodListRoots && r.Declared().Roots == nil:
		return `{"roots":{}}`
	case q.method != "":
	case q.url != "" && !slices.Contains(modes, "url"):
		return `{"elicitation":{"url":{}}}`
	case q.url == "" && !slices.Contains(modes, "form"):
		return `{"elicitation":{"form":{}}}`
	}
	return ""
}

// may returns an error if the client has not declared the capability that a question needs.
func (v *visit) may(q question) error {
	missing := v.missing(q)
	switch {
	case missing == "":
		return nil
	case v.Rounds():
		return missingCapability(v.name+" has to ask something that this client has not declared it can ask", missing)
	case q.url != "" && v.Revision < protocol.Revision20251125:
		return problem("%s has to send you to a web page, which revision %s has no way to ask for. Connect with 2025-11-25 or later.", v.name, v.Revision)
	}
	return problem("%s has to ask you something, and this client has not declared that it can: %s", v.name, missing)
}

func missingCapability(message, missing string) error {
	return &jsonrpc.Error{Code: protocol.CodeMissingCapability, Message: message, Data: json.RawMessage(`{"requiredCapabilities":` + missing + `}`)}
}

type answer struct {
	Action  string          `json:"action,omitempty"`
	Content json.RawMessage `json:"content,omitempty"`
	Text    string          `json:"text,omitempty"`  // text of a model
	Roots   []string        `json:"roots,omitempty"` // names or URIs
}

func (a answer) accepted() bool { return a.Action == "accept" }

// answerOf converts the result of a request for input, or what inputResponses have in its place.
func (q question) answerOf(result json.RawMessage) (a answer, err error) {
	switch q.method {
	case protocol.MethodSample:
		var r mcp.CreateMessageWithToolsResult
		err = json.Unmarshal(result, &r)
		var text []string
		for _, c := range r.Content {
			if t, ok := c.(*mcp.TextContent); ok {
				text = append(text, t.Text)
			}
		}
		a.Text = strings.Join(text, "\n")
	case protocol.MethodListRoots:
		var r mcp.ListRootsResult
		err = json.Unmarshal(result, &r)
		a.Roots = make([]string, len(r.Roots))
		for i, root := range r.Roots {
			a.Roots[i] = cmp.Or(root.Name, root.URI)
		}
	default:
		var r mcp.ElicitResult
		err = json.Unmarshal(result, &r)
		if a.Action = r.Action; r.Content != nil {
			a.Content = mustJSON(r.Content)
		}
	}
	if err != nil {
		err = &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: fmt.Sprintf("the answer to %q: %v", q.key, err)}
	}
	return a, err
}

// check returns an error if an accepted form does not satisfy its schema, as every server should.
func (q question) check(a answer) error {
	switch {
	case q.unruly || q.method != "" || a.Action == "decline" || a.Action == "cancel":
		return nil
	case !a.accepted():
		return problem("The client answered with the action %q, which does not exist.", a.Action)
	case q.url != "":
		return nil
	case a.Content == nil:
		a.Content = json.RawMessage(`{}`) // a form without fields may omit the content
	}
	if err := validate(q.schema, a.Content); err != nil {
		return problem("The answer does not fit the question: %v", err)
	}
	return nil
}

// read decodes an accepted form. For another answer it ends the story with the question's text, if it has one.
func (q question) read(a answer) error {
	if whole, ok := q.into.(*answer); ok {
		*whole = a
		return nil
	}
	switch {
	case a.accepted() && q.into != nil:
		if err := json.Unmarshal(a.Content, q.into); err != nil {
			return problem("The answer could not be read: %v", err)
		}
	case a.accepted():
	case a.Action == "decline" && q.declined != "":
		return &ending{text: q.declined}
	case q.cancelled != "":
		return &ending{text: q.cancelled}
	}
	return nil
}

// validate checks a value against a schema of this package, with its formats.
func validate(schema string, value json.RawMessage) error {
	problems, err := elicit.Check(json.RawMessage(schema), value)
	switch {
	case err != nil:
		return err
	case len(problems) > 0:
		return errors.New(wording.Join(": ", strings.TrimPrefix(problems[0].Pointer, "/"), problems[0].Text))
	}
	return nil
}

// written returns the question with its form as the revision allows it. 2025-06-18 has the titles of choices in
// enumNames and no multiple choice, so each choice of such a field becomes a boolean.
func (q question) written(revision string) question {
	fields, err := elicit.FieldsOf(json.RawMessage(q.schema))
	if revision > protocol.Revision20250618 || q.unruly || q.params != nil || err != nil || fields == nil {
		return q
	}
	var members, required []string
	for _, f := range fields {
		if f.Kind.Type() != rawjson.Array {
			members = append(members, string(mustJSON(f.Name))+":"+titled(f))
			if f.Required {
				required = append(required, f.Name)
			}
			continue
		}
		for _, c := range f.Choices {
			member := fmt.Sprintf(`%s:{"type":"boolean","title":%s`, mustJSON(picked(f, c)), mustJSON(f.Label+": "+c.Title))
			if slices.Contains(rawjson.Strings(f.Default), c.Value) {
				member += `,"default":true`
			}
			members = append(members, member+"}")
		}
	}
	q.schema = object(strings.Join(members, ","), required...)
	return q
}

// picked returns the name of the boolean that replaces a choice of the field.
func picked(f elicit.Field, c elicit.Choice) string {
	return f.Name + "_" + strings.ReplaceAll(c.Value, " ", "_")
}

// gathered adds to the content of a form of 2025-06-18 the lists of chosen values that its booleans stand for.
func (q question) gathered(content json.RawMessage) json.RawMessage {
	if content == nil {
		content = json.RawMessage(`{}`)
	}
	fields, _ := elicit.FieldsOf(json.RawMessage(q.schema)) // written has read them
	for _, f := range fields {
		var values []string
		for _, c := range f.Choices {
			if f.Kind.Type() == rawjson.Array && string(rawjson.Member(content, picked(f, c))) == "true" {
				values = append(values, c.Value)
			}
		}
		if values != nil {
			content = rawjson.WithMember(content, f.Name, string(mustJSON(values)))
		}
	}
	return content
}

// titled returns the schema of a property with the titles of its choices in enumNames.
func titled(f elicit.Field) string {
	var members, values, titles []string
	for _, c := range f.Choices {
		values, titles = append(values, c.Value), append(titles, c.Title)
	}
	for name, value := range rawjson.Members(f.Schema) {
		member := string(mustJSON(name)) + ":" + string(value)
		if name == "oneOf" {
			member = fmt.Sprintf(`"enum":%s,"enumNames":%s`, mustJSON(values), mustJSON(titles))
		}
		members = append(members, member)
	}
	return "{" + strings.Join(members, ",") + "}"
}
