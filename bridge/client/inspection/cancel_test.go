package inspection_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"elicitation-inspector/bridge/client/inspection"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/testdata/logtest"
	"elicitation-inspector/bridge/wire"
)

// A cancellation gives the server the reason.
func TestWordsOfCancellations(t *testing.T) {
	stop := func(b *bench, call inspection.Call) {
		if err := b.in.Stop(call.Number); err != nil {
			b.Fatal(err)
		}
		frames, err := logtest.Frames(b.log)
		if err != nil || !slices.ContainsFunc(frames, func(f wire.Frame) bool { return f.Note != nil && f.Note.Kind == wire.NoteEnded }) {
			b.Errorf("the call is over, and the log does not say so: %v", err)
		}
	}
	disconnect := func(b *bench, _ inspection.Call) {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := b.in.Disconnect(ctx, "s1"); err != nil {
			b.Fatal(err)
		}
	}
	cases := []struct {
		name    string
		timeout time.Duration
		end     func(*bench, inspection.Call)
		want    string
	}{
		{"stop", -1, stop, "stopped by the user"},
		{"timeout", 5 * time.Second, nil, "timed out after 5.00 s"}, // in which also a busy machine sends the request,
		{"disconnect", -1, disconnect, "the client disconnects"},
	}
	reason := func(raw string) (string, string) {
		var m struct {
			Params struct {
				ID     json.RawMessage `json:"requestId"`
				Reason string          `json:"reason"`
			} `json:"params"`
		}
		_ = json.Unmarshal([]byte(raw), &m)
		return string(m.Params.ID), m.Params.Reason
	}
	for _, c := range cases {
		t.Run(c.name+" over stdio", func(t *testing.T) {
			b := start(t, "never", conversation.ClientSettings{})
			call := b.callWithin("wait", c.timeout)
			b.until("the request", func() bool { return strings.Contains(strings.Join(b.server().Stderr, "\n"), "tools/call") })
			if c.end != nil {
				c.end(b, call)
			}
			said := ""
			b.until("the cancellation", func() bool {
				for _, line := range b.server().Stderr {
					if strings.Contains(line, "notifications/cancelled") {
						said = line
					}
				}
				return said != ""
			})
			if id, why := reason(said); why != c.want || id == "" || !strings.Contains(b.transcript(), said) {
				t.Errorf("the server got %s, want %q, as in the log", said, c.want)
			}
		})
		t.Run(c.name+" over HTTP", func(t *testing.T) {
			arrived := make(chan struct{}, 1)
			s := &rawHTTP{call: func(_ http.ResponseWriter, r request) { arrived <- struct{}{}; <-r.ctx.Done() }}
			serveHTTP(t, s)
			b := startHTTP(t, s, inspection.Config{})
			call := b.callWithin("ask", c.timeout)
			<-arrived
			if c.end != nil {
				c.end(b, call)
			}
			for {
				select {
				case m := <-s.posted:
					if m.Method != "notifications/cancelled" {
						continue
					}
					if _, why := reason(m.raw); why != c.want {
						t.Errorf("the server got %s, want %q", m.raw, c.want)
					}
				case <-time.After(patience):
					t.Fatal("the server is not told")
				}
				break
			}
		})
	}
}

func init() {
	// never answers a call, and writes what it receives to stderr.
	rawServers["never"] = func(s *rawServer) {
		s.tell = true
		s.serve("2025-11-25", []string{"wait"}, func(request) {})
	}
}

// If several calls end at the same moment, each cancellation belongs to its own call.
func TestCancellationsBelongToTheirCalls(t *testing.T) {
	b := start(t, "never", conversation.ClientSettings{})
	for range 3 {
		b.callWithin("wait", -1)
	}
	b.until("the requests", func() bool { return b.sent("tools/call") == 3 })
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := b.in.Disconnect(ctx, "s1"); err != nil {
		t.Fatal(err)
	}
	frames, err := logtest.Frames(b.log)
	if err != nil {
		t.Fatal(err)
	}
	of := map[int]int{}
	for _, f := range frames {
		if f.Message.Method == "notifications/cancelled" {
			of[f.Call]++
		}
	}
	if fmt.Sprint(of) != "map[1:1 2:1 3:1]" {
		t.Errorf("cancellations by call: %v", of)
	}
}
