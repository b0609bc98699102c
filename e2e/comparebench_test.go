package e2e

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"elicitation-inspector/e2e/internal/inspector"
)

// recorded is a recording of two servers that deploy services, each after a question: by request on
// one, in rounds on the other. again counts the recordings of the same servers before it: ids and
// times differ, and each thousandth ticket.
type recorded struct{ frames, again int }

// write writes the recording into a temporary file.
func (r recorded) write(t testing.TB) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), fmt.Sprintf("recorded%d.jsonl", r.again))
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	out := bufio.NewWriterSize(file, 1<<20)
	r.lines(func(line []byte) { _, _ = out.Write(line) }) // Flush returns the error
	if err := out.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

func (r recorded) lines(put func([]byte)) {
	at := time.Date(2026, 11, 27+r.again, 10, 0, 0, 0, time.UTC)
	var b []byte
	seq := 0
	session, server := "s1", "one"
	write := func(dir string, call, round, question int, person bool, format string, args ...any) {
		seq++
		at = at.Add(time.Duration(150+seq%7*10+r.again*20) * time.Microsecond)
		b = fmt.Appendf(b[:0], `{"v":1,"session_id":"%s-%d","server_label":%q,"seq":%d,"ts":"%s","direction":%q,"transport":"stdio"`, session, r.again, server, seq, at.Format(time.RFC3339Nano), dir)
		for _, n := range []struct {
			name  string
			value int
		}{{"call", call}, {"round", round}, {"elicitation", question}} {
			if n.value != 0 {
				b = append(strconv.AppendQuote(append(b, ','), n.name), ':')
				b = strconv.AppendInt(b, int64(n.value), 10)
			}
		}
		if person {
			b = append(b, `,"actor":"person"`...)
		}
		b = append(b, `,"raw":`...)
		b = append(fmt.Appendf(b, format, args...), "}\n"...)
		put(b)
	}
	question := 0
	id := 100 * r.again
	write("c2s", 0, 0, 0, false, `{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{"form":{},"url":{}}},"clientInfo":{"name":"inspector","version":"1"}}}`)
	write("s2c", 0, 0, 0, false, `{"jsonrpc":"2.0","id":"hello","result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true},"logging":{}},"serverInfo":{"name":"flow","version":"1.%d"}}}`, r.again)
	for call := 1; seq+12 < r.frames; call++ {
		id++
		ticket := call
		if call%1000 == 0 {
			ticket += 1000 * r.again
		}
		state := fmt.Sprintf("%08x-0000-4000-8000-%012x", call*7+r.again, call)
		rounds := call%4 == 0
		if session, server = "s1", "one"; rounds {
			session, server = "s2", "two"
		}
		meta := fmt.Sprintf(`"_meta":{"progressToken":"p%d"}`, id)
		if rounds {
			meta = fmt.Sprintf(`"_meta":{"progressToken":"p%d","io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{}}}}`, id)
		}
		write("c2s", call, 1, 0, false, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{%s,"name":"deploy%d","arguments":{"service":"shop-%d","replicas":%d,"dry":false}}}`, id, meta, call%7, call, call%9)
		for i := 1; i <= 2; i++ {
			write("s2c", 0, 0, 0, false, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"p%d","progress":%d,"total":3,"message":"step %d of 3"}}`, id, i, i)
		}
		write("s2c", 0, 0, 0, false, `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","logger":"deploy","data":"image %s of shop-%d is pulled"}}`, state, call)
		question++
		ask := fmt.Sprintf(`{"mode":"form","message":"Deploy shop-%d with %d replicas?","requestedSchema":{"type":"object","properties":{"confirm":{"type":"boolean","title":"Deploy"},"reason":{"type":"string","maxLength":200}},"required":["confirm"]}}`, call, call%9)
		const given = `{"action":"accept","content":{"confirm":true,"reason":"as planned"}}`
		if rounds {
			write("s2c", call, 1, question, false, `{"jsonrpc":"2.0","id":%d,"result":{"resultType":"input_required","inputRequests":{"sure":{"method":"elicitation/create","params":%s}},"requestState":%q}}`, id, ask, state)
			write("c2s", call, 2, question, true, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{%s,"name":"deploy%d","arguments":{"service":"shop-%d","replicas":%d,"dry":false},"inputResponses":{"sure":%s},"requestState":%q}}`, id+1, meta, call%7, call, call%9, given, state)
			id++
		} else {
			write("s2c", call, 1, question, false, `{"jsonrpc":"2.0","id":"q%d","method":"elicitation/create","params":%s}`, question, ask)
			write("c2s", call, 1, question, true, `{"jsonrpc":"2.0","id":"q%d","result":%s}`, question, given)
		}
		write("s2c", 0, 0, 0, false, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"p%d","progress":3,"total":3,"message":"done"}}`, id)
		write("s2c", 0, 0, 0, false, `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","logger":"deploy","data":"shop-%d runs"}}`, call)
		write("s2c", call, 1+call%4/4, 0, false, `{"jsonrpc":"2.0","id":%d,"result":{"content":[{"type":"text","text":"shop-%d is deployed as ticket T-%d"}],"structuredContent":{"ticket":"T-%d","replicas":%d,"url":"https://shop-%d.example.com/","state":%q}}}`, id, call, ticket, ticket, call%9, call, state)
	}
}

