package faulty

import (
	"encoding/json"
	"fmt"
	"strings"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/base/rawjson"
)

// taskDefect is the defect of a tool that can be called as a task only.
type taskDefect int

const (
	noTask    taskDefect = iota // the tool is called as ever
	goesBack                    // the task works again after it has completed
	unrelated                   // the result of tasks/result does not name the task
	skips                       // the task begins with the status that waits for an answer
)

// tasked lists the tools that are called as tasks, which only 2025-11-25 lets clients do.
// Their defects are in what the server says of the tasks.
var tasked = []*tool{
	{
		name: "bake_bricks", title: "Bake bricks", does: "Its task works again after it has completed.", since: mcp.Revision20251125, before: mcp.Revision20260728,
		asks: []question{{message: "How many bricks?", fields: `"bricks":{"type":"integer","title":"Bricks","minimum":1,"maximum":20}`}},
		says: "{bricks} bricks are in the oven.", task: goesBack,
		plants: also(found("fail", "task-goes-back", "accept"), "*"),
	},
	{
		name: "brew_mead", title: "Brew mead", does: "Its result does not name the task.", since: mcp.Revision20251125, before: mcp.Revision20260728,
		asks: []question{{message: "For how many weeks?", fields: `"weeks":{"type":"integer","title":"Weeks","minimum":1,"maximum":10}`}},
		says: "The mead rests for {weeks} weeks.", task: unrelated,
		plants: also(found("fail", "related-task-missing", "accept"), "*"),
	},
	{
		name: "press_olives", title: "Press olives", does: "Its task does not begin as one that works.", since: mcp.Revision20251125, before: mcp.Revision20260728,
		asks: []question{{message: "How many kilograms?", fields: `"kilograms":{"type":"integer","title":"Kilograms","minimum":1,"maximum":500}`}},
		says: "{kilograms} kg are pressed.", task: skips,
		plants: also(found("fail", "task-begins-otherwise", "accept"), "*"),
	},
}

// task is a call that became a task. The server's mutex guards it.
type task struct {
	call    *call
	status  string
	reply   *reply            // nil until the call has ended
	waiting []json.RawMessage // ids of the requests tasks/result
}

func (t *task) json() string {
	const times = `"createdAt":"2026-01-01T00:00:00Z","lastUpdatedAt":"2026-01-01T00:00:00Z"`
	return fmt.Sprintf(`"taskId":%q,"status":%q,%s,"ttl":null,"pollInterval":200`, t.call.taskID(), t.status, times)
}

func (c *call) taskID() string { return "task " + string(c.id) }

// related returns the metadata of messages that belong to the call's task; "" for a call
// that is none.
func (c *call) related() string {
	if c.tool.task == noTask {
		return ""
	}
	return fmt.Sprintf(`,"_meta":{%q:{"taskId":%q}}`, mcp.RelatedTask, c.taskID())
}

// inTask runs a call as a task, which it answers the request with.
func (c *call) inTask() {
	t := &task{call: c, status: "working"}
	if c.tool.task == skips {
		t.status = "input_required"
	}
	c.mu.Lock()
	c.tasks[c.taskID()] = t
	c.mu.Unlock()
	c.send(`{"jsonrpc":"2.0","id":%s,"result":{"task":{%s}}}`, c.id, t.json())
	c.change(t, "input_required")
	r := c.run()
	if c.ctx.Err() != nil && r.member == "" {
		r = rpcError(mcp.CodeInternalError, "The task was cancelled.", nil)
	}
	if r.member == "" {
		return
	}
	c.change(t, "completed")
	if c.tool.task == goesBack {
		c.change(t, "working")
		c.change(t, "completed")
	}
	c.mu.Lock()
	t.reply = r
	waiting := t.waiting
	t.waiting = nil
	c.mu.Unlock()
	for _, id := range waiting {
		c.fetched(t, id)
	}
}

// change gives a task a status, unless it is cancelled, and notifies the client.
func (c *call) change(t *task, status string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	cancelled := t.status == "cancelled"
	if !cancelled {
		t.status = status
	}
	if !cancelled { // messages about a task go out in the order of its statuses
		c.send(`{"jsonrpc":"2.0","method":%q,"params":{%s}}`, mcp.NotificationTaskStatus, t.json())
	}
}

// fetched answers tasks/result.
func (s *server) fetched(t *task, id json.RawMessage) {
	member := t.reply.member
	if strings.HasPrefix(member, `"result":{`) && t.call.tool.task != unrelated {
		member = strings.TrimSuffix(member, "}") + t.call.related() + "}"
	}
	s.send(`{"jsonrpc":"2.0","id":%s,%s}`, id, member)
}

// aboutTask answers tasks/get, tasks/result and tasks/cancel.
func (s *server) aboutTask(m message) {
	s.mu.Lock()
	t := s.tasks[rawjson.Text(rawjson.Member(m.Params, "taskId"))]
	if t == nil {
		s.mu.Unlock()
		s.refuse(m.ID, mcp.CodeInvalidParams, "Task not found")
		return
	}
	waits, ended := m.Method == mcp.MethodTaskResult && t.reply == nil, t.status == "completed" || t.status == "cancelled"
	cancels := m.Method == mcp.MethodCancelTask
	if cancels && !ended {
		t.status = "cancelled"
	}
	switch {
	case waits:
		t.waiting = append(t.waiting, m.ID)
	case m.Method == mcp.MethodTaskResult:
		s.fetched(t, m.ID)
	case cancels && ended:
		s.refuse(m.ID, mcp.CodeInvalidParams, "The task has ended")
	default:
		s.answer(m.ID, mcp.Revision20251125, "%s", t.json())
	}
	s.mu.Unlock()
	if cancels && !ended {
		t.call.end()
	}
}
