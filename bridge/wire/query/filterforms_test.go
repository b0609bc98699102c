package query

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"elicitation-inspector/bridge/wire"
	"elicitation-inspector/bridge/wire/redact"
)

// And, or, not and comparisons are accepted in all the notations that people try.
func TestFilterAsPeopleTypeIt(t *testing.T) {
	l := filterLog(t)
	for plain, ways := range map[string][]string{
		"kind:request or kind:noise": {
			"kind:request OR kind:noise", "kind:request Or kind:noise", "kind:request || kind:noise", "kind:request||kind:noise",
			"kind:request | kind:noise", "kind:request, noise", "kind=request || kind==noise",
		},
		"kind:request dir:in": {
			"kind:request and dir:in", "kind:request AND dir:in", "kind:request && dir:in", "kind:request&&dir:in",
			"kind:request & dir:in", "kind : request dir: in",
		},
		"!kind:noise": {
			"-kind:noise", "not kind:noise", "NOT kind:noise", "! kind:noise", "kind!=noise", "kind != noise", "-(kind:noise)",
		},
		"deploy or which":         {"deploy||which", "deploy || which", `deploy OR "which"`},
		"!deploy":                 {"-deploy", `-"deploy"`, "-/deploy/", "not deploy"},
		"ms>2500":                 {"ms > 2500", "ms> 2500", "ms >2500", "ms:>2500", "ms > 2.5s"},
		"ms>=2000 ms<=3500":       {"ms >= 2000 && ms <= 3500", "ms:>=2000 ms:<=3500"},
		"!(kind:noise or dir:in)": {"-(kind:noise || dir:in)", "!kind:noise && !dir:in", "-kind:noise -dir:in"},
		`"-32603"`:                {"-32603"},
		`"||"`:                    {`"||" "||"`},
		`deploy "<b"`:             {"deploy <b", "deploy and <b"}, // deploy <b is no term
	} {
		want := pick(t, l, plain, nil)
		for _, line := range ways {
			if got := pick(t, l, line, nil); !slices.Equal(got, want) {
				t.Errorf("%s: %v, want %v as of %s", line, got, want, plain)
			}
		}
	}
}

// An invalid filter is not searched for as text: the error suggests a valid one.
func TestFilterSaysWhatMayBeMeant(t *testing.T) {
	for line, want := range map[string][2]string{
		"metod:x":        {"metod", "did you mean method:?"},
		"mtehod:x":       {"mtehod", "did you mean method:?"},
		"latency>500":    {"latency", "did you mean ms>?"},
		"latency > 500":  {"latency", "did you mean ms>?"},
		"color:red":      {"color", "did you mean colour:?"},
		"type:error":     {"type", "did you mean kind:?"},
		"toool:x":        {"toool", "did you mean tool:?"},
		"xyzzy > 5":      {"xyzzy", "but there are method, kind"},
		"> 5":            {">", "the name of a term must stand before"},
		"a ||":           {"", "something must follow"},
		"&& a":           {"&&", "something must stand before"},
		"kind:eror":      {"eror", "did you mean error?"},
		"is:orphn":       {"orphn", "did you mean orphan?"},
		"method:a|b":     {"|", "such as method:a,b"},
		"kind > error":   {">", `kind goes with ":", not with ">"`},
		"wholly:unknown": {"wholly", "but there are method, kind"},
	} {
		_, err := Parse(line)
		var fe *Error
		if !errors.As(err, &fe) {
			t.Errorf("%s: %v", line, err)
		} else if at := line[fe.Pos:fe.End]; at != want[0] || !strings.Contains(fe.Text, want[1]) {
			t.Errorf("%s: at %q: %s\nwant at %q: %s", line, at, fe.Text, want[0], want[1])
		}
	}
}

// tool: selects all frames of calls of a tool: by call number in the inspector's own
// logs, and as far as possible in other recordings.
func TestFilterByTool(t *testing.T) {
	for name, call := range map[string]int{"numbered": 1, "not numbered": 0} {
		t.Run(name, func(t *testing.T) {
			l := newLog(t)
			add := func(call int, dir wire.Direction, raw string) {
				f := message(dir, "%s", raw)
				f.Call = call
				l.Append(f)
			}
			add(0, wire.ClientToServer, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
			add(0, wire.ServerToClient, `{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"deploy"}]}}`)
			add(call, wire.ClientToServer, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"deploy"}}`)            // 3
			add(call, wire.ServerToClient, `{"jsonrpc":"2.0","id":9,"method":"elicitation/create","params":{"message":"Where?"}}`) // 4
			add(call, wire.ClientToServer, `{"jsonrpc":"2.0","id":9,"result":{"action":"decline"}}`)                               // 5
			add(call, wire.ServerToClient, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":1}}`)          // 6
			add(0, wire.ServerToClient, `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
			add(call, wire.ServerToClient, `{"jsonrpc":"2.0","id":2,"result":{"content":[]}}`) // 8
			add(2*call, wire.ClientToServer, `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"build it"}}`)
			add(2*call, wire.ClientToServer, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}}`)
			add(3*call, wire.ClientToServer, `{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"deploy"}}`)     // 11
			add(3*call, wire.ServerToClient, `{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"deploy"}}`) // 12
			add(3*call, wire.ServerToClient, `{"jsonrpc":"2.0","id":4,"error":{"code":-32603,"message":"no"}}`)               // 13
			for line, want := range map[string]string{
				"tool:deploy": "3 4 5 6 8 11 12 13", "tool:dep*": "3 4 5 6 8 11 12 13", `tool:"build it"`: "9 10", "tool:nope": "",
				"-tool:*": "1 2 7", "tool:deploy kind:error": "13", "tool!=deploy tool:*": "9 10",
			} {
				if got := strings.Trim(fmt.Sprint(pick(t, l, line, nil)), "[]"); got != want {
					t.Errorf("%s: %s, want %s", line, got, want)
				}
			}
			if got := Complete(l, "tool:", 5, nil).Items; len(got) != 2 || got[0].Text != `"build it"` || got[1].Text != "deploy" {
				t.Errorf("after tool: %v", got)
			}
		})
	}
}

