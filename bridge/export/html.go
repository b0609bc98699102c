package export

import (
	"bufio"
	"embed"
	"fmt"
	"html/template"
	"io"
	"strings"
	"sync"
	"time"

	"elicitation-inspector/bridge/conversation"
	"elicitation-inspector/bridge/elicit/link"
	"elicitation-inspector/bridge/export/paper"
	"elicitation-inspector/bridge/wire"
	"elicitation-inspector/bridge/wording"
)

var (
	//go:embed ladder.svg.tmpl report.html.tmpl
	templateFiles embed.FS
	//go:embed report.css
	reportStyle string
	//go:embed report.js
	reportScript string
)

var templates = sync.OnceValue(func() *template.Template {
	return template.Must(paper.Templates().Funcs(template.FuncMap{
		"add":    func(a, b int) int { return a + b },
		"sub":    func(a, b int) int { return a - b },
		"since":  since,
		"clock":  clockOf,
		"judge":  link.Judge,
		"ladder": func(l *Ladder) drawing { return drawing{Ladder: l, Href: frameLink} },
		"pairs":  pairs,
		"story": func(q *conversation.Question) []string {
			return story(q, func(s string) string { return paper.Line(s, 200) })
		},
		"way": wayOf,
	}).ParseFS(templateFiles, "*.tmpl"))
})

var (
	reportLook   = paper.Style + reportStyle + LadderStyle
	reportPolicy = paper.Policy(reportLook, reportScript)
)

func (*report) Policy() string      { return reportPolicy }
func (*report) Style() template.CSS { return template.CSS(reportLook) }
func (*report) Script() template.JS { return template.JS(reportScript) }
func frameLink(seq int64) string    { return fmt.Sprintf("#f%d", seq) }

// html writes one page that shows the log without a server or a network. Everything
// from the wire is plain text in it.
func (x *export) html(w io.Writer) error {
	r, err := x.report()
	if err == nil {
		err = x.readSignIns()
	}
	if err != nil {
		return err
	}
	left := max(0, len(r.Places)-drawnMost)
	r.Places = r.Places[:len(r.Places)-left]
	if left > 0 {
		r.Trouble = fmt.Sprintf("%s more are left out of the list of exchanges. Export a part of the log to see them.", wording.Plural(left, "exchange"))
	}
	r.None = len(r.Places)+len(r.signIns) == 0
	if err := r.plan(); err != nil {
		return err
	}
	out := bufio.NewWriterSize(w, 64<<10)
	if err := templates().ExecuteTemplate(out, "report", r); err != nil {
		return fmt.Errorf("writing the page: %w", err)
	}
	return out.Flush()
}

// Mood returns the CSS class for the call's state.
func (c *reportCall) Mood() string {
	switch c.State {
	case conversation.Failed, conversation.ToolFailed:
		return "bad"
	case conversation.Running, conversation.Waiting:
		return "wait"
	case conversation.Stopped:
		return "declined"
	}
	return ""
}

// Arrow returns an arrow in the direction of the frame, or "·".
func (f *reportFrame) Arrow() string {
	switch f.Dir {
	case wire.ClientToServer:
		return "→"
	case wire.ServerToClient:
		return "←"
	}
	return "·"
}

// IsJSON reports whether the frame's bytes are complete JSON.
func (f *reportFrame) IsJSON() bool { return f.Kind.IsMessage() && !f.Truncated }

// PairWords describes the frame's pair, "" if it has none.
func (f *reportFrame) PairWords() string {
	switch {
	case f.Pair == 0:
		return ""
	case f.Kind == wire.Request:
		return fmt.Sprintf("answered by frame %d", f.Pair)
	}
	return fmt.Sprintf("answers frame %d", f.Pair)
}

// Facts lists the frame's fields apart from its bytes.
func (f *reportFrame) Facts() string {
	var facts []string
	fact := func(words string, is bool) {
		if is {
			facts = append(facts, paper.Line(words, 200))
		}
	}
	fact(f.Kind.String(), true)
	fact(wayOf(f.Dir), f.Dir == wire.ClientToServer || f.Dir == wire.ServerToClient)
	fact(f.Time.UTC().Format(time.RFC3339Nano), !f.Time.IsZero())
	fact("server "+f.Server, f.Server != "")
	fact("session "+f.Session, f.Session != "")
	fact("on "+f.Stream.String(), f.Stream != wire.StreamNone)
	fact(fmt.Sprintf("HTTP %d", f.Status), f.Status != 0)
	fact(fmt.Sprintf("call %d", f.Call), f.Call != 0)
	fact(fmt.Sprintf("round %d", f.Round), f.Round != 0)
	fact(fmt.Sprintf("question %d", f.Question), f.Question != 0)
	fact("by "+f.Actor, f.Actor != "" && f.Fault == "")
	fact("deliberate: "+f.Fault, f.Fault != "")
	fact("id used before", f.Duplicate && f.Kind == wire.Request)
	fact("the request was answered before", f.Duplicate && f.Kind.IsResponse())
	fact("answers no request", f.Orphan)
	fact("only the head was kept", f.Truncated)
	fact("secrets left out", f.Redacted)
	return strings.Join(facts, " · ")
}
