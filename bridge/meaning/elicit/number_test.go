package elicit

import "testing"

func TestCount(t *testing.T) {
	for in, want := range map[string]int{"3": 3, "3.0": 3, "3e0": 3, "30e-1": 3, "0": 0, "1e30": 1<<31 - 1, "1e999999999": 1<<31 - 1, "-1": -1, "1.5": -1, "x": -1, "-0.5": -1, "-1e999": -1} {
		got := -1
		if n := count(in); n != nil {
			got = *n
		}
		if got != want {
			t.Errorf("count(%s) = %d, want %d", in, got, want)
		}
	}
}

func TestNumbers(t *testing.T) {
	testKind(t, Number, []kindCase{
		{`{"type":"number"}`, `
missing: Required.
example: 1
another: 76546
spoiled: wrong-type "not of the type that the schema names", number-as-text "1"`},
		{`{"type":"number","minimum":0.50,"maximum":2.5}`, `
limits: at least 0.50, at most 2.5
hints: from 0.50 to 2.5
missing: Required.
example: 1
another: 2
spoiled: wrong-type "not of the type that the schema names", below-minimum -0.5, above-maximum 3.5, number-as-text "1"`},
		{`{"type":"number","exclusiveMinimum":1,"exclusiveMaximum":2}`, `
limits: more than 1, less than 2
hints: more than 1, less than 2
missing: Required.
example: 1.5
spoiled: wrong-type "not of the type that the schema names", below-minimum 1, above-maximum 2, number-as-text "1.5"`},
		{`{"type":"number","maximum":-3}`, `
limits: at most -3
hints: at most -3
missing: Required.
example: -3
another: -76549
spoiled: wrong-type "not of the type that the schema names", above-maximum -2, number-as-text "-3"`},
	})
}

func TestIntegers(t *testing.T) {
	testKind(t, Integer, []kindCase{
		{`{"type":"integer"}`, `
hints: a whole number
missing: Required.
example: 1
another: 76546
spoiled: wrong-type "not of the type that the schema names", fraction 1.5, number-as-text "1"`},
		{`{"type":"integer","multipleOf":7,"minimum":10}`, `
limits: at least 10, a multiple of 7
hints: a whole number, at least 10, a multiple of 7
missing: Required.
example: 14
another: 76545
spoiled: wrong-type "not of the type that the schema names", below-minimum 9, fraction 1.5, number-as-text "14", not-multiple 3.5`},
		{`{"const":5,"type":"integer"}`, `
hints: a whole number
missing: Required.
example: 5
spoiled: wrong-type "not of the type that the schema names", fraction 1.5, number-as-text "5"`},
	})
}
