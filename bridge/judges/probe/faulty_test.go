// The race detector makes these tables of clients several times slower. Clients without faults
// run all probes with it.

//go:build !race

package probe

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/meaning/conversation"
)

// faultyClient is a client with one fault, and the probe that must name it.
type faultyClient struct {
	name     string
	revision string // "" for 2025-11-25
	probe    string
	want     Verdict
	caps     string
	answer   func(b *bare, params json.RawMessage) string // nil for the right ones
	retry    func(b *bare, params string) string
}

// spoilt makes each right accept of a form wrong.
func spoilt(change func(result string) string) func(*bare, json.RawMessage) string {
	return func(b *bare, params json.RawMessage) string {
		result := right(b, params)
		if strings.HasPrefix(result, `{"action":"accept","content"`) {
			return change(result)
		}
		return result
	}
}

// byItself accepts every question, with the content that of returns.
func byItself(of func(params json.RawMessage) string) func(*bare, json.RawMessage) string {
	return func(b *bare, params json.RawMessage) string {
		switch {
		case b.tool == "mode-undeclared", b.tool == "elicitation-undeclared":
			return right(b, params)
		case string(rawjson.Member(params, "mode")) == `"url"`:
			return `{"action":"accept"}`
		}
		return `{"action":"accept","content":` + of(params) + `}`
	}
}

// filling returns content with the defaults of all fields, or these values by the field's type.
func filling(params json.RawMessage, values map[string]string) string {
	content := "{}"
	for name, field := range rawjson.Members(rawjson.Member(params, "requestedSchema", "properties")) {
		value := values[rawjson.Text(rawjson.Member(field, "type"))]
		if initial := rawjson.Member(field, "default"); initial != nil && values == nil {
			value = string(initial)
		}
		if value != "" {
			content = rawjson.WithMember(content, name, value)
		}
	}
	return content
}

// value makes the answer of one probe from the content of its only field.
func value(probe, content string) func(*bare, json.RawMessage) string {
	return at(probe, `{"action":"accept","content":{"value":`+content+`}}`)
}

