package otlp

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/wire"
	"elicitation-inspector/bridge/wire/redact"
)

// Config says where spans are sent, and how.
type Config struct {
	URL      string
	Header   http.Header
	Client   *http.Client
	Timeout  time.Duration // of one request
	Resource []Attribute   // besides the service's name and version
	Version  string        // of the inspector
	Content  bool          // as in Options

	Compression string // "gzip", or another word for none

	// Warn says what goes wrong: once when sending fails at first, and once at the end what was lost.
	Warn func(text string)
}

// Bounds of an Exporter: how many spans wait and are sent at once, how long they are collected,
// how long the end may take, how often and how long sending is tried again, and how much of a
// response is read.
const (
	queueMost   = 4096
	batchMost   = 512
	sendEvery   = time.Second
	followEvery = 100 * time.Millisecond
	flushMost   = 2 * time.Second
	triesMost   = 6
	pauseMost   = 30 * time.Second
	replyMost   = 64 << 10
)

// Exporter sends the spans of logs to a collector. No session waits for it: spans for which
// its queue has no room are dropped and counted. Its methods are safe for concurrent use.
type Exporter struct {
	config  Config
	queue   chan *Span
	ending  chan struct{} // closed when only what waits is still sent
	ended   chan struct{}
	life    context.Context
	give    context.CancelFunc // gives up sending
	dropped atomic.Int64
	failure atomic.Pointer[error] // the latest
	told    atomic.Bool
	closing sync.Once
}

// NewExporter begins to send. The caller must close the exporter.
func NewExporter(c Config) *Exporter {
	e := &Exporter{config: c, queue: make(chan *Span, queueMost), ending: make(chan struct{}), ended: make(chan struct{})}
	e.config.Resource = service(c.Version)
	for _, a := range c.Resource {
		e.config.Resource = slices.DeleteFunc(e.config.Resource, func(own Attribute) bool { return own.Key == a.Key })
		e.config.Resource = append(e.config.Resource, a)
	}
	client := *c.Client // it follows no redirect, since the headers can have keys
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	e.config.Client = &client
	e.life, e.give = context.WithCancel(context.Background())
	go e.run()
	return e
}

// Follow sends the spans of a log until end is called, which waits until the last ones are in
// the queue; then the log may be closed.
func (e *Exporter) Follow(l *wire.Log, r *redact.Redaction) (end func()) {
	over, done := make(chan struct{}), make(chan struct{})
	ctx, stop := context.WithCancel(e.life)
	reader := NewReader(l, Options{Redact: r, Content: e.config.Content}, e.put)
	go func() {
		defer close(done)
		for {
			grown := l.Grown()
			err := reader.Read(ctx)
			select {
			case <-over:
				err = cmp.Or(err, reader.Finish(ctx))
			default:
				if err == nil {
					select {
					case <-grown:
					case <-over:
						continue
					}
					select { // so that a flood of frames is read in large pieces
					case <-time.After(followEvery):
					case <-over:
					}
					continue
				}
			}
			if err != nil {
				e.fail(fmt.Errorf("not all of a session is told: %w", err))
			}
			return
		}
	}()
	return sync.OnceFunc(func() {
		close(over)
		timer := time.AfterFunc(flushMost, stop)
		<-done
		timer.Stop()
		stop()
	})
}

func (e *Exporter) put(s *Span) {
	select {
	case e.queue <- s:
	default:
		e.lose(1, nil)
	}
}

func (e *Exporter) lose(n int64, err error) {
	e.dropped.Add(n)
	if err != nil {
		e.failure.Store(&err)
	}
}

// fail says that sending has failed, unless it was said before.
func (e *Exporter) fail(err error) {
	e.failure.Store(&err)
	if !e.told.Swap(true) {
		e.config.Warn("traces: " + err.Error())
	}
}

// Close sends what waits, for a short while, and says how many spans were lost. All that was begun
// by Follow must have ended.
func (e *Exporter) Close() {
	e.closing.Do(func() {
		close(e.ending)
		timer := time.AfterFunc(flushMost, e.give)
		<-e.ended
		timer.Stop()
		e.give()
		e.config.Client.CloseIdleConnections()
		if n := e.dropped.Load(); n > 0 {
			why := "they came faster than they could be sent"
			if err := e.failure.Load(); err != nil {
				why = (*err).Error()
			}
			e.config.Warn(fmt.Sprintf("traces: %s not sent: %s", wording.Count(int(n), "span was", "spans were"), why))
		}
	})
}

