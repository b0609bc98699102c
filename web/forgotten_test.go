package web

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"elicitation-inspector/bridge/client/live"

	"elicitation-inspector/bridge/meaning/conversation"
)

// TestForgottenCalls checks that the address of a call that is no longer kept leads to
// its frames, and that the strip of calls does, too.
func TestForgottenCalls(t *testing.T) {
	d := asking{result: `{"content":[]}`}.inspect(t)
	for n := 1; n <= live.Kept+3; n++ {
		if _, err := d.in.Begin(live.Request{Server: "s1", Kind: conversation.Tool, Name: "ask", Key: "ask"}); err != nil {
			t.Fatal(err)
		}
		d.until(fmt.Sprintf("call %d has ended", n), func() bool {
			c, err := d.in.Call(n)
			return err == nil && c.State == conversation.Done
		})
	}
	w := httptest.NewRecorder()
	d.s.echo.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/?call=2", nil))
	if to := w.Header().Get("Location"); w.Code != http.StatusSeeOther || to != "/?call=2&filter=call%3A2" {
		t.Errorf("the address of an old call is answered with %d %s", w.Code, to)
	}
	page := d.get("/?call=2&filter=call%3A2")
	for _, want := range []string{
		"<h2 tabindex=\"-1\" dir=\"auto\">Call 2</h2>", `data-filter="call:2"`,
		`data-filter="call&lt;24 kind:request dir:out"`, "23 earlier calls",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	if panel := d.get("/calls/3"); !strings.Contains(panel, `data-filter="call:3"`) {
		t.Errorf("the panel of another is %s", panel)
	}
	for path, want := range map[string]int{"/calls/2/stop": http.StatusNotFound, fmt.Sprintf("/calls/%d/stop", live.Kept+3): http.StatusNoContent} {
		if status, text := d.post(path, nil); status != want {
			t.Errorf("%s: %d %s", path, status, text)
		}
	}
	if got := d.get("/wire/rows?filter=call%3C24+kind%3Arequest+dir%3Aout&from=0&count=100"); !strings.Contains(got, "tools/call") {
		t.Errorf("the filter picks %.300s", got)
	}
	// The address of a kept call shows the call.
	if page := d.get(fmt.Sprintf("/?call=%d", live.Kept)); !strings.Contains(page, fmt.Sprintf(`id="call-%d"`, live.Kept)) {
		t.Error("a call that is kept is not on the page")
	}
}
