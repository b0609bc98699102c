package wire

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"strings"
)

// Redactor removes secrets from frames before they are written to a file; see
// package redact.
type Redactor interface {
	// Learn reads all frames of a log, so that a secret is also removed from
	// frames before the one that identifies it as a secret.
	Learn(context.Context, *Log) error
	// Passes reports whether the frame certainly holds no secret, so that Frame
	// need not be called.
	Passes(Entry) bool
	// Frame returns f without secrets, or f itself if it holds none.
	Frame(f *Frame) *Frame
}

// WriteFrames writes the frames seqs as a transcript, in the order given; nil
// means all frames. redact removes secrets; nil removes nothing. Frames whose
// bytes are lost are written without them, as truncated.
func WriteFrames(w io.Writer, l *Log, seqs iter.Seq[int64], redact Redactor) error {
	out := bufio.NewWriterSize(w, 256<<10)
	err := EachLine(l, seqs, redact, func(_ int64, line []byte) error {
		out.Write(line)
		return out.WriteByte('\n') // returns the error of the Write before, too
	})
	if err != nil {
		return err
	}
	return out.Flush()
}

// EachLine calls f with the line that WriteFrames would write for each frame,
// without its newline. The line is valid until f returns.
func EachLine(l *Log, seqs iter.Seq[int64], redact Redactor, f func(seq int64, line []byte) error) error {
	if redact != nil {
		if err := redact.Learn(context.Background(), l); err != nil {
			return err
		}
	}
	return eachLine(l, seqs, redact, f)
}

// eachLine is EachLine with what redact has learned already.
func eachLine(l *Log, seqs iter.Seq[int64], redact Redactor, f func(seq int64, line []byte) error) error {
	each := func(e Entry, line []byte, err error) error {
		if err != nil || redact != nil && !redact.Passes(e) {
			if line, err = e.written(line, err, redact); err != nil {
				return err
			}
		}
		return f(e.Seq, bytes.TrimPrefix(bytes.TrimSuffix(line, []byte("\n")), []byte(ByteOrderMark)))
	}
	last := l.Len()
	if seqs == nil {
		seqs = between(1, last)
	}
	var some []int64
	flush := func() error {
		defer func() { some = some[:0] }()
		return l.lines(some, math.MaxUint32, nil, each)
	}
	for seq := range seqs {
		if seq < 1 || seq > last {
			continue
		}
		if some = append(some, seq); len(some) == 256 {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	return flush()
}

// written returns the line that WriteFrames writes for a frame: line itself if
// nothing is redacted.
func (e Entry) written(line []byte, err error, redact Redactor) ([]byte, error) {
	var f Frame
	if err != nil {
		f, err = e.read(nil, err)
	} else {
		f, err = e.parsed(line)
	}
	if err != nil {
		return nil, err
	}
	f.Truncated = f.Truncated || f.Lost
	shown := &f
	if redact != nil {
		shown = redact.Frame(&f)
	}
	if shown == &f && line != nil && !f.Lost {
		return line, nil
	}
	shown.line = cmp.Or(shown.line, e.Seq)
	out, _ := appendLine(make([]byte, 0, len(line)+512), shown)
	return out, nil
}

func between(first, last int64) iter.Seq[int64] {
	return func(yield func(int64) bool) {
		for seq := first; seq <= last && yield(seq); seq++ {
		}
	}
}

// maxLine is the greatest length in bytes of a transcript's line: enough for a
// frame of 200 MiB in any encoding.
const maxLine = 512 << 20

// LineError says what is wrong with one line of a transcript.
type LineError struct {
	Line int64 // from 1
	// Incomplete marks a last line without a newline: its writer was probably
	// killed, or is still writing.
	Incomplete bool
	Err        error
}

func (e *LineError) Error() string {
	if e.Incomplete {
		return fmt.Sprintf("line %d: the last line is incomplete", e.Line)
	}
	return fmt.Sprintf("line %d: %v", e.Line, e.Err)
}

func (e *LineError) Unwrap() error { return e.Err }

var errLineTooLong = errors.New("the line is too long")

const maxFirstLine = 1 << 20

// BeginsTranscript reports whether r is empty or begins with a frame. For a
// first line that is incomplete, or longer than maxFirstLine, its beginning
// decides.
func BeginsTranscript(r io.Reader) (bool, error) {
	in := bufio.NewReaderSize(io.LimitReader(r, maxFirstLine), 4<<10)
	begin, err := in.Peek(len(lineBegin))
	if err != nil && err != io.EOF {
		return false, fmt.Errorf("reading the first line: %w", err)
	}
	if len(begin) > 0 && strings.HasPrefix(lineBegin, string(begin)) {
		return true, nil
	}
	for {
		line, err := in.ReadBytes('\n')
		var p parser
		if wrong := p.parse(line); wrong != nil || !p.blank {
			return wrong == nil, nil
		}
		if err != nil {
			return err == io.EOF, nil
		}
	}
}

// lineBegin is the beginning of each line that a Recorder writes.
const lineBegin = `{"v":1,"session_id":`

type lineReader struct {
	file   io.ReaderAt
	in     *bufio.Reader // over the file
	max    int64
	number int64
	off    int64
	long   []byte // buffer for a line that is longer than in's
}

// longKept is the greatest capacity of long, in bytes, that is kept for the
// next line.
const longKept = 1 << 20

type textLine struct {
	number int64
	off    int64  // offset in the file
	size   int64  // including its newline
	data   []byte // valid until the next line is read; nil if it is too long
	ended  bool   // it has a newline
}

func newLineReader(file *io.SectionReader, max int64) *lineReader {
	return &lineReader{file: file, in: bufio.NewReaderSize(file, 256<<10), max: max}
}

// next reads a line; it returns io.EOF after the last one.
func (r *lineReader) next() (textLine, error) {
	line := textLine{number: r.number + 1, off: r.off}
	if cap(r.long) > longKept {
		r.long = nil
	}
	var err error
	line.data, err = r.in.ReadSlice('\n')
	line.size = int64(len(line.data))
	for err == bufio.ErrBufferFull {
		var piece []byte
		piece, err = r.in.ReadSlice('\n')
		line.size += int64(len(piece))
		line.data = nil
	}
	switch {
	case err != nil && err != io.EOF:
		return line, err
	case line.size == 0:
		return line, io.EOF
	}
	line.ended = err == nil
	r.number++
	r.off += line.size
	switch {
	case line.size > r.max:
		line.data = nil
	case line.data == nil:
		// The length is known only now, and so is the buffer that the line
		// needs.
		if int64(cap(r.long)) < line.size {
			r.long = make([]byte, line.size+line.size/16) // the next is often a little longer
		}
		line.data = r.long[:line.size]
		if _, err := r.file.ReadAt(line.data, line.off); err != nil && err != io.EOF {
			return line, err
		}
	}
	return line, nil
}

func (p *parser) parseText(line textLine) *LineError {
	if line.data == nil {
		return &LineError{Line: line.number, Err: errLineTooLong}
	}
	if err := p.parse(bytes.TrimRight(line.data, "\n")); err != nil {
		return &LineError{Line: line.number, Incomplete: !line.ended, Err: err}
	}
	return nil
}
