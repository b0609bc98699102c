package elicit

import "testing"

func TestMultipleChoices(t *testing.T) {
	testKind(t, MultiChoice, []kindCase{
		{`{"type":"array","items":{"enum":["a","b"]}}`, `
missing: Choose some, or send the empty list.
example: ["a"]
another: ["b"]
spoiled: wrong-type 12345, not-in-enum ["not one of the choices"]`},
		{`{"type":"array","minItems":1,"items":{"enum":["a","b"]}}`, `
limits: at least 1 choice
missing: Choose at least 1.
example: ["a"]
another: ["b"]
spoiled: wrong-type 12345, not-in-enum ["not one of the choices"], too-few-items []`},
		{`{"type":"array","minItems":2,"maxItems":3,"items":{"type":"string","enum":["mon","tue","wed"]}}`, `
limits: at least 2 choices, at most 3 choices
missing: Choose at least 2.
example: ["mon","tue"]
spoiled: wrong-type 12345, not-in-enum ["not one of the choices"], too-few-items ["mon"], too-many-items ["mon","tue","wed","mon"]`},
		{`{"type":"array","maxItems":1,"items":{"anyOf":[{"const":"a","title":"A"}]}}`, `
limits: at most 1 choice
missing: Choose some, or send the empty list.
example: ["a"]
spoiled: wrong-type 12345, not-in-enum ["not one of the choices"], too-many-items ["a","a"]`},
	})
}
