package servers

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
)

// Scripted is a server over Streamable HTTP, inside the test, that answers each
// tools/call with exact bytes. It speaks only one revision.
type Scripted struct {
	URL string
	// List, if set before the first request, returns the member of the response to the
	// nth tools/list, counted from 1.
	List func(n int) string
	// Read, if set before the first request, returns the member of the response to
	// resources/read.
	Read func(c Call) string

	revision string
	tools    map[string]Script

	mu    sync.Mutex
	calls map[string][]Call
	lists int
}

// Script returns the member of the response to the nth call of a tool, counted from 1:
// `"result":{…}` or `"error":{…}`. A repeated request counts as another call.
type Script func(n int, call Call) string

// Call is one received tools/call.
type Call struct {
	ID     string          // exact bytes
	Params json.RawMessage // exact bytes
}

// Member returns the exact bytes of a member of the params, "" if it is missing.
func (c Call) Member(name string) string {
	var all map[string]json.RawMessage
	_ = json.Unmarshal(c.Params, &all)
	return string(all[name])
}

// NewScripted starts the server, and stops it at the end of the test.
func NewScripted(t testing.TB, revision string, tools map[string]Script) *Scripted {
	t.Helper()
	s := &Scripted{revision: revision, tools: tools, calls: map[string][]Call{}}
	web := httptest.NewServer(s)
	t.Cleanup(web.Close)
	s.URL = web.URL + "/mcp"
	return s
}

// Calls returns the calls of a tool so far.
func (s *Scripted) Calls(tool string) []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.calls[tool])
}

// Done returns the member for a complete result with a text.
func Done(text string) string {
	quoted, _ := json.Marshal(text)
	return fmt.Sprintf(`"result":{"resultType":"complete","content":[{"type":"text","text":%s}]}`, quoted)
}

// ServeHTTP takes one message and answers with JSON.
func (s *Scripted) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		http.Error(w, "only POST", http.StatusMethodNotAllowed)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	var m struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
		Params json.RawMessage `json:"params"`
	}
	if err := json.Unmarshal(body, &m); err != nil || m.ID == nil {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,%s}`, m.ID, s.answer(m.Method, Call{string(m.ID), m.Params}))
}

func (s *Scripted) answer(method string, c Call) string {
	modern := s.revision >= "2026-07-28"
	switch {
	case method == "server/discover" && modern:
		return fmt.Sprintf(`"result":{"resultType":"complete","supportedVersions":[%q],"capabilities":{"tools":{}},"serverInfo":{"name":"scripted","version":"1"}}`, s.revision)
	case method == "initialize" && !modern:
		return fmt.Sprintf(`"result":{"protocolVersion":%q,"capabilities":{"tools":{}},"serverInfo":{"name":"scripted","version":"1"}}`, s.revision)
	case method == "tools/list" && s.List != nil:
		s.mu.Lock()
		s.lists++
		n := s.lists
		s.mu.Unlock()
		return s.List(n)
	case method == "tools/list":
		var names, list []string
		for name := range s.tools {
			names = append(names, name)
		}
		slices.Sort(names)
		for _, name := range names {
			list = append(list, fmt.Sprintf(`{"name":%q,"inputSchema":{"type":"object"}}`, name))
		}
		return fmt.Sprintf(`"result":{"resultType":"complete","ttlMs":0,"cacheScope":"private","tools":[%s]}`, strings.Join(list, ","))
	case method == "resources/read" && s.Read != nil:
		return s.Read(c)
	case method == "ping":
		return `"result":{}`
	case method == "tools/call":
		var tool string
		_ = json.Unmarshal([]byte(c.Member("name")), &tool)
		script, ok := s.tools[tool]
		if !ok {
			break
		}
		s.mu.Lock()
		s.calls[tool] = append(s.calls[tool], c)
		n := len(s.calls[tool])
		s.mu.Unlock()
		return script(n, c)
	}
	return `"error":{"code":-32601,"message":"Method not found"}`
}
