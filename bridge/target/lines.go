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

// next returns the first max bytes of the next line, in memory of their own, and
// the full size of the line; its end is part of neither. What stands behind the
// last line end is a line too. After the last line it returns the error that
// ended the stream, io.EOF for a proper end.
func (l *lineReader) next(max int64) (line []byte, size int64, err error) {
	var last byte
	for {
		if l.from == l.to {
			if l.err != nil {
				if size > 0 {
					return line, size, nil
				}
				return nil, 0, l.err
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
			size += int64(len(part))
			line = append(line, part[:min(int64(len(part)), max-int64(len(line)))]...)
		}
		if end < 0 {
			continue
		}
		if last == '\r' && !l.cr {
			size--
			line = line[:min(int64(len(line)), size)]
		}
		return line, size, nil
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
