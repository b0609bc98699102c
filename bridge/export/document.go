// Package export writes a log, or a part of it, in formats that other programs
// open and that people read, and draws calls as ladders.
package export

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"

	"elicitation-inspector/bridge/conversation"
	"elicitation-inspector/bridge/wire"
	"elicitation-inspector/bridge/wire/redact"
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

// errNoHTTP is why there is no HAR of a log without frames of an HTTP
// connection.
var errNoHTTP = errors.New("there are no frames of an HTTP connection, and HAR is for those")

// Document is a log, or a choice of its frames, to be written in some format.
type Document struct {
	Log     *wire.Log
	Seqs    iter.Seq[int64]   // the frames; nil means all that are in the log at the time
	Redact  *redact.Redaction // what is left out; nil means the default
	Title   string            // what it is, in a few words
	Tool    string            // who writes it: "elicitation-inspector"
	Version string            // of the tool
}

// Write writes the frames. What is left out by redaction is left out everywhere,
// also where questions and answers are shown as they looked. Of frames that are
// not chosen nothing is written but what gives the others their names; see
// [conversation.Reading].
func (d Document) Write(ctx context.Context, w io.Writer, f Format) error {
	if d.Redact == nil {
		d.Redact, _ = redact.New() // the default, which sees all frames
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

	conversation *conversation.Conversation
	Places       []int // of calls of which a frame is chosen
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
	if seq < 1 || seq > x.last {
		return false
	}
	return x.set == nil || x.set[seq/64]>>(seq%64)&1 != 0
}

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
	return *x.Redact.Frame(&f), err
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

// follow finds the calls in the log, and where those are that at least one chosen
// frame began or is part of.
func (x *export) follow() error {
	x.conversation = conversation.New(x.Log)
	if err := x.conversation.Update(x.ctx); err != nil {
		return err
	}
	x.Places = x.conversation.Places(x.has)
	return nil
}

func (x *export) call(place int) (*conversation.Call, error) {
	return x.conversation.Call(x.ctx, place, conversation.Reading{Redact: x.Redact, Only: x.has})
}
