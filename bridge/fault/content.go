package fault

import (
	"encoding/json"
	"math/big"
	"slices"
	"strings"

	"elicitation-inspector/bridge/elicit"
	"elicitation-inspector/bridge/rawjson"
)

// breaks returns the entry of a fault that gives one field a value which its schema
// forbids. wrong returns such a value, nil if the field has no such limit.
func breaks(name, title, does string, wrong func(elicit.Field) json.RawMessage) entry {
	return entry{
		Fault: Fault{
			Name: name, Group: Content, Title: title, Does: does,
			Good:    "It checks the content against its schema, uses nothing of it, and says what is wrong or asks again.",
			Section: formSecurity, Params: []string{"field", "answer"},
		},
		fits:   (*Facts).hasFields,
		fields: func(f elicit.Field) bool { return wrong(f) != nil },
		build: func(b *builder) error {
			i := slices.IndexFunc(b.Request.Fields, func(f elicit.Field) bool { return f.Name == b.Params.Field })
			f := b.Request.Fields[i]
			b.answers(accept(withMember(b.content(), f.Name, wrong(f))))
			return nil
		},
	}
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

// The values that break one field.

func ofAnotherType(f elicit.Field) json.RawMessage {
	candidates := []string{"12345", `"not of the type that the schema names"`, "true", "[]", "{}"}
	if isNumber(f) {
		candidates = candidates[1:] // a number has the right type, even if a limit forbids it
	}
	for _, text := range candidates {
		if f.Refuses(json.RawMessage(text)) {
			return json.RawMessage(text)
		}
	}
	return nil
}

func isNumber(f elicit.Field) bool { return f.Kind == elicit.Number || f.Kind == elicit.Integer }

// beyond gives the first number outside of a limit: limit plus by, or the exclusive limit
// itself.
func beyond(limit, excluded string, by int64) func(elicit.Field) json.RawMessage {
	return func(f elicit.Field) json.RawMessage {
		k := f.Keywords()
		if n := k.Exact(limit); n != nil && isNumber(f) {
			return elicit.Decimal(new(big.Rat).Add(n, big.NewRat(by, 1)))
		}
		if n := k.Exact(excluded); n != nil && isNumber(f) {
			return elicit.Decimal(n)
		}
		return nil
	}
}

func fraction(f elicit.Field) json.RawMessage {
	if f.Kind != elicit.Integer {
		return nil
	}
	return json.RawMessage("1.5")
}

// asText gives a number as a text, which languages turn into a number without a word.
func asText(f elicit.Field) json.RawMessage {
	if !isNumber(f) {
		return nil
	}
	value := rawjson.Quoted(string(rawjson.Member(elicit.Valid([]elicit.Field{f}), f.Name)))
	if !f.Refuses(value) {
		return nil
	}
	return value
}

func noMultiple(f elicit.Field) json.RawMessage {
	step := f.Keywords().Exact("multipleOf")
	if step == nil || !isNumber(f) {
		return nil
	}
	return elicit.Decimal(new(big.Rat).Quo(step, big.NewRat(2, 1)))
}

func tooShort(f elicit.Field) json.RawMessage {
	if n := elicit.Bound(f.MinLength, 0); n > 0 && f.Kind == elicit.Text {
		return rawjson.Quoted(strings.Repeat("x", min(n-1, elicit.Longest)))
	}
	return nil
}

func tooLong(f elicit.Field) json.RawMessage {
	if n := elicit.Bound(f.MaxLength, elicit.Longest); n < elicit.Longest && f.Kind == elicit.Text {
		return rawjson.Quoted(strings.Repeat("x", n+1))
	}
	return nil
}

func misformatted(f elicit.Field) json.RawMessage {
	value := rawjson.Quoted("not a valid " + f.Format)
	if f.Kind == elicit.Text && f.Format != "" && f.Refuses(value) {
		return value
	}
	return nil
}

func unmatched(f elicit.Field) json.RawMessage {
	if f.Pattern == "" || f.Kind != elicit.Text {
		return nil
	}
	for _, text := range []string{"does not match", "0", "~", ""} {
		if f.Refuses(rawjson.Quoted(text)) {
			return rawjson.Quoted(text)
		}
	}
	return nil
}

func notInEnum(f elicit.Field) json.RawMessage {
	value := "not one of the choices"
	for slices.ContainsFunc(f.Choices, func(c elicit.Choice) bool { return c.Value == value }) {
		value += "!"
	}
	switch f.Kind {
	case elicit.SingleChoice:
		return rawjson.Quoted(value)
	case elicit.MultiChoice:
		return slices.Concat([]byte("["), rawjson.Quoted(value), []byte("]"))
	default:
		return nil
	}
}

func tooFew(f elicit.Field) json.RawMessage {
	if n := elicit.Bound(f.MinItems, 0); n > 0 && f.Kind == elicit.MultiChoice {
		return elicit.SomeChoices(f, n-1)
	}
	return nil
}

func tooMany(f elicit.Field) json.RawMessage {
	if n := elicit.Bound(f.MaxItems, elicit.Longest); n < elicit.Longest && f.Kind == elicit.MultiChoice {
		return elicit.SomeChoices(f, n+1)
	}
	return nil
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
