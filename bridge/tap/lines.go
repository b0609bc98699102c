package tap

import (
	"bytes"
	"time"

	"elicitation-inspector/bridge/wire"
)

// text collects bytes up to a limit, and counts the others.
type text struct {
	head []byte
	size int64
}

func (t *text) add(p []byte, most int64) {
	t.size += int64(len(p))
	if room := most - int64(len(t.head)); room > 0 {
		t.head = append(t.head, p[:min(int64(len(p)), room)]...)
	}
}

// into sets the bytes of a frame.
func (t *text) into(f *wire.Frame) {
	f.Raw, f.Size, f.Truncated = t.head, t.size, t.size > int64(len(t.head))
}

// take empties t, whose memory then belongs to the caller.
func (t *text) take() text {
	out := *t
	*t = text{}
	return out
}

// splitter calls line with each line of a stream, without its end; lines end with LF or
// CR LF.
type splitter struct {
	most int64
	line func(t text, at time.Time)
	part text
}

func (s *splitter) take(p []byte, at time.Time) {
	for {
		line, rest, found := bytes.Cut(p, []byte("\n"))
		s.part.add(line, s.most)
		if !found {
			return
		}
		s.flush(at)
		p = rest
	}
}

func (s *splitter) flush(at time.Time) {
	t := s.part.take()
	if n := len(t.head); n > 0 && t.size == int64(n) && t.head[n-1] == '\r' {
		t.head, t.size = t.head[:n-1], t.size-1
	}
	s.line(t, at)
}

// end hands over a last line without an end.
func (s *splitter) end(at time.Time) {
	if s.part.size > 0 {
		s.flush(at)
	}
}

// stderrMost is how many bytes of one line of standard error are kept.
const stderrMost = 1 << 20

// pipe makes frames of one of the streams of a process.
type pipe struct {
	splitter
	o     *Observer
	frame wire.Frame // that all frames of the stream have in common
	what  string     // names the stream in notes
	torn  bool       // the beginning of the line is missing
}

func (o *Observer) newPipe(frame wire.Frame, what string) *pipe {
	p := &pipe{o: o, frame: frame, what: what}
	p.most = o.config.MaxFrame
	if p.most == 0 {
		p.most = wire.DefaultMaxFrame
	}
	if frame.Dir == wire.Stderr {
		p.most = min(p.most, stderrMost)
	}
	p.line = func(t text, at time.Time) {
		if p.torn { // what is left of a line is not a message
			p.torn = false
			return
		}
		f := p.frame
		f.Time = at
		t.into(&f)
		if f.Raw == nil {
			f.Raw = []byte{}
		}
		o.add(f)
	}
	return p
}

func (p *pipe) lose(lost int64, at time.Time) {
	p.part = text{}
	p.torn = true
	f := p.frame
	f.Dir, f.Time, f.Failed, f.Note = wire.Meta, at, true, &wire.Note{Kind: wire.NoteUnseen, Of: p.what, Bytes: lost}
	p.o.add(f)
}
