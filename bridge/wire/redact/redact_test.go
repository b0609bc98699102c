package redact

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"elicitation-inspector/bridge/wire"
)

func TestRedactJSON(t *testing.T) {
	tests := []struct {
		name  string
		rules []string
		in    string
		want  string // "" means unchanged
	}{
		{"no rules", nil, `{"authorization":"x"}`, ""},
		{"a field anywhere, in any case", []string{"Password"}, `{"a":[{"PASSWORD" : "x", "b" : 1.50}],"password":{"deep":["y"]}}`,
			`{"a":[{"PASSWORD" : "[REDACTED]", "b" : 1.50}],"password":"[REDACTED]"}`},
		{"an escaped name", []string{"pin"}, `{"\u0070in":1}`, `{"\u0070in":"[REDACTED]"}`},
		{"only whole names", []string{"pin"}, `{"pins":1,"spin":2,"x":"pin"}`, ""},
		{"a path", []string{"$.params.arguments.token"}, `{"params":{"arguments":{"token":"x","tokens":1},"token":"y"},"token":"z"}`,
			`{"params":{"arguments":{"token":"[REDACTED]","tokens":1},"token":"y"},"token":"z"}`},
		{"an index", []string{"$.a[1]"}, `{"a":[1,2,3]}`, `{"a":[1,"[REDACTED]",3]}`},
		{"a wildcard in a list", []string{"$.a[*].pin"}, `{"a":[{"pin":1},{"pin":2,"b":3}]}`, `{"a":[{"pin":"[REDACTED]"},{"pin":"[REDACTED]","b":3}]}`},
		{"a wildcard in an object", []string{"$.a.*"}, `{"a":{"x":1,"y":[2]}}`, `{"a":{"x":"[REDACTED]","y":"[REDACTED]"}}`},
		{"a quoted name", []string{`$['a.b']["c d"]`}, `{"a.b":{"c d":1}}`, `{"a.b":{"c d":"[REDACTED]"}}`},
		{"at any depth", []string{"$..token"}, `{"token":1,"a":[{"b":{"token":{"c":2}}}]}`, `{"token":"[REDACTED]","a":[{"b":{"token":"[REDACTED]"}}]}`},
		{"at any depth, then on", []string{"$..a.b"}, `{"a":{"a":{"b":1},"b":2},"b":3}`, `{"a":{"a":{"b":"[REDACTED]"},"b":"[REDACTED]"},"b":3}`},
		{"several rules", []string{"$.a", "b"}, `{"a":1,"b":2,"c":3}`, `{"a":"[REDACTED]","b":"[REDACTED]","c":3}`},
		{"white space stays", []string{"b"}, "{\n  \"a\": 1,\n  \"b\": [\n 1 ]\n}\n", "{\n  \"a\": 1,\n  \"b\": \"[REDACTED]\"\n}\n"},
		{"cut inside the secret", []string{"b"}, `{"a":1,"b":{"x":"sec`, `{"a":1,"b":"[REDACTED]"`},
		{"cut before the secret", []string{"b"}, `{"a":1,"b":`, `{"a":1,"b":"[REDACTED]"`},
		{"cut after the secret", []string{"b"}, `{"b":"x","a":"y`, `{"b":"[REDACTED]","a":"y`},
		{"no JSON", []string{"b"}, `b: x`, ""},
		{"the schema of a property stays, but for its values", []string{"Password"},
			`{"params":{"requestedSchema":{"type":"object","properties":{"password":{"type":"string","title":"T","minLength":8,"default":"x","examples":["y",["z"]]},"user":{"type":"string","default":"ann"}},"required":["password"]}}}`,
			`{"params":{"requestedSchema":{"type":"object","properties":{"password":{"type":"string","title":"T","minLength":8,"default":"[REDACTED]","examples":["[REDACTED]",["[REDACTED]"]]},"user":{"type":"string","default":"ann"}},"required":["password"]}}}`},
		{"a schema that gives no values", []string{"pin"}, `{"inputSchema":{"properties":{"pin":{"type":["string","null"],"pattern":"^[0-9]+$"},"b":{"properties":{"PIN":true}}},"$defs":{"pin":{"type":"integer","maximum":9}}}}`, ""},
		{"choices in a schema", []string{"pin"}, `{"tools":[{"outputSchema":{"properties":{"pin":{"enum":[1,"2"],"oneOf":[{"const":3,"title":"three"}],"items":{"anyOf":[{"const":"4"}],"properties":{"x":{"default":{"y":5}}}}}}}}]}`,
			`{"tools":[{"outputSchema":{"properties":{"pin":{"enum":["[REDACTED]","[REDACTED]"],"oneOf":[{"const":"[REDACTED]","title":"three"}],"items":{"anyOf":[{"const":"[REDACTED]"}],"properties":{"x":{"default":{"y":"[REDACTED]"}}}}}}}}]}`},
		{"what no schema says", []string{"pin"}, `{"inputSchema":{"properties":{"pin":{"value":1,"type":{"a":2},"x-pin":[{"title":3}]}}}}`,
			`{"inputSchema":{"properties":{"pin":{"value":"[REDACTED]","type":{"a":"[REDACTED]"},"x-pin":[{"title":"[REDACTED]"}]}}}}`},
		{"no schema in place of one", []string{"pin"}, `{"inputSchema":{"properties":{"pin":"1","a":{"properties":{"pin":[2]}}}}}`,
			`{"inputSchema":{"properties":{"pin":"[REDACTED]","a":{"properties":{"pin":"[REDACTED]"}}}}}`},
		{"data called properties", []string{"pin"}, `{"arguments":{"properties":{"pin":1}},"content":{"properties":{"pin":{"type":"string"}}},"structuredContent":{"properties":{"pin":true}}}`,
			`{"arguments":{"properties":{"pin":"[REDACTED]"}},"content":{"properties":{"pin":"[REDACTED]"}},"structuredContent":{"properties":{"pin":"[REDACTED]"}}}`},
		{"data in a schema", []string{"pin"}, `{"inputSchema":{"default":{"properties":{"pin":{"type":"x"}}},"properties":{"default":{"properties":{"pin":{"type":"string"}}}}}}`,
			`{"inputSchema":{"default":{"properties":{"pin":"[REDACTED]"}},"properties":{"default":{"properties":{"pin":{"type":"string"}}}}}}`},
		{"a path in a schema", []string{"pin", "$.inputSchema.properties.pin", "$..b"}, `{"inputSchema":{"properties":{"pin":{"type":"string"},"b":{"type":"string"}}}}`,
			`{"inputSchema":{"properties":{"pin":"[REDACTED]","b":"[REDACTED]"}}}`},
		{"a path into the schema of a name", []string{"pin", "$..title"}, `{"inputSchema":{"properties":{"pin":{"type":"string","title":"x"}}}}`,
			`{"inputSchema":{"properties":{"pin":{"type":"string","title":"[REDACTED]"}}}}`},
		{"a schema cut inside a value", []string{"pin"}, `{"inputSchema":{"properties":{"pin":{"type":"string","enum":["a","b`,
			`{"inputSchema":{"properties":{"pin":{"type":"string","enum":["[REDACTED]","[REDACTED]"`},
		{"a schema cut before it", []string{"pin"}, `{"inputSchema":{"properties":{"pin":`, `{"inputSchema":{"properties":{"pin":"[REDACTED]"`},
		{"text is not searched", []string{"pin"}, `{"content":[{"type":"text","text":"{\"pin\":1}"}]}`, ""},
		{"JSON only at first", []string{"b"}, `{"b":1} {"b":2}`, `{"b":"[REDACTED]"} {"b":2}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, err := New(tt.rules...)
			if err != nil {
				t.Fatal(err)
			}
			got := r.members([]byte(tt.in), func([]byte, string) {})
			want := tt.want
			if want == "" {
				want = tt.in
			}
			if string(got) != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
			if json.Valid([]byte(tt.in)) && !json.Valid(got) {
				t.Error("it is not JSON any more")
			}
		})
	}
}

func TestRedactionRules(t *testing.T) {
	for rule, want := range map[string]string{
		"":          "empty",
		" ":         "empty",
		"$":         "the whole message",
		"$x":        `expected "." or "[" at character 2`,
		"$.a..":     "a name is missing",
		"$.":        "a name is missing",
		"$.a[":      "not closed",
		"$.a[x]":    "neither an index",
		"$.a[-1]":   "neither an index",
		"$.a['b":    "does not end",
		"$.a[0]b.c": `expected "." or "[" at character 7`,
	} {
		if _, err := New(rule); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", rule, err, want)
		}
	}
}

func TestSecretHeader(t *testing.T) {
	for names, want := range map[string]bool{
		"Authorization proxy-authorization Cookie Set-Cookie Mcp-Session-Id X-Api-Key api-key ApiKey X-Auth-Token X-Access-Token Private-Token X-Gitlab-Token X-Amz-Security-Token Ocp-Apim-Subscription-Key " +
			"X-Goog-Api-Key X-Functions-Key X-Vault-Token X-Auth Api-Secret X-Client-Secret X-Shopify-Access-Token Token X-Csrf-Token Account-Key X-Password": true,
		"Accept Content-Type Mcp-Protocol-Version Mcp-Method Mcp-Name Mcp-Param-Token Mcp-Param-Api-Key Idempotency-Key Sec-Websocket-Key X-Request-Id Last-Event-Id Origin X-Author X-Keyboard Www-Authenticate X-Tokens-Left": false,
	} {
		for name := range strings.FieldsSeq(names) {
			if SecretHeader(name) != want {
				t.Errorf("%s is left out: %v", name, !want)
			}
		}
	}
}

func TestRedactHeader(t *testing.T) {
	h := http.Header{"Authorization": {"Bearer x"}, "Set-Cookie": {"a=1", "b=2"}, "Mcp-Session-Id": {"s"}, "X-Custom": {"k"}, "Accept": {"*/*"}}
	header := func(r *Redaction) (http.Header, bool) {
		f := r.Frame(&wire.Frame{Header: h})
		return f.Header, f.Redacted
	}
	var none *Redaction
	got, changed := header(none)
	if !changed || got.Get("Authorization") != Placeholder || len(got["Set-Cookie"]) != 2 || got["Set-Cookie"][1] != Placeholder ||
		got.Get("Mcp-Session-Id") != Placeholder || got.Get("X-Custom") != "k" || got.Get("Accept") != "*/*" {
		t.Errorf("%v %v", changed, got)
	}
	if h.Get("Authorization") != "Bearer x" {
		t.Error("the original was changed")
	}
	more, err := New("x-custom")
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := header(more); got.Get("X-Custom") != Placeholder || got.Get("Cookie") != "" || got.Get("Authorization") != Placeholder {
		t.Errorf("%v", got)
	}
	if got, changed := header(Nothing()); changed || got.Get("Authorization") != "Bearer x" {
		t.Errorf("%v %v", changed, got)
	}
}

func TestRedactURL(t *testing.T) {
	address := func(r *Redaction, u string) (string, bool) {
		f := r.Frame(&wire.Frame{URL: u})
		return f.URL, f.Redacted
	}
	var none *Redaction
	for in, want := range map[string]string{
		"": "", "https://example.com/mcp": "", "https://example.com/mcp?": "", "/x?a=&b=": "",
		"https://example.com/mcp?key=abc&b=": "https://example.com/mcp?key=[REDACTED]&b=",
		"https://example.com/mcp?abc":        "https://example.com/mcp?[REDACTED]",
		"/message?sessionId=1=2&x=%26?&":     "/message?sessionId=[REDACTED]&x=[REDACTED]&",
	} {
		got, changed := address(none, in)
		if want == "" {
			if changed || got != in {
				t.Errorf("%s has become %s", in, got)
			}
		} else if !changed || got != want {
			t.Errorf("%s is %s, want %s", in, got, want)
		}
		if got, changed := address(Nothing(), in); changed || got != in {
			t.Errorf("%s has become %s though nothing is left out", in, got)
		}
	}
	// Also in transcripts, and if there is no other secret.
	text := transcript(t, []wire.Frame{{Dir: wire.ClientToServer, Transport: "http", HTTPMethod: "POST", URL: "https://example.com/mcp?key=abc", Raw: []byte("{}")}}, nil)
	if want := `"redacted":true`; !strings.Contains(string(text), want) || !strings.Contains(string(text), `"http_method":"POST","url":"https://example.com/mcp?key=[REDACTED]"`) {
		t.Errorf("the line is %s", text)
	}
}

// The attributes of a span hold no credentials of HTTP headers, no values in queries, and not what a rule names.
func TestRedactSpan(t *testing.T) {
	r, err := New("db.query.parameter.pin")
	if err != nil {
		t.Fatal(err)
	}
	f := wire.Frame{Dir: wire.Meta, Kind: wire.SpanFrame, Note: &wire.Note{Kind: wire.NoteSpan, Span: &wire.Span{Name: "GET https://a.example/x?key=hunter2222", Attributes: map[string]json.RawMessage{
		"http.request.header.authorization": json.RawMessage(`["Bearer sesame-open"]`), "http.request.header.accept": json.RawMessage(`["*/*"]`),
		"db.query.parameter.pin": json.RawMessage(`"4711-0815"`), "db.query.text": json.RawMessage(`"INSERT '4711-0815' 'sesame-open'"`),
	}}}}
	f.Raw = []byte(f.Note.Words(&f))
	out := r.Frame(&f)
	raw := string(out.Note.JSON()) + string(out.Raw)
	for _, secret := range []string{"sesame", "4711", "hunter"} {
		if strings.Contains(raw, secret) {
			t.Errorf("%s stays in %s", secret, raw)
		}
	}
	if !strings.Contains(raw, `"http.request.header.accept":["*/*"]`) || !out.Redacted || string(f.Note.Span.Attributes["db.query.parameter.pin"]) != `"4711-0815"` {
		t.Errorf("%s", raw)
	}
}
