package e2e

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// After very many calls the page lists the latest, and links to the frames of the others:
// by their address, and from the end of the list.
func TestEarlierCallsAreInTheLog(t *testing.T) {
	t.Parallel()
	const made = 150 // of which the hundred are kept that ended last, usually those made last
	s := open(t, "--name", "weather")
	s.choose("Tools", "show_result")
	form := url.Values{"server": {"s1"}, "kind": {"tool"}, "key": {"show_result"}, "tab": {"json"}, "content": {`{"kind":"nothing"}`}}
	for n := 1; n <= made; n++ {
		res, err := s.Client().PostForm(s.Base+"/calls", form)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != http.StatusOK {
			t.Fatalf("call %d: %s", n, res.Status)
		}
	}
	s.page.Until(func() string { return "every call has its result" }, func() bool {
		return s.ask("kind:result call>0", 0, 1).total == made
	})
	filter := func() string { return s.page.Role("combobox", "Filter").Value() }

	s.page.Size(500, 800) // so narrow that the wire log is another pane
	s.page.Reload()
	s.page.Role("navigation", "Calls").Button("70 earlier calls").Click()
	if got := filter(); got != "call<71 kind:request dir:out" {
		t.Errorf("the filter is %q", got)
	}
	s.page.Until(func() string { return fmt.Sprintf("%d rows are left", s.rowCount()) }, func() bool { return s.rowCount() == 70 })
	for _, row := range s.inSight() {
		if !strings.Contains(row.Text, "tools/call") {
			t.Errorf("a row shows %s", row.Text)
		}
	}

	s.page.Goto(s.URL + "&call=3")
	if got := filter(); got != "call:3" {
		t.Errorf("for the address of an old call the filter is %q", got)
	}
	s.page.Until(func() string { return fmt.Sprintf("%d rows are left", s.rowCount()) }, func() bool { return s.rowCount() == 2 })
	s.page.Role("navigation", "Panes").Link("Call").Click()
	s.page.Region("Call").Role("heading", "Call 3").Wait()
	s.page.Region("Call").Button("Show its frames").Click()
	s.page.Region("Wire log").Wait()
}
