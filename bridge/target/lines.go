package target

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// lineReader splits a stream into lines that end with LF or CR LF, and holds no
// more of a line than it is told to keep.
type lineReader struct {
	r   *bufio.Reader
	err error // why nothing more comes
}

func newLineReader(r io.Reader, size int) *lineReader {
	return &lineReader{r: bufio.NewReaderSize(r, size)}
}

// next returns the next line without its end, and of a line that is larger only
// the first max bytes. What stands behind the last line end is a line too. After
// the last line it returns the error that ended the stream, io.EOF for a proper
// end.
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

// lfReader makes an LF of every line end in a stream of server-sent events, where
// CR and CR LF are such too.
type lfReader struct {
	r  io.Reader
	cr bool // the last byte was a CR: an LF right behind it belongs to that line end
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

// kept is what is kept of a text of any size.
type kept struct {
	head []byte // the first bytes, in memory of their own
	size int64  // of all of the text
	tail []byte // bytes behind head, up to the end, where head is not all
}

// tailSize is how much of the end is kept of what is too large. It is enough
// for the members behind the large one in a JSON-RPC message.
const tailSize = 256

// add appends p, of which head takes no more than max bytes in all.
func (k *kept) add(p []byte, max int64) {
	k.size += int64(len(p))
	if n := min(int64(len(p)), max-int64(len(k.head))); n > 0 {
		if need := len(k.head) + int(n); need > cap(k.head) && k.head != nil {
			// Twice the size each time, but never more than can be needed.
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

// dropCR takes a carriage return off the end.
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

// whole reports whether head is all of it.
func (k *kept) whole() bool { return k.size == int64(len(k.head)) }

// end is the last tailSize bytes, or all where there are not so many.
func (k *kept) end() []byte {
	more := min(tailSize-len(k.tail), len(k.head))
	if k.size > int64(len(k.head)+len(k.tail)) {
		more = 0 // something between them is missing
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
