package inspection_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/client/inspection"
	"elicitation-inspector/bridge/client/target"
	"elicitation-inspector/bridge/meaning/conversation"
)

// taskKeeper is an HTTP server that keeps its tasks when it starts anew, except that of the
// tool "forgets". The task of "goes-on" asks two questions, and that of "ends" ends meanwhile.
type taskKeeper struct {
	revision string
	server   *httptest.Server

	mu       sync.Mutex
	starts   int
	answers  map[string]string // of goes-on, by key
	answered chan struct{}     // closed at the next answer
}

// start starts the server, later at the same address.
func (k *taskKeeper) start(t *testing.T) {
	t.Helper()
	address := "127.0.0.1:0"
	if k.server != nil {
		address = k.server.Listener.Addr().String()
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	k.mu.Lock()
	k.starts++
	k.mu.Unlock()
	k.server = &httptest.Server{Listener: listener, Config: &http.Server{Handler: k}}
	k.server.Start()
}

func (k *taskKeeper) stop() {
	k.server.CloseClientConnections()
	k.server.Close()
}

func (k *taskKeeper) open() (keys []string) {
	for _, key := range []string{"a", "b"} {
		if k.answers[key] == "" {
			keys = append(keys, key)
		}
	}
	return keys
}

func (k *taskKeeper) answer(key, answer string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.answers[key] = answer
	close(k.answered)
	k.answered = make(chan struct{})
}

// told returns the task of a tool as tasks/get tells it; "" if it is not known.
func (k *taskKeeper) told(tool string) string {
	k.mu.Lock()
	defer k.mu.Unlock()
	more := `"status":"working"`
	switch open := k.open(); {
	case tool == "forgets" && k.starts > 1:
		return ""
	case tool == "goes-on" && len(open) > 0:
		var requests []string
		for _, key := range open {
			requests = append(requests, fmt.Sprintf("%q:%s", key, forms["form"]))
		}
		more = `"status":"input_required","inputRequests":{` + strings.Join(requests, ",") + "}"
	case tool == "goes-on" || tool == "ends" && k.starts > 1:
		more = `"status":"completed","result":` + k.result()
	}
	return fmt.Sprintf(`{"resultType":"complete","taskId":%q,%s,%s,"ttl":null,"ttlMs":null,"pollInterval":100,"pollIntervalMs":100}`, tool, more, taskTimes)
}

func (k *taskKeeper) result() string {
	text, _ := json.Marshal(fmt.Sprint(k.answers))
	return fmt.Sprintf(`{"resultType":"complete","content":[{"type":"text","text":%s}]}`, text)
}

func (k *taskKeeper) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	body, err := io.ReadAll(r.Body)
	var m request
	if err != nil || json.Unmarshal(body, &m) != nil {
		return // the client is gone
	}
	modern := k.revision >= mcp.Revision20260728
	answer := func(result string) {
		w.Header().Set("Content-Type", "application/json")
		if result == "" {
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32602,"message":"Task not found"}}`, m.ID)
			return
		}
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)
	}
	id := rawjson.Text(rawjson.Member(m.Params, "taskId"))
	switch m.Method {
	case "server/discover":
		if !modern {
			answer("")
			return
		}
		answer(fmt.Sprintf(`{"supportedVersions":[%q],"capabilities":{"tools":{},"extensions":{"io.modelcontextprotocol/tasks":{}}},"resultType":"complete","ttlMs":0,"cacheScope":"private"}`, k.revision))
	case "initialize":
		w.Header().Set("Mcp-Session-Id", fmt.Sprint("session-", k.starts))
		answer(fmt.Sprintf(`{"protocolVersion":%q,"capabilities":{"tools":{},"tasks":{"requests":{"tools":{"call":{}}}}},"serverInfo":{"name":"keeper","version":"1"}}`, k.revision))
	case "tools/list":
		const tool = `{"name":%q,"inputSchema":{"type":"object"},"execution":{"taskSupport":"optional"}}`
		answer(fmt.Sprintf(`{"resultType":"complete","ttlMs":0,"cacheScope":"private","tools":[`+tool+","+tool+","+tool+"]}", "goes-on", "forgets", "ends"))
	case "tools/call":
		task := fmt.Sprintf(`{"resultType":"task","taskId":%q,"status":"working",%s,"ttl":null,"ttlMs":null,"pollInterval":100,"pollIntervalMs":100}`, m.tool(), taskTimes)
		if !modern {
			task = `{"task":` + task + "}"
		}
		answer(task)
	case "tasks/get":
		answer(k.told(id))
	case "tasks/update":
		answer(`{"resultType":"complete"}`)
		for key, given := range rawjson.Members(rawjson.Member(m.Params, "inputResponses")) {
			k.answer(key, string(given))
		}
	case "tasks/result":
		k.mu.Lock()
		if id == "goes-on" {
			for _, key := range k.open() {
				meta := `"params":{"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"goes-on"}},`
				event(w, fmt.Sprintf(`{"jsonrpc":"2.0","id":%q,`, key)+strings.Replace(forms["form"], `"params":{`, meta, 1)[1:])
			}
		}
		for len(k.open()) > 0 && id == "goes-on" {
			answered := k.answered
			k.mu.Unlock()
			select {
			case <-answered:
			case <-r.Context().Done():
				return
			}
			k.mu.Lock()
		}
		defer k.mu.Unlock()
		if id == "goes-on" {
			event(w, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, k.result()))
			return
		}
		answer(k.result())
	default:
		w.WriteHeader(http.StatusAccepted)
		if m.Method == "" {
			k.answer(rawjson.Text(m.ID), string(m.Result))
		}
	}
}

