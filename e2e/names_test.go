package e2e

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"elicitation-inspector/e2e/internal/look"
	"elicitation-inspector/e2e/internal/page"
	"elicitation-inspector/e2e/internal/servers"
)

// The names that tests and screen readers rely on. Other tests use most of them; this one
// checks the whole table.
func TestNames(t *testing.T) {
	t.Parallel()
	rude := servers.NewRude(t, []servers.Question{{Name: "release", Params: release}})
	s := openOn(t, rude.Command, "--name", "names")
	p := s.page

	// Lists: one button per item, named by the item's name; all pages of the list.
	for shelf, items := range map[string][]string{
		"Tools":     {"release", "ask", "ask_three", "wait", "flood", "echo", "progress", "is_error", "rpc_error", "parts", "hostile", "large"},
		"Prompts":   {"plain_prompt", "letter"},
		"Resources": {"first note", "a pixel", "any note"},
	} {
		if tab := p.TabNamed(shelf); tab.Exists() && !p.Region(shelf).Exists() {
			tab.Click()
		}
		for _, item := range items {
			p.Region(shelf).Button(item).Wait()
		}
	}
	p.TabNamed("Tools").Click()

	servers := p.Region("Servers")
	servers.Contains("names").Contains("ready")
	if n := servers.Role("listitem", "").All().Count(); n != 1 {
		t.Errorf("region Servers has %d items, want one per server", n)
	}

	// The call panel: button Call, while running button Stop, then region Result.
	call := s.choose("Tools", "release")
	call.Button("Call").Click()
	call.Button("Stop").Wait()
	if call.Button("Call again").Exists() {
		t.Error("a running call has the button Call again as well as Stop")
	}

	q := p.Region("Questions").Article("Release?").Having("data-state", "pending").Wait()
	for _, label := range []string{"Branch", "Share", "Mail"} {
		q.Field(label).Wait()
	}
	for _, button := range []string{"Accept", "Decline", "Cancel"} {
		q.Button(button).Wait()
	}
	q.Role("group", "Will send").Contains(`"branch"`)
	q.TabNamed("Form").HasAttr("aria-selected", "true")
	q.TabNamed("JSON").Click()
	q.Role("textbox", "Content").Wait()
	// The required mail is missing. A press is not lost while the tab's form is on its way.
	page.Call[any](q, `function() {
		this.querySelector("[role=tab][data-to=form]").click()
		this.querySelector("button[value=accept]").click()
	}`)
	q.Button("Send anyway").Click()
	p.Region("Questions").Article("Release?").Having("data-state", "answered").Wait()
	p.Region("Result").Contains("received")

	grid := p.Region("Wire log").Role("grid", "Frames").Wait()
	p.Until(func() string { return "aria-rowcount is the number of frames" }, func() bool {
		n, err := strconv.Atoi(grid.Attr("aria-rowcount"))
		return err == nil && n > 10 && n == len(s.Wire())
	})
	var heads []string
	headers := grid.Role("columnheader", "").All()
	for i := range headers.Count() {
		heads = append(heads, headers.Nth(i).Text())
	}
	if got := strings.ToLower(strings.Join(heads, " ")); !strings.Contains(got, "time") || !strings.Contains(got, "message") || !strings.Contains(got, "took") {
		t.Errorf("the column headers are %q", heads)
	}
	for _, row := range rows(s) {
		if len(row.cells) != len(heads) {
			t.Fatalf("row %d has %d cells, there are %d column headers", row.index, len(row.cells), len(heads))
		}
	}
}

// row is one row of the wire log on the page.
type row struct {
	index int // aria-rowindex
	cells []string
}

// rows returns the rows that the grid has now, in order, without the headers.
func rows(s *session) []row {
	s.t.Helper()
	var got []struct {
		Index string
		Cells []string
	}
	raw := page.Call[string](s.page.Region("Wire log").Role("grid", "Frames"), `function() {
		return JSON.stringify([...this.querySelectorAll('[role=row]')]
			.filter(r => r.querySelector('[role=gridcell]'))
			.map(r => ({Index: r.getAttribute('aria-rowindex'), Cells: [...r.querySelectorAll('[role=gridcell]')].filter(c => c.checkVisibility()).map(c => c.innerText.trim())})));
	}`)
	if err := json.Unmarshal([]byte(raw), &got); err != nil {
		s.t.Fatal(err)
	}
	var all []row
	for _, g := range got {
		i, err := strconv.Atoi(g.Index)
		if err != nil {
			s.t.Fatalf("a row's aria-rowindex is %q", g.Index)
		}
		all = append(all, row{index: i, cells: g.Cells})
	}
	return all
}

// TestTitlesAndNames expects the title of a tool to stay readable where its name does not fit
// beside it, and nothing above a form on a phone before the first call.
func TestTitlesAndNames(t *testing.T) {
	t.Parallel()
	s := openOn(t, servers.Everything(t, "stdio"))
	for _, tool := range []string{"simulate-research-query", "trigger-elicitation-request-async", "echo"} {
		s.choose("Tools", tool)
		for _, w := range []viewport{full, {390, 844, true}} {
			w.apply(s.page, work)
			for _, fault := range look.Faults(s.page, w.least()) {
				t.Errorf("%s, %s: %s", tool, w, fault)
			}
		}
		full.apply(s.page, work)
	}
	title := page.Eval[string](s.page, `document.querySelector(".head .named").title`)
	if title != "Echo Tool · echo" {
		t.Errorf("the tooltip is %q", title)
	}
}
