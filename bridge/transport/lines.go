package transport

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
)

// lineReader splits a stream into lines that end with LF or CR LF, and holds only the
// part of a line that it keeps.
type lineReader struct {
	r   *bufio.Reader
	err error // the error that ended the stream, nil before
}

func newLineReader(r io.Reader, size int) *lineReader {
	return &lineReader{r: bufio.NewReaderSize(r, size)}
}

// next returns the next line without its end, and only the first max bytes of a longer
// line. Text after the last line end is a line, too. After the last line next returns
// the error that ended the stream, io.EOF for a proper end.
func (l *lineReader) next(max int64) (kept, error) {
	var line kept
	for l.err == nil {
		part, err := l.r.ReadSlice('\n')
		if err == nil {
			line.add(part[:len(part)-1], max)
			line.dropCR()
			return line, nil
		}
		line.add(part, max)
		if !errors.Is(err, bufio.ErrBufferFull) {
			l.err = err
		}
	}
	if line.size > 0 {
		return line, nil
	}
	return line, l.err
}

// lfReader converts the line ends CR, LF and CR LF of a stream of server-sent events to
// LF.
type lfReader struct {
	r  io.Reader
	cr bool // the last byte was a CR: a directly following LF belongs to the same line end
}

func (l *lfReader) Read(p []byte) (int, error) {
	n, err := l.r.Read(p)
	if !l.cr && bytes.IndexByte(p[:n], '\r') < 0 {
		return n, err
	}
	out := p[:0]
	for _, b := range p[:n] {
		behind := l.cr
		l.cr = b == '\r'
		switch {
		case l.cr:
			out = append(out, '\n')
		case b != '\n' || !behind:
			out = append(out, b)
		}
	}
	return len(out), err
}

// kept holds the beginning and the end of a text of any size.
type kept struct {
	head []byte // the first bytes, in memory that kept owns
	size int64  // size in bytes of the whole text
	tail []byte // the last bytes of the text after head, if head is not the whole text
}

// tailSize is the number of bytes kept from the end of a text that is too large. It is
// enough for the members that follow a large member in a JSON-RPC message.
const tailSize = 256

// add appends p. head grows to at most max bytes.
func (k *kept) add(p []byte, max int64) {
	k.size += int64(len(p))
	if n := min(int64(len(p)), max-int64(len(k.head))); n > 0 {
		if need := len(k.head) + int(n); need > cap(k.head) && k.head != nil {
			// Double the size each time, but never exceed max.
			grown := make([]byte, len(k.head), int(min(max, 2*int64(need))))
			copy(grown, k.head)
			k.head = grown
		}
		k.head = append(k.head, p[:n]...)
		p = p[n:]
	}
	k.tail = append(k.tail, p[len(p)-min(len(p), tailSize):]...)
	if over := len(k.tail) - tailSize; over > 0 {
		k.tail = append(k.tail[:0], k.tail[over:]...)
	}
}

func (k *kept) dropCR() {
	end := &k.head
	if len(k.tail) > 0 {
		end = &k.tail
	}
	if bytes.HasSuffix(*end, []byte("\r")) {
		*end = (*end)[:len(*end)-1]
		k.size--
	}
}

// whole reports whether head is the whole text.
func (k *kept) whole() bool { return k.size == int64(len(k.head)) }

// end returns the last tailSize bytes, or fewer if less is kept.
func (k *kept) end() []byte {
	more := min(tailSize-len(k.tail), len(k.head))
	if k.size > int64(len(k.head)+len(k.tail)) {
		more = 0 // bytes between head and tail are missing
	}
	return append(append([]byte(nil), k.head[len(k.head)-more:]...), k.tail...)
}

func keep(r io.Reader, max int64) (kept, error) {
	var k kept
	buf := make([]byte, 32<<10)
	for {
		n, err := r.Read(buf)
		k.add(buf[:n], max)
		if err == io.EOF {
			return k, nil
		}
		if err != nil {
			return k, err
		}
	}
}

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
