package redact

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/wire"
)

// A value that a rule redacts in one frame is also redacted in the others, if it is too
// long to occur by chance.
func TestValuesAreLeftOutElsewhere(t *testing.T) {
	tests := []struct{ name, pin, in, want string }{
		{"in text", `"4711-x"`, `PIN 4711-x is right`, `PIN [REDACTED] is right`},
		{"in standard error that looks like JSON", `"hunter22"`, `log: {"pin":"hunter22"}`, `log: {"pin":"[REDACTED]"}`},
		{"of eight characters, within words", `"hunter22"`, `{"a":"xhunter22y","hunter22":1}`, `{"a":"x[REDACTED]y","[REDACTED]":1}`},
		{"of four characters, as a word", `"4711"`, `{"a":"pin_4711, not 47110","4711":["4711"]}`, `{"a":"pin_[REDACTED], not 47110","4711":["[REDACTED]"]}`},
		{"of two characters, as a whole", `"47"`, `{"a":"47","b":"47 11","47":47}`, `{"a":"[REDACTED]","b":"47 11","47":47}`},
		{"a number", `471147`, `{"a":471147,"b":4711470,"c":"of 471147"}`, `{"a":"[REDACTED]","b":4711470,"c":"of [REDACTED]"}`},
		{"what says what a message is", `"form"`, `{"id":"form","method":"form","mode":"form","x":"form"}`, `{"id":"form","method":"form","mode":"form","x":"[REDACTED]"}`},
		{"that says nothing", `true`, `{"a":true,"b":"true"}`, `{"a":true,"b":"true"}`},
		{"escaped otherwise", `"gr\u00fc\u00dfe an"`, `{"a":"\tgr\u00FC\u00dfe\u0020an!"}`, `{"a":"\t[REDACTED]!"}`},
		{"a character of two escapes", `"\ud83d\ude00 hello!"`, `{"a":"x\uD83D\uDE00\u0020hello!"}`, `{"a":"x[REDACTED]"}`},
		{"in JSON in a string", `"nine\"quo\\tes"`, `{"text":"{\"a\":\"nine\\\"quo\\\\tes\"}"}`, `{"text":"{\"a\":\"[REDACTED]\"}"}`},
		{"in a URL", `"a b/c d/e"`, `{"text":"https://x/?q=a+b%2Fc+d%2Fe&r=a%20b%2fc%20d%2fe"}`, `{"text":"https://x/?q=[REDACTED]&r=[REDACTED]"}`},
		{"in JSON that is cut off", `"hunter22"`, `{"a":["hunter22"],"b":"xhunter22`, `{"a":["[REDACTED]"],"b":"x[REDACTED]`},
		{"of which one contains another", `["hunter22","hunter2234"]`, `{"a":"hunter2234 hunter22"}`, `{"a":"[REDACTED] [REDACTED]"}`},
		{"in an object that is left out", `{"deep":[{"x":"hunter22"}]}`, `{"a":"hunter22","deep":"x"}`, `{"a":"[REDACTED]","deep":"x"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, err := New("pin")
			if err != nil {
				t.Fatal(err)
			}
			r.Frame(&wire.Frame{Dir: wire.ClientToServer, Raw: []byte(`{"pin":` + tt.pin + `}`)})
			if got := r.Frame(&wire.Frame{Dir: wire.ServerToClient, Raw: []byte(tt.in)}); string(got.Raw) != tt.want || got.Redacted != (tt.want != tt.in) {
				t.Errorf("Placeholder: %v\ngot  %s\nwant %s", got.Redacted, got.Raw, tt.want)
			}
		})
	}
}

// Noise that only begins like JSON is searched as text.
func TestValuesInNoise(t *testing.T) {
	r, err := New()
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Values("here", "hunter22"); err != nil {
		t.Fatal(err)
	}
	got := r.Frame(&wire.Frame{Dir: wire.ServerToClient, Kind: wire.Noise, Raw: []byte(`[INFO] {"a":"\u0068unter22"} hunter22`)})
	if string(got.Raw) != `[INFO] {"a":"[REDACTED]"} [REDACTED]` || !got.Redacted {
		t.Errorf("%s", got.Raw)
	}
}

// Values that are neither in the person's own headers nor secret stay.
func TestHeadersThatRepeatSecrets(t *testing.T) {
	r, err := New("pin")
	if err != nil {
		t.Fatal(err)
	}
	r.Credentials(http.Header{"X-Auth": {"Basic YW5uOnM0ZmVyLXBhc3M="}, "Cookie": {`a=1; sid="cookie-value"`}})
	in := http.Header{
		"Location": {"/x?a=1", "https://y/"}, "X-Said": {"ann:s4fer-pass", "the cookie-value", "s4fer-pass"}, "Link": {"<https://z/?k=v>; rel=next, </w?a=b>"},
		"Mcp-Param-Pin": {"=?base64?4pi6?="}, "Accept": {"text/html"}, "Cookie": {"other=1"},
	}
	got := r.Frame(&wire.Frame{Header: in, Raw: []byte(`{"pin":"☺"}`)})
	text, _ := json.Marshal(got.Header)
	want := `{"Accept":["text/html"],"Cookie":["[REDACTED]"],"Link":["\u003chttps://z/?k=[REDACTED]\u003e; rel=next, \u003c/w?a=[REDACTED]\u003e"],` +
		`"Location":["/x?a=[REDACTED]","https://y/"],"Mcp-Param-Pin":["[REDACTED]"],"X-Said":["[REDACTED]","the [REDACTED]","[REDACTED]"]}`
	if string(text) != want {
		t.Errorf("got  %s\nwant %s", text, want)
	}
	if in.Get("X-Said") != "ann:s4fer-pass" {
		t.Error("the original was changed")
	}
}

// The contents of a redacted header are redacted elsewhere: each cookie's value without
// its attributes, and the part after the name of a scheme.
func TestPartsOfCredentials(t *testing.T) {
	for _, tt := range []struct{ header, value, said, want string }{
		{"Set-Cookie", "sid=cookie-4711; Path=/wide; SameSite=Strictest", "cookie-4711 /wide Strictest", "[REDACTED] /wide Strictest"},
		{"Set-Cookie", `sid="cookie-4711"`, "cookie-4711", "[REDACTED]"},
		{"Cookie", "a=cookie-4711; b=cookie-4712", "cookie-4711 cookie-4712", "[REDACTED] [REDACTED]"},
		{"Authorization", "Bearer token-4711", "token-4711 of the Bearer", "[REDACTED] of the Bearer"},
		{"Authorization", "token-4711", "token-4711", "[REDACTED]"},
		{"Authorization", "Bearer  ", "Bearer of news", "Bearer of news"},
		{"Authorization", "Digest user=ann, realm=example", "user=ann, realm=example", "user=ann, realm=example"},
		{"Mcp-Session-Id", "session-4711", "session-4711", "[REDACTED]"},
	} {
		t.Run(tt.header+" "+tt.value, func(t *testing.T) {
			r, err := New()
			if err != nil {
				t.Fatal(err)
			}
			text, _ := json.Marshal(map[string]string{"a": tt.said})
			want, _ := json.Marshal(map[string]string{"a": tt.want})
			got := r.Frame(&wire.Frame{Header: http.Header{tt.header: {tt.value}}, Raw: text})
			if string(got.Raw) != string(want) || got.Header.Get(tt.header) != Placeholder {
				t.Errorf("%v %s, want %s", got.Header, got.Raw, want)
			}
			if later := r.Frame(&wire.Frame{Raw: text}); string(later.Raw) != string(want) {
				t.Errorf("later %s, want %s", later.Raw, want)
			}
		})
	}
}

// Rules for members and paths work together, even if only the message can contain a
// secret.
func TestRulesOfBothKinds(t *testing.T) {
	r, err := New("pin", "$.params.code")
	if err != nil {
		t.Fatal(err)
	}
	in := wire.Frame{Dir: wire.ServerToClient, Kind: wire.Notification, Raw: []byte(`{"params":{"code":"abcd-1","pin":"efgh-2"}}`)}
	if got := r.Frame(&in); string(got.Raw) != `{"params":{"code":"[REDACTED]","pin":"[REDACTED]"}}` || !got.Redacted {
		t.Errorf("%s", got.Raw)
	}
}

// A given value must have at least four characters.
func TestValuesThatAreTooShort(t *testing.T) {
	r, err := New()
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Values("here", "long enough", "äöü"); err == nil || !strings.Contains(err.Error(), "value 2") || strings.Contains(err.Error(), "äöü") {
		t.Errorf("three characters: %v", err)
	}
	if err := r.Values("here", "äöüß"); err != nil {
		t.Error(err)
	}
	if got := r.Frame(&wire.Frame{Raw: []byte(`{"a":"of äöüß"}`)}); string(got.Raw) != `{"a":"of [REDACTED]"}` {
		t.Errorf("%s", got.Raw)
	}
}

// It is said of a rule that its values may still be in texts, if one is too short to be redacted
// everywhere; and that one is in a recording, if that was written before the value came up.
func TestDoubts(t *testing.T) {
	short := `a value that "pin" leaves out may also stand inside text: it is too short to be left out there`
	early := `a value that "pin" leaves out also stands in frames that were written before it came up`
	for _, tt := range []struct {
		pin, in     string
		want, early []string
	}{
		{"4711", `{"a":"it is 4711"}`, nil, nil},
		{"4711", `{"a":"it is 47110"}`, []string{short}, nil},
		{"4711", `{"4711":"it"}`, []string{short}, nil},
		{"47", `{"a":"it"}`, []string{short}, nil},
		{"hunter22", `{"a":"ithunter22"}`, nil, []string{early}},
		{"hunter22", `{"a":"it"}`, nil, nil},
		{`hunter"22`, `{"a":"it is hunter\"22."}`, nil, []string{early}},
	} {
		r, err := New("pin")
		if err != nil {
			t.Fatal(err)
		}
		secret, err := json.Marshal(tt.pin)
		if err != nil {
			t.Fatal(err)
		}
		for i, raw := range []string{`{}`, `{"pin":` + string(secret) + `}`, tt.in} {
			r.Frame(&wire.Frame{Seq: int64(i + 1), Raw: []byte(raw)})
		}
		if got := r.Doubts(); !slices.Equal(got, tt.want) {
			t.Errorf("%s in %s: %q, want %q", tt.pin, tt.in, got, tt.want)
		}
		if got, err := r.Early(strings.NewReader("{}\n" + tt.in + "\n{}")); err != nil || !slices.Equal(got, tt.early) || r.Latest() != 2 {
			t.Errorf("%s recorded in %s before frame %d: %q, %v; want %q", tt.pin, tt.in, r.Latest(), got, err, tt.early)
		}
	}
}

// For any message and value, the result is valid JSON, and none of its strings contains
// the value.
func FuzzValuesAreLeftOut(f *testing.F) {
	f.Add(`{"a":"x\u0061bcdefgh","abcdefgh":[1,"\\abcdefgh"]}`, "abcdefgh")
	f.Add(`{"a":"\ud83d\ude00","b":12345678}`, "12345678")
	f.Add(`["\\\"quoted\\\""]`, `\"quoted`)
	f.Fuzz(func(t *testing.T, raw, value string) {
		r, _ := New()
		if r.Values("fuzz", value) != nil || strings.Contains(Placeholder, value) {
			return
		}
		got := r.Frame(&wire.Frame{Raw: []byte(raw)})
		if !json.Valid([]byte(raw)) {
			return
		}
		if !json.Valid(got.Raw) {
			t.Fatalf("%s without %q is %s", raw, value, got.Raw)
		}
		if !strings.ContainsAny(value, "[]") { // "[REDACTED]" could complete such a value
			for s := range scalars(got.Raw) {
				leaf := rawjson.Unescape(got.Raw[s.from:s.to])
				if s.kind != memberName && strings.Contains(strings.ReplaceAll(leaf, Placeholder, "\x00"), value) && strings.ContainsAny(raw[:1], "{[") {
					t.Errorf("%q is in %q, of %s", value, leaf, got.Raw)
				}
			}
		}
	})
}
