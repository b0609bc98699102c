package export

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/meaning/elicit/link"
)

// writeMarkdown writes the report as Markdown (CommonMark 0.31, with the tables of GFM): the
// calls, the questions as forms, the answers and the results. Everything from the wire
// is in code blocks or spans, so that it cannot act as markup, links or mentions.
func writeMarkdown(w io.Writer, x *export) error {
	r, err := x.report()
	if err != nil {
		return err
	}
	to := wording.EscapingWriter{To: w}
	var b strings.Builder
	r.writeHead(&b)
	for _, place := range r.Places {
		c, err := r.Call(place)
		if err != nil {
			return err
		}
		if c != nil {
			c.writeMarkdown(&b)
		}
		if _, err := io.WriteString(to, b.String()); err != nil {
			return err
		}
		b.Reset()
	}
	if err := r.writeOthers(&b); err != nil {
		return err
	}
	_, err = io.WriteString(to, b.String())
	return err
}

// writeHead writes what stands before the calls.
func (r *report) writeHead(b *strings.Builder) {
	fmt.Fprintf(b, "# %s\n\n%s Written by the %s %s.\n\n", Span(r.Title), r.Counts, wording.Product, r.Version)
	for _, s := range r.Sessions {
		way := wording.Either(s.Transport == "memory", "in process", "over "+Span(s.Transport))
		fmt.Fprintf(b, "- %s, session %s, %s%s\n", Span(r.nameOf(s.Server)), Span(s.Name), way, SpanAfter(": ", s.Who))
	}
	b.WriteString("\n")
	if found := r.Found(); found != "" {
		fmt.Fprintf(b, "## Findings\n\n%s\n\n", found)
		for _, f := range r.Findings {
			reference := wording.Either(f.Link != "", fmt.Sprintf("[%s](%s)", f.Reference, f.Link), f.Reference)
			fmt.Fprintf(b, "- **%s** %s: %s (frame %d%s; %s; %s)\n", f.Severity.Word(), Span(f.Rule), Span(f.Text), f.Seq, SpanAfter(" at ", f.Pointer), f.Judges.Words(), reference)
		}
		b.WriteString("\n")
	}
	if marks := r.Marks(); len(marks) > 0 {
		b.WriteString("## Notes\n\n")
		for _, m := range marks {
			words := wording.Either(m.Words() != "", " ("+m.Words()+")", "")
			fmt.Fprintf(b, "- Frame %d%s%s\n", m.Seq, words, SpanAfter(": ", m.Note))
		}
		b.WriteString("\n")
	}
}

func (c *reportCall) writeMarkdown(b *strings.Builder) {
	fmt.Fprintf(b, "## %d. %s %s\n\nOn %s, %s", c.Place, c.Method, Span(c.Name), Span(c.ServerName), c.Seen())
	if !c.Start.IsZero() {
		b.WriteString(c.Start.UTC().Format(", 2006-01-02 15:04:05.000 UTC"))
	}
	fmt.Fprintf(b, ". %s\n\n", sentence(c.Call, Span))
	if c.Given() {
		b.WriteString("Arguments:\n\n" + fencedJSON(c.Arguments))
	}
	for _, q := range c.Questions {
		q.writeMarkdown(b)
	}
	switch {
	case c.Error != nil:
		b.WriteString("### Error\n\n" + fencedJSON(c.Error))
	case c.Content != nil:
		b.WriteString("### Result\n\n")
		for _, block := range c.Content {
			block.writeMarkdown(b)
		}
	case c.TooLarge():
		fmt.Fprintf(b, "### Result\n\nToo large to be shown; see frame %d.\n\n", c.ResultSeq)
	}
}

