package inspection_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/base/rawjson"
)

// taskStreams serves a taskServer of 2025-11-25 over Streamable HTTP. Each response comes on
// an event stream, and the questions of tasks on the stream that asksOn says.
type taskStreams struct {
	asksOn string // "tools/call" or "tasks/result" for the stream of that request, "" for the GET stream

	messages *io.PipeWriter // what the client sends
	get      chan string    // messages on the GET stream
	mu       sync.Mutex
	posts    map[string]chan string // streams of the requests without a response, by id
	results  map[string]string      // ids of tasks/result, by task
}

// serveTasks starts the server, and returns its address.
func serveTasks(t *testing.T, asksOn string) string {
	t.Helper()
	messages, in := io.Pipe()
	s := &taskStreams{asksOn: asksOn, messages: in, get: make(chan string, 1000), posts: map[string]chan string{}, results: map[string]string{}}
	server := httptest.NewServer(s)
	tasks := newTaskServer(newRawServer(messages, s), mcp.Revision20251125)
	tasks.early = asksOn == mcp.MethodCallTool
	var running sync.WaitGroup
	running.Go(tasks.run)
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
		_ = in.Close() // which is what ends run
		running.Wait()
	})
	return server.URL
}

func (s *taskStreams) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	stream, body := s.get, []byte(nil)
	switch r.Method {
	case http.MethodPost:
		var err error
		if body, err = io.ReadAll(r.Body); err != nil {
			return // the client is gone
		}
		stream = nil
		id := string(rawjson.Member(body, "id"))
		method := rawjson.Text(rawjson.Member(body, "method"))
		if id != "" && method != "" {
			stream = make(chan string, 1000)
			s.mu.Lock()
			s.posts[id] = stream
			if method == mcp.MethodTaskResult {
				s.results[rawjson.Text(rawjson.Member(body, "params", "taskId"))] = id
			}
			s.mu.Unlock()
		}
	case http.MethodGet:
	default:
		return
	}
	if stream == nil {
		w.WriteHeader(http.StatusAccepted)
	} else {
		w.Header().Set("Mcp-Session-Id", "tasks")
		w.Header().Set("Content-Type", "text/event-stream")
		w.(http.Flusher).Flush()
	}
	if body != nil {
		if _, err := s.messages.Write(append(body, '\n')); err != nil {
			return // the test is over
		}
	}
	for stream != nil {
		select {
		case message, more := <-stream:
			if !more {
				return
			}
			event(w, message)
		case <-r.Context().Done():
			return
		}
	}
}

// Write takes a message of the server's to its stream.
func (s *taskStreams) Write(line []byte) (int, error) {
	message := strings.TrimSuffix(string(line), "\n")
	var m request
	if err := json.Unmarshal(line, &m); err != nil {
		return 0, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	id := string(m.ID)
	if m.Method == "" {
		s.posts[id] <- message
		close(s.posts[id])
		delete(s.posts, id)
		return len(line), nil
	}
	task := rawjson.Text(rawjson.Member(m.Params, "_meta", "io.modelcontextprotocol/related-task", "taskId"))
	_, call, _ := strings.Cut(task, "#")
	stream := s.get
	switch {
	case task == "" || s.asksOn == "":
	case s.asksOn == mcp.MethodCallTool && s.posts[call] != nil:
		stream = s.posts[call]
	default:
		stream = s.posts[s.results[task]]
	}
	stream <- message
	return len(line), nil
}
