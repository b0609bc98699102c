package query

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
)

// What the machine says is what package regexp says.
func TestMachine(t *testing.T) {
	texts := []string{
		"", "a", "b", "ab", "ba", "abc", "aab", "aXb", "\n", "a\nb", "b\na\n", "a b", "ab cd", "_a", "-a", "é", "aé", "éa", "日本語", "🙂",
		"\xff", "a\xffb", "\xe2\x82", "K", "\u212a", "k", "ſ", "s", "S", "foo", "bar", "person", "foobar", "1234567", "x12y", "0",
		`{"jsonrpc":"2.0","id":7,"method":"elicitation/create"}`, strings.Repeat("ab", 40), strings.Repeat("a", 100), strings.Repeat("é\n", 20),
	}
	for _, expr := range []string{
		"a", "ab|cd", "a*", "a+b", "^a", "a$", "^$", "^a$", "(?m)^b$", "(?m)^", `\ba\b`, `\Bb`, `\A(a|b)+\z`, ".", "(?s)a.b", "a.b", "[^a]",
		`[[:^alpha:]]`, `\pL`, `\p{Han}+`, "(?i)k", "(?i)S+", "é", "[à-ü]", "日.語", `\x{1F642}`, "\uFFFD", "a{3,5}", "(a|b){4}$", "(ab)*$",
		`\d{7}`, `[a-z]+\d+[a-z]+`, "(foo|bar|person)", `"[^"]*/`, `"id":(\d+|"7"),`, "a*?b", "(?:)", "$a", `\b`, `\B`, "^a|b", "(^a|b)$", `[^\x00-\x{10FFFF}]`,
	} {
		re := regexp.MustCompile(expr)
		m := newMachine(re).another()
		for range 2 { // the second time by what it knows
			for _, text := range texts {
				if got := m.match([]byte(text)); got != re.MatchString(text) {
					t.Errorf("/%s/ in %q: %v", expr, text, got)
				}
			}
		}
	}
}

// An expression with more states than there is room for is still right, and
// gives up if it is no use.
func TestMachineOfManyStates(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for expr, slow := range map[string]bool{`(a|b)*a(a|b){13}c`: true, `[ab]{3}c`: false} {
		re := regexp.MustCompile(expr)
		m := newMachine(re).another()
		most := 0
		for range 3000 {
			text := make([]byte, 300)
			for i := range text {
				text[i] = "ab"[random.IntN(2)]
			}
			text[random.IntN(300)] = "abc"[random.IntN(3)]
			if got := m.match(text); got != re.Match(text) {
				t.Fatalf("/%s/ in %q: %v", expr, text, got)
			}
			most = max(most, m.bytes)
		}
		if m.slow != slow {
			t.Errorf("/%s/ has been given up: %v", expr, m.slow)
		}
		if most > statesBytes+4096 {
			t.Errorf("/%s/ took %d bytes", expr, most)
		}
	}
	// Forgetting in the middle of a text loses nothing.
	re := regexp.MustCompile(`^(?:[ab]{12}\d)*[ab]{5}c`)
	m := newMachine(re).another()
	for i := range 2000 {
		text := fmt.Appendf(nil, "%s1ababac", strings.Repeat("ab", 6))
		if i%7 == 0 {
			m.bytes = statesBytes + 1
			m.ascii[random.IntN(len(m.ascii))] = unmet
			m.made = 0
		}
		if !m.match(text) {
			t.Fatal("what is there is not found")
		}
	}
}

func FuzzMachine(f *testing.F) {
	f.Add("a+b|^c$", "xaab\nc")
	f.Add(`(?im)^[^k]\b.$`, "\u212a\xff é")
	f.Add(`(a|b)*a(a|b){8}c`, strings.Repeat("abba", 99))
	f.Fuzz(func(t *testing.T, expr, text string) {
		re, err := regexp.Compile(expr)
		if err != nil || len(expr) > 200 || len(text) > 2000 {
			return
		}
		m := newMachine(re).another()
		want := re.MatchString(text)
		for range 2 {
			if got := m.match([]byte(text)); got != want {
				t.Fatalf("/%s/ in %q: %v", expr, text, got)
			}
			m.bytes = statesBytes + 1 // from now on it forgets what it knows at each step
			for i := range m.ascii {
				m.ascii[i] = unmet
			}
		}
	})
}
