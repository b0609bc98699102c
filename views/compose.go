package views

import (
	"cmp"
	"slices"
	"strconv"
	"unicode/utf16"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/keep/export"
	"elicitation-inspector/bridge/meaning/elicit"
	"elicitation-inspector/bridge/meaning/elicit/link"
	"elicitation-inspector/bridge/meaning/lint"
	"elicitation-inspector/views/forms"
)

// Composer is the data of the page Compose, apart from the draft and what is drawn of it.
type Composer struct {
	Version, Theme string
	Groups         []SampleGroup
}

// SampleGroup is a group of questions to begin with.
type SampleGroup struct {
	Name    string
	Samples []string // by name
}

// Draft is a question that a person writes, as far as it can be read.
type Draft struct {
	Text     string
	Problem  string          // why there is no question in the text; "" if there is
	Place    string          // of the problem, for people; "" if it has none
	At       string          // the same place, see [Span]
	Line     int             // of the problem; 0 if it has none
	Request  *elicit.Request // nil if there is a problem
	Address  *link.Verdict   // of a question in URL mode
	Form     forms.Form
	Revision string // by which the linter judges
	Findings []lint.Finding
	SDK      export.SDK
	Code     string
	NotAsked string // why the question cannot be put to the demo server; "" if it can
}

// DraftID is the prefix of the element ids of the draft's form.
const DraftID = "draft"

// Span returns the place of a part of a text, as a browser counts: "from to". Without a part it is
// the place at its end.
func Span(text string, from, to int) string {
	from, to = min(from, len(text)), min(to, len(text))
	start := units(text[:from])
	return strconv.Itoa(start) + " " + strconv.Itoa(start+units(text[from:to]))
}

func units(text string) (n int) {
	for _, r := range text {
		n += utf16.RuneLen(r)
	}
	return n
}

// SpanOf returns the place of the value that a JSON pointer leads to; "" if there is none.
func SpanOf(text, pointer string) string {
	from, to := rawjson.Place([]byte(text), pointer)
	if pointer == "" || from == to {
		return ""
	}
	return Span(text, from, to)
}

// isRevision reports whether the linter judges by this revision.
func (d Draft) isRevision(r string) bool { return cmp.Or(d.Revision, mcp.Revision20251125) == r }

// saidFindings says how many findings there are.
func (d Draft) saidFindings() string {
	return cmp.Or(lint.TallyOf(d.Findings).Words(), "Nothing found")
}

// fieldsSaid says how many fields the form has, or why there is no form.
func (d Draft) fieldsSaid() string {
	if d.Request == nil {
		return ""
	}
	if d.Request.Trouble != "" {
		return d.Request.Trouble
	}
	return wording.Count(len(d.Request.Fields), "field", "fields")
}

// fits reports whether the checked answer has no problems.
func (d Draft) fits() bool {
	return len(d.Form.Problems) == 0 && !slices.ContainsFunc(d.Form.Fields, func(f forms.Field) bool { return len(f.Problems) > 0 })
}
