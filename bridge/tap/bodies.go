package tap

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"time"

	"elicitation-inspector/bridge/wire"
)

type crossingKey struct{}

func crossingOf(ctx context.Context) *crossing {
	x, _ := ctx.Value(crossingKey{}).(*crossing)
	return x
}

// watched hands over a copy of a body while it is read.
type watched struct {
	io.ReadCloser
	o  *Observer
	of taker
}

func (w watched) Read(p []byte) (int, error) {
	n, err := w.ReadCloser.Read(p)
	if n > 0 {
		w.o.saw(w.of, bytes.Clone(p[:n]))
	}
	if err != nil {
		w.o.over(w.of)
	}
	w.o.stir()
	return n, err
}

func (w watched) Close() error {
	err := w.ReadCloser.Close()
	w.o.over(w.of)
	w.o.stir()
	return err
}

// once has f called by the goroutine that looks, after what it was given before.
func (o *Observer) once(f func(at time.Time)) {
	o.over(&step{f})
	o.stir()
}

type step struct{ f func(at time.Time) }

func (s *step) take([]byte, time.Time) {}
func (s *step) lose(int64, time.Time)  {}
func (s *step) end(at time.Time)       { s.f(at) }

// body collects a whole body.
type body struct {
	o        *Observer
	encoding string // its Content-Encoding
	done     func(t text, at time.Time)
	text     text
	lost     int64
	ended    bool
}

func (b *body) most() int64 {
	if b.o.config.MaxFrame > 0 {
		return b.o.config.MaxFrame
	}
	return wire.DefaultMaxFrame
}

func (b *body) take(p []byte, _ time.Time) { b.text.add(p, b.most()) }
func (b *body) lose(lost int64, _ time.Time) {
	b.lost += lost
	b.text.size += lost
}

func (b *body) end(at time.Time) {
	if b.ended {
		return
	}
	b.ended = true
	t := b.text.take()
	if b.encoding == "gzip" && b.lost == 0 {
		if r, err := gzip.NewReader(bytes.NewReader(t.head)); err == nil {
			var plain text
			buf := make([]byte, 32<<10)
			for err == nil && plain.size <= b.most() {
				var n int
				n, err = r.Read(buf)
				plain.add(buf[:n], b.most())
			}
			t = plain
		}
	}
	b.done(t, at)
}

// events makes texts of the data of server-sent events (WHATWG HTML, Server-sent events,
// Parsing an event stream).
type events struct {
	splitter
	o     *Observer
	done  func(t text, at time.Time)
	data  text
	has   bool
	torn  bool // a part of the event is missing
	first bool
	cr    bool // the last byte was a CR: an LF behind it belongs to the same line end
}

func newEvents(o *Observer, done func(t text, at time.Time)) *events {
	e := &events{o: o, done: done, first: true}
	most := (&body{o: o}).most()
	e.most = most + 16
	e.line = func(t text, at time.Time) {
		line := t.head
		if e.first {
			line = bytes.TrimPrefix(line, []byte("\uFEFF"))
			e.first = false
		}
		value, isData := bytes.CutPrefix(line, []byte("data"))
		switch {
		case t.size == 0:
			e.dispatch(at)
		case isData && (len(value) == 0 || value[0] == ':'):
			value = bytes.TrimPrefix(bytes.TrimPrefix(value, []byte(":")), []byte(" "))
			if e.has {
				e.data.add([]byte("\n"), most)
			}
			e.has = true
			e.data.add(value, most)
			e.data.size += t.size - int64(len(t.head))
		}
	}
	return e
}

// take converts the line ends CR and CR LF to LF.
func (e *events) take(p []byte, at time.Time) {
	if bytes.IndexByte(p, '\r') >= 0 || e.cr {
		out := make([]byte, 0, len(p))
		for _, b := range p {
			behind := e.cr
			e.cr = b == '\r'
			switch {
			case e.cr:
				out = append(out, '\n')
			case b != '\n' || !behind:
				out = append(out, b)
			}
		}
		p = out
	}
	e.splitter.take(p, at)
}

func (e *events) dispatch(at time.Time) {
	t, has, torn := e.data.take(), e.has, e.torn
	e.has, e.torn = false, false
	if has && !torn && t.size > 0 {
		e.done(t, at)
	}
}

func (e *events) lose(int64, time.Time) { e.torn = true }

// end drops an event that the end of the stream has cut off, as clients do.
func (e *events) end(time.Time) { e.data, e.has = text{}, false }
