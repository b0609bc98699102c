package transport

import (
	"bufio"
	"bytes"
	"errors"
	"io"
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

// Read implements [io.Reader].
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

// dropCR removes a carriage return at the end.
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

// keep reads r to its end.
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
