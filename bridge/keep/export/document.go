// Package export writes a log, or a part of it, in formats for other programs and for
// people, and draws calls as ladders.
package export

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"time"

	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/keep/otlp"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/meaning/elicit"
	"elicitation-inspector/bridge/meaning/lint"
	"elicitation-inspector/bridge/wire"
	"elicitation-inspector/bridge/wire/query"
	"elicitation-inspector/bridge/wire/redact"
)

// DocumentFormat is a format of a log.
type DocumentFormat = Format[*export]

// The formats of a log.
var (
	JSONL    = &DocumentFormat{Name: "jsonl", Title: "JSON Lines", Ending: ".jsonl", Media: "application/x-ndjson; charset=utf-8", Write: writeJSONL, For: "a transcript, which the inspector can open again"}
	JSON     = &DocumentFormat{Name: "json", Title: "JSON", Ending: ".json", Media: "application/json", Write: writeJSON, For: "the same as one array"}
	HAR      = &DocumentFormat{Name: "har", Title: "HAR", Ending: ".har", Media: "application/json", Write: writeHAR, OverHTTP: true, For: "what went over HTTP, for the developer tools of browsers"}
	Markdown = &DocumentFormat{Name: "markdown", Title: "Markdown", Ending: ".md", Media: "text/plain; charset=utf-8", Write: writeMarkdown, For: "a report for reading"}
	Mermaid  = &DocumentFormat{Name: "mermaid", Title: "Mermaid", Ending: ".mmd", Media: "text/plain; charset=utf-8", Write: writeMermaid, For: "a sequence diagram as text"}
	HTML     = &DocumentFormat{Name: "html", Title: "HTML", Ending: ".html", Media: "text/html; charset=utf-8", Write: writeHTML, For: "a single page that opens offline, to attach to a bug report"}

	OTLP = &DocumentFormat{Name: "otlp", Title: "OTLP", Ending: ".otlp.json", Media: "application/json", Write: writeOTLP, For: "spans of OpenTelemetry as OTLP/JSON, for what shows traces"}

	Documents = Formats[*export]{HTML, Markdown, JSONL, JSON, HAR, Mermaid, OTLP}
)

// errNoHTTP is the error of a HAR export of a log without frames over HTTP.
var errNoHTTP = errors.New("there are no frames of an HTTP connection, and HAR is for those")

// Document is a log, or a selection of its frames, to be written in a format.
type Document struct {
	Log     *wire.Log
	Seqs    iter.Seq[int64]   // the chosen frames; nil means all frames in the log at the time of Write
	Redact  *redact.Redaction // redacts the frames; nil means the default
	Title   string            // title in a few words; "" means what the function Title says
	Version string            // version of the inspector, which writes it
	Content bool              // spans have arguments, answers and results, too
}

// Write writes the chosen frames in a format. Redaction also applies where questions
// and answers are shown as forms. Nothing of other frames is written, except the names
// of calls and servers that they contain; see [conversation.Reading].
func (d Document) Write(ctx context.Context, w io.Writer, f *DocumentFormat) error {
	if d.Redact == nil {
		d.Redact, _ = redact.New() // not nil, so that Learn can show it the log
	}
	if err := d.Redact.Learn(ctx, d.Log); err != nil {
		return err
	}
	d.Title = d.Redact.Text(d.Title)
	x := &export{Document: d, ctx: ctx}
	x.choose()
	return f.Write(w, x)
}

// WithQuestions returns the frames that a filter selects, and of each question with a selected
// frame what asks it and what answers it, with the other halves of both exchanges: it is a
// question with its answer where they are opened.
func WithQuestions(ctx context.Context, l *wire.Log, talk *conversation.Conversation, picked *query.View) ([]int64, error) {
	seqs := slices.Collect(picked.All())
	if picked.Len() == l.Len() {
		return seqs, nil
	}
	if err := talk.Update(ctx); err != nil {
		return nil, err
	}
	has := func(seq int64) bool { _, in := picked.Index(seq); return in }
	for _, place := range talk.Places(has) {
		call, err := talk.Call(ctx, place, conversation.Reading{})
		if err != nil {
			return nil, err
		}
		for _, q := range call.Questions {
			if of := []int64{q.AskedSeq, q.AnswerSeq, q.SaidSeq, q.CompletedSeq}; slices.ContainsFunc(of, has) {
				seqs = append(append(seqs, of...), l.Head(q.AskedSeq).Pair, l.Head(q.AnswerSeq).Pair)
			}
		}
	}
	slices.Sort(seqs)
	return slices.DeleteFunc(slices.Compact(seqs), func(seq int64) bool { return seq == 0 }), nil // 0 is no frame
}

