package views

import (
	"strings"
	"testing"

	"elicitation-inspector/bridge/judges/check/report"
)

// TestCheckCells expects a verdict to lead to its exchange, and an inconclusive one to its
// reason; and what no trial has been made for to say so.
func TestCheckCells(t *testing.T) {
	trial := &report.Result{Trial: report.Trial{Behaviour: "never"}, Verdict: report.Fail, Findings: []report.Finding{{Verdict: report.Fail, Frames: []int64{7}}}, Number: 2}
	for _, test := range []struct {
		cell report.Cell
		want string
	}{
		{report.Cell{Verdict: report.Fail, First: trial}, `href="/checks/1/trials/2#f7" target="_blank" rel="noopener" aria-label="never, 2025-11-25: fail">fail</a>`},
		{report.Cell{Verdict: report.Inconclusive, Unmade: true}, `data-why="check-1-never-details" aria-label="never, 2025-11-25: inconclusive, see why" title="See why">?</button>`},
		{report.Cell{}, `<span class="sr">no trial</span>`},
	} {
		row := CheckRow{Row: report.Row{Behaviour: report.Behaviour{Name: "never"}, Cells: []report.Cell{test.cell}}, Check: 1, Revisions: []string{"2025-11-25"}}
		if got := render(t, CheckRowView(row)); !strings.Contains(got, test.want) || !strings.Contains(got, `id="check-1-never-2025-11-25"`) {
			t.Errorf("%s: %s", test.cell.Verdict, got)
		}
	}
	over := Check{Live: report.Live{Number: 1, State: report.Over, Revisions: []string{"2025-11-25"}}, Counts: report.Counts{report.Fail: 3, report.Pass: 1}}
	got := render(t, CheckView(over))
	counts, legend := strings.Index(got, `<b class="verdict fail">fail</b> <span class="num">3</span>`), strings.Index(got, report.Legend)
	if counts < 0 || legend < counts || !strings.Contains(got, "4 trials in") {
		t.Errorf("the panel: %s", got)
	}
	plan := render(t, CheckPlanView(CheckPlan{Kinds: 60}))
	if start := strings.Index(plan, ">Start</button>"); start < 0 || !strings.HasPrefix(strings.TrimSpace(plan[start+len(">Start</button>"):]), "<span>The call is made once") {
		t.Errorf("the plan: %s", plan)
	}
}
