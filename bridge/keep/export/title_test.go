package export

import (
	"slices"
	"testing"

	"elicitation-inspector/bridge/testdata/logtest"
)

// A title says which tools were called, how often they asked and how that was answered, and
// the name of a file has only characters that every shell takes.
func TestTitle(t *testing.T) {
	t.Parallel()
	log := logtest.New(t, logtest.Talk(t, `
+0s c2s {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"deploy"}}
+1s s2c {"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"message":"Sure?","requestedSchema":{"type":"object","properties":{}}}}
+1s c2s {"jsonrpc":"2.0","id":1,"result":{"action":"decline"}}
+0s s2c {"jsonrpc":"2.0","id":1,"result":{"content":[]}}
+0s c2s {"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"other"}}
+0s s2c {"jsonrpc":"2.0","id":2,"result":{"content":[]}}
+0s c2s {"jsonrpc":"2.0","method":"notifications/roots/list_changed"}
`)...)
	c := follow(t, log)
	day, server := log.Head(1).Time.UTC().Format("2006-01-02"), log.Head(1).Server
	for _, want := range []struct {
		chosen []int64
		title  string
	}{
		{nil, "deploy and other, asked once, declined"},
		{[]int64{1, 2, 3, 4}, "deploy, asked once, declined"},
		{[]int64{5, 6}, "other"},
		{[]int64{7}, "frames on " + server + ", " + day},
	} {
		only, first := func(seq int64) bool { return slices.Contains(want.chosen, seq) }, int64(1)
		if want.chosen == nil {
			only = nil
		} else {
			first = want.chosen[0]
		}
		if got, err := Title(t.Context(), c, log, nil, first, only); err != nil || got != want.title {
			t.Errorf("%v: %q, %v; want %q", want.chosen, got, err, want.title)
		}
	}
	for title, want := range map[string]string{
		"deploy on demo, 2 questions, 2026-11-23": "deploy-on-demo-2-questions-2026-11-23.html",
		"../\"evil\"\r\n; rm -rf /":               "evil-rm-rf.html",
		"\u202e":                                  "session.html",
	} {
		if got := FileName(title, ".html"); got != want {
			t.Errorf("%q is saved as %q, want %q", title, got, want)
		}
	}
}
