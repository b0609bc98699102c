package export

import (
	"strings"
	"testing"

	"elicitation-inspector/bridge/testdata/logtest"
	"elicitation-inspector/bridge/wire/redact"
)

// A page has what its playback needs: when each frame comes, how the form was before its
// answer, and a mark per question. None of it holds a secret, or a frame that is not
// chosen.
func TestPageCanPlayItself(t *testing.T) {
	t.Parallel()
	l := logtest.New(t, logtest.Talk(t, `
+0s c2s {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask"}}
+1s s2c {"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"message":"Which <build>?","requestedSchema":{"type":"object","properties":{"build":{"type":"string","default":"main"},"password":{"type":"string","default":"hunter2"},"where":{"type":"string","enum":["here","there"]}}}}}
+100ms c2s {"jsonrpc":"2.0","id":1,"result":{"action":"accept","content":{"build":"4711","password":"hunter3","where":"there"}}}
+1h s2c {"jsonrpc":"2.0","id":2,"method":"elicitation/create","params":{"message":"Sure?","requestedSchema":{"type":"object","properties":{}}}}
+1s c2s {"jsonrpc":"2.0","id":2,"result":{"action":"decline"}}
+0s s2c {"jsonrpc":"2.0","id":1,"result":{"content":[]}}
`)...)
	redaction, err := redact.New("password")
	if err != nil {
		t.Fatal(err)
	}
	page := write(t, Document{Log: l, Redact: redaction}, HTML)
	for _, want := range []string{
		`data-from="2" data-at="1000"`, `data-from="3" data-at="7800"`, `data-from="4" data-at="10800"`, `data-from="5" data-at="17600"`, // shortened pauses, and time to read each question and to give its answer
		`<datalist id="marks"><option value="2"></option><option value="4"></option></datalist>`,
		`data-position="2" popovertarget="asked" popovertargetaction="hide">Question 1: Which &lt;build&gt;?</button>`,
		`<input type="text" value="4711" dir="auto" data-asked="main">`,
		`<input type="radio" data-asked=""> <bdi>here</bdi>`, `<input type="radio" checked data-asked=""> <bdi>there</bdi>`,
		`<article class="question done" data-from="2" data-answered="3">`, `<article class="question declined" data-from="4" data-answered="5">`,
		`l-reply l-done" data-seq="3"`, `l-answer l-declined" data-seq="5"`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q", want)
		}
	}
	if strings.Contains(page, "hunter") {
		t.Error("the page holds a secret")
	}
	part := write(t, Document{Log: l, Redact: redaction, Seqs: seqsIter(4, 5, 6)}, HTML)
	if !strings.Contains(part, `<datalist id="marks"><option value="1"></option></datalist>`) || strings.Contains(part, "Which") {
		t.Error("the marks of a part are not those of its frames")
	}

	// What comes before the first call takes half a second at most.
	late := write(t, Document{Log: logtest.New(t, logtest.Talk(t, `
+0s c2s {"jsonrpc":"2.0","id":1,"method":"tools/list"}
+1s s2c {"jsonrpc":"2.0","id":1,"result":{"tools":[]}}
+1h c2s {"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"ask"}}
+1s s2c {"jsonrpc":"2.0","id":2,"result":{"content":[]}}
`)...)}, HTML)
	for _, want := range []string{`data-from="3" data-at="500"`, `data-from="4" data-at="1500"`} {
		if !strings.Contains(late, want) {
			t.Errorf("no %q after a wait", want)
		}
	}
}
