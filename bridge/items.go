package bridge

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/yosida95/uritemplate/v3"
)

// entry is what all listed things have in common.
type entry struct {
	Name        string `json:"name"`
	Title       string `json:"title"`
	Description string `json:"description"`
	MIME        string `json:"mimeType"`
}

func (e entry) item(kind ItemKind, key string) (Item, error) {
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
	if err := decode(raw, &t); err != nil {
		return Item{}, err
	}
	if t.Title == "" {
		t.Title = t.Annotations.Title
	}
	item, err := t.item(KindTool, t.Name)
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
	if err := decode(raw, &p); err != nil {
		return Item{}, err
	}
	var b schemaBuilder
	for _, a := range p.Arguments {
		b.add(a.Name, a.Title, a.Description, a.Required)
	}
	item, err := p.item(KindPrompt, p.Name)
	item.Schema = b.schema()
	return item, err
}

func resourceItem(raw json.RawMessage) (Item, error) {
	var r struct {
		entry
		URI string `json:"uri"`
	}
	if err := decode(raw, &r); err != nil {
		return Item{}, err
	}
	return r.item(KindResource, r.URI)
}

func templateItem(raw json.RawMessage) (Item, error) {
	var r struct {
		entry
		Template string `json:"uriTemplate"`
	}
	if err := decode(raw, &r); err != nil {
		return Item{}, err
	}
	item, err := r.item(KindTemplate, r.Template)
	if err != nil {
		return item, err
	}
	t, err := uritemplate.New(r.Template)
	if err != nil {
		return item, fmt.Errorf("%q is no URI template: %w", r.Template, err)
	}
	var b schemaBuilder
	for _, name := range t.Varnames() {
		b.add(name, "", "", true)
	}
	item.Schema = b.schema()
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
		if err := decode(arguments, &values); err != nil {
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

// schemaBuilder draws up a schema of string properties in a given order.
type schemaBuilder struct {
	properties []member
	required   []string
}

func (b *schemaBuilder) add(name, title, description string, required bool) {
	p := struct {
		Type        string `json:"type"`
		Title       string `json:"title,omitempty"`
		Description string `json:"description,omitempty"`
	}{"string", title, description}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(p); err != nil {
		panic("bridge: strings that JSON cannot hold: " + err.Error()) // no strings are
	}
	b.properties = append(b.properties, member{name, bytes.TrimSpace(buf.Bytes())})
	if required {
		b.required = append(b.required, name)
	}
}

// schema is nil where nothing was added.
func (b *schemaBuilder) schema() json.RawMessage {
	if len(b.properties) == 0 {
		return nil
	}
	members := []member{{"type", json.RawMessage(`"object"`)}, {"properties", object(b.properties)}}
	if len(b.required) > 0 {
		required, err := json.Marshal(b.required)
		if err != nil {
			panic("bridge: strings that JSON cannot hold: " + err.Error()) // no strings are
		}
		members = append(members, member{"required", required})
	}
	return object(members)
}
