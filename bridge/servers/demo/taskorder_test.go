package demo

import (
	"encoding/json"
	"fmt"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"io"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	protocol "elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/base/rawjson"
)

// lagging is a pipe on which a response with the status of a task takes a second to be written, while the task goes on.
type lagging struct{ *io.PipeWriter }

func (l lagging) Write(line []byte) (int, error) {
	if statusIn(rawjson.Member(line, "result")) != "" {
		time.Sleep(time.Second) // of the test's own clock
	}
	return l.PipeWriter.Write(line)
}

// statusIn returns the status of the task that params or a result tell of; "" if they tell of none.
func statusIn(raw json.RawMessage) string {
	list := []json.RawMessage{rawjson.Member(raw, "task"), raw}
	for _, task := range rawjson.Elements(rawjson.Member(raw, "tasks")) {
		list = append(list, task)
	}
	for _, task := range list {
		if status := rawjson.Text(rawjson.Member(task, "status")); status != "" {
			return status
		}
	}
	return ""
}

// A client never reads an older status of a task after a newer one, however long a response takes to be written.
func TestTaskNeverGoesBack(t *testing.T) {
	for _, method := range []string{protocol.MethodGetTask, protocol.MethodListTasks} {
		t.Run(method, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				in, toServer := io.Pipe()
				fromServer, out := io.Pipe()
				srv := New(Options{})
				b := newBareOver(t, protocol.Revision20251125, srv, servingOver(t, srv, in, lagging{out}, &mcp.IOTransport{Reader: fromServer, Writer: toServer}))
				b.answer = func(string, json.RawMessage) string { return `{"action":"accept","content":{"keep":"newest"}}` }
				b.greet()
				var read []string
				call := func(method, params string) json.RawMessage {
					b.seen = nil
					result, err := b.call(method, params)
					if err != nil {
						t.Fatal(err)
					}
					for _, r := range b.seen {
						if r.Method == protocol.NotificationTaskStatus {
							read = append(read, statusIn(r.Params))
						}
					}
					read = append(read, statusIn(result))
					return result
				}
				made := call(protocol.MethodCallTool, `{"name":"migrate_table","arguments":{},"task":{}}`)
				if len(read) != 1 {
					t.Errorf("before the response that makes the task came %q", read[:len(read)-1])
				}
				about := fmt.Sprintf(`{"taskId":%s}`, rawjson.Member(made, "task", "taskId"))
				for range 20 {
					if call(method, about); read[len(read)-1] == "completed" {
						break
					}
				}
				ends := slices.Index(read, "completed")
				if ends < 0 || slices.ContainsFunc(read[ends:], func(status string) bool { return status != "completed" }) {
					t.Errorf("the statuses came as %q", read)
				}
			})
		})
	}
}

// A client that listens to a task gets a notification for each change of its status, and none
// for a request such as tasks/get.
func TestOnlyChangesAreTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBare(t, protocol.Revision20260728, Options{})
		b.caps = `{"elicitation":{"form":{}},"extensions":{"io.modelcontextprotocol/tasks":{}}}`
		call := func(method, params string) json.RawMessage {
			result, err := b.call(method, params)
			if err != nil {
				t.Fatal(err)
			}
			return result
		}
		made := call(protocol.MethodCallTool, `{"name":"migrate_table","arguments":{}}`)
		id := rawjson.Member(made, "taskId")
		listen, err := jsonrpc.MakeID("listen")
		if err != nil {
			t.Fatal(err)
		}
		b.write(&jsonrpc.Request{ID: listen, Method: protocol.MethodListen, Params: json.RawMessage(fmt.Sprintf(
			`{"notifications":{"taskIds":[%s]},"_meta":{"io.modelcontextprotocol/protocolVersion":%q,"io.modelcontextprotocol/clientCapabilities":%s}}`, id, b.revision, b.caps))})
		about := fmt.Sprintf(`{"taskId":%s}`, id)
		for statusIn(call(protocol.MethodGetTask, about)) != "input_required" {
			synctest.Wait()
		}
		b.seen = nil
		for range 5 {
			call(protocol.MethodGetTask, about)
			synctest.Wait()
		}
		for _, r := range b.seen[min(1, len(b.seen)):] { // the first tells of input_required
			t.Errorf("it told %s of %s", r.Method, statusIn(r.Params))
		}
	})
}
