package wire

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// largeRead is the line length in bytes above which Rows does not read a line.
const largeRead = 64 << 10

// largeRow holds the fields of a row that otherwise come from the frame's line.
type largeRow struct{ id, summary string }

type largeRows struct {
	mu *sync.Mutex // Log.mu of the log that is appended to
	of map[int64]largeRow
}

const maxLargeRows = 100_000

// Frame returns the frame with that Seq.
func (l *Log) Frame(seq int64) (Frame, error) {
	if seq < 1 || seq > l.Len() {
		return Frame{}, fmt.Errorf("there is no frame %d in the log", seq)
	}
	e := l.index.at(seq)
	line, err := l.store.read(nil, e.off, int(e.length))
	return l.frame(seq, e, line, err)
}

// Each calls f with each of the frames in the given order, until f returns an
// error. A frame that cannot be read is skipped.
func (l *Log) Each(seqs []int64, f func(Frame) error) error {
	return l.lines(seqs, math.MaxUint32, nil, func(seq int64, e *record, line []byte, err error) error {
		if frame, err := l.frame(seq, e, line, err); err == nil {
			return f(frame)
		}
		return nil
	})
}

// Row is a frame without its large parts, as the list of frames shows it: Raw,
// Header, and of Message all but Kind, ID and Method are left out.
type Row struct {
	Frame
	Summary string
	Action  string // action of an answer to an elicitation: "accept", "decline", "cancel"; else ""
	Elicits bool   // it asks the person something; Summary then begins with "? "
}

// RowOf returns the row of a frame.
func RowOf(f Frame) Row {
	row := Row{Frame: f, Summary: f.Summary(), Action: f.Action(), Elicits: f.elicits()}
	row.Raw, row.Header = nil, nil
	row.Message = Message{Kind: f.Message.Kind, Method: f.Message.Method, ID: bytes.Clone(f.Message.ID)}
	row.Answers = bytes.Clone(f.Answers)
	return row
}

// Rows returns the rows of the frames in the given order; unknown numbers are
// left out. A row costs at most a short read, however large its frame.
func (l *Log) Rows(seqs []int64) ([]Row, error) {
	out := make([]Row, 0, len(seqs))
	last := l.Len()
	seqs = slices.DeleteFunc(slices.Clone(seqs), func(seq int64) bool { return seq < 1 || seq > last })
	err := l.lines(seqs, largeRead, nil, func(seq int64, e *record, line []byte, err error) error {
		if line == nil && err == nil {
			out = append(out, l.largeRow(seq, e))
			return nil
		}
		f, err := l.frame(seq, e, line, err)
		out = append(out, RowOf(f))
		return err
	})
	return out, err
}

func (l *Log) largeRow(seq int64, e *record) Row {
	l.large.mu.Lock()
	large := l.large.of[seq]
	l.large.mu.Unlock()
	row := Row{Frame: lost(l.facts(seq, e)), Summary: large.summary, Action: e.Action()}
	row.Lost, row.Message.ID = false, []byte(large.id)
	row.Elicits = strings.HasPrefix(large.summary, "? ") && (row.Kind == Request || row.AsksInput)
	return row
}

// together is how many bytes lines reads at once, unless a single line is
// longer.
const together = 1 << 20

// lines reads the lines of the frames and calls f for each, in order.
// Neighbouring lines are read together. For a line longer than limit, f gets
// nil and no error. If buf is not nil, lines are read into it and are valid
// until f returns. lines ends at the first error that f returns.
func (l *Log) lines(seqs []int64, limit uint32, buf []byte, f func(seq int64, e *record, line []byte, err error) error) error {
	for i := 0; i < len(seqs); {
		e := l.index.at(seqs[i])
		if e.length > limit {
			if err := f(seqs[i], e, nil, nil); err != nil {
				return err
			}
			i++
			continue
		}
		end, j := e.off+int64(e.length), i+1
		for ; j < len(seqs); j++ {
			next := l.index.at(seqs[j])
			if next.length > limit || next.off < end || next.off > end+4096 || next.off+int64(next.length)-e.off > together {
				break
			}
			end = next.off + int64(next.length)
		}
		run, err := l.store.read(buf, e.off, int(end-e.off))
		several := j > i+1
		for ; i < j; i++ {
			next := l.index.at(seqs[i])
			var line []byte
			lineErr := err
			if err == nil {
				at := next.off - e.off
				line = run[at : at+int64(next.length) : at+int64(next.length)]
			} else if several {
				line, lineErr = l.store.read(nil, next.off, int(next.length))
			}
			if err := f(seqs[i], next, line, lineErr); err != nil {
				return err
			}
		}
	}
	return nil
}

