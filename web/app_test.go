package web

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"elicitation-inspector/bridge/meaning/conversation"
)

// The button on a question that an app would draw reads the app's resource, and the page shows it as text.
func TestReadingAnApp(t *testing.T) {
	t.Parallel()
	o := inspectScript(t, script{
		"server/discover": fmt.Sprintf(discovered, `{"name":"apps","version":"1"}`, `""`),
		"tools/list":      tools(`{"name":"ask","inputSchema":{"type":"object"}}`),
		"tools/call ask": `"result":{"resultType":"input_required","inputRequests":{"k":{"method":"elicitation/create","params":{"_meta":{"ui":{"resourceUri":"ui://form.html"}},` +
			`"mode":"form","message":"Which?","requestedSchema":{"type":"object","properties":{}}}}}}`,
		"resources/read": `"result":{"resultType":"complete","ttlMs":0,"cacheScope":"private","contents":[{"uri":"ui://form.html","mimeType":"text/html","text":"<b>An app</b>"}]}`,
	})
	if status, text := o.post("/calls", url.Values{"server": {"s1"}, "kind": {"tool"}, "key": {"ask"}}); status != http.StatusOK {
		t.Fatalf("%d %s", status, text)
	}
	o.until("the question is there", func() bool { q, err := o.in.Question(1); return err == nil && q.State == conversation.Pending })
	page, _ := o.get("/?call=1")
	if !strings.Contains(page, `data-post="/questions/1/app"`) {
		t.Error("the card has no button for the app's source")
	}
	if status, text := o.post("/questions/1/app", nil); status != http.StatusOK {
		t.Fatalf("%d %s", status, text)
	}
	o.until("the resource is read", func() bool { c, err := o.in.Call(2); return err == nil && c.State.Over() })
	c, err := o.in.Call(2)
	page, _ = o.get("/?call=2")
	if err != nil || c.State != conversation.Done || c.Request.Key != "ui://form.html" || !strings.Contains(page, "&lt;b&gt;An app") || strings.Contains(page, "<b>An app") {
		t.Errorf("reading the app is %s, %s (%v)", c.State, c.Failure, err)
	}
}
