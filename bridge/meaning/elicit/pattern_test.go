// The race detector makes these tests several times slower, and nothing in them runs concurrently.

//go:build !race

package elicit

import (
	"encoding/json"
	"strings"
	"testing"
)

// compiles returns the error of a pattern that is not a regular expression.
func compiles(pattern string) error {
	_, err := compilePattern(pattern)
	return err
}

func TestCompilePattern(t *testing.T) {
	good := []string{
		``, `^[A-Z]{2}\d{3,5}$`, `a|b|`, `(?:a)(?=b)(?!c)(?<=d)(?<!e)`, `(?<year>\d{4})-\k<year>`, `\p{L}+\p{Script=Greek}`, `\u{1F600}`, `[^]`, `[]`, `a{2,}?`, `(a)\1`,
		`\cA\x41\u0041\0\t`, `[\b\-\]]`, `(?i:a)(?-s:b)`, `\/`, `^\S+@\S+$`, `[(?i)]\(?i`, `[\](?i)]`, `(?i:a)(?<n>b)(?im-s:c)`,
		// only without the u flag
		`[\w-.]`, `\-\_`, `]`, `}`, `{`, `a{,3}`, `\d{3`, `\1`, `\c`, `(?=a)*`, `\u12`, `\k<n>`, `\e`,
	}
	for _, p := range good {
		if err := compiles(p); err != nil {
			t.Errorf("compiling %s: %v", p, err)
		}
	}
	bad := []string{
		`(`, `)`, `(a`, `a)`, `[`, `[a`, `[z-a]`, `*`, `a**`, `a++`, `+`, `?`, `{2}`, `a{3,2}`, `a{2}{3}`, `^*`, `\b+`, `(?<=a)*`, `\`, `[\`, `(?`, `(?<`, `(?<1a>x)`, `(?<>x)`,
		`(?<a>x)\k`, `(?<a>x)\k<b>`,
		// syntax of other languages
		`(?i)a`, `(?>a)`, `(?#c)a`, `(?'n'a)`, `(?P<n>a)`, `(?(1)a|b)`, `(?x:a b)`, `(?n:a)`, `[(?i)](?i)`, `\((?i)`, `(?:`, `\p{Foo}`,
	}
	for _, p := range bad {
		if err := compiles(p); err == nil {
			t.Errorf("compiling %s: nil", p)
		} else if strings.Contains(err.Error(), "error parsing") {
			t.Errorf("compiling %s: %v", p, err)
		}
	}
	if _, err := compilePattern(strings.Repeat("a", maxPattern+1)); err != errTooLong {
		t.Errorf("a long pattern: %v", err)
	}
	deep := strings.Repeat("(", maxPattern/2)
	if err := compiles(deep + strings.Repeat(")", maxPattern/2)); err != nil {
		t.Errorf("deep groups: %v", err)
	}
}

func TestPatternsMatchAsInECMAScript(t *testing.T) {
	for _, tt := range []struct {
		pattern, text string
		want          bool
	}{
		{`b`, "abc", true}, // not anchored
		{`^b$`, "abc", false},
		{`^a$`, "a\n", false}, // $ matches only at the end of the text
		{`^\d$`, "٣", false},  // ASCII digits only
		{`^\w$`, "é", false},
		{`^\s$`, "\ufeff", true},
		{`^.$`, "😀", true}, // a dot matches a code point, as with the u flag
		{`^.$`, "\u2028", false},
		{`^\u{1F600}$`, "😀", true},
		{`^\p{Lu}$`, "Ä", true},
		{`^[\w-.]+$`, "a-.b", true},
		{`^(?:(a)|b)*\1$`, "ab", true}, // a group without a match matches the empty text
		{`^[^]$`, "\n", true},
		{`[]`, "a", false},
		{`(?<=\$)\d+`, "$42", true},
		{`^(?i:abc)$`, "ABC", true},
		{`\-`, "a-b", true},
	} {
		re, err := compilePattern(tt.pattern)
		if err != nil {
			t.Errorf("%s: %v", tt.pattern, err)
			continue
		}
		if got, err := re.MatchString(tt.text); got != tt.want || err != nil {
			t.Errorf("%s matches %q: %v, %v", tt.pattern, tt.text, got, err)
		}
	}
}

// TestMatchesEnd matches patterns that take exponential time or memory in a backtracking
// engine.
func TestMatchesEnd(t *testing.T) {
	a := strings.Repeat("a", 40)
	for pattern, text := range map[string]string{
		`^(a+)+$`:     a + "b",
		`^(a|aa)+$`:   a + "b",
		`^(\w+\s?)+$`: strings.Repeat("word ", 40) + "!",
		`(?<n>a)` + strings.Repeat(`\k<n>?`, 40) + strings.Repeat(`a`, 40) + "$": a + "b",
		strings.Repeat("(", 100) + "a" + strings.Repeat("+)", 100) + "$":         a + "b",
		`^` + strings.Repeat("(?=a)", 12_000):                                    a,
		strings.Repeat("(", maxPattern/2) + strings.Repeat(")", maxPattern/2):    a,
	} {
		schema, _ := json.Marshal(map[string]any{"properties": map[string]any{"p": map[string]any{"pattern": pattern}}})
		content, _ := json.Marshal(map[string]string{"p": text})
		problems, err := Check(schema, content)
		// On a loaded machine, compiling the pattern alone may take the time of the whole check.
		gaveUp := Unchecked(err) && (strings.Contains(err.Error(), "could not be told within 100ms") || strings.Contains(err.Error(), "takes more than 3s"))
		if !gaveUp || problems != nil {
			t.Errorf("%.40s: %v, %v", pattern, problems, err)
		}
	}
}

func FuzzCompilePattern(f *testing.F) {
	for _, p := range []string{`^(?<a>[\w-.]+){2,3}?\k<a>|\u{1f600}$`, `(?i-s:[^\p{L}\b])(?!x)`, `\c{,3}`, `[a-\d]`} {
		f.Add(p)
	}
	f.Fuzz(func(t *testing.T, pattern string) {
		re, err := compilePattern(pattern)
		if err != nil {
			return
		}
		re.MatchString("aA1-é😀\n") // it must end without a panic; it may give up
	})
}
