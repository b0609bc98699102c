package query

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"testing"

	"elicitation-inspector/bridge/wire"
)

// flood returns a log of n small frames as in a busy session: of a hundred, 96 are
// notifications, and the others a call with its result and a question with its answer.
func flood(tb testing.TB, n int) *wire.Log {
	tb.Helper()
	l := newLog(tb)
	for i := range n {
		l.Append(floodFrame(i))
	}
	return l
}

func floodFrame(i int) wire.Frame {
	f := wire.Frame{Server: "files", Session: "files-1", Transport: "stdio", Dir: wire.ServerToClient}
	switch i % 100 {
	case 0:
		f.Dir = wire.ClientToServer
		f.Call = i/100 + 1
		f.Raw = fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"load","arguments":{"n":%d}}}`, i/100, i)
	case 50:
		f.Call, f.Question = i/100+1, i/100+1
		f.Raw = fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":"elicitation/create","params":{"message":"Go on after %d?","requestedSchema":{"type":"object","properties":{}}}}`, i/100, i)
	case 51:
		f.Dir = wire.ClientToServer
		f.Call, f.Question, f.Actor = i/100+1, i/100+1, "person"
		f.Raw = fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"result":{"action":"accept","content":{}}}`, i/100)
	case 99:
		f.Call = i/100 + 1
		f.Raw = fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"result":{"content":[{"type":"text","text":"loaded %d"}]}}`, i/100, i)
	default:
		f.Raw = fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","logger":"load","data":"step %d of %d done, nothing to report here"}}`, i, 1_000_000)
	}
	return f
}

// BenchmarkFilter judges 200,000 frames, or WIRE_BENCH_FRAMES, with cheap and expensive
// filters.
func BenchmarkFilter(b *testing.B) {
	n := 200_000
	if s := os.Getenv("WIRE_BENCH_FRAMES"); s != "" {
		var err error
		if n, err = strconv.Atoi(s); err != nil {
			b.Fatal(err)
		}
	}
	l := flood(b, n)
	for _, line := range []string{
		"kind:request", "kind:error", "tool:load", "method:elicitation/*", "id:7", "!method:notifications/* dir:in", "ms>0 size>100", "has:requestedSchema",
		`"nothing to report"`, `"step 123456 "`, "absent", "has:absent", `/step \d+7 of/`, `/\d{7}/`,
		`/\d{6,} of \d{7}/`, `/[a-z]+\d+[a-z]+/`, `/(foo|bar|person)/`, `/^.{180,}$/`, `/LOAD\w+ \d+/i`, `/"[^"]*\?"/`, `/[xyz]{3}/`,
	} {
		f, err := Parse(line)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(line, func(b *testing.B) {
			var matches int64
			for b.Loop() {
				v := NewView(l, f, nil)
				if err := v.Update(context.Background()); err != nil {
					b.Fatal(err)
				}
				matches = v.Len()
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())*1000/float64(b.N)/float64(n), "ms-per-million")
			b.ReportMetric(float64(matches), "matches")
		})
	}
}
