package elicit

import "testing"

func TestOtherFields(t *testing.T) {
	testKind(t, JSON, []kindCase{
		{`{"type":"object"}`, `
hints: JSON
missing: Required.
example: {}
spoiled: wrong-type 12345`},
		{`{"type":["string","integer"]}`, `
hints: JSON
missing: Required.
example: "text"
spoiled: wrong-type true`},
		{`{"enum":[1,2]}`, `
hints: JSON
missing: Required.
example: 1
spoiled: wrong-type 12345`},
		{`{"format":"email"}`, `
limits: format email
hints: JSON
missing: Required.
example: 1
spoiled: wrong-type "not of the type that the schema names"`},
		{`{"type":"array","minItems":1,"items":{"type":"string"}}`, `
limits: at least 1 choice
hints: JSON
missing: Required.
example: ["text"]
spoiled: wrong-type 12345`},
	})
}
