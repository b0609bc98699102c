package judge

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/client/headless"
	"elicitation-inspector/bridge/client/target"
	"elicitation-inspector/bridge/judges/check/report"
	"elicitation-inspector/bridge/keep/script"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/meaning/lint"
	"elicitation-inspector/bridge/wire"
	"elicitation-inspector/bridge/wire/redact"
)

// TestMain makes the test binary also the servers under test, one for each taste.
func TestMain(m *testing.M) {
	if name := os.Getenv("CHECK_TEST_SERVER"); name != "" {
		serve(tastes[name])
		return
	}
	os.Exit(m.Run())
}

// taste is the behaviour of a server in a tool call. It returns a result or an error
// object.
type taste func(s *tasted) (result, failure string)

// tasted is a call that a taste handles.
type tasted struct {
	id, params json.RawMessage
	revision   string
	declared   bool
	calls      int // number of calls so far
	chance     *rand.Rand
	out        *bufio.Writer
	in         *bufio.Reader
}

// ask sends an elicitation request and waits for its answer: the result, or the error.
func (s *tasted) ask(message, schema string) (result, failure json.RawMessage) {
	return s.elicit(fmt.Sprintf(`{"message":%q,"requestedSchema":{"type":"object",%s}}`, message, schema))
}

func (s *tasted) elicit(params string) (result, failure json.RawMessage) {
	if !s.declared {
		return nil, json.RawMessage(`{"code":-32601,"message":"the client cannot be asked"}`)
	}
	s.calls++
	id := fmt.Sprintf("%d%d", s.calls, time.Now().UnixNano())
	fmt.Fprintf(s.out, `{"jsonrpc":"2.0","id":%s,"method":"elicitation/create","params":%s}`+"\n", id, params)
	s.out.Flush()
	for {
		line, err := s.in.ReadBytes('\n')
		if err != nil {
			os.Exit(0)
		}
		if string(rawjson.Member(line, "id")) == id && rawjson.Member(line, "method") == nil {
			return rawjson.Member(line, "result"), rawjson.Member(line, "error")
		}
	}
}

func (s *tasted) action(answer json.RawMessage) string {
	return rawjson.Text(rawjson.Member(answer, "action"))
}

// text returns a result with one text.
func text(format string, args ...any) string {
	return fmt.Sprintf(`{"content":[{"type":"text","text":%s}]}`, rawjson.Quoted(fmt.Sprintf(format, args...)))
}

func failed(format string, args ...any) string {
	return strings.TrimSuffix(text(format, args...), "}") + `,"isError":true}`
}

