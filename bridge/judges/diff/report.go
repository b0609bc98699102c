package diff

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/judges/check/report"
	"elicitation-inspector/bridge/judges/sarif"
	"elicitation-inspector/bridge/keep/export"
)

// Formats are the formats of a comparison.
var Formats = export.Formats[*Report]{
	{Name: "text", Write: writeText},
	{Name: "json", Write: func(w io.Writer, r *Report) error { return report.WriteIndented(w, r) }, Ending: ".json"},
	{Name: "markdown", Write: writeMarkdown, Ending: ".md"},
	{Name: "junit", Write: writeJUnit, Ending: ".xml"},
	{Name: "sarif", Write: writeSARIF, Ending: ".sarif"},
	{Name: "html", Write: writeHTML, Ending: ".html"},
}

// Became says how a value changed: "was 3, and is 5". One of both may be nil.
func Became(old, now json.RawMessage) string {
	switch {
	case old == nil:
		return "is new: " + briefly(now)
	case now == nil:
		return "is gone: " + briefly(old)
	}
	if a, b := rawjson.Text(old), rawjson.Text(now); a != "" && b != "" {
		a, b = apart(a, b)
		return "was " + wording.Quoted(a) + ", and is " + wording.Quoted(b)
	}
	return "was " + briefly(old) + ", and is " + briefly(now)
}

func briefly(raw json.RawMessage) string {
	return wording.EscapeLine(wording.Shorten(string(rawjson.AppendCompact(nil, raw)), 80))
}

// apart returns those parts of two long texts where they differ, with a few words around them.
func apart(a, b string) (string, string) {
	const shown, around = 70, 25
	x, y := []rune(wording.Head(a, wording.TextMost)), []rune(wording.Head(b, wording.TextMost))
	same := 0
	for same < len(x) && same < len(y) && x[same] == y[same] {
		same++
	}
	cut := func(text []rune) string {
		if len(text) <= shown || same <= around {
			return string(text)
		}
		return "…" + string(text[same-around:])
	}
	return cut(x), cut(y)
}

// about names the call and the question that a difference was found in, else the server.
func (d *Difference) about() string {
	question := ""
	if d.Question != "" {
		question = wording.Quoted(d.Question)
	}
	about := wording.Join(", ", d.Call, question)
	if about == "" {
		about = d.Server
	}
	return about
}

// places names the frames of a difference: "frame 16 of old.jsonl, frame 12 of new.jsonl".
func (d *Difference) places(r *Report) string {
	place := func(file string, frame, line int64) string {
		switch {
		case frame == 0:
			return ""
		case line == 0:
			return fmt.Sprintf("frame %d of %s", frame, file)
		}
		return fmt.Sprintf("%s:%d", file, line)
	}
	return wording.Join(", ", place(r.Old, d.OldFrame, d.OldLine), place(r.New, d.NewFrame, d.NewLine))
}

// Sum sums a comparison up: "1 of consent, 2 of contract, none of content; 12 calls compared".
func (r *Report) Sum() string {
	compared := wording.Plural(r.Calls, "call") + " compared"
	if len(r.Differences) == 0 {
		return "no differences; " + compared
	}
	counts := r.Counts()
	var parts []string
	for m := Consent; m <= Content; m++ {
		if counts[m] > 0 {
			parts = append(parts, fmt.Sprintf("%d of %s", counts[m], m))
		}
	}
	return wording.Plural(len(r.Differences), "difference") + ": " + strings.Join(parts, ", ") + "; " + compared
}

func writeText(w io.Writer, r *Report) error {
	var b strings.Builder
	for i := range r.Differences {
		d := &r.Differences[i]
		fmt.Fprintf(&b, "%s: %s: %s [%s]\n", d.Matter, d.about(), wording.EscapeLine(d.Text), d.Kind)
		if places := d.places(r); places != "" {
			fmt.Fprintf(&b, "    %s\n", wording.EscapeLine(places))
		}
	}
	b.WriteString(r.Sum() + "\n")
	_, err := io.WriteString(wording.EscapingWriter{To: w}, b.String())
	return err
}

func writeMarkdown(w io.Writer, r *Report) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s and %s compared\n\n%s.\n", export.Span(r.Old), export.Span(r.New), wording.Capital(r.Sum()))
	matter := Matter(-1)
	for i := range r.Differences {
		d := &r.Differences[i]
		if d.Matter != matter {
			matter = d.Matter
			fmt.Fprintf(&b, "\n## %s\n\n| what | difference | kind | frames |\n|---|---|---|---|\n", wording.Capital(matter.String()))
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", export.Cell(d.about()), export.Cell(d.Text), d.Kind, export.Cell(d.places(r)))
	}
	_, err := io.WriteString(wording.EscapingWriter{To: w}, b.String())
	return err
}

// writeJUnit writes a failed test case for each difference of consent or contract. Those of content
// pass, and say in their output what differs.
func writeJUnit(w io.Writer, r *Report) error {
	suite := report.Suite{Name: export.Visible(r.Old + " and " + r.New), Time: report.Seconds(0)}
	suite.Properties = []report.Property{{Name: "inspector", Value: r.Inspector}, {Name: "calls", Value: fmt.Sprint(r.Calls)}}
	for i := range r.Differences {
		d := &r.Differences[i]
		one := report.Case{Name: export.Visible(d.about() + ": " + string(d.Kind)), Class: suite.Name, Time: report.Seconds(0)}
		text := export.Visible(d.Text + "\n" + d.places(r))
		if d.Matter == Content {
			one.Out = text
		} else {
			one.Failure = &report.Failure{Message: export.Line(d.Text, 400), Type: string(d.Kind), Text: text}
		}
		suite.Add(one)
	}
	if len(r.Differences) == 0 {
		suite.Add(report.Case{Name: "no differences", Class: suite.Name, Time: report.Seconds(0)})
	}
	return report.WriteSuites(w, []report.Suite{suite})
}

func writeSARIF(w io.Writer, r *Report) error {
	run := sarif.New(r.Inspector)
	for _, k := range Kinds {
		run.AddRule(string(k.ID), k.Says, "")
	}
	for i := range r.Differences {
		d := &r.Differences[i]
		file, line := r.New, d.NewLine
		if d.NewFrame == 0 {
			file, line = r.Old, d.OldLine
		}
		location := sarif.Location{Physical: sarif.At(sarif.FileURI(file), int(line))}
		if d.Pointer != "" {
			location.Logical = []sarif.Logical{{Name: d.Pointer}}
		}
		run.Results = append(run.Results, sarif.Result{
			RuleID: string(d.Kind), Level: [...]string{"error", "error", "warning"}[d.Matter],
			Message: sarif.Text{Text: d.about() + ": " + d.Text}, Locations: []sarif.Location{location},
			Properties: map[string]any{"matter": d.Matter, "oldFrame": d.OldFrame, "newFrame": d.NewFrame},
		})
	}
	return report.WriteIndented(w, run.File())
}
