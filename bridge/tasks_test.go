package bridge_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"elicitation-inspector/bridge/conversation"
	"elicitation-inspector/bridge/elicit"
	"elicitation-inspector/bridge/live"
	"elicitation-inspector/bridge/mcp"
	"elicitation-inspector/bridge/rawjson"
)

const taskTimes = `"createdAt":"2026-01-01T00:00:00Z","lastUpdatedAt":"2026-01-01T00:00:00Z"`

// taskServer is a server whose tools become tasks. What a task tells is in lives: one
// entry for each tasks/get, the last one for all further ones.
type taskServer struct {
	*rawServer
	revision string
	polls    map[string]int
	answers  map[string]string // what tasks/update and elicitations have answered, by task
	waiting  map[string]request
}

// lives are the members besides taskId and times that tasks/get tells, by tool. "{form}"
// stands for an elicitation.
var lives = map[string][]string{
	"asks":       {`"status":"working"`, `"status":"input_required","inputRequests":{"q":{form}}`, `"status":"completed","result":{"content":[{"type":"text","text":{answers}}]}`},
	"asks-twice": {`"status":"input_required","inputRequests":{"a":{form}}`, `"status":"input_required","inputRequests":{"a":{form},"b":{form}}`, `"status":"completed","result":{"content":[{"type":"text","text":{answers}}]}`},
	"fails":      {`"status":"working"`, `"status":"failed","statusMessage":"no luck","error":{"code":-32603,"message":"It broke."}`},
	"cancelled":  {`"status":"working"`, `"status":"cancelled","statusMessage":"no time"`},
	"strange":    {`"status":"dancing"`},
	"forever":    {`"status":"working","pollInterval":0,"pollIntervalMs":0`},
}

func (s *taskServer) run() {
	for {
		r, ok := s.read()
		if !ok {
			return
		}
		modern := s.revision >= mcp.Revision20260728
		var p struct {
			Task      string          `json:"taskId"`
			Responses json.RawMessage `json:"inputResponses"`
		}
		_ = json.Unmarshal(r.Params, &p)
		tool, _, _ := strings.Cut(p.Task, "#")
		switch r.Method {
		case "server/discover":
			if !modern {
				s.fail(r, -32601, "Method not found", "")
				continue
			}
			s.reply(r, `{"supportedVersions":[%q],"capabilities":{"tools":{},"extensions":{"io.modelcontextprotocol/tasks":{}}},"resultType":"complete","ttlMs":0,"cacheScope":"private"}`, s.revision)
		case "initialize":
			s.reply(r, `{"protocolVersion":%q,"capabilities":{"tools":{},"tasks":{"list":{},"cancel":{},"requests":{"tools":{"call":{}}}}},"serverInfo":{"name":"tasks","version":"1"}}`, s.revision)
		case "tools/list":
			var list []string
			for name := range lives {
				list = append(list, fmt.Sprintf(`{"name":%q,"inputSchema":{"type":"object"},"execution":{"taskSupport":"optional"}}`, name))
			}
			s.reply(r, `{"tools":[%s,{"name":"polls-us","inputSchema":{"type":"object"}},{"name":"crowds-us","inputSchema":{"type":"object"}}]}`, strings.Join(list, ","))
		case "tools/call":
			s.called(r, modern)
		case "tasks/get":
			life := lives[tool]
			told := life[min(s.polls[p.Task], len(life)-1)]
			waits := strings.Contains(told, "input_required") && s.polls[p.Task] >= len(life)-2 && s.answers[p.Task] == ""
			if !waits {
				s.polls[p.Task]++
			}
			if strings.Contains(told, "input_required") && !modern {
				told = `"status":"input_required"`
			}
			answers, _ := json.Marshal(s.answers[p.Task])
			told = strings.NewReplacer("{form}", fmt.Sprintf(formRequest, "What?"), "{answers}", string(answers)).Replace(told)
			s.reply(r, `{"resultType":"complete","taskId":%q,%s,"ttl":60000,"ttlMs":60000,"pollInterval":100,"pollIntervalMs":100,%s}`, p.Task, told, taskTimes)
		case "tasks/update":
			s.answers[p.Task] += string(p.Responses)
			s.reply(r, `{"resultType":"complete"}`)
		case "tasks/cancel":
			s.reply(r, `{"resultType":"complete","taskId":%q,"status":"cancelled",%s,"ttl":null}`, p.Task, taskTimes)
		case "tasks/result":
			switch {
			case tool == "fails":
				s.fail(r, -32603, "It broke.", "")
			case s.answers[p.Task] == "":
				s.waiting[p.Task] = r
				s.write(`{"jsonrpc":"2.0","id":"ask-%s","method":"elicitation/create","params":{"message":"What?","requestedSchema":{"type":"object","properties":{}},"_meta":{"io.modelcontextprotocol/related-task":{"taskId":%q}}}}`, p.Task, p.Task)
			}
		case "":
			s.answered(r)
		}
	}
}