// kind:error selects all failures, and kind:rpc-error only error responses.
func TestFilterFailures(t *testing.T) {
	l := newLog(t)
	add := func(f wire.Frame) { l.Append(f) }
	add(message(wire.ClientToServer, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}}`))
	add(message(wire.ServerToClient, `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"%s"}],"is\u0045rror":true}}`, strings.Repeat("x", 100_000))) // 2
	add(message(wire.ClientToServer, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"a"}}`))
	add(message(wire.ServerToClient, `{"jsonrpc":"2.0","id":2,"result":{"content":[],"isError":false,"structuredContent":{"isError":true}}}`))
	add(message(wire.ClientToServer, `{"jsonrpc":"2.0","id":3,"method":"prompts/get","params":{"name":"a"}}`))
	add(message(wire.ServerToClient, `{"jsonrpc":"2.0","id":3,"error":{"code":-32602,"message":"no"}}`)) // 6
	exit := message(wire.Meta, "process 4711 exited with code 1")                                        // 7
	exit.Failed = true
	add(exit)
	add(message(wire.Meta, "process 4712 exited with code 0"))
	for status, note := range map[int]string{http.StatusMethodNotAllowed: "the server has no GET event stream"} {
		f := message(wire.Meta, "%s", note) // 9
		f.Status = status
		add(f)
	}
	add(message(wire.ClientToServer, `{"jsonrpc":"2.0","id":4,"method":"tools/list"}`)) // 10
	refused := message(wire.Meta, "POST of tools/list was answered with 502 Bad Gateway")
	refused.Status, refused.Answers = 502, []byte("4") // 11
	add(refused)
	odd := message(wire.ServerToClient, "<html>")
	odd.Status = 500 // 12
	add(odd)

	for line, want := range map[string]string{
		"kind:error": "2 6 7 11 12", "kind:rpc-error": "6", "-kind:error": "1 3 4 5 8 9 10", "status>=400": "9 11 12",
		"method:tools/list": "10 11", "id:4": "10 11",
	} {
		if got := strings.Trim(fmt.Sprint(pick(t, l, line, nil)), "[]"); got != want {
			t.Errorf("%s: %s, want %s", line, got, want)
		}
	}
	if f := l.Head(10); f.Pair != 11 {
		t.Errorf("the refused request pairs with frame %d, want 11", f.Pair)
	}

	// A transcript of the log has the same matches.
	var out bytes.Buffer
	if err := wire.WriteFrames(&out, l, nil, redact.Nothing()); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "t.jsonl")
	if err := os.WriteFile(path, out.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	opened := open(t, path)
	if got := strings.Trim(fmt.Sprint(pick(t, opened, "kind:error", nil)), "[]"); got != "2 6 7 11 12" {
		t.Errorf("opened: kind:error picks %s", got)
	}
	if f, err := opened.Frame(11); err != nil || f.Pair != 10 || string(f.Answers) != "4" || !f.Failed {
		t.Errorf("opened: frame 11 is %+v, %v", f, err)
	}
}

// A frame without a time in its transcript is before every time.
func TestFilterFramesWithoutATime(t *testing.T) {
	path := filepath.Join(t.TempDir(), "least.jsonl")
	text := `{"direction":"c2s","raw":{"jsonrpc":"2.0","id":1,"method":"ping"}}` + "\n" +
		`{"direction":"s2c","ts":"2026-07-28T10:00:00Z","raw":{"jsonrpc":"2.0","id":1,"result":{}}}`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	l := open(t, path)
	for line, want := range map[string][]int64{"after:2026-07-28T09:00:00": {2}, "before:2026-07-28T09:00:00": {1}} {
		if got := pick(t, l, line, nil); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", line, got, want)
		}
	}
}

