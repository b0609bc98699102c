package wire

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestSummary(t *testing.T) {
	request := func(method, params string) string {
		return `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":` + params + `}`
	}
	notification := func(method, params string) string {
		return `{"jsonrpc":"2.0","method":"` + method + `","params":` + params + `}`
	}
	result := func(result string) string { return `{"jsonrpc":"2.0","id":1,"result":` + result + `}` }
	tests := []struct {
		method    string // method of the request, for a response
		raw, want string
		action    string
	}{
		{"", request("initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"inspector","version":"1.2"}}`), "inspector 1.2, protocol 2025-11-25", ""},
		{"initialize", result(`{"protocolVersion":"2025-06-18","serverInfo":{"name":"everything","title":"Everything","version":"2"}}`), "Everything 2, protocol 2025-06-18", ""},
		{"", request("server/discover", `{"_meta":{"io.modelcontextprotocol/clientInfo":{"name":"c","version":"3"},"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}`), "c 3, protocol 2026-07-28", ""},
		{"server/discover", result(`{"resultType":"complete","supportedVersions":["2026-07-28"],"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s","version":"1"}}}`), "s 1, knows 2026-07-28", ""},
		{"server/discover", result(`{"supportedVersions":["2026-07-28","2025-11-25"]}`), "knows 2026-07-28 2025-11-25", ""},
		{"", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, "", ""},
		{"", `{"jsonrpc":"2.0","id":1,"method":"ping"}`, "", ""},
		{"ping", result(`{}`), "", ""},
		{"", request("subscriptions/listen", `{"_meta":{},"notifications":{"toolsListChanged":true,"promptsListChanged":false,"taskIds":["a","b"]}}`), "toolsListChanged, taskIds a b", ""},
		{"", notification("notifications/subscriptions/acknowledged", `{"notifications":{}}`), "nothing", ""},
		{"subscriptions/listen", result(`{"resultType":"complete","_meta":{"io.modelcontextprotocol/subscriptionId":1}}`), "", ""},
		{"tasks/update", result(`{"resultType":"complete"}`), "", ""},
		{"", request("tools/list", `{}`), "", ""},
		{"", request("tools/list", `{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}`), "", ""},
		{"", request("tools/list", `{"cursor":"abc"}`), `{"cursor":"abc"}`, ""},
		{"tools/list", result(`{"tools":[{"name":"a"},{"name":"b"}],"nextCursor":"x"}`), "2 tools, more to come", ""},
		{"prompts/list", result(`{"prompts":[{}]}`), "1 prompt", ""},
		{"resources/list", result(`{"resources":[]}`), "0 resources", ""},
		{"resources/templates/list", result(`{"resourceTemplates":[{},{},{}]}`), "3 resource templates", ""},
		{"roots/list", result(`{"roots":[{}]}`), "1 root", ""},
		{"", request("tools/call", `{"name":"add","arguments":{"a":1, "b":"x"}}`), `add {"a":1, "b":"x"}`, ""},
		{"", request("tools/call", `{"arguments":{},"name":"now"}`), "now", ""},
		{"", request("tools/call", `{"name":"book","inputResponses":{"q1":{"action":"accept","content":{"seat":"12A","n":2}}},"requestState":"s"}`), "accept seat: 12A, n: 2 · retry of book", "accept"},
		{"", request("tools/call", `{"name":"book","inputResponses":{"a":{"action":"decline"},"b":{"action":"cancel"}}}`), "decline; cancel · retry of book", ""},
		{"", request("prompts/get", `{"name":"p","inputResponses":{"a":{"action":"decline"},"b":{"action":"decline"}}}`), "decline; decline · retry of p", "decline"},
		{"", request("tools/call", `{"name":"x","inputResponses":{"poem":{"role":"assistant","content":{"type":"text","text":"t"}}}}`), "poem · retry of x", ""},
		{"", request("tools/call", `{"name":"book","requestState":"s"}`), "retry of book", ""},
		{"tools/call", result(`{"resultType":"input_required","inputRequests":{"a":{"method":"elicitation/create","params":{"message":"Which build should go out?"}},"b":{},"c":{}},"requestState":"x"}`), "? Which build should go out? +2", ""},
		{"tools/call", result(`{"resultType":"input_required","inputRequests":{"a":{"method":"sampling/createMessage","params":{"messages":[{"content":{"type":"text","text":"Write a poem"}}]}}}}`), "? sampling/createMessage Write a poem", ""},
		{"tools/call", result(`{"resultType":"input_required","requestState":"x"}`), "input required: nothing but a retry", ""},
		{"tools/call", result(`{"content":[{"type":"text","text":"It is\nnoon."}]}`), "It is noon.", ""},
		{"tools/call", result(`{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}`), "a (and 1 more)", ""},
		{"tools/call", result(`{"content":[{"type":"text","text":"no such file"}],"isError":true}`), "error: no such file", ""},
		{"tools/call", result(`{"content":[{"type":"image","mimeType":"image/png","data":"AAAA"}]}`), "image image/png", ""},
		{"tools/call", result(`{"content":[{"type":"resource_link","uri":"file:///a"}]}`), "link file:///a", ""},
		{"tools/call", result(`{"content":[{"type":"resource","resource":{"uri":"file:///b","text":"x"}}]}`), "resource file:///b", ""},
		{"tools/call", result(`{"content":[],"structuredContent":{"sum":3}}`), `{"sum":3}`, ""},
		{"tools/call", result(`{}`), "", ""},
		{"", request("prompts/get", `{"name":"greet","arguments":{"who":"Ann"}}`), `greet {"who":"Ann"}`, ""},
		{"prompts/get", result(`{"messages":[{"role":"user","content":{"type":"text","text":"Say hello"}}]}`), "1 message: Say hello", ""},
		{"", request("resources/read", `{"uri":"file:///x"}`), "file:///x", ""},
		{"resources/read", result(`{"contents":[{"uri":"file:///x","text":"body"}]}`), "1 content: body", ""},
		{"", request("elicitation/create", `{"message":"Which branch?","requestedSchema":{}}`), "? Which branch?", ""},
		{"", request("elicitation/create", `{"mode":"url","message":"Sign in","url":"https://example.com/in"}`), "? Sign in — https://example.com/in", ""},
		{"", `{"jsonrpc":"2.0","id":1,"method":"elicitation/create"}`, "? (no message)", ""},
		{"elicitation/create", result(`{"action":"accept","content":{"name":"Ann","age":0.10,"ok":true,"tags":["a","b"]}}`), `accept name: Ann, age: 0.10, ok: true, tags: ["a","b"]`, "accept"},
		{"elicitation/create", result(`{"action":"accept","content":{"p":"data:text/plain;base64,AP8=","q":"data:,a"}}`), "accept p: data:text/plain;base64,AP8=, q: data:,a", "accept"},
		{"elicitation/create", result(`{"action":"accept","content":{"p":"data:text/plain;base64,` + strings.Repeat("AAAA", 1<<15) + `"}}`), "accept p: data:text/plain;base64,…", "accept"},
		{"elicitation/create", result(`{"action":"accept","content":{"p":"data:text/plain;base64,` + strings.Repeat("AAAA", 20) + `"}}`), "accept p: data:text/plain;base64,[60 bytes, sha256 5dcc1b5872dd]", "accept"},
		{"elicitation/create", result(`{"content":{},"action":"accept"}`), "accept", "accept"},
		{"elicitation/create", result(`{"action":"decline"}`), "decline", "decline"},
		{"elicitation/create", result(`{"action":"cancel","content":null}`), "cancel", "cancel"},
		{"elicitation/create", result(`{"action":"perhaps","content":"x"}`), "perhaps x", ""},
		{"elicitation/create", result(`{"answer":42}`), `{"answer":42}`, ""},
		{"elicitation/create", result(`"yes"`), "yes", ""},
		{"other", result(`{"action":"accept"}`), `{"action":"accept"}`, ""},
		{"", result(`{"action":"accept"}`), `{"action":"accept"}`, ""},
		{"tools/call", `{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Unknown tool"}}`, "-32602 Unknown tool", ""},
		{"tools/call", `{"jsonrpc":"2.0","id":1,"error":{"code":-32042,"message":"Sign in first","data":{"elicitations":[{"message":"Sign in","url":"https://example.com/in"},{}]}}}`, "? Sign in — https://example.com/in +1 · -32042 Sign in first", ""},
		{"", `{"jsonrpc":"2.0","error":{}}`, "", ""},
		{"", notification("notifications/message", `{"level":"info","logger":"db","data":"connected"}`), "info db: connected", ""},
		{"", notification("notifications/message", `{"level":"error","data":{"code":7}}`), `error: {"code":7}`, ""},
		{"", notification("notifications/progress", `{"progressToken":1,"progress":3,"total":10,"message":"copying"}`), "3/10 copying", ""},
		{"", notification("notifications/progress", `{"progressToken":1,"progress":0.5}`), "0.5", ""},
		{"", notification("notifications/cancelled", `{"requestId":5,"reason":"too slow"}`), "request 5: too slow", ""},
		{"", notification("notifications/elicitation/complete", `{"elicitationId":"e-1"}`), "e-1", ""},
		{"", notification("notifications/resources/updated", `{"uri":"file:///x"}`), "file:///x", ""},
		{"", request("logging/setLevel", `{"level":"debug"}`), "debug", ""},
		{"", request("completion/complete", `{"ref":{"type":"ref/prompt","name":"greet"},"argument":{"name":"who","value":"A"}}`), "greet who=A", ""},
		{"completion/complete", result(`{"completion":{"values":["Ann","Abe"]}}`), `2 values: ["Ann","Abe"]`, ""},
		{"", request("sampling/createMessage", `{"messages":[{"role":"user","content":{"type":"text","text":"Write a poem"}}],"maxTokens":5}`), "Write a poem", ""},
		{"sampling/createMessage", result(`{"model":"m-1","role":"assistant","content":{"type":"text","text":"Roses"}}`), "m-1: Roses", ""},
		{"", request("x/y", `[1,2]`), "[1,2]", ""},
		{"", request("elicitation/create", `{"message":"a\u202eb\u0000c\u2028d\u001b[31mred"}`), "? a\uFFFDb\uFFFDc dred", ""},
	}
	for _, tt := range tests {
		m, err := ParseMessage([]byte(tt.raw))
		if err != nil {
			t.Fatalf("%s: %v", tt.raw, err)
		}
		f := Frame{Kind: m.Kind, Message: m, Method: m.Method, Raw: []byte(tt.raw)}
		if tt.method != "" {
			f.Method = tt.method
		}
		if got := f.Summary(); got != tt.want {
			t.Errorf("%s %s:\ngot  %q\nwant %q", tt.method, tt.raw, got, tt.want)
		}
		if got := f.Action(); got != tt.action {
			t.Errorf("%s %s: action %q, want %q", tt.method, tt.raw, got, tt.action)
		}
	}
}

func TestSummaryOfOtherKinds(t *testing.T) {
	tests := []struct {
		f    Frame
		want string
	}{
		{Frame{Kind: StderrLine, Raw: []byte("  \x1b[1;33mWARN\x1b[0m  disk\tlow \r")}, "WARN disk low"},
		{Frame{Kind: Noise, Raw: []byte("a\xffb")}, "a\uFFFDb"},
		{Frame{Kind: NoteFrame, Raw: []byte("process 7 exited")}, "process 7 exited"},
		{Frame{Kind: Result, Lost: true}, "not kept: storage failed"},
		{Frame{Kind: Noise}, ""},
		{Frame{Kind: Result, Method: "tools/call", Truncated: true, Raw: []byte(`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"the head\nof a lo`)}, "the head of a lo"},
	}
	for _, tt := range tests {
		if got := tt.f.Summary(); got != tt.want {
			t.Errorf("%v %q: %q, want %q", tt.f.Kind, tt.f.Raw, got, tt.want)
		}
	}
}

func TestSummaryIsBounded(t *testing.T) {
	long := strings.Repeat("長い ", 1<<20)
	for _, raw := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"message":"` + long + `"}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","arguments":{"a":"` + long + `"}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"unknown","params":["` + long + `"]}`,
		`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"` + long + `"},{"type":"text","text":""}]}}`,
	} {
		m, err := ParseMessage([]byte(raw))
		if err != nil {
			t.Fatal(err)
		}
		f := Frame{Kind: m.Kind, Message: m, Method: m.Method, Raw: []byte(raw)}
		if f.Kind == Result {
			f.Method = "tools/call"
		}
		got := f.Summary()
		if n := utf8.RuneCountInString(got); n > summaryRunes || n < summaryRunes-30 || !utf8.ValidString(got) {
			t.Errorf("%.60s: %d characters: %q", raw, n, got)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range 10 {
			f.Summary()
		}
		runtime.ReadMemStats(&after)
		if allocated := (after.TotalAlloc - before.TotalAlloc) / 10; allocated > 32<<10 {
			t.Errorf("%.60s: a summary allocates %d bytes", raw, allocated)
		}
	}
	var tools strings.Builder
	for range 100_000 {
		tools.WriteString(`{"name":"x"},`)
	}
	raw := `{"jsonrpc":"2.0","id":1,"result":{"tools":[` + tools.String() + `{}]}}`
	m, _ := ParseMessage([]byte(raw))
	if got := (Frame{Kind: Result, Message: m, Method: "tools/list"}).Summary(); !strings.HasPrefix(got, "more than ") || !strings.HasSuffix(got, " tools") {
		t.Errorf("a list too long to count: %q", got)
	}
}

func FuzzSummary(f *testing.F) {
	f.Add("tools/call", `{"content":[{"type":"text","text":"x"}]}`)
	f.Add("elicitation/create", `{"action":"accept","content":{"a\u0062":[1,{}]}}`)
	f.Add("tools/list", `{"tools":[{}]}`)
	f.Fuzz(func(t *testing.T, method, value string) {
		for _, raw := range []string{
			`{"jsonrpc":"2.0","id":1,"result":` + value + `}`,
			`{"jsonrpc":"2.0","id":1,"method":"m","params":` + value + `}`,
			`{"jsonrpc":"2.0","id":1,"error":` + value + `}`,
		} {
			m, err := ParseMessage([]byte(raw))
			if err != nil {
				continue
			}
			for _, cut := range []bool{false, true} {
				fr := Frame{Kind: m.Kind, Message: m, Method: method, Raw: []byte(raw), Truncated: cut}
				if cut {
					fr.Message.Params, fr.Message.Result, fr.Message.Error = nil, nil, nil
					fr.Raw = fr.Raw[:len(fr.Raw)*2/3]
				}
				s := fr.Summary()
				if !utf8.ValidString(s) || utf8.RuneCountInString(s) > summaryRunes || strings.ContainsAny(s, "\n\r\t\x00\x1b\u202e") {
					t.Fatalf("%s: %q", raw, s)
				}
				fr.Action()
			}
		}
	})
}

func BenchmarkSummary(b *testing.B) {
	m, _ := ParseMessage([]byte(smallNotification))
	f := Frame{Kind: m.Kind, Message: m, Method: m.Method}
	b.ReportAllocs()
	for b.Loop() {
		f.Summary()
	}
}

// A summary does not claim that a member is missing if it can come after the part that is
// read.
func TestSummaryOfALargeQuestion(t *testing.T) {
	var choices strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&choices, `{"const":"%d","title":"No. %d"},`, i, i)
	}
	many := strings.TrimSuffix(choices.String(), ",")
	for result, want := range map[string]string{
		`{"resultType":"input_required","inputRequests":{"pick":{"method":"elicitation/create","params":{"message":"Which?","requestedSchema":{"properties":{"one":{"oneOf":[` + many + `]}}}}}}}`: "? Which? …",
		`{"resultType":"input_required","requestState":"` + strings.Repeat("s", 180_000) + `","inputRequests":{"a":{}}}`:                                                                           "input required",
		`{"resultType":"input_required","inputRequests":{"a":{},"b":{}}}`:                                                                                                                          "? (no message) +1",
		`{"resultType":"input_required","requestState":"s"}`:                                                                                                                                       "input required: nothing but a retry",
	} {
		l := newTestLog(t, Options{})
		l.Append(message(ClientToServer, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"pick"}}`))
		f := l.Append(message(ServerToClient, `{"jsonrpc":"2.0","id":1,"result":%s}`, result))
		if got := f.Summary(); got != want {
			t.Errorf("%.80s…: %q, want %q", result, got, want)
		}
		rows, err := l.Rows([]int64{2})
		if err != nil || len(rows) != 1 || rows[0].Summary != want || !rows[0].AsksInput {
			t.Errorf("%.80s…: the row is %+v, %v", result, rows, err)
		}
	}
}
