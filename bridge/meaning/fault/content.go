package fault

import (
	"encoding/json"
	"slices"

	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/meaning/elicit"
)

// breaks returns the entry of the fault that gives one field a value which its schema forbids.
func breaks(how elicit.Breach, title, does string) entry {
	return entry{
		Fault: Fault{
			Name: string(how), Group: Content, Title: title, Does: does,
			Good:    "It checks the content against its schema, uses nothing of it, and says what is wrong or asks again.",
			Section: formSecurity, Params: []string{"field", "answer"},
		},
		fits:   (*Facts).hasFields,
		fields: func(f elicit.Field) bool { return f.Spoiled(how) != nil },
		build: func(b *builder) error {
			i := slices.IndexFunc(b.Request.Fields, func(f elicit.Field) bool { return f.Name == b.Params.Field })
			b.answers(accept(withMember(b.content(), b.Params.Field, b.Request.Fields[i].Spoiled(how))))
			return nil
		},
	}
}

// spoilsFile returns the entry of the fault that gives a field a wrong file. No published revision
// forbids it.
func spoilsFile(how elicit.Breach, title, does, good string) entry {
	e := breaks(how, title, does)
	e.Group, e.Good, e.Section = File, good, fileChecks
	return e
}

func (f *Facts) hasFields() bool { return f.form() && len(f.Request.Fields) > 0 }

// content returns the content to spoil, which is always an object: that of the given
// answer, or else valid content.
func (b *builder) content() json.RawMessage {
	if given := rawjson.Member(b.Answer, "content"); rawjson.KindOf(given) == rawjson.Object {
		return given
	}
	return elicit.Valid(b.Request.Fields)
}

func missing(b *builder) error {
	b.answers(accept(withMember(b.content(), b.Params.Field, nil)))
	return nil
}

func extra(b *builder) error {
	name := "unexpected"
	for rawjson.Member(b.content(), name) != nil || slices.ContainsFunc(b.Request.Fields, func(f elicit.Field) bool { return f.Name == name }) {
		name += "_"
	}
	b.answers(accept(withMember(b.content(), name, rawjson.Quoted("This field is not in the schema."))))
	return nil
}

func instead(result string) func(*builder) error {
	return func(b *builder) error {
		b.answers(json.RawMessage(result))
		return nil
	}
}

// given sends the result that as makes of the given JSON.
func given(as func(json.RawMessage) json.RawMessage) func(*builder) error {
	return func(b *builder) error {
		raw, err := b.given()
		if err == nil {
			b.answers(as(raw))
		}
		return err
	}
}

// acting sends a result with the member action, if any, and with valid content for a form
// or else this content.
func acting(action string, content json.RawMessage) func(*builder) error {
	return func(b *builder) error {
		content := content
		if b.form() {
			content = b.content()
		}
		b.answers(withMember(json.RawMessage("{"+action+"}"), "content", content))
		return nil
	}
}

func withContent(action string) func(*builder) error {
	return acting(`"action":"`+action+`"`, json.RawMessage(`{"unexpected":"`+action+` has no content"}`))
}

// withMember returns an object with the given value for a member; nil removes the member.
func withMember(object json.RawMessage, name string, value json.RawMessage) json.RawMessage {
	var out rawjson.ObjectWriter
	found := false
	for is, was := range rawjson.Members(object) {
		if is == name {
			was, found = value, true
		}
		out.Add(is, was)
	}
	if !found {
		out.Add(name, value)
	}
	return out.JSON()
}
