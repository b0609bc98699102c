package elicit

import "testing"

func TestBooleans(t *testing.T) {
	testKind(t, Boolean, []kindCase{
		{`{"type":"boolean"}`, `
missing: Choose yes or no.
example: true
another: false
spoiled: wrong-type 12345`},
		{`{"type":"boolean","default":false}`, `
missing: Choose yes or no.
example: false
another: true
spoiled: wrong-type 12345`},
		{`{"const":true}`, `
missing: Choose yes or no.
example: true
spoiled: wrong-type 12345`},
	})
}