type export struct {
	Document
	ctx context.Context

	last   int64
	set    []uint64 // bit seq is set if the frame is chosen; nil means all frames up to last
	chosen int64    // number of chosen frames

	conversation *conversation.Conversation
	Places       []int // places of the calls with a chosen frame
	signIns      []*signIn
	signedIn     map[int64]string // id of the sign-in of a frame
}

func (x *export) choose() {
	x.last = x.Log.Len()
	if x.Seqs == nil {
		x.chosen = x.last
		return
	}
	x.set = make([]uint64, x.last/64+1)
	for seq := range x.Seqs {
		if seq >= 1 && seq <= x.last && x.set[seq/64]>>(seq%64)&1 == 0 {
			x.set[seq/64] |= 1 << (seq % 64)
			x.chosen++
		}
	}
}

func (x *export) has(seq int64) bool {
	return seq >= 1 && seq <= x.last && (x.set == nil || x.set[seq/64]>>(seq%64)&1 != 0)
}

// Chosen yields the numbers of the chosen frames, in order.
func (x *export) Chosen() iter.Seq[int64] {
	return func(yield func(int64) bool) {
		for seq := int64(1); seq <= x.last; seq++ {
			if x.has(seq) && !yield(seq) {
				return
			}
		}
	}
}

func (x *export) frame(seq int64) (wire.Frame, error) {
	f, err := x.Log.Frame(seq)
	return *x.Redact.Frame(&f), err
}

// frames yields the chosen frames with their bytes, redacted. It stops after the first
// error.
func (x *export) frames() iter.Seq2[wire.Frame, error] {
	return func(yield func(wire.Frame, error) bool) {
		for seq := range x.Chosen() {
			f, err := x.frame(seq)
			if err == nil {
				err = x.ctx.Err()
			}
			if !yield(f, err) || err != nil {
				return
			}
		}
	}
}

// follow finds the calls in the log, and sets Places to those with at least one chosen
// frame.
func (x *export) follow() error {
	x.conversation = conversation.New(x.Log)
	if err := x.conversation.Update(x.ctx); err != nil {
		return err
	}
	x.Places = x.conversation.Places(x.has)
	if x.Title != "" {
		return nil
	}
	first := int64(0)
	for first = range x.Chosen() {
		break
	}
	var err error
	x.Title, err = Title(x.ctx, x.conversation, x.Log, x.Redact, first, x.has)
	return err
}

func (x *export) call(place int) (*conversation.Call, error) {
	return x.conversation.Call(x.ctx, place, conversation.Reading{Redact: x.Redact, Only: x.has})
}

// nameOf returns what people read for the server with this label.
func (x *export) nameOf(label string) string {
	return x.Redact.TextOf(label, x.conversation.NameOf(label))
}

// said holds the members that the JSON export adds to a transcript's line.
type said struct {
	Findings []lint.Finding `json:"findings,omitempty"`
	Anyway   []sentAnyway   `json:"sent_anyway,omitempty"`
	Mark     *mark          `json:"mark,omitempty"`
}

// sentAnyway is one problem of an answer that was sent despite it. Pointer is a JSON
// pointer into the message.
type sentAnyway struct {
	Pointer string `json:"pointer"`
	Text    string `json:"text"`
}

// writeJSONL writes the frames as a transcript, and after them the marks that no frame stores.
func writeJSONL(w io.Writer, x *export) error {
	if err := wire.WriteFrames(w, x.Log, x.Chosen(), x.Redact); err != nil {
		return err
	}
	return x.Log.WriteMarks(w, x.has)
}

// writeJSON writes the frames as a JSON array, one per line. Each is the object of a
// transcript's line with the members of said added.
func writeJSON(w io.Writer, x *export) error {
	remarks, err := x.remarks()
	if err != nil {
		return err
	}
	anyway, err := x.anyway()
	if err != nil {
		return err
	}
	before, end := "[\n", "[]\n"
	err = wire.EachLine(x.Log, x.Chosen(), x.Redact, func(seq int64, line []byte) error {
		more := said{Anyway: anyway[seq]}
		for _, f := range remarks.found[seq] {
			more.Findings = append(more.Findings, f.Finding)
		}
		if m := x.mark(seq); m != (mark{Seq: seq}) {
			more.Mark = &m
		}
		members, err := rawjson.Encode(more)
		if err != nil {
			return fmt.Errorf("writing what is said of frame %d: %w", seq, err)
		}
		object := bytes.TrimRight(line, " \t\r")
		if string(members) != "{}" {
			object = slices.Concat(object[:len(object)-1], []byte(","), members[1:])
		}
		_, err = fmt.Fprintf(wording.EscapingWriter{To: w}, "%s%s", before, wording.EscapeJSON(object))
		before, end = ",\n", "\n]\n"
		return err
	})
	if err == nil {
		_, err = io.WriteString(w, end)
	}
	return err
}

