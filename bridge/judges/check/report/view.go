package report

import (
	"fmt"
	"slices"
	"strings"

	"elicitation-inspector/bridge/base/lazy"
	"elicitation-inspector/bridge/base/wording"
)

// View is a report arranged for people: a matrix of behaviours for each call, and the
// findings.
type View struct {
	*Report
	Calls  []*CallView
	Causes []Cause // one for each rule and verdict, in the order of Finding.Before
}

// Cause is a rule that a server breaks, with the findings of all calls.
type Cause struct {
	Finding // the first of them
	Told    []*Told
}

// CallView is a call of the report with its matrix and findings.
type CallView struct {
	Call
	Place   int // from 1
	Rows    []Row
	Found   []*Told // fails and warnings
	Unclear []*Told // inconclusive findings
	Counts  Counts

	told map[string]*Told // by rule, verdict and text without its incidental parts
}

// Row is the row of a behaviour in the matrix of a call.
type Row struct {
	Behaviour
	Cells   []Cell // by revision, as in Report.Revisions
	Results []*Result
}

// Cell sums up the trials of a behaviour in a revision, with all questions and fields.
type Cell struct {
	Verdict Verdict // the most severe; "" without trials
	First   *Result // the first trial with this verdict
	Some    int     // number of trials with this verdict
	All     int
	// Unmade reports that a trial with this verdict could not be made as it was meant.
	Unmade bool
	In     []*Instance // the findings, one instance of each Told; inconclusive ones only if there are no others
}

// Told is a finding with all the trials of a call that show it.
type Told struct {
	Finding // of the first trial
	Call    *CallView
	Number  int
	In      []*Instance
	New     int // number of new instances
}

// Instance is a finding in one trial.
type Instance struct {
	*Result
	Finding
	Told *Told
	// Place is the position of the instance in Told.In, from 1.
	Place int
}

// Named returns the frames of the trial that the finding names.
func (in *Instance) Named() (list []Frame) {
	for _, f := range in.Evidence {
		if in.Names(f.Seq) {
			list = append(list, f)
		}
	}
	return list
}

// Counts holds the number of trials by verdict.
type Counts map[Verdict]int

// NewView arranges a report.
func NewView(r *Report) *View {
	v := &View{Report: r}
	for i, c := range r.Calls {
		v.Calls = append(v.Calls, &CallView{Call: c, Place: i + 1, Counts: Counts{}, told: map[string]*Told{}})
	}
	for k := range r.Results {
		one := &r.Results[k]
		v.Calls[one.Call].add(one, r)
	}
	for _, call := range v.Calls {
		slices.SortFunc(call.Rows, func(a, b Row) int { return r.place(a.Name) - r.place(b.Name) })
		slices.SortStableFunc(call.Found, func(a, b *Told) int { return a.Before(b.Finding) })
	}
	number := 0
	for _, t := range v.Found() {
		number++
		t.Number = number
		at := slices.IndexFunc(v.Causes, func(c Cause) bool { return c.Rule == t.Rule && c.Verdict == t.Verdict })
		if at < 0 {
			at = len(v.Causes)
			v.Causes = append(v.Causes, Cause{Finding: t.Finding})
		}
		v.Causes[at].Told = append(v.Causes[at].Told, t)
	}
	for _, c := range v.Calls {
		for _, t := range c.Unclear {
			number++
			t.Number = number
		}
	}
	slices.SortStableFunc(v.Causes, func(a, b Cause) int { return a.Before(b.Finding) })
	return v
}

// place returns the index of a behaviour; -1 if the report does not have it.
func (r *Report) place(behaviour string) int {
	return slices.IndexFunc(r.Behaviours, func(b Behaviour) bool { return b.Name == behaviour })
}

