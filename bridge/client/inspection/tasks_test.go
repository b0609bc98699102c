package inspection_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/client/inspection"
	"elicitation-inspector/bridge/client/live"
	"elicitation-inspector/bridge/client/target"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/meaning/elicit"
	"elicitation-inspector/bridge/meaning/fault"
	"elicitation-inspector/bridge/servers/demo"
	"elicitation-inspector/bridge/testdata/logtest"
	"elicitation-inspector/bridge/wire"
)

const taskTimes = `"createdAt":"2026-01-01T00:00:00Z","lastUpdatedAt":"2026-01-01T00:00:00Z"`

// taskServer is a server whose tools become tasks, one for each of lives.
type taskServer struct {
	*rawServer
	revision string
	at       map[string]int               // index of what a task has told last
	answers  map[string]map[string]string // by task and key
	asked    map[string]bool              // task and key
	waiting  map[string][]request         // tasks/result by task; a tools/call by "ours"
	ours     string                       // id of the client's task
	early    bool                         // what a task asks first comes before the response that creates it
}

func newTaskServer(s *rawServer, revision string) *taskServer {
	return &taskServer{s, revision, map[string]int{}, map[string]map[string]string{}, map[string]bool{}, map[string][]request{}, "", false}
}

func (s *taskServer) run() {
	for {
		r, ok := s.read()
		if !ok {
			return
		}
		modern := s.revision >= mcp.Revision20260728
		var p struct {
			Task      string                     `json:"taskId"`
			Responses map[string]json.RawMessage `json:"inputResponses"`
		}
		_ = json.Unmarshal(r.Params, &p)
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
			for _, l := range lives {
				list = append(list, fmt.Sprintf(`{"name":%q,"inputSchema":{"type":"object"},"execution":{"taskSupport":"optional"}}`, l.name))
			}
			s.reply(r, `{"tools":[%s,{"name":"polls-us","inputSchema":{"type":"object"}},{"name":"crowds-us","inputSchema":{"type":"object"}}]}`, strings.Join(list, ","))
		case "tools/call":
			s.called(r, modern)
		case "tasks/get":
			s.polled(r, p.Task)
		case "tasks/update":
			for key, answer := range p.Responses {
				s.answers[p.Task][key] = string(answer)
			}
			s.reply(r, `{"resultType":"complete"}`)
		case "tasks/cancel":
			s.reply(r, `{"resultType":"complete","taskId":%s,"status":"cancelled",%s,"ttl":null}`, rawjson.Quoted(p.Task), taskTimes)
		case "tasks/result":
			s.waiting[p.Task] = append(s.waiting[p.Task], r)
			s.goOn(p.Task)
		case "":
			s.answered(r)
		}
	}
}

func lifeOf(task string) life {
	return lives[slices.IndexFunc(lives, func(l life) bool { return strings.HasPrefix(task, l.name+"#") })]
}

var keyOf = regexp.MustCompile(`"(\w+)":\{(form|link|sample)\}`)

// open returns the questions of a task that are not answered, by key.
func (s *taskServer) open(task string) map[string]string {
	open, l := map[string]string{}, lifeOf(task)
	for _, told := range l.told[:min(s.at[task]+1, len(l.told))] {
		for _, m := range keyOf.FindAllStringSubmatch(told, -1) {
			if s.answers[task][m[1]] == "" {
				open[m[1]] = asked(m[2], task)
			}
		}
	}
	return open
}

var forms = map[string]string{
	"form":   fmt.Sprintf(formRequest, "What?"),
	"link":   `{"method":"elicitation/create","params":{"mode":"url","message":"Look.","url":"https://example.com/","elicitationId":"e"}}`,
	"sample": `{"method":"sampling/createMessage","params":{"messages":[],"maxTokens":1}}`,
}

// asked returns an input request of a task, which names it if it is a form.
func asked(kind, task string) string {
	return strings.Replace(forms[kind], `"What?"`, string(rawjson.Quoted("What? "+task)), 1)
}

