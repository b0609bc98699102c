package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/judges/check/report"
	"elicitation-inspector/bridge/wire/redact"

	"github.com/mattn/go-isatty"
)

// marks holds the marks that have other words in a text.
var marks = map[string]string{"pass": "ok", "fail": "FAIL"}

// checkText prints a report for people: for each call a matrix, and the findings.
func checkText(w io.Writer, r *report.Report) error {
	v := report.NewView(r)
	var b strings.Builder
	if r.Target != "" {
		fmt.Fprintf(&b, "%s (%s), checked in %s\n", wording.EscapeLine(r.Server), wording.EscapeLine(r.Target), wording.Duration(r.Took))
	}
	if r.Stopped != "" {
		fmt.Fprintf(&b, "The check is not complete: %s\n", wording.EscapeLine(r.Stopped))
	}
	fmt.Fprintf(&b, "%s\n", v.Headline())
	for _, p := range r.Problems {
		fmt.Fprintf(&b, "  not judged: %s\n", wording.EscapeLine(report.Sentence(p)))
	}
	for _, c := range v.Causes {
		fmt.Fprintf(&b, "  %s, %s: %s In %s.\n", c.Verdict, c.Concern(), wording.EscapeLine(c.Harm()), wording.EscapeLine(c.Where()))
	}
	for _, c := range v.Calls {
		fmt.Fprintf(&b, "\n%s %s\n", c.Kind, wording.EscapeLine(c.Key))
		matrix(&b, r, c)
		for _, t := range slices.Concat(c.Found, c.Unclear) {
			found(&b, t)
		}
	}
	for i, c := range r.Silent {
		b.WriteString(map[bool]string{true: "\nasked nothing: ", false: ", "}[i == 0])
		b.WriteString(wording.EscapeLine(c.Key))
	}
	if len(r.Silent) > 0 {
		b.WriteString("\n")
	}
	for _, s := range r.Skipped {
		fmt.Fprintf(&b, "%s %s was not checked: %s\n", s.Kind, wording.EscapeLine(s.Key), wording.EscapeLine(s.Why))
	}
	if text := report.Compared(r.Baseline); text != "" {
		fmt.Fprintf(&b, "\nsince %s: %s\n", r.Baseline.Began.Format("2006-01-02 15:04"), text)
		for _, past := range r.Baseline.Mended {
			fmt.Fprintf(&b, "  mended: %s %s, %s (%s): [%s] %s\n",
				past.Kind, wording.EscapeLine(past.Key), past.Behaviour, past.Revision, past.Rule, wording.EscapeLine(past.Text))
		}
	}
	counts := v.Counts()
	made := ""
	if r.Made > counts.All() {
		made = fmt.Sprintf(" (%d made)", r.Made)
	}
	fmt.Fprintf(&b, "\n%s%s: %d pass, %d warn, %d fail, %d inconclusive\n", wording.Plural(counts.All(), "trial"), made,
		counts[report.Pass], counts[report.Warn], counts[report.Fail], counts[report.Inconclusive])
	_, err := io.WriteString(w, b.String())
	return err
}

// matrix prints a table of behaviours by revisions. A cell for several trials shows the
// gravest verdict, and how many of the trials have it.
func matrix(w io.Writer, r *report.Report, c *report.CallView) {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(table, "  \t%s\t\n", strings.Join(r.Revisions, "\t"))
	for _, row := range c.Rows {
		var cells []string
		for _, cell := range row.Cells {
			switch {
			case cell.All == 0:
				cells = append(cells, "")
			case cell.All == 1 || cell.Verdict == report.Inconclusive:
				cells = append(cells, cmp.Or(marks[cell.Mark()], cell.Mark()))
			default:
				cells = append(cells, fmt.Sprintf("%s %d/%d", cmp.Or(marks[cell.Mark()], cell.Mark()), cell.Some, cell.All))
			}
		}
		fmt.Fprintf(table, "  %s\t%s\t\n", row.Name, strings.Join(cells, "\t"))
	}
	_ = table.Flush() // a strings.Builder never fails
	fmt.Fprintf(w, "  (%s)\n", report.Legend)
}

