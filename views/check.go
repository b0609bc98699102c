package views

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/judges/check/report"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/views/markup"
)

// CheckPlan describes what a check will do, so that the person can decide to start it.
type CheckPlan struct {
	Item      Item
	Where     string   // how each trial reaches the server, as a clause
	Arguments string   // the arguments of each call, as JSON; "" for none
	MadeUp    string   // why Arguments differ from those of the form; "" if they do not
	Answers   string   // name of the loaded script; "" for none
	Problems  []string // why no check can be started
	Key       string   // what a trial calls; for a template, the expanded URI
	Kinds     int      // number of behaviours
	Only      string   // the behaviours to try, separated by commas; "" for all
	Revision  string   // the only revision to try; "" for all
	Before    int      // number of trials of the previous check
}

// Check is the state of a check.
type Check struct {
	report.Live
	Item     Item
	Groups   []CheckGroup
	Findings []CheckFinding // with verdict fail or warn, the gravest first
	Counts   report.Counts
}

// CheckGroup is a group of rows of the matrix.
type CheckGroup struct {
	Check int
	Title string
	Rows  []CheckRow
}

// CheckRow is one behaviour in the matrix of a check.
type CheckRow struct {
	report.Row
	Check     int
	Revisions []string // of the cells
}

// CheckTrial is one trial of a check.
type CheckTrial struct {
	*report.Result
	Check int
	Title string // of the behaviour
}

// CheckFinding is one finding of a trial.
type CheckFinding struct {
	report.Finding
	Trial CheckTrial
	Place int // index among the findings of the trial
}

// ID is the id of the element with the check of an item.
func checkID(server string, kind conversation.Kind, key string) string {
	return "check-of-" + markup.Digest(strings.Join([]string{server, string(kind), key}, "\n"))
}

// ID is the id of the element with the check.
func (c Check) ID() string { return checkID(c.Item.Server, c.Item.Kind, c.Item.Key) }

func part(number int, part string) string { return "check-" + strconv.Itoa(number) + "-" + part }

// PartID is the id of an element that is pushed by itself: "head", "progress", "body" with
// the matrix, "columns", which the groups follow, "found", "findings".
func (c Check) PartID(name string) string { return part(c.Number, name) }

// ID is the id of the group's element.
func (g CheckGroup) ID() string { return part(g.Check, "group-"+markup.Digest(g.Title)) }

// TitleID is the id of the row with the group's title. The group's rows follow it.
func (g CheckGroup) TitleID() string { return g.ID() + "-title" }

// ID is the id of the row's element.
func (r CheckRow) ID() string { return part(r.Check, r.Name) }

// Trials lists the trials of the row: those in the newest revision come first.
func (r CheckRow) Trials() (list []CheckTrial) {
	for _, one := range r.Results {
		list = append(list, CheckTrial{one, r.Check, r.Title})
	}
	slices.SortStableFunc(list, func(a, b CheckTrial) int {
		return cmp.Or(cmp.Compare(b.Revision, a.Revision), cmp.Compare(a.Question, b.Question), cmp.Compare(a.Field, b.Field))
	})
	return list
}

// version changes when a trial of the row changes.
func (r CheckRow) version() (sum int) {
	for _, one := range r.Results {
		sum += one.Version
	}
	return sum
}

// name is the accessible name of a cell: the behaviour, the revision, and the verdict.
func (r CheckRow) name(cell int) string {
	return r.Name + ", " + r.Revisions[cell] + ": " + string(r.Cells[cell].Verdict)
}

// ID is the id of the finding's element.
func (f CheckFinding) ID() string {
	return part(f.Trial.Check, fmt.Sprintf("finding-%d-%d-%s", f.Trial.Number, f.Place, f.Verdict))
}

// share returns how many of the trials have the cell's verdict.
func share(c report.Cell) string {
	if c.Some == c.All {
		return "all " + strconv.Itoa(c.All)
	}
	return strconv.Itoa(c.Some) + " of " + strconv.Itoa(c.All)
}

// Exchange returns the path of the page with a trial's frames, at one frame if it is not 0.
func (t CheckTrial) Exchange(frame int64) string {
	at := fmt.Sprintf("/checks/%d/trials/%d", t.Check, t.Number)
	if frame > 0 {
		at += "#f" + strconv.FormatInt(frame, 10)
	}
	return at
}

func (c Check) path(what string) string { return "/checks/" + strconv.Itoa(c.Number) + "/" + what }

// of describes a trial by everything except its behaviour.
func (t CheckTrial) of() string {
	question, field := "", ""
	if t.Question > 0 {
		question = "question " + strconv.Itoa(t.Question)
	}
	if t.Field != "" {
		field = "field " + markup.Brief(t.Field)
	}
	return wording.Join(" · ", t.Revision, question, field)
}

func (c Check) title() string {
	if c.Item.Title == c.Item.Name {
		return ""
	}
	return markup.Brief(c.Item.Title)
}

func (p CheckPlan) withWhat() string {
	if p.MadeUp != "" {
		return "with arguments made up from its schema:"
	}
	return "with the arguments in the form:"
}

func (c Check) doneWords() string {
	if c.Progress.Total == 0 {
		return "Connecting"
	}
	return strconv.Itoa(c.Progress.Done) + " of " + strconv.Itoa(c.Progress.Total) + " trials"
}

// leftWords describes the estimated remaining time of a check.
func (c Check) leftWords() string {
	switch s := int(c.Progress.Left.Round(time.Second).Seconds()); {
	case s == 0:
		return ""
	case s < 60:
		return "about " + wording.Count(s, "second", "seconds") + " left"
	default:
		return "about " + wording.Count((s+59)/60, "minute", "minutes") + " left"
	}
}

// summary says how many trials were made, and how long that took.
func (c Check) summary() string {
	var took time.Duration
	if c.Report != nil {
		took = c.Report.Took
	}
	return wording.Count(c.Counts.All(), "trial", "trials") + " in " + wording.Duration(took)
}

// remark says why a check has no report or an incomplete one; "" if its report is
// complete.
func (c Check) remark() string {
	switch {
	case c.Err != nil:
		return "There is no report: " + c.Err.Error() + "."
	case c.Report == nil:
	case len(c.Report.Skipped) > 0:
		return "It was not called. " + c.Report.Skipped[0].Why
	case len(c.Report.Silent) > 0 && len(c.Results) == 0:
		return "It asked nothing in any revision, so there is nothing to judge."
	case c.Report.Stopped == "interrupted":
		return "It was stopped. This is what was found until then."
	case c.Report.Stopped != "":
		return wording.Sentence(c.Report.Stopped)
	}
	return ""
}

func (c Check) foundWords() string {
	switch n := len(c.Findings); {
	case n > 0:
		return wording.Count(n, "finding", "findings")
	case c.State == report.Over:
		return "No findings"
	}
	return "No findings so far"
}
