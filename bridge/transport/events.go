package transport

import (
	"bytes"
	"fmt"
	"io"
	"net"
)

// event is one server-sent event with its exact bytes (WHATWG HTML, Server-sent events,
// Parsing an event stream).
type event struct {
	name, id, retry string
	hasID           bool // true also for an empty id
	data            kept // exact bytes; several lines are joined by LF
	hasData         bool
}

// maxEventField is the largest size in bytes of an event's name, id and retry field.
// Longer values are cut; no real server needs them.
const maxEventField = 16 << 10

// eventReader splits a stream into server-sent events.
type eventReader struct {
	lines *lineReader
	max   int64 // largest number of bytes kept of an event's data
	begun bool
}

func newEventReader(r io.Reader, max int64) *eventReader {
	return &eventReader{lines: newLineReader(&lfReader{r: r}, 32<<10), max: max}
}

var byteOrderMark = []byte("\uFEFF")

// next returns the next event. An event that the end of the stream cuts off is returned
// together with the error; by the specification it should be discarded.
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
		field, value, _ := bytes.Cut(line.head, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(field) {
		case "data":
			missing := line.size - int64(len(line.head))
			e.addData(kept{head: value, size: int64(len(value)) + missing, tail: line.tail}, r.max)
		case "event":
			e.name = bounded(value)
		case "id":
			if bytes.Contains(value, []byte{0}) {
				continue
			}
			e.id, e.hasID = bounded(value), true
		case "retry":
			e.retry = bounded(value)
		default: // a comment or an unknown field
			continue
		}
		seen = true
	}
}

func bounded(b []byte) string { return string(b[:min(len(b), maxEventField)]) }

func (e *event) addData(line kept, max int64) {
	if !e.hasData && int64(len(line.head)) <= max {
		line.head = line.head[:len(line.head):len(line.head)] // a later append copies
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

// eventBody is the body of an event stream response, in which the data of each event is
// replaced by the data for the SDK.
type eventBody struct {
	io.Closer // the real body's Close; may be called while Read waits
	events    *eventReader
	// deliver returns the data that replaces the event's data. If it is empty, the SDK
	// still gets the event's name, id and retry field, unless drop is true.
	deliver func(event) (data []byte, drop bool)
	ended   func(error)

	out net.Buffers // bytes for Read to return before the next event
	err error       // the error for Read to return after out
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
		if data, drop := b.deliver(e); !drop {
			b.push(e, data)
		}
	}
	n, _ := b.out.Read(p) // an EOF of out is not the end of the stream
	return n, nil
}

// push queues an event for Read with data in place of its own. The data is not copied.
func (b *eventBody) push(e event, data []byte) {
	var text []byte
	if e.name != "" {
		text = fmt.Appendf(text, "event: %s\n", e.name)
	}
	if e.hasID {
		text = fmt.Appendf(text, "id: %s\n", e.id)
	}
	if e.retry != "" {
		text = fmt.Appendf(text, "retry: %s\n", e.retry)
	}
	if len(data) > 0 {
		for line := range bytes.SplitSeq(data, []byte("\n")) {
			b.out = append(b.out, append(text, "data: "...), line)
			text = []byte("\n")
		}
	}
	if len(text) > 0 {
		b.out = append(b.out, append(text, '\n'))
	}
}