func faultyClients() []faultyClient {
	b, c := mcp.Revision20251125, mcp.Revision20260728
	fetch := func(b *bare, params json.RawMessage) {
		for _, address := range regexp.MustCompile(`http://[^"\\ >)]*/open/[a-z0-9]+`).FindAllString(string(params), 1) {
			if response, err := http.Get(strings.Replace(address, "xn--pple-43d.localhost", "127.0.0.1", 1)); err != nil {
				b.t.Error(err)
			} else {
				response.Body.Close()
			}
		}
	}
	fetching := func(probe string) func(*bare, json.RawMessage) string {
		return func(b *bare, params json.RawMessage) string {
			if b.tool == probe {
				fetch(b, params)
			}
			return right(b, params)
		}
	}
	return []faultyClient{
		{name: "accepts all by itself", probe: "decline", want: Fails, answer: byItself(func(params json.RawMessage) string {
			content, _ := AsAsked(rawjson.Text(rawjson.Member(params, "message")), rawjson.Member(params, "requestedSchema"))
			return string(content)
		})},
		{name: "accepts all by itself, with nothing", probe: "accept", want: Fails, answer: byItself(func(json.RawMessage) string { return "{}" })},
		{name: "accepts all by itself, with nothing, in rounds", probe: "accept", want: Fails, revision: c, answer: byItself(func(json.RawMessage) string { return "{}" })},
		{name: "accepts all by itself, with defaults", probe: "accept", want: Fails, answer: byItself(func(params json.RawMessage) string { return filling(params, nil) })},
		{name: "accepts all by itself, with empty values", probe: "decline", want: Fails, answer: byItself(func(params json.RawMessage) string {
			return filling(params, map[string]string{"string": `""`, "integer": "0", "number": "0", "boolean": "false", "array": "[]"})
		})},
		{name: "content under one member", probe: "accept", want: Fails, answer: spoilt(func(s string) string {
			return strings.Replace(s, `"content":`, `"content":{"data":`, 1) + "}"
		})},
		{name: "says that the method is not there", probe: "accept", want: Fails, answer: at("", `error {"code":-32601,"message":"Method not found"}`)},
		{name: "says that the mode is not there", probe: "accept", want: Fails, answer: at("", `error {"code":-32602,"message":"Unsupported mode"}`)},
		{name: "says that URLs are not there", probe: "url-consent", want: Fails, answer: func(b *bare, params json.RawMessage) string {
			if string(rawjson.Member(params, "mode")) == `"url"` {
				return `error {"code":-32602,"message":"Unsupported mode"}`
			}
			return right(b, params)
		}},
		{name: "trims a default", probe: "default-string", want: Fails, answer: value("default-string", `"two spaces before, \"quotes\" and a back\\slash"`)},
		{name: "escapes a default for HTML", probe: "default-string", want: Fails, answer: value("default-string", `"  two spaces before, &quot;quotes&quot; and a back\\slash"`)},
		{name: "escapes a default for JSON", probe: "default-string", want: Fails, answer: value("default-string", `"  two spaces before, \\\"quotes\\\" and a back\\\\slash"`)},
		{name: "collapses white space", probe: "default-string", want: Fails, answer: value("default-string", `" two spaces before, \"quotes\" and a back\\slash"`)},
		{name: "an empty text for a default", probe: "default-string", want: Fails, answer: value("default-string", `""`)},
		{name: "0 for a default", probe: "default-number", want: Fails, answer: value("default-number", `0`)},
		{name: "false for a default", probe: "default-boolean", want: Fails, revision: mcp.Revision20250618, answer: value("default-boolean", `false`)},
		{name: "the first choice for a default", probe: "default-choice", want: Fails, answer: value("default-choice", `"Red"`)},
		{name: "0 for nothing", probe: "optional-empty", want: Partly, answer: at("optional-empty", `{"action":"accept","content":{"first":"x","integer":0}}`)},
		{name: "false for nothing", probe: "optional-empty", want: Partly, answer: at("optional-empty", `{"action":"accept","content":{"first":"x","boolean":false}}`)},
		{name: "a date a day off", probe: "format-date", want: Fails, answer: value("format-date", `"2028-02-28"`)},
		{name: "a date with a time", probe: "format-date", want: Fails, answer: value("format-date", `"2028-02-29T00:00:00Z"`)},
		{name: "a time without its zone", probe: "format-date-time", want: Fails, answer: value("format-date-time", `"2028-02-29T12:00"`)},
		{name: "cuts fractions", probe: "integer", want: Fails, answer: value("integer", `1`)},
		{name: "a URI without its slash", probe: "format-uri", want: Fails, answer: value("format-uri", `"https://example.com"`)},
		{name: "a decimal comma", probe: "number", want: Fails, answer: value("number", `5`)},
		{name: "normalises requestState", probe: "round-state", want: Fails, revision: c, retry: func(_ *bare, params string) string {
			return strings.ReplaceAll(params, "e\u0301", "\u00e9")
		}},
		{name: "trims requestState", probe: "round-state", want: Fails, revision: c, retry: func(_ *bare, params string) string {
			return strings.Replace(params, `\n "}`, `"}`, 1)
		}},
		{name: "responses as a list", probe: "round-keys", want: Fails, revision: c, retry: func(_ *bare, params string) string {
			responses, list := rawjson.Member([]byte(params), "inputResponses"), []string{}
			for _, one := range rawjson.Members(responses) {
				list = append(list, string(one))
			}
			if responses == nil {
				return params
			}
			return strings.Replace(params, string(responses), "["+strings.Join(list, ",")+"]", 1)
		}},
		{name: "retries without responses", probe: "accept", want: Fails, revision: c, retry: func(_ *bare, params string) string {
			if responses := rawjson.Member([]byte(params), "inputResponses"); responses != nil {
				return strings.Replace(params, `,"inputResponses":`+string(responses), "", 1)
			}
			return params
		}},
		{name: "declines by itself", probe: "accept", want: Fails, answer: spoilt(func(string) string { return `{"action":"decline"}` })},
		{name: "cancels by itself", probe: "accept", want: Fails, revision: c, answer: spoilt(func(string) string { return `{"action":"cancel"}` })},
		{name: "accepts without content", probe: "accept", want: Fails, answer: spoilt(func(string) string { return `{"action":"accept"}` })},
		{name: "content is a list", probe: "accept", want: Fails, answer: spoilt(func(string) string { return `{"action":"accept","content":[]}` })},
		{name: "an action of its own", probe: "accept", want: Fails, answer: spoilt(func(s string) string { return strings.Replace(s, "accept", "ok", 1) })},
		{name: "no action", probe: "accept", want: Fails, revision: c, answer: spoilt(func(s string) string { return strings.Replace(s, `"action":"accept",`, "", 1) })},
		{name: "a result that is null", probe: "accept", want: Fails, answer: spoilt(func(string) string { return "null" })},
		{name: "members of its own", probe: "accept", want: Partly, answer: spoilt(func(s string) string {
			return strings.ReplaceAll(strings.Replace(s, `"content":{`, `"content":{"mine":1,`, 1), ",}", "}")
		})},
		{name: "refuses with an error", probe: "accept", want: Refuses, answer: spoilt(func(string) string { return `error {"code":-32603,"message":"no"}` })},
		{name: "a response twice", probe: "accept", want: Fails, answer: at("accept", "raw "+`{"jsonrpc":"2.0","id":$ID,"result":{"action":"accept","content":{"value":"x"}}}`+"\n"+`{"jsonrpc":"2.0","id":$ID,"result":{"action":"accept","content":{"value":"x"}}}`)},
		{name: "a response with another id", probe: "accept", want: Fails, answer: at("accept", `raw {"jsonrpc":"2.0","id":"$ID","result":{"action":"accept","content":{"value":"x"}}}`)},
		{name: "bytes that are not JSON", probe: "accept", want: Fails, answer: at("accept", `raw {"jsonrpc":"2.0","id":$ID,"result":`)},
		{name: "cancel in place of decline", probe: "decline", want: Partly, answer: at("decline", `{"action":"cancel"}`)},
		{name: "decline with content", probe: "decline", want: Partly, answer: at("decline", `{"action":"decline","content":{}}`)},
		{name: "decline in place of cancel", probe: "cancel", want: Partly, answer: at("cancel", `{"action":"decline"}`)},
		{name: "numbers as texts", probe: "integer", want: Fails, answer: value("integer", `"7"`)},
		{name: "fractions for whole numbers", probe: "integer", want: Fails, answer: value("integer", `1.5`)},
		{name: "does not check limits", probe: "integer-limits", want: Partly, answer: value("integer-limits", `11`)},
		{name: "does not check lengths", probe: "string-length", want: Partly, answer: value("string-length", `"much too long"`)},
		{name: "does not check patterns", probe: "string-pattern", want: Partly, answer: value("string-pattern", `"42"`)},
		{name: "does not check e-mail addresses", probe: "format-email", want: Partly, answer: value("format-email", `"nobody"`)},
		{name: "dates in its own form", probe: "format-date", want: Fails, answer: value("format-date", `"29.02.2028"`)},
		{name: "a yes as a text", probe: "boolean", want: Fails, answer: value("boolean", `"yes"`)},
		{name: "titles in place of values", probe: "choice-titled", want: Fails, answer: value("choice-titled", `"Blue"`)},
		{name: "names in place of values", probe: "choice-names", want: Fails, answer: value("choice-names", `"Blue"`)},
		{name: "one of several choices", probe: "choices", want: Fails, answer: value("choices", `"Red"`)},
		{name: "does not count choices", probe: "choices-limits", want: Partly, answer: value("choices-limits", `["North"]`)},
		{name: "loses the default of a text", probe: "default-string", want: Fails, answer: at("default-string", `{"action":"accept","content":{}}`)},
		{name: "loses a default that is false", probe: "default-false", want: Fails, revision: mcp.Revision20250618, answer: at("default-false", `{"action":"accept","content":{}}`)},
		{name: "loses a default of 0", probe: "default-integer", want: Fails, revision: c, answer: at("default-integer", `{"action":"accept","content":{}}`)},
		{name: "rounds numbers", probe: "exact-integer", want: Partly, answer: value("exact-integer", `9007199254740992`)},
		{name: "leaves out what is required", probe: "required", want: Fails, answer: at("required", `{"action":"accept","content":{}}`)},
		{name: "empty texts for nothing", probe: "optional-empty", want: Partly, answer: at("optional-empty", `{"action":"accept","content":{"first":"x","string":""}}`)},
		{name: "null for nothing", probe: "optional-empty", want: Fails, answer: at("optional-empty", `{"action":"accept","content":{"first":"x","number":null}}`)},
		{name: "no more than ten fields", probe: "fields-many", want: Fails, answer: at("fields-many", `{"action":"accept","content":{"field 1":"x"}}`)},
		{name: "no content for no fields", probe: "fields-none", want: May, answer: at("fields-none", `{"action":"accept"}`)},
		{name: "changes characters", probe: "text-scripts", want: Fails, answer: value("text-scripts", `"?????"`)},
		{name: "fetches pictures", probe: "text-markup", want: Fails, answer: fetching("text-markup")},
		{name: "looks up addresses in texts", probe: "text-address", want: Fails, answer: fetching("text-address")},
		{name: "exchanges answers", probe: "two-at-once", want: Fails, revision: b, answer: func(b *bare, params json.RawMessage) string {
			result := right(b, params)
			if b.tool == "two-at-once" {
				result = strings.NewReplacer("first", "second", "second", "first").Replace(result)
			}
			return result
		}},
		{name: "answers as before", probe: "twenty", want: Fails, answer: value("twenty", `"question 1"`)},
		{name: "fetches every URL that it is shown", probe: "url-decline", want: Fails, answer: func(b *bare, params json.RawMessage) string {
			if string(rawjson.Member(params, "mode")) == `"url"` {
				fetch(b, params)
			}
			return right(b, params)
		}},
		{name: "content for a URL", probe: "url-consent", want: Partly, revision: c, answer: func(b *bare, params json.RawMessage) string {
			if result := right(b, params); result != `{"action":"accept"}` {
				return result
			}
			return `{"action":"accept","content":{}}`
		}},
		{name: "fetches what is declined", probe: "url-decline", want: Fails, answer: fetching("url-decline")},
		{name: "accepts a mode that does not exist", probe: "mode-undeclared", want: Fails, answer: at("mode-undeclared", `{"action":"accept","content":{}}`)},
		{name: "refuses a mode with the wrong code", probe: "mode-undeclared", want: Fails, answer: at("mode-undeclared", `error {"code":-32603,"message":"no"}`)},
		{name: "declares true", probe: "declared", want: Fails, caps: `{"elicitation":{"form":true,"url":{}}}`},
		{name: "changes requestState", probe: "round-state", want: Fails, revision: c, retry: func(_ *bare, params string) string { return strings.ReplaceAll(params, "世界", "??") }},
		{name: "drops requestState", probe: "round-state", want: Fails, revision: c, retry: func(_ *bare, params string) string {
			if state := rawjson.Member([]byte(params), "requestState"); strings.Contains(params, "inputResponses") && state != nil {
				return strings.Replace(params, `,"requestState":`+string(state), "", 1)
			}
			return params
		}},
		{name: "invents requestState", probe: "round-no-state", want: Fails, revision: c, retry: func(b *bare, params string) string {
			if b.tool == "round-no-state" {
				return strings.TrimSuffix(params, "}") + `,"requestState":""}`
			}
			return params
		}},
		{name: "keys of its own", probe: "round-keys", want: Fails, revision: c, retry: func(_ *bare, params string) string {
			return strings.Replace(params, `"inputResponses":{`, `"inputResponses":{"mine":{"action":"decline"},`, 1)
		}},
		{name: "leaves out an answer", probe: "round-keys", want: Fails, revision: c, answer: func(b *bare, params json.RawMessage) string {
			if b.tool == "round-keys" && strings.Contains(string(params), "answer 2") {
				return ""
			}
			return right(b, params)
		}},
		{name: "the same id for the retry", probe: "round-id", want: Fails, revision: c, retry: func(b *bare, params string) string {
			b.sameID = true
			return params
		}},
		{name: "other arguments in the retry", probe: "round-arguments", want: Fails, revision: c, retry: func(_ *bare, params string) string {
			return strings.Replace(params, `"arguments":{}`, `"arguments":{"x":1}`, 1)
		}},
	}
}

