package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"elicitation-inspector/bridge/base/rawjson"
)

func TestParseMessage(t *testing.T) {
	tests := []struct {
		name, raw string
		want      Message
	}{
		{"request", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}}`,
			Message{Kind: Request, ID: json.RawMessage("1"), Method: "tools/call", Params: json.RawMessage(`{"name":"a"}`)}},
		{"any order, white space inside and around", " {\n\"method\" : \"x\" ,\t\"params\": [ 1 ] , \"id\":\"a\\u0062\", \"jsonrpc\":\"2.0\" }\r\n",
			Message{Kind: Request, ID: json.RawMessage(`"a\u0062"`), Method: "x", Params: json.RawMessage("[ 1 ]")}},
		{"escaped names and values", `{"json\u0072pc":"2\u002e0","\u006dethod":"tools\/call","id":-3}`,
			Message{Kind: Request, ID: json.RawMessage("-3"), Method: "tools/call"}},
		{"notification", `{"jsonrpc":"2.0","method":"notifications/initialized"}`,
			Message{Kind: Notification, Method: "notifications/initialized"}},
		{"params of any type", `{"jsonrpc":"2.0","method":"m","params":null}`,
			Message{Kind: Notification, Method: "m", Params: json.RawMessage("null")}},
		{"result", `{"jsonrpc":"2.0","id":9007199254740993,"result":{}}`,
			Message{Kind: Result, ID: json.RawMessage("9007199254740993"), Result: json.RawMessage("{}")}},
		{"null result", `{"jsonrpc":"2.0","id":"","result":null}`,
			Message{Kind: Result, ID: json.RawMessage(`""`), Result: json.RawMessage("null")}},
		{"error", `{"jsonrpc":"2.0","id":1e3,"error":{"code":-32602,"message":"no"}}`,
			Message{Kind: Error, ID: json.RawMessage("1e3"), Error: json.RawMessage(`{"code":-32602,"message":"no"}`)}},
		{"error without id", `{"jsonrpc":"2.0","error":{"code":-32700,"message":"parse"}}`,
			Message{Kind: Error, Error: json.RawMessage(`{"code":-32700,"message":"parse"}`)}},
		{"members that JSON-RPC does not know", `{"jsonrpc":"2.0","method":"m","extra":{"id":[1,{"a":[]}]},"Method":"no"}`,
			Message{Kind: Notification, Method: "m"}},
		{"text outside ASCII", `{"jsonrpc":"2.0","method":"grüße/日本語😀"}`, Message{Kind: Notification, Method: "grüße/日本語😀"}},
		{"lone surrogate", `{"jsonrpc":"2.0","method":"\ud800x"}`, Message{Kind: Notification, Method: "\uFFFDx"}},
		{"surrogate pair", `{"jsonrpc":"2.0","method":"\ud83d\ude00"}`, Message{Kind: Notification, Method: "😀"}},
		{"deepest", `{"jsonrpc":"2.0","method":"m","params":` + strings.Repeat("[", rawjson.MaxDepth) + strings.Repeat("]", rawjson.MaxDepth) + `}`,
			Message{Kind: Notification, Method: "m", Params: json.RawMessage(strings.Repeat("[", rawjson.MaxDepth) + strings.Repeat("]", rawjson.MaxDepth))}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := ParseMessage([]byte(tt.raw))
			if err != nil {
				t.Fatal(err)
			}
			if g, w := fmt.Sprintf("%+q", show(got)), fmt.Sprintf("%+q", show(tt.want)); g != w {
				t.Errorf("got  %s\nwant %s", g, w)
			}
		})
	}
}

// show distinguishes nil from empty parts.
func show(m Message) []string {
	out := []string{m.Kind.String(), m.Method}
	for _, part := range []json.RawMessage{m.ID, m.Params, m.Result, m.Error} {
		if part == nil {
			out = append(out, "absent")
		} else {
			out = append(out, "is "+string(part))
		}
	}
	return out
}

func TestParseMessageSaysWhatIsWrong(t *testing.T) {
	tests := []struct{ raw, want string }{
		{"", "empty"},
		{" \r\n", "empty"},
		{"Listening on port 3000", "not a JSON object"},
		{"\xef\xbb\xbf{}", "byte order mark"},
		{"42", "not a JSON object"},
		{`[{"jsonrpc":"2.0","method":"m"}]`, "no JSON-RPC batches since 2025-06-18"},
		{"{}", `"jsonrpc" is missing`},
		{`{"method":"m"}`, `"jsonrpc" is missing`},
		{`{"jsonrpc":"1.0","method":"m"}`, `"jsonrpc" is "1.0", not "2.0"`},
		{`{"jsonrpc":2.0,"method":"m"}`, `"jsonrpc" is 2.0, not "2.0"`},
		{`{"jsonrpc":"2.0","id":null,"method":"m"}`, `"id" is null`},
		{`{"jsonrpc":"2.0","id":null,"error":{}}`, `"id" is null`},
		{`{"jsonrpc":"2.0","id":1.5,"method":"m"}`, "fractional"},
		{`{"jsonrpc":"2.0","id":15E-1,"method":"m"}`, "fractional"},
		{`{"jsonrpc":"2.0","id":true,"method":"m"}`, `"id" is true`},
		{`{"jsonrpc":"2.0","id":{"a":1},"method":"m"}`, `"id" is {"a":1}`},
		{`{"jsonrpc":"2.0","id":[` + strings.Repeat("1,", 40) + `1],"method":"m"}`, `"id" is an array`},
		{`{"jsonrpc":"2.0","id":1,"method":7}`, `"method" is 7, not a string`},
		{`{"jsonrpc":"2.0","id":1,"result":1,"error":{}}`, `both "result" and "error"`},
		{`{"jsonrpc":"2.0","id":1,"method":"m","result":1}`, `"method" together with`},
		{`{"jsonrpc":"2.0","result":1}`, `"result" without "id"`},
		{`{"jsonrpc":"2.0","id":1}`, "none of"},
		{`{"jsonrpc":"2.0","id":1,"error":"no"}`, `"error" is "no", not an object`},
		{`{"jsonrpc":"2.0","id":1,"id":2,"method":"m"}`, `"id" appears twice`},
		{`{"jsonrpc":"2.0","result":1,"id":1,"\u0072esult":2}`, `"result" appears twice`},
		{`{"jsonrpc":"2.0","method":"m"} x`, "column 32: expected nothing after the value, found 'x'"},
		{`{"jsonrpc":"2.0","method":"m"}{}`, "nothing after the value"},
		{`{"jsonrpc":"2.0","method":"m"`, "the text ends"},
		{`{"jsonrpc":"2.0","method":"m`, "ends inside a string"},
		{`{"jsonrpc":"2.0","method":"m",}`, "column 31: expected a member's name in quotes, found '}'"},
		{`{"jsonrpc":"2.0","method":"m","params":[1,]}`, "expected a value, found ']'"},
		{`{"jsonrpc":"2.0","method":"m","params":{"a":1]}`, "expected ',' or '}', found ']'"},
		{`{"jsonrpc":"2.0","method":"m","params":[01]}`, "expected ',' or ']', found '1'"},
		{`{"jsonrpc":"2.0","method":"m","params":1.}`, "a digit after the decimal point"},
		{`{"jsonrpc":"2.0","method":"m","params":-}`, "expected a digit"},
		{`{"jsonrpc":"2.0","method":"m","params":1e}`, "in the exponent"},
		{`{"jsonrpc":"2.0","method":"m","params":tru}`, "expected a value"},
		{`{"jsonrpc":"2.0","method":"m","params":NaN}`, "expected a value, found 'N'"},
		{`{"jsonrpc":"2.0","method":"m","params":}`, "expected a value, found '}'"},
		{`{'jsonrpc':"2.0"}`, "expected a member's name in quotes"},
		{`{"jsonrpc" "2.0"}`, "expected ':'"},
		{"{\"jsonrpc\":\"2.0\",\"method\":\"a\tb\"}", "U+0009 in a string must be escaped"},
		{`{"jsonrpc":"2.0","method":"\x41"}`, "unknown escape sequence"},
		{`{"jsonrpc":"2.0","method":"\u00g0"}`, "four hexadecimal digits"},
		{"{\"jsonrpc\":\"2.0\",\"method\":\"a\xff\"}", "not valid UTF-8"},
		{"{\"jsonrpc\":\"2.0\",\"method\":\"m\"}\xc3", "found the byte 0xC3"},
		{`{"jsonrpc":"2.0","method":"m","params":` + strings.Repeat("[", rawjson.MaxDepth+50) + strings.Repeat("]", 10), "ends inside an object or array"},
		{`{"jsonrpc":"2.0","method":"m","params":` + strings.Repeat("[", rawjson.MaxDepth+1) + `"]`, "ends inside a string"},
	}
	for _, tt := range tests {
		m, err := ParseMessage([]byte(tt.raw))
		if err == nil {
			t.Errorf("%.60s: no error, %v", tt.raw, show(m))
		} else if !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%.60s:\ngot  %v\nwant %s", tt.raw, err, tt.want)
		}
	}
}

