package catalog

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/yosida95/uritemplate/v3"

	"elicitation-inspector/bridge/rawjson"
	"elicitation-inspector/bridge/response"
)

type entry struct {
	Name        string `json:"name"`
	Title       string `json:"title"`
	Description string `json:"description"`
	MIME        string `json:"mimeType"`
}

func (e entry) item(kind Kind, key string) (Item, error) {
	if key == "" {
		return Item{}, errors.New("it has no name to call it by")
	}
	if e.Name == "" {
		e.Name = key
	}
	return Item{Kind: kind, Key: key, Name: e.Name, Title: e.Title, Description: e.Description, MIME: e.MIME}, nil
}

func toolItem(raw json.RawMessage) (Item, error) {
	var t struct {
		entry
		Schema      json.RawMessage `json:"inputSchema"`
		Execution   json.RawMessage `json:"execution"`
		Annotations struct {
			Title string `json:"title"`
		} `json:"annotations"`
	}
	if err := response.Decode(raw, &t); err != nil {
		return Item{}, err
	}
	if t.Title == "" {
		t.Title = t.Annotations.Title
	}
	item, err := t.item(Tool, t.Name)
	item.Schema = t.Schema
	var execution struct {
		TaskSupport string `json:"taskSupport"`
	}
	// What cannot be read requires nothing.
	_ = json.Unmarshal(t.Execution, &execution)
	item.OnlyAsTask = execution.TaskSupport == "required"
	return item, err
}

func promptItem(raw json.RawMessage) (Item, error) {
	var p struct {
		entry
		Arguments []struct {
			entry
			Required bool `json:"required"`
		} `json:"arguments"`
	}
	if err := response.Decode(raw, &p); err != nil {
		return Item{}, err
	}
	var s schema
	for _, a := range p.Arguments {
		s.add(a.entry, a.Required)
	}
	item, err := p.item(Prompt, p.Name)
	item.Schema = s.json()
	return item, err
}

func resourceItem(raw json.RawMessage) (Item, error) {
	var r struct {
		entry
		URI string `json:"uri"`
	}
	if err := response.Decode(raw, &r); err != nil {
		return Item{}, err
	}
	return r.item(Resource, r.URI)
}

func templateItem(raw json.RawMessage) (Item, error) {
	var r struct {
		entry
		Template string `json:"uriTemplate"`
	}
	if err := response.Decode(raw, &r); err != nil {
		return Item{}, err
	}
	item, err := r.item(Template, r.Template)
	if err != nil {
		return item, err
	}
	t, err := uritemplate.New(r.Template)
	if err != nil {
		return item, fmt.Errorf("%q is no URI template: %w", r.Template, err)
	}
	var s schema
	for _, name := range t.Varnames() {
		s.add(entry{Name: name}, true)
	}
	item.Schema = s.json()
	return item, nil
}

// Expand fills in a resource template (RFC 6570) with the members of arguments,
// which are strings.
func Expand(template string, arguments json.RawMessage) (string, error) {
	t, err := uritemplate.New(template)
	if err != nil {
		return "", fmt.Errorf("%q is no URI template: %w", template, err)
	}
	values := map[string]string{}
	if len(arguments) > 0 {
		if err := response.Decode(arguments, &values); err != nil {
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

// schema draws up a schema of string properties in a given order.
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

// json is nil where nothing was added.
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
