// Package export writes a log, or a part of it, in formats that other programs
// open and that people read, and draws calls as ladders.
package export

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"

	"elicitation-inspector/bridge/conversation"
	"elicitation-inspector/bridge/elicit"
	"elicitation-inspector/bridge/wire"
)

// Format is a format in which a log can be written.
type Format string

// The formats.
const (
	JSONL    Format = "jsonl"    // a transcript, which can be opened again
	JSON     Format = "json"     // the lines of a transcript as one array
	HAR      Format = "har"      // HTTP Archive 1.2 of the HTTP part, for browsers' developer tools
	Markdown Format = "markdown" // the session for reading
	Mermaid  Format = "mermaid"  // a sequence diagram as text
	HTML     Format = "html"     // one page that needs no server, to attach to a bug report
)

// Formats lists the formats.
func Formats() []Format { return []Format{JSONL, JSON, HAR, Markdown, Mermaid, HTML} }

// ParseFormat finds a format by its name.
func ParseFormat(name string) (Format, error) {
	if f := Format(name); slices.Contains(Formats(), f) {
		return f, nil
	}
	var names []string
	for _, f := range Formats() {
		names = append(names, string(f))
	}
	return "", fmt.Errorf("unknown format %q: want %s", name, strings.Join(names, ", "))
}

// Extension is that of files in the format, with its dot.
func (f Format) Extension() string {
	switch f {
	case Markdown:
		return ".md"
	case Mermaid:
		return ".mmd"
	}
	return "." + string(f)
}

// MediaType is that of files in the format, for an HTTP Content-Type header.
func (f Format) MediaType() string {
	switch f {
	case JSONL:
		return "application/jsonl; charset=utf-8"
	case JSON, HAR:
		return "application/json"
	case Markdown:
		return "text/markdown; charset=utf-8"
	case HTML:
		return "text/html; charset=utf-8"
	}
	return "text/plain; charset=utf-8"
}

// ErrNoHTTP is why there is no HAR of a log without frames of an HTTP
// connection.
var ErrNoHTTP = errors.New("there are no frames of an HTTP connection, and HAR is for those")

// Document is a log, or a choice of its frames, to be written in some format.
type Document struct {
	Log     *wire.Log
	Seqs    iter.Seq[int64] // the frames; nil means all that are in the log at the time
	Redact  *wire.Redaction // what is left out; nil means the default
	Title   string          // what it is, in a few words
	Tool    string          // who writes it: "elicitation-inspector"
	Version string          // of the tool
}

// Write writes the frames. What is left out by redaction is left out everywhere,
// also where questions and answers are shown as they looked. Of frames that are
// not chosen nothing is written but what gives the others their names; see
// [conversation.Reading].
func (d Document) Write(ctx context.Context, w io.Writer, f Format) error {
	if d.Redact == nil {
		d.Redact, _ = wire.NewRedaction() // the default, which sees all frames
	}
	if err := d.Redact.Learn(ctx, d.Log); err != nil {
		return err
	}
	d.Title = d.Redact.Text(d.Title)
	if d.Title == "" {
		d.Title = "Wire log"
	}
	x := &export{Document: d, ctx: ctx}
	x.choose()
	switch f {
	case JSONL:
		return wire.WriteFrames(w, d.Log, x.seqs(), d.Redact)
	case JSON:
		return x.json(w)
	case HAR:
		return x.har(w)
	case Markdown:
		return x.markdown(w)
	case Mermaid:
		return x.mermaid(w)
	case HTML:
		return x.html(w)
	}
	return fmt.Errorf("unknown format %q", f)
}