// serve is a server with one tool that reads one message at a time.
func serve(t taste) {
	seed := fnv.New64a()
	seed.Write([]byte(os.Getenv("CHECK_TEST_CHANCE")))
	s := &tasted{in: bufio.NewReader(os.Stdin), out: bufio.NewWriter(os.Stdout), chance: rand.New(rand.NewPCG(seed.Sum64(), 0))}
	for {
		line, err := s.in.ReadBytes('\n')
		if err != nil {
			return
		}
		s.id, s.params = rawjson.Member(line, "id"), rawjson.Member(line, "params")
		result, failure := "{}", ""
		switch rawjson.Text(rawjson.Member(line, "method")) {
		case mcp.MethodInitialize:
			s.revision = rawjson.Text(rawjson.Member(s.params, "protocolVersion"))
			s.declared = rawjson.Member(s.params, "capabilities", "elicitation") != nil
			result = fmt.Sprintf(`{"protocolVersion":%q,"capabilities":{"tools":{}},"serverInfo":{"name":"t","version":"1"}}`, s.revision)
		case mcp.MethodListTools:
			result = `{"tools":[{"name":"tool","inputSchema":{"type":"object"}}]}`
		case mcp.MethodCallTool:
			result, failure = t(s)
		}
		switch {
		case s.id == nil || result+failure == "":
		case failure != "":
			fmt.Fprintf(s.out, `{"jsonrpc":"2.0","id":%s,"error":%s}`+"\n", s.id, failure)
		default:
			fmt.Fprintf(s.out, `{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", s.id, result)
		}
		s.out.Flush()
	}
}

// observe makes a call with a behaviour, and then an honest call. What the server does by
// chance depends on the answers alone, so that it is the same in each run of the tests.
func observe(t *testing.T, name, revision, behaviour, answers string) *Observation {
	t.Helper()
	file := filepath.Join(t.TempDir(), "trial.jsonl")
	declared := conversation.DeclareEmpty
	if revision != mcp.Revision20250618 {
		declared = conversation.DeclareBoth
	}
	if behaviour == "no-elicitation" {
		declared = conversation.DeclareNone
	}
	limit := 5 * time.Second
	if slices.Contains(waitedOn, behaviour) {
		limit = 3 * time.Second // such a trial lasts until the limit
	}
	ctx := context.Background()
	o := &Observation{Trial: report.Trial{Behaviour: behaviour, Revision: revision}}
	settings := conversation.ClientSettings{Protocol: revision, Choice: conversation.ChoiceExplicit, Elicitation: declared}
	s, err := headless.Open(ctx, headless.Config{
		Target:   target.Spec{Name: "t", Command: []string{os.Args[0]}, Env: []string{"CHECK_TEST_SERVER=" + name, "CHECK_TEST_CHANCE=" + answers}},
		Settings: settings, Version: "test", Timeout: 20 * time.Second, Record: file, Redaction: redact.Nothing(),
	})
	if err != nil {
		t.Fatal(err)
	}
	call := func(answers string) (headless.Outcome, error) {
		rules, err := script.Parse("answers", []byte(answers), os.LookupEnv)
		if err != nil {
			t.Fatal(err)
		}
		return s.Call(ctx, headless.Call{Kind: conversation.Tool, Key: "tool", Timeout: limit, Scripts: []*script.Script{rules}})
	}
	out, err := call(answers)
	if err != nil {
		t.Fatal(err)
	}
	outcomes := []headless.Outcome{out}
	for range 2 { // the next call, and another one if it failed
		after, err := call(honestAnswers)
		if err != nil {
			break
		}
		if outcomes = append(outcomes, after); after.Result != nil && !after.IsError {
			break
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	log, err := wire.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = log.Close() })
	if err := log.Wait(ctx); err != nil {
		t.Fatal(err)
	}
	o.Log, o.Last = log, log.Len()
	talk := conversation.New(log)
	if err := talk.Update(ctx); err != nil {
		t.Fatal(err)
	}
	var calls []Made
	for place := 1; place <= talk.Len(); place++ {
		c, err := talk.Call(ctx, place, conversation.Reading{Redact: redact.Nothing()})
		if err != nil {
			t.Fatal(err)
		}
		if c.Method == mcp.MethodCallTool {
			calls = append(calls, Made{Call: c, Limit: limit})
		}
	}
	for i := range calls {
		calls[i].TimedOut = outcomes[i].TimedOut
	}
	o.Calls = calls[:1]
	if len(calls) > 1 {
		o.After = &calls[1]
	}
	if len(calls) > 2 {
		o.Again = &calls[2]
	}
	for seq := int64(1); seq <= o.Last; seq++ {
		f, err := log.Frame(seq)
		if err == nil && f.Note != nil && f.Note.Kind == wire.NoteProcessExited && f.Note.By != wire.ByInspector && out.Lost {
			o.Exit = &Exit{Seq: seq, Text: f.Note.Exit()}
			o.After = nil
		}
	}
	if o.Found, _, err = lint.FindingsOf(ctx, log); err != nil {
		t.Fatal(err)
	}
	return o
}

const honestAnswers = "default: {accept: valid}\n"

// answersOf returns the answers file of a behaviour.
func answersOf(behaviour, field string) string {
	answer := fmt.Sprintf("{fault: %s}", behaviour)
	switch {
	case behaviour == BehaviourDecline || behaviour == BehaviourCancel:
		answer = behaviour
	case behaviour == BehaviourDeclineAlways:
		return "answers:\n  - answer: decline\n    times: 20\n  - answer: {fault: never}\n"
	case behaviour == "no-elicitation", behaviour == BehaviourAccept:
		return honestAnswers
	case behaviour == BehaviourOther, behaviour == BehaviourDenied:
		answer = fmt.Sprintf("{accept: %s}", otherAnswers[behaviour])
	case TraitsOf(behaviour).Content == Unaccepted:
		answer = fmt.Sprintf(`{fault: %s, answer: {action: accept, content: {name: "narwhal-73519", size: 73519}}}`, behaviour)
	case field != "":
		answer = fmt.Sprintf("{fault: %s, field: %s}", behaviour, field)
	}
	return "answers:\n  - match: {nth: 1}\n    answer: " + answer + "\n" + honestAnswers
}

// otherAnswers holds the content of the behaviours that accept with other content than
// the honest one: by the schema of most tastes, and of those that ask to confirm.
var otherAnswers = map[string]string{BehaviourOther: "{name: quokka-74001, size: 5}", BehaviourDenied: "{confirm: false}"}

// judged runs trials of a server and judges them. A trial is a behaviour, or a behaviour
// and a field: "wrong-type name".
func judged(t *testing.T, server, revision string, trials ...string) map[string][]report.Finding {
	t.Helper()
	var honest, after []Made
	for run := range 2 {
		o := observe(t, server, revision, BehaviourAccept, honestAnswers+strings.Repeat("# again\n", run)) // with a chance of its own
		honest = append(honest, o.Calls...)
		if o.After != nil {
			after = append(after, *o.After)
		}
	}
	var list []*Judgement
	for _, trial := range trials {
		behaviour, field, _ := strings.Cut(trial, " ")
		o := observe(t, server, revision, behaviour, answersOf(behaviour, field))
		o.Question, o.Field = 1, field
		o.Honest, o.HonestAfter = honest, after
		list = append(list, Alone(o))
	}
	Together(list)
	found := map[string][]report.Finding{}
	for i, j := range list {
		found[trials[i]] = j.Findings
	}
	return found
}

// verdictsOf lists the findings as "rule verdict", without those less severe than least.
func verdictsOf(found []report.Finding, least report.Verdict) (list []string) {
	for _, f := range found {
		if f.Verdict.Rank() <= least.Rank() {
			list = append(list, f.Rule+" "+string(f.Verdict))
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// every lists the behaviours that answer one question and do not end the connection.
var every = []string{
	BehaviourAccept, BehaviourDecline, BehaviourCancel, "decline-with-content", "missing-field name", "wrong-type size", "extra-field",
	"no-content", "array-content", "unknown-action", "null-result", "any-error", "cancel-then-accept", "no-elicitation",
}

// waitedOn lists behaviours after which the server keeps waiting for an answer.
var waitedOn = []string{"never", "wrong-id", "retyped-id"}
