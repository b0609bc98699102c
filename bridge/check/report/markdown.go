package report

import (
	_ "embed"
	"io"
	"slices"
	"sync"
	"text/template"

	"elicitation-inspector/bridge/export"
	"elicitation-inspector/bridge/wording"
)

//go:embed report.md.tmpl
var markdownText string

var markdownTemplate = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("").Funcs(template.FuncMap{
		"arrow":    export.DirectionWords,
		"cell":     export.Cell,
		"code":     export.Fenced,
		"compared": Compared,
		"legend":   func() string { return Legend },
		"plural":   wording.Plural,
		"sentence": Sentence,
		"short":    func(s string) string { return wording.Shorten(s, 1000) },
		"since":    since,
		"span":     export.Span,
		"took":     wording.Duration,
		"trial":    Trial.Words,
	}).Parse(markdownText))
})

// writeMarkdown writes the report for a comment on a pull request. Texts of the server are
// in code, so that they cannot act as markup, links or mentions.
func writeMarkdown(w io.Writer, r *Report) error {
	return markdownTemplate().Execute(w, NewView(r))
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

// Blamed returns the rows with a fail or a warning.
func (c *CallView) Blamed() []Row {
	return c.rows(func(v Verdict, _ bool) bool { return v.Defect() })
}

// Undecidable returns the rows without a fail or a warning in which no frame can show
// whether the server did right.
func (c *CallView) Undecidable() []Row {
	return c.rows(func(v Verdict, unmade bool) bool { return v == Inconclusive && !unmade })
}

// Unmade returns the rows without a fail or a warning in which a trial could not be made as
// it was meant.
func (c *CallView) Unmade() []Row {
	return c.rows(func(v Verdict, unmade bool) bool { return v == Inconclusive && unmade })
}

func (c *CallView) rows(of func(v Verdict, unmade bool) bool) []Row {
	return slices.DeleteFunc(slices.Clone(c.Rows), func(r Row) bool { return !of(r.Verdict()) })
}
