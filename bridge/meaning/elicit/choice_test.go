package elicit

import "testing"

func TestSingleChoices(t *testing.T) {
	testKind(t, SingleChoice, []kindCase{
		{`{"type":"string","enum":["red","green"]}`, `
missing: Choose one.
example: "red"
another: "green"
spoiled: wrong-type 12345, not-in-enum "not one of the choices"`},
		{`{"oneOf":[{"const":"a","title":"A"},{"const":"not one of the choices","title":"B"}]}`, `
missing: Choose one.
example: "a"
another: "not one of the choices"
spoiled: wrong-type 12345, not-in-enum "not one of the choices!"`},
		{`{"type":"string","format":"email","maxLength":9,"enum":["a@b.c"]}`, `
limits: format email, at most 9 characters
missing: Choose one.
example: "a@b.c"
spoiled: wrong-type 12345, not-in-enum "not one of the choices"`},
	})
}
