// Package lines reads lines of any length in bounded memory.
package lines

import (
	"bytes"
	"io"

	"elicitation-inspector/bridge/wire"
)

// Clipped holds the beginning and the end of a text of any size.
type Clipped struct {
	Head []byte // the first bytes, in memory that Text owns
	Size int64  // size in bytes of the whole text
	Tail []byte // the last bytes of the text after Head, if Head is not the whole text
}

// TailSize is the number of bytes kept from the end of a text that is too large. It is
// enough for the members that follow a large member in a JSON-RPC message.
const TailSize = 256

// Add appends p. Head grows to at most max bytes.
func (k *Clipped) Add(p []byte, max int64) {
	k.Size += int64(len(p))
	if n := min(int64(len(p)), max-int64(len(k.Head))); n > 0 {
		if need := len(k.Head) + int(n); need > cap(k.Head) && k.Head != nil {
			// Double the size each time, but never exceed max.
			grown := make([]byte, len(k.Head), int(min(max, 2*int64(need))))
			copy(grown, k.Head)
			k.Head = grown
		}
		k.Head = append(k.Head, p[:n]...)
		p = p[n:]
	}
	k.Tail = append(k.Tail, p[len(p)-min(len(p), TailSize):]...)
	if over := len(k.Tail) - TailSize; over > 0 {
		k.Tail = append(k.Tail[:0], k.Tail[over:]...)
	}
}

// Whole reports whether Head is the whole text.
func (k *Clipped) Whole() bool { return k.Size == int64(len(k.Head)) }

// Into sets the bytes of a frame.
func (k *Clipped) Into(f *wire.Frame) { f.Raw, f.Size, f.Truncated = k.Head, k.Size, !k.Whole() }

// end returns the last TailSize bytes, or fewer if less is kept.
func (k *Clipped) End() []byte {
	more := min(TailSize-len(k.Tail), len(k.Head))
	if k.Size > int64(len(k.Head)+len(k.Tail)) {
		more = 0 // bytes between head and tail are missing
	}
	return append(append([]byte(nil), k.Head[len(k.Head)-more:]...), k.Tail...)
}

// Keep reads a text to its end, of whose beginning it keeps at most max bytes.
func Keep(r io.Reader, max int64) (Clipped, error) {
	var k Clipped
	buf := make([]byte, 32<<10)
	for {
		n, err := r.Read(buf)
		k.Add(buf[:n], max)
		if err == io.EOF {
			return k, nil
		}
		if err != nil {
			return k, err
		}
	}
}

// Lines hands each line that is written to it to Each, without its end, which is LF or CR LF.
type Lines struct {
	Most int64 // bytes that are kept of a line
	Each func(Clipped)
	CR   bool // a CR alone ends a line, too

	line   Clipped // has not ended yet
	behind bool    // with CR: the last byte was one, so that a directly following LF belongs to it
}

// Write takes the next bytes. It never fails.
func (l *Lines) Write(p []byte) (int, error) {
	for text := l.converted(p); ; {
		part, rest, ended := bytes.Cut(text, []byte("\n"))
		l.line.Add(part, l.Most)
		if !ended {
			return len(p), nil
		}
		end := &l.line.Head
		if len(l.line.Tail) > 0 {
			end = &l.line.Tail
		}
		if bytes.HasSuffix(*end, []byte("\r")) {
			*end = (*end)[:len(*end)-1]
			l.line.Size--
		}
		l.hand()
		text = rest
	}
}

// converted returns the next bytes with LF as their only line end, if a CR is one.
func (l *Lines) converted(p []byte) []byte {
	if !l.CR || !l.behind && bytes.IndexByte(p, '\r') < 0 {
		return p
	}
	out := make([]byte, 0, len(p))
	for _, b := range p {
		behind := l.behind
		l.behind = b == '\r'
		switch {
		case l.behind:
			out = append(out, '\n')
		case b != '\n' || !behind:
			out = append(out, b)
		}
	}
	return out
}

// End hands over a last line without an end.
func (l *Lines) End() {
	if l.line.Size > 0 {
		l.hand()
	}
}

// Lose drops the line that has not ended.
func (l *Lines) Lose() { l.line = Clipped{} }

func (l *Lines) hand() {
	line := l.line
	l.line = Clipped{}
	l.Each(line)
}

// Read hands the lines of r, of which most bytes are kept, to each until r ends. The error
// is nil for a proper end.
func Read(r io.Reader, most int64, each func(Clipped)) error {
	lines := Lines{Most: most, Each: each}
	_, err := io.Copy(&lines, r)
	lines.End()
	return err
}
