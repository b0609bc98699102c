package inspection_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
)

// rawServer is the server's end of stdio without any SDK: it reads messages and writes
// exact lines, so that tests can break every rule.
type rawServer struct {
	in   *bufio.Scanner
	out  io.Writer
	tell bool // copy messages from the client to stderr
}

// request is a message that the client sent.
type request struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
	raw    string
	ctx    context.Context // context of the HTTP request that carried the message
}

func (r request) tool() string {
	var p struct {
		Name string `json:"name"`
	}
	_ = json.Unmarshal(r.Params, &p)
	return p.Name
}

func newRawServer(from io.Reader, to io.Writer) *rawServer {
	in := bufio.NewScanner(from)
	in.Buffer(nil, 1<<24)
	return &rawServer{in: in, out: to}
}

func (s *rawServer) read() (request, bool) {
	if !s.in.Scan() {
		return request{}, false
	}
	r := request{raw: s.in.Text()}
	if s.tell {
		fmt.Fprintln(os.Stderr, r.raw)
	}
	if err := json.Unmarshal(s.in.Bytes(), &r); err != nil {
		fmt.Fprintln(os.Stderr, "unreadable:", err)
	}
	return r, true
}

func (s *rawServer) write(format string, args ...any) {
	_, _ = fmt.Fprintf(s.out, format+"\n", args...) // the client may be gone
}

func (s *rawServer) reply(to request, format string, args ...any) {
	s.write(`{"jsonrpc":"2.0","id":%s,"result":%s}`, to.ID, fmt.Sprintf(format, args...))
}

func (s *rawServer) fail(to request, code int, message, data string) {
	if data != "" {
		data = `,"data":` + data
	}
	s.write(`{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%q%s}}`, to.ID, code, message, data)
}

// text answers a tool call with one block of text.
func (s *rawServer) text(to request, text string) {
	quoted, _ := json.Marshal(text)
	s.reply(to, `{"content":[{"type":"text","text":%s}]}`, quoted)
}

// serve performs the handshake of a revision and passes tools/call requests to handle.
func (s *rawServer) serve(revision string, tools []string, handle func(request)) {
	for {
		r, ok := s.read()
		if !ok {
			return
		}
		switch r.Method {
		case "server/discover":
			if revision < "2026" {
				s.fail(r, -32601, "Method not found", "")
				continue
			}
			s.reply(r, `{"supportedVersions":[%q],"capabilities":{"tools":{}},"resultType":"complete","ttlMs":0,"cacheScope":"private"}`, revision)
		case "initialize":
			s.reply(r, `{"protocolVersion":%q,"capabilities":{"tools":{}},"serverInfo":{"name":"raw","version":"1"}}`, revision)
		case "tools/list":
			var list []string
			for _, name := range tools {
				list = append(list, fmt.Sprintf(`{"name":%q,"inputSchema":{"type":"object"}}`, name))
			}
			s.reply(r, `{"tools":[%s]}`, strings.Join(list, ","))
		case "tools/call":
			handle(r)
		}
	}
}

// rawServers holds the servers that the test binary can run as, by name.
var rawServers = map[string]func(*rawServer){}

const serverEnv = "BRIDGE_TEST_SERVER"

func TestMain(m *testing.M) {
	if name := os.Getenv(serverEnv); name != "" {
		rawServers[name](newRawServer(os.Stdin, os.Stdout))
		os.Exit(0)
	}
	_ = os.Setenv("GORACE", "atexit_sleep_ms=0") // a server built with -race would otherwise take a second to exit
	os.Exit(m.Run())
}