// found prints one finding, with all trials that have it.
func found(w io.Writer, t *report.Told) {
	news := ""
	if t.New > 0 {
		news = " (new)"
	}
	fmt.Fprintf(w, "\n  %s%s ", cmp.Or(marks[string(t.Verdict)], string(t.Verdict)), news)
	if t.Verdict.Defect() {
		fmt.Fprintf(w, "%s: %s\n    ", t.Concern(), wording.EscapeLine(t.Harm()))
	}
	fmt.Fprintf(w, "%s\n    %s\n", wording.EscapeLine(t.Text), wording.EscapeLine(wording.Join(" ", "["+t.Rule+"]", t.Reference, t.Link)))
	const most = 6
	var trials []string
	for _, in := range t.In {
		trials = append(trials, wording.EscapeLine(in.Trial.Words()))
	}
	if more := len(trials) - most; more > 1 {
		trials = append(trials[:most], fmt.Sprintf("%d more", more))
	}
	fmt.Fprintf(w, "    in %s\n", strings.Join(trials, "; "))
	first := t.In[0]
	if len(t.Frames) > 0 {
		fmt.Fprintf(w, "    frames %s", wording.Numbers(t.Frames))
		if first.Transcript != "" {
			fmt.Fprintf(w, " of %s", wording.EscapeLine(first.Transcript))
		}
		fmt.Fprintln(w)
	}
	if t.Verdict.Defect() {
		for _, f := range first.Named() {
			fmt.Fprintf(w, "      #%d %s %s\n", f.Seq, f.Direction, wording.EscapeLine(wording.Shorten(f.Text, 300)))
		}
		fmt.Fprintf(w, "    to reproduce it:\n\n%s\n", first.Reproduce)
	}
}

// progressLine prints the progress of a check on standard error: on a terminal as one
// line that changes, elsewhere as a new line every few seconds.
type progressLine struct {
	out    io.Writer
	live   bool
	shown  int       // characters of the line on the terminal
	latest time.Time // time of the last line

	redaction *redact.Redaction
}

// toldEvery is the time between two lines of progress outside of a terminal.
const toldEvery = 5 * time.Second

func newProgressLine(out io.Writer, r *redact.Redaction) *progressLine {
	p := &progressLine{out: out, latest: time.Now(), redaction: r}
	if isTerminal(out) && os.Getenv("TERM") != "dumb" {
		p.out, p.live = exact(out), true // the line begins with a carriage return
	}
	return p
}

func isTerminal(out io.Writer) bool {
	file, ok := exact(out).(*os.File)
	return ok && isatty.IsTerminal(file.Fd())
}

// chosen prints which calls the check will make, and which it will not make.
func (p *progressLine) chosen(calls []report.Call, skipped []report.NotMade) {
	for _, c := range calls {
		arguments := ""
		if c.Arguments != nil {
			arguments = " with " + wording.Shorten(string(p.redaction.JSON(c.Arguments)), 200)
		}
		if c.MadeUp {
			arguments += " (made up)"
		}
		if c.Destructive {
			arguments += ", which is annotated with destructiveHint and allowed"
		}
		p.say("will call %s %s%s\n", c.Kind, wording.EscapeLine(c.Key), wording.EscapeLine(arguments))
	}
	for _, s := range skipped {
		p.say("will not call %s %s: %s\n", s.Kind, wording.EscapeLine(s.Key), wording.EscapeLine(s.Why))
	}
}

func (p *progressLine) say(format string, args ...any) {
	_, _ = io.WriteString(p.out, p.redaction.Text(fmt.Sprintf(format, args...)))
}

func (p *progressLine) tell(at report.Progress) {
	now := time.Now()
	if !p.live && now.Sub(p.latest) < toldEvery {
		return
	}
	p.latest = now
	left := "the time left is not known yet"
	if at.Left > 0 {
		left = "about " + wording.Duration(at.Left.Round(time.Second)) + " left"
	}
	line := fmt.Sprintf("%d of %d trials, %s", at.Done, at.Total, left)
	if at.Now != "" && at.Done < at.Total {
		line += ": " + wording.EscapeLine(p.redaction.Text(at.Now))
	}
	if !p.live {
		fmt.Fprintln(p.out, line)
		return
	}
	const most = 78
	line = wording.Shorten(line, most)
	length := len([]rune(line))
	fmt.Fprintf(p.out, "\r%s%s", line, strings.Repeat(" ", max(p.shown-length, 0)))
	p.shown = length
}

// end clears the line on the terminal.
func (p *progressLine) end() {
	if p.shown > 0 {
		fmt.Fprintf(p.out, "\r%s\r", strings.Repeat(" ", p.shown))
	}
}
