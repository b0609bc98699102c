package report

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"elicitation-inspector/bridge/check"
	"elicitation-inspector/bridge/wording"
)

// View is a report arranged for people: a matrix of behaviours for each call, and the
// findings.
type View struct {
	*check.Report
	Calls []*Call
}

// Call is a call of the report with its matrix and findings.
type Call struct {
	check.Call
	Rows    []Row
	Found   []*Told // fails and warnings
	Unclear []*Told // inconclusive findings
	Counts  Counts
}

// Row is the row of a behaviour in the matrix of a call.
type Row struct {
	check.Behaviour
	Cells []Cell // by revision, as in Report.Revisions
}

// Cell sums up the trials of a behaviour in a revision, with all questions and fields.
type Cell struct {
	Verdict check.Verdict // the most severe; "" without trials
	Some    int           // number of trials with this verdict
	All     int
	In      []*Instance // the findings, one instance of each Told; inconclusive ones only if there are no others
}

// Told is a finding with all the trials of a call that show it.
type Told struct {
	check.Finding // of the first trial
	Call          *Call
	Number        int
	In            []*Instance
	New           int // number of new instances
}

// Instance is a finding in one trial.
type Instance struct {
	*check.Result
	check.Finding
	Told *Told
	// Place is the position of the instance in Told.In, from 1.
	Place int
}

// Counts holds the number of trials by verdict.
type Counts map[check.Verdict]int

// NewView arranges a report.
func NewView(r *check.Report) *View {
	v := &View{Report: r}
	for i, c := range r.Calls {
		call := &Call{Call: c, Counts: Counts{}}
		cells := map[string]*Cell{} // by behaviour and revision
		for k := range r.Results {
			if one := &r.Results[k]; one.Call == i {
				call.add(one, cells)
			}
		}
		for _, b := range r.Behaviours {
			row := Row{Behaviour: b}
			tried := false
			for _, revision := range r.Revisions {
				cell := cells[b.Name+" "+revision]
				if cell == nil {
					cell = new(Cell)
				}
				tried = tried || cell.All > 0
				row.Cells = append(row.Cells, *cell)
			}
			if tried {
				call.Rows = append(call.Rows, row)
			}
		}
		slices.SortStableFunc(call.Found, func(a, b *Told) int { return a.Verdict.Rank() - b.Verdict.Rank() })
		v.Calls = append(v.Calls, call)
	}
	all := v.Found()
	for _, c := range v.Calls {
		all = append(all, c.Unclear...)
	}
	for i, t := range all {
		t.Number = i + 1
	}
	return v
}

// add adds a trial to its cell, and its findings to equal ones of other trials.
func (c *Call) add(one *check.Result, cells map[string]*Cell) {
	c.Counts[one.Verdict]++
	at := one.Behaviour + " " + one.Revision
	cell := cells[at]
	if cell == nil {
		cell = new(Cell)
		cells[at] = cell
	}
	cell.All++
	if cell.Verdict == "" || one.Verdict.Rank() < cell.Verdict.Rank() {
		cell.Verdict, cell.Some = one.Verdict, 0
		cell.In = slices.DeleteFunc(cell.In, func(in *Instance) bool { return !isDefect(in.Told.Verdict) })
	}
	if one.Verdict == cell.Verdict {
		cell.Some++
	}
	for _, f := range one.Findings {
		list := &c.Found
		if !isDefect(f.Verdict) {
			list = &c.Unclear
		}
		where := slices.IndexFunc(*list, func(t *Told) bool { return t.Rule == f.Rule && t.Verdict == f.Verdict && alike(t.Text, f.Text) })
		if where < 0 {
			where = len(*list)
			*list = append(*list, &Told{Finding: f, Call: c})
		}
		told := (*list)[where]
		told.In = append(told.In, &Instance{Result: one, Finding: f, Told: told, Place: len(told.In) + 1})
		if f.New {
			told.New++
		}
		if (isDefect(f.Verdict) || f.Verdict == cell.Verdict) && !slices.ContainsFunc(cell.In, func(in *Instance) bool { return in.Told == told }) {
			cell.In = append(cell.In, told.In[len(told.In)-1])
		}
	}
}

// incidental matches the parts of a finding's text that differ between trials: what the
// client sent, in parentheses, and what the server sent, in quotes after a colon.
var incidental = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`frames? \d+|\b[\d.]+ (ms|s|min|h)\b| \([^()]*\)|: "(?:[^"\\]|\\.)*"`)
})

// alike reports whether two texts differ only in incidental parts.
func alike(a, b string) bool {
	return a == b || incidental().ReplaceAllLiteralString(a, "") == incidental().ReplaceAllLiteralString(b, "")
}

// Counts returns the counts of all calls together.
func (v *View) Counts() Counts {
	sum := Counts{}
	for _, c := range v.Calls {
		for verdict, n := range c.Counts {
			sum[verdict] += n
		}
	}
	return sum
}

// Found returns the fails and warnings of all calls, most severe first.
func (v *View) Found() (list []*Told) {
	for _, c := range v.Calls {
		list = append(list, c.Found...)
	}
	return list
}

// String lists the counts: "2 fail, 1 warn, 40 pass".
func (c Counts) String() string {
	var words []string
	for _, v := range check.Verdicts() {
		if c[v] > 0 {
			words = append(words, fmt.Sprintf("%d %s", c[v], v))
		}
	}
	return strings.Join(words, ", ")
}

// All returns the number of trials.
func (c Counts) All() (sum int) {
	for _, n := range c {
		sum += n
	}
	return sum
}

// Passed reports whether all trials in the row passed.
func (r *Row) Passed() bool {
	return !slices.ContainsFunc(r.Cells, func(c Cell) bool { return c.All > 0 && c.Verdict != check.Pass })
}

// Trial names a trial: "wrong-type, question 2, field size, 2025-11-25".
func Trial(t check.Trial) string {
	words := []string{t.Behaviour}
	if t.Question > 0 {
		words = append(words, fmt.Sprintf("question %d", t.Question))
	}
	if t.Field != "" {
		words = append(words, "field "+t.Field)
	}
	return strings.Join(append(words, t.Revision), ", ")
}

// Headline sums the check up in a sentence.
func (v *View) Headline() string {
	counts := v.Counts()
	all := wording.Plural(counts.All(), "trial") + " of " + wording.Plural(len(v.Calls), "call")
	switch fails, warns := counts[check.Fail], counts[check.Warn]; {
	case counts.All() == 0:
		return "Nothing was tried."
	case fails > 0 && warns > 0:
		return fmt.Sprintf("Of %s, %d failed and %d more ended with a warning.", all, fails, warns)
	case fails > 0:
		return fmt.Sprintf("Of %s, %d failed.", all, fails)
	case warns > 0:
		return fmt.Sprintf("Of %s, none failed and %d ended with a warning.", all, warns)
	}
	return fmt.Sprintf("Of %s, none failed.", all)
}
