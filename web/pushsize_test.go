// The race detector makes a thousand calls several times slower. TestFloodIsACount has more pushes
// with it.

//go:build !race

package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/web/push"
)

// declineMost is the greatest cost of a Decline, whatever else is on the page.
const declineMost = 8000 // bytes

// cost returns how many bytes arrive on a page's socket until all of want has arrived.
// If an element is pushed several times, only the last push counts, because the number
// of intermediate states depends on the server's speed.
func (o onScript) cost(pushes <-chan string, want ...string) (bytes int) {
	o.t.Helper()
	last := map[string]push.Change{}
	for len(want) > 0 {
		text := o.pushed(pushes, "")
		var p push.Message
		if err := json.Unmarshal([]byte(text), &p); err != nil {
			o.t.Fatal(err)
		}
		for _, c := range p.Changes {
			last[c.ID] = c
		}
		want = slices.DeleteFunc(want, func(w string) bool { return strings.Contains(text, w) })
	}
	for _, c := range last {
		data, err := rawjson.Encode(c)
		if err != nil {
			o.t.Fatal(err)
		}
		bytes += len(data)
	}
	return bytes
}

// TestPushesAreSmall checks that declining a question costs a few kilobytes on the
// page's socket, with a thousand calls as with one.
func TestPushesAreSmall(t *testing.T) {
	o := inspectDemo(t, conversation.ClientSettings{}).serve()
	o.get("/")
	pushes := o.watch(0)
	calls, questions := 0, 0
	call := func(tool, arguments string) {
		t.Helper()
		if status, text := o.post("/calls", url.Values{"server": {"s1"}, "kind": {"tool"}, "key": {tool}, "tab": {"json"}, "content": {arguments}}); status != http.StatusOK {
			t.Fatalf("%d %s", status, text)
		}
		calls++
	}
	// decline waits for a new question and returns the bytes that declining it costs.
	decline := func() int {
		t.Helper()
		call("deploy", "{}")
		questions++
		o.question(questions, conversation.Pending)
		tab, idle := fmt.Sprintf(`id=\"call-tab-%d\"><button type=\"button\" class=\"call-tab s0 `, calls), `id=\"s1-tools-0-about\"><span`
		came := o.cost(pushes, fmt.Sprintf(`id=\"q%d\"`, questions), tab+"running waits", "<em class")
		o.done(fmt.Sprintf("/questions/%d/answer", questions), url.Values{"action": {"decline"}})
		went := o.cost(pushes, `data-outcome=\"declined\"`, "Nothing was deployed.", tab+"done", idle)
		t.Logf("after %d calls a question costs %d bytes, and to decline it %d", calls, came, went)
		return went
	}
	few := decline()
	if few > declineMost {
		t.Errorf("a Decline costs %d bytes, want less than %d", few, declineMost)
	}
	for calls < 1000 {
		call("flood", `{"count":1,"wait":false}`)
		n := calls
		o.until("the call has ended", func() bool { c, err := o.in.Call(n); return err == nil && c.State == conversation.Done })
	}
	o.cost(pushes, fmt.Sprintf(`id=\"call-tab-%d\"`, calls))
	if many := decline(); many > few+declineMost/4 { // a quarter more is allowed, for longer numbers and later updates
		t.Errorf("after %d calls a Decline costs %d bytes, and after one %d", calls, many, few)
	}
}
