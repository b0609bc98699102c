package mock

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/meaning/elicit"
	"elicitation-inspector/bridge/servers/server"
)

// telling answers one request along recorded calls. In 2026-07-28 each round is a request of its own, and
// goes through the recording from its start with the answers that requestState holds.
type telling struct {
	*server.Request
	session    *session
	key        string    // server.CallKey
	candidates []*branch // recordings that have the answers so far; the first one is told
	notes      notes
	retold     bool         // an earlier round sent these notifications already, so they are not sent again
	task       *server.Task // nil for a call that is no task
}

// notes are the state of a call between two rounds.
type notes struct {
	Nonce   string              `json:"nonce"`
	Turn    int                 `json:"turn"`    // calls like it that had begun before
	Answers [][]json.RawMessage `json:"answers"` // by stage; results of the client
}

// What stands in notes for an answer, which is neither.
var (
	awaited  = json.RawMessage("true")  // there is none yet
	noAnswer = json.RawMessage("false") // the question got none in the recording, and gets none now
)

func (s *session) tell(ctx context.Context, r *server.Request, l *library) {
	name, arguments := r.Target(), rawjson.Member(r.Params, "arguments")
	t := &telling{Request: r, session: s, key: server.CallKey(r.Method, name, arguments)}
	found, nearest := l.find(r.Method, name, arguments)
	if len(found) == 0 {
		t.unmatched(wording.Join("; ", "this call is in no recording", nearest))
		return
	}
	state := rawjson.Text(rawjson.Member(r.Params, "requestState"))
	made := s.progress(t.key, func(p *progress) {
		if p.refused == 0 && (state == "" || !r.Rounds()) {
			p.begun++
		}
	})
	t.notes.Turn = made.begun - 1
	if r.Rounds() && state != "" {
		if err := t.open(state); err != nil {
			r.Fail(mcp.CodeInvalidParams, err.Error(), "")
			return
		}
		t.retold = true
	}
	turn := t.notes.Turn % len(found) // the same call made again is the next one of the recordings
	t.candidates = slices.Concat(found[turn:], found[:turn])
	i := slices.IndexFunc(found, func(b *branch) bool { return b.Task != nil })
	if r.Method == mcp.MethodCallTool && r.Revision == l.revision && (r.Rounds() || l.presented.Tasks.Calls) {
		if r.RefusesTask(cmp.Or(l.tasks[name], wording.Either(i >= 0, "optional", ""))) {
			return
		}
		if r.BecomesTask() && (i >= 0 || !r.Rounds()) {
			t.tellAsTask()
			return
		}
	}
	t.tellOn(ctx, made.refused)
}

// progress returns how far a session is with a call, after a change.
func (s *session) progress(key string, change func(*progress)) progress {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.made[key]
	change(&p)
	s.made[key] = p
	return p
}

// tellAsTask tells a call as a task, which outlives its request.
func (t *telling) tellAsTask() {
	parent := t.session.Life
	if t.Rounds() {
		parent = t.session.server.life
	}
	ctx, cancel := context.WithCancel(parent)
	t.task = &server.Task{Call: t.Request, Cancel: cancel, Task: mcp.Task{Created: time.Now(), TTL: 5 * time.Minute, Poll: 100 * time.Millisecond}}
	if t.session.server.tasks.Make(t.task); t.task.ID == "" {
		cancel()
		return
	}
	t.session.server.work.Go(func() {
		defer cancel()
		if t.tellOn(ctx, 0); ctx.Err() != nil {
			t.task.Set(conversation.TaskCancelled, "", nil, nil)
		}
	})
}

// tellOn tells the first candidate, which the answers can change, to its end.
func (t *telling) tellOn(ctx context.Context, refusals int) {
	for i := 0; ; i++ {
		stages := t.candidates[0].stages
		s := &stages[i]
		for k := range s.notices {
			if !t.pause(ctx, s.notices[k].after) {
				return
			}
			t.notify(&s.notices[k])
		}
		switch {
		case !t.pause(ctx, s.after):
			return
		case i == len(stages)-1:
			t.end(ctx, t.candidates[0])
			return
		case s.refusal != nil && refusals > 0:
			refusals--
		case s.refusal != nil && !t.Rounds():
			t.refuse(s)
			return
		case !t.ask(ctx, i): // in 2026-07-28, which does not have it, also instead of error -32042
			return
		}
	}
}

// pause waits as long as the server did, and reports whether the request still goes on.
func (t *telling) pause(ctx context.Context, d time.Duration) bool {
	if t.session.server.options.Paced && !t.retold {
		select {
		case <-time.After(d):
		case <-ctx.Done():
		}
	}
	return ctx.Err() == nil
}

