package session

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/client/target"
	"elicitation-inspector/bridge/client/transport"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/wire"
)

// listener is an owner that records the calls of its methods.
type listener struct {
	t         *testing.T
	asked     []conversation.InputRequest
	cancelled []string
	completed []int
	released  []string
}

func (l *listener) IsAsked(*Session, string, string) bool { return false }

func (l *listener) Asked(_ *Session, r conversation.InputRequest) {
	if number := r.Number; number != len(l.asked)+1 || r.AskedSeq == 0 || r.Request == nil && r.Refusal == nil && r.Method == mcp.MethodElicit {
		l.t.Errorf("question %d after %d: %+v", r.Number, len(l.asked), r)
	}
	l.asked = append(l.asked, r)
}

func (l *listener) known(question int) {
	if question < 1 || question > len(l.asked) {
		l.t.Errorf("there is no question %d of %d", question, len(l.asked))
	}
}

func (l *listener) Cancelled(question int, reason string) {
	l.known(question)
	l.cancelled = append(l.cancelled, reason)
}

func (l *listener) Completed(question int) {
	l.completed = append(l.completed, question)
}
func (l *listener) Closing(*Session, string)              {}
func (l *listener) Listed(*Session, conversation.Catalog) {}
func (l *listener) Ended(_ *Session, _, reason string) {
	l.released = append(l.released, reason)
}

// tapped returns a session whose tap the test calls itself, so that events happen in a
// fixed order.
func tapped(t *testing.T, revision string) (tap, *listener) {
	t.Helper()
	log, err := wire.NewLog(wire.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = log.Close() })
	l := &listener{t: t}
	s := New(t.Context(), Config{Name: "x", Spec: target.Spec{Name: "raw", Command: []string{"none"}}, Log: log, Conversation: conversation.New(log), Logger: slog.New(slog.DiscardHandler)}, l)
	s.handshake.state.revision = revision
	return tap{s}, l
}

// unit returns a message as the tap sees it.
func unit(t *testing.T, raw string) transport.Tapped {
	t.Helper()
	m, err := wire.ParseMessage([]byte(raw))
	if err != nil {
		t.Fatal(err)
	}
	return transport.Tapped{Frame: wire.Frame{Raw: []byte(raw), Size: int64(len(raw)), Message: m, Kind: m.Kind}}
}

const asks = `{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"message":"?","requestedSchema":{"type":"object","properties":{}}}}`

// A cancellation can arrive while an answer waits to be sent. The answer must not be
// sent then.
func TestCancelledBeforeTheAnswer(t *testing.T) {
	s, l := tapped(t, mcp.Revision20251125)
	s.Received(unit(t, asks))
	s.Received(unit(t, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"reason":"lunch"}}`))
	if s.Sending(t.Context(), unit(t, `{"jsonrpc":"2.0","id":1,"result":{"action":"accept"}}`)) {
		t.Error("the answer goes out")
	}
	if !slices.Equal(l.cancelled, []string{"cancelled by the server: lunch"}) {
		t.Errorf("cancelled: %q", l.cancelled)
	}
	note, err := s.Log.Frame(s.Log.Len())
	if err != nil || note.Note == nil || note.Question != 1 || note.Note.State != "undelivered" || note.Note.Why != "cancelled by the server: lunch, before the answer went out" {
		t.Errorf("the log says %+v, %v", note.Note, err)
	}
}

// A cancellation after the answer is passed on, too: the owner decides what it means.
func TestCancelledAfterTheAnswer(t *testing.T) {
	s, l := tapped(t, mcp.Revision20251125)
	s.Received(unit(t, asks))
	if !s.Sending(t.Context(), unit(t, `{"jsonrpc":"2.0","id":1,"result":{"action":"decline"}}`)) {
		t.Error("the answer is kept back")
	}
	s.Received(unit(t, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`))
	if n := s.Log.Len(); n != 3 || s.Log.Head(2).Question != 1 || !slices.Equal(l.cancelled, []string{"cancelled by the server"}) {
		t.Errorf("cancelled: %q, %d frames", l.cancelled, n)
	}
}

// A question can arrive while the connection ends. Its owner learns from the session why it
// gets no answer.
func TestAskedWhileTheConnectionEnds(t *testing.T) {
	s, l := tapped(t, mcp.Revision20251125)
	if by, _ := s.EndedBy(); by != "" {
		t.Error("the session is released before its end")
	}
	s.Release(true, "exited with code 3")
	s.Received(unit(t, asks))
	if by, reason := s.EndedBy(); by != conversation.ByServer || reason != "exited with code 3" || !slices.Equal(l.released, []string{reason}) {
		t.Errorf("released by %s: %q, and the owner was told %q", by, reason, l.released)
	}
}