// Each fault is named by the probe that is made for it, and by no other.
func TestFaultyClients(t *testing.T) {
	list := faultyClients()
	if len(list) < 40 {
		t.Errorf("only %d clients", len(list))
	}
	for _, f := range list {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			web := httptest.NewUnstartedServer(nil)
			s := newServer(t, Options{Pause: 20 * time.Millisecond, Base: "http://" + web.Listener.Addr().String()})
			web.Config.Handler = s.Handler()
			web.Start()
			t.Cleanup(web.Close)
			if f.revision == "" {
				f.revision = mcp.Revision20251125
			}
			b := newBare(t, s, f.revision)
			if f.caps != "" {
				b.caps = f.caps
			}
			if f.answer != nil {
				b.answer = f.answer
			}
			b.retry = f.retry
			b.greet()
			for _, p := range Table() {
				if p.In(f.revision) && !p.Apart {
					b.call(p)
				}
			}
			b.request(mcp.MethodListTools, "{}") // whatever the client wrote before is read by now
			var named []string
			for _, p := range Table() {
				if p.In(f.revision) && !p.Apart {
					b.result(p.Name)
				}
			}
			for _, c := range s.Report().Clients {
				for _, r := range c.Results {
					switch {
					case r.Probe == f.probe && r.Verdict != f.want:
						t.Errorf("%s: %s, want %s: %s", r.Probe, r.Verdict, f.want, r.How)
					case r.Probe == f.probe && (len(r.Frames) == 0 && r.Probe != "declared" || (r.Change == "") != (r.Verdict == May)):
						t.Errorf("%s: it lacks frames or what to change: %+v", r.Probe, r)
					case r.Probe != f.probe && r.Verdict != Works && r.Verdict != NotSeen:
						named = append(named, fmt.Sprintf("%s: %s: %s", r.Probe, r.Verdict, r.How))
					}
				}
			}
			if len(named) > 0 {
				t.Errorf("named by others, too:\n%s", strings.Join(named, "\n"))
			}
		})
	}
}