// out returns the stream for messages beside the response; nil if there is none.
func (t *telling) out() (out server.Stream) {
	if t.task == nil {
		return t.Out
	}
	t.task.Look(func() { out = t.task.Stream() })
	return out
}

func (t *telling) notify(n *notice) {
	switch members := rawjson.Without(n.params, "progressToken", "_meta"); {
	case n.method == mcp.NotificationMessage && !t.WantsLog(rawjson.Text(rawjson.Member(n.params, "level")), "debug"):
	case t.retold, n.method == mcp.NotificationTaskStatus && t.task == nil:
	case n.method == mcp.NotificationTaskStatus:
		t.task.Set(conversation.TaskWorking, rawjson.Text(n.params), nil, nil)
	case n.method != mcp.NotificationProgress:
		t.session.Notify(t.out(), n.method, n.params)
	case len(members) > 2:
		t.Progress(t.out(), string(members[1:len(members)-1]))
	}
}

// end ends the call as the first candidate did.
func (t *telling) end(ctx context.Context, b *branch) {
	t.session.progress(t.key, func(p *progress) { p.refused = 0 })
	switch {
	case b.State == conversation.Stopped, t.task != nil && b.Task != nil && b.Task.Status == conversation.TaskCancelled:
		<-ctx.Done() // it went on until the client stopped it
	case b.Result != nil:
		t.finish(t.session.server.result(t.Request, b.Result, b), nil)
	case b.Error != nil:
		t.finish(nil, b.Error)
	case b.State == conversation.Failed:
		t.session.Session.Close() // as the server ended
	default:
		t.unmatched("the recording ends before the response")
	}
}

// finish answers the call with a result or an error, or ends its task with it.
func (t *telling) finish(result, failure json.RawMessage) {
	switch {
	case t.task != nil:
		status := conversation.TaskCompleted
		if recorded := t.candidates[0].Task; result == nil || recorded != nil && recorded.Status == conversation.TaskFailed {
			status = conversation.TaskFailed
		}
		t.task.Set(status, "", result, failure)
	case result != nil:
		t.Reply(string(result))
	default:
		e := conversation.ReadError(failure)
		t.Fail(e.Code, e.Message, string(e.Data))
	}
}

// refuse refuses a call until pages were visited (error -32042), and tells the client when they were, as the server did.
func (t *telling) refuse(s *stage) {
	t.session.progress(t.key, func(p *progress) { p.refused++ })
	var list rawjson.ArrayWriter
	for _, q := range s.asks {
		params := t.params(q)
		list.Add(params)
		if q.CompletedSeq != 0 {
			defer t.session.server.work.Go(func() { t.completes(t.session.Life, t.session.Outside, q, params) })
		}
	}
	data := rawjson.WithMember(rawjson.Without(rawjson.Member(s.refusal, "data"), "elicitations"), "elicitations", string(list.JSON()))
	t.finish(nil, rawjson.WithMember(rawjson.Without(s.refusal, "data"), "data", string(data)))
}

// completes tells the client that a visit has ended: as long after its acceptance as in the recording, or in a hurry at
// once.
func (t *telling) completes(ctx context.Context, out func() server.Stream, q *question, params json.RawMessage) {
	if t.pause(ctx, q.Completed.Sub(cmp.Or(q.Ended, q.Asked))) {
		t.session.Notify(out(), mcp.NotificationElicitComplete, rawjson.WithMember(json.RawMessage(`{}`), "elicitationId", string(rawjson.Member(params, "elicitationId"))))
	}
}

// ask asks the questions of a stage, and keeps the candidates that have these answers. It returns false if the request
// is over.
func (t *telling) ask(ctx context.Context, i int) bool {
	asks := t.candidates[0].stages[i].asks
	if !t.declares(asks) {
		return false
	}
	was := len(t.notes.Answers) - 1 // the stage that the round before has asked
	if i > was {
		t.notes.Answers = append(t.notes.Answers, make([][]json.RawMessage, i-was)...)
		t.notes.Answers[i] = slices.Repeat([]json.RawMessage{awaited}, len(asks))
	}
	answers := t.notes.Answers[i]
	var open []server.Question
	for k, q := range asks {
		key := cmp.Or(q.Key, fmt.Sprintf("question%d", k+1))
		if t.retold && i == was && bytes.Equal(answers[k], awaited) {
			if given := t.Answer(key); given != nil {
				answers[k] = given
			} else if q.unanswered() {
				answers[k] = noAnswer
			}
		}
		if t.task != nil && t.Rounds() {
			key = fmt.Sprintf("%s-%d", key, i) // each key is used once
		}
		if bytes.Equal(answers[k], awaited) {
			open = append(open, server.Question{Key: key, Method: q.Method, Params: t.params(q)})
		}
	}
	switch {
	case t.task == nil && t.Rounds():
		if i > was || len(open) > 0 {
			t.Reply(t.inputRequired(open))
			return false
		}
		t.retold = t.retold && i < was
	case t.Rounds():
		t.task.Ask(open)
		if t.task.Await(ctx, func() bool { return len(t.task.Open) == 0 }) != nil {
			return false
		}
		t.task.Look(func() {
			for k := range open {
				answers[k], _ = t.task.Answer(open[k].Key)
			}
		})
	case !t.request(ctx, asks, open, answers):
		return false
	}
	return t.choose(i, answers)
}