// begins sends the first request of a call, with the number of the call as its id.
func begins(t *testing.T, s tap, call int) *outgoing {
	t.Helper()
	out := &outgoing{Request: Request{Call: call, Round: 1}, ctx: t.Context()}
	raw := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"_meta":{"progressToken":"call-%d-1"},"name":"x"}}`, call, call)
	if !s.Sending(out.with(t.Context()), unit(t, raw)) {
		t.Fatalf("the request of call %d is not sent", call)
	}
	return out
}

// The completion of a URL can arrive before the questions of its error are put to the owner.
func TestCompletionThatIsOvertaking(t *testing.T) {
	s, l := tapped(t, mcp.Revision20251125)
	begins(t, s, 1)
	s.Received(unit(t, `{"jsonrpc":"2.0","id":1,"error":{"code":-32042,"message":"m","data":{"elicitations":[{"mode":"url","message":"","url":"https://x","elicitationId":"e"}]}}}`))
	s.Received(unit(t, `{"jsonrpc":"2.0","method":"notifications/elicitation/complete","params":{"elicitationId":"e"}}`))
	s.Received(unit(t, `{"jsonrpc":"2.0","method":"notifications/elicitation/complete","params":{"elicitationId":"other"}}`))
	if !slices.Equal(l.completed, []int{1}) || s.Log.Head(3).Question != 1 || s.Log.Head(3).Call != 1 || s.Log.Head(4).Question != 0 {
		t.Errorf("questions %d are complete", l.completed)
	}
}

// FuzzTap sends arbitrary lines from the server to a session with a call under way.
// Lines that begin with > come from the client. The SDK must only be given messages,
// and the owner must only hear of questions that it knows.
func FuzzTap(f *testing.F) {
	for _, lines := range []string{
		asks + `
{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"reason":"x"}}
>{"jsonrpc":"2.0","id":1,"result":{"action":"cancel"}}`,
		`{"jsonrpc":"2.0","id":"a","method":"elicitation/create"}
{"jsonrpc":"2.0","id":"a","method":"elicitation/create","params":{"mode":"url","url":"https://x","elicitationId":"e","message":""}}
{"jsonrpc":"2.0","method":"notifications/elicitation/complete","params":{"elicitationId":"e"}}`,
		`>{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"_meta":{"progressToken":"call-1-1"},"name":"x"}}
{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"call-1-1","progress":1e999,"message":"x"}}
{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":{"a":[1]}}}
{"jsonrpc":"2.0","id":2,"method":"sampling/createMessage","params":{}}
{"jsonrpc":"2.0","id":7,"result":{"resultType":"input_required","inputRequests":{"a":null}}}
{"jsonrpc":"2.0","id":7,"error":{"code":-32042,"message":"m","data":{"elicitations":[null]}}}
>{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7,"reason":"context canceled"}}`,
		"listening\n[]\n{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}",
	} {
		f.Add([]byte(lines), false)
		f.Add([]byte(lines), true)
	}
	f.Fuzz(func(t *testing.T, lines []byte, modern bool) {
		s, l := tapped(t, map[bool]string{false: mcp.Revision20251125, true: mcp.Revision20260728}[modern])
		ctx, stop := context.WithCancelCause(s.Context())
		defer stop(TakenBack("stopped by the user"))
		s.requests.calls = append(s.requests.calls, 1)
		out := &outgoing{Request: Request{Call: 1, Round: 1}, ctx: ctx}
		for raw := range bytes.SplitSeq(lines, []byte("\n")) {
			line, ours := bytes.CutPrefix(raw, []byte(">"))
			m, err := wire.ParseMessage(line)
			u := transport.Tapped{Frame: wire.Frame{Raw: line, Size: int64(len(line)), Message: m, Kind: m.Kind}}
			if err != nil {
				u.Kind = wire.Noise
			}
			if ours {
				if reworded := s.outgoingFor(out.with(ctx), line).Frame.Raw; err == nil && !bytes.Equal(reworded, line) {
					if again, err := wire.ParseMessage(reworded); err != nil || again.Method != mcp.NotificationCancelled {
						t.Errorf("%s has become %s", line, reworded)
					}
				}
				s.Sending(out.with(ctx), u)
				continue
			}
			if deliver := s.Received(u); deliver != nil {
				if _, err := wire.ParseMessage(deliver); err != nil {
					t.Errorf("the SDK is given %s", deliver)
				}
			}
		}
		for seq := range s.Log.Len() {
			if call := s.Log.Head(seq + 1).Call; call > 1 {
				t.Errorf("something belongs to call %d", call)
			}
		}
		waiting := 0
		for _, in := range s.outbox.byID {
			if in.question != 0 {
				waiting++
			}
		}
		if waiting > len(l.asked) || modern && waiting > 0 {
			t.Errorf("%d of %d questions wait", waiting, len(l.asked))
		}
	})
}

// A request that the SDK hands over when its call has ended is not sent, nor is its
// cancellation: in the log it would begin another call.
func TestRequestOfEndedCall(t *testing.T) {
	s, _ := tapped(t, "2026-07-28")
	const request = `{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"_meta":{"progressToken":"call-1-2"},"name":"ask"}}`
	if !s.Sending((&outgoing{Request: Request{Call: 1, Round: 2}}).with(t.Context()), unit(t, request)) {
		t.Error("the request of a running call is not sent")
	}
	ended := (&outgoing{Request: Request{Call: 1, Round: 3}, over: true}).with(t.Context())
	for _, raw := range []string{strings.Replace(request, `"id":4`, `"id":5`, 1), `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":5,"reason":"context canceled"}}`} {
		if s.Sending(ended, unit(t, raw)) {
			t.Errorf("sent: %s", raw)
		}
	}
	if n := s.Log.Len(); n != 1 {
		t.Errorf("the log has %d frames", n)
	}
}

