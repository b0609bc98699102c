package rawjson

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"elicitation-inspector/bridge/testdata/cost"
)

func TestDiff(t *testing.T) {
	for _, tt := range []struct{ name, a, b, want string }{
		{"nothing", `{"a":1}`, `{"a":1}`, ""},
		{"white space and order", ` {"a":1,"b":[1,2]}`, `{ "b" : [ 1, 2 ], "a" : 1 } `, ""},
		{"changed", `{"a":{"b":"x"}}`, `{"a":{"b":"y"}}`, `changed /a/b "x" "y"`},
		{"type", `{"a":1}`, `{"a":"1"}`, `changed /a 1 "1"`},
		{"added and removed", `{"a":1,"b":2}`, `{"b":2,"c":null}`, "added /c  null\nremoved /a 1 "},
		{"names that pointers escape", `{"a/b":1,"m~n":1,"":1}`, `{"a/b":2,"m~n":2,"":2}`, "changed /a~1b 1 2\nchanged /m~0n 1 2\nchanged / 1 2"},
		{"names written otherwise", `{"\u0061":1}`, `{"a":1}`, ""},
		{"numbers written otherwise", `[1.50,1e3,-0,0.001]`, `[1.5,1000,0,1E-3]`, "rewritten /0 1.50 1.5\nrewritten /1 1e3 1000\nrewritten /2 -0 0\nrewritten /3 0.001 1E-3"},
		{"numbers that floats confuse", `9007199254740993`, `9007199254740992`, "changed  9007199254740993 9007199254740992"},
		{"exponents without end", `1e99999999999999999999`, `1e99999999999999999998`, "changed  1e99999999999999999999 1e99999999999999999998"},
		{"strings written otherwise", `["\u00e9\/"]`, `["é/"]`, `rewritten /0 "\u00e9\/" "é/"`},
		{"put in", `[1,2,3]`, `[0,1,2,2.5,3,4]`, "added /0  0\nadded /3  2.5\nadded /5  4"},
		{"taken out", `[1,2,3,4]`, `[2,4]`, "removed /0 1 \nremoved /2 3 "},
		{"changed inside a list", `[{"n":"a"},{"n":"b"},{"n":"c"}]`, `[{"n":"z"},{"n":"a"},{"n":"B"},{"n":"c"}]`, "added /0  {\"n\":\"z\"}\nchanged /2/n \"b\" \"B\""},
		{"doubled names", `{"a":1,"a":2}`, `{"a":1,"a":3}`, "changed /a 2 3"},
		{"empty list", `{"a":[]}`, `{"a":[1]}`, "added /a/0  1"},
		{"scalar", `1`, `{"a":1}`, `changed  1 {"a":1}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			list, total, err := Diff([]byte(tt.a), []byte(tt.b), 100)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, d := range list {
				got = append(got, fmt.Sprintf("%s %s %s %s", d.Op, d.Pointer, d.Before, d.After))
			}
			if text := strings.Join(got, "\n"); text != tt.want {
				t.Errorf("got\n%s\nwant\n%s", text, tt.want)
			}
			if total != len(list) {
				t.Errorf("%d differences in all, %d are listed", total, len(list))
			}
		})
	}
	for _, tt := range [][2]string{{`{`, `1`}, {`1`, `x`}, {``, `1`}} {
		if _, _, err := Diff([]byte(tt[0]), []byte(tt[1]), 1); err == nil {
			t.Errorf("Of(%q, %q) is no error", tt[0], tt[1])
		}
	}
}

func TestDiffListsTheFirst(t *testing.T) {
	var a, b strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&a, `,"m%d":1`, i)
		fmt.Fprintf(&b, `,"m%d":2`, i)
	}
	list, total, err := Diff([]byte("{"+a.String()[1:]+"}"), []byte("{"+b.String()[1:]+"}"), 10)
	if err != nil || total != 1000 || len(list) != 10 || list[9].Pointer != "/m9" {
		t.Errorf("%d of %d, %v", len(list), total, err)
	}
}

// Texts that are slow to compare: nested lists, so that each level is hashed again from
// above, and lists of many elements that are all different.
func TestDiffHasAnEnd(t *testing.T) {
	deep := func(core string) string {
		return strings.Repeat("[", 1000) + core + strings.Repeat("]", 1000)
	}
	many := func(from int) string {
		var b strings.Builder
		for i := range 20_000 {
			fmt.Fprintf(&b, ",[%d]", from+i)
		}
		return "[" + b.String()[1:] + "]"
	}
	core := `"` + strings.Repeat("x", 1<<20)
	for name, texts := range map[string][2]string{
		"deep": {deep(core + `"`), deep(core + `y"`)},
		"many": {many(0), many(1_000_000)},
	} {
		took := cost.Of(func() {
			if _, total, err := Diff([]byte(texts[0]), []byte(texts[1]), 10); err != nil || total == 0 {
				t.Errorf("%s: %d differences, %v", name, total, err)
			}
		})
		if took > 10*time.Second {
			t.Errorf("%s costs %v", name, took)
		}
	}
}
