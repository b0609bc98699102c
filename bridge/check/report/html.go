package report

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"slices"
	"sync"

	"elicitation-inspector/bridge/export"
	"elicitation-inspector/bridge/rawjson"
	"elicitation-inspector/bridge/wording"
)

var (
	//go:embed report.html.tmpl
	pageText string
	//go:embed report.css
	pageStyle string
)

var pageTemplate = sync.OnceValue(func() *template.Template {
	return template.Must(export.PageTemplates(export.PageStyle+pageStyle, "").Funcs(template.FuncMap{
		"compared": Compared,
		"legend":   func() string { return Legend },
		"sentence": Sentence,
		"meaning":  func(v Verdict) string { return meanings[v] },
		"past":     func(title string, list []Past) past { return past{title, list} },
		"since":    since,
		"trial":    Trial.Words,
		"tried": func(p Past) Trial {
			return Trial{Behaviour: p.Behaviour, Revision: p.Revision, Question: p.Question, Field: p.Field}
		},
		"verdicts": Verdicts,
	}).Parse(pageText))
})

// evidenceMost is the largest total size in bytes of the frames in a page.
const evidenceMost = 8 << 20

type page struct {
	*View
	room int // remaining bytes for frames
}

// writeHTML writes a page that needs no server, network or script. Texts of the server are
// only text in it.
func writeHTML(w io.Writer, r *Report) error {
	return pageTemplate().ExecuteTemplate(wording.HTMLWriter{To: w}, "check", &page{NewView(r), evidenceMost})
}

var meanings = map[Verdict]string{
	Fail: "a MUST is broken, or the server ended or hung", Warn: "a SHOULD is broken",
	Inconclusive: "no frame can show it", Pass: "nothing is wrong",
}

// past holds findings of the earlier report under a title.
type past struct {
	Title string
	List  []Past
}

// part is the data of a template within the page.
type part struct {
	*page
	Call     *CallView
	Rows     []Row
	Told     *Told
	Instance *Instance
}

func (p *page) OfCall(c *CallView) part      { return part{page: p, Call: c} }
func (p *page) OfRows(list []Row) part       { return part{page: p, Rows: list} }
func (p *page) OfTold(t *Told) part          { return part{page: p, Told: t} }
func (p *page) OfInstance(in *Instance) part { return part{page: p, Instance: in} }

// Behaviour returns the behaviour of the part's instance.
func (p part) Behaviour() *Behaviour {
	if i := p.place(p.Instance.Behaviour); i >= 0 {
		return &p.Behaviours[i]
	}
	return nil
}

// Frames returns the evidence of the part's instance; nil if the page has no room left for
// it.
func (p part) Frames() []Frame {
	size := 0
	for _, f := range p.Instance.Evidence {
		size += len(f.Text)
	}
	if size > p.room {
		return nil
	}
	p.room -= size
	return p.Instance.Evidence
}

// Names reports whether the finding names a frame.
func (in *Instance) Names(seq int64) bool { return slices.Contains(in.Frames, seq) }

// ID returns the id of the instance's HTML element.
func (in *Instance) ID() string { return fmt.Sprintf("f%d-%d", in.Told.Number, in.Place) }

// Given returns the arguments of the call; nil if there are none.
func (c *CallView) Given() json.RawMessage {
	for range rawjson.Members(c.Arguments) {
		return c.Arguments
	}
	return nil
}

// Passed returns the rows in which all trials passed.
func (c *CallView) Passed() []Row {
	return c.rows(func(v Verdict, _ bool) bool { return v == Pass })
}

// Others returns the rows with a trial that did not pass.
func (c *CallView) Others() []Row {
	return c.rows(func(v Verdict, _ bool) bool { return v != Pass })
}