// The SDK cancels a request at the server after it has given the request up. The end of the connection
// waits for that, else the server may not hear of it.
func TestCancellationIsAwaited(t *testing.T) {
	s, _ := tapped(t, "2025-11-25")
	ctx, cancel := context.WithCancel(t.Context())
	out := &outgoing{Request: Request{Call: 1, Round: 1}, ctx: ctx}
	s.Sending(out.with(ctx), unit(t, `{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"_meta":{"progressToken":"call-1-1"},"name":"ask"}}`))
	cancel()
	s.requests.end(out)
	if unsaid := s.requests.unsaid(); len(unsaid) != 1 || !unsaid[0].isOpen() {
		t.Fatalf("%d requests are awaited", len(unsaid))
	}
	s.Sending(out.with(ctx), unit(t, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":4,"reason":"context canceled"}}`))
	if slices.ContainsFunc(s.requests.unsaid(), (*outgoing).isOpen) {
		t.Error("the request is awaited after its cancellation")
	}
}

// A question belongs to no call whose request is not sent yet.
func TestQuestionBeforeRequest(t *testing.T) {
	s, l := tapped(t, "2025-11-25")
	begins(t, s, 1)
	if !s.requests.begin(&outgoing{Request: Request{Call: 2, Round: 1}, ctx: t.Context()}, wire.Message{ID: []byte("8"), Method: mcp.MethodCallTool}) {
		t.Error("the second call's request is not sent")
	}
	s.Received(unit(t, asks))
	if len(l.asked) != 1 || l.asked[0].Call != 1 || l.asked[0].Guessed {
		t.Errorf("asked: %+v", l.asked)
	}
}

// A question in the response to a request about a task belongs to the call of the task, though it
// does not name the task.
func TestQuestionCarriedByATaskRequest(t *testing.T) {
	s, l := tapped(t, mcp.Revision20251125)
	begins(t, s, 1)
	begins(t, s, 2)
	out := &outgoing{Request: Request{Call: 1, Round: 1, TaskID: "a", Method: mcp.MethodTaskResult}, ctx: t.Context()}
	if !s.Sending(out.with(t.Context()), unit(t, `{"jsonrpc":"2.0","id":3,"method":"tasks/result","params":{"taskId":"a"}}`)) {
		t.Fatal("the request is not sent")
	}
	u := unit(t, asks)
	u.Related = []byte("3")
	s.Received(u)
	if len(l.asked) != 1 || l.asked[0].Call != 1 || l.asked[0].Guessed {
		t.Errorf("asked: %+v", l.asked)
	}
}

// numbered gives requests a context that says what it was made of.
type numbered struct{ Traces }

func (numbered) Context(_ *wire.Log, f wire.Frame, _ bool) []Member {
	return []Member{{"traceparent", rawjson.Quoted(fmt.Sprintf("%s/%d/%s", f.Message.Method, f.Call, f.Message.ID))}, {"baggage", []byte(`"a=b"`)}}
}

// A request gets the context of its trace into its _meta, and is as it was otherwise: the order of members,
// and the digits of numbers.
func TestTraceContext(t *testing.T) {
	s, _ := tapped(t, mcp.Revision20251125)
	s.Traces = numbered{}
	for raw, want := range map[string]string{
		`{"jsonrpc":"2.0","id":1,"method":"ping"}`:                                                           `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":{"traceparent":"ping/3/1","baggage":"a=b"}}}`,
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"x","arguments":{"z":1.0,"a":1e3}}}`: `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"_meta":{"traceparent":"tools/call/3/2","baggage":"a=b"},"name":"x","arguments":{"z":1.0,"a":1e3}}}`,
		`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"_meta":{"progressToken":"p"},"name":"x"}}`: `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"_meta":{"progressToken":"p","traceparent":"tools/call/3/3","baggage":"a=b"},"name":"x"}}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized","params":{}}`:                                 `{"jsonrpc":"2.0","method":"notifications/initialized","params":{}}`,
		`{"jsonrpc":"2.0","id":4,"result":{}}`:                                                               `{"jsonrpc":"2.0","id":4,"result":{}}`,
	} {
		out := &outgoing{Request: Request{Call: 3, Round: 1}, ctx: t.Context()}
		if got := s.outgoingFor(out.with(t.Context()), []byte(raw)).Frame.Raw; string(got) != want {
			t.Errorf("%s\nhas become %s\nwant       %s", raw, got, want)
		}
	}
}
