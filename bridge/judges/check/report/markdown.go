package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/keep/export"
)

// WriteMarkdown writes the report for a comment on a pull request. Texts of the server are
// in code, so that they cannot act as markup, links or mentions.
func WriteMarkdown(w io.Writer, r *Report) error {
	v := NewView(r)
	var b strings.Builder
	v.writeSummary(&b)
	for _, c := range v.Calls {
		c.writeMarkdown(&b, v.Revisions)
	}
	if baseline := v.Baseline; baseline != nil {
		writePast(&b, "Mended", baseline.Mended)
		writePast(&b, "Inconclusive now", baseline.Unclear)
		writePast(&b, "Not tried this time", baseline.Gone)
	}
	if len(v.Silent) > 0 {
		fmt.Fprintf(&b, "\n## Asked nothing\n\n%s.\n", each(v.Silent, len(v.Silent), ", ", Call.span))
	}
	if len(v.Skipped) > 0 {
		b.WriteString("\n## Not checked\n\n")
		for _, c := range v.Skipped {
			fmt.Fprintf(&b, "- %s: %s\n", c.span(), export.Span(c.Why))
		}
	}
	_, err := fmt.Fprintln(wording.EscapingWriter{To: w}, b.String())
	return err
}

// writeSummary writes what stands before the calls.
func (v *View) writeSummary(b *strings.Builder) {
	fmt.Fprintf(b, "# Check%s\n\n**%s**", export.SpanAfter(" of ", v.Server), v.Headline())
	if v.Baseline != nil {
		fmt.Fprintf(b, " Since %s: %s.", export.Span(since(v.Baseline)), Compared(v.Baseline))
	}
	b.WriteString("\n\n")
	if v.Stopped != "" {
		fmt.Fprintf(b, "The check is not complete: %s\n\n", export.Span(v.Stopped))
	}
	folded := len(v.Problems) > 3
	if folded {
		fmt.Fprintf(b, "<details><summary>Not judged: %d</summary>\n\n", len(v.Problems))
	}
	for _, p := range v.Problems {
		fmt.Fprintf(b, "- %s%s\n", wording.Either(folded, "", "Not judged: "), export.Span(Sentence(p)))
	}
	if folded {
		b.WriteString("\n</details>\n\n")
	}
	for _, c := range v.Causes {
		numbers := each(c.Told, 10, ", ", func(t *Told) string { return strconv.Itoa(t.Number) })
		fmt.Fprintf(b, "- **%s**, %s: %s In %s; rule %s, %s %s.\n", c.Verdict, c.Concern(), c.Finding.Harm(), export.Span(c.Where()), export.Span(c.Rule),
			wording.Either(len(c.Told) > 1, "findings", "finding"), numbers)
	}
	if len(v.Problems)+len(v.Causes) > 0 {
		b.WriteString("\n")
	}
	counts := wording.Either(len(v.Counts()) > 0, v.Counts().String()+". ", "")
	fmt.Fprintf(b, "%sChecked by elicitation-inspector %s on %s, in %s.\n", counts, v.Inspector, v.Began.UTC().Format("2006-01-02 15:04 UTC"),
		cmp.Or(strings.Join(v.Revisions, ", "), "no revision"))
}

func (c *CallView) writeMarkdown(b *strings.Builder, revisions []string) {
	fmt.Fprintf(b, "\n## %s\n", c.span())
	if blamed := c.rows(func(v Verdict, _ bool) bool { return v.Defect() }); len(blamed) > 0 {
		fmt.Fprintf(b, "\n| behaviour | %s |\n|---|%s\n", strings.Join(revisions, " | "), strings.Repeat("---|", len(revisions)))
		for _, row := range blamed {
			fmt.Fprintf(b, "| %s | %s |\n", row.Name, each(row.Cells, len(row.Cells), " | ", Cell.markdown))
		}
		b.WriteString("\nThe numbers are those of the findings. " + Legend + "\n")
	}
	names := func(rows []Row) string { return each(rows, len(rows), ", ", func(r Row) string { return r.Name }) }
	if passed := c.Passed(); len(passed) > 0 {
		fmt.Fprintf(b, "\n%s passed in every revision that has them.\n", wording.Plural(len(passed), "behaviour"))
	}
	if rows := c.rows(func(v Verdict, unmade bool) bool { return v == Inconclusive && !unmade }); len(rows) > 0 {
		fmt.Fprintf(b, "\nFor %s no frame can show whether the server did right, at least in one revision: %s.\n", wording.Plural(len(rows), "behaviour"), names(rows))
	}
	if rows := c.rows(func(v Verdict, unmade bool) bool { return v == Inconclusive && unmade }); len(rows) > 0 {
		fmt.Fprintf(b, "\n%s could not be tried as meant, at least in one revision: %s.\n", wording.Plural(len(rows), "behaviour"), names(rows))
	}
	for _, t := range c.Found {
		t.writeMarkdown(b)
	}
	if len(c.Unclear) > 0 {
		fmt.Fprintf(b, "\n<details><summary>Inconclusive: %d</summary>\n\n", len(c.Unclear))
		for _, t := range c.Unclear {
			fmt.Fprintf(b, "- %d. %s %s (%s)\n", t.Number, export.Span(t.Rule), export.Span(t.Text), wording.Plural(len(t.In), "trial"))
		}
		b.WriteString("\n</details>\n")
	}
}