// export is a document that is being written.
type export struct {
	Document
	ctx context.Context

	last   int64
	set    []uint64 // bit seq: the frame is chosen; nil means all up to last
	chosen int64    // how many are
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

// has reports whether a frame is chosen.
func (x *export) has(seq int64) bool {
	if seq < 1 || seq > x.last {
		return false
	}
	return x.set == nil || x.set[seq/64]>>(seq%64)&1 != 0
}

// seqs are the chosen frames in order.
func (x *export) seqs() iter.Seq[int64] {
	return func(yield func(int64) bool) {
		for seq := int64(1); seq <= x.last; seq++ {
			if x.has(seq) && !yield(seq) {
				return
			}
		}
	}
}

// frame is a frame as it may be shown.
func (x *export) frame(seq int64) (wire.Frame, error) {
	f, err := x.Log.Frame(seq)
	return conversation.Redacted(f, x.Redact), err
}

// frames are the chosen frames with their bytes, redacted. The error is the
// last of what it gives.
func (x *export) frames() iter.Seq2[wire.Frame, error] {
	return func(yield func(wire.Frame, error) bool) {
		for seq := range x.seqs() {
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

// conversation finds the calls in the log, and where those are that at least one
// chosen frame began or is part of.
func (x *export) conversation() (*conversation.Conversation, []int, error) {
	c := conversation.New(x.Log)
	if err := c.Update(x.ctx); err != nil {
		return nil, nil, err
	}
	return c, c.Places(x.has), nil
}

// calls reads calls.
func (x *export) calls(c *conversation.Conversation, places []int) iter.Seq2[*conversation.Call, error] {
	how := conversation.Reading{Redact: x.Redact, Only: x.has}
	return func(yield func(*conversation.Call, error) bool) {
		for _, place := range places {
			call, err := c.Call(x.ctx, place, how)
			if err == nil && len(call.Frames) == 0 {
				continue
			}
			if !yield(call, err) || err != nil {
				return
			}
		}
	}
}

// json writes the frames as an array of what would be the lines of a transcript,
// one a line, with what is said of the frame as further members.
func (x *export) json(w io.Writer) error {
	said, err := x.remarks()
	if err != nil {
		return err
	}
	anyway, err := x.anyway()
	if err != nil {
		return err
	}
	before := "[\n"
	for chunk := range x.chunks() {
		var lines bytes.Buffer
		if err := wire.WriteFrames(&lines, x.Log, slices.Values(chunk), x.Redact); err != nil {
			return err
		}
		for line := range bytes.Lines(lines.Bytes()) {
			more, err := said.members(chunk[0], anyway[chunk[0]])
			if err != nil {
				return err
			}
			object := bytes.TrimRight(line, " \t\r\n")
			if len(more) > 0 {
				object = slices.Concat(object[:len(object)-1], []byte(","), more, []byte("}"))
			}
			if _, err := fmt.Fprintf(w, "%s%s", before, object); err != nil {
				return err
			}
			before, chunk = ",\n", chunk[1:]
		}
	}
	end := "\n]\n"
	if x.chosen == 0 {
		end = "[]\n"
	}
	_, err = io.WriteString(w, end)
	return err
}

// chunks are the chosen frames, as many at a time as take little memory.
func (x *export) chunks() iter.Seq[[]int64] {
	const frames, size = 1000, 4 << 20
	return func(yield func([]int64) bool) {
		var chunk []int64
		var held int64
		for seq := range x.seqs() {
			chunk = append(chunk, seq)
			held += x.Log.Head(seq).Size
			if len(chunk) < frames && held < size {
				continue
			}
			if !yield(chunk) {
				return
			}
			chunk, held = nil, 0
		}
		if len(chunk) > 0 {
			yield(chunk)
		}
	}
}

// sentAnyway is one thing that is wrong with an answer. Its pointer leads into
// the message.
type sentAnyway struct {
	Pointer string `json:"pointer"`
	Text    string `json:"text"`
}

// anyway lists, by frame, what is wrong with the answers that were sent anyway.
func (x *export) anyway() (map[int64][]sentAnyway, error) {
	c, places, err := x.conversation()
	if err != nil {
		return nil, err
	}
	out := make(map[int64][]sentAnyway)
	if _, questions := c.Counts(); questions == 0 {
		return out, nil
	}
	for call, err := range x.calls(c, places) {
		if err != nil {
			return nil, err
		}
		for i := range call.Questions {
			q := &call.Questions[i]
			base := "/result/content"
			if q.Via == elicit.InRound {
				base = "/params/inputResponses/" + pointerEscaper.Replace(q.Key) + "/content"
			}
			for _, p := range q.Anyway() {
				out[q.AnswerSeq] = append(out[q.AnswerSeq], sentAnyway{base + p.Pointer, p.Text})
			}
		}
	}
	return out, nil
}

// pointerEscaper escapes a member's name in a JSON pointer (RFC 6901, section 3).
var pointerEscaper = strings.NewReplacer("~", "~0", "/", "~1")

// encode is JSON without the escapes that HTML would need.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}
