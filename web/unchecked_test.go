package web

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"elicitation-inspector/bridge/client/target"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/views"
)

// asking is an MCP server over HTTP. Its tool "ask" asks with the given params and
// returns the given result.
type asking struct {
	params  string // of elicitation/create
	result  string // of the call; "" for the answer as text
	answers chan string
}

func (a asking) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	body, _ := io.ReadAll(r.Body)
	var m struct {
		ID     json.RawMessage
		Method string
		Result json.RawMessage
	}
	_ = json.Unmarshal(body, &m)
	result := map[string]string{
		"initialize": `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"asking","version":"1"}}`,
		"tools/list": `{"tools":[{"name":"ask","inputSchema":{"type":"object"}}]}`,
	}[m.Method]
	switch {
	case result != "":
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)
	case m.Method == "tools/call":
		w.Header().Set("Content-Type", "text/event-stream")
		if a.params != "" {
			_, _ = fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"elicitation/create\",\"params\":%s}\n\n", a.params)
			_ = http.NewResponseController(w).Flush()
			select {
			case answer := <-a.answers:
				text, _ := json.Marshal(answer)
				a.result = fmt.Sprintf(`{"content":[{"type":"text","text":%s}]}`, text)
			case <-r.Context().Done():
				return
			}
		}
		_, _ = fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":%s}\n\n", m.ID, a.result)
	case m.Method == "" && m.Result != nil:
		a.answers <- string(m.Result)
		w.WriteHeader(http.StatusAccepted)
	case bytes.HasPrefix(body, []byte("{")) && m.ID == nil:
		w.WriteHeader(http.StatusAccepted)
	default:
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"Method not found"}}`, m.ID)
	}
}

func (a asking) inspect(t *testing.T) onDemo {
	t.Helper()
	a.answers = make(chan string, 1)
	server := httptest.NewServer(a)
	t.Cleanup(server.Close)
	return inspect(t, conversation.ClientSettings{}, target.Spec{Name: "asking", URL: server.URL, Transport: target.TransportHTTP}, "ask")
}

// TestUncheckedIsSaid checks that an answer whose check gave up is sent only after the
// person was told and sends it anyway.
func TestUncheckedIsSaid(t *testing.T) {
	var slow []string
	typed := url.Values{"action": {"accept"}, "tab": {"form"}}
	for i := range 40 {
		slow = append(slow, fmt.Sprintf(`"p%d":{"type":"string","pattern":"^(a+)+$"}`, i))
		typed.Set(fmt.Sprintf("f%d", i), strings.Repeat("a", 40)+"b")
	}
	words := `"p0":{"type":"string","pattern":"^(` + strings.Repeat("word|", 30_000) + `)$"}`
	for name, c := range map[string]struct {
		properties, says string
		form             url.Values
	}{
		"slow patterns": {strings.Join(slow, ","), "could not be told within 100ms", typed},
		"many words":    {words, "is too large: it is longer than 65536 bytes", url.Values{"action": {"accept"}, "tab": {"form"}, "f0": {"word"}}},
	} {
		t.Run(name, func(t *testing.T) {
			d := asking{params: fmt.Sprintf(`{"message":"?","requestedSchema":{"type":"object","properties":{%s}}}`, c.properties)}.inspect(t)
			d.call("ask", 1)
			status, drawn := d.post("/questions/1/answer", c.form)
			if status != wrong || !strings.Contains(drawn, "This could not be checked: ") || !strings.Contains(drawn, c.says) || !strings.Contains(drawn, "Send anyway") {
				t.Errorf("accepting: %d %s", status, drawn)
			}
			// A redrawn card repeats the message without repeating the check.
			var again views.Question
			if q, err := d.in.Question(1); err != nil || q.State != conversation.Pending {
				t.Fatalf("the question is %s, %v", q.State, err)
			} else {
				again = d.s.questions.view(q, nil, nil)
			}
			if !again.Form.Checked || len(again.Form.Problems) != 1 || !strings.Contains(again.Form.Problems[0], c.says) {
				t.Errorf("drawn again it says %q", again.Form.Problems)
			}
			c.form.Set("force", "1")
			d.done("/questions/1/answer", c.form)
			d.question(1, conversation.Answered)
		})
	}
}
