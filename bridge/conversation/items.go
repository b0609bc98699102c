package conversation

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/yosida95/uritemplate/v3"

	"elicitation-inspector/bridge/rawjson"
	"elicitation-inspector/bridge/wording"
)

type entry struct {
	Name        string `json:"name"`
	Title       string `json:"title"`
	Description string `json:"description"`
}

var speaksOfAsking = regexp.MustCompile(`(?i)\b(ask(s|ed|ing)?|question(s)?|confirm(s|ed|ation)?|elicit(s|ation|ations)?|approv(e|es|al)|sign(s)? in)\b`)

// item parses an entry of the list.
func (l List) item(raw json.RawMessage) (Item, error) {
	var e struct {
		entry
		MIME        string          `json:"mimeType"`
		URI         string          `json:"uri"`
		Template    string          `json:"uriTemplate"`
		Schema      json.RawMessage `json:"inputSchema"`
		Annotations json.RawMessage `json:"annotations"`
		Execution   json.RawMessage `json:"execution"`
	}
	if err := DecodeResult(raw, &e); err != nil {
		return Item{}, err
	}
	i := Item{Kind: l.kind, Key: e.Name, Title: e.Title, Description: e.Description, MIME: e.MIME}
	var err error
	switch l.kind {
	case Tool:
		i.Schema = e.Schema
		i.Title = cmp.Or(e.Title, rawjson.Text(rawjson.Member(e.Annotations, "title")))
		i.OnlyAsTask = rawjson.Text(rawjson.Member(e.Execution, "taskSupport")) == "required"
		i.ReadOnly = string(rawjson.Member(e.Annotations, "readOnlyHint")) == "true"
		i.Destructive = string(rawjson.Member(e.Annotations, "destructiveHint")) == "true"
	case Prompt:
		i.Schema, err = argumentsOf(raw)
	case Resource:
		i.Key = e.URI
	case Template:
		i.Key = e.Template
		i.Schema, err = variablesOf(e.Template)
	}
	i.MayAsk = speaksOfAsking.MatchString(wording.Head(i.Title, wording.TextMost) + "\n" + wording.Head(i.Description, wording.TextMost))
	i.Name = cmp.Or(e.Name, i.Key)
	if i.Key == "" {
		err = errors.New("it has no name to call it by")
	}
	return i, err
}

func argumentsOf(prompt json.RawMessage) (json.RawMessage, error) {
	var p struct {
		Arguments []struct {
			entry
			Required bool `json:"required"`
		} `json:"arguments"`
	}
	err := DecodeResult(prompt, &p)
	var s schema
	for _, a := range p.Arguments {
		s.add(a.entry, a.Required)
	}
	return s.json(), err
}

func variablesOf(template string) (json.RawMessage, error) {
	t, err := uritemplate.New(template)
	if err != nil {
		return nil, fmt.Errorf("%q is no URI template: %w", template, err)
	}
	var s schema
	for _, name := range t.Varnames() {
		s.add(entry{Name: name}, true)
	}
	return s.json(), nil
}

// ExpandTemplate expands a resource template (RFC 6570). arguments is a JSON object of strings.
func ExpandTemplate(template string, arguments json.RawMessage) (string, error) {
	t, err := uritemplate.New(template)
	if err != nil {
		return "", fmt.Errorf("%q is no URI template: %w", template, err)
	}
	values := map[string]string{}
	if len(arguments) > 0 {
		if err := DecodeResult(arguments, &values); err != nil {
			return "", fmt.Errorf("the variables of %q must be strings: %w", template, err)
		}
	}
	filled := uritemplate.Values{}
	for name, value := range values {
		filled.Set(name, uritemplate.String(value))
	}
	uri, err := t.Expand(filled)
	if err != nil {
		return "", fmt.Errorf("expanding %q: %w", template, err)
	}
	return uri, nil
}

// schema builds a JSON Schema of string properties in a given order.
type schema struct {
	properties []string
	required   []string
}

func (s *schema) add(e entry, required bool) {
	quote := func(text string) string { return string(rawjson.AppendQuoted(nil, text)) }
	property := `{"type":"string"`
	if e.Title != "" {
		property += `,"title":` + quote(e.Title)
	}
	if e.Description != "" {
		property += `,"description":` + quote(e.Description)
	}
	s.properties = append(s.properties, quote(e.Name)+":"+property+"}")
	if required {
		s.required = append(s.required, quote(e.Name))
	}
}

// json returns the schema; nil if it has no properties.
func (s *schema) json() json.RawMessage {
	if len(s.properties) == 0 {
		return nil
	}
	out := `{"type":"object","properties":{` + strings.Join(s.properties, ",") + "}"
	if len(s.required) > 0 {
		out += `,"required":[` + strings.Join(s.required, ",") + "]"
	}
	return json.RawMessage(out + "}")
}