// A message that is nested too deep is one, of which nothing but the envelope is known: it is
// neither noise nor a message without a result. A transcript keeps its bytes.
func TestMessageThatIsTooDeep(t *testing.T) {
	deep := strings.Repeat("[", 50_000) + `"]{\""` + strings.Repeat("]", 50_000)
	for raw, want := range map[string]Message{
		`{"jsonrpc":"2.0","id":7,"result":{"a":` + deep + `}}`:                           {Kind: Result, ID: json.RawMessage("7")},
		`{"error":{"a":` + deep + `},"id":7,"jsonrpc":"2.0"}`:                            {Kind: Error, ID: json.RawMessage("7")},
		`{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":` + deep + `}`: {Kind: Request, ID: json.RawMessage(`"q"`), Method: "elicitation/create"},
	} {
		got, err := ParseMessage([]byte(raw))
		if g, w := show(got), show(want); err != nil || !got.TooDeep || !slices.Equal(g, w) {
			t.Errorf("got  %q, %t, %v\nwant %q", g, got.TooDeep, err, w)
		}
		f := Frame{Dir: ServerToClient, Raw: []byte(raw)}
		f.Identify()
		line, _ := appendLine(nil, &f)
		for _, line := range [][]byte{line, []byte(`{"direction":"s2c","raw":` + raw + `}`)} {
			read, err := ParseLine(line)
			if err != nil || read.Kind != want.Kind || !read.Unread() || string(read.Raw) != raw || !strings.Contains(read.Bound(), "nested deeper") {
				t.Errorf("%.60s: read as %s, %q, %v", line, read.Kind, read.Bound(), err)
			}
		}
	}
}

