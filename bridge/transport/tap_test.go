package transport

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"elicitation-inspector/bridge/wire"
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

// The response has the exact id of the server's request, whatever it is.
func TestIDsComeBackAsTheyWere(t *testing.T) {
	ids := []string{
		`1`, `0`, `-1`, `9007199254740992`, `""`, `"1"`, `"a\"é"`, `"1.0"`,
		`9007199254740993`, `1700000000000000001`, `9223372036854775807`,
		`123456789012345678901234567890`, `1e3`, `-0`,
		`"a\"\u00e9"`, `"a<b>&"`, `"\/\\"`, `"elicitation-inspector-id:1"`,
	}
	for _, id := range ids {
		m, err := wire.ParseMessage([]byte(`{"jsonrpc":"2.0","id":` + id + `,"method":"m","params":{"a":[1]}}`))
		if err != nil {
			t.Fatal(err)
		}
		msg, err := messageOf(m)
		if err != nil {
			t.Fatal(err)
		}
		req := msg.(*jsonrpc.Request)
		if req.Method != "m" || string(req.Params) != `{"a":[1]}` {
			t.Errorf("%s: %+v", id, req)
		}
		raw, err := jsonrpc.EncodeMessage(&jsonrpc.Response{ID: req.ID, Result: json.RawMessage(`{"id":"x"}`)})
		if err != nil {
			t.Fatal(err)
		}
		want := `{"jsonrpc":"2.0","id":` + id + `,"result":{"id":"x"}}`
		if got := restoreID(raw); string(got) != want {
			t.Errorf("%s: the response is %s", id, got)
		}
	}
	for _, same := range []string{"", "{}", `{"jsonrpc":"2.0","id":"elicitation-inspector-id:`, `{"jsonrpc":"2.0","id":"elicitation-inspector-id:x","result":{}}`} {
		if got := restoreID([]byte(same)); string(got) != same {
			t.Errorf("%s has become %s", same, got)
		}
	}
}

const oddQuestion = `{"jsonrpc":"2.0","id":1700000000000000001,"method":"elicitation/create","params":{"mode":"form","message":"?","requestedSchema":{"type":"object","properties":{}}}}`

func TestIDsOverStdio(t *testing.T) {
	s := program("relay")
	s.Env = append(s.Env, "ANSWERS=notifications/initialized "+oddQuestion)
	r := &recorder{}
	l := mustOpen(t, s, r, Options{})
	connect(t, l, answering())
	r.await(t, "stderr", text(`{"jsonrpc":"2.0","id":1700000000000000001,"result":{"action":"accept"`))
	r.await(t, "received", raw(oddQuestion))
	r.await(t, "sent", func(s seen) bool { return string(s.unit.Message.ID) == "1700000000000000001" })
}

func TestIDsOverHTTP(t *testing.T) {
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
	r := &recorder{}
	l := mustOpen(t, Spec{URL: start(t, server).URL}, r, Options{})
	s := connect(t, l, answering())
	if got := mustCall(t, s, "rude", nil); got != "1700000000000000001" {
		t.Errorf("the answer came with id %s", got)
	}
	r.await(t, "received", raw(oddQuestion))
	r.await(t, "sent", func(s seen) bool { return string(s.unit.Message.ID) == "1700000000000000001" })
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
	k, err := Keep(io.LimitReader(forever{}, 10<<20), 1<<20)
	if err != nil || len(k.Head) != 1<<20 || cap(k.Head) > 1<<20+1<<13 || k.Size != 10<<20 || len(k.tail) != tailSize {
		t.Errorf("kept %d+%d of %d bytes in %d, %v", len(k.Head), len(k.tail), k.Size, cap(k.Head), err)
	}
}
