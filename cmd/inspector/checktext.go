package main

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"text/tabwriter"

	"elicitation-inspector/bridge/check"
	"elicitation-inspector/bridge/wording"
)

// marks are what cells of the matrix say.
var marks = map[check.Verdict]string{check.Pass: "ok", check.Inconclusive: "?", check.Warn: "warn", check.Fail: "FAIL"}

// gravity are the verdicts, the gravest first.
var gravity = []check.Verdict{check.Fail, check.Warn, check.Inconclusive, check.Pass}

// checkText prints a report as a matrix for each call, and what was found.
func checkText(w io.Writer, r *check.Report) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s (%s), checked in %s\n", plainText(r.Server), plainText(r.Target), wording.Duration(r.Took))
	if r.Stopped != "" {
		fmt.Fprintf(&b, "The check did not come to its end: %s\n", plainText(r.Stopped))
	}
	for i, c := range r.Calls {
		fmt.Fprintf(&b, "\n%s %s\n", c.Kind, plainText(c.Key))
		matrix(&b, r, i)
		found(&b, r, i)
	}
	for _, c := range r.Silent {
		fmt.Fprintf(&b, "\n%s %s asks nothing", c.Kind, plainText(c.Key))
	}
	for _, s := range r.Skipped {
		fmt.Fprintf(&b, "\n%s %s was not checked: %s", s.Kind, plainText(s.Key), plainText(s.Why))
	}
	counts := map[check.Verdict]int{}
	for _, one := range r.Results {
		counts[one.Verdict]++
	}
	fmt.Fprintf(&b, "\n%s: %d pass, %d warn, %d fail, %d inconclusive\n",
		wording.Plural(len(r.Results), "trial"), counts[check.Pass], counts[check.Warn], counts[check.Fail], counts[check.Inconclusive])
	_, err := io.WriteString(w, b.String())
	return err
}

// matrix prints behaviours by revisions. A cell that stands for several trials has the
// gravest verdict, and how many of them have it.
func matrix(w io.Writer, r *check.Report, call int) {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(table, "  \t%s\t\n", strings.Join(r.Revisions, "\t"))
	for _, b := range r.Behaviours {
		cells := make([]string, len(r.Revisions))
		any := false
		for i, revision := range r.Revisions {
			counts, all := map[check.Verdict]int{}, 0
			for _, one := range r.Results {
				if one.Call == call && one.Behaviour == b.Name && one.Revision == revision {
					counts[one.Verdict]++
					all++
				}
			}
			cells[i] = "-"
			for _, v := range gravity {
				if n := counts[v]; n > 0 {
					cells[i], any = marks[v], true
					if all > 1 {
						cells[i] += fmt.Sprintf(" %d/%d", n, all)
					}
					break
				}
			}
		}
		if any {
			fmt.Fprintf(table, "  %s\t%s\t\n", b.Name, strings.Join(cells, "\t"))
		}
	}
	_ = table.Flush() // a strings.Builder takes all
}

// told is a finding with the trials that have it.
type told struct {
	check.Finding
	in []*check.Result
}

// numbersIn are what differs between texts that say the same: times, ids and dates.
var numbersIn = regexp.MustCompile(`[0-9][0-9.:TZ-]*( m?s\b)?`)

func (t *told) alike(f check.Finding) bool {
	return t.Rule == f.Rule && numbersIn.ReplaceAllString(t.Text, "#") == numbersIn.ReplaceAllString(f.Text, "#")
}

// found prints what was found in a call. What was found alike in several trials is told
// once, with all of them.
func found(w io.Writer, r *check.Report, call int) {
	for _, verdict := range gravity {
		var list []*told
		for i := range r.Results {
			one := &r.Results[i]
			for _, f := range one.Findings {
				if one.Call != call || f.Verdict != verdict {
					continue
				}
				at := slices.IndexFunc(list, func(t *told) bool { return t.alike(f) })
				if at < 0 {
					at = len(list)
					list = append(list, &told{Finding: f})
				}
				list[at].in = append(list[at].in, one)
			}
		}
		for _, t := range list {
			t.print(w)
		}
	}
}

func (t *told) print(w io.Writer) {
	fmt.Fprintf(w, "\n  %s [%s] %s\n", marks[t.Verdict], t.Rule, plainText(t.Text))
	if t.Reference != "" {
		fmt.Fprintf(w, "    %s\n", plainText(t.Reference))
	}
	const most = 6
	var trials []string
	for _, one := range t.in {
		trials = append(trials, plainText(trialName(one)))
	}
	if more := len(trials) - most; more > 1 {
		trials = append(trials[:most], fmt.Sprintf("%d more", more))
	}
	fmt.Fprintf(w, "    in %s\n", strings.Join(trials, "; "))
	first := t.in[0]
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

// trialName names a trial in a line.
func trialName(r *check.Result) string {
	text := r.Behaviour
	if r.Field != "" {
		text += " " + r.Field
	}
	if r.Question > 1 {
		text += fmt.Sprintf(" of question %d", r.Question)
	}
	return text + " (" + r.Revision + ")"
}
