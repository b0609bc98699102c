package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"sync"
	"time"
)

// server is one session over standard input and output.
type server struct {
	log   *json.Encoder
	logMu sync.Mutex

	out sync.Mutex // one line at a time

	gate chan struct{} // one receive per order "go"

	mu     sync.Mutex
	lastID int
	open   []*question      // unanswered, oldest first
	calls  map[string]*call // running tool calls by request id
	ask    []tool           // from -questions
	extra  bool             // the tool that comes by list_changed
}

// question is a request of this server that waits for its answer.
type question struct {
	id     int
	answer chan []byte // the whole line
}

// call is a running tools/call.
type call struct {
	id    string          // exact bytes
	args  json.RawMessage // exact bytes
	token json.RawMessage // progress token, exact bytes
	ended chan string     // why the call ended: "cancelled" by the client, "return" by an order
}

func newServer() *server {
	return &server{gate: make(chan struct{}), calls: map[string]*call{}}
}

// record adds one line to the log, with the time at which it was read, or just before
// it is written.
func (s *server) record(at time.Time, dir string, line []byte) {
	if s.log == nil {
		return
	}
	s.logMu.Lock()
	defer s.logMu.Unlock()
	_ = s.log.Encode(struct {
		At   int64  `json:"at"`
		Dir  string `json:"dir"`
		Line []byte `json:"line"`
	}{at.UnixNano(), dir, line})
}

// writeLine writes bytes and a line feed to standard output.
func (s *server) writeLine(line []byte) {
	s.out.Lock()
	defer s.out.Unlock()
	buf := append(bytes.Clone(line), '\n')
	at := time.Now()
	_, err := os.Stdout.Write(buf)
	s.record(at, "out", line)
	if err != nil {
		os.Exit(0)
	}
}

func (s *server) write(format string, args ...any) { s.writeLine(fmt.Appendf(nil, format, args...)) }

func (s *server) reply(id string, result string) {
	if *noise {
		s.write("noise before the answer to %s", id)
	}
	s.write(`{"jsonrpc":"2.0","id":%s,"result":%s}`, id, result)
}

func (s *server) fail(id string, code int, message, data string) {
	if data != "" {
		data = `,"data":` + data
	}
	s.write(`{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%s%s}}`, id, code, quote(message), data)
}

// request sends a request with exact params, and returns the waiting question.
func (s *server) request(method, params string) *question {
	s.mu.Lock()
	s.lastID++
	q := &question{id: s.lastID, answer: make(chan []byte, 1)}
	s.open = append(s.open, q)
	s.mu.Unlock()
	s.write(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, q.id, method, params)
	return q
}

func (s *server) newest() *question {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.open) == 0 {
		return nil
	}
	return s.open[len(s.open)-1]
}

// receive handles one line from the client.
func (s *server) receive(line []byte) {
	var m struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
		Params json.RawMessage `json:"params"`
	}
	if err := json.Unmarshal(line, &m); err != nil {
		fmt.Fprintf(os.Stderr, "not understood: %q\n", line)
		return
	}
	if m.Method == "" {
		s.settle(string(m.ID), line)
		return
	}
	id := string(m.ID)
	switch m.Method {
	case "initialize":
		s.initialize(id, m.Params)
		for n := range *talk {
			s.write(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"line %d"}}`, n)
		}
	case "ping":
		s.reply(id, `{}`)
	case "tools/list":
		s.listTools(id, m.Params)
	case "tools/call":
		go s.callTool(id, m.Params)
	case "prompts/list":
		s.reply(id, prompts)
	case "prompts/get":
		s.getPrompt(id, m.Params)
	case "resources/list":
		s.reply(id, resources)
	case "resources/templates/list":
		s.reply(id, templates)
	case "resources/read":
		s.readResource(id, m.Params)
	case "logging/setLevel":
		s.reply(id, `{}`)
	case "notifications/cancelled":
		var p struct {
			RequestID json.RawMessage `json:"requestId"`
		}
		_ = json.Unmarshal(m.Params, &p)
		s.end(string(p.RequestID), "cancelled")
	default:
		if m.ID != nil {
			s.fail(id, -32601, "method not found: "+m.Method, "")
		}
	}
}

func (s *server) settle(id string, line []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, q := range s.open {
		if fmt.Sprint(q.id) == id {
			s.open = append(s.open[:i:i], s.open[i+1:]...)
			q.answer <- line
			return
		}
	}
}

// end ends the running call with an id, or the newest one for an empty id.
func (s *server) end(id, why string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.calls[id]
	if c == nil {
		return false
	}
	delete(s.calls, id)
	c.ended <- why
	return true
}

func (s *server) initialize(id string, params json.RawMessage) {
	var p struct {
		ProtocolVersion string `json:"protocolVersion"`
	}
	_ = json.Unmarshal(params, &p)
	version := "2025-11-25"
	if p.ProtocolVersion == "2025-06-18" {
		version = p.ProtocolVersion
	}
	s.reply(id, fmt.Sprintf(`{"protocolVersion":%q,"capabilities":{"tools":{"listChanged":true},"prompts":{},"resources":{},"logging":{}},"serverInfo":{"name":%s,"version":"0.9.1"},"instructions":"Be careful with this one."}`, version, quote(*name)))
}

func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}
