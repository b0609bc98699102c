// Package report writes the report of a probe in formats for people and for programs, and
// compares reports.
package report

import (
	"cmp"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"
	"sync"
	plain "text/template"
	"time"

	checked "elicitation-inspector/bridge/check/report"
	"elicitation-inspector/bridge/export"
	"elicitation-inspector/bridge/probe"
	"elicitation-inspector/bridge/wording"
)

var (
	//go:embed report.md.tmpl
	markdownText string
	//go:embed report.html.tmpl
	pageText string
	//go:embed report.css
	pageStyle string
)

var writers = map[string]func(io.Writer, *probe.Report) error{
	"json":     func(w io.Writer, r *probe.Report) error { return checked.WriteIndented(w, r) },
	"junit":    writeJUnit,
	"markdown": func(w io.Writer, r *probe.Report) error { return markdownTemplate().Execute(w, r) },
	// A page that needs no server, network or script.
	"html": func(w io.Writer, r *probe.Report) error {
		return pageTemplate().ExecuteTemplate(wording.HTMLWriter{To: w}, "probe", r)
	},
}

// FormatOf returns the format of a file by its ending; "" if there is none for it.
func FormatOf(path string) string {
	for ending, format := range map[string]string{".json": "json", ".xml": "junit", ".md": "markdown", ".html": "html"} {
		if strings.HasSuffix(path, ending) {
			return format
		}
	}
	return ""
}

// Write writes a report in a format, without a character that is hidden or acts on a terminal.
func Write(w io.Writer, format string, r *probe.Report) error {
	return checked.WriteWith(writers, w, format, r)
}

var markdownTemplate = sync.OnceValue(func() *plain.Template {
	return plain.Must(plain.New("").Funcs(plain.FuncMap{
		"cell": export.Cell, "span": export.Span, "verdicts": probe.Verdicts,
		"words": func(r probe.Result) string { return wording.Join(" ", r.How, r.Said()) },
	}).Parse(markdownText))
})

var pageTemplate = sync.OnceValue(func() *template.Template {
	return template.Must(export.PageTemplates(export.PageStyle+pageStyle, "").Funcs(template.FuncMap{
		"verdicts": probe.Verdicts,
		"class":    func(v probe.Verdict) string { return strings.Fields(string(v))[0] },
	}).Parse(pageText))
})

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
				t.Failure = &checked.Failure{Message: message, Type: string(one.Verdict), Text: export.Visible(wording.Join("\n", one.Title, one.Do, one.How, one.Said(), "frames "+one.Numbers()))}
			case probe.Works:
				t.Out = export.Visible(wording.Join("\n", one.How, one.Said()))
			default:
				t.Skipped = &checked.Skipped{Message: message}
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
