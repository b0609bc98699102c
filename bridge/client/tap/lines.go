package tap

import (
	"cmp"
	"time"

	"elicitation-inspector/bridge/wire"
	"elicitation-inspector/bridge/wire/lines"
)

// stderrMost is how many bytes of one line of standard error are kept.
const stderrMost = 1 << 20

// pipe makes frames of one of the streams of a process.
type pipe struct {
	o     *Observer
	frame wire.Frame // that all frames of the stream have in common
	what  string     // names the stream in notes
	lines lines.Lines
	at    time.Time // when the bytes came that are looked at
	torn  bool      // the beginning of the line is missing
}

// newPipe returns the pipe of a stream of a session.
func (o *Observer) newPipe(session wire.Frame, dir wire.Direction, what string) *pipe {
	p := &pipe{o: o, frame: session, what: what}
	p.lines = lines.Lines{Most: o.most(), Each: p.line}
	if p.frame.Dir = dir; dir == wire.Stderr {
		p.lines.Most = min(p.lines.Most, stderrMost)
	}
	return p
}

// most is how many bytes of a message are kept.
func (o *Observer) most() int64 { return cmp.Or(o.config.MaxFrame, wire.DefaultMaxFrame) }

func (p *pipe) line(t lines.Clipped) {
	if p.torn { // what is left of a line is not a message
		p.torn = false
		return
	}
	f := p.frame
	f.Time = p.at
	t.Into(&f)
	if f.Raw == nil {
		f.Raw = []byte{}
	}
	p.o.add(f)
}

func (p *pipe) take(b []byte, at time.Time) {
	p.at = at
	_, _ = p.lines.Write(b) // never fails
}

func (p *pipe) end(at time.Time) {
	p.at = at
	p.lines.End()
}

func (p *pipe) lose(lost int64, at time.Time) {
	p.lines.Lose()
	p.torn = true
	f := p.frame
	f.Dir, f.Time, f.Failed, f.Note = wire.Meta, at, true, &wire.Note{Kind: wire.NoteUnseen, Of: p.what, Bytes: lost}
	p.o.add(f)
}