// add adds a trial of the report to its cell, and its findings to equal ones of other trials.
func (c *CallView) add(one *Result, r *Report) {
	c.Counts[one.Verdict]++
	cell := new(Cell) // of no row, in a report without the behaviour or the revision
	if place, column := r.place(one.Behaviour), slices.Index(r.Revisions, one.Revision); place >= 0 && column >= 0 {
		row := slices.IndexFunc(c.Rows, func(row Row) bool { return row.Name == one.Behaviour })
		if row < 0 {
			row = len(c.Rows)
			c.Rows = append(c.Rows, Row{Behaviour: r.Behaviours[place], Cells: make([]Cell, len(r.Revisions))})
		}
		c.Rows[row].Results = append(c.Rows[row].Results, one)
		cell = &c.Rows[row].Cells[column]
	}
	cell.All++
	if cell.First == nil || one.Verdict.Rank() < cell.Verdict.Rank() {
		cell.Verdict, cell.First, cell.Some, cell.Unmade = one.Verdict, one, 0, false
		cell.In = slices.DeleteFunc(cell.In, func(in *Instance) bool { return !in.Told.Verdict.Defect() })
	}
	if one.Verdict == cell.Verdict {
		cell.Some++
		cell.Unmade = cell.Unmade || one.Verdict == Inconclusive && slices.ContainsFunc(one.Findings, func(f Finding) bool { return f.Rule == RuleNotTried })
	}
	for _, f := range one.Findings {
		text := incidental().ReplaceAllLiteralString(f.Text, "")
		if f.Rule == RuleInvalidContent {
			text = "" // one validation is missing, whatever got through
		}
		key := strings.Join([]string{f.Rule, string(f.Verdict), text}, "\n")
		told := c.told[key]
		if told == nil {
			told = &Told{Finding: f, Call: c}
			c.told[key] = told
			if f.Verdict.Defect() {
				c.Found = append(c.Found, told)
			} else {
				c.Unclear = append(c.Unclear, told)
			}
		}
		told.In = append(told.In, &Instance{Result: one, Finding: f, Told: told, Place: len(told.In) + 1})
		if f.New {
			told.New++
		}
		if (f.Verdict.Defect() || f.Verdict == cell.Verdict) && !slices.ContainsFunc(cell.In, func(in *Instance) bool { return in.Told == told }) {
			cell.In = append(cell.In, told.In[len(told.In)-1])
		}
	}
}

// Frame returns the first frame of the first finding with the verdict of the trial; 0 if
// there is none.
func (r *Result) Frame() int64 {
	for _, f := range r.Findings {
		if f.Verdict == r.Verdict && len(f.Frames) > 0 {
			return f.Frames[0]
		}
	}
	return 0
}

// incidental matches the parts of a finding's text that differ between trials: what the
// client sent, in parentheses, how it refused, ids, and what the server sent, in quotes
// after a colon.
var incidental = lazy.Regexp(`frames? \d+|\b[\d.]+ (ms|s|min|h)\b| \([^()]*\)|[Tt]he client (declined|cancelled|answered|left|had not).*?, and (the result|a witness)|\bthe id \S+|: "(?:[^"\\]|\\.)*"`)

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

// Found returns the fails and warnings of all calls, call by call.
func (v *View) Found() (list []*Told) {
	for _, c := range v.Calls {
		list = append(list, c.Found...)
	}
	return list
}

// String lists the counts: "2 fail, 1 warn, 40 pass".
func (c Counts) String() string {
	var words []string
	for _, v := range Verdicts() {
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

// Verdict returns the most severe verdict of the row's cells, and reports whether a trial
// could not be made as it was meant.
func (r *Row) Verdict() (worst Verdict, unmade bool) {
	worst = Pass
	for _, c := range r.Cells {
		if c.All > 0 && c.Verdict.Rank() < worst.Rank() {
			worst = c.Verdict
		}
		unmade = unmade || c.Unmade
	}
	return worst, unmade
}

// Mark is the text of a cell: the verdict, a dash if the trial is inconclusive by its
// nature, a question mark if it could not be made, or "" without trials. See [Legend].
func (c Cell) Mark() string {
	switch {
	case c.Verdict != Inconclusive:
		return string(c.Verdict)
	case c.Unmade:
		return "?"
	}
	return "–"
}

// Legend explains the marks of cells.
const Legend = "– no frame can show whether the server did right; ? the trial could not be made as it was meant; empty: not tried."

// Where lists the calls of a cause: "tool order, tool pay (12 trials)".
func (c Cause) Where() string {
	const shown = 5
	var calls []string
	trials := 0
	for _, t := range c.Told {
		trials += len(t.In)
		if name := string(t.Call.Kind) + " " + t.Call.Key; len(calls) <= shown && !slices.Contains(calls, name) {
			calls = append(calls, name)
		}
	}
	if len(calls) > shown {
		calls[shown] = "others"
	}
	return fmt.Sprintf("%s (%s)", strings.Join(calls, ", "), wording.Plural(trials, "trial"))
}

// Sentence tells a problem, and what to do about it.
func Sentence(p Problem) string {
	return wording.Join(": ", wording.Join(", ", append([]string{p.Call}, p.Revisions...)...), p.Text+" "+p.Do)
}

// Words name a trial: "wrong-type, question 2, field size, 2025-11-25".
func (t Trial) Words() string {
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
	switch fails, warns := counts[Fail], counts[Warn]; {
	case counts.All() == 0:
		return "Nothing was judged."
	case fails > 0 && warns > 0:
		return fmt.Sprintf("Of %s, %d failed and %d more ended with a warning.", all, fails, warns)
	case fails > 0:
		return fmt.Sprintf("Of %s, %d failed.", all, fails)
	case warns > 0:
		return fmt.Sprintf("Of %s, none failed and %d ended with a warning.", all, warns)
	}
	return fmt.Sprintf("Of %s, none failed.", all)
}