// polled answers tasks/get. A task tells the next thing once its questions are answered.
func (s *taskServer) polled(r request, task string) {
	l := lifeOf(task)
	if len(s.open(task)) == 0 {
		s.at[task] = min(s.at[task]+1, len(l.told)-1)
	}
	told := l.told[s.at[task]]
	defer s.goOn(task)
	if error, is := strings.CutPrefix(told, "!"); is {
		s.write(`{"jsonrpc":"2.0","id":%s,"error":%s}`, r.ID, error)
		return
	}
	s.reply(r, "%s", s.task(task, told))
	for _, late := range l.late {
		if s.at[task] == len(l.told)-1 {
			s.notify(task, late)
		}
	}
}

func (s *taskServer) notify(task, told string) {
	method := "notifications/tasks/status"
	if s.revision >= mcp.Revision20260728 {
		method = "notifications/tasks"
	}
	s.write(`{"jsonrpc":"2.0","method":%q,"params":%s}`, method, s.task(task, told))
}

// task returns the task object with some members; a raw result after "=".
func (s *taskServer) task(task, told string) string {
	if raw, is := strings.CutPrefix(told, "="); is {
		return raw
	}
	answers, _ := json.Marshal(fmt.Sprint(s.answers[task]))
	told = strings.ReplaceAll(told, "{answers}", string(answers))
	told = keyOf.ReplaceAllStringFunc(told, func(m string) string {
		parts := keyOf.FindStringSubmatch(m)
		return `"` + parts[1] + `":` + asked(parts[2], task)
	})
	if s.revision < mcp.Revision20260728 {
		told, _, _ = strings.Cut(told, `,"inputRequests"`)
		told, _, _ = strings.Cut(told, `,"result"`)
		told, _, _ = strings.Cut(told, `,"error"`)
	}
	members := []string{`"resultType":"complete"`, told}
	for name, value := range map[string]string{"taskId": string(rawjson.Quoted(task)), "ttl": "60000", "ttlMs": "60000", "pollInterval": "100", "pollIntervalMs": "100"} {
		if !strings.Contains(told, `"`+name+`"`) {
			members = append(members, `"`+name+`":`+value)
		}
	}
	return "{" + strings.Join(append(members, taskTimes), ",") + "}"
}

// goOn asks what a task of 2025-11-25 has to ask, and answers tasks/result once it has ended.
func (s *taskServer) goOn(task string) {
	if len(s.waiting[task]) == 0 {
		return
	}
	s.ask(task)
	l := lifeOf(task)
	if s.at[task] < len(l.told)-1 || len(s.open(task)) > 0 {
		return
	}
	last := s.task(task, strings.Replace(strings.Replace(l.told[len(l.told)-1], `"error":`, `"why":`, 1), `"result":`, `"answer":`, 1))
	for _, r := range s.waiting[task] {
		if why := rawjson.Member([]byte(last), "why"); why != nil {
			s.write(`{"jsonrpc":"2.0","id":%s,"error":%s}`, r.ID, why)
		} else if result := rawjson.Member([]byte(last), "answer"); result != nil {
			s.reply(r, `%s,"_meta":{"io.modelcontextprotocol/related-task":{"taskId":%s}}}`, strings.TrimSuffix(string(result), "}"), rawjson.Quoted(task))
		}
	}
	s.waiting[task] = nil
}

// ask asks the questions of a task of 2025-11-25 that are not asked yet.
func (s *taskServer) ask(task string) {
	for key, question := range s.open(task) {
		if id := task + "/" + key; !s.asked[id] {
			s.asked[id] = true
			meta := fmt.Sprintf(`"params":{"_meta":{"io.modelcontextprotocol/related-task":{"taskId":%s}},`, rawjson.Quoted(task))
			s.write("%s", `{"jsonrpc":"2.0","id":"ask-`+id+`",`+strings.Replace(question, `"params":{`, meta, 1)[1:])
		}
	}
}