// inputRequired returns a result that asks what has no answer yet. Its state has the answers so far.
func (t *telling) inputRequired(open []server.Question) string {
	t.notes.Nonce = rand.Text()
	plain, _ := rawjson.Encode(t.notes) // strings and JSON always encode
	return rawjson.WithMember(server.InputRequired(open, t.session.server.seal.Close(plain, t.key)), "_meta", t.session.server.core.Meta())
}

// open reads a state, which can be used once.
func (t *telling) open(state string) error {
	s := t.session.server
	if err := s.seal.Open(state, t.key, &t.notes); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.used[t.notes.Nonce] {
		return errors.New("requestState was used before")
	}
	if len(s.used) >= usedMost {
		clear(s.used)
	}
	s.used[t.notes.Nonce] = true
	return nil
}

// declares reports whether the client can be asked these questions; else it answers that it cannot.
func (t *telling) declares(asks []*question) bool {
	declared, modes := t.Declared(), t.Modes()
	for _, q := range asks {
		can, needs := slices.Contains(modes, "form") && (t.Revision >= min(mcp.Revision20251125, t.candidates[0].Protocol) || !q.newer()), `{"elicitation":{"form":{}}}`
		switch {
		case q.Method == mcp.MethodSample:
			can, needs = declared.Sampling != nil, `{"sampling":{}}`
		case q.Method == mcp.MethodListRoots:
			can, needs = declared.Roots != nil, `{"roots":{}}`
		case q.URL() != "":
			can, needs = slices.Contains(modes, "url"), `{"elicitation":{"url":{}}}`
		}
		if can {
			continue
		}
		text := fmt.Sprintf("the recorded call asks %s, and the client, or revision %s, cannot be asked so", wording.Quoted(q.Title()), t.Revision)
		if !t.Rounds() {
			t.unmatched(text)
			return false
		}
		t.note(text)
		t.finish(nil, fmt.Appendf(nil, `{"code":%d,"message":%s,"data":{"requiredCapabilities":%s}}`, mcp.CodeMissingCapability, rawjson.Quoted(text), needs))
		return false
	}
	return true
}

// params returns the params of a question. Where it sends people to a page, that is one of the mock's
// own, and _meta says which it was. A question that was a task of the client's is asked at once.
func (t *telling) params(q *question) json.RawMessage {
	params, meta := rawjson.Without(q.Params, "_meta"), foreign(rawjson.Member(q.Params, "_meta"))
	if q.Task != nil {
		params = rawjson.Without(params, "task")
	}
	if recorded := q.URL(); recorded != "" {
		meta = rawjson.WithMember(meta, mcp.MetaMock, fmt.Sprintf(`{"url":%s}`, rawjson.Quoted(recorded)))
		params = rawjson.WithMember(rawjson.Without(params, "url", "elicitationId"), "url", string(rawjson.Quoted(t.session.server.pages.of(recorded))))
		if !t.Rounds() {
			params = rawjson.WithMember(params, "elicitationId", string(rawjson.Quoted(rand.Text())))
		}
	}
	if t.task != nil && !t.Rounds() {
		meta = rawjson.WithMember(meta, mcp.RelatedTask, fmt.Sprintf(`{"taskId":%q}`, t.task.ID))
	}
	if q.Params != nil && len(meta) > 2 {
		params = rawjson.WithMember(params, "_meta", string(meta))
	}
	return params
}

