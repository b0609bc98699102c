package wire

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"
	"time"
)

// flood returns a log of n small frames as in a busy session: of a hundred, 96 are
// notifications, and the others a call with its result and a question with its answer.
func flood(tb testing.TB, n int) *Log {
	tb.Helper()
	l := newTestLog(tb, Options{})
	for i := range n {
		l.Append(floodFrame(i))
	}
	return l
}

func floodFrame(i int) Frame {
	f := Frame{Server: "files", Session: "files-1", Transport: "stdio", Dir: ServerToClient}
	switch i % 100 {
	case 0:
		f.Dir = ClientToServer
		f.Call = i/100 + 1
		f.Raw = fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"load","arguments":{"n":%d}}}`, i/100, i)
	case 50:
		f.Call, f.Question = i/100+1, i/100+1
		f.Raw = fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":"elicitation/create","params":{"message":"Go on after %d?","requestedSchema":{"type":"object","properties":{}}}}`, i/100, i)
	case 51:
		f.Dir = ClientToServer
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

func BenchmarkRecord(b *testing.B) {
	b.ReportAllocs()
	appendMany(b, message(ServerToClient, "%s", smallNotification), func(path string) (*Recorder, error) {
		return OpenRecorder(path, RecordOptions{})
	})
}

// BenchmarkOpen opens a transcript of 256 MiB, or of WIRE_BENCH_MIB.
func BenchmarkOpen(b *testing.B) {
	size := int64(256)
	if s := os.Getenv("WIRE_BENCH_MIB"); s != "" {
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil {
			b.Fatal(err)
		}
		size = n
	}
	path := filepath.Join(b.TempDir(), "flow.jsonl")
	l := flood(b, 200_000)
	file, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	for written := int64(0); written < size<<20; {
		if err := WriteFrames(file, l, nil, nil); err != nil {
			b.Fatal(err)
		}
		info, err := file.Stat()
		if err != nil {
			b.Fatal(err)
		}
		written = info.Size()
		size = max(size, written>>20)
	}
	file.Close()
	l.Close()
	b.SetBytes(size << 20)
	var first time.Duration
	var heap, frames float64
	for b.Loop() {
		runtime.GC()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		start := time.Now()
		l, err := Open(path)
		if err != nil {
			b.Fatal(err)
		}
		for grown := l.Grown(); l.Len() == 0; grown = l.Grown() {
			<-grown
		}
		if _, err := l.Rows([]int64{1}); err != nil {
			b.Fatal(err)
		}
		first += time.Since(start)
		if err := l.Wait(context.Background()); err != nil {
			b.Fatal(err)
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		heap, frames = float64(after.HeapAlloc)-float64(before.HeapAlloc), float64(l.Len())
		l.Close()
	}
	b.ReportMetric(float64(first.Microseconds())/float64(b.N)/1000, "ms-to-first-row")
	b.ReportMetric(heap/(1<<20), "heap-MiB")
	b.ReportMetric(frames, "frames")
}
