package tap

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"time"

	"elicitation-inspector/bridge/client/transport"
	"elicitation-inspector/bridge/wire/lines"
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
	w.over()
	return err
}

func (w watched) over() {
	w.o.over(w.of)
	w.o.stir()
}

// posted is the body of a request. The transport's Close leaves it open, so that the rest can
// be read where the server is not reached; net/http closes it.
type posted struct{ watched }

func (posted) Close() error { return nil }

// once has f called by the goroutine that looks, after what it was given before.
func (o *Observer) once(f func(at time.Time)) {
	o.put(piece{do: f, end: true})
	o.stir()
}

// body collects a whole body.
type body struct {
	o        *Observer
	encoding string // its Content-Encoding
	done     func(t lines.Clipped, at time.Time)
	text     lines.Clipped
	lost     int64
	ended    bool
}

func (b *body) take(p []byte, _ time.Time) { b.text.Add(p, b.o.most()) }
func (b *body) lose(lost int64, _ time.Time) {
	b.lost += lost
	b.text.Size += lost
}

func (b *body) end(at time.Time) {
	if b.ended {
		return
	}
	b.ended = true
	t := b.text
	b.text = lines.Clipped{}
	if b.encoding == "gzip" && b.lost == 0 {
		if r, err := gzip.NewReader(bytes.NewReader(t.Head)); err == nil {
			t, _ = lines.Keep(io.LimitReader(r, b.o.most()+1), b.o.most()) // a part is better than none
		}
	}
	b.done(t, at)
}

// events hands over the data of server-sent events. An event that the end of the stream has
// cut off is dropped, as clients do.
type events struct {
	*transport.Events
	at time.Time // when the bytes came that are looked at
}

func newEvents(o *Observer, done func(data lines.Clipped, at time.Time)) *events {
	e := &events{}
	e.Events = transport.NewEvents(o.most(), func(one transport.Event) {
		if one.Data.Size > 0 {
			done(one.Data, e.at)
		}
	})
	return e
}

func (e *events) take(p []byte, at time.Time) {
	e.at = at
	_, _ = e.Write(p) // never fails
}

func (e *events) lose(int64, time.Time) { e.Lose() }
func (e *events) end(time.Time)         {}
