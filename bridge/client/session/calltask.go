package session

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"sync/atomic"
	"time"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/meaning/elicit"
	"elicitation-inspector/bridge/wire"
)

// callTask is a task at the server that a request of a call became.
type callTask struct {
	call, round int
	keys        conversation.TaskKeys
	told        chan struct{} // receives when a notification about the task has come; capacity 1
	followed    atomic.Bool   // the call follows the task
	over        atomic.Bool   // the call has ended
}

// callTasksMost bounds how many tasks of calls a session remembers.
const callTasksMost = 10_000

// callTasks are the tasks that requests of calls became.
type callTasks struct {
	follows chan struct{} // signals that other tasks are followed; capacity 1

	table[callTask]
	noListen atomic.Bool // do not ask the server for a subscription to tasks
	hasTold  atomic.Bool // the server has told of a task
}

// TaskTold returns a channel that receives when the server has sent a notification about
// a task of a call. It has the session subscribe to these notifications, if the server can.
func (ts *callTasks) TaskTold(id string) <-chan struct{} {
	t := ts.find(id)
	if t == nil {
		return nil
	}
	t.followed.Store(true)
	signal(ts.follows)
	return t.told
}

// TaskOver records that the call of a task has ended, and asks for the task no more.
func (ts *callTasks) TaskOver(id string) {
	if t := ts.find(id); t != nil {
		t.over.Store(true)
		signal(ts.follows)
	}
}

// ResumeTask adds a task of a call: a new one, or one of an earlier session, with the keys of its
// questions that are answered.
func (ts *callTasks) ResumeTask(call, round int, id string, answered conversation.TaskKeys) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	if len(ts.byID) < callTasksMost {
		ts.byID[id] = &callTask{call: call, round: round, keys: answered, told: make(chan struct{}, 1)}
	}
}

// inputs returns the input requests of a task that no earlier message had.
func (ts *callTasks) inputs(id string, m wire.Message) []elicit.Asked {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	if t := ts.byID[id]; t != nil {
		return t.keys.Inputs(m)
	}
	return nil
}

// refused records that the server has refused or ended a subscription to tasks. Every task is
// polled all the same, so a server that does so before it has told of any task is not asked
// again.
func (ts *callTasks) refused() { ts.noListen.Store(!ts.hasTold.Load()) }

// listenedMost bounds the tasks of one subscription; the others are only polled.
const listenedMost = 16

// toListenTo returns the ids of the tasks to subscribe to: of those that calls follow, the first
// listenedMost. If the present subscription, now, has all of these, it returns now.
func (ts *callTasks) toListenTo(now []string) []string {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	var ids []string
	for id, t := range ts.byID {
		if t.followed.Load() && !t.over.Load() && !ts.noListen.Load() {
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, func(a, b string) int { return cmp.Compare(ts.byID[a].call, ts.byID[b].call) })
	ids = ids[:min(len(ids), listenedMost)]
	if isNew := func(id string) bool { return !slices.Contains(now, id) }; len(ids) > 0 && !slices.ContainsFunc(ids, isNew) {
		return now
	}
	return ids
}

// listenPause is the least time from one subscription to the next.
const listenPause = time.Second

// listenToTasks subscribes to the notifications about the tasks that calls follow, with a
// new subscription when other tasks are followed, until the session ends (extension tasks,
// Task Status Notifications).
func (s *Session) listenToTasks() {
	var now []string
	leave := context.CancelCauseFunc(func(error) {})
	for {
		select {
		case <-s.follows:
		case <-s.ctx.Done():
			return
		}
		next := s.toListenTo(now)
		if slices.Equal(next, now) {
			continue
		}
		// One at a time, since a server may keep one subscription for each session.
		leave(TakenBack("the client listens to other tasks now, or to none"))
		if now = next; len(now) > 0 {
			ctx, cancel := context.WithCancelCause(s.ctx)
			leave = cancel
			ids, _ := json.Marshal(now) // strings always encode
			out := &outgoing{
				ctx: ctx, Request: Request{Method: mcp.MethodListen}, listens: true,
				members: []Member{{"notifications", object([]Member{{"taskIds", ids}})}},
			}
			// What becomes of the subscription is on the wire.
			if err := request(out.with(ctx), s.sdk.Load(), nil); err != nil {
				s.Logger.Debug("subscribing to tasks", "server", s.Spec.Name, "error", err)
			}
		}
		select {
		case <-time.After(listenPause):
		case <-s.ctx.Done():
			return
		}
	}
}