func open(t *testing.T, path string) *wire.Log {
	t.Helper()
	l, err := wire.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	if err := l.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	return l
}

// Sizes have the same meaning in filters and in flags.
func TestParseSize(t *testing.T) {
	for text, want := range map[string]int64{
		"0": 0, "500": 500, "10k": 10_000, "1.5M": 1_500_000, "64M": 64_000_000, "64Mi": 64 << 20, "2GiB": 2 << 30, "7b": 7, "1KB": 1000,
	} {
		if got, err := ParseSize(text); err != nil || got != want {
			t.Errorf("%s is %d, %v, want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "k", "-1", "1e3", "1.2.3", "10q", "0x10", "1 k", "9999999999999G", "1kk", "1iB"} {
		if got, err := ParseSize(text); err == nil {
			t.Errorf("%q is %d", text, got)
		}
	}
}

// A server of an earlier revision refuses the probe server/discover, with an error or with an
// HTTP status, and initialize follows: it has failed at nothing. Without initialize it has.
func TestFilterLeavesRefusedProbesOut(t *testing.T) {
	probe, unknown := `{"jsonrpc":"2.0","id":1,"method":"server/discover"}`, `{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"Method not found"}}`
	hello := message(wire.ClientToServer, `{"jsonrpc":"2.0","id":2,"method":"initialize"}`)
	status := func(code int) wire.Frame {
		f := message(wire.Meta, "POST of server/discover was refused")
		f.Status, f.Failed, f.Answers = code, true, []byte("1")
		return f
	}
	other := hello
	other.Session = "another"
	for name, tt := range map[string]struct {
		refusal wire.Frame
		then    []wire.Frame
		want    string
	}{
		"an error":           {message(wire.ServerToClient, "%s", unknown), []wire.Frame{message(wire.Stderr, "unknown method"), hello}, ""},
		"HTTP 400":           {status(400), []wire.Frame{hello}, ""},
		"HTTP 404":           {status(404), []wire.Frame{hello}, ""},
		"HTTP 500":           {status(500), []wire.Frame{hello}, "2"},
		"nothing follows":    {message(wire.ServerToClient, "%s", unknown), nil, "2"},
		"of another session": {message(wire.ServerToClient, "%s", unknown), []wire.Frame{other}, "2"},
		"initialize fails":   {message(wire.ServerToClient, "%s", unknown), []wire.Frame{hello, message(wire.ServerToClient, `{"jsonrpc":"2.0","id":2,"error":{"code":1,"message":"no"}}`)}, "4"},
	} {
		l := newLog(t)
		for _, f := range append([]wire.Frame{message(wire.ClientToServer, "%s", probe), tt.refusal}, tt.then...) {
			l.Append(f)
		}
		if got := strings.Trim(fmt.Sprint(pick(t, l, "kind:error", nil)), "[]"); got != tt.want {
			t.Errorf("%s: kind:error picks %q, want %q", name, got, tt.want)
		}
	}
}

// A line with a misspelt name, of a term or of what is in the log, is put right.
func TestMeant(t *testing.T) {
	l := newLog(t)
	l.Append(message(wire.ClientToServer, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"deploy now"}}`))
	for line, want := range map[string]string{
		"methd:tools/* or x":       "method:tools/* or x",
		"id:7 kind:request,eror":   "id:7 kind:request,error",
		"method:tools/cal":         "method:tools/call",
		`-tool:"deplyo now"`:       `-tool:"deploy now"`,
		"finding:shema-missing":    "finding:schema-missing",
		"method:tools/call kind:x": "", "tool:deploy*": "", "ms>501": "", "call:12": "", "deplyo": "", "": "", `"method:x`: "", "kind:error": "",
	} {
		if got := Meant(l, line, []string{"schema-missing"}); got != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}

// A million frames are sorted in a moment.
func TestSortedIsQuick(t *testing.T) {
	const frames = 200_000
	l := newLog(t)
	start := time.Now()
	for i := range frames / 2 {
		f := message(wire.ClientToServer, `{"jsonrpc":"2.0","id":%d,"method":"ping"}`, i)
		f.Time = start
		l.Append(f)
		f = message(wire.ServerToClient, `{"jsonrpc":"2.0","id":%d,"result":{}}`, i)
		f.Time = start.Add(time.Duration(i*7919%frames) * time.Microsecond)
		l.Append(f)
	}
	v := NewView(l, MustParse(""), nil)
	if err := v.Update(t.Context()); err != nil {
		t.Fatal(err)
	}
	sorted := v.Sorted(0, frames, true)
	before := time.Duration(frames) * time.Microsecond
	for seq := range sorted.All() {
		took, ok := l.Entry(seq).Latency()
		if ok && took > before || !ok && before > 0 && sorted.Len() != frames {
			t.Fatalf("frame %d took %v, the one before %v", seq, took, before)
		}
		before = took
	}
	if again := v.Sorted(0, frames, true); again != sorted {
		t.Error("the frames are sorted again for the next window")
	}
}
