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

	"elicitation-inspector/bridge/conversation"
	"elicitation-inspector/bridge/mcp"
	"elicitation-inspector/bridge/rawjson"
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

// at makes an answer for one probe only; others are answered right.
func at(probe, result string) func(*bare, json.RawMessage) string {
	return func(b *bare, params json.RawMessage) string {
		if b.tool == probe {
			return result
		}
		return right(b, params)
	}
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

// value makes the answer of one probe from the content of its only field.
func value(probe, content string) func(*bare, json.RawMessage) string {
	return at(probe, `{"action":"accept","content":{"value":`+content+`}}`)
}

func faultyClients() []faultyClient {
	b, c := mcp.Revision20251125, mcp.Revision20260728
	fetch := func(b *bare, params json.RawMessage) {
		for _, address := range regexp.MustCompile(`http://[^"\\ >)]*/open/[a-z0-9]+`).FindAllString(string(params), 1) {
			if response, err := http.Get(address); err != nil {
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
		{name: "dates in its own form", probe: "format-date", want: Partly, answer: value("format-date", `"29.02.2028"`)},
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
		{name: "no content for no fields", probe: "fields-none", want: Partly, answer: at("fields-none", `{"action":"accept"}`)},
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
		{name: "fetches before the accept", probe: "url-consent", want: Fails, answer: fetching("url-consent")},
		{name: "content for a URL", probe: "url-consent", want: Partly, revision: c, answer: func(b *bare, params json.RawMessage) string {
			if result := right(b, params); result != `{"action":"accept"}` {
				return result
			}
			return `{"action":"accept","content":{}}`
		}},
		{name: "fetches what is declined", probe: "url-decline", want: Fails, answer: fetching("url-decline")},
		{name: "accepts a mode that does not exist", probe: "mode-undeclared", want: Fails, answer: at("mode-undeclared", `{"action":"accept","content":{}}`)},
		{name: "refuses a mode with the wrong code", probe: "mode-undeclared", want: Partly, answer: at("mode-undeclared", `error {"code":-32603,"message":"no"}`)},
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
		{name: "keys of its own", probe: "round-keys", want: Partly, revision: c, retry: func(_ *bare, params string) string {
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
				if !p.In(f.revision) || p.Apart {
					continue
				}
				switch r := b.result(p.Name); {
				case r.Probe == f.probe && r.Verdict != f.want:
					t.Errorf("%s: %s, want %s: %s", r.Probe, r.Verdict, f.want, r.How)
				case r.Probe == f.probe && len(r.Frames) == 0 && r.Probe != "declared":
					t.Errorf("%s: no frames", r.Probe)
				case r.Probe != f.probe && r.Verdict != Works && r.Verdict != NotSeen:
					named = append(named, fmt.Sprintf("%s: %s: %s", r.Probe, r.Verdict, r.How))
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
