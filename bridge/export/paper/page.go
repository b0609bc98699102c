// Package paper holds the parts that documents for people share: the style of a page, and
// functions that keep texts from others plain text in HTML and Markdown.
package paper

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"

	"elicitation-inspector/bridge/rawjson"
	"elicitation-inspector/bridge/wording"
)

// Style is the style sheet that pages begin with.
//
//go:embed page.css
var Style string

//go:embed page.html.tmpl
var parts string

// Templates returns the templates "text", for Runs, and "code", for a Code, and the
// functions of pages. A page adds its own templates and functions.
func Templates() *template.Template {
	return template.Must(template.New("").Funcs(template.FuncMap{
		"code":   CodeOf,
		"line":   Line,
		"plural": wording.Plural,
		"pretty": func(raw json.RawMessage) Code { return CodeOf(rawjson.Pretty(raw), false) },
		"runs":   Runs,
		"took":   wording.Duration,
	}).Parse(parts))
}

// Policy is the content security policy of a page that loads nothing, sends nothing,
// and has only this style sheet and script; "" for no script.
func Policy(style, script string) string {
	scripts := "'none'"
	if script != "" {
		scripts = digest(script)
	}
	return fmt.Sprintf("default-src 'none'; style-src %s; script-src %s; base-uri 'none'; form-action 'none'", digest(style), scripts)
}

func digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// Code is a text from the wire, for display.
type Code struct {
	Text []Run
	JSON bool // a script can indent it
	Note string
}

// CodeOf returns the beginning of a text for display.
func CodeOf(s string, isJSON bool) Code {
	s, note := Cut(s)
	return Code{Runs(s), isJSON && note == "", note}
}