// run sends what is in the queue until Close.
func (e *Exporter) run() {
	defer close(e.ended)
	var batch []*Span
	tick := time.NewTicker(sendEvery)
	defer tick.Stop()
	for {
		send := false
		select {
		case s := <-e.queue:
			batch = append(batch, s)
			send = len(batch) == batchMost
		case <-tick.C:
			send = true
		case <-e.ending:
			for more := true; more; {
				select {
				case s := <-e.queue:
					batch = append(batch, s)
				default:
					more = false
				}
			}
			for part := range slices.Chunk(batch, batchMost) {
				e.send(part)
			}
			return
		}
		if send && len(batch) > 0 {
			e.send(batch)
			batch = nil
		}
	}
}

// send sends spans. While the collector cannot be reached or has no room it tries again; at the end
// it does not.
func (e *Exporter) send(batch []*Span) {
	body, err := e.encode(batch)
	for try := 1; err == nil; try++ {
		var again bool
		var pause time.Duration
		if pause, again, err = e.post(body); err == nil {
			return
		}
		atEnd := false
		select {
		case <-e.ending:
			atEnd = true
		default:
			e.fail(err)
		}
		if !again || try == triesMost || atEnd {
			break
		}
		select {
		case <-time.After(min(max(pause, time.Second<<(try-1)), pauseMost)):
		case <-e.ending: // one more try
			try = triesMost - 1
		}
		err = nil
	}
	e.lose(int64(len(batch)), err)
}

// encode returns the body of a request that sends spans to a collector.
func (e *Exporter) encode(batch []*Span) (body []byte, err error) {
	r := request{[]resourceSpans{{resource{e.config.Resource}, []scopeSpans{{scope{scopeName, e.config.Version}, batch}}}}}
	body = appendMessage(nil, reflect.ValueOf(r))
	if e.config.Compression != "gzip" {
		return body, nil
	}
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err = z.Write(body)
	return b.Bytes(), errors.Join(err, z.Close())
}

// post makes one request. again says that it makes sense to send the same once more, after a pause
// if the collector names one.
func (e *Exporter) post(body []byte) (pause time.Duration, again bool, err error) {
	ctx, cancel := context.WithTimeout(e.life, e.config.Timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.config.URL, bytes.NewReader(body))
	if err != nil {
		return 0, false, err
	}
	req.Header = e.config.Header.Clone()
	req.Header.Set("Content-Type", "application/x-protobuf")
	if e.config.Compression == "gzip" {
		req.Header.Set("Content-Encoding", "gzip")
	}
	res, err := e.config.Client.Do(req)
	var reply []byte
	if err == nil {
		defer res.Body.Close()
		reply, err = io.ReadAll(io.LimitReader(res.Body, replyMost))
	}
	if err != nil {
		if e.life.Err() != nil || ctx.Err() != nil {
			err = errors.New("no answer in time")
		} else if of, ok := errors.AsType[*url.Error](err); ok {
			err = of.Err
		}
		return 0, true, fmt.Errorf("%s: %w", req.URL.Redacted(), err)
	}
	switch status := res.StatusCode; {
	case status >= 200 && status < 300:
		if n := rejected(reply); n > 0 {
			e.lose(n, fmt.Errorf("%s has rejected them", req.URL.Redacted()))
		}
		return 0, false, nil
	case status == http.StatusTooManyRequests, status >= 502 && status <= 504:
		again = true
	}
	if seconds, err := strconv.Atoi(res.Header.Get("Retry-After")); err == nil {
		pause = time.Duration(min(max(seconds, 0), 3600)) * time.Second
	}
	return pause, again, fmt.Errorf("%s answered with HTTP %s", req.URL.Redacted(), wording.EscapeLine(res.Status))
}

// rejected returns how many spans a collector says that it has not taken: in the first field of
// partial_success, which is the first field of the response.
func rejected(reply []byte) int64 {
	if len(reply) < 4 || reply[0] != 1<<3|2 {
		return 0
	}
	_, size := binary.Uvarint(reply[1:])
	if inner := reply[1+max(size, 0):]; len(inner) > 1 && inner[0] == 1<<3 {
		rejected, _ := binary.Uvarint(inner[1:])
		return int64(min(rejected, batchMost))
	}
	return 0
}
