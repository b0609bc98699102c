package inspection_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/client/inspection"
	"elicitation-inspector/bridge/meaning/conversation"
)

// Since 2026-07-28 a client cancels an HTTP request by closing the stream of its
// response. In earlier revisions it sends a notification.
func TestStopOverHTTP(t *testing.T) {
	for _, revision := range mcp.Revisions {
		t.Run(revision, func(t *testing.T) {
			began, closed := make(chan struct{}), make(chan struct{})
			s := &rawHTTP{revision: revision, noStream: true}
			s.call = func(w http.ResponseWriter, r request) {
				w.Header().Set("Content-Type", "text/event-stream")
				w.(http.Flusher).Flush()
				close(began)
				<-r.ctx.Done()
				close(closed)
			}
			serveHTTP(t, s)
			b := startHTTP(t, s, inspection.Config{Settings: conversation.ClientSettings{Protocol: revision}})
			call := b.call("ask")
			<-began
			if err := b.in.Stop(call.Number); err != nil {
				t.Fatal(err)
			}
			<-closed
			if revision < mcp.Revision20260728 {
				b.until("the notification", func() bool { return b.sent("notifications/cancelled") == 1 })
				return
			}
			b.until("the note", func() bool { return strings.Contains(b.transcript(), "cancelled by closing its response stream") })
			if n := b.sent("notifications/cancelled"); n != 0 {
				t.Errorf("%d notifications were posted\n%s", n, b.transcript())
			}
			for {
				select {
				case m := <-s.posted:
					if m.Method == "notifications/cancelled" {
						t.Errorf("the server got %s", m.raw)
					}
					continue
				default:
				}
				break
			}
		})
	}
}

// Since 2026-07-28 the client does not answer a request on the event stream of a POST,
// and the call continues.
func TestRequestOverHTTPIsNotAnswered(t *testing.T) {
	s := &rawHTTP{revision: "2026-07-28", noStream: true}
	s.call = func(w http.ResponseWriter, call request) {
		event(w, fmt.Sprintf(plainQuestion, `"q"`))
		event(w, `{"jsonrpc":"2.0","id":"p","method":"ping"}`)
		event(w, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"resultType":"complete","content":[]}}`, call.ID))
	}
	serveHTTP(t, s)
	b := startHTTP(t, s, inspection.Config{})
	got, _ := b.done(b.call("ask").Number)
	q := b.question(1)
	if got.State != conversation.Done || q.State != conversation.Refused || q.Call != got.Number || !strings.Contains(q.Reason, "must not send requests") {
		t.Errorf("call is %s, question of call %d is %s: %s", got.State, q.Call, q.State, q.Reason)
	}
	if f, err := b.log.Frame(q.AskedSeq); err != nil || b.in.Waits(f.Seq, f.Session) {
		t.Errorf("the request is said to wait for a response (%v)", err)
	}
	if strings.Contains(b.transcript(), `c2s {"jsonrpc":"2.0","id":"`) {
		t.Errorf("something was answered:\n%s", b.transcript())
	}
}
