// Package report writes the report of a probe in formats for people and for programs, and
// compares reports.
package report

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"elicitation-inspector/bridge/base/wording"
	checked "elicitation-inspector/bridge/judges/check/report"
	"elicitation-inspector/bridge/judges/probe"
	"elicitation-inspector/bridge/keep/export"
)

//go:embed report.css
var pageStyle string

// Formats are the formats of reports. None writes a character that is hidden or acts on a terminal.
var Formats = export.Formats[*probe.Report]{
	{Name: "html", Title: "HTML", Ending: ".html", Media: "text/html; charset=utf-8", Write: writeHTML},
	{Name: "markdown", Title: "Markdown", Ending: ".md", Media: "text/markdown; charset=utf-8", Write: writeMarkdown},
	{Name: "json", Title: "JSON", Ending: ".json", Media: "application/json", Write: func(w io.Writer, r *probe.Report) error { return checked.WriteIndented(w, r) }},
	{Name: "junit", Title: "JUnit", Ending: ".xml", Media: "application/xml", Write: writeJUnit},
}

// writeHTML writes a page that needs no server, network or script.
func writeHTML(w io.Writer, r *probe.Report) error {
	return export.WritePage(context.Background(), w, document(r))
}

func writeMarkdown(w io.Writer, r *probe.Report) error {
	var b strings.Builder
	for _, c := range r.Clients {
		declares := wording.Either(c.Declared != "", "It declares elicitation as "+export.Span(c.Declared), "It does not declare elicitation")
		fmt.Fprintf(&b, "# Probe of %s\n\n**%s**. Probed %s to %s UTC by elicitation-inspector %s. %s.\n", export.Span(c.Label()), c.Headline(),
			c.First.UTC().Format(minute), c.Last.UTC().Format("15:04"), r.Inspector, declares)
		for _, part := range c.Parts() {
			fmt.Fprintf(&b, "\n## %s\n\n| probe | verdict | how | frames |\n|---|---|---|---|\n", part.Group)
			for _, one := range part.Results {
				fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", one.Probe, one.Verdict, export.Cell(wording.Join(" ", one.How, one.Said(), one.Advice())), one.Numbers())
			}
		}
		b.WriteString("\n")
	}
	if len(r.Clients) == 0 {
		b.WriteString("No client has called a probe.\n")
	}
	_, err := fmt.Fprintln(wording.EscapingWriter{To: w}, b.String())
	return err
}

// minute is the layout of times in reports, which are in UTC.
const minute = "2006-01-02 15:04"

// writeJUnit writes a suite for each client: a probe that fails or works partly is a failure,
// and one that is refused openly or not seen is skipped.
func writeJUnit(w io.Writer, r *probe.Report) error {
	suites := []checked.Suite{}
	for _, c := range r.Clients {
		s := checked.Suite{Name: export.Visible(c.Label()), Properties: []checked.Property{{Name: "inspector", Value: r.Inspector}, {Name: "declared", Value: export.Visible(c.Declared)}}}
		var took time.Duration
		for _, one := range c.Results {
			took += one.Took
			message := export.Line(cmp.Or(one.How, string(one.Verdict)), 400)
			t := checked.Case{Name: one.Probe, Class: export.Visible(c.Label()), Time: checked.Seconds(one.Took)}
			switch one.Verdict {
			case probe.Fails, probe.Partly:
				t.Failure = &checked.Failure{Message: message, Type: string(one.Verdict), Text: export.Visible(wording.Join("\n", one.Title, one.Do, one.How, one.Said(), one.Advice(), "frames "+one.Numbers()))}
			case probe.Works, probe.May:
				t.Out = export.Visible(wording.Join("\n", one.How, one.Said()))
			default:
				t.Skipped = &checked.Skipped{Message: wording.Join(": ", string(one.Unseen), message)}
			}
			s.Add(t)
		}
		s.Time = checked.Seconds(took)
		suites = append(suites, s)
	}
	return checked.WriteSuites(w, suites)
}

// WriteComparison writes a table as Markdown with a row for each probe, and the clients of all
// reports as columns: first the probes in which they differ.
func WriteComparison(w io.Writer, reports ...*probe.Report) error {
	var clients []probe.Client
	for _, r := range reports {
		clients = append(clients, r.Clients...)
	}
	type row struct {
		probe   string
		cells   []probe.Result // by client; the zero Result where the revision does not have the probe
		differs bool
	}
	var rows []row
	for i, c := range clients {
		for _, one := range c.Results {
			place := slices.IndexFunc(rows, func(r row) bool { return r.probe == one.Probe })
			if place < 0 {
				place = len(rows)
				rows = append(rows, row{probe: one.Probe, cells: make([]probe.Result, len(clients))})
			}
			rows[place].cells[i] = one
		}
	}
	for i := range rows {
		var first probe.Verdict
		for _, one := range rows[i].cells {
			rows[i].differs = rows[i].differs || first != "" && one.Verdict != "" && one.Verdict != first
			first = cmp.Or(first, one.Verdict)
		}
	}
	table := probe.Table()
	order := func(r row) int {
		if i := slices.IndexFunc(table, func(p *probe.Probe) bool { return p.Name == r.probe }); i >= 0 {
			return i
		}
		return len(table)
	}
	slices.SortStableFunc(rows, func(a, b row) int {
		if a.differs == b.differs {
			return order(a) - order(b)
		}
		return map[bool]int{true: -1, false: 1}[a.differs]
	})
	var b strings.Builder
	b.WriteString("| probe |")
	for _, c := range clients {
		b.WriteString(" " + export.Cell(c.Label()) + " |")
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(clients)) + "\n")
	for _, row := range rows {
		fmt.Fprintf(&b, "| %s%s |", row.probe, wording.Either(row.differs, " **differs**", ""))
		for _, one := range row.cells {
			b.WriteString(" " + cmp.Or(string(one.Verdict), "–"))
			if one.How != "" && one.Verdict != probe.Works && one.Called() {
				b.WriteString(": " + export.Cell(wording.Shorten(one.How, 160)))
			}
			b.WriteString(" |")
		}
		b.WriteString("\n")
	}
	_, err := io.WriteString(wording.EscapingWriter{To: w}, b.String())
	return err
}
