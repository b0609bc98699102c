package fault

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/meaning/elicit"
)

const everyLimit = `{"message":"All of it","requestedSchema":{"type":"object","properties":{
	"name":{"type":"string","minLength":3,"maxLength":5},
	"mail":{"type":"string","format":"email"},
	"code":{"type":"string","pattern":"^[A-Z]{2}-[0-9]+$"},
	"share":{"type":"number","minimum":0.5,"maximum":2.5},
	"open":{"type":"number","exclusiveMinimum":1,"exclusiveMaximum":2},
	"step":{"type":"integer","multipleOf":7,"minimum":10},
	"agree":{"type":"boolean"},
	"colour":{"type":"string","enum":["red","green"]},
	"days":{"type":"array","minItems":2,"maxItems":3,"items":{"type":"string","enum":["mon","tue","wed"]}},
	"photo":{"type":"string","format":"uri","x-mcp-file":{"accept":["image/*"],"maxSize":9}},
	"nested":{"type":"object","properties":{"a":{"type":"string"}}}
},"required":["name","mail","code","share","open","step","agree","colour","days"]}}`

func parsed(t *testing.T, params string) *elicit.Request {
	t.Helper()
	r, err := elicit.Parse(json.RawMessage(params))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// situations returns the facts of questions of every kind.
func situations(t *testing.T) map[string]Facts {
	form, url := parsed(t, everyLimit), parsed(t, `{"mode":"url","message":"Go","url":"https://example.com/","elicitationId":"e1"}`)
	state := json.RawMessage(`"abc"`)
	return map[string]Facts{
		"request":       {Revision: november, Transport: "stdio", Request: form, ID: json.RawMessage("7"), InCall: true},
		"request url":   {Revision: november, Transport: "http", Request: url, ID: json.RawMessage(`"q"`), InCall: true, Streamed: true},
		"round":         {Revision: july, Transport: "http", Via: elicit.InRound, Request: form, Key: "k", State: state, Earlier: json.RawMessage(`"old"`), Tool: "one", Others: []string{"two"}},
		"round of JSON": {Revision: july, Transport: "http", Via: elicit.InRound, Request: form, Key: "k", State: json.RawMessage(`"{\"step\":1}"`)},
		"round url":     {Revision: july, Transport: "stdio", Via: elicit.InRound, Request: url, Key: "k"},
		"error":         {Revision: november, Transport: "http", Via: elicit.InError, Request: url},
		"sampling":      {Revision: november, Transport: "stdio", ID: json.RawMessage("1"), Honest: json.RawMessage(`{"role":"assistant"}`)},
		"of a task":     {Revision: november, Transport: "stdio", Request: form, ID: json.RawMessage("7"), InCall: true, Task: "t"},
		"in a task":     {Revision: july, Transport: "stdio", Via: elicit.InTask, Request: form, Key: "k", InCall: true, Task: "t"},
		"a task":        {Revision: november, Transport: "stdio", Request: form, ID: json.RawMessage("7"), InCall: true, OwnTask: true},
		"nobody's call": {Revision: june, Transport: "memory", Request: form, ID: json.RawMessage("1")},
	}
}

func TestCatalogue(t *testing.T) {
	names, name := map[string]bool{}, regexp.MustCompile(`^[a-z]+(-[a-z]+)*$`)
	for _, f := range All() {
		if names[f.Name] || !name.MatchString(f.Name) {
			t.Errorf("%q is no name of its own", f.Name)
		}
		names[f.Name] = true
		for what, text := range map[string]string{"Title": f.Title + ".", "Does": f.Does, "Good": f.Good, "Group": f.Group.Title() + "."} {
			if len(text) < 2 || !strings.HasSuffix(text, ".") {
				t.Errorf("%s: %s is %q, no sentence", f.Name, what, text)
			}
		}
		if len(f.Section) == 0 {
			t.Errorf("%s cites nothing", f.Name)
		}
	}
	offered := map[string]bool{}
	for what, facts := range situations(t) {
		for _, f := range For(facts) {
			offered[f.Name] = true
			params := Params{Field: f.Field, JSON: json.RawMessage(`{"a":1}`)}
			if _, err := Build(facts, f.Name, params); err != nil {
				t.Errorf("%s: %s is offered and cannot be built: %v", what, f.Name, err)
			}
		}
	}
	for name := range names {
		if !offered[name] {
			t.Errorf("%s is never offered", name)
		}
	}
	if _, err := Build(Facts{}, "no-such", Params{}); !errors.Is(err, ErrUnknown) {
		t.Errorf("an unknown name: %v", err)
	}
}

// TestContent breaks each limit of each field, and checks that nothing else is broken.
func TestContent(t *testing.T) {
	facts := situations(t)["request"]
	valid := elicit.Valid(facts.Request.Fields)
	if problems, err := elicit.Check(facts.Request.Schema, valid); err != nil || len(problems) > 0 {
		t.Fatalf("%s is not valid: %v %v", valid, problems, err)
	}
	whole := map[string]bool{"no-content": true, "null-content": true, "array-content": true, "given-content": true, "extra-field": true}
	broken := 0
	for _, f := range For(facts) {
		if f.Group != Content || whole[f.Name] {
			continue
		}
		plan, err := Build(facts, f.Name, Params{Field: f.Field})
		if err != nil {
			t.Fatal(err)
		}
		var result struct{ Content json.RawMessage }
		if err := json.Unmarshal(plan.Result, &result); err != nil {
			t.Fatal(err)
		}
		problems, err := elicit.Check(facts.Request.Schema, result.Content)
		if err != nil || len(problems) == 0 {
			t.Errorf("%s of %s: %s breaks nothing (%v)", f.Name, f.Field, result.Content, err)
		}
		for _, p := range problems {
			if f.Name == "wrong-type" && slices.Contains([]string{"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"}, p.Keyword) {
				t.Errorf("wrong-type of %s: %s has the right type and breaks %s", f.Field, result.Content, p.Keyword)
			}
			if p.Field < 0 || facts.Request.Fields[p.Field].Name != f.Field {
				t.Errorf("%s of %s: %s breaks %q: %s", f.Name, f.Field, result.Content, p.Pointer, p.Text)
			}
		}
		broken++
	}
	if broken < 30 {
		t.Errorf("only %d limits were broken", broken)
	}
}

// What is wrong about tasks is planned as steps.
func TestTasks(t *testing.T) {
	const decline, tell = `{"action":"decline"}`, `{"jsonrpc":"2.0","id":7,`
	answer, one := json.RawMessage(decline), 1.0
	update, send := Step{Do: UpdateTask, Raw: []byte(`{"k":` + decline + `}`)}, sends(tell + `"result":` + decline + `}`)[0]
	give, completed := Step{Do: GiveResult, Raw: send.Raw}, Step{Do: TellStatus, Status: "completed"}
	wait := Step{Do: Wait, Time: time.Second}
	for _, test := range []struct {
		of, name string
		params   Params
		want     []Step
	}{
		{"in a task", "null-result", Params{}, []Step{{Do: UpdateTask, Raw: []byte(`{"k":null}`)}}},
		{"in a task", "late", Params{Answer: answer, Seconds: &one}, []Step{wait, update}},
		{"in a task", "never", Params{}, nil},
		{"in a task", "update-twice", Params{Answer: answer}, []Step{update, update}},
		{"in a task", "unknown-update-key", Params{Answer: answer}, []Step{{Do: UpdateTask, Raw: []byte(`{"k":` + decline + `,"unexpected":{"action":"accept","content":{}}}`)}}},
		{"in a task", "poll-storm", Params{Answer: answer}, []Step{{Do: PollTask, Times: 100}, update}},
		{"of a task", "poll-storm", Params{Answer: answer}, []Step{{Do: PollTask, Times: 100}, send}},
		{"of a task", "cancel-after-answer", Params{Answer: answer}, []Step{send, {Do: CancelTask}}},
		{"of a task", "result-never-fetched", Params{Answer: answer}, []Step{send, {Do: LeaveTask}}},
		{"a task", "null-result", Params{}, []Step{completed, {Do: GiveResult, Raw: []byte(tell + `"result":null}`)}}},
		{"a task", "any-error", Params{}, []Step{{Do: TellStatus, Status: "failed"}, {Do: GiveResult, Raw: []byte(tell + `"error":{"code":-32000,"message":"Deliberate error"}}`)}}},
		{"a task", "status-backwards", Params{Answer: answer, Seconds: &one}, []Step{completed, {Do: TellStatus, Status: "working"}, wait, completed, give}},
		{"a task", "result-before-completed", Params{Answer: answer, Seconds: &one}, []Step{give, wait, completed, give}},
		{"a task", "task-forgotten", Params{}, []Step{{Do: ForgetTask}}},
	} {
		for range 2 { // the catalogue stays as it is
			plan, err := Build(situations(t)[test.of], test.name, test.params)
			if got, want := steps(plan.Steps), steps(test.want); err != nil || got != want || plan.Retry != nil {
				t.Errorf("%s, %s: %v\n%s\nwant\n%s", test.of, test.name, err, got, want)
			}
		}
	}
	for of, wrong := range map[string]string{"in a task": "invalid-json new-session same-id retyped-id internal-error status-backwards", "a task": "wrong-id byte-by-byte drop-stream new-session update-twice poll-storm", "request": "poll-storm task-forgotten"} {
		for _, name := range strings.Fields(wrong) {
			if _, err := Build(situations(t)[of], name, Params{}); err == nil {
				t.Errorf("%s fits %s", name, of)
			}
		}
	}
}

func TestBytes(t *testing.T) {
	facts := situations(t)["request"]
	answer := json.RawMessage(`{"action":"decline"}`)
	code, message, two := int64(-1), `a "b"`, 2.0
	for _, test := range []struct {
		name   string
		params Params
		want   []Step
	}{
		{"unknown-action", Params{Answer: []byte(`{"action":"accept","content":{"name":"x"}}`)}, sends(`{"jsonrpc":"2.0","id":7,"result":{"action":"perhaps","content":{"name":"x"}}}`)},
		{"null-result", Params{}, sends(`{"jsonrpc":"2.0","id":7,"result":null}`)},
		{"no-content", Params{}, sends(`{"jsonrpc":"2.0","id":7,"result":{"action":"accept"}}`)},
		{"given-content", Params{JSON: json.RawMessage(`{"a":1.50}`)}, sends(`{"jsonrpc":"2.0","id":7,"result":{"action":"accept","content":{"a":1.50}}}`)},
		{"given-result", Params{JSON: json.RawMessage(`[0]`)}, sends(`{"jsonrpc":"2.0","id":7,"result":[0]}`)},
		{"request-cancelled", Params{}, sends(`{"jsonrpc":"2.0","id":7,"error":{"code":-32800,"message":"Request cancelled"}}`)},
		{"any-error", Params{Code: &code, Message: &message, Data: json.RawMessage(`{"x":0}`)}, sends(`{"jsonrpc":"2.0","id":7,"error":{"code":-1,"message":"a \"b\"","data":{"x":0}}}`)},
		{"any-error", Params{}, sends(`{"jsonrpc":"2.0","id":7,"error":{"code":-32000,"message":"Deliberate error"}}`)},
		{"invalid-json", Params{Answer: answer}, sends(`{"jsonrpc":"2.0","id":7,"result":{"action":"decline"}`)},
		{"wrong-id", Params{Answer: answer}, sends(`{"jsonrpc":"2.0","id":997,"result":{"action":"decline"}}`)},
		{"retyped-id", Params{Answer: answer}, sends(`{"jsonrpc":"2.0","id":"7","result":{"action":"decline"}}`)},
		{"response-twice", Params{Answer: answer}, sends(`{"jsonrpc":"2.0","id":7,"result":{"action":"decline"}}`, `{"jsonrpc":"2.0","id":7,"result":{"action":"decline"}}`)},
		{"cancel-then-accept", Params{Answer: answer}, sends(`{"jsonrpc":"2.0","id":7,"result":{"action":"cancel"}}`, `{"jsonrpc":"2.0","id":7,"result":{"action":"decline"}}`)},
		{"response-after-cancel", Params{Answer: answer}, append([]Step{{Do: CancelCall}, {Do: Wait, Time: untilCancelled}}, sends(`{"jsonrpc":"2.0","id":7,"result":{"action":"decline"}}`)...)},
		{"answer-withdrawn", Params{Answer: answer}, append([]Step{{Do: AwaitWithdrawal}}, sends(`{"jsonrpc":"2.0","id":7,"result":{"action":"decline"}}`)...)},
		{"late", Params{Answer: answer, Seconds: &two}, append([]Step{{Do: Wait, Time: 2 * time.Second}}, sends(`{"jsonrpc":"2.0","id":7,"result":{"action":"decline"}}`)...)},
		{"never", Params{}, nil},
		{"kill-process", Params{}, []Step{{Do: Kill}}},
		{"close-connection", Params{}, []Step{{Do: CloseConnection}}},
		{"new-session", Params{}, []Step{{Do: StartSession}}},
	} {
		plan, err := Build(facts, test.name, test.params)
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		if got, want := steps(plan.Steps), steps(test.want); got != want || plan.Retry != nil {
			t.Errorf("%s:\n%s\nwant\n%s", test.name, got, want)
		}
	}
}

func sends(messages ...string) (list []Step) {
	for _, m := range messages {
		list = append(list, Step{Do: Send, Raw: []byte(m)})
	}
	return list
}

func steps(list []Step) string {
	var out strings.Builder
	for _, s := range list {
		text, _ := json.Marshal([]any{s.Do, s.Time, s.Pace, string(s.Raw), s.Times, s.Status})
		out.Write(append(text, '\n'))
	}
	return out.String()
}

func TestRounds(t *testing.T) {
	facts := situations(t)["round"]
	answer := json.RawMessage(`{"action":"decline"}`)
	for _, test := range []struct {
		name   string
		params Params
		want   Retry
	}{
		{"missing-key", Params{}, Retry{}},
		{"extra-key", Params{Answer: answer}, Retry{Value: answer, Extra: []Member{{"unexpected", json.RawMessage(`{"action":"accept","content":{}}`)}}}},
		{"changed-state", Params{Answer: answer}, Retry{Value: answer, ChangeState: true, State: json.RawMessage(`"aAc"`)}},
		{"changed-state-start", Params{Answer: answer}, Retry{Value: answer, ChangeState: true, State: json.RawMessage(`"Abc"`)}},
		{"changed-state-end", Params{Answer: answer}, Retry{Value: answer, ChangeState: true, State: json.RawMessage(`"abA"`)}},
		{"invented-state", Params{Answer: answer}, Retry{Value: answer, ChangeState: true, State: json.RawMessage(`"invented-by-the-client"`)}},
		{"no-state", Params{Answer: answer}, Retry{Value: answer, ChangeState: true}},
		{"earlier-state", Params{Answer: answer}, Retry{Value: answer, ChangeState: true, State: json.RawMessage(`"old"`)}},
		{"other-tool", Params{Answer: answer}, Retry{Value: answer, Tool: "two"}},
		{"same-id", Params{Answer: answer}, Retry{Value: answer, SameID: true}},
		{"invalid-json", Params{Answer: answer}, Retry{Value: answer, Cut: true}},
		{"response-twice", Params{Answer: answer}, Retry{Value: answer, Twice: true}},
		{"null-result", Params{}, Retry{Value: json.RawMessage("null")}},
	} {
		plan, err := Build(facts, test.name, test.params)
		if err != nil || plan.Retry == nil {
			t.Errorf("%s: %v %+v", test.name, err, plan)
			continue
		}
		got, _ := json.Marshal(plan.Retry)
		if want, _ := json.Marshal(test.want); string(got) != string(want) || len(plan.Steps) > 0 {
			t.Errorf("%s:\n%s\nwant\n%s", test.name, got, want)
		}
	}
	if plan, err := Build(facts, "never", Params{}); err != nil || plan.Retry != nil {
		t.Errorf("never: %+v %v", plan, err)
	}
	if plan, err := Build(situations(t)["error"], "retry-before-completion", Params{}); err != nil || plan.Retry == nil || !plan.Retry.AtOnce {
		t.Errorf("retry-before-completion: %+v %v", plan, err)
	}
}

func TestMisfits(t *testing.T) {
	all := situations(t)
	for _, test := range []struct{ facts, name, want string }{
		{"round", "wrong-id", "a request of its own"},
		{"request", "no-state", "a round of 2026-07-28"},
		{"round", "kill-process", "a process"},
		{"request", "drop-stream", "an HTTP stream"},
		{"request", "given-content", "needs the JSON"},
		{"sampling", "no-action", "another mode"},
	} {
		if _, err := Build(all[test.facts], test.name, Params{}); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s of a %s: %v, want %q", test.name, test.facts, err, test.want)
		}
	}
	if _, err := Build(all["request"], "too-short", Params{Field: "agree"}); err == nil || !strings.Contains(err.Error(), "it fits name") {
		t.Errorf("too-short of a field without a limit: %v", err)
	}
}

