// The race detector makes the many trials of this test several times slower.
// TestDestructiveToolsAreTicked has checks on the page with it.

//go:build !race

package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strings"
	"testing"

	"elicitation-inspector/bridge/client/live"
	"elicitation-inspector/bridge/judges/check/report"
	"elicitation-inspector/bridge/meaning/conversation"
)

// checkPartMost is the greatest size of a part of a check in a push, in bytes. How many parts a push
// has depends on how many have changed since the one before, and so on how busy the machine is.
const checkPartMost = 2 << 10

// TestCheckOnThePage checks a tool of the demo server: the plan comes first, small
// pushes fill the matrix, a second check is refused, each cell leads to its exchange,
// and Stop leaves a report of the trials so far. The loaded script gives the honest
// answers, and the person's own call is not disturbed.
func TestCheckOnThePage(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	t.Cleanup(func() { // after the server of the page has ended
		if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
			t.Errorf("it leaves %v, %v", left, err)
		}
	})
	d := inspectDemo(t, conversation.ClientSettings{})
	o := d.serve()
	o.done("/script/load", url.Values{"text": {"answers:\n  - {match: {withFields: [ticket]}, answer: {accept: {ticket: CHG-73519}, rest: valid}}\n"}})
	if _, err := d.in.Begin(live.Request{Server: "s1", Kind: conversation.Tool, Name: "ask", Key: "ask"}); err != nil {
		t.Fatal(err)
	}
	waits := func() bool {
		q, err := d.in.Question(1)
		return err == nil && q.State == conversation.Pending
	}
	d.until("the question of the person's call waits", waits)
	tool := func(key string, more ...string) url.Values {
		form := url.Values{"server": {"s1"}, "kind": {"tool"}, "key": {key}}
		for i := 0; i < len(more); i += 2 {
			form.Set(more[i], more[i+1])
		}
		return form
	}
	page, _ := o.get("/?server=s1&kind=tool&key=deploy")
	if !strings.Contains(page, "Check this tool") {
		t.Error("the panel of the tool does not offer a check")
	}
	status, plan := o.post("/check", tool("deploy", "tab", "json", "content", `{"service":"search"}`))
	if status != http.StatusOK || !strings.Contains(plan, "&#34;service&#34;: &#34;search&#34;") || !strings.Contains(plan, "a session of its own") ||
		!strings.Contains(plan, "<bdi>an answers file</bdi>") {
		t.Fatalf("the plan: %d %s", status, plan)
	}
	pushes := o.watch(0)
	o.done("/check/start", tool("deploy", "arguments", `{"service":"search"}`))
	if status, text := o.post("/check/start", tool("haggle")); status != wrong || !strings.Contains(text, "Another check is running, of deploy") {
		t.Errorf("a second check: %d %s", status, text)
	}
	filled := regexp.MustCompile(`aria-label=\\"decline, 2025-11-25: (\w+)\\"`)
	for {
		p := o.pushed(pushes, "")
		sent := map[string]bool{}
		for _, part := range strings.Split(p, `{"id":"check-1-`)[1:] {
			if id, _, _ := strings.Cut(part, `"`); len(part) > checkPartMost || sent[id] {
				t.Errorf("%d bytes are pushed of %s, sent before with them: %t: %.2000s", len(part), id, sent[id], part)
			} else {
				sent[id] = true
			}
		}
		if found := filled.FindStringSubmatch(p); found != nil {
			if found[1] != "pass" {
				t.Errorf("decline comes to %s", found[1])
			}
			break
		}
	}
	view, _ := o.get("/check?server=s1&kind=tool&key=deploy") // as after a reload of the page
	cell := regexp.MustCompile(`href="(/checks/1/trials/\d+)[^"]*" [^>]*aria-label="decline, 2025-11-25: pass"`).FindStringSubmatch(view)
	if cell == nil || !strings.Contains(view, ">Stop<") || !strings.Contains(view, "trials") {
		t.Fatalf("the check as it stands: %s", view)
	}
	exchange, header := o.get(cell[1])
	if !strings.Contains(exchange, `id="f3"`) || !strings.Contains(exchange, "deploy: decline, 2025-11-25: pass") || !strings.Contains(exchange, "CHG-73519") || strings.Contains(header.Get("Content-Security-Policy"), "default-src") {
		t.Errorf("the exchange: %v %s", header, exchange[strings.Index(exchange, "</style>"):])
	}
	if trials, _ := o.get("/checks/1/behaviours/decline"); !strings.Contains(trials, "A good server: ") || !strings.Contains(trials, "question 1") {
		t.Errorf("the trials of a behaviour: %s", trials)
	}
	o.done("/checks/1/stop", nil)
	o.pushed(pushes, "It was stopped.")
	saved, _ := o.get("/checks/1/report.json")
	var report report.Report
	if err := json.Unmarshal([]byte(saved), &report); err != nil || len(report.Results) == 0 || report.Directory != "" || report.Stopped == "" {
		t.Errorf("the report: %v, %d results, %q", err, len(report.Results), report.Stopped)
	}
	if _, err := d.in.Question(2); !waits() || err == nil {
		t.Errorf("the questions of the trials are among the person's (%v), or the one that was there is gone", err)
	}
	if _, again := o.post("/check", tool("deploy", "anew", "1")); !strings.Contains(again, fmt.Sprintf("The last check made %d.", len(report.Results))) {
		t.Errorf("once more: %s", again)
	}
}
