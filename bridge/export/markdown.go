package export

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"time"

	"elicitation-inspector/bridge/conversation"
	"elicitation-inspector/bridge/elicit"
	"elicitation-inspector/bridge/elicit/link"
	"elicitation-inspector/bridge/findings"
	"elicitation-inspector/bridge/mcp"
	"elicitation-inspector/bridge/rawjson"
	"elicitation-inspector/bridge/wire"
)

// cutAt is how much of one text stands in a readable document. The transcript
// has all of it.
const cutAt = 64 << 10

// othersMost bounds the list of frames that belong to no exchange.
const othersMost = 2000

// markdown writes the session for reading: its exchanges, the questions with
// their fields as they looked, the answers and the results. Whatever was said
// on the wire stands in code, where Markdown takes it for nothing else: no
// markup, no links, no mentions.
func (x *export) markdown(w io.Writer) error {
	c, places, err := x.conversation()
	if err != nil {
		return err
	}
	said, err := x.remarks()
	if err != nil {
		return err
	}
	out := &document{bufio.NewWriter(w), said}
	about, err := x.about()
	if err != nil {
		return err
	}
	out.line("# %s", span(x.Title))
	out.line("%s", about.counts())
	for _, s := range about.sessions {
		out.item("%s, session %s, over %s: %s", span(s.Server), span(s.Name), span(s.Transport), span(s.Who))
	}
	out.line("")
	out.remarks()
	for e, err := range x.calls(c, places) {
		if err != nil {
			return err
		}
		out.exchange(e)
	}
	if err := x.others(out, c); err != nil {
		return err
	}
	return out.Flush()
}

// others lists the frames that belong to no exchange.
func (x *export) others(out *document, c *conversation.Conversation) error {
	n := 0
	for f, err := range x.frames() {
		if err != nil {
			return err
		}
		number, err := c.Of(f.Seq)
		if err != nil {
			return err
		}
		if number != 0 {
			continue
		}
		if n++; n > othersMost {
			continue
		}
		if n == 1 {
			out.line("## Other frames")
			out.WriteString("| frame | time (UTC) | | method | |\n|---:|---|---|---|---|\n")
		}
		words := f.Summary()
		if !f.Kind.IsMessage() {
			words = f.Kind.String() + ": " + words
		}
		fmt.Fprintf(out, "| %d | %s | %s | %s | %s |\n", f.Seq, clockOf(f.Time), arrowOf(f.Dir), cell(f.Method), cell(line(words, 200)))
	}
	if n > othersMost {
		out.line("")
		out.line("%s more are left out.", counted(n-othersMost, "frame"))
	}
	return nil
}

func clockOf(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("15:04:05.000")
}

func arrowOf(d wire.Direction) string {
	switch d {
	case wire.ClientToServer:
		return "client → server"
	case wire.ServerToClient:
		return "server → client"
	}
	return d.String()
}

// document writes Markdown (CommonMark 0.31, with the tables of GFM).
type document struct {
	*bufio.Writer
	said *remarks
}

// remarks writes what is found and noted of the frames.
func (d *document) remarks() {
	if counts := d.said.counts(); counts != "" {
		d.line("## Findings")
		d.line("%s", counts)
		d.findings(d.said.all)
	}
	notes := d.said.notes()
	if len(notes) == 0 {
		return
	}
	d.line("## Notes")
	for _, n := range notes {
		words := fmt.Sprintf("Frame %d", n.Seq)
		if about := n.Words(); about != "" {
			words += " (" + about + ")"
		}
		if n.Note != "" {
			words += ": " + span(n.Note)
		}
		d.item("%s", words)
	}
	d.line("")
}

// findings lists what the linter says. What it says can quote a server.
func (d *document) findings(list []findings.Found) {
	for _, f := range list {
		place := fmt.Sprintf("frame %d", f.Seq)
		if f.Pointer != "" {
			place += " at " + span(f.Pointer)
		}
		d.item("**%s** %s: %s (%s; %s)", f.Severity, span(f.Rule), span(f.Text), place, f.Reference)
	}
	if len(list) > 0 {
		d.line("")
	}
}

// line writes a paragraph or heading.
func (d *document) line(format string, args ...any) {
	fmt.Fprintf(d, format+"\n", args...)
	if format != "" {
		d.WriteByte('\n')
	}
}