func (l *Log) facts(seq int64, e *record) Frame {
	f := Frame{
		Seq: seq, Time: e.Time(), Dir: e.Dir, Kind: e.Kind, Stream: e.Stream,
		Size: int64(e.Size), Status: int(e.Status), Call: int(e.Call), Round: int(e.Round), Question: int(e.Question),
		Truncated: e.Truncated, Duplicate: e.Duplicate, Orphan: e.Orphan, Redacted: e.Redacted, Failed: e.Failed,
		AsksInput: e.AsksInput, Guessed: e.Guessed, Pair: int64(atomic.LoadUint32(&e.pair)),
	}
	if f.Pair > l.Len() {
		f.Pair = 0 // a response that the log does not show yet
	}
	if n := e.names; n != nil {
		f.Server, f.Session, f.Transport = n.Server, n.Session, n.Transport
		f.Method, f.Actor, f.Fault = n.Method, n.Actor, n.Fault
	}
	if f.Pair != 0 && f.Kind != Request {
		f.Latency = e.since(l.index.at(f.Pair))
	}
	return f
}

func (e *record) raw(line []byte) []byte {
	end := uint32(e.body) + e.Size
	return line[e.body:end:end]
}

// frame makes a frame from its line and its entry. err is the error of reading
// the line; lost bytes are no error.
func (l *Log) frame(seq int64, e *record, line []byte, err error) (f Frame, _ error) {
	switch {
	case errors.Is(err, errLost):
		return lost(l.facts(seq, e)), nil
	case err != nil:
		return l.facts(seq, e), fmt.Errorf("frame %d: %w", seq, err)
	case e.body != 0 && !e.HasMore && !e.Truncated && e.Size != math.MaxUint32 && e.names != nil && e.Kind != NoteFrame:
		// The line need not be parsed.
		f = l.facts(seq, e)
		f.Raw = e.raw(line)
		if f.Kind.IsMessage() {
			f.Message, _ = ParseMessage(f.Raw)
		}
		return f, nil
	}
	f, err = l.parsed(seq, e, line)
	if f.IsMark() {
		l.marks.mu.Lock()
		f.about = l.marks.about[seq]
		l.marks.mu.Unlock()
	}
	return f, err
}

// parsed makes a frame by parsing its line; the fields that depend on other
// frames come from the index.
func (l *Log) parsed(seq int64, e *record, line []byte) (Frame, error) {
	f := l.facts(seq, e)
	var p parser
	if err := p.parse(line); err != nil {
		if l.files == nil {
			return f, fmt.Errorf("frame %d: %w", seq, err)
		}
		// Open left out unreadable lines, so the file must have changed since.
		l.files.changed(l.files.at(e.off), err)
		return lost(f), nil
	}
	read := p.frame
	read.Header = p.header()
	read.Seq, read.Time, read.Pair, read.Latency = f.Seq, f.Time, f.Pair, f.Latency
	read.Duplicate, read.Orphan, read.Failed, read.AsksInput = f.Duplicate, f.Orphan, f.Failed, f.AsksInput
	if read.Method == "" {
		read.Method = f.Method
	}
	return read, nil
}

// lost marks f as Lost and clears the parts of its message that the index does
// not hold.
func lost(f Frame) Frame {
	f.Lost = true
	f.Message = Message{}
	if f.Kind.IsMessage() {
		f.Message.Kind = f.Kind
		if !f.Kind.IsResponse() {
			f.Message.Method = f.Method
		}
	}
	return f
}