// A call goes on with its task once its server is connected again: what was answered is not
// asked again, what was open is, and a task that is gone or has ended meanwhile ends the call.
func TestTasksOfALostSession(t *testing.T) {
	t.Parallel()
	for _, revision := range []string{november, july} {
		t.Run(revision, func(t *testing.T) {
			t.Parallel()
			k := &taskKeeper{revision: revision, answers: map[string]string{}, answered: make(chan struct{})}
			k.start(t)
			t.Cleanup(func() { k.stop() })
			b := startInspection(t, inspection.Config{Targets: []target.Spec{{Name: "keeper", URL: k.server.URL, Transport: target.TransportHTTP}}})
			calls := []int{b.callAsTask("goes-on"), b.callAsTask("forgets"), b.callAsTask("ends")}
			b.question(2)
			b.answer(1, accept(`{"first":1}`))
			b.until("the answer", func() bool {
				k.mu.Lock()
				defer k.mu.Unlock()
				return k.answers["a"] != "" || revision == july // in which it goes out with the other
			})
			k.stop()
			b.until("the end of the session", func() bool { return b.server().State == conversation.ServerEnded })
			for _, number := range calls {
				if c, text := b.done(number); c.State != conversation.Failed {
					t.Errorf("call %d is %s without its server: %s", number, c.State, text)
				}
			}
			if q := b.question(2); q.State != conversation.Withdrawn {
				t.Errorf("question 2 is %s", q.State)
			}
			k.start(t)
			if err := b.in.Reconnect("s1"); err != nil {
				t.Fatal(err)
			}
			b.question(3)
			b.answer(3, accept(`{"second":1}`))
			b.until("the ends", func() bool {
				c, err := b.in.Call(calls[0])
				return err == nil && c.State == conversation.Done
			})
			for i, says := range []string{`{"first":1}`, "the task is lost: tasks/get was answered with -32602 Task not found", "map["} {
				if c, text := b.done(calls[i]); (c.State == conversation.Failed) != (i == 1) || !strings.Contains(text, says) || i == 0 && !strings.Contains(text, `{"second":1}`) {
					t.Errorf("call %d is %s: %s", calls[i], c.State, text)
				}
			}
			if n := len(b.in.Questions()); n != 3 {
				t.Errorf("%d questions", n)
			}
			if b.in.Disconnect(t.Context(), "s1") != nil || b.server().State != conversation.ServerDisconnected {
				t.Error("the server is not disconnected")
			}
			b.compareOpened(calls)
		})
	}
}
