package session

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Limits of the subscriptions to notifications about tasks.
const (
	listenedMost = 16          // tasks of one subscription; the others are only polled
	listenPause  = time.Second // the least time from one subscription to the next
)

// listenToTasks subscribes to the notifications about the tasks that calls follow, with a
// new subscription when other tasks are followed, until the session ends (extension tasks,
// Task Status Notifications). Every task is polled all the same, so a server that refuses or
// ends a subscription before it has told of any task is not asked again.
func (s *Session) listenToTasks() {
	var now []string
	for {
		select {
		case <-s.follows:
		case <-s.ctx.Done():
			return
		}
		next := s.tasksToListenTo(now)
		if slices.Equal(next, now) {
			continue
		}
		// One at a time, since a server may keep one subscription for each session. The SDK
		// has no error for either: what becomes of the requests is on the wire.
		if len(now) > 0 {
			_ = s.sdk.Unsubscribe(s.ctx, &sdk.UnsubscribeParams{URI: listenURI(now)})
		}
		if len(next) > 0 {
			_ = s.sdk.Subscribe(s.ctx, &sdk.SubscribeParams{URI: listenURI(next)})
		}
		now = next
		select {
		case <-time.After(listenPause):
		case <-s.ctx.Done():
			return
		}
	}
}

// tasksToListenTo returns the ids of the tasks to subscribe to next: now, while that has
// every task that is followed and there is one, else up to listenedMost of those.
func (s *Session) tasksToListenTo(now []string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var ids []string
	for id, t := range s.callTasks {
		if t.followed && !t.over && !s.noListen {
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, func(a, b string) int { return cmp.Compare(s.callTasks[a].call, s.callTasks[b].call) })
	ids = ids[:min(len(ids), listenedMost)]
	if isNew := func(id string) bool { return !slices.Contains(now, id) }; len(ids) > 0 && !slices.ContainsFunc(ids, isNew) {
		return now
	}
	return ids
}

// listenScheme marks the resources under which the SDK keeps the subscriptions to tasks, of
// which it knows nothing: exactParams replaces the resource with the tasks.
const listenScheme = "tasks:"

func listenURI(ids []string) string {
	list, _ := json.Marshal(ids) // strings always encode
	return listenScheme + string(list)
}

// listening returns the members of a subscription to tasks; nil for other requests.
func listening(req sdk.Request) []Member {
	p, ok := req.GetParams().(*sdk.SubscriptionsListenParams)
	if !ok || len(p.Notifications.ResourceSubscriptions) != 1 {
		return nil
	}
	ids, ok := strings.CutPrefix(p.Notifications.ResourceSubscriptions[0], listenScheme)
	if !ok {
		return nil
	}
	return []Member{{"notifications", object([]Member{{"taskIds", json.RawMessage(ids)}})}}
}

// refusedToTell records that the server has refused or ended a subscription to tasks. The
// caller holds the mutex.
func (s *Session) refusedToTell() { s.noListen = !s.hasTold }
