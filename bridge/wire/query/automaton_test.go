package query

import (
	"regexp"
	"strings"
	"testing"
)

var expressions = []string{
	"a", "ab|cd", "a*", "a+b", "^a", "a$", "^$", "^a$", "(?m)^b$", "(?m)^", `\ba\b`, `\Bb`, `\A(a|b)+\z`, ".", "(?s)a.b", "a.b", "[^a]",
	`[[:^alpha:]]`, `\pL`, `\p{Han}+`, "(?i)k", "(?i)S+", "é", "[à-ü]", "日.語", `\x{1F642}`, "\uFFFD", "a{3,5}", "(a|b){4}$", "(ab)*$",
	`\d{7}`, `[a-z]+\d+[a-z]+`, "(foo|bar|person)", `"[^"]*/`, `"id":(\d+|"7"),`, "a*?b", "(?:)", "$a", `\b`, `\B`, "^a|b", "(^a|b)$",
	`[^\x00-\x{10FFFF}]`,
}

// A matcher agrees with package regexp.
func TestMatcher(t *testing.T) {
	texts := []string{
		"", "a", "b", "ab", "ba", "abc", "aab", "aXb", "\n", "a\nb", "b\na\n", "a b", "ab cd", "_a", "-a", "é", "aé", "éa", "日本語", "🙂",
		"\xff", "a\xffb", "\xe2\x82", "K", "\u212a", "k", "ſ", "s", "S", "foo", "bar", "person", "foobar", "1234567", "x12y", "0",
		`{"jsonrpc":"2.0","id":7,"method":"elicitation/create"}`, strings.Repeat("ab", 40), strings.Repeat("a", 100), strings.Repeat("é\n", 20),
	}
	for _, expr := range expressions {
		re := regexp.MustCompile(expr)
		m := newAutomaton(re)
		for range 2 { // the second time with known states
			for _, text := range texts {
				if got := m.Match([]byte(text)); got != re.MatchString(text) {
					t.Errorf("/%s/ in %q: %v", expr, text, got)
				}
			}
		}
	}
}

func FuzzMatcher(f *testing.F) {
	for _, expr := range expressions {
		f.Add(expr, "aab é foo")
	}
	f.Add("a+b|^c$", "xaab\nc")
	f.Add(`(?im)^[^k]\b.$`, "\u212a\xff é")
	f.Add(`(a|b)*a(a|b){8}c`, strings.Repeat("abba", 99))
	f.Fuzz(func(t *testing.T, expr, text string) {
		re, err := regexp.Compile(expr)
		if err != nil || len(expr) > 200 || len(text) > 2000 {
			return
		}
		m := newAutomaton(re)
		want := re.MatchString(text)
		for range 2 {
			if got := m.Match([]byte(text)); got != want {
				t.Fatalf("/%s/ in %q: %v", expr, text, got)
			}
		}
	})
}