func TestEnvelopeOfAHead(t *testing.T) {
	tests := []struct {
		head string
		kind Kind
		id   string
	}{
		{`{"jsonrpc":"2.0","id":7,"result":{"content":[{"te`, Result, "7"},
		{`{"jsonrpc":"2.0","id":7,"error":{"data":"x`, Error, "7"},
		{`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"a":"日`[:60], Request, "7"},
		{`{"method":"tools/call","params":{"a":1`, Request, ""},
		{`{"method":"notifications/message","params":{"a":1`, Notification, ""},
		{`{"jsonrpc":"2.0","id":7`, Noise, ""},
	}
	for _, tt := range tests {
		c := rawjson.NewCursor([]byte(tt.head))
		m, err := parseEnvelope(c)
		if err == nil || !c.Cut() {
			t.Errorf("%s: not seen to be cut off: %v", tt.head, err)
		}
		if m.Kind != tt.kind || tt.kind != Noise && string(m.ID) != tt.id {
			t.Errorf("%s: %v %s, want %v %s", tt.head, m.Kind, m.ID, tt.kind, tt.id)
		}
	}
}

func FuzzParseMessage(f *testing.F) {
	for _, seed := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":{"b":[1,2.5e-3,"\u00e9",null,true]}}}`,
		`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}`,
		`{"jsonrpc":"2.0","id":"a","result":{"action":"accept","content":{"n":9007199254740993}}}`,
		`{"jsonrpc":"2.0","id":2,"error":{"code":-32042,"message":"m","data":{"elicitations":[]}}}`,
		`{"jsonrpc":"2.0","id":1,"id":2}`, `[]`, `{`, "\xff", `{"jsonrpc":"2.0","method":"\ud83d\ude00"}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		m, err := ParseMessage(raw)
		if err != nil {
			if m.Kind != 0 || m.ID != nil || m.Params != nil {
				t.Fatalf("an error and a message: %v", show(m))
			}
			return
		}
		if !json.Valid(raw) {
			t.Fatalf("accepted what encoding/json does not")
		}
		var members map[string]json.RawMessage
		if err := json.Unmarshal(raw, &members); err != nil {
			t.Fatal(err)
		}
		if m.Kind == Request || m.Kind == Notification {
			var method string
			if err := json.Unmarshal(members["method"], &method); err != nil || method != m.Method {
				t.Fatalf("method %q, want %q (%v)", m.Method, method, err)
			}
		}
		for name, part := range map[string]json.RawMessage{"id": m.ID, "params": m.Params, "result": m.Result, "error": m.Error} {
			if !bytes.Equal(part, bytes.TrimSpace(members[name])) {
				t.Fatalf("%s is %q, want %q", name, part, members[name])
			}
		}
	})
}

const smallNotification = `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","logger":"load","data":"step 123456 of 1000000 done, nothing to report here"}}`

func BenchmarkParseMessage(b *testing.B) {
	for _, bb := range []struct{ name, raw string }{
		{"small", smallNotification},
		{"1MiB", `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"` + strings.Repeat("A line of text that a tool returned.\\n", 1<<20/38) + `"}]}}`},
		{"structured", `{"jsonrpc":"2.0","id":1,"result":{"rows":[` + strings.Repeat(`{"id":12345,"name":"x y z","on":true,"tags":["a","b"]},`, 2000) + `null]}}`},
	} {
		b.Run(bb.name, func(b *testing.B) {
			raw := []byte(bb.raw)
			b.SetBytes(int64(len(raw)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := ParseMessage(raw); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
