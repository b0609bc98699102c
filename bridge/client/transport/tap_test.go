package transport

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"elicitation-inspector/bridge/client/target"
	"elicitation-inspector/bridge/wire"
	"elicitation-inspector/bridge/wire/lines"
)

func TestEnvelopeOfALargeMessage(t *testing.T) {
	const big = `{"text":"…`
	tests := []struct {
		head, tail string
		want       string // kind and id; "" for no message
	}{
		{`{"jsonrpc":"2.0","id":7,"result":` + big, `xx"}}`, "result 7"},
		{`{"jsonrpc":"2.0","id":"a","error":` + big, `xx"}}`, "error \"a\""},
		{`{"jsonrpc": "2.0", "method": "m", "params":` + big, `xx"}}`, "notification "},
		{`{"jsonrpc":"2.0","method":"m","id":1,"params":` + big, `xx"}}`, "request 1"},
		{`{"result":` + big, `xx"},"jsonrpc":"2.0","id":3}`, "result 3"},
		{`{"result":` + big, `xx"} , "id" : "x-1" , "jsonrpc" : "2.0" } `, `result "x-1"`},
		{`{"jsonrpc":"2.0","method":"m","params":` + big, `xx"},"id":-4}`, "request -4"},
		{`{"jsonrpc":"2.0","result":` + big, `"id":5,"x":1}}`, "result "},          // the id is not at the end
		{`{"jsonrpc":"2.0","result":` + big, `\"id\":5}"}`, "result "},             // within a text
		{`{"jsonrpc":"2.0","id":7,"result":` + big, `{"id":5},"x":0}`, "result 7"}, // the id of another object
		{`{"jsonrpc":"2.0","id":7,"other":` + big, `xx"}}`, ""},
		{`{"jsonrpc":"1.0","id":7,"result":` + big, `xx"}}`, ""},
		{`{"result":` + big, `xx"}}`, ""},
		{`[{"jsonrpc":"2.0","id":7,"result":` + big, `xx"}}]`, ""},
		{`hello`, `world`, ""},
		{``, ``, ""},
	}
	for _, test := range tests {
		m, err := wire.ParseEnds([]byte(test.head), []byte(test.tail))
		got := ""
		if err == nil {
			got = fmt.Sprintf("%v %s", m.Kind, m.ID)
		}
		if got != test.want {
			t.Errorf("%s … %s: %q, want %q", test.head, test.tail, got, test.want)
		}
	}
}

const oddQuestion = `{"jsonrpc":"2.0","id":1700000000000000001,"method":"elicitation/create","params":{"mode":"form","message":"?","requestedSchema":{"type":"object","properties":{}}}}`

const oddAnswer = `{"jsonrpc":"2.0","id":1700000000000000001,"result":{"action":"accept", "content":{"n":1e3}}}`

// sends has the observer keep oddQuestion from the SDK, and send oddAnswer by the link.
func sends(t *testing.T, spec target.Spec) (*recorder, *Link) {
	var l *Link
	var sending sync.WaitGroup
	opened := make(chan struct{})
	r := &recorder{deliver: func(u Tapped) []byte {
		if u.Message.Kind != wire.Request {
			return u.Raw
		}
		sending.Go(func() {
			<-opened
			if err := l.Send(context.WithoutCancel(t.Context()), Outgoing{Frame: wire.Frame{Raw: []byte(oddAnswer)}}); err != nil {
				t.Error(err)
			}
		})
		return nil
	}}
	l = mustOpen(t, spec, r, Options{})
	t.Cleanup(sending.Wait) // before the link is closed
	close(opened)
	return r, l
}

// What is sent beside the SDK goes out byte for byte, with an id that the SDK would change.
func TestSendOverStdio(t *testing.T) {
	s := program("relay")
	s.Env = append(s.Env, "ANSWERS=notifications/initialized "+oddQuestion)
	r, l := sends(t, s)
	connect(t, l, nil)
	r.await(t, "stderr", text(oddAnswer))
	r.await(t, "received", raw(oddQuestion))
	r.await(t, "sent", raw(oddAnswer))
}

func TestSendOverHTTP(t *testing.T) {
	answered := make(chan string, 1)
	server := rude{
		call: func(w http.ResponseWriter, r *http.Request) {
			begin(w, "data: "+oddQuestion+"\n\n")
			answer := <-answered
			begin(w, answerTo(r, "data: "+strings.ReplaceAll(good, "good", answer)+"\n\n"))
		},
		other: func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusAccepted)
			answered <- string(posted(r).ID)
		},
	}
	r, l := sends(t, target.Spec{URL: start(t, server).URL})
	if got := mustCall(t, connect(t, l, nil), "rude", nil); got != "1700000000000000001" {
		t.Errorf("the answer came with id %s", got)
	}
	r.await(t, "received", raw(oddQuestion))
	r.await(t, "sent", raw(oddAnswer))
}

// An error without an id answers no request over stdio.
func TestErrorWithoutID(t *testing.T) {
	s := program("relay")
	s.Env = append(s.Env, "ANSWERS=notifications/initialized {\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32700,\"message\":\"what?\"}}\ntools/call "+good)
	r := &recorder{}
	l := mustOpen(t, s, r, Options{})
	session := connect(t, l, nil)
	r.await(t, "note", text("not passed on: the message cannot be read: it answers no request"))
	if got := mustCall(t, session, "echo", nil); got != "good" {
		t.Errorf("afterwards: %q", got)
	}
}

// A large answer is recognized by an id at its end.
func TestLargeAnswerWithItsIDAtTheEnd(t *testing.T) {
	s := program("relay")
	s.Env = append(s.Env, `ANSWERS=tools/call {"result":{"text":"`+strings.Repeat("x", 10<<10)+`"},"jsonrpc":"2.0","id":ID}`)
	r := &recorder{}
	l := mustOpen(t, s, r, Options{MaxFrame: 4 << 10})
	_, err := call(t, connect(t, l, nil), "echo", nil)
	if failure, ok := FailureOf(err); !ok || !strings.Contains(failure.Text, "over the limit of 4096 bytes") {
		t.Errorf("got %v", err)
	}
	u := r.await(t, "received", func(s seen) bool { return s.unit.Truncated }).unit
	if u.Kind == wire.Noise || u.Message.Kind != wire.Result || len(u.Raw) != 4<<10 {
		t.Errorf("noise %v, %v, %d bytes", u.Kind == wire.Noise, u.Message.Kind, len(u.Raw))
	}
}

// keep holds no more of a text than it was told to.
func TestKeep(t *testing.T) {
	k, err := lines.Keep(io.LimitReader(forever{}, 10<<20), 1<<20)
	if err != nil || len(k.Head) != 1<<20 || cap(k.Head) > 1<<20+1<<13 || k.Size != 10<<20 || len(k.Tail) != lines.TailSize {
		t.Errorf("kept %d+%d of %d bytes in %d, %v", len(k.Head), len(k.Tail), k.Size, cap(k.Head), err)
	}
}
