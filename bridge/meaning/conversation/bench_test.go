package conversation

import (
	"fmt"
	"testing"

	"elicitation-inspector/bridge/testdata/logtest"
	"elicitation-inspector/bridge/wire"
)

// BenchmarkDecide measures what it would cost to work out with each frame, before the next one,
// what it amounts to: only to append it; to find its call and question, too; and to know the state
// of the call and its questions, as a page shows them.
func BenchmarkDecide(b *testing.B) {
	for _, mode := range []string{"append", "attribute", "reduce"} {
		b.Run(mode, func(b *testing.B) {
			l := logtest.New(b)
			c := New(l)
			frames := 0
			add := func(dir wire.Direction, call int, format string, args ...any) {
				l.Append(wire.Frame{Server: "a", Session: "a-1", Dir: dir, Call: call, Raw: fmt.Appendf(nil, format, args...)})
				frames++
				var err error
				if mode != "append" {
					err = c.Update(b.Context())
				}
				if mode == "reduce" && err == nil {
					_, err = c.Watch(b.Context(), call, false)
				}
				if err != nil {
					b.Fatal(err)
				}
			}
			call := 0
			for b.Loop() {
				call++
				add(wire.ClientToServer, call, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"ask","arguments":{"service":"search"}}}`, call)
				add(wire.ServerToClient, call, `{"jsonrpc":"2.0","id":%d,"method":"elicitation/create","params":{"message":"Which ticket?","requestedSchema":{"type":"object","properties":{"ticket":{"type":"string"},"urgent":{"type":"boolean"},"count":{"type":"integer"}}}}}`, call)
				add(wire.ClientToServer, call, `{"jsonrpc":"2.0","id":%d,"result":{"action":"accept","content":{"ticket":"CHG-7","urgent":true,"count":3}}}`, call)
				add(wire.ServerToClient, call, `{"jsonrpc":"2.0","id":%d,"result":{"content":[{"type":"text","text":"done"}]}}`, call)
				if mode == "reduce" {
					if err := c.Unwatch(b.Context(), call); err != nil {
						b.Fatal(err)
					}
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(frames), "ns/frame")
			b.ReportMetric(0, "ns/op")
		})
	}
}
