package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"elicitation-inspector/bridge/check"
	"elicitation-inspector/bridge/check/report"
	"elicitation-inspector/bridge/wording"
)

// marks holds the text of a cell for each verdict.
var marks = map[check.Verdict]string{check.Pass: "ok", check.Inconclusive: "?", check.Warn: "warn", check.Fail: "FAIL"}

// checkText prints a report for people: for each call a matrix, and the findings.
func checkText(w io.Writer, r *check.Report) error {
	v := report.NewView(r)
	var b strings.Builder
	fmt.Fprintf(&b, "%s (%s), checked in %s\n", plainText(r.Server), plainText(r.Target), wording.Duration(r.Took))
	if r.Stopped != "" {
		fmt.Fprintf(&b, "The check did not come to its end: %s\n", plainText(r.Stopped))
	}
	for _, c := range v.Calls {
		fmt.Fprintf(&b, "\n%s %s\n", c.Kind, plainText(c.Key))
		matrix(&b, r, c)
		for _, t := range slices.Concat(c.Found, c.Unclear) {
			found(&b, t)
		}
	}
	for _, c := range r.Silent {
		fmt.Fprintf(&b, "\n%s %s asks nothing", c.Kind, plainText(c.Key))
	}
	for _, s := range r.Skipped {
		fmt.Fprintf(&b, "\n%s %s was not checked: %s", s.Kind, plainText(s.Key), plainText(s.Why))
	}
	if text := report.Compared(r.Baseline); text != "" {
		fmt.Fprintf(&b, "\nsince %s: %s\n", r.Baseline.Began.Format("2006-01-02 15:04"), text)
		for _, past := range r.Baseline.Mended {
			fmt.Fprintf(&b, "  mended: %s %s, %s (%s): [%s] %s\n",
				past.Kind, plainText(past.Key), past.Behaviour, past.Revision, past.Rule, plainText(past.Text))
		}
	}
	counts := v.Counts()
	fmt.Fprintf(&b, "\n%s: %d pass, %d warn, %d fail, %d inconclusive\n", wording.Plural(counts.All(), "trial"),
		counts[check.Pass], counts[check.Warn], counts[check.Fail], counts[check.Inconclusive])
	_, err := io.WriteString(w, b.String())
	return err
}

// matrix prints a table of behaviours by revisions. A cell for several trials shows the
// gravest verdict, and how many of the trials have it.
func matrix(w io.Writer, r *check.Report, c *report.Call) {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(table, "  \t%s\t\n", strings.Join(r.Revisions, "\t"))
	for _, row := range c.Rows {
		var cells []string
		for _, cell := range row.Cells {
			switch {
			case cell.All == 0:
				cells = append(cells, "-")
			case cell.All == 1:
				cells = append(cells, marks[cell.Verdict])
			default:
				cells = append(cells, fmt.Sprintf("%s %d/%d", marks[cell.Verdict], cell.Some, cell.All))
			}
		}
		fmt.Fprintf(table, "  %s\t%s\t\n", row.Name, strings.Join(cells, "\t"))
	}
	_ = table.Flush() // a strings.Builder never fails
}

// found prints one finding, with all trials that have it.
func found(w io.Writer, t *report.Told) {
	news := ""
	if t.New > 0 {
		news = " (new)"
	}
	fmt.Fprintf(w, "\n  %s%s [%s] %s\n", marks[t.Verdict], news, t.Rule, plainText(t.Text))
	if t.Reference != "" {
		fmt.Fprintf(w, "    %s\n", plainText(t.Reference))
	}
	const most = 6
	var trials []string
	for _, in := range t.In {
		trials = append(trials, plainText(report.Trial(in.Trial)))
	}
	if more := len(trials) - most; more > 1 {
		trials = append(trials[:most], fmt.Sprintf("%d more", more))
	}
	fmt.Fprintf(w, "    in %s\n", strings.Join(trials, "; "))
	first := t.In[0]
	if len(t.Frames) > 0 {
		fmt.Fprintf(w, "    frames %s", numbers(t.Frames))
		if first.Transcript != "" {
			fmt.Fprintf(w, " of %s", plainText(first.Transcript))
		}
		fmt.Fprintln(w)
	}
	if t.Verdict == check.Fail || t.Verdict == check.Warn {
		for _, f := range first.Evidence {
			if slices.Contains(t.Frames, f.Seq) {
				fmt.Fprintf(w, "      #%d %s %s\n", f.Seq, f.Direction, plainText(wording.Shorten(f.Text, 300)))
			}
		}
		fmt.Fprintf(w, "    to see it again:\n\n%s\n", plainLines(first.Reproduce))
	}
}

func numbers(list []int64) string {
	var words []string
	for _, n := range list {
		words = append(words, fmt.Sprint(n))
	}
	return strings.Join(words, ", ")
}