// called answers tools/call: with a task if it is to be one, and otherwise with the
// params, or with what a question that is a task has got.
func (s *taskServer) called(r request, modern bool) {
	id := r.tool() + "#" + string(r.ID)
	asTask := rawjson.Member(r.Params, "task") != nil
	switch {
	case modern:
		s.reply(r, `{"resultType":"task","taskId":%q,"status":"working","ttlMs":60000,"pollIntervalMs":100,%s}`, id, taskTimes)
	case r.tool() == "polls-us" || r.tool() == "crowds-us":
		create := map[string]string{"polls-us": "create", "crowds-us": "crowd"}[r.tool()]
		s.waiting["ours"] = r
		s.write(`{"jsonrpc":"2.0","id":"` + create + `","method":"elicitation/create","params":{"task":{"ttl":60000},"message":"Later?","requestedSchema":{"type":"object","properties":{}}}}`)
	case asTask:
		s.reply(r, `{"task":{"taskId":%q,"status":"working","ttl":60000,"pollInterval":100,%s}}`, id, taskTimes)
	default:
		s.text(r, r.raw)
	}
}

// answered reads what the client answers: a question of a task, or what it says of a
// question that is a task of its own.
func (s *taskServer) answered(r request) {
	var id string
	_ = json.Unmarshal(r.ID, &id)
	if task, is := strings.CutPrefix(id, "ask-"); is {
		s.answers[task] = string(r.Result)
		s.reply(s.waiting[task], `{"content":[{"type":"text","text":%s}],"_meta":{"io.modelcontextprotocol/related-task":{"taskId":%q}}}`, rawjson.Quoted(string(r.Result)), task)
		return
	}
	told := rawjson.Text(rawjson.Member(r.Result, "task", "taskId"))
	switch id {
	case "create":
		s.answers["ours"] = told
		s.write(`{"jsonrpc":"2.0","id":"get","method":"tasks/get","params":{"taskId":%q}}`, told)
		s.write(`{"jsonrpc":"2.0","id":"list","method":"tasks/list"}`)
		s.write(`{"jsonrpc":"2.0","id":"unknown","method":"tasks/get","params":{"taskId":"unknown"}}`)
		s.write(`{"jsonrpc":"2.0","id":"result","method":"tasks/result","params":{"taskId":%q}}`, told)
	case "crowd":
		for n := range 1001 {
			s.write(`{"jsonrpc":"2.0","id":"crowd-%d","method":"tasks/result","params":{"taskId":%q}}`, n, told)
		}
	case "result":
		s.write(`{"jsonrpc":"2.0","id":"again","method":"tasks/cancel","params":{"taskId":%q}}`, s.answers["ours"])
		s.text(s.waiting["ours"], string(r.Result)+string(r.Error))
	}
}

func init() {
	for _, revision := range []string{mcp.Revision20251125, mcp.Revision20260728} {
		rawServers["tasks-"+revision] = func(s *rawServer) {
			(&taskServer{s, revision, map[string]int{}, map[string]string{}, map[string]request{}}).run()
		}
	}
}

func (b *bench) callAsTask(tool string) int {
	b.Helper()
	call, err := b.in.Begin(live.Request{Server: "s1", Kind: conversation.Tool, Name: tool, Key: tool, Arguments: json.RawMessage("{}"), AsTask: b.server().Info.Tasks.Calls})
	if err != nil {
		b.Fatal(err)
	}
	return call.Number
}

// Each end of a task ends its call, and the call says how.
func TestEndsOfTasks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		tool, revision string
		state          conversation.State
		says           string // a part of the result, the error or the failure
		status         conversation.TaskStatus
	}{
		{"fails", mcp.Revision20251125, conversation.Failed, "It broke.", conversation.TaskFailed},
		{"fails", mcp.Revision20260728, conversation.Failed, "It broke.", conversation.TaskFailed},
		{"cancelled", mcp.Revision20251125, conversation.Failed, "the server cancelled the task: no time", conversation.TaskCancelled},
		{"cancelled", mcp.Revision20260728, conversation.Failed, "the server cancelled the task: no time", conversation.TaskCancelled},
		{"strange", mcp.Revision20251125, conversation.Failed, `there is no task status "dancing"`, conversation.TaskWorking},
		{"strange", mcp.Revision20260728, conversation.Failed, `there is no task status "dancing"`, conversation.TaskWorking},
	} {
		b := start(t, "tasks-"+c.revision, conversation.ClientSettings{})
		number := b.callAsTask(c.tool)
		b.until("the end of the call", func() bool {
			call, err := b.in.Call(number)
			return err == nil && call.State.Over() && call.Task != nil
		})
		b.until("its log", func() bool { call, _ := b.in.Call(number); return call.Task.Status == c.status })
		call, err := b.in.Call(number)
		if err != nil {
			t.Fatal(err)
		}
		says := call.Failure
		if f, err := b.log.Frame(call.ResultSeq); err == nil {
			says += string(conversation.Final(&f).Error)
		}
		if call.State != c.state || !strings.Contains(says, c.says) {
			t.Errorf("%s in %s: %s, %q", c.tool, c.revision, call.State, says)
		}
	}
}

