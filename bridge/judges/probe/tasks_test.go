// The race detector makes these tables of clients several times slower. Clients without faults
// run all probes with it.

//go:build !race

package probe

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"elicitation-inspector/bridge/base/mcp"
)

// Each fault in tasks is named by the probe that is made for it, and by no other probe of tasks.
func TestFaultyTasks(t *testing.T) {
	type client = func(b *bare)
	later := func(method string, change func(string) string) client {
		return func(b *bare) {
			b.later = func(_ *bare, of, result string) string {
				if of == method {
					return change(result)
				}
				return result
			}
		}
	}
	replaced := func(old, by string) func(string) string {
		return func(s string) string { return strings.ReplaceAll(s, old, by) }
	}
	b, c := mcp.Revision20251125, mcp.Revision20260728
	for name, one := range map[string]struct {
		revision, probe string
		want            Verdict
		client          client
		poll            time.Duration // that the server wants
	}{
		"asks too often":                {b, "task-poll", Partly, func(b *bare) { b.pause = 0 }, 20 * time.Second},
		"asks too often in July":        {c, "task-poll", Partly, func(b *bare) { b.pause = 0 }, 20 * time.Second},
		"leaves the task":               {b, "task-call", Fails, func(b *bare) { b.leaves = true }, 0},
		"stops by notification":         {b, "task-cancel", Fails, func(b *bare) { b.stops = mcp.NotificationCancelled }, 0},
		"stops by notification in July": {c, "task-cancel", Fails, func(b *bare) { b.stops = mcp.NotificationCancelled }, 0},
		"leaves out an answer": {c, "task-call", Fails, func(b *bare) {
			b.update = func(b *bare, params string) string {
				if b.tool == "task-call" {
					return strings.Replace(params, `"question":`, `"other":`, 1)
				}
				return params
			}
		}, 0},
		"keys of its own": {c, "task-keys", Fails, func(b *bare) {
			b.update = func(_ *bare, params string) string {
				return strings.Replace(params, `"inputResponses":{`, `"inputResponses":{"mine":{"action":"decline"},`, 1)
			}
		}, 0},
		"answers twice": {c, "task-keys", Partly, func(b *bare) {
			b.update = func(b *bare, params string) string {
				b.request(mcp.MethodUpdateTask, params)
				return params
			}
		}, 0},
		"no task":          {b, "task-question", Fails, later(mcp.MethodElicit, func(string) string { return `{"action":"accept","content":{"value":"x"}}` }), 0},
		"begins otherwise": {b, "task-question", Fails, later(mcp.MethodElicit, replaced("working", "input_required")), 0},
		"no ttl":           {b, "task-question", Fails, later(mcp.MethodElicit, replaced(`"ttl":null,`, "")), 0},
		"goes back before its response is read": {b, "task-question", Fails, func(b *bare) {
			b.later = func(b *bare, method, result string) string {
				if method == mcp.MethodElicit && b.tool == "task-question" {
					for _, status := range []string{"completed", "working"} {
						b.write(fmt.Sprintf(`{"jsonrpc":"2.0","method":%q,"params":{"taskId":"task %d","status":%q}}`, mcp.NotificationTaskStatus, len(b.own), status))
					}
				}
				return result
			}
		}, 0},
		"an unknown status":          {b, "task-question", Fails, later(mcp.MethodGetTask, replaced("completed", "done")), 0},
		"another task":               {b, "task-question", Fails, later(mcp.MethodGetTask, replaced(`"taskId":"task`, `"taskId":"of`)), 0},
		"an answer without its task": {b, "task-question", Fails, later(mcp.MethodTaskResult, replaced(mcp.RelatedTask, "mine")), 0},
		"an empty list":              {b, "task-question-list", Fails, later(mcp.MethodListTasks, func(string) string { return `{"tasks":[]}` }), 0},
		"knows every task": {b, "task-question-list", Fails, func(b *bare) {
			b.own["of-nobody"] = json.RawMessage("{}")
		}, 0},
		"goes on when cancelled": {b, "task-question-cancelled", Fails, later(mcp.MethodCancelTask, replaced("cancelled", "working")), 0},
		"refuses a task nobody declared": {b, "task-undeclared", Fails, func(b *bare) {
			b.caps = `{"elicitation":{"form":{}}}`
			b.answer = at("task-undeclared", `error {"code":-32603,"message":"no tasks"}`)
		}, 0},
		"a task nobody declared": {b, "task-undeclared", Fails, func(b *bare) {
			b.caps = `{"elicitation":{"form":{}}}`
			b.answer = at("task-undeclared", `{"task":{"taskId":"x","status":"working","createdAt":"2026-01-01T00:00:00Z","lastUpdatedAt":"2026-01-01T00:00:00Z","ttl":null}}`)
		}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := Options{Pause: 3 * max(one.poll, 10*time.Millisecond)}
			if strings.HasPrefix(name, "leaves") {
				o.Patience = 2 * time.Second
			}
			s := newServer(t, o)
			b := newBare(t, s, one.revision)
			b.pause = 10 * time.Millisecond
			one.client(b)
			b.greet()
			of := func(p *Probe) bool {
				return p.Group == Tasks && p.In(one.revision) && (one.poll == 0 || p.Name == one.probe)
			}
			for _, p := range Table() {
				if of(p) {
					b.call(p)
					b.result(p.Name)
				}
			}
			for _, p := range Table() {
				if !of(p) {
					continue
				}
				switch r := b.result(p.Name); {
				case p.Name == one.probe && (r.Verdict != one.want || len(r.Frames) == 0):
					t.Errorf("%s: %s, want %s: %s %v", p.Name, r.Verdict, one.want, r.How, r.Frames)
				case p.Name != one.probe && r.Verdict != Works && r.Verdict != NotSeen:
					t.Errorf("%s, too: %s: %s", p.Name, r.Verdict, r.How)
				}
			}
		})
	}
}