func (d *document) item(format string, args ...any) { fmt.Fprintf(d, "- "+format+"\n", args...) }

// block writes code over several lines.
func (d *document) block(language, s string) {
	s, note := cut(visible(s))
	fence := strings.Repeat("`", max(3, longest(s, '`')+1))
	fmt.Fprintf(d, "%s%s\n%s\n%s\n\n", fence, language, strings.TrimSuffix(s, "\n"), fence)
	if note != "" {
		d.line("%s", note)
	}
}

// json writes JSON laid out for reading. What cannot be seen becomes an escape,
// which means the same in JSON.
func (d *document) json(raw []byte) {
	d.block("json", escaped(rawjson.Pretty(raw)))
}

// span writes a text as code within a line.
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

// cell is span in a table, where a bar must be escaped even within code.
func cell(s string) string {
	if s == "" {
		return ""
	}
	return strings.ReplaceAll(span(s), "|", `\|`)
}

// longest is the length of the longest run of c.
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

// cut is the head of a text that is too long to be shown, and a note that says
// so.
func cut(s string) (head, note string) {
	if len(s) <= cutAt {
		return s, ""
	}
	return strings.ToValidUTF8(s[:cutAt], ""), fmt.Sprintf("The first %d of %d bytes.", cutAt, len(s))
}

func (d *document) exchange(e *conversation.Call) {
	d.line("## %d. %s %s", e.Place, e.Method, span(e.Name))
	when := ""
	if !e.Start.IsZero() {
		when = ", " + e.Start.UTC().Format("2006-01-02 15:04:05.000") + " UTC"
	}
	d.line("On %s, %s%s. %s", span(e.Server), framesOf(e), when, Sentence(e))
	if !nothing(e.Arguments) {
		d.line("Arguments:")
		d.json(e.Arguments)
	}
	for i := range e.Questions {
		d.question(i+1, &e.Questions[i], d.said.of(&e.Questions[i]))
	}
	switch {
	case e.Error != nil:
		d.line("### Error")
		d.json(e.Error)
	case e.Result != nil:
		d.line("### Result")
		d.result(resultOf(e.Result))
	case e.ResultSeq != 0:
		d.line("### Result")
		d.line("Too large to be shown; see frame %d.", e.ResultSeq)
	}
}

func framesOf(e *conversation.Call) string {
	if len(e.Frames) == 0 {
		return "no frames"
	}
	first, last := e.Frames[0].Seq, e.Frames[len(e.Frames)-1].Seq
	if first == last {
		return fmt.Sprintf("frame %d", first)
	}
	return fmt.Sprintf("frames %d to %d", first, last)
}

func (d *document) question(number int, q *conversation.Question, found []findings.Found) {
	d.line("### Question %d", number)
	frames := fmt.Sprintf("Frame %d%s", q.AskedSeq, unseen(q.AskedUnseen))
	if q.AnswerSeq != 0 {
		frames += fmt.Sprintf(", %s frame %d%s", followed(q), q.AnswerSeq, unseen(q.AnswerUnseen))
	}
	if q.CompletedSeq != 0 {
		frames += fmt.Sprintf(", completed by frame %d", q.CompletedSeq)
	}
	d.line("%s %s.", strings.Join(story(q, span), " "), frames)
	d.findings(found)
	if q.AskedUnseen {
		if message := q.Message(); message != "" {
			d.block("text", message)
		}
		d.answer(q)
		return
	}
	request, inputs, err := q.Form()
	if err != nil {
		d.json(q.Params)
		d.answer(q)
		return
	}
	if request.Message != "" {
		d.block("text", request.Message)
	}
	if request.URL != "" {
		d.line("Address:")
		d.block("text", request.URL)
		for _, warning := range link.Judge(request.URL).Warnings {
			d.item("%s: %s", warning.Severity, span(warning.Text))
		}
		d.line("")
	}
	if request.Trouble != "" {
		d.line("No form can be drawn: %s", span(request.Trouble))
		d.json(request.Schema)
	}
	if fields := fieldsOf(request.Fields, inputs); len(fields) > 0 {
		d.WriteString("| field | asked for | " + column(q) + " |\n|---|---|---|\n")
		for _, f := range fields {
			d.field(&f)
		}
		d.WriteByte('\n')
	}
	d.answer(q)
}

