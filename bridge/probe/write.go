package probe

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	plain "text/template"
	"time"

	"elicitation-inspector/bridge/check/report"
	"elicitation-inspector/bridge/export"
	"elicitation-inspector/bridge/rawjson"
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

var writers = map[string]func(io.Writer, *Report) error{
	"json": writeJSON, "junit": writeJUnit, "markdown": writeMarkdown, "html": writeHTML,
}

// Formats lists the names of the formats of reports.
func Formats() []string { return slices.Sorted(maps.Keys(writers)) }

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
func Write(w io.Writer, format string, r *Report) error {
	write := writers[format]
	if write == nil {
		return fmt.Errorf("unknown format %q: want one of %v", format, Formats())
	}
	if format != "html" { // which has references
		w = wording.EscapingWriter{To: w}
	}
	if err := write(w, r); err != nil {
		return fmt.Errorf("writing the report as %s: %w", format, err)
	}
	return nil
}

func writeJSON(w io.Writer, r *Report) error {
	out := json.NewEncoder(w)
	out.SetEscapeHTML(false)
	out.SetIndent("", "  ")
	return out.Encode(r)
}

// Part is a group of the results of a client.
type Part struct {
	Group   Group
	Results []Result
}

// Parts returns the results by group.
func (c *Client) Parts() (list []Part) {
	for _, r := range c.Results {
		if len(list) == 0 || list[len(list)-1].Group != r.Group {
			list = append(list, Part{Group: r.Group})
		}
		last := &list[len(list)-1]
		last.Results = append(last.Results, r)
	}
	return list
}

// Said returns the words of a person about the result, in one line.
func (r *Result) Said() string {
	var list []string
	for _, l := range r.Looks {
		if word := l.Word(); word != "" {
			list = append(list, l.Question+" A person: "+word+".")
		}
	}
	return strings.Join(list, " ")
}

// Numbers lists the frames of the result.
func (r *Result) Numbers() string {
	return strings.Join(strings.Fields(strings.Trim(fmt.Sprint(r.Frames), "[]")), ", ")
}

// Meaning describes a verdict in a few words.
func (v Verdict) Meaning() string {
	return map[Verdict]string{
		Works: "the client did what was asked", Partly: "it did a part of it, or more than it should", Fails: "it did something else, or nothing",
		Refuses: "it answered with an error, though it declares the mode", NotSeen: "no frame shows it either way", Running: "it goes on",
	}[v]
}

var markdownTemplate = sync.OnceValue(func() *plain.Template {
	return plain.Must(plain.New("").Funcs(plain.FuncMap{
		"cell": export.Cell, "span": export.Span, "verdicts": Verdicts,
		"words": func(r Result) string { return wording.Join(" ", r.How, r.Said()) },
	}).Parse(markdownText))
})

func writeMarkdown(w io.Writer, r *Report) error { return markdownTemplate().Execute(w, r) }

var pageTemplate = sync.OnceValue(func() *template.Template {
	return template.Must(export.PageTemplates().Funcs(template.FuncMap{
		"verdicts": Verdicts,
		"class":    func(v Verdict) string { return strings.Fields(string(v))[0] },
		"json":     func(s string) export.Code { return export.CodeOf(rawjson.Pretty([]byte(s)), false) },
		"arrow": func(direction string) string {
			return cmp.Or(map[string]string{"c2s": "client → server", "s2c": "server → client", "meta": "note"}[direction], direction)
		},
	}).Parse(pageText))
})

// Style is the style sheet of the page, and Policy its content security policy.
func (*Report) Style() template.CSS { return template.CSS(export.PageStyle + pageStyle) }
func (*Report) Policy() string      { return export.Policy(export.PageStyle+pageStyle, "") }

// writeHTML writes a page that needs no server, network or script.
func writeHTML(w io.Writer, r *Report) error {
	return pageTemplate().ExecuteTemplate(wording.HTMLWriter{To: w}, "probe", r)
}

// writeJUnit writes a suite for each client: a probe that fails or works partly is a failure,
// and one that is refused openly or not seen is skipped.
func writeJUnit(w io.Writer, r *Report) error {
	suites := []report.Suite{}
	for _, c := range r.Clients {
		s := report.Suite{Name: export.Visible(c.Label()), Properties: []report.Property{{Name: "inspector", Value: r.Inspector}, {Name: "declared", Value: export.Visible(c.Declared)}}}
		var took time.Duration
		for _, one := range c.Results {
			took += one.Took
			message := export.Line(cmp.Or(one.How, string(one.Verdict)), 400)
			t := report.Case{Name: one.Probe, Class: export.Visible(c.Label()), Time: report.Seconds(one.Took)}
			switch one.Verdict {
			case Fails, Partly:
				t.Failure = &report.Failure{Message: message, Type: string(one.Verdict), Text: export.Visible(wording.Join("\n", one.Title, one.Do, one.How, one.Said(), "frames "+one.Numbers()))}
			case Works:
				t.Out = export.Visible(wording.Join("\n", one.How, one.Said()))
			default:
				t.Skipped = &report.Skipped{Message: message}
			}
			s.Add(t)
		}
		s.Time = report.Seconds(took)
		suites = append(suites, s)
	}
	return report.WriteSuites(w, suites)
}

// Row is a probe in a comparison of clients.
type Row struct {
	Probe, Title string
	Cells        []Result // by client; the zero Result where the revision does not have the probe
	Differs      bool
}

// Compare returns a row for each probe, with the clients of all reports as columns: first the
// probes in which they differ.
func Compare(reports ...*Report) (clients []Client, rows []Row) {
	for _, r := range reports {
		clients = append(clients, r.Clients...)
	}
	at := map[string]int{}
	for i, c := range clients {
		for _, one := range c.Results {
			place, ok := at[one.Probe]
			if !ok {
				place = len(rows)
				at[one.Probe] = place
				rows = append(rows, Row{Probe: one.Probe, Title: one.Title, Cells: make([]Result, len(clients))})
			}
			rows[place].Cells[i] = one
		}
	}
	for i := range rows {
		var first Verdict
		for _, one := range rows[i].Cells {
			rows[i].Differs = rows[i].Differs || first != "" && one.Verdict != "" && one.Verdict != first
			first = cmp.Or(first, one.Verdict)
		}
	}
	order := func(r Row) int {
		if i := slices.IndexFunc(table, func(p *Probe) bool { return p.Name == r.Probe }); i >= 0 {
			return i
		}
		return len(table)
	}
	slices.SortStableFunc(rows, func(a, b Row) int {
		if a.Differs != b.Differs {
			return map[bool]int{true: -1, false: 1}[a.Differs]
		}
		return cmp.Compare(order(a), order(b))
	})
	return clients, rows
}

// WriteComparison writes the table of Compare as Markdown.
func WriteComparison(w io.Writer, reports ...*Report) error {
	clients, rows := Compare(reports...)
	var b strings.Builder
	b.WriteString("| probe |")
	for _, c := range clients {
		b.WriteString(" " + export.Cell(c.Label()) + " |")
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(clients)) + "\n")
	for _, row := range rows {
		fmt.Fprintf(&b, "| %s%s |", row.Probe, map[bool]string{true: " **differs**"}[row.Differs])
		for _, one := range row.Cells {
			b.WriteString(" " + cmp.Or(string(one.Verdict), "–"))
			if one.How != "" && one.Verdict != Works && one.Called() {
				b.WriteString(": " + export.Cell(wording.Shorten(one.How, 160)))
			}
			b.WriteString(" |")
		}
		b.WriteString("\n")
	}
	_, err := io.WriteString(wording.EscapingWriter{To: w}, b.String())
	return err
}
