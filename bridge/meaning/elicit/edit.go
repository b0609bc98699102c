package elicit

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/base/wording"
)

// Edit is one change of the form of a question.
type Edit struct {
	Do    EditKind
	Field string // name of the property; unused by Insert and Reword
	Value string // what is inserted or set: the name of a Template, a property, a title, a keyword, a message or choices
}

// EditKind says what an edit does.
type EditKind string

// The kinds of edits.
const (
	Insert  EditKind = "insert"  // add a field of a template, at the end
	Up      EditKind = "up"      // move a field before the one above it
	Down    EditKind = "down"    // move a field behind the one below it
	Remove  EditKind = "remove"  // take a field out
	Require EditKind = "require" // make a field required, or no longer required
	Rename  EditKind = "rename"  // give the property another name
	Retitle EditKind = "retitle" // set the title, or take it out if it is ""
	Choose  EditKind = "choices" // set the choices, as [Field.ChoiceLines] writes them
	Reword  EditKind = "reword"  // set the message of the question
	Keyword EditKind = "keyword" // add a keyword of JSON Schema with a value to begin with
)

// Template is a field to begin with, of one of the kinds that forms have.
type Template struct {
	Name, Title string
	schema      string
}

// Templates lists one field of each schema that a form may have (schema.ts,
// PrimitiveSchemaDefinition), and of each format of a text; and the file of SEP-2356, a draft.
func Templates() []Template {
	choices := `{"const":"first","title":"First"},{"const":"second","title":"Second"}`
	return []Template{
		{"text", "Text", `{"type":"string","title":"Text"}`},
		{"email", "E-mail", `{"type":"string","title":"E-mail","format":"email"}`},
		{"address", "Address (URI)", `{"type":"string","title":"Address","format":"uri"}`},
		{"date", "Date", `{"type":"string","title":"Date","format":"date"}`},
		{"time", "Date and time", `{"type":"string","title":"Date and time","format":"date-time"}`},
		{"number", "Number", `{"type":"number","title":"Number"}`},
		{"count", "Whole number", `{"type":"integer","title":"Count"}`},
		{"agreed", "Yes or no", `{"type":"boolean","title":"Agreed"}`},
		{"choice", "One choice", `{"type":"string","title":"Choice","enum":["first","second"]}`},
		{"option", "One choice with titles", `{"type":"string","title":"Option","oneOf":[` + choices + `]}`},
		{"choices", "Several choices", `{"type":"array","title":"Choices","items":{"type":"string","enum":["first","second"]}}`},
		{"options", "Several choices with titles", `{"type":"array","title":"Options","items":{"anyOf":[` + choices + `]}}`},
		{"file", "File (draft)", `{"type":"string","title":"File","format":"uri","x-mcp-file":{}}`},
	}
}

// beginnings has the value that a keyword begins with.
var beginnings = map[string]string{
	"description": `"What to enter here"`, "minLength": "1", "maxLength": "100", "pattern": `"^.+$"`, "format": `"email"`,
	"minimum": "0", "maximum": "100", "minItems": "1", "maxItems": "2",
}

// Addable lists the keywords that the schema of a field may have and does not have yet.
func (f *Field) Addable() []string {
	has := KeywordsOf(f.Schema)
	return slices.DeleteFunc(append([]string{"description", "default"}, f.Kind.takesKeywords()...), func(k string) bool {
		return has[k] != nil || k == "default" && f.firstOf(f.examples()) == nil
	})
}