func TestPace(t *testing.T) {
	for _, test := range []struct {
		pace  Pace
		want  string
		pause time.Duration
	}{
		{Pace{}, "abcde", 0},
		{Pace{Pieces: 2, Total: time.Second}, "abc de", time.Second},
		{Pace{Pieces: EachByte, Total: time.Second}, "a b c d e", time.Second / 4},
	} {
		pieces, pause := test.pace.Split([]byte("abcde"))
		var got []string
		for _, p := range pieces {
			got = append(got, string(p))
		}
		if strings.Join(got, " ") != test.want || pause != test.pause {
			t.Errorf("%+v: %q with %v between", test.pace, got, pause)
		}
	}
}

// Every fault is documented under its name, which is public.
func TestDocumented(t *testing.T) {
	text, err := os.ReadFile("../../../docs/misbehave.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range All() {
		if !strings.Contains(string(text), "| `"+f.Name+"` | "+f.Does) || !strings.Contains(string(text), f.Good) {
			t.Errorf("docs/misbehave.md does not have %s as it is", f.Name)
		}
	}
}

// TestForgedState changes one value inside a state, in JSON and in base64.
func TestForgedState(t *testing.T) {
	encoded := base64.RawURLEncoding.EncodeToString
	for _, test := range []struct{ state, field, want string }{
		{`{"env":"staging","step":2}`, "/env", `{"env":"xxforged-by-the-client","step":2}`},
		{`{"env":"staging","step":2}`, "", `{"env":"staging","step":7351973}`},
		{`9f3a [{"mail":"ada@example.com"},true]`, "/0/mail", `9f3a [{"mail":"xforged-by-the-client@example.com"},true]`},
		{`9f3a [{"mail":"ada@example.com"},true]`, "/1", `9f3a [{"mail":"ada@example.com"},false]`},
		{encoded([]byte(`{"a":["b"]}`)) + ".sum", "/a/0", encoded([]byte(`{"a":["xxforged-by-the-client"]}`)) + ".sum"},
		{"v1:" + base64.StdEncoding.EncodeToString([]byte(`{"to":"Adam"}`)), "", "v1:" + base64.StdEncoding.EncodeToString([]byte(`{"to":"xxforged-by-the-client"}`))},
	} {
		facts := Facts{Revision: "2026-07-28", Via: elicit.InRound, Key: "k", Request: &elicit.Request{Mode: elicit.ModeForm}, State: rawjson.Quoted(test.state)}
		plan, err := Build(facts, "changed-state-inside", Params{Field: test.field})
		if err != nil || rawjson.Text(plan.Retry.State) != test.want {
			t.Errorf("%s at %q: %v, %+v, want %s", test.state, test.field, err, plan.Retry, test.want)
		}
	}
	if _, err := Build(Facts{Via: elicit.InRound, State: rawjson.Quoted("sealed")}, "changed-state-inside", Params{}); err == nil {
		t.Error("a state without values can be changed inside")
	}
}
