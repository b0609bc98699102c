package exchange

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"

	"elicitation-inspector/bridge/wire"
)

// Format is a format in which a log can be written.
type Format string

// The formats.
const (
	JSONL    Format = "jsonl"    // a transcript, which Open reads again
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

// Export is a log, or a choice of its frames, to be written in some format.
type Export struct {
	Log     *wire.Log
	Seqs    iter.Seq[int64] // the frames; nil means all that are in the log at the time
	Redact  *wire.Redaction // what is left out; nil means the default
	Title   string          // what it is, in a few words
	Tool    string          // who writes it: "elicitation-inspector"
	Version string          // of the tool
}

// Write writes the frames. What is left out by redaction is left out
// everywhere, also where questions and answers are shown as they looked. Of
// frames that are not chosen nothing is written but what gives the others
// their names; see Reading.Only.
func (x Export) Write(ctx context.Context, w io.Writer, f Format) error {
	if x.Redact == nil {
		x.Redact, _ = wire.NewRedaction() // the default, which sees all frames
	}
	if err := x.Redact.Learn(ctx, x.Log); err != nil {
		return err
	}
	x.Title = x.Redact.Text(x.Title)
	c := x.choose()
	switch f {
	case JSONL:
		return wire.WriteFrames(w, x.Log, c.all(), x.Redact)
	case JSON:
		return x.json(ctx, w, c)
	case HAR:
		return x.har(ctx, w, c)
	case Markdown:
		return x.markdown(ctx, w, c)
	case Mermaid:
		return x.mermaid(ctx, w, c)
	case HTML:
		return x.html(ctx, w, c)
	}
	return fmt.Errorf("unknown format %q", f)
}

// choice is a set of frames.
type choice struct {
	last int64
	set  []uint64 // bit seq: it is chosen; nil means all up to last
	n    int64
}

func (x Export) choose() choice {
	c := choice{last: x.Log.Len()}
	if x.Seqs == nil {
		c.n = c.last
		return c
	}
	c.set = make([]uint64, c.last/64+1)
	for seq := range x.Seqs {
		if seq >= 1 && seq <= c.last && c.set[seq/64]>>(seq%64)&1 == 0 {
			c.set[seq/64] |= 1 << (seq % 64)
			c.n++
		}
	}
	return c
}

func (c *choice) has(seq int64) bool {
	if seq < 1 || seq > c.last {
		return false
	}
	return c.set == nil || c.set[seq/64]>>(seq%64)&1 != 0
}

// all are the frames in order.
func (c *choice) all() iter.Seq[int64] {
	return func(yield func(int64) bool) {
		for seq := int64(1); seq <= c.last; seq++ {
			if c.has(seq) && !yield(seq) {
				return
			}
		}
	}
}

// frames are the chosen frames with their bytes, redacted. The error is the
// last of what it gives.
func (x Export) frames(ctx context.Context, c choice) iter.Seq2[wire.Frame, error] {
	return func(yield func(wire.Frame, error) bool) {
		for seq := range c.all() {
			f, err := x.Log.Frame(seq)
			if err == nil {
				err = ctx.Err()
			}
			if !yield(redacted(f, x.Redact), err) || err != nil {
				return
			}
		}
	}
}

// exchanges are those that at least one chosen frame began or is part of.
func (x Export) exchanges(ctx context.Context, c choice) (*Index, iter.Seq2[*Exchange, error], error) {
	index := NewIndex(x.Log)
	if err := index.Update(ctx); err != nil {
		return nil, nil, err
	}
	how := Reading{Redact: x.Redact, Only: c.has}
	return index, func(yield func(*Exchange, error) bool) {
		for n := 1; n <= index.Len(); n++ {
			if c.set != nil && !index.touches(n, c.has) {
				continue
			}
			e, err := index.Exchange(ctx, n, how)
			if err == nil && len(e.Frames) == 0 {
				continue
			}
			if !yield(e, err) || err != nil {
				return
			}
		}
	}, nil
}

// touches reports whether an exchange may have frames among those.
func (x *Index) touches(number int, has func(int64) bool) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	r := &x.list[number-1]
	if has(int64(r.first)) || has(int64(r.final)) {
		return true
	}
	return slices.ContainsFunc(r.more, func(seq uint32) bool { return has(int64(seq)) })
}

