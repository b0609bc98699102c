package transport

import (
	"bytes"
	"fmt"
	"io"
	"net"

	"elicitation-inspector/bridge/wire"
	"elicitation-inspector/bridge/wire/lines"
)

// Event is one server-sent event with its exact bytes (WHATWG HTML, Server-sent events,
// Parsing an event stream).
type Event struct {
	name, id, retry string
	hasID           bool          // true also for an empty id
	Data            lines.Clipped // exact bytes; several lines are joined by LF
	hasData         bool
}

// maxEventField is the largest size in bytes of an event's name, id and retry field.
// Longer values are cut; no real server needs them.
const maxEventField = 16 << 10

// Events hands over each event of the stream that is written to it.
type Events struct {
	lines             lines.Lines
	event             Event // has not ended yet
	seen, torn, begun bool  // the event has a field; a part of it is missing; the stream has a line
}

var byteOrderMark = []byte(wire.ByteOrderMark)

// NewEvents returns Events that keep most bytes of the data of an event.
func NewEvents(most int64, each func(Event)) *Events {
	e := &Events{}
	e.lines = lines.Lines{Most: most + maxEventField, CR: true, Each: func(line lines.Clipped) {
		if !e.begun {
			e.begun = true
			if after, ok := bytes.CutPrefix(line.Head, byteOrderMark); ok {
				line.Head, line.Size = after, line.Size-int64(len(byteOrderMark))
			}
		}
		if line.Size == 0 {
			event, whole := e.event, e.seen && !e.torn
			e.event, e.seen, e.torn = Event{}, false, false
			if whole {
				each(event)
			}
			return
		}
		e.seen = e.event.read(line, most) || e.seen
	}}
	return e
}

// Write takes the next bytes. It never fails.
func (e *Events) Write(p []byte) (int, error) { return e.lines.Write(p) }

// Lose drops the event of which bytes are missing that come next.
func (e *Events) Lose() { e.torn = true }

// end returns the event that the end of the stream cuts off. It is no event: what has no blank
// line behind it is discarded (HTML, Server-sent events, Interpreting an event stream).
func (e *Events) end() Event {
	e.lines.End()
	return e.event
}

// read reads a line of the event, and reports whether it is a field.
func (e *Event) read(line lines.Clipped, most int64) bool {
	field, value, _ := bytes.Cut(line.Head, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(field) {
	case "data":
		missing := line.Size - int64(len(line.Head))
		e.addData(lines.Clipped{Head: value, Size: int64(len(value)) + missing, Tail: line.Tail}, most)
	case "event":
		e.name = bounded(value)
	case "id":
		if bytes.Contains(value, []byte{0}) {
			return false
		}
		e.id, e.hasID = bounded(value), true
	case "retry":
		e.retry = bounded(value)
	default: // a comment or an unknown field
		return false
	}
	return true
}

func bounded(b []byte) string { return string(b[:min(len(b), maxEventField)]) }

func (e *Event) addData(line lines.Clipped, max int64) {
	if !e.hasData && int64(len(line.Head)) <= max {
		line.Head = line.Head[:len(line.Head):len(line.Head)] // a later append copies
		e.Data, e.hasData = line, true
		return
	}
	if e.hasData {
		e.Data.Add([]byte{'\n'}, max)
	}
	e.Data.Add(line.Head, max)
	if !line.Whole() {
		e.Data.Size += line.Size - int64(len(line.Head))
		e.Data.Tail = line.Tail
	}
	e.hasData = true
}

// eventBody is the body of an event stream response, in which the data of each event is
// replaced by the data for the SDK.
type eventBody struct {
	io.Closer // the real body's Close; may be called while Read waits
	in        io.Reader
	room      []byte // for bytes of in
	events    *Events
	// deliver returns the data that replaces the event's data. If it is empty, the SDK
	// still gets the event's name, id and retry field, unless drop is true.
	deliver func(Event) (data []byte, drop bool)
	ended   func(cut Event, err error)

	out net.Buffers // bytes for Read to return before the next event
	err error       // the error for Read to return after out
}

// newEventBody returns the body with the events of in, of whose data most bytes are kept.
func newEventBody(in io.Reader, most int64, closer io.Closer, deliver func(Event) ([]byte, bool), ended func(cut Event, err error)) *eventBody {
	b := &eventBody{Closer: closer, in: in, room: make([]byte, 32<<10), deliver: deliver, ended: ended}
	b.events = NewEvents(most, b.pass)
	return b
}

func (b *eventBody) Read(p []byte) (int, error) {
	for len(b.out) == 0 {
		if b.err != nil {
			return 0, b.err
		}
		n, err := b.in.Read(b.room)
		_, _ = b.events.Write(b.room[:n])
		if b.err = err; err != nil {
			b.ended(b.events.end(), err)
		}
	}
	n, _ := b.out.Read(p) // an EOF of out is not the end of the stream
	return n, nil
}

func (b *eventBody) pass(e Event) {
	if data, drop := b.deliver(e); !drop {
		b.push(e, data)
	}
}

// push queues an event for Read with data in place of its own. The data is not copied.
func (b *eventBody) push(e Event, data []byte) {
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
