package export

import (
	"bufio"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
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
		"cell":   Cell,
		"clock":  clockOf,
		"code":   Fenced,
		"json":   func(raw json.RawMessage) string { return Fenced("json", wording.Escape(rawjson.Pretty(raw))) },
		"judge":  link.Judge,
		"plural": wording.Plural,
		"span":   Span,
		"story":  func(q *conversation.Question) []string { return story(q, Span) },
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
	if err := markdownTemplate().ExecuteTemplate(wording.EscapingWriter{To: out}, "markdown", r); err != nil {
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
		out.First = append(out.First, otherFrame{f, Line(words, 200)})
	}
	if out.First == nil {
		return nil, nil
	}
	return &out, nil
}
