package export

import (
	"bufio"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"text/template"

	"elicitation-inspector/bridge/conversation"
	"elicitation-inspector/bridge/elicit/link"
	"elicitation-inspector/bridge/rawjson"
	"elicitation-inspector/bridge/wire"
	"elicitation-inspector/bridge/wording"
)

//go:embed report.md.tmpl
var markdownText string

var markdownTemplate = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("").Funcs(template.FuncMap{
		"cell":   cell,
		"clock":  clockOf,
		"code":   fenced,
		"json":   func(raw json.RawMessage) string { return fenced("json", escaped(rawjson.Pretty(raw))) },
		"judge":  link.Judge,
		"plural": wording.Plural,
		"span":   span,
		"story":  func(q *conversation.Question) []string { return story(q, span) },
		"way":    wayOf,
	}).Parse(markdownText))
})

// markdown writes the report as Markdown (CommonMark 0.31, with the tables of GFM): the
// calls, the questions as forms, the answers and the results. Everything from the wire
// is in code blocks or spans, so that it cannot act as markup, links or mentions.
func (x *export) markdown(w io.Writer) error {
	r, err := x.report()
	if err != nil {
		return err
	}
	out := bufio.NewWriter(w)
	if err := markdownTemplate().ExecuteTemplate(out, "markdown", r); err != nil {
		return fmt.Errorf("writing the document: %w", err)
	}
	return out.Flush()
}

// others lists frames that belong to no call.
type others struct {
	First []otherFrame
	Left  int // number of further frames
}

type otherFrame struct {
	wire.Frame // without Raw and Message
	Summary    string
}

// Others lists the chosen frames that belong to no call; nil if there are none.
func (r *report) Others() (*others, error) {
	var out others
	for f, err := range r.frames() {
		if err != nil {
			return nil, err
		}
		switch {
		case r.conversation.Of(f.Seq) != 0:
			continue
		case len(out.First) == othersMost:
			out.Left++
			continue
		}
		words := f.Summary()
		if !f.Kind.IsMessage() {
			words = f.Kind.String() + ": " + words
		}
		f.Raw, f.Message = nil, wire.Message{}
		out.First = append(out.First, otherFrame{f, line(words, 200)})
	}
	if out.First == nil {
		return nil, nil
	}
	return &out, nil
}

func fenced(language, s string) string {
	s, note := cut(visible(s))
	if note != "" {
		note += "\n\n"
	}
	fence := strings.Repeat("`", max(3, longest(s, '`')+1))
	return fence + language + "\n" + strings.TrimSuffix(s, "\n") + "\n" + fence + "\n\n" + note
}

func span(s string) string {
	s = line(s, 400)
	if s == "" {
		return "–"
	}
	ticks := strings.Repeat("`", longest(s, '`')+1)
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") {
		s = " " + s + " "
	}
	return ticks + s + ticks
}

// cell is like span for a table cell, where a bar must be escaped even within code.
func cell(s string) string {
	if s == "" {
		return ""
	}
	return strings.ReplaceAll(span(s), "|", `\|`)
}

func longest(s string, c byte) int {
	most, n := 0, 0
	for i := range len(s) {
		if s[i] != c {
			n = 0
			continue
		}
		n++
		most = max(most, n)
	}
	return most
}