// column is what stands over the values.
func column(q *conversation.Question) string {
	if q.Action == "accept" {
		return "answered"
	}
	return "default"
}

func (d *document) field(f *shownField) {
	name := cell(f.Label)
	if f.Label != f.Name {
		name += " " + cell(f.Name)
	}
	if f.Required {
		name += " (required)"
	}
	var asked []string
	if f.Description != "" {
		asked = append(asked, cell(f.Description))
	}
	asked = append(asked, f.Field.Kind.String())
	var titles []string
	for _, c := range f.Choices {
		titles = append(titles, cell(c.Title))
	}
	if len(titles) > 0 {
		of := "of "
		if f.Field.Kind == elicit.SingleChoice {
			of = "one of "
		}
		asked = append(asked, of+strings.Join(titles, ", "))
	}
	for _, rule := range f.Rules {
		asked = append(asked, cell(rule))
	}
	value := "–"
	if f.Value != "" {
		value = cell(f.Value)
	}
	if f.Stray {
		value += " (none of the choices)"
	}
	fmt.Fprintf(d, "| %s | %s | %s |\n", name, strings.Join(asked, "; "), value)
}

// answer writes the exact answer.
func (d *document) answer(q *conversation.Question) {
	switch {
	case q.Error != nil:
		d.line("Refused with:")
		d.json(q.Error)
	case q.Answer != nil:
		if anyway := q.Anyway(); len(anyway) > 0 {
			d.line("Sent anyway, although the answer does not satisfy the schema:")
			for _, p := range anyway {
				d.item("%s", span(p.Text))
			}
			d.line("")
		}
		d.line("What went back:")
		d.json(q.Answer)
	}
}

func (d *document) result(r shownResult) {
	for _, b := range r.Blocks {
		kind := b.Type
		if b.Role != "" {
			kind = b.Role + ", " + kind
		}
		if b.About != "" || b.Type != "text" || b.Role != "" {
			d.line("%s %s", span(kind), strings.TrimPrefix(span(b.About), "–"))
		}
		if b.Text != "" {
			d.block("text", b.Text)
		}
	}
	if r.JSON != "" {
		d.block("json", escaped(r.JSON))
	}
}

// escaped writes in JSON what cannot be seen as an escape, which is the same
// JSON.
func escaped(s string) string {
	if !strange(s) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case !hidden(r), r == '\r':
			b.WriteRune(r)
		case r > 0xffff:
			r -= 0x10000
			fmt.Fprintf(&b, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// about is what a readable document says in its head.
type about struct {
	frames      int64
	first, last time.Time
	sessions    []sessionAbout
}

type sessionAbout struct{ Server, Name, Transport, Who string }

// sessionsMost bounds how many sessions are named.
const sessionsMost = 100

// about reads what the sessions say of themselves.
func (x *export) about() (about, error) {
	a := about{frames: x.chosen}
	index := make(map[string]int)
	for f, err := range x.frames() {
		if err != nil {
			return a, err
		}
		if !f.Time.IsZero() {
			if a.first.IsZero() || f.Time.Before(a.first) {
				a.first = f.Time
			}
			if f.Time.After(a.last) {
				a.last = f.Time
			}
		}
		key := f.Server + "\x00" + f.Session
		i, ok := index[key]
		if !ok {
			if len(a.sessions) == sessionsMost {
				continue
			}
			i = len(a.sessions)
			index[key] = i
			a.sessions = append(a.sessions, sessionAbout{Server: f.Server, Name: f.Session, Transport: f.Transport})
		}
		if f.Kind == wire.Result && (f.Method == mcp.MethodInitialize || f.Method == "server/discover") {
			a.sessions[i].Who = f.Summary()
		}
	}
	return a, nil
}

// counts says how much there is, and from when to when.
func (a about) counts() string {
	words := counted(int(a.frames), "frame")
	if !a.first.IsZero() {
		words += ", from " + a.first.UTC().Format("2006-01-02 15:04:05") + " to " + a.last.UTC().Format("2006-01-02 15:04:05") + " UTC"
	}
	return words + "."
}
