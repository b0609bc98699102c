// These tests only compute, and the race detector makes them several times slower.

//go:build !race

package query

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"regexp"
	"testing"

	"elicitation-inspector/bridge/wire"
)

// An expression that needs too many states is left to package regexp, with the right
// result.
func TestMatcherOfManyStates(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for expr, givenUp := range map[string]bool{`(a|b)*a(a|b){13}c`: true, `[ab]{3}c`: false} {
		re := regexp.MustCompile(expr)
		m := newAutomaton(re)
		for range 3000 {
			text := make([]byte, 300)
			for i := range text {
				text[i] = "ab"[random.IntN(2)]
			}
			text[random.IntN(300)] = "abc"[random.IntN(3)]
			if got := m.Match(text); got != re.Match(text) {
				t.Fatalf("/%s/ in %q: %v", expr, text, got)
			}
			if m.size > mostSize+4096 {
				t.Fatalf("/%s/ takes %d bytes", expr, m.size)
			}
		}
		if (m.prog == nil) != givenUp {
			t.Errorf("/%s/ is given up: %v", expr, m.prog == nil)
		}
	}
}

func TestFilterWhereTheTablesAreFull(t *testing.T) {
	l := newLog(t)
	const methods, actors = 70_000, 300 // more names than the index has room for
	for i := range methods {
		f := message(wire.ClientToServer, `{"jsonrpc":"2.0","id":%d,"method":"m%d"}`, i, i)
		f.Actor = fmt.Sprint("a", i%actors)
		if got := l.Append(f); got.Method != fmt.Sprint("m", i) {
			t.Errorf("method %q", got.Method)
		}
	}
	for line, want := range map[string][]int64{
		"method:m1": {2}, "method:m69999": {70_000}, "actor:a299 seq<400": {300}, "method:m69999 !actor:a99": nil, "id:69999": {70_000},
	} {
		if got := pick(t, l, line, nil); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, want %v", line, got, want)
		}
	}
	if f, err := l.Frame(methods); err != nil || f.Method != "m69999" || f.Actor != "a99" {
		t.Errorf("%+v, %v", f, err)
	}
}