// called answers tools/call: with a task if it is to be one, and otherwise with the
// params, or with what a question that is a task has got.
func (s *taskServer) called(r request, modern bool) {
	id := r.tool() + "#" + string(r.ID)
	asTask := rawjson.Member(r.Params, "task") != nil
	switch {
	case modern || asTask:
		l := lifeOf(id)
		s.at[id], s.answers[id] = -1, map[string]string{}
		if l.created != "" && strings.HasPrefix(l.told[0], l.created) {
			s.at[id] = 0 // it begins as it ends
		}
		if s.early && keyOf.MatchString(l.told[0]) {
			s.at[id] = 0
			s.ask(id)
		}
		created := s.task(id, cmp.Or(l.created, `"status":"working"`))
		if modern {
			created = strings.Replace(created, `"resultType":"complete"`, `"resultType":"task"`, 1)
		} else {
			created = `{"task":` + created + "}"
		}
		s.reply(r, "%s", created)
		for _, told := range l.pushed {
			s.notify(id, told)
		}
	case r.tool() == "polls-us" || r.tool() == "crowds-us":
		create := map[string]string{"polls-us": "create", "crowds-us": "crowd"}[r.tool()]
		s.waiting["ours"] = []request{r}
		s.write(`{"jsonrpc":"2.0","id":"` + create + `","method":"elicitation/create","params":{"task":{"ttl":60000},"message":"Later?","requestedSchema":{"type":"object","properties":{}}}}`)
	default:
		s.text(r, r.raw)
	}
}

// answered reads what the client answers: a question of a task, or what it says of a
// question that is a task of its own.
func (s *taskServer) answered(r request) {
	var id string
	_ = json.Unmarshal(r.ID, &id)
	if id, is := strings.CutPrefix(id, "ask-"); is {
		task, key, _ := strings.Cut(id, "/")
		s.answers[task][key] = string(r.Result) + string(r.Error)
		return
	}
	told := rawjson.Text(rawjson.Member(r.Result, "task", "taskId"))
	switch id {
	case "create":
		s.ours = told
		s.write(`{"jsonrpc":"2.0","id":"get","method":"tasks/get","params":{"taskId":%q}}`, told)
		s.write(`{"jsonrpc":"2.0","id":"list","method":"tasks/list"}`)
		s.write(`{"jsonrpc":"2.0","id":"unknown","method":"tasks/get","params":{"taskId":"unknown"}}`)
		s.write(`{"jsonrpc":"2.0","id":"result","method":"tasks/result","params":{"taskId":%q}}`, told)
	case "crowd":
		for n := range 1001 {
			s.write(`{"jsonrpc":"2.0","id":"crowd-%d","method":"tasks/result","params":{"taskId":%q}}`, n, told)
		}
	case "result":
		s.write(`{"jsonrpc":"2.0","id":"again","method":"tasks/cancel","params":{"taskId":%q}}`, s.ours)
		s.text(s.waiting["ours"][0], string(r.Result)+string(r.Error))
	}
}

