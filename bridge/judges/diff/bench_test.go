package diff_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"elicitation-inspector/bridge/judges/diff"
	"elicitation-inspector/bridge/testdata/logtest"
	"elicitation-inspector/bridge/wire/redact"
)

// BenchmarkCompare compares two transcripts of calls with one question each, four frames a call.
func BenchmarkCompare(b *testing.B) {
	const calls = 10_000
	file := func(name, ticket string) string {
		var text []byte
		seq := 0
		put := func(dir string, call int, format string, args ...any) {
			seq++
			text = fmt.Appendf(text, `{"v":1,"session_id":"s1","server_label":"demo","seq":%d,"ts":"2026-11-28T10:%02d:%02d.%03dZ","direction":%q,"transport":"stdio","call":%d,"raw":`, seq, seq/60000%60, seq/1000%60, seq%1000, dir, call)
			text = fmt.Appendf(text, format+"}\n", args...)
		}
		for i := range calls {
			put("c2s", i+1, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"t%d","arguments":{"n":%d}}}`, i, i%7, i)
			put("s2c", i+1, `{"jsonrpc":"2.0","id":"e%d","method":"elicitation/create","params":{"message":"Sure about %d?","requestedSchema":{"type":"object","properties":{"ok":{"type":"boolean"}}}}}`, i, i)
			put("c2s", i+1, `{"jsonrpc":"2.0","id":"e%d","result":{"action":"accept","content":{"ok":true}}}`, i)
			put("s2c", i+1, `{"jsonrpc":"2.0","id":%d,"result":{"content":[{"type":"text","text":"done %d, %s%04d"}]}}`, i, i, ticket, i%10000)
		}
		path := filepath.Join(b.TempDir(), name)
		if err := os.WriteFile(path, text, 0o600); err != nil {
			b.Fatal(err)
		}
		return path
	}
	old, now := file("old.jsonl", "0b1c2d3e-0000-4000-8000-00000000"), file("new.jsonl", "1b1c2d3e-0000-4000-8000-00000000")
	for b.Loop() {
		side := func(name string) diff.Side {
			redaction, err := redact.New()
			if err != nil {
				b.Fatal(err)
			}
			return diff.Side{Name: name, Log: logtest.Open(b, name), Redact: redaction}
		}
		r, err := diff.Compare(b.Context(), side(old), side(now), diff.Options{})
		if err != nil || len(r.Differences) > 0 || r.Calls != calls {
			b.Fatal(err, r)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/(8*calls), "µs/frame")
}