// A client that declares nothing is asked nothing, and fails nothing.
func TestUndeclared(t *testing.T) {
	for _, revision := range mcp.Revisions {
		b := newBare(t, newServer(t, Options{}), revision)
		b.caps = `{}`
		b.answer = func(b *bare, params json.RawMessage) string {
			if b.tool != "elicitation-undeclared" {
				t.Errorf("%s asks %s", b.tool, params)
			}
			return `error {"code":-32601,"message":"Method not found"}`
		}
		b.greet()
		for _, p := range Table() {
			if !p.In(revision) || p.Apart || p.Name == "round-state-only" {
				continue
			}
			want := NotSeen
			if p.Name == "elicitation-undeclared" {
				want = Works
			}
			if r := b.run(p); r.Verdict != want {
				t.Errorf("%s: %s: %s", p.Name, r.Verdict, r.How)
			}
		}
	}
}

// A client of 2026-07-28 that never makes a call again fails, once.
func TestNeverRetries(t *testing.T) {
	for name, call := range map[string]func(b *bare){
		"ends":             func(b *bare) {},
		"calls all anew":   func(b *bare) { b.request(mcp.MethodCallTool, `{"name":"probe_all","arguments":{}}`) },
		"calls each probe": func(b *bare) { b.request(mcp.MethodCallTool, `{"name":"decline","arguments":{}}`) },
		"calls again and again": func(b *bare) {
			for range 12 {
				b.request(mcp.MethodCallTool, `{"name":"probe_all","arguments":{}}`)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t, Options{Pause: 10 * time.Millisecond})
			b := newBare(t, s, mcp.Revision20260728)
			b.greet()
			b.request(mcp.MethodCallTool, `{"name":"probe_all","arguments":{}}`)
			call(b)
			s.Close()
			var named []string
			for _, r := range s.Report().Clients[0].Results {
				if r.Verdict != Works && r.Verdict != NotSeen {
					named = append(named, r.Probe+": "+string(r.Verdict))
				}
			}
			if strings.Join(named, ", ") != "accept: fails" {
				t.Errorf("named: %v", named)
			}
		})
	}
}

