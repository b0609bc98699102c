package bridge

import (
	"bytes"
	"testing"

	"elicitation-inspector/bridge/target"
	"elicitation-inspector/bridge/wire"
)

// FuzzReceived lets a server say anything, line by line, to a session with a call
// under way. Lines that begin with > are ours. Whatever comes, each question is
// in one state, and what waits is known.
func FuzzReceived(f *testing.F) {
	for _, lines := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"message":"?","requestedSchema":{"type":"object","properties":{"a":{"type":"string"}}}}}
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
		f.Add([]byte(lines))
	}
	f.Fuzz(func(t *testing.T, lines []byte) {
		in, s := tapped(t)
		c := &call{in: in, number: 1, session: s, ctx: s.ctx, stop: func() {}, woken: make(chan struct{}, 1), started: now()}
		c.watch.start(0, nil)
		in.calls = append(in.calls, c)
		for raw := range bytes.SplitSeq(lines, []byte("\n")) {
			line, ours := bytes.CutPrefix(raw, []byte(">"))
			m, err := wire.ParseMessage(line)
			u := target.Unit{Frame: wire.Frame{Raw: line, Size: int64(len(line)), Message: m, Kind: m.Kind}}
			if err != nil {
				u.Kind = wire.Noise
			}
			if ours {
				if reworded := s.reworded(line); err == nil && !bytes.Equal(reworded, line) {
					if again, err := wire.ParseMessage(reworded); err != nil || again.Method != noteCancelled {
						t.Errorf("%s has become %s", line, reworded)
					}
				}
				s.Sent(u)
				continue
			}
			if deliver := s.Received(u); deliver != nil {
				if _, err := wire.ParseMessage(deliver); err != nil {
					t.Errorf("the SDK is given %s", deliver)
				}
			}
		}
		in.mu.Lock()
		pending := len(in.pending)
		in.mu.Unlock()
		waiting := 0
		for _, q := range in.Questions() {
			switch q.State {
			case Pending:
				waiting++
			case Answered:
				t.Errorf("question %d is answered by nobody", q.Number)
			}
		}
		if waiting != pending {
			t.Errorf("%d questions are pending, %d of them known", pending, waiting)
		}
		if c.watch.open > pending {
			t.Errorf("the clock stands still for %d of %d questions", c.watch.open, pending)
		}
		s.release(ByPolicy, "the end")
		if n := len(in.OnShow(0)); n != 0 {
			t.Errorf("%d questions wait after the end", n)
		}
		in.running.Wait()
	})
}
