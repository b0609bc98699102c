package report

import (
	_ "embed"
	"io"
	"sync"
	"text/template"

	"elicitation-inspector/bridge/check"
	"elicitation-inspector/bridge/export/paper"
	"elicitation-inspector/bridge/wording"
)

//go:embed report.md.tmpl
var markdownText string

var markdownTemplate = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("").Funcs(template.FuncMap{
		"cell":     paper.Cell,
		"code":     paper.Fenced,
		"compared": Compared,
		"plural":   wording.Plural,
		"since":    since,
		"span":     paper.Span,
		"took":     wording.Duration,
		"trial":    Trial,
	}).Parse(markdownText))
})

// writeMarkdown writes the report for a comment on a pull request. Texts of the server are
// in code, so that they cannot act as markup, links or mentions.
func writeMarkdown(w io.Writer, r *check.Report) error {
	return markdownTemplate().Execute(w, NewView(r))
}
