package push

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path"
	"strings"
	"sync"

	"github.com/coder/websocket"
)

// Request is a form that a page posts over its websocket: a fetch takes the browser 2 ms
// longer to send.
type Request struct {
	ID   int64  `json:"id"`
	Path string `json:"path"`
	Body string `json:"body"` // application/x-www-form-urlencoded
}

// Answer is the response to the [Request] with the same ID.
type Answer struct {
	ID     int64  `json:"answer"`
	Status int    `json:"status"`
	Type   string `json:"type,omitempty"` // Content-Type
	Text   string `json:"text,omitempty"`
}

const (
	requestMost  = 64 << 10 // bytes of one request; pages post larger forms over HTTP
	requestsMost = 16       // requests of one page that are answered at the same time
)

// answerRequests answers the requests of a page until its socket is closed, or sends
// anything else. first is the request that opened the socket.
func answerRequests(ctx context.Context, socket *websocket.Conn, first *http.Request, handler http.Handler) {
	var running sync.WaitGroup
	defer running.Wait()
	socket.SetReadLimit(requestMost)
	slots := make(chan struct{}, requestsMost)
	for {
		kind, data, err := socket.Read(ctx)
		var r Request
		if err != nil || kind != websocket.MessageText || json.Unmarshal(data, &r) != nil || !isPath(r.Path) {
			return
		}
		select {
		case slots <- struct{}{}:
		case <-ctx.Done():
			return
		}
		running.Go(func() {
			defer func() { <-slots }()
			// An error means that the page is gone: reading ends, too.
			_ = write(ctx, socket, encode(answer(ctx, first, r, handler)))
		})
	}
}

// isPath reports whether a path has only one interpretation; the guard does not see it.
func isPath(p string) bool { return path.IsAbs(p) && p == path.Clean(p) }

// answer has handler answer a request as if it came over HTTP from the page that sent first.
func answer(ctx context.Context, first *http.Request, r Request, handler http.Handler) (a Answer) {
	// What net/http does for its own requests: a panic ends one request only.
	defer func() {
		if p := recover(); p != nil {
			a = Answer{ID: r.ID, Status: http.StatusInternalServerError, Text: fmt.Sprintf("Something went wrong in the inspector: %v", p)}
		}
	}()
	post := (&http.Request{
		Method: http.MethodPost, URL: &url.URL{Path: r.Path}, RequestURI: r.Path, Host: first.Host, RemoteAddr: first.RemoteAddr,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Accept": {"text/html"}, "Content-Type": {"application/x-www-form-urlencoded"}},
		Body:   io.NopCloser(strings.NewReader(r.Body)), ContentLength: int64(len(r.Body)),
	}).WithContext(ctx)
	w := &recorder{header: http.Header{}, status: http.StatusOK}
	handler.ServeHTTP(w, post)
	return Answer{r.ID, w.status, w.header.Get("Content-Type"), w.body.String()}
}

// recorder keeps the response of a handler.
type recorder struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (w *recorder) Header() http.Header            { return w.header }
func (w *recorder) WriteHeader(status int)         { w.status = status }
func (w *recorder) Write(data []byte) (int, error) { return w.body.Write(data) }