// json writes the frames as an array of what would be the lines of a
// transcript, one a line, with what is said of the frame as further members.
func (x Export) json(ctx context.Context, w io.Writer, c choice) error {
	said, err := x.remarks(ctx, &c)
	if err != nil {
		return err
	}
	anyway, err := x.anyway(ctx, c)
	if err != nil {
		return err
	}
	next, stop := iter.Pull(c.all())
	defer stop()
	a := &arrayWriter{w: w, more: func() ([]byte, error) {
		seq, _ := next()
		return said.members(seq, anyway[seq])
	}}
	err = wire.WriteFrames(a, x.Log, c.all(), x.Redact)
	return errors.Join(err, a.end())
}

// arrayWriter makes an array of lines that hold a JSON value each. JSON has no
// line break inside of its tokens, so that each line break ends a value.
type arrayWriter struct {
	w     io.Writer
	more  func() ([]byte, error) // the members to add to each of the objects, in order
	begun bool                   // the array
	due   bool                   // a comma, before the next value
	held  []byte                 // what may be the end of an object
}

func (a *arrayWriter) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		line, rest, ended := bytes.Cut(p, []byte{'\n'})
		if err := a.piece(line, ended); err != nil {
			return 0, err
		}
		p = rest
	}
	return n, nil
}

// piece writes a part of a line, and what is to be added where the line ends.
func (a *arrayWriter) piece(part []byte, ended bool) error {
	if len(part) > 0 {
		if err := a.begin(); err != nil {
			return err
		}
		kept := bytes.TrimRight(part, "} \t\r")
		if len(kept) > 0 {
			a.held = append(a.held, kept...)
			if _, err := a.w.Write(a.held); err != nil {
				return err
			}
			a.held = a.held[:0]
		}
		a.held = append(a.held, part[len(kept):]...)
	}
	if !ended {
		return nil
	}
	a.due = true
	more, err := a.more()
	end := bytes.LastIndexByte(a.held, '}')
	if err != nil || end < 0 {
		return err
	}
	if len(more) > 0 {
		a.held = append(append(append(a.held[:end], ','), more...), '}')
	}
	_, err = a.w.Write(a.held)
	a.held = a.held[:0]
	return err
}

// begin writes what stands before a value, or before a piece of one.
func (a *arrayWriter) begin() error {
	before := ""
	switch {
	case !a.begun:
		before = "[\n"
	case a.due:
		before = ",\n"
	}
	a.begun, a.due = true, false
	_, err := io.WriteString(a.w, before)
	return err
}

func (a *arrayWriter) end() error {
	after := "\n]\n"
	if !a.begun {
		after = "[]\n"
	}
	_, err := io.WriteString(a.w, after)
	return err
}

// mermaidMost bounds the text of a diagram: Mermaid refuses more than 50,000
// characters unless its page says otherwise.
const mermaidMost = 45_000

// mermaid writes one diagram of all exchanges, one after the other.
func (x Export) mermaid(ctx context.Context, w io.Writer, c choice) error {
	index, exchanges, err := x.exchanges(ctx, c)
	if err != nil {
		return err
	}
	var body strings.Builder
	lanes := make(map[string]string)
	var names []string
	left := 0
	for e, err := range exchanges {
		if err != nil {
			return err
		}
		lane := lanes[e.Server]
		if lane == "" {
			lane = fmt.Sprintf("S%d", len(lanes)+1)
		}
		var one strings.Builder
		l := e.Ladder()
		l.mermaid(&one, lane, true)
		if body.Len()+one.Len() > mermaidMost {
			for n := e.Number; n <= index.Len(); n++ {
				if index.touches(n, c.has) {
					left++
				}
			}
			break
		}
		if lanes[e.Server] == "" {
			lanes[e.Server] = lane
			names = append(names, l.Lanes[0].Name)
		}
		body.WriteString(one.String())
	}
	var head strings.Builder
	head.WriteString("sequenceDiagram\n")
	for i, name := range names {
		fmt.Fprintf(&head, "  participant S%d as %s\n", i+1, mermaid(name))
	}
	head.WriteString("  participant C as client\n  actor P as person\n")
	if left > 0 {
		fmt.Fprintf(&body, "  Note over C,P: %s more left out, as Mermaid draws no larger diagrams\n", counted(left, "exchange"))
	}
	if body.Len() == 0 {
		body.WriteString("  Note over C,P: no exchanges\n")
	}
	_, err = io.WriteString(w, head.String()+body.String())
	return err
}
