package server

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/wire"
)

// working is a peer whose calls are tasks, which go on.
type working struct {
	deaf
	tasks *Tasks
	begun chan *Task
	seen  chan string // the status of a task at each request about it
}

func (w working) Serve(r *Request) func() {
	if r.Method != mcp.MethodCallTool {
		w.tasks.Serve(r)
		return nil
	}
	t := &Task{Call: r, Task: mcp.Task{Created: time.Now(), TTL: time.Hour}, Cancel: func() {}, Seen: func(t *Task, _ *Request) { w.seen <- t.Status }}
	w.tasks.Make(t)
	w.begun <- t
	return nil
}

// A client that is told of a task's end does not ask again, so its request was seen at the end, too.
func TestTaskIsToldAsItWasSeen(t *testing.T) {
	t.Parallel()
	peer := working{tasks: &Tasks{}, begun: make(chan *Task, 1), seen: make(chan string, 1)}
	s := New(Options{
		Name: "test", Info: `{"name":"test","version":"1"}`, Revisions: mcp.Revisions,
		Begin:  func(*Session) Peer { return peer },
		Append: func(f wire.Frame) wire.Frame { f.Identify(); return f },
	})
	defer s.Close()
	in, requests := io.Pipe()
	responses, out := io.Pipe()
	done := make(chan error, 1)
	go func() { done <- s.ServeLines(t.Context(), in, out) }()
	lines := bufio.NewReader(responses)
	ask := func(method, params string) {
		fmt.Fprintf(requests, `{"jsonrpc":"2.0","id":1,"method":%q,"params":{%s,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}}}}`+"\n", method, params)
	}
	told := func() string {
		t.Helper()
		line, err := lines.ReadBytes('\n')
		if err != nil {
			t.Fatal(err)
		}
		return rawjson.Text(rawjson.Member(line, "result", "status"))
	}
	go ask(mcp.MethodCallTool, `"name":"work"`)
	told()
	task, seen := <-peer.begun, ""
	task.Call.Session.InTurn(func() { // the response waits for its turn meanwhile
		ask(mcp.MethodGetTask, fmt.Sprintf(`"taskId":%q`, task.ID))
		select {
		case seen = <-peer.seen:
		case <-time.After(50 * time.Millisecond): // so does all of it
		}
		task.Set(conversation.TaskCompleted, "", []byte(`{"content":[],"resultType":"complete"}`), nil)
	})
	got := told()
	if seen == "" {
		seen = <-peer.seen
	}
	if got != seen {
		t.Errorf("the client was told %q, and seen was %q", got, seen)
	}
	requests.Close()
	if err := <-done; err != nil && !strings.Contains(err.Error(), "closed") {
		t.Error(err)
	}
}
