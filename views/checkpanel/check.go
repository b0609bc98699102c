// Package checkpanel draws checks: what one will do, how far it is, and what it found.
package checkpanel

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"elicitation-inspector/bridge/catalog"
	"elicitation-inspector/bridge/wording"
	"elicitation-inspector/views"
	"elicitation-inspector/views/markup"
)

// Plan is what a check will do, for the person to start it.
type Plan struct {
	Item      views.Item
	Where     string   // how its server is reached in each trial, as a clause
	Arguments string   // the JSON that it is called with; "" for none
	MadeUp    string   // why these are not those of the form
	Answers   string   // name of the script that the page has loaded; "" for none
	Problems  []string // why it cannot be called
	Key       string   // what is called: for a template the URI that it comes to
	Kinds     int      // of behaviours
	Before    int      // trials of the check before
}

// Check is a check as it stands.
type Check struct {
	Number      int
	Item        views.Item
	State       string // running, stopping or over
	Server      string // name and version
	Arguments   string
	Revisions   []string // columns of the matrix
	Done, Total int      // trials
	Left        time.Duration
	Now         string // the trial that was begun last
	Groups      []Group
	Findings    []Finding      // that are a verdict, the gravest first
	Counts      map[string]int // trials by verdict
	Took        time.Duration
	Remark      string // why there is no report, or less than there could be
	Reported    bool
}

// Group is a group of rows of the matrix.
type Group struct {
	Check int
	Place int // among all groups
	Title string
	Rows  []Row
}

// Row is a behaviour in the matrix.
type Row struct {
	Check   int
	Name    string
	Title   string
	Version int // another one when there is more to say of it
	Cells   []Cell
}

// Cell says how the trials of a behaviour in a revision went: the worst of them.
type Cell struct {
	Check     int
	Behaviour string
	Revision  string
	Verdict   string // "" for no trial so far
	Trials    int
	Worst     int   // how many of them came to the verdict
	Trial     int   // number of the first of these
	Frame     int64 // that shows it; 0 for none
}

// Finding is something wrong that a trial has shown.
type Finding struct {
	Trial     Trial
	Place     int // among those of the trial
	Verdict   string
	Rule      string
	Text      string
	Reference string
	Frames    []int64
}

// Trial is one trial.
type Trial struct {
	Check     int
	Number    int
	Behaviour string // title
	Name      string
	Revision  string
	Question  int
	Field     string
	Verdict   string
	Outcome   string
	Took      time.Duration
	Findings  []Finding
	Reproduce string
	Kept      bool // its transcript is there
}

// ID is the element in which the check of a thing is drawn.
func ID(server string, kind catalog.Kind, key string) string {
	return "check-of-" + markup.Digest(strings.Join([]string{server, string(kind), key}, "\n"))
}

// ID is the element of the check.
func (c Check) ID() string { return ID(c.Item.Server, c.Item.Kind, c.Item.Key) }

func part(number int, part string) string { return "check-" + strconv.Itoa(number) + "-" + part }

// The elements that are pushed one by one.

// HeadID is the element of what can be done with the check.
func (c Check) HeadID() string { return part(c.Number, "head") }

// ProgressID is the element that says how far the check is.
func (c Check) ProgressID() string { return part(c.Number, "progress") }

// BodyID is the element of the matrix.
func (c Check) BodyID() string { return part(c.Number, "body") }

// ColumnsID is the element of the names of the columns, after which the groups come.
func (c Check) ColumnsID() string { return part(c.Number, "columns") }

// FoundID is the element of the count of the findings.
func (c Check) FoundID() string { return part(c.Number, "found") }

// FindingsID is the element of the list of findings.
func (c Check) FindingsID() string { return part(c.Number, "findings") }

// ID is the element of the group.
func (g Group) ID() string { return part(g.Check, "group-"+strconv.Itoa(g.Place)) }

// TitleID is the element of the group's title, after which the rows come.
func (g Group) TitleID() string { return g.ID() + "-title" }

// ID is the element of the row.
func (r Row) ID() string { return part(r.Check, r.Name) }

// NameID is the element of the row's name.
func (r Row) NameID() string { return r.ID() + "-name" }

// ID is the element of the cell.
func (c Cell) ID() string { return part(c.Check, c.Behaviour+"-"+c.Revision) }

// ID is the element of the finding.
func (f Finding) ID() string {
	return part(f.Trial.Check, fmt.Sprintf("finding-%d-%d-%s", f.Trial.Number, f.Place, f.Verdict))
}

// share says how many of the trials came to the verdict.
func (c Cell) share() string {
	if c.Worst == c.Trials {
		return "all " + strconv.Itoa(c.Trials)
	}
	return strconv.Itoa(c.Worst) + " of " + strconv.Itoa(c.Trials)
}

func (c Cell) name() string { return c.Behaviour + ", " + c.Revision + ": " + c.Verdict }

// exchange is the address of the page that shows a trial, at a frame.
func exchange(check, trial int, frame int64) string {
	at := fmt.Sprintf("/checks/%d/trials/%d", check, trial)
	if frame > 0 {
		at += "#f" + strconv.FormatInt(frame, 10)
	}
	return at
}

func (c Check) path(what string) string { return "/checks/" + strconv.Itoa(c.Number) + "/" + what }

// of names a trial in words, beside its behaviour.
func (t Trial) of() string {
	question, field := "", ""
	if t.Question > 0 {
		question = "question " + strconv.Itoa(t.Question)
	}
	if t.Field != "" {
		field = "field " + markup.Brief(t.Field)
	}
	return wording.Join(" · ", t.Revision, question, field)
}

// title is what the checked thing calls itself beside its name.
func (c Check) title() string {
	if c.Item.Title == c.Item.Name {
		return ""
	}
	return markup.Brief(c.Item.Title)
}

// withWhat says where the arguments come from.
func (p Plan) withWhat() string {
	if p.MadeUp != "" {
		return "with arguments made up from its schema:"
	}
	return "with the arguments in the form:"
}

// doneWords says how many trials are done.
func (c Check) doneWords() string {
	if c.Total == 0 {
		return "Connecting"
	}
	return strconv.Itoa(c.Done) + " of " + strconv.Itoa(c.Total) + " trials"
}

// leftWords says how long a check still takes, about.
func (c Check) leftWords() string {
	switch s := int(c.Left.Round(time.Second).Seconds()); {
	case c.Left == 0:
		return ""
	case s < 60:
		return "about " + wording.Count(max(s, 1), "second", "seconds") + " left"
	default:
		return "about " + wording.Count((s+59)/60, "minute", "minutes") + " left"
	}
}

// summary counts the trials.
func (c Check) summary() string {
	var counts []string
	for _, verdict := range []string{"fail", "warn", "inconclusive", "pass"} {
		if n := c.Counts[verdict]; n > 0 {
			counts = append(counts, strconv.Itoa(n)+" "+verdict)
		}
	}
	trials := 0
	for _, n := range c.Counts {
		trials += n
	}
	return wording.Join(": ", wording.Count(trials, "trial", "trials")+" in "+wording.Lasted(c.Took), strings.Join(counts, ", "))
}

// foundWords counts the findings.
func (c Check) foundWords() string {
	switch n := len(c.Findings); {
	case n > 0:
		return wording.Count(n, "finding", "findings")
	case c.State == "over":
		return "No findings"
	}
	return "No findings so far"
}
