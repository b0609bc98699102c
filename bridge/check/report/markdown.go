package report

import (
	_ "embed"
	"io"
	"slices"
	"sync"
	"text/template"

	"elicitation-inspector/bridge/check"
	"elicitation-inspector/bridge/export"
	"elicitation-inspector/bridge/wording"
)

//go:embed report.md.tmpl
var markdownText string

var markdownTemplate = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("").Funcs(template.FuncMap{
		"arrow":    arrow,
		"cell":     export.Cell,
		"code":     export.Fenced,
		"compared": Compared,
		"legend":   func() string { return Legend },
		"plural":   wording.Plural,
		"sentence": Sentence,
		"short":    func(s string) string { return wording.Shorten(s, 400) },
		"since":    since,
		"span":     export.Span,
		"took":     wording.Duration,
		"trial":    Trial,
	}).Parse(markdownText))
})

// writeMarkdown writes the report for a comment on a pull request. Texts of the server are
// in code, so that they cannot act as markup, links or mentions.
func writeMarkdown(w io.Writer, r *check.Report) error {
	return markdownTemplate().Execute(w, NewView(r))
}

// Telling returns the rows that say more than that all trials passed, or that no frame can
// show whether the server did right.
func (c *Call) Telling() []Row {
	return slices.DeleteFunc(c.Others(), func(r Row) bool { return r.Undecidable() })
}

// Undecidable returns the rows whose trials no frame can judge.
func (c *Call) Undecidable() []Row {
	return slices.DeleteFunc(c.Others(), func(r Row) bool { return !r.Undecidable() })
}
