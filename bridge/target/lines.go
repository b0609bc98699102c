package target

import (
	"bytes"
	"io"
)

// lineReader splits a stream into lines, and holds no more of a line than it is
// told to keep.
type lineReader struct {
	r        io.Reader
	buf      []byte
	from, to int   // what of buf was not yet looked at
	err      error // why nothing more comes after buf
	// cr makes a lone carriage return end a line too, as server-sent events have
	// it. Otherwise lines end with LF or CR LF.
	cr   bool
	skip bool // a CR has just ended a line: an LF right behind it belongs to that end
}

func newLineReader(r io.Reader, size int) *lineReader {
	return &lineReader{r: r, buf: make([]byte, size)}
}

// next returns the next line without its end, and of a line that is larger only
// the first max bytes. What stands behind the last line end is a line too. After
// the last line it returns the error that ended the stream, io.EOF for a proper
// end.
func (l *lineReader) next(max int64) (kept, error) {
	var line kept
	var last byte
	for {
		if l.from == l.to {
			if l.err != nil {
				if line.size > 0 {
					return line, nil
				}
				return line, l.err
			}
			var n int
			n, l.err = l.r.Read(l.buf)
			l.from, l.to = 0, n
			continue
		}
		part := l.buf[l.from:l.to]
		if l.skip {
			l.skip = false
			if part[0] == '\n' {
				l.from++
				continue
			}
		}
		end := l.end(part)
		if end < 0 {
			l.from = l.to
		} else {
			l.from += end + 1
			l.skip = part[end] == '\r'
			part = part[:end]
		}
		if len(part) > 0 {
			last = part[len(part)-1]
			line.add(part, max)
		}
		if end < 0 {
			continue
		}
		if last == '\r' && !l.cr {
			line.drop()
		}
		return line, nil
	}
}

// end finds the first line end in part, -1 if there is none.
func (l *lineReader) end(part []byte) int {
	lf := bytes.IndexByte(part, '\n')
	if !l.cr {
		return lf
	}
	if lf >= 0 {
		part = part[:lf]
	}
	if cr := bytes.IndexByte(part, '\r'); cr >= 0 {
		return cr
	}
	return lf
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
			grown := make([]byte, len(k.head), int(min(int64(max), 2*int64(need))))
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

// drop takes the last byte off.
func (k *kept) drop() {
	k.size--
	if len(k.tail) > 0 {
		k.tail = k.tail[:len(k.tail)-1]
	} else {
		k.head = k.head[:len(k.head)-1]
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

// maxTrusted is how much memory is taken on no more than the server's word.
const maxTrusted = 1 << 20

// keep reads r to its end. length is what is known of its size, -1 if nothing.
func keep(r io.Reader, max, length int64) (kept, error) {
	var k kept
	if length > 0 {
		k.head = make([]byte, 0, min(length, max, maxTrusted))
	}
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