func (c Cell) markdown() string {
	if c.All == 0 || !c.Verdict.Defect() {
		return c.Mark()
	}
	text := "**" + string(c.Verdict) + "**"
	for i, in := range c.In[:min(len(c.In), 5)] {
		text += wording.Either(i > 0, ", ", " ")
		if i > 0 && in.Told.Verdict != c.Verdict {
			text += string(in.Told.Verdict) + " "
		}
		text += strconv.Itoa(in.Told.Number)
	}
	text += wording.Either(len(c.In) > 5, ", …", "")
	if c.Some < c.All {
		text += fmt.Sprintf(" (%d of %d)", c.Some, c.All)
	}
	return text
}

func (t *Told) writeMarkdown(b *strings.Builder) {
	fmt.Fprintf(b, "\n### %d. %s: %s%s\n\n%s\n\n%s\n\n", t.Number, t.Verdict, t.Rule, wording.Either(t.New > 0, " **new**", ""), t.Finding.Harm(), export.Span(t.Text))
	if t.Reference != "" {
		fmt.Fprintf(b, "See %s.\n", wording.Either(t.Link != "", fmt.Sprintf("[%s](%s)", t.Reference, t.Link), export.Span(t.Reference)))
	}
	trials := each(t.In, 5, "; ", func(in *Instance) string { return export.Span(in.Words()) })
	fmt.Fprintf(b, "\nIn %s: %s\n\n", wording.Plural(len(t.In), "trial"), trials)
	first := t.In[0]
	for _, q := range first.Quoted() {
		again := wording.After(", much the same in ", wording.Numbers(q.Again))
		fmt.Fprintf(b, "- Frame %d, %s%s: %s\n", q.Seq, export.DirectionWords(q.Direction), again, export.Span(wording.Shorten(q.Text, 1000)))
	}
	fmt.Fprintf(b, "\n<details><summary>To reproduce it</summary>\n\n%s</details>\n", export.Fenced("sh", first.Reproduce))
}

func writePast(b *strings.Builder, title string, list []Past) {
	if len(list) == 0 {
		return
	}
	fmt.Fprintf(b, "\n## %s\n\n", title)
	for _, p := range list {
		question := wording.Either(p.Question != 0, fmt.Sprintf(", question %d", p.Question), "")
		fmt.Fprintf(b, "- %s %s: %s (%s %s, %s%s%s, %s)\n", p.Verdict, export.Span(p.Rule), export.Span(p.Text), p.Kind, export.Span(p.Key),
			p.Behaviour, question, export.SpanAfter(", field ", p.Field), p.Revision)
	}
}

// span names the call: "tool `deploy`".
func (c Call) span() string { return string(c.Kind) + " " + export.Span(c.Key) }

// each joins the words for the elements of a list, and ends with "…" where there are more
// than most.
func each[T any](list []T, most int, sep string, words func(T) string) string {
	var all []string
	for i, one := range list {
		if i == most {
			all = append(all, "…")
			break
		}
		all = append(all, words(one))
	}
	return strings.Join(all, sep)
}

// Quoted is a frame that a finding names, with the later ones of the same summary, which
// may have another id.
type Quoted struct {
	Frame
	Again []int64 // their sequence numbers
}

// Quoted returns the frames of the trial that the finding names, those of the
// same summary once.
func (in *Instance) Quoted() (list []*Quoted) {
	for _, f := range in.Named() {
		same := func(q *Quoted) bool { return q.Direction == f.Direction && q.Summary == f.Summary }
		if i := slices.IndexFunc(list, same); i >= 0 {
			list[i].Again = append(list[i].Again, f.Seq)
			continue
		}
		list = append(list, &Quoted{Frame: f})
	}
	return list
}

// rows returns the rows with such a verdict. unmade says that a trial could not be made as it was meant.
func (c *CallView) rows(of func(v Verdict, unmade bool) bool) []Row {
	return slices.DeleteFunc(slices.Clone(c.Rows), func(r Row) bool { return !of(r.Verdict()) })
}
