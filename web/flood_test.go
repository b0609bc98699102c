package web

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/client/live"
	"elicitation-inspector/bridge/meaning/conversation"
)

// TestFloodIsACount checks that the page shows only some of very many questions and
// counts the others, also when all are settled at once.
func TestFloodIsACount(t *testing.T) {
	const most = 1 << 20 // bytes of the page, and of a push
	d := inspectDemo(t, conversation.ClientSettings{Protocol: mcp.Revision20251125})
	pushes := d.serve().watch(0)

	const calls, each = 3, 500
	for range calls {
		form := url.Values{"server": {"s1"}, "kind": {"tool"}, "key": {"ask_many"}, "tab": {"json"}, "content": {fmt.Sprintf(`{"count":%d}`, each)}}
		if status, text := d.post("/calls", form); status != http.StatusOK {
			t.Fatalf("%d %s", status, text)
		}
	}
	const held = calls*each - live.ShownMost
	d.until("all questions have come", func() bool { return d.server().Held == held })
	text := d.get("/")
	if len(text) > most {
		t.Errorf("the page has %d kB", len(text)>>10)
	}
	if want := "1\u202f450</b> more from"; !strings.Contains(text, want) {
		t.Errorf("the page does not say %q", want)
	}
	// The page holds some of the questions, and fetches the others.
	if got := strings.Count(text, `data-state="pending"`); got > live.ShownMost || got < live.ShownMost/2 {
		t.Errorf("%d questions are on the page", got)
	}

	d.done("/servers/s1/held", url.Values{"choice": {"decline"}})
	if strings.Contains(d.get("/"), "more from") {
		t.Error("the page says that there are more")
	}
	// The last question is drawn after all others.
	for last := formID(calls * each); ; {
		push := <-pushes
		if len(push) > most {
			t.Errorf("a push has %d kB", len(push)>>10)
		}
		if strings.Contains(push, `id=\"`+last+`\"`) {
			break
		}
	}
}