// After error -32042, a client that makes the call again without the page does not work.
func TestRetriesWithoutThePage(t *testing.T) {
	for times, want := range map[int]Verdict{2: Partly, 40: Fails} {
		b := newBare(t, newServer(t, Options{Pause: 10 * time.Millisecond}), mcp.Revision20251125)
		b.greet()
		for range times {
			if m := b.call(Find("url-required")); m.Error == nil {
				break
			}
		}
		if r := b.result("url-required"); r.Verdict != want {
			t.Errorf("%d times: %s: %s", times, r.Verdict, r.How)
		}
	}
}

// Headers that are missing or wrong are named by the rule of the linter, and stand in no way.
func TestFaultyHeaders(t *testing.T) {
	c := mcp.Revision20260728
	for _, one := range []struct{ revision, header, value, rule string }{
		{mcp.Revision20251125, "Mcp-Protocol-Version", "", "version-header-missing"},
		{mcp.Revision20251125, "Mcp-Protocol-Version", "2025-06-18", "version-header-wrong"},
		{mcp.Revision20251125, "Mcp-Protocol-Version", "2099-01-01", "version-header-wrong"},
		{mcp.Revision20251125, "Mcp-Protocol-Version", c, "version-header-wrong"},
		{c, "Mcp-Protocol-Version", "", "version-header-missing"},
		{c, "Mcp-Protocol-Version", "2025-11-25", "version-header-wrong"},
		{c, "Mcp-Method", "", "standard-header-missing"},
		{c, "Mcp-Method", "tools/list", "standard-header-wrong"},
		{c, "Mcp-Name", "", "standard-header-missing"},
		{c, "Mcp-Name", "other", "standard-header-wrong"},
	} {
		t.Run(one.revision+" "+one.header+" "+one.value, func(t *testing.T) {
			t.Parallel()
			s := newServer(t, Options{Pause: 10 * time.Millisecond})
			web := httptest.NewServer(s.Handler())
			t.Cleanup(web.Close)
			b := newBareOver(t, s, one.revision, overHTTPWith(web.URL+"/mcp", one.revision, func(h http.Header) {
				if h.Get(one.header) == "" {
					return
				}
				if h.Set(one.header, one.value); one.value == "" {
					h.Del(one.header)
				}
			}))
			b.greet()
			b.call(Find("accept"))
			b.result("accept")
			var named []string
			for _, r := range s.Report().Clients[0].Results {
				if r.Verdict != Works && r.Verdict != NotSeen {
					named = append(named, r.Probe+": "+string(r.Verdict))
					if r.Rule != one.rule || r.Section == "" || r.Change == "" {
						t.Errorf("%+v", r)
					}
				}
			}
			if strings.Join(named, ", ") != one.rule+": fails" {
				t.Errorf("named: %v", named)
			}
		})
	}
}

// In revisions with rounds, probe_all takes a few rounds in a call, and the next call goes on.
func TestAllGoesOn(t *testing.T) {
	b := newBare(t, newServer(t, Options{Pause: 10 * time.Millisecond}), mcp.Revision20260728)
	b.greet()
	calls := 0
	for more := true; more; calls++ {
		m := b.call(&Probe{Name: All})
		more = strings.Contains(string(m.Result), "Call probe_all again")
		if calls > len(Table()) {
			t.Fatal("it does not come to an end")
		}
	}
	for _, p := range Table() {
		if r := b.shown(p.Name); p.In(b.revision) && !p.Apart && p.Kind == conversation.Tool && !r.Called() {
			t.Errorf("%s was not called", p.Name)
		}
	}
	if calls < 5 {
		t.Errorf("%d calls for all", calls)
	}
}