// Edited returns the params of an elicitation with a change of its form, indented. Only white space
// changes elsewhere: members keep their order, and numbers their digits. at is the pointer to what
// is new, or to the field that has moved; "" if nothing is.
func Edited(params json.RawMessage, e Edit) (edited, at string, err error) {
	request, err := Parse(params)
	switch {
	case err != nil:
		return "", "", err
	case e.Do == Reword:
		return rawjson.Pretty(membersOf(params).with("message", rawjson.Quoted(e.Value)).json()), "/message", nil
	case request.Mode == ModeURL:
		return "", "", errors.New("a question in URL mode has no form")
	case request.Schema != nil && request.Trouble != "":
		return "", "", errors.New("the form cannot be changed by buttons: " + request.Trouble)
	}
	schema := membersOf(request.Schema)
	if request.Schema == nil {
		schema = members{{"type", json.RawMessage(`"object"`)}}
	}
	properties, required := membersOf(schema.get("properties")), rawjson.Strings(schema.get("required"))
	i := slices.IndexFunc(properties, func(p member) bool { return p.name == e.Field })
	if e.Do != Insert && i < 0 {
		return "", "", fmt.Errorf("there is no field %s", wording.Quoted(e.Field))
	}
	if (e.Do == Retitle || e.Do == Keyword || e.Do == Choose) && rawjson.KindOf(properties[i].value) != rawjson.Object {
		return "", "", fmt.Errorf("the schema of the field %s is not an object", wording.Quoted(e.Field))
	}
	name := e.Field
	switch e.Do {
	case Insert:
		t := slices.IndexFunc(Templates(), func(t Template) bool { return t.Name == e.Value })
		if t < 0 {
			return "", "", fmt.Errorf("there is no kind of field %s", wording.Quoted(e.Value))
		}
		name = e.Value
		for n := 2; properties.get(name) != nil; n++ {
			name = e.Value + strconv.Itoa(n)
		}
		properties = append(properties, member{name, json.RawMessage(Templates()[t].schema)})
	case Up, Down:
		to := i - 1
		if e.Do == Down {
			to = i + 1
		}
		if to < 0 || to >= len(properties) {
			return "", "", fmt.Errorf("the field %s cannot be moved further", wording.Quoted(e.Field))
		}
		properties[i], properties[to] = properties[to], properties[i]
	case Remove:
		properties, name = slices.Delete(properties, i, i+1), ""
		required = slices.DeleteFunc(required, func(r string) bool { return r == e.Field })
	case Require:
		if r := slices.Index(required, e.Field); r >= 0 {
			required = slices.Delete(required, r, r+1)
		} else {
			required = append(required, e.Field)
		}
	case Rename:
		if e.Value == "" || e.Value != e.Field && properties.get(e.Value) != nil {
			return "", "", fmt.Errorf("a field cannot be called %s: it needs a name of its own", wording.Quoted(e.Value))
		}
		properties[i].name, name = e.Value, e.Value
		for r := range required {
			if required[r] == e.Field {
				required[r] = e.Value
			}
		}
	case Retitle:
		field := membersOf(properties[i].value)
		if e.Value == "" {
			field = slices.DeleteFunc(field, func(m member) bool { return m.name == "title" })
		} else {
			field = field.with("title", rawjson.Quoted(e.Value))
		}
		properties[i].value = field.json()
	case Choose:
		if strings.TrimSpace(e.Value) == "" {
			return "", "", fmt.Errorf("the field %s needs at least one choice", wording.Quoted(e.Field))
		}
		properties[i].value = withChoices(properties[i].value, e.Value)
	case Keyword:
		f := slices.IndexFunc(request.Fields, func(f Field) bool { return f.Name == e.Field })
		if f < 0 || !slices.Contains(request.Fields[f].Addable(), e.Value) {
			return "", "", fmt.Errorf("the field %s takes no further %s", wording.Quoted(e.Field), wording.Quoted(e.Value))
		}
		value := json.RawMessage(beginnings[e.Value])
		if e.Value == "default" {
			value = request.Fields[f].firstOf(request.Fields[f].examples())
		}
		properties[i].value = membersOf(properties[i].value).with(e.Value, value).json()
	default:
		return "", "", fmt.Errorf("there is no edit %s", wording.Quoted(string(e.Do)))
	}
	schema = schema.with("properties", properties.json())
	if list, err := rawjson.Encode(required); err == nil && (len(required) > 0 || schema.get("required") != nil) {
		schema = schema.with("required", list)
	}
	edited = rawjson.Pretty(membersOf(params).with("requestedSchema", schema.json()).json())
	if name != "" {
		at = rawjson.PointerTo("/requestedSchema/properties", name)
	}
	if e.Do == Keyword {
		at += "/" + e.Value
	}
	return edited, at, nil
}

type member struct {
	name  string
	value json.RawMessage
}

// members are those of an object, in its order.
type members []member

func membersOf(object json.RawMessage) (list members) {
	for name, value := range rawjson.Members(object) {
		list = append(list, member{name, value})
	}
	return list
}

func (list members) get(name string) (value json.RawMessage) {
	for _, m := range list {
		if m.name == name {
			value = m.value
		}
	}
	return value
}

// with sets the value of each member of a name, or adds one at the end.
func (list members) with(name string, value json.RawMessage) members {
	found := false
	for i := range list {
		if list[i].name == name {
			list[i].value, found = value, true
		}
	}
	if !found {
		list = append(list, member{name, value})
	}
	return list
}

func (list members) json() json.RawMessage {
	var out rawjson.ObjectWriter
	for _, m := range list {
		out.Add(m.name, m.value)
	}
	return out.JSON()
}
