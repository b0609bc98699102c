package target

import (
	"bytes"
	"io"
)

// event is one server-sent event as it stood in the stream, or a comment
// (WHATWG HTML, Server-sent events, Parsing an event stream).
type event struct {
	name, id, retry string
	hasID, hasRetry bool
	data            kept // exact bytes, its lines joined by LF
	hasData         bool
	comment         string
	isComment       bool
}

// maxEventField bounds everything in a stream that is not data. Longer ids,
// names and comments are cut; no server has use for them.
const maxEventField = 16 << 10

// eventReader takes a stream of server-sent events apart.
type eventReader struct {
	lines *lineReader
	max   int64 // what is kept of an event's data
	begun bool
}

func newEventReader(r io.Reader, max int64) *eventReader {
	lines := newLineReader(r, 32<<10)
	lines.cr = true
	return &eventReader{lines: lines, max: max}
}

var (
	byteOrderMark = []byte("\uFEFF")
	dataField     = []byte("data")
)

// next returns the next event or comment. An event that the stream's end cuts
// off is returned with the error; by the letter of the format it does not count.
func (r *eventReader) next() (event, error) {
	var e event
	seen := false
	for {
		line, err := r.lines.next(r.max + maxEventField)
		if err != nil {
			return e, err
		}
		if !r.begun {
			r.begun = true
			if after, ok := bytes.CutPrefix(line.head, byteOrderMark); ok {
				line.head, line.size = after, line.size-int64(len(byteOrderMark))
			}
		}
		if line.size == 0 {
			if seen {
				return e, nil
			}
			continue
		}
		field, value, found := bytes.Cut(line.head, []byte(":"))
		if found && len(field) == 0 {
			if seen {
				continue // a comment within an event says nothing of it
			}
			return event{isComment: true, comment: bounded(value)}, nil
		}
		value = bytes.TrimPrefix(value, []byte(" "))
		if bytes.Equal(field, dataField) {
			missing := line.size - int64(len(line.head))
			e.addData(kept{head: value, size: int64(len(value)) + missing, tail: line.tail}, r.max)
			seen = true
			continue
		}
		switch text := bounded(value); string(field) {
		case "event":
			e.name, seen = text, true
		case "id":
			if !bytes.Contains(value, []byte{0}) {
				e.id, e.hasID, seen = text, true, true
			}
		case "retry":
			e.retry, e.hasRetry, seen = text, true, true
		}
	}
}

// addData adds one line of data.
func (e *event) addData(line kept, max int64) {
	if !e.hasData && int64(len(line.head)) <= max {
		line.head = line.head[:len(line.head):len(line.head)] // nothing is copied
		e.data, e.hasData = line, true
		return
	}
	if e.hasData {
		e.data.add([]byte{'\n'}, max)
	}
	e.data.add(line.head, max)
	if !line.whole() {
		e.data.size += line.size - int64(len(line.head))
		e.data.tail = line.tail
	}
	e.hasData = true
}

func bounded(b []byte) string { return string(b[:min(len(b), maxEventField)]) }

// appendFields appends the event without its data and its end.
func (e event) appendFields(b []byte) []byte {
	if e.name != "" {
		b = append(append(append(b, "event: "...), e.name...), '\n')
	}
	if e.hasID {
		b = append(append(append(b, "id: "...), e.id...), '\n')
	}
	if e.hasRetry {
		b = append(append(append(b, "retry: "...), e.retry...), '\n')
	}
	return b
}

// eventBody is the body of a response with a stream of events, with the data of
// each event replaced by what the SDK is to be given of it.
type eventBody struct {
	io.Closer // of the real body; may be called while Read waits
	events    *eventReader
	// deliver returns the data that stands in for the event's. Without data, an
	// event still tells its id, unless it is dropped altogether.
	deliver func(event) (data []byte, drop bool)
	ended   func(error)

	out [][]byte // what is to be read before the next event
	err error    // what is to be returned after out
}

// Read implements [io.Reader].
func (b *eventBody) Read(p []byte) (int, error) {
	for len(b.out) == 0 {
		if b.err != nil {
			return 0, b.err
		}
		e, err := b.events.next()
		if err != nil {
			b.err = err
			b.ended(err)
			if e.data.size == 0 {
				continue
			}
		}
		b.push(e)
	}
	n := copy(p, b.out[0])
	if b.out[0] = b.out[0][n:]; len(b.out[0]) == 0 {
		b.out = b.out[1:]
	}
	return n, nil
}

// push queues an event for Read. Data is not copied.
func (b *eventBody) push(e event) {
	if e.isComment {
		b.out = append(b.out, []byte(":"+e.comment+"\n"))
		return
	}
	data, drop := b.deliver(e)
	if drop {
		return
	}
	head := e.appendFields(nil)
	for line := range bytes.SplitSeq(data, []byte("\n")) {
		if len(data) == 0 {
			break
		}
		head = append(head, "data: "...)
		b.out = append(b.out, head)
		if len(line) > 0 {
			b.out = append(b.out, line)
		}
		head = []byte("\n")
	}
	if len(head) > 0 {
		b.out = append(b.out, append(head, '\n'))
	}
}
