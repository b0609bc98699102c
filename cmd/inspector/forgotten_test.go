package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
)

// forgetful is an MCP server that ends its first session when a request of a method comes, as one
// does that was started anew. It answers HTTP 404 to the id from then on.
type forgetful struct {
	on string

	mu       sync.Mutex
	sessions int
	gone     bool
	came     []string // the methods of the requests, each with its session
}

func (s *forgetful) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var m struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
	}
	if r.Method != http.MethodPost || json.NewDecoder(r.Body).Decode(&m) != nil {
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	session := r.Header.Get("Mcp-Session-Id")
	s.came = append(s.came, strings.TrimSpace(m.Method+" "+session))
	if session == "1" && (s.gone || m.Method == s.on) {
		s.gone = true
		http.Error(w, "no such session", http.StatusNotFound)
		return
	}
	result := ""
	switch m.Method {
	case "initialize":
		s.sessions++
		w.Header().Set("Mcp-Session-Id", fmt.Sprint(s.sessions))
		result = `{"protocolVersion":"2025-11-25","capabilities":{"logging":{},"tools":{},"tasks":{"requests":{"tools":{"call":{}}}}},"serverInfo":{"name":"forgetful","version":"1"}}`
	case "tools/list":
		result = `{"tools":[{"name":"t","inputSchema":{"type":"object"}}]}`
	case "tools/call":
		result = `{"content":[{"type":"text","text":"done"}]}`
	case "logging/setLevel":
		result = `{}`
	default:
		w.WriteHeader(http.StatusAccepted)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)
}

// Where the server has ended the session before a call's request was sent, the call is made in a
// new one. A request that was sent is not sent again.
func TestCallInForgottenSession(t *testing.T) {
	t.Parallel()
	for on, want := range map[string]struct {
		code int
		err  string
		call string // the only tools/call that comes
	}{
		"logging/setLevel": {exitOK, "a new one is begun", "tools/call 2"}, // the server counts as ready for a moment
		"tools/list":       {exitOK, "a new one is begun", "tools/call 2"},
		"tools/call":       {exitConnect, "it answers HTTP 404 to the session's id", "tools/call 1"},
	} {
		t.Run(on, func(t *testing.T) {
			t.Parallel()
			s := &forgetful{on: on}
			web := httptest.NewServer(s)
			t.Cleanup(web.Close)
			got := inspectorRun(t, "call", "t", "--protocol", "2025-11-25", web.URL)
			s.mu.Lock()
			defer s.mu.Unlock()
			calls := slices.DeleteFunc(slices.Clone(s.came), func(one string) bool { return !strings.HasPrefix(one, "tools/call") })
			if got.code != want.code || !strings.Contains(got.err, want.err) || !slices.Equal(calls, []string{want.call}) {
				t.Errorf("exit code %d, want %d; %q came\n%s\n%s", got.code, want.code, s.came, got.out, got.err)
			}
		})
	}
}
