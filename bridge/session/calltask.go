package session

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"elicitation-inspector/bridge/conversation"
	"elicitation-inspector/bridge/fault"
	"elicitation-inspector/bridge/mcp"
	"elicitation-inspector/bridge/rawjson"
	"elicitation-inspector/bridge/wire"
)

// callTask is a task at the server that a request of a call became.
type callTask struct {
	call, round int
	keys        conversation.TaskKeys
	told        chan struct{} // receives when a notification about the task has come; capacity 1
	followed    bool          // the call follows the task
	over        bool          // the call has ended
}

// callTasksMost bounds how many tasks of calls a session remembers.
const callTasksMost = 10_000

// stormTime bounds how long a server may take to answer the requests of a fault about a
// task.
const stormTime = 30 * time.Second

// UpdateRefused is the error of a fault whose tasks/update the server has refused, so that
// the question is not answered.
type UpdateRefused string

func (u UpdateRefused) Error() string { return string(u) }

// misuseTask carries out a step of a fault that sends requests about the task of a call.
func (s *Session) misuseTask(ctx context.Context, m Misbehaviour, step fault.Step) error {
	ctx, cancel := context.WithTimeout(ctx, stormTime)
	defer cancel()
	r := Request{Call: m.Call, Round: m.Round, TaskID: m.Plan.Task, Method: mcp.MethodGetTask, Actor: conversation.ByFault, Spoilt: &Spoilt{Fault: m.Plan.Fault}}
	switch step.Do {
	case fault.UpdateTask:
		r.Method, r.Responses = mcp.MethodUpdateTask, membersOf(step.Raw)
	case fault.CancelTask:
		r.Method = mcp.MethodCancelTask
	}
	failures := make(chan error)
	times := max(step.Times, 1)
	for range times {
		s.Go(func() {
			reply, err := s.RoundTrip(ctx, r)
			if err == nil && step.Do == fault.UpdateTask && reply.Message.Kind == wire.Error {
				if e, unread := conversation.ErrorOf(reply.Message.Error); unread == nil {
					err = UpdateRefused(fmt.Sprintf("%s was answered with %d %s", r.Method, e.Code, e.Message))
				}
			}
			failures <- err
		})
	}
	var err error
	for range times {
		err = cmp.Or(err, <-failures)
	}
	return err
}

// emptyResult stands for a result that the tap reads.
type emptyResult struct{ sdk.ResultBase }

// CanCancelTasks reports whether the server accepts tasks/cancel. Since 2026-07-28 every
// server with tasks does.
func (s *Session) CanCancelTasks() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.revision >= mcp.Revision20260728 || s.presented.Tasks.Cancel
}

// TaskTold returns a channel that receives when the server has sent a notification about
// a task of a call, which the server is asked for where it can be.
func (s *Session) TaskTold(id string) <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.callTasks[id]
	if t == nil {
		return nil
	}
	t.followed = true
	signal(s.follows)
	return t.told
}

// TaskOver records that the call of a task has ended, and asks for the task no more.
func (s *Session) TaskOver(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t := s.callTasks[id]; t != nil {
		t.over = true
		signal(s.follows)
	}
}

// ResumeTask makes a task of an earlier session one of this session. Of what it asks, that
// under the keys is answered.
func (s *Session) ResumeTask(call, round int, id string, answered conversation.TaskKeys) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.addTask(id, call, round, answered)
}

// addTask remembers a task of a call. The caller holds the mutex.
func (s *Session) addTask(id string, call, round int, answered conversation.TaskKeys) {
	if len(s.callTasks) < callTasksMost {
		s.callTasks[id] = &callTask{call: call, round: round, keys: answered, told: make(chan struct{}, 1)}
	}
}

// toldOfTask logs a notification about a task with the call of the task, and reports it.
func (s *Session) toldOfTask(params json.RawMessage, f wire.Frame) {
	s.mu.Lock()
	t := s.callTasks[rawjson.Text(rawjson.Member(params, "taskId"))]
	if t != nil {
		f.Call, f.Round = t.call, t.round
		s.hasTold = true
	}
	s.mu.Unlock()
	s.Log.Append(f)
	if t != nil {
		signal(t.told)
	}
}

// declaringTasks returns an initialize request with the capability to take elicitations
// as tasks, which the SDK has no field for, and without the extension for tasks, which only
// later revisions have. It returns every other message unchanged.
func (s *Session) declaringTasks(raw []byte) []byte {
	if !bytes.Contains(raw, []byte(`"`+mcp.MethodInitialize+`"`)) {
		return raw
	}
	m, err := wire.ParseMessage(raw)
	if err != nil || m.Kind != wire.Request || m.Method != mcp.MethodInitialize {
		return raw
	}
	declared := rawjson.Member(m.Params, "capabilities")
	var members []Member
	for name, value := range rawjson.Members(declared) {
		if name == "extensions" {
			if value = rawjson.Member(value, mcp.AppsExtension); value == nil {
				continue
			}
			value = object([]Member{{mcp.AppsExtension, value}})
		}
		members = append(members, Member{name, value})
	}
	if s.Settings.TakesTasks(rawjson.Text(rawjson.Member(m.Params, "protocolVersion"))) {
		members = append(members, Member{"tasks", json.RawMessage(conversation.DeclaredTasks)})
	}
	return bytes.Replace(raw, declared, object(members), 1)
}