// writeOTLP writes the spans of calls and questions with a chosen frame.
func writeOTLP(w io.Writer, x *export) error {
	return otlp.Write(x.ctx, w, x.Log, otlp.Options{Redact: x.Redact, Content: x.Content, Only: x.has}, x.Version)
}

// anyway returns the problems of answers that were sent despite them, by the frame of
// the answer.
func (x *export) anyway() (map[int64][]sentAnyway, error) {
	if err := x.follow(); err != nil {
		return nil, err
	}
	out := make(map[int64][]sentAnyway)
	if _, questions := x.conversation.Counts(); questions == 0 {
		return out, nil
	}
	for _, place := range x.Places {
		call, err := x.call(place)
		if err != nil {
			return nil, err
		}
		for _, q := range call.Questions {
			base := "/result/content"
			if q.Via == elicit.InRound {
				base = rawjson.PointerTo("/params/inputResponses", q.Key) + "/content"
			}
			for _, p := range q.SchemaProblems() {
				out[q.AnswerSeq] = append(out[q.AnswerSeq], sentAnyway{base + p.Pointer, p.Text})
			}
		}
	}
	return out, nil
}

// titledMost is how many calls Title reads for their names and for what was answered.
const titledMost = 20

// Title says what the chosen frames of a log are, as a person would: "deploy, asked twice,
// accepted". Where they belong to no call, it names their server and the day of the frame
// first, in UTC. A nil only chooses all frames.
func Title(ctx context.Context, c *conversation.Conversation, log *wire.Log, redaction *redact.Redaction, first int64, only func(seq int64) bool) (string, error) {
	var names, answers []string
	add := func(to *[]string, word string) {
		if !slices.Contains(*to, word) {
			*to = append(*to, word)
		}
	}
	places := c.Places(only)
	for _, place := range places[:min(len(places), titledMost)] {
		call, err := c.Call(ctx, place, conversation.Reading{Redact: redaction, Only: only})
		if err != nil {
			return "", err
		}
		add(&names, cmp.Or(call.Name, call.Method))
		for _, q := range call.Questions {
			add(&answers, cmp.Or(settlings[q.Action], q.State.String()))
		}
	}
	what := wording.Series(names)
	switch {
	case len(places) == 0 && first >= 1 && first <= log.Len():
		what = Heading("frames", []string{c.NameOf(log.Head(first).Server)}, 0, log.Head(first).Time)
	case len(places) > titledMost:
		what, answers = wording.Plural(len(places), "call"), nil
	case len(places) > len(names):
		what = wording.Plural(len(places), "call") + " of " + what
	}
	_, all := c.Counts()
	questions := 0
	for number := 1; number <= all; number++ {
		if seq, _ := c.FrameOfQuestion(number); seq != 0 && (only == nil || only(seq)) {
			questions++
		}
	}
	asked := []string{"", "asked once", "asked twice", "asked " + wording.Grouped(int64(questions)) + " times"}[min(questions, 3)]
	return redaction.Text(Line(wording.Join(", ", what, asked, wording.Series(answers)), 160)), nil
}

var settlings = map[string]string{"accept": "accepted", "decline": "declined", "cancel": "cancelled"}

// Heading joins what something is, its servers, how many questions it has, and its date in
// UTC; it leaves out what is none or zero.
func Heading(what string, servers []string, questions int, date time.Time) string {
	if strings.Join(servers, "") != "" {
		what += " on " + strings.Join(servers[:min(len(servers), 3)], ", ")
	}
	if questions > 0 {
		what += ", " + wording.Plural(questions, "question")
	}
	if !date.IsZero() {
		what += ", " + date.UTC().Format(time.DateOnly)
	}
	return Line(what, 160)
}

// FileName returns a title as the name of a file, which every file system and every shell
// takes, with an extension that begins with a dot: "deploy-on-demo-2-questions-2026-11-23.html".
func FileName(title, extension string) string {
	words := strings.FieldsFunc(title, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '.')
	})
	name := strings.Trim(strings.Join(words, "-"), ".-")
	return fmt.Sprintf("%.100s%s", cmp.Or(name, "session"), extension)
}
