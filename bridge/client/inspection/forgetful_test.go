package inspection_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/client/inspection"
	"elicitation-inspector/bridge/client/target"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/wire"
)

// forgetful is an MCP server that ends a session at each of its first calls, with HTTP 404, or at
// the list of its tools.
type forgetful struct {
	forgets  int // how many calls it refuses so
	atLists  bool
	mu       sync.Mutex
	sessions int
	calls    []string // the sessions in which calls came
	begun    []string // the session ids with which initialize came
}

func (s *forgetful) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var m request
	if r.Method != http.MethodPost || json.NewDecoder(r.Body).Decode(&m) != nil {
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	session, result := r.Header.Get("Mcp-Session-Id"), ""
	switch m.Method {
	case "initialize":
		s.sessions++
		s.begun = append(s.begun, session)
		w.Header().Set("Mcp-Session-Id", fmt.Sprint(s.sessions))
		result = `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"forgetful","version":"1"}}`
	case "tools/list":
		if s.atLists {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		result = `{"tools":[{"name":"t","inputSchema":{"type":"object"}}]}`
	case "tools/call":
		if s.calls = append(s.calls, session); len(s.calls) <= s.forgets {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		result = `{"content":[]}`
	default:
		w.WriteHeader(http.StatusAccepted)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)
}

func startForgetful(t *testing.T, s *forgetful) *bench {
	web := httptest.NewServer(s)
	t.Cleanup(web.Close)
	return startAny(t, inspection.Config{
		Targets:  []target.Spec{{Name: "forgetful", URL: web.URL, Transport: target.TransportHTTP}},
		Settings: conversation.ClientSettings{Protocol: mcp.Revision20251125},
	})
}

// A server that has ended the session gets a new one, which the page and the log say, and no call
// is made again.
func TestSessionIsBegunAnew(t *testing.T) {
	t.Parallel()
	s := &forgetful{forgets: 1}
	b := startForgetful(t, s)
	first := b.call("t")
	if ended, _ := b.done(first.Number); ended.State != conversation.Failed || !strings.Contains(ended.Failure, "HTTP 404 to the session's id") {
		t.Errorf("the call %s: %s", ended.State, ended.Failure)
	}
	b.until("the new session is ready", func() bool {
		now := b.server()
		return now.State == conversation.ServerReady && strings.HasSuffix(now.Reason, "this one is new, and nothing was sent again")
	})
	second := b.call("t")
	if ended, _ := b.done(second.Number); ended.State != conversation.Done {
		t.Errorf("the next call %s: %s", ended.State, ended.Failure)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Equal(s.calls, []string{"1", "2"}) || !slices.Equal(s.begun, []string{"", ""}) {
		t.Errorf("calls came in the sessions %q, initialize with %q", s.calls, s.begun)
	}
	notes := 0
	for seq := range b.log.Len() {
		if f, err := b.log.Frame(seq + 1); err == nil && f.Note != nil && f.Note.Kind == wire.NoteSessionGone {
			notes++
		}
	}
	if notes != 1 {
		t.Errorf("%d notes say so", notes)
	}
}

// A server that ends every session at once gets one more.
func TestSessionsThatEndAtOnce(t *testing.T) {
	t.Parallel()
	s := &forgetful{atLists: true}
	b := startForgetful(t, s)
	b.until("it is given up", func() bool { return b.server().State == conversation.ServerEnded })
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sessions != 2 {
		t.Errorf("%d sessions were begun", s.sessions)
	}
}
