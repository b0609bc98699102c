package wire

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
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
	if f, is := l.latestFrame(seq); is {
		return f, nil
	}
	e := l.Entry(seq)
	line, err := l.store.read(nil, e.off, int(e.length))
	return e.read(line, err)
}

// Each calls f with each of the frames in the given order, until f returns an
// error. A frame that cannot be read is skipped.
func (l *Log) Each(seqs []int64, f func(Frame) error) error {
	return l.lines(seqs, math.MaxUint32, nil, func(e Entry, line []byte, err error) error {
		if frame, err := e.read(line, err); err == nil {
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
	err := l.lines(seqs, largeRead, nil, func(e Entry, line []byte, err error) error {
		if line == nil && err == nil {
			out = append(out, e.largeRow())
			return nil
		}
		f, err := e.read(line, err)
		out = append(out, RowOf(f))
		return err
	})
	return out, err
}

func (e Entry) largeRow() Row {
	e.log.large.mu.Lock()
	large := e.log.large.of[e.Seq]
	e.log.large.mu.Unlock()
	row := Row{Frame: lost(e.head()), Summary: large.summary, Action: e.Rare().Action}
	row.Lost, row.Message.ID = false, []byte(large.id)
	row.Elicits = strings.HasPrefix(large.summary, "? ") && (row.Kind == Request || row.AsksInput)
	return row
}

// together is how many bytes lines reads at once, unless a single line is
// longer.
const together = 1 << 20

// lines reads the lines of the frames and calls f for each, in order.
// Neighbouring lines are read together. For a line longer than limit, f gets
// nil and no error. Unless room is nil, lines are read into it and are valid
// until f returns. lines ends at the first error that f returns.
func (l *Log) lines(seqs []int64, limit uint32, room *[]byte, f func(e Entry, line []byte, err error) error) error {
	for i := 0; i < len(seqs); {
		e := l.Entry(seqs[i])
		if e.length > limit {
			if err := f(e, nil, nil); err != nil {
				return err
			}
			i++
			continue
		}
		end, j := e.off+int64(e.length), i+1
		for ; j < len(seqs); j++ {
			next := l.index.records.at(seqs[j] - 1)
			if next.length > limit || next.off < end || next.off > end+4096 || next.off+int64(next.length)-e.off > together {
				break
			}
			end = next.off + int64(next.length)
		}
		run, err := l.store.read(room, e.off, int(end-e.off))
		several := j > i+1
		for ; i < j; i++ {
			next := l.Entry(seqs[i])
			var line []byte
			lineErr := err
			if err == nil {
				at := next.off - e.off
				line = run[at : at+int64(next.length) : at+int64(next.length)]
			} else if several {
				line, lineErr = l.store.read(nil, next.off, int(next.length))
			}
			if err := f(next, line, lineErr); err != nil {
				return err
			}
		}
	}
	return nil
}

func (e *record) raw(line []byte) []byte {
	end := uint32(e.body) + e.Size
	return line[e.body:end:end]
}

// read makes the frame from its line. err is the error of reading the line; lost
// bytes are no error.
func (e Entry) read(line []byte, err error) (f Frame, _ error) {
	switch {
	case errors.Is(err, errLost):
		return lost(e.head()), nil
	case err != nil:
		return e.head(), fmt.Errorf("frame %d: %w", e.Seq, err)
	case e.body != 0 && !e.HasMore && !e.Truncated && e.Size != math.MaxUint32 && !e.unnamed && e.Kind != NoteFrame:
		// The line need not be parsed.
		f = e.head()
		f.Raw = e.raw(line)
		if f.Kind.IsMessage() {
			f.Message, _ = ParseMessage(f.Raw)
		}
		return f, nil
	}
	f, err = e.parsed(line)
	if f.IsMark() {
		e.log.marks.mu.Lock()
		f.about = e.log.marks.about[e.Seq]
		e.log.marks.mu.Unlock()
	}
	return f, err
}

// parsed makes the frame by parsing its line; the fields that depend on other
// frames come from the index.
func (e Entry) parsed(line []byte) (Frame, error) {
	f, files := e.head(), e.log.files
	var p parser
	if err := p.parse(line); err != nil {
		if files == nil {
			return f, fmt.Errorf("frame %d: %w", e.Seq, err)
		}
		// Open left out unreadable lines, so the file must have changed since.
		files.changed(files.at(e.off), err)
		return lost(f), nil
	}
	read := p.frame
	read.Header = p.header()
	read.Seq, read.Time, read.Pair, read.Latency = f.Seq, f.Time, f.Pair, f.Latency
	read.Duplicate, read.Orphan, read.Failed, read.AsksInput = f.Duplicate, f.Orphan, f.Failed, f.AsksInput
	read.MakesTask, read.Repeat = f.MakesTask, f.Repeat
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