func (q *question) writeMarkdown(b *strings.Builder) {
	how, end := story(q.Question, Span)
	fmt.Fprintf(b, "### Question %d\n\n%s %s Frame %d", q.Position, how, end, q.AskedSeq)
	unseen := func(is bool) string { return wording.Either(is, " (not exported)", "") }
	b.WriteString(unseen(q.AskedUnseen))
	if q.AnswerSeq != 0 {
		fmt.Fprintf(b, ", %s frame %d%s", q.Followed(), q.AnswerSeq, unseen(q.AnswerUnseen))
	}
	if q.CompletedSeq != 0 {
		fmt.Fprintf(b, ", completed by frame %d", q.CompletedSeq)
	}
	b.WriteString(".\n\n")
	if message := q.Message(); message != "" {
		b.WriteString(Fenced("text", message))
	}
	if q.Request == nil && q.Raw() {
		b.WriteString(fencedJSON(q.Params))
	}
	if q.Request != nil && q.Request.URL != "" {
		b.WriteString("Address:\n\n" + Fenced("text", q.Request.URL))
		for _, warning := range link.Judge(q.Request.URL).Warnings {
			fmt.Fprintf(b, "- %s\n", Span(warning.Text))
		}
		b.WriteString("\n")
	}
	if q.Request != nil && q.Request.Trouble != "" {
		fmt.Fprintf(b, "No form can be drawn: %s\n\n%s", Span(q.Request.Trouble), fencedJSON(q.Request.Schema))
	}
	if len(q.Fields) > 0 {
		fmt.Fprintf(b, "| field | asked for | %s |\n|---|---|---|\n", wording.Either(q.Action == "accept", "answered", "default"))
		for _, f := range q.Fields {
			f.writeMarkdown(b)
		}
		b.WriteString("\n")
	}
	switch anyway := q.SchemaProblems(); {
	case q.Error != nil:
		b.WriteString("Refused with:\n\n" + fencedJSON(q.Error))
	case q.Answer != nil:
		if len(anyway) > 0 {
			b.WriteString("Sent anyway, although the answer does not satisfy the schema:\n\n")
			for _, problem := range anyway {
				fmt.Fprintf(b, "- %s\n", Span(problem.Text))
			}
			b.WriteString("\n")
		}
		b.WriteString("What went back:\n\n" + fencedJSON(q.Answer))
	}
}

// writeMarkdown writes the row of a field: its name, what it asks for, and its value.
func (f *field) writeMarkdown(b *strings.Builder) {
	fmt.Fprintf(b, "| %s%s%s | %s%s", Cell(f.Label), wording.Either(f.Label != f.Name, " "+Cell(f.Name), ""), wording.Either(f.Required, " (required)", ""),
		wording.Either(f.Description != "", Cell(f.Description)+"; ", ""), f.Kind)
	before := wording.Either(f.Kind.Type() == rawjson.Array, "; of ", "; one of ")
	for _, c := range f.Choices {
		b.WriteString(before + Cell(c.Title))
		before = ", "
	}
	for _, rule := range f.Rules {
		b.WriteString("; " + Cell(rule))
	}
	fmt.Fprintf(b, " | %s%s |\n", cmp.Or(Cell(f.Value), "–"), wording.Either(f.Stray, " (none of the choices)", ""))
}

func (c block) writeMarkdown(b *strings.Builder) {
	if c.JSON != nil {
		b.WriteString(fencedJSON(c.JSON))
		return
	}
	if !c.Plain() {
		fmt.Fprintf(b, "%s %s\n\n", Span(wording.Join(", ", c.Role, c.Type)), SpanAfter("", c.About))
	}
	if c.Text != "" {
		b.WriteString(Fenced("text", c.Text))
	}
}

// writeOthers lists the chosen frames that belong to no call.
func (r *report) writeOthers(b *strings.Builder) error {
	listed, left := 0, 0
	for f, err := range r.frames() {
		switch {
		case err != nil:
			return err
		case r.conversation.PlaceOf(f.Seq) != 0:
			continue
		case listed == othersMost:
			left++
			continue
		case listed == 0:
			b.WriteString("## Other frames\n\n| frame | time (UTC) | | method | |\n|---:|---|---|---|---|\n")
		}
		listed++
		words := f.Summary()
		if !f.Kind.IsMessage() {
			words = f.Kind.String() + ": " + words
		}
		fmt.Fprintf(b, "| %d | %s | %s | %s | %s |\n", f.Seq, clockOf(f.Time), wayOf(f.Dir), Cell(f.Method), Cell(Line(words, 200)))
	}
	if left > 0 {
		fmt.Fprintf(b, "\n%s more are left out.\n\n", wording.Plural(left, "frame"))
	}
	return nil
}

func fencedJSON(raw json.RawMessage) string {
	return Fenced("json", wording.Escape(wording.FoldFiles(rawjson.Pretty(raw))))
}