// spent runs the inspector, which ends with a code, and returns how long it took and its most memory
// in MiB.
func spent(b *testing.B, code int, args ...string) (took time.Duration, memory float64) {
	b.Helper()
	cmd := exec.Command(inspector.Binary, args...)
	began := time.Now()
	out, _ := cmd.CombinedOutput() // the code tells
	took = time.Since(began)
	if cmd.ProcessState.ExitCode() != code {
		b.Fatalf("it ends with %d: %.2000s", cmd.ProcessState.ExitCode(), out)
	}
	return took, float64(cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss) / 1024
}

// measureDiff compares two recordings of a million frames each.
func measureDiff(b *testing.B) []figure {
	took := figure{what: "diff of two transcripts of a million frames", unit: "s", bound: 10, noise: 2}
	memory := figure{what: "diff of two transcripts of a million frames: most memory", unit: "MiB", bound: 300, noise: 1.1}
	old, now := recorded{million, 0}.write(b), recorded{million, 1}.write(b)
	d, most := spent(b, 9, "diff", old, now)
	took.values, memory.values = []float64{d.Seconds()}, []float64{most}
	return []figure{took, memory}
}

// measureReplay replays ten thousand calls with one question each, and has the SDK's client make
// them, in turn.
func measureReplay(b *testing.B, runs int) []figure {
	f := figure{what: "replay of ten thousand calls that ask: time, to that of the bare client, to compare", unit: "×", note: "the aim is 1.11, which is 90 % of the rate"}
	const calls, arguments = 10_000, `{"count":1}`
	volatile := filepath.Join(b.TempDir(), "volatile.yaml")
	if err := os.WriteFile(volatile, []byte("volatile:\n  - {part: result, pointer: /content/0/text}\n"), 0o600); err != nil {
		b.Fatal(err)
	}
	path := filepath.Join(b.TempDir(), "asked.jsonl")
	text := []byte(`{"session_id":"s","server_label":"asker","direction":"c2s","raw":{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{"form":{},"url":{}}},"clientInfo":{"name":"i","version":"1"}}}}
{"session_id":"s","server_label":"asker","direction":"s2c","raw":{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{"logging":{},"tools":{"listChanged":true}},"serverInfo":{"name":"asker","version":"1"}}}}
`)
	for i := 1; i <= calls; i++ {
		for _, raw := range []string{
			`"c2s","raw":{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"ask","arguments":` + arguments + `}}`,
			`"s2c","raw":{"jsonrpc":"2.0","id":%d,"method":"elicitation/create","params":{"mode":"form","message":"Question 1 of 1?","requestedSchema":{"properties":{"name":{"title":"Name","type":"string"},"size":{"enum":["s","m","l"],"type":"string"}},"required":["name"],"type":"object"}}}`,
			`"c2s","raw":{"jsonrpc":"2.0","id":%d,"result":{"action":"accept","content":{"name":"Ada","size":"m"}}}`,
			`"s2c","raw":{"jsonrpc":"2.0","id":%d,"result":{"content":[{"type":"text","text":"1ms"}]}}`,
		} {
			text = fmt.Appendf(text, `{"session_id":"s","server_label":"asker","direction":`+raw+"}\n", i)
		}
	}
	if err := os.WriteFile(path, text, 0o600); err != nil {
		b.Fatal(err)
	}
	for range runs {
		bare := exec.Command(plainClient(), "-protocol", "2025-11-25", "-call", "ask", "-times", strconv.Itoa(calls), "-arguments", arguments, "-accept", `{"name":"Ada","size":"m"}`, askerBinary())
		began := time.Now()
		if out, err := bare.CombinedOutput(); err != nil {
			b.Fatalf("the bare client: %v: %s", err, out)
		}
		untapped := time.Since(began)
		d, _ := spent(b, 0, "replay", path, "-q", "--volatile", volatile, "--", askerBinary())
		f.values = append(f.values, d.Seconds()/untapped.Seconds())
	}
	return []figure{f}
}
