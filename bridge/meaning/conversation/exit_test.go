package conversation

import (
	"fmt"
	"testing"
	"time"

	"elicitation-inspector/bridge/testdata/logtest"
	"elicitation-inspector/bridge/wire"
)

// Whatever the order in which the end of a server and the end of its call are logged, and
// before the question's own end is, the question is withdrawn by what came first.
func TestQuestionIsWithdrawnByWhatCameFirst(t *testing.T) {
	code := 3
	exit := wire.Frame{Dir: wire.Meta, Note: &wire.Note{Kind: wire.NoteProcessExited, PID: 1, Code: &code}}
	lost := wire.Frame{Dir: wire.Meta, Note: &wire.Note{Kind: wire.NoteServerLost, Why: "the event stream has ended"}}
	ended := wire.Frame{Dir: wire.Meta, Call: 1, Note: &wire.Note{Kind: wire.NoteEnded, State: "failed", Why: "exited with code 3"}}
	cancelled := wire.Frame{Dir: wire.ClientToServer, Call: 1, Raw: []byte(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)}
	result := wire.Frame{Dir: wire.ServerToClient, Call: 1, Raw: []byte(`{"jsonrpc":"2.0","id":1,"result":{"content":[]}}`)}
	const byServer, byEnd = ByServer + ": exited with code 3", ByPolicy + ": call 1 ended"
	type event struct {
		wire.Frame
		at int // milliseconds at which it is logged
		of int // milliseconds at which it happened, as its note says; 0 for at
	}
	for _, c := range []struct {
		name   string
		events []event
		want   string
	}{
		{"exit", []event{{exit, 10, 0}}, byServer},
		{"exit, then the call", []event{{exit, 10, 0}, {ended, 12, 11}}, byServer},
		{"the call, then the exit", []event{{ended, 12, 11}, {exit, 13, 0}}, byEnd},
		{"exit at the same time as the call", []event{{exit, 10, 0}, {ended, 10, 10}}, byServer},
		{"call at the same time as the exit", []event{{ended, 10, 10}, {exit, 10, 0}}, byEnd},
		{"exit, logged after an earlier end", []event{{exit, 10, 0}, {ended, 12, 9}}, byEnd},
		{"exit, a message to nobody, then the call", []event{{exit, 10, 0}, {cancelled, 11, 0}, {ended, 12, 11}}, byServer},
		{"result, then the exit", []event{{result, 10, 0}, {exit, 11, 0}}, byEnd},
		{"exit of an earlier process", []event{{exit, 10, 0}, {result, 11, 0}}, byEnd},
		{"server lost, then the call", []event{{lost, 10, 0}, {ended, 12, 11}}, ByServer + ": the event stream has ended"},
	} {
		t.Run(c.name, func(t *testing.T) {
			frames := []wire.Frame{
				{Dir: wire.ClientToServer, Call: 1, Round: 1, Raw: []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask"}}`)},
				{Dir: wire.ServerToClient, Call: 1, Round: 1, Question: 1, Raw: []byte(`{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{"message":"Still there?"}}`)},
			}
			for _, e := range c.events {
				e.Time = logtest.Epoch.Add(time.Duration(e.at) * time.Millisecond)
				if e.of != 0 {
					note := *e.Note
					note.At = logtest.Epoch.Add(time.Duration(e.of) * time.Millisecond)
					e.Note = &note
				}
				frames = append(frames, e.Frame)
			}
			for i := range frames {
				f := &frames[i]
				f.Server, f.Session, f.Transport = "s", "s-1", "stdio"
				if i < 2 {
					f.Time = logtest.Epoch
				}
			}
			calls := callsOf(t, logtest.New(t, frames...))
			if len(calls) != 1 || len(calls[0].Questions) != 1 {
				t.Fatalf("%d calls", len(calls))
			}
			q := calls[0].Questions[0]
			if got := fmt.Sprintf("%s: %s", q.By, q.Reason); q.State != Withdrawn || got != c.want {
				t.Errorf("question is %s by %s, want %s", q.State, got, c.want)
			}
		})
	}
}

func TestUndeclaredIn(t *testing.T) {
	for _, c := range []struct {
		failure string
		s       ClientSettings
		want    string
	}{
		{`{"isError":true,"content":[{"type":"text","text":"Client does not support sampling (required for sampling/createMessage)"}]}`, ClientSettings{}, "sampling"},
		{`{"code":-32021,"message":"Missing required client capability","data":{"requiredCapabilities":{"roots":{}}}}`, ClientSettings{}, "roots"},
		{`{"code":-32603,"message":"roots/list: Method not found"}`, ClientSettings{Roots: true}, ""},
		{`{"isError":true,"content":[{"type":"text","text":"The plant has no roots."}]}`, ClientSettings{}, ""},
		{``, ClientSettings{}, ""},
	} {
		if got := UndeclaredIn([]byte(c.failure), c.s); got != c.want {
			t.Errorf("%s: %q", c.failure, got)
		}
	}
}

func TestMayAsk(t *testing.T) {
	for entry, want := range map[string]bool{
		`{"name":"confirm_order"}`: true, `{"name":"a","description":"Asks the user for a date"}`: true, `{"name":"wipe","annotations":{"destructiveHint":true}}`: true,
		`{"name":"a","description":"Asks the model, by sampling"}`: false, `{"name":"echo"}`: false,
	} {
		if got, err := (List{Kind: Tool}).item([]byte(entry)); err != nil || got.MayAsk != want {
			t.Errorf("%s: %v, %v", entry, got.MayAsk, err)
		}
	}
}

// A copy of a call's last request that is sent after its response leaves the call ended.
func TestCopyAfterResponse(t *testing.T) {
	asks := wire.Frame{Dir: wire.ServerToClient, Call: 1, Round: 1, Question: 1, Raw: []byte(`{"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required","inputRequests":{"a":{"method":"elicitation/create","params":{"mode":"form","message":"?","requestedSchema":{"type":"object","properties":{}}}}}}}`)}
	last := wire.Frame{Dir: wire.ClientToServer, Call: 1, Round: 2, Raw: []byte(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"ask","inputResponses":{"a":{"action":"accept","content":{}}}}}`)}
	l := logtest.New(t,
		wire.Frame{Dir: wire.ClientToServer, Call: 1, Round: 1, Raw: []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask"}}`)}, asks, last,
		wire.Frame{Dir: wire.ServerToClient, Call: 1, Round: 2, Raw: []byte(`{"jsonrpc":"2.0","id":2,"result":{"resultType":"complete","content":[]}}`)}, last,
	)
	calls := callsOf(t, l)
	if len(calls) != 1 || calls[0].State != Done || calls[0].ResultSeq != 4 {
		t.Errorf("there are %d calls, the first is %s with the result of frame %d", len(calls), calls[0].State, calls[0].ResultSeq)
	}
}