// The questions of a task are asked once, belong to its call, and their answers reach the
// server.
func TestQuestionsOfTasks(t *testing.T) {
	t.Parallel()
	for revision, via := range map[string]elicit.Via{mcp.Revision20251125: elicit.ByRequest, mcp.Revision20260728: elicit.InTask} {
		for answer, want := range map[string]string{"accept": `"action":"accept","content":{}`, "decline": `"action":"decline"`, "cancel": `"action":"cancel"`} {
			b := start(t, "tasks-"+revision, conversation.ClientSettings{})
			first, second := b.callAsTask("forever"), b.callAsTask("asks")
			q := b.question(1)
			if q.Via != via || q.Call != second || q.Guessed {
				t.Errorf("%s: the question came by %d in call %d, guessed %t", revision, q.Via, q.Call, q.Guessed)
			}
			a := live.Answer{Action: answer, Actor: conversation.ByPerson}
			if answer == "accept" {
				a.Content = json.RawMessage("{}")
			}
			b.answer(1, a)
			if _, text := b.done(second); !strings.Contains(text, want) {
				t.Errorf("%s, %s: the server got %s", revision, answer, text)
			}
			if err := b.in.Stop(first); err != nil {
				t.Error(err)
			}
			b.until("the cancelled task", func() bool {
				call, err := b.in.Call(first)
				return err == nil && call.Task != nil && strings.Contains(b.transcript(), `"method":"tasks/cancel"`)
			})
			if n := len(b.in.Questions()); n != 1 {
				t.Errorf("%s: %d questions", revision, n)
			}
		}
	}
}

// A task that asks again what it asked before, and something new, asks two questions.
func TestTaskAsksEachKeyOnce(t *testing.T) {
	t.Parallel()
	b := start(t, "tasks-"+mcp.Revision20260728, conversation.ClientSettings{})
	number := b.callAsTask("asks-twice")
	b.question(2)
	b.answer(2, accept(`{"b":2}`))
	b.answer(1, accept(`{"a":1}`))
	_, text := b.done(number)
	if !strings.Contains(text, `"a":{"action":"accept","content":{"a":1}}`) || !strings.Contains(text, `"b":{"action":"accept","content":{"b":2}}`) || len(b.in.Questions()) != 2 {
		t.Errorf("%d questions, and the server got %s", len(b.in.Questions()), text)
	}
}

// A question that is a task is answered at once with the task, and its result waits for
// the person.
func TestQuestionAsTask(t *testing.T) {
	t.Parallel()
	b := start(t, "tasks-"+mcp.Revision20251125, conversation.ClientSettings{})
	call := b.call("polls-us")
	b.question(1)
	b.until("what the server asked", func() bool { return strings.Contains(b.transcript(), "Task not found") })
	b.answer(1, accept(`{"x":1}`))
	if _, text := b.done(call.Number); !strings.HasPrefix(text, `{"action":"accept","content":{"x":1},"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"`) {
		t.Errorf("the server got %s", text)
	}
	b.until("the refusal to cancel it", func() bool { return strings.Contains(b.transcript(), "already in terminal status 'completed'") })
	b.until("the question with its task", func() bool { q := b.question(1); return q.Task != nil && q.Task.Fetches == 1 && q.Task.Polls == 1 })
	for _, want := range []string{`"status":"input_required"`, `"tasks":[{"taskId":`, `"method":"notifications/tasks/status"`} {
		if !strings.Contains(b.transcript(), want) {
			t.Errorf("%s is not in the log", want)
		}
	}
}

// A server that asks for the answer to one question again and again while the person thinks
// loses the question.
func TestManyWaitForOneTask(t *testing.T) {
	t.Parallel()
	b := start(t, "tasks-"+mcp.Revision20251125, conversation.ClientSettings{})
	b.call("crowds-us")
	b.until("the end of the question", func() bool {
		q := b.question(1)
		return q.State == conversation.Withdrawn && strings.Contains(q.Reason, "asked for the answer 1001 times")
	})
	b.until("the errors that end the requests", func() bool { return strings.Count(b.transcript(), `"id":"crowd-`) == 2*1001 })
}
