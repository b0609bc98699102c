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

// verdicts, the gravest first.
var verdicts = []check.Verdict{check.Fail, check.Warn, check.Inconclusive, check.Pass}

// View is a report as people read it: a matrix of each call, and what was found.
type View struct {
	*check.Report
	Calls []*Call
}

// Call is a call on trial.
type Call struct {
	check.Call
	Rows    []Row
	Found   []*Told // fails and warnings
	Unclear []*Told // inconclusive
	Counts  Counts
}

// Row is a behaviour in the matrix of a call.
type Row struct {
	check.Behaviour
	Cells []Cell // by revision, as in Report.Revisions
}

// Cell stands for the trials of a behaviour in a revision: those of all questions and
// fields.
type Cell struct {
	Verdict check.Verdict // the gravest; "" if there are no trials
	Some    int           // trials with the verdict
	All     int
	In      []*Instance // of its findings, the first of each Told; of inconclusive ones only if nothing graver is found
}

// Told is a finding, once for all the trials of a call that show it.
type Told struct {
	check.Finding // as in the first trial
	Call          *Call
	Number        int
	In            []*Instance
	New           int // how many of In are new
}

// Instance is a finding in one trial.
type Instance struct {
	*check.Result
	check.Finding
	Told *Told
	// Place is that of the instance among those of Told, from 1.
	Place int
}

// Counts are how many trials have a verdict.
type Counts map[check.Verdict]int

// NewView groups a report.
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
		slices.SortStableFunc(call.Found, func(a, b *Told) int { return slices.Index(verdicts, a.Verdict) - slices.Index(verdicts, b.Verdict) })
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

// add puts a trial into its cell, and its findings to those like them.
func (c *Call) add(one *check.Result, cells map[string]*Cell) {
	c.Counts[one.Verdict]++
	at := one.Behaviour + " " + one.Revision
	cell := cells[at]
	if cell == nil {
		cell = new(Cell)
		cells[at] = cell
	}
	cell.All++
	if cell.Verdict == "" || slices.Index(verdicts, one.Verdict) < slices.Index(verdicts, cell.Verdict) {
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

// incidental are the parts of a finding's text that differ from trial to trial: what was
// sent, in parentheses, and what came, in quotes after a colon.
var incidental = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`frames? \d+|\b[\d.]+ (ms|s|min|h)\b| \([^()]*\)|: "(?:[^"\\]|\\.)*"`)
})

// alike reports whether two texts tell the same, but for what is incidental.
func alike(a, b string) bool {
	return a == b || incidental().ReplaceAllLiteralString(a, "") == incidental().ReplaceAllLiteralString(b, "")
}

// Counts are those of all calls.
func (v *View) Counts() Counts {
	sum := Counts{}
	for _, c := range v.Calls {
		for verdict, n := range c.Counts {
			sum[verdict] += n
		}
	}
	return sum
}

// Found are the fails and warnings of all calls, the gravest first.
func (v *View) Found() (list []*Told) {
	for _, c := range v.Calls {
		list = append(list, c.Found...)
	}
	return list
}

// String lists the counts: "2 fail, 1 warn, 40 pass".
func (c Counts) String() string {
	var words []string
	for _, v := range verdicts {
		if c[v] > 0 {
			words = append(words, fmt.Sprintf("%d %s", c[v], v))
		}
	}
	return strings.Join(words, ", ")
}

// All is how many trials there are.
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

// Trial names what was tried: "wrong-type, question 2, field size, 2025-11-25".
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

// Headline says in a sentence what came of the check.
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