func init() {
	for _, revision := range []string{mcp.Revision20251125, mcp.Revision20260728} {
		rawServers["tasks-"+revision] = func(s *rawServer) {
			newTaskServer(s, revision).run()
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

// The demo's tools of long work end with each answer, and by the rules of tasks.
func TestTasksOfTheDemo(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		revision string
		http     bool
	}{{mcp.Revision20251125, false}, {mcp.Revision20251125, true}, {mcp.Revision20260728, false}, {mcp.Revision20260728, true}} {
		server, revision := demo.New(demo.Options{}), c.revision
		spec := target.Spec{Name: demo.Name, Builtin: server.ServeLines}
		if c.http {
			web := httptest.NewServer(server.Handler())
			t.Cleanup(web.Close)
			spec = target.Spec{Name: demo.Name, URL: web.URL}
		}
		b := startInspection(t, inspection.Config{Targets: []target.Spec{spec}, Settings: conversation.ClientSettings{Protocol: revision}})
		n := 0
		for _, c := range []struct {
			tool string
			a    live.Answer
			want string
		}{
			{"migrate_table", accept(`{"keep":"oldest"}`), "the oldest was kept"},
			{"migrate_table", live.Answer{Action: "decline"}, "Nothing of orders was migrated."},
			{"request_review", accept(`{"verdict":"approved","remarks":"Good."}`), "Build 2288 is approved: Good."},
			{"request_review", live.Answer{Action: "cancel"}, "Build 2288 waits for a review."},
		} {
			if revision == mcp.Revision20260728 && c.tool == "request_review" {
				continue // the server does not list it
			}
			if c.tool == "migrate_table" {
				b.callAsTask(c.tool)
			} else {
				b.call(c.tool)
			}
			n++
			if q := b.question(n); q.Call != n || q.Guessed {
				t.Errorf("%s in %s: the question is of call %d, guessed %t", c.tool, revision, q.Call, q.Guessed)
			}
			b.answer(n, c.a)
			call, text := b.done(n)
			if q := b.question(n); !strings.Contains(text, c.want) || (call.Task == nil) != (c.tool == "request_review") || (q.Task == nil) != (c.tool != "request_review") {
				t.Errorf("%s in %s: %s, task %+v, %q", c.tool, revision, call.State, call.Task, text)
			}
			if next := b.in.Next(b.question(n)); next.Seq != call.ResultSeq || !strings.HasPrefix(next.Text, "answered the call: ") || !strings.Contains(next.Text, c.want) {
				t.Errorf("%s in %s, which ended with #%d: then the server %q, #%d", c.tool, revision, call.ResultSeq, next.Text, next.Seq)
			}
		}
		if c, err := b.in.Call(1); err != nil || c.Task.Told == 0 {
			t.Errorf("%s: the server has told nothing of the task: %v, %+v", revision, err, c.Task)
		}
		for _, f := range b.judged() {
			t.Errorf("%s: %s, %s", revision, f.Rule, f.Text)
		}
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	}
}

// Each answer to a question of a task goes out by itself where the call wants it.
func TestEachAnswerOfATask(t *testing.T) {
	t.Parallel()
	b := start(t, "tasks-"+july, conversation.ClientSettings{})
	if _, err := b.in.Begin(live.Request{Server: "s1", Kind: conversation.Tool, Name: "asks-together", Key: "asks-together", Arguments: json.RawMessage("{}"), Each: true}); err != nil {
		t.Fatal(err)
	}
	b.question(2)
	for n := 1; n <= 2; n++ {
		b.answer(n, accept(`{"x":1}`))
		b.until("the answer on the wire", func() bool { return b.sent("tasks/update") == n })
	}
	b.done(1)
}

// A question of a task, and one that is a task, are answered wrongly on purpose: the frames
// say so, the server is blamed for nothing, and the call ends as the server ends it.
func TestMisbehavingInTasks(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		revision, tool, fault string
		state                 conversation.State
		says                  string         // a part of what the call ends with
		sent                  map[string]int // deliberate messages by method
	}{
		{july, "asks", "null-result", done, "a:null", map[string]int{"tasks/update": 1}},
		{july, "asks", "update-twice", done, `a:{"action"`, map[string]int{"tasks/update": 2}},
		{july, "asks", "unknown-update-key", done, "unexpected:{", map[string]int{"tasks/update": 1}},
		{july, "asks", "poll-storm", done, `a:{"action"`, map[string]int{"tasks/update": 1, "tasks/get": 100}},
		{july, "asks", "cancel-after-answer", done, `a:{"action"`, map[string]int{"tasks/update": 1, "tasks/cancel": 1}},
		{july, "asks", "result-never-fetched", conversation.Stopped, "never fetch the result", map[string]int{"tasks/update": 1}},
		{november, "asks", "poll-storm", done, `a:{"action"`, map[string]int{"response": 1, "tasks/get": 100}},
		{november, "asks", "cancel-after-answer", conversation.Running, "", map[string]int{"response": 1, "tasks/cancel": 1}},
		{november, "asks", "result-never-fetched", conversation.Stopped, "never fetch the result", map[string]int{"response": 1}},
		{november, "polls-us", "null-result", done, "null", map[string]int{"notifications/tasks/status": 1, "response": 1}},
		{november, "polls-us", "any-error", done, `"code":-32000`, map[string]int{"notifications/tasks/status": 1, "response": 1}},
		{november, "polls-us", "status-backwards", done, `{"action":"accept"`, map[string]int{"notifications/tasks/status": 3, "response": 1}},
		{november, "polls-us", "result-before-completed", done, `{"action":"accept"`, map[string]int{"response": 1}},
		{november, "polls-us", "task-forgotten", done, "Task not found", map[string]int{"response": 1}},
	} {
		t.Run(test.revision+" "+test.fault, func(t *testing.T) {
			t.Parallel()
			b := start(t, "tasks-"+test.revision, conversation.ClientSettings{})
			var call int
			if test.tool == "asks" {
				call = b.callAsTask(test.tool)
			} else {
				call = b.call(test.tool).Number
				b.until("the request for the result", func() bool { return strings.Contains(b.transcript(), `"id":"result"`) })
			}
			b.question(1)
			b.misbehave(1, test.fault, fault.Params{Seconds: &quick})
			got := map[string]int{}
			b.until("what is deliberate", func() bool {
				frames, err := logtest.Frames(b.log)
				if err != nil {
					t.Fatal(err)
				}
				clear(got)
				for _, f := range frames {
					if f.Dir != wire.ClientToServer || f.Fault == "" {
						continue
					}
					if f.Fault != test.fault || f.Actor != conversation.ByFault {
						t.Fatalf("%s is marked as %s by %s", f.Raw, f.Fault, f.Actor)
					}
					method := f.Method
					if f.Kind.IsResponse() {
						method = "response"
					}
					got[method]++
				}
				for method, n := range test.sent {
					if got[method] < n {
						return false
					}
				}
				return true
			})
			if test.state != conversation.Running { // else the end and the cancellation race
				if c, text := b.done(call); c.State != test.state || !strings.Contains(text+c.Failure, test.says) {
					t.Errorf("the call ended as %s: %q %q, want %q", c.State, text, c.Failure, test.says)
				}
			}
			for method, n := range got {
				if test.sent[method] != n && test.tool == "asks" { // the scripted server asks about the task that a question is at its own pace
					t.Errorf("%d of %s are deliberate, want %d", n, method, test.sent[method])
				}
			}
			for _, f := range b.judged() {
				if strings.Contains(f.Rule, "task") { // the scripted server breaks others by itself
					t.Errorf("the server is blamed: %s, %s", f.Rule, f.Text)
				}
			}
		})
	}
}

// That apps may draw questions is declared where somebody wants it, and tasks unless somebody does not.
func TestDeclaredExtensions(t *testing.T) {
	t.Parallel()
	const apps, tasks = `"io.modelcontextprotocol/ui":{"elicitation":{}}`, `"io.modelcontextprotocol/tasks":{}`
	for _, test := range []struct {
		revision, words string
		want, not       []string
	}{
		{november, "", []string{`"tasks":{"list"`}, []string{`"extensions"`}},
		{november, "form,url,apps", []string{`"tasks":{"list"`, `"extensions":{` + apps + `}`}, []string{tasks}},
		{november, "form,apps,no-tasks", []string{`"extensions":{` + apps + `}`}, []string{`"tasks":{`}},
		{july, "", []string{tasks}, []string{apps}},
		{july, "form,apps", []string{tasks, apps}, nil},
		{july, "form,no-tasks", nil, []string{`"extensions"`}},
	} {
		settings, err := conversation.ParseClientSettings(test.revision, test.words)
		if err != nil {
			t.Fatal(err)
		}
		b := start(t, "tasks-"+test.revision, settings)
		sent := ""
		for line := range strings.Lines(b.transcript()) {
			if strings.Contains(line, " c2s ") {
				sent += line
			}
		}
		for _, want := range test.want {
			if !strings.Contains(sent, want) {
				t.Errorf("%s %q: %s is not declared in\n%s", test.revision, test.words, want, sent)
			}
		}
		for _, not := range test.not {
			if strings.Contains(sent, not) {
				t.Errorf("%s %q: %s is declared in\n%s", test.revision, test.words, not, sent)
			}
		}
	}
	if _, err := conversation.ParseClientSettings("", "forms,apps"); err == nil {
		t.Error("an unknown mode is taken")
	}
}