// request asks by requests, all at once, and waits for the answers. A question that got none waits as long as it did.
func (t *telling) request(ctx context.Context, asks []*question, open []server.Question, answers []json.RawMessage) bool {
	if t.task != nil {
		t.task.Set(conversation.TaskInputRequired, "", nil, nil)
		defer t.task.Set(conversation.TaskWorking, "", nil, nil)
		if t.task.Await(ctx, func() bool { return t.task.Stream() != nil }) != nil {
			return false
		}
	}
	var pending []*server.Pending
	for _, q := range open {
		p := t.session.Ask(t.out(), q, nil)
		defer p.Forget()
		pending = append(pending, p)
	}
	takeBack := func(p *server.Pending) {
		t.session.Notify(t.out(), mcp.NotificationCancelled, fmt.Appendf(nil, `{"requestId":%s}`, p.ID))
	}
	for k, p := range pending {
		var late <-chan time.Time
		if q := asks[k]; q.unanswered() {
			late = time.After(q.Ended.Sub(q.Asked))
		}
		select {
		case f := <-p.Response:
			if answers[k] = f.Message.Result; answers[k] == nil {
				answers[k] = rawjson.WithMember(json.RawMessage(`{}`), "error", string(f.Message.Error))
			}
			if q := asks[k]; q.URL() != "" && actionOf(answers[k]) == "accept" && (q.CompletedSeq != 0 || q.Via != elicit.ByRequest) {
				t.completes(ctx, t.out, q, p.Params)
			}
		case <-late:
			if answers[k] = noAnswer; asks[k].takenBack {
				takeBack(p)
			}
		case <-ctx.Done():
			for _, left := range pending[k:] {
				takeBack(left)
			}
			return false
		}
	}
	return true
}

// choose keeps the candidates whose questions at a stage have these answers: the same ones, else the same actions.
func (t *telling) choose(i int, answers []json.RawMessage) bool {
	asks := t.candidates[0].stages[i].asks
	var has []string
	for _, is := range []func(*question, json.RawMessage) bool{sameAnswer, sameAction} {
		kept := slices.DeleteFunc(slices.Clone(t.candidates), func(b *branch) bool {
			if i >= len(b.stages)-1 || !slices.EqualFunc(b.stages[i].asks, asks, func(a, b *question) bool { return a.Title() == b.Title() }) {
				return true
			}
			for _, q := range b.stages[i].asks {
				has = append(has, actionOf(q.given()))
			}
			return !slices.EqualFunc(b.stages[i].asks, answers, is)
		})
		if len(kept) > 0 {
			t.candidates = kept
			return true
		}
		for k, q := range asks {
			given := &conversation.Question{Method: q.Method, Params: q.Params, Action: actionOf(answers[k]), Answer: answers[k]}
			if problems := given.SchemaProblems(); len(problems) > 0 {
				t.unmatched("the answer to " + wording.Quoted(q.Title()) + " does not satisfy the schema: " + problems[0].Text)
				return false
			}
		}
	}
	slices.Sort(has)
	t.unmatched(fmt.Sprintf("the recordings have only %s as the answer to %s", wording.Series(slices.Compact(has)), wording.Quoted(asks[0].Title())))
	return false
}

func sameAnswer(q *question, given json.RawMessage) bool {
	list, err := differ(rawjson.Without(q.given(), "_meta"), rawjson.Without(given, "_meta"))
	return err == nil && len(list) == 0
}

func sameAction(q *question, given json.RawMessage) bool {
	return actionOf(q.given()) == actionOf(given)
}

func actionOf(answer json.RawMessage) string {
	switch action := rawjson.Text(rawjson.Member(answer, "action")); {
	case action != "":
		return action
	case bytes.Equal(answer, noAnswer):
		return "no answer"
	}
	return wording.Either(rawjson.Member(answer, "error") != nil, "an error", "a result")
}

// unmatchedMost bounds what is remembered of what no recording has.
const unmatchedMost = 1000

// note remembers what no recording has.
func (t *telling) note(text string) {
	s := t.session.server
	s.mu.Lock()
	defer s.mu.Unlock()
	if text = t.Method + " " + t.Target() + ": " + text; len(s.unmatched) < unmatchedMost && !slices.Contains(s.unmatched, text) {
		s.unmatched = append(s.unmatched, text)
	}
}

// unmatched answers what no recording has: a tool with a result that says so, all else with an error.
func (t *telling) unmatched(text string) {
	t.note(text)
	said := rawjson.Quoted("This is a mock. " + wording.Sentence(text))
	if t.Method != mcp.MethodCallTool {
		t.finish(nil, fmt.Appendf(nil, `{"code":%d,"message":%s}`, mcp.CodeInvalidParams, said))
		return
	}
	t.finish(t.session.server.result(t.Request, fmt.Appendf(nil, `{"content":[{"type":"text","text":%s}],"isError":true}`, said), nil), nil)
}
