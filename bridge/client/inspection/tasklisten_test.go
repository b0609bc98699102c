package inspection_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/client/inspection"
	"elicitation-inspector/bridge/client/target"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/testdata/logtest"
	"elicitation-inspector/bridge/wire"
)

// tellsOfTasks serves a message of the client's, of 2026-07-28, as a server does whose only
// tool becomes a task at once, and whose tasks have ended when they are asked about. reply
// writes a message.
func tellsOfTasks(r request, interval int, reply func(format string, args ...any)) {
	task := rawjson.Text(rawjson.Member(r.Params, "taskId"))
	switch r.Method {
	case "server/discover":
		reply(`{"jsonrpc":"2.0","id":%s,"result":{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{},"extensions":{"io.modelcontextprotocol/tasks":{}}},"resultType":"complete","ttlMs":0,"cacheScope":"private"}}`, r.ID)
	case "tools/list":
		reply(`{"jsonrpc":"2.0","id":%s,"result":{"resultType":"complete","ttlMs":0,"cacheScope":"private","tools":[{"name":"work","inputSchema":{"type":"object"}}]}}`, r.ID)
	case "tools/call":
		reply(`{"jsonrpc":"2.0","id":%s,"result":{"resultType":"task","taskId":"task-%[1]s","status":"working",%s,"ttlMs":null,"pollIntervalMs":%d}}`, r.ID, taskTimes, interval)
	case "tasks/get":
		reply(`{"jsonrpc":"2.0","id":%s,"result":{"resultType":"complete","taskId":%q,%s}}`, r.ID, task, endedTask)
	case "tasks/cancel":
		reply(`{"jsonrpc":"2.0","id":%s,"result":{"resultType":"complete"}}`, r.ID)
	}
}

const (
	workingTask  = `"status":"working",` + taskTimes + `,"ttlMs":null,"pollIntervalMs":60000`
	endedTask    = `"status":"completed",` + taskTimes + `,"ttlMs":null,"pollIntervalMs":60000,"result":{"content":[{"type":"text","text":"done"}]}`
	subscription = `"_meta":{"io.modelcontextprotocol/subscriptionId":%s}`
)

// acknowledge accepts a subscription, and sends a notification with a state about each of its tasks.
func acknowledge(r request, state string, write func(format string, args ...any)) {
	write(`{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{`+subscription+`,"notifications":{"taskIds":%s}}}`, r.ID, rawjson.Member(r.Params, "notifications", "taskIds"))
	tellEach(r, state, write)
}

// tellEach sends a notification with a state about each task of a subscription.
func tellEach(r request, state string, write func(format string, args ...any)) {
	for _, id := range rawjson.Elements(rawjson.Member(r.Params, "notifications", "taskIds")) {
		write(`{"jsonrpc":"2.0","method":"notifications/tasks","params":{`+subscription+`,"taskId":%s,%s}}`, r.ID, id, state)
	}
}

func init() {
	rawServers["tells-of-tasks"] = func(s *rawServer) {
		for {
			r, ok := s.read()
			switch {
			case !ok:
				return
			case r.Method == mcp.MethodListen:
				acknowledge(r, endedTask, s.write)
			default:
				tellsOfTasks(r, 60_000, s.write)
			}
		}
	}
	rawServers["tells-when-asked"] = func(s *rawServer) {
		var listens request
		for polls := 0; ; {
			r, ok := s.read()
			switch {
			case !ok:
				return
			case r.Method == mcp.MethodListen:
				listens = r
				acknowledge(r, workingTask, s.write)
			case r.Method == mcp.MethodGetTask && polls < 5:
				polls++
				s.write(`{"jsonrpc":"2.0","id":%s,"result":{"resultType":"complete","taskId":%s,%s}}`, r.ID, rawjson.Member(r.Params, "taskId"), workingTask)
				tellEach(listens, workingTask, s.write)
			default:
				tellsOfTasks(r, 60_000, s.write)
			}
		}
	}
}

// A server may send a notification about a task for every tasks/get. The client must not answer
// each of them with another tasks/get at once.
func TestToldWhenAsked(t *testing.T) {
	t.Parallel()
	inside(t, "tells-when-asked", inspection.Config{}, func(b *bench) {
		b.done(b.callAsTask("work"))
		frames, err := logtest.Frames(b.log)
		if err != nil {
			b.Fatal(err)
		}
		var before time.Time
		for _, f := range frames {
			if f.Dir == wire.ClientToServer && f.Method == mcp.MethodGetTask {
				if f.Time.Sub(before) < 50*time.Millisecond {
					b.Errorf("frame %d asks %v after the one before", f.Seq, f.Time.Sub(before))
				}
				before = f.Time
			}
		}
	})
}

// serveListening serves tellsOfTasks over HTTP, and answers subscriptions with listen.
func serveListening(t *testing.T, interval int, listen func(http.ResponseWriter, request)) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		m := request{ctx: r.Context()}
		switch {
		case err != nil || json.Unmarshal(body, &m) != nil:
			w.WriteHeader(http.StatusMethodNotAllowed)
		case m.Method == mcp.MethodListen:
			listen(w, m)
		default:
			w.Header().Set("Content-Type", "application/json")
			tellsOfTasks(m, interval, func(format string, args ...any) { fmt.Fprintf(w, format, args...) })
		}
	}))
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return server.URL
}

func httpSpec(url string) inspection.Config {
	return inspection.Config{Targets: []target.Spec{{Name: "tells", URL: url, Transport: target.TransportHTTP}}}
}

