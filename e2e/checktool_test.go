package e2e

import (
	"path/filepath"
	"strings"
	"testing"

	"elicitation-inspector/e2e/internal/inspector"
	"elicitation-inspector/e2e/internal/page"
)

// TestCheckThisTool checks a tool on the page: the plan, the matrix while it fills, a
// finding with its evidence and its command line, the exchange behind a cell, the same
// state on other pages and after a reload, Stop, and the report. Nothing is left
// behind.
func TestCheckThisTool(t *testing.T) {
	t.Parallel()
	temp := t.TempDir()
	p := inspector.StartWith(t, inspector.Options{Env: []string{"TMPDIR=" + temp}}, "--no-open", "--listen", "127.0.0.1:0")
	tab := browser.Open(t, p.URL)
	other := tab.Tab(p.Base)
	other.Button("deploy").Nth(0).Click()
	checkIn(other.Region("Call"))
	others := other.Region("Check")
	others.Contains(`"service": "checkout"`).Button("Start").Wait()

	tab.Button("crash_on_decline").Nth(0).Click()
	tab.Role("heading", "crash_on_decline").Wait()
	checkIn(tab.Region("Call"))
	check := tab.Region("Check")
	check.Contains("without arguments").Contains("a session of its own").Contains("How many trials that makes is known once it has asked.")
	check.Button("Start").HasFocus()
	tab.Press(page.Enter)
	check.Role("progressbar", "Progress of the check").Wait()
	others.Button("Start").Click()
	others.Contains("Another check is running, of crash_on_decline")
	check.Link("decline, 2025-11-25: fail").Wait()
	check.Button("Check again").Wait()

	other.Press(page.Escape)
	other.Button("crash_on_decline").Nth(0).Click()
	other.Role("heading", "crash_on_decline").Wait() // until then the button belongs to the previous tool
	checkIn(other.Region("Call"))
	others.Link("decline, 2025-11-25: fail").Wait()
	tab.Reload()
	crash := check.Link("decline, 2025-11-25: fail").Wait()
	check.Contains("Honest answers").Contains("process-ended")
	check.Role("DisclosureTriangle", "Reproduce").Nth(0).Click()
	check.Contains("inspector call crash_on_decline").Contains("<<'EOF'")
	check.Button("Copy").Nth(0).Click()
	check.Button("Copied").Wait()
	check.Role("DisclosureTriangle", "Decline").Nth(0).Click()
	check.Contains("A good server: ").Contains("question 1")

	exchange := tab.Tab(page.Eval[string](tab, "location.origin") + crash.Attr("href"))
	if open := page.Eval[bool](exchange, "document.querySelector(location.hash).open"); !open {
		t.Error("the page of the exchange does not show the frame that its address names")
	}
	if text := page.Eval[string](exchange, "document.body.innerText"); !strings.Contains(text, "crash_on_decline: decline, 2025-11-25: fail") {
		t.Errorf("the exchange: %s", text)
	}
	check.Link("Save report as HTML").Wait()
	saved := page.Eval[string](tab, "fetch('/checks/1/report.html').then(r => r.text())")
	if !strings.Contains(saved, "process-ended") || !strings.Contains(saved, "<title>") {
		t.Errorf("the report: %.500s", saved)
	}

	check.Button("Check again").Click()
	check.Button("Start").Click()
	check.Button("Stop").Click()
	check.Contains("It was stopped. This is what was found until then.")
	others.Contains("It was stopped. This is what was found until then.")
	tab.Reload()
	check.Contains("It was stopped.")
	for _, tab := range []*page.Page{tab, exchange} {
		if got := tab.Complaints(); len(got) > 0 {
			t.Errorf("the browser complained: %q", got)
		}
	}
	p.Stop()
	if left, err := filepath.Glob(filepath.Join(temp, "*")); err != nil || len(left) > 0 {
		t.Errorf("it leaves %q, %v", left, err)
	}
}

// checkIn opens the check of the tool in this region.
func checkIn(call *page.Control) {
	call.Button("More for this call").Click()
	call.Button("Check this tool").Click()
}