// listens returns the tasks of each subscription that the client has asked for, and the
// reasons for which it took subscriptions back.
func (b *bench) listens() (ids [][]string, takenBack []string) {
	b.Helper()
	frames, err := logtest.Frames(b.log)
	if err != nil {
		b.Fatal(err)
	}
	for _, f := range frames {
		var p struct {
			Notifications struct {
				TaskIDs []string `json:"taskIds"`
			} `json:"notifications"`
			Reason string `json:"reason"`
		}
		if f.Dir != wire.ClientToServer || f.Kind.IsResponse() || json.Unmarshal(f.Message.Params, &p) != nil {
			continue
		}
		switch f.Method {
		case mcp.MethodListen:
			ids = append(ids, p.Notifications.TaskIDs)
		case mcp.NotificationCancelled:
			takenBack = append(takenBack, p.Reason)
		}
	}
	return ids, takenBack
}

// A server that can tell of tasks is asked to, so that nobody waits for the next poll, which
// is a minute off here.
func TestListenToTasks(t *testing.T) {
	t.Parallel()
	for _, way := range []string{"stdio", "http"} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			over := make(chan struct{}, 2) // a subscription has ended
			var b *bench
			if way == "stdio" {
				b = start(t, "tells-of-tasks", conversation.ClientSettings{})
			} else {
				b = startInspection(t, httpSpec(serveListening(t, 60_000, func(w http.ResponseWriter, r request) {
					acknowledge(r, endedTask, func(format string, args ...any) { event(w, fmt.Sprintf(format, args...)) })
					<-r.ctx.Done()
					over <- struct{}{}
				})))
			}
			var want [][]string
			for range 2 {
				number := b.callAsTask("work")
				c, text := b.done(number)
				if c.State != conversation.Done || text != "done" || c.Task.Told == 0 || c.Task.Polls != 1 {
					t.Errorf("call %d is %s: %q, %+v", number, c.State, text, c.Task)
				}
				want = append(want, []string{c.Task.ID})
			}
			if got, _ := b.listens(); fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("the client listened to %v, want %v", got, want)
			}
			if way == "http" { // closing the stream takes it back
				<-over
				<-over
				return
			}
			b.until("the end of both", func() bool { _, takenBack := b.listens(); return len(takenBack) == 2 })
			if _, takenBack := b.listens(); takenBack[0] != "the client listens to other tasks now, or to none" {
				t.Errorf("the subscription was taken back: %q", takenBack[0])
			}
		})
	}
}

// A subscription has sixteen tasks at most.
func TestListenToManyTasks(t *testing.T) {
	t.Parallel()
	asked := make(chan request, 100)
	b := startInspection(t, httpSpec(serveListening(t, 60_000, func(w http.ResponseWriter, r request) {
		w.Header().Set("Content-Type", "text/event-stream")
		w.(http.Flusher).Flush()
		asked <- r
		<-r.ctx.Done()
	})))
	var calls []int
	for range 20 {
		calls = append(calls, b.callAsTask("work"))
	}
	most := 0
	for most < 16 {
		ids := rawjson.Member((<-asked).Params, "notifications", "taskIds")
		n := 0
		for range rawjson.Elements(ids) {
			n++
		}
		if n <= most || n > 16 {
			t.Fatalf("%d tasks after %d: %s", n, most, ids)
		}
		most = n
	}
	for _, number := range calls {
		if err := b.in.Stop(number); err != nil {
			t.Fatal(err)
		}
	}
}

// A server that refuses a subscription to tasks, or ends it, costs no more than that: its
// tasks are polled, and it is not asked again unless it has told of one.
func TestListeningRefused(t *testing.T) {
	t.Parallel()
	for name, listen := range map[string]func(http.ResponseWriter, request){
		"error": func(w http.ResponseWriter, r request) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"Method not found"}}`, r.ID)
		},
		"not found":  func(w http.ResponseWriter, _ request) { w.WriteHeader(http.StatusNotFound) },
		"broken":     func(w http.ResponseWriter, _ request) { w.WriteHeader(http.StatusInternalServerError) },
		"text":       func(w http.ResponseWriter, _ request) { fmt.Fprint(w, "hello") },
		"no content": func(w http.ResponseWriter, _ request) { w.WriteHeader(http.StatusAccepted) },
		"empty": func(w http.ResponseWriter, _ request) {
			w.Header().Set("Content-Type", "text/event-stream")
		},
		"dropped": func(w http.ResponseWriter, r request) {
			event(w, `{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":`+string(r.ID)+`},"notifications":{}}}`)
			panic(http.ErrAbortHandler)
		},
		"over": func(w http.ResponseWriter, r request) {
			event(w, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"resultType":"complete","_meta":{"io.modelcontextprotocol/subscriptionId":%[1]s}}}`, r.ID))
		},
		"over once it has told": func(w http.ResponseWriter, r request) {
			acknowledge(r, endedTask, func(format string, args ...any) { event(w, fmt.Sprintf(format, args...)) })
			event(w, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"resultType":"complete","_meta":{"io.modelcontextprotocol/subscriptionId":%[1]s}}}`, r.ID))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wanted, interval := 1, 1000
			if name == "over once it has told" {
				wanted, interval = 3, 60_000
			}
			b := startInspection(t, httpSpec(serveListening(t, interval, listen)))
			for range 3 {
				c, text := b.done(b.callAsTask("work"))
				if c.State != conversation.Done || text != "done" {
					t.Errorf("the call is %s: %q", c.State, text)
				}
			}
			if got, _ := b.listens(); len(got) != wanted {
				t.Errorf("the client listened to %v", got)
			}
			if state := b.server().State; state != conversation.ServerReady {
				t.Errorf("the server is %s", state)
			}
			if strings.Contains(b.transcript(), "notifications/cancelled") {
				t.Errorf("a subscription that is over was taken back:\n%s", b.transcript())
			}
		})
	}
}
