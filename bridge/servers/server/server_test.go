package server

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/wire"
)

// deaf is a peer that knows no method.
type deaf struct{}

func (deaf) List(*Request) string { return `"tools":[]` }

func (deaf) Serve(r *Request) func() {
	r.Fail(mcp.CodeMethodNotFound, "Method not found", "")
	return nil
}

func (deaf) Receive(wire.Frame, *Pending) {}

func (deaf) Close() {}

// What comes over HTTP is refused, or answered with the status that its revision wants.
func TestStatuses(t *testing.T) {
	s := New(Options{
		Name: "test", Info: `{"name":"test","version":"1"}`, Revisions: mcp.Revisions,
		Begin:  func(*Session) Peer { return deaf{} },
		Append: func(f wire.Frame) wire.Frame { f.Identify(); return f },
	})
	web := httptest.NewServer(s)
	defer web.Close()
	defer s.Close()
	send := func(method, body string, header ...string) (int, http.Header) {
		t.Helper()
		r, err := http.NewRequest(method, web.URL, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; i < len(header); i += 2 {
			if r.Header.Set(header[i], header[i+1]); header[i] == "Host" {
				r.Host = header[i+1]
			}
		}
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		return res.StatusCode, res.Header
	}
	modern := func(method, revision string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{"_meta":{"io.modelcontextprotocol/protocolVersion":%q,"io.modelcontextprotocol/clientCapabilities":{}}}}`, method, revision)
	}
	_, begun := send("POST", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`)
	session := begun.Get("Mcp-Session-Id")
	list := `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`
	for _, c := range []struct {
		what, method, body string
		header             []string
		want               int
	}{
		{"a page of another origin", "POST", list, []string{"Origin", "https://attacker.example"}, 403},
		{"a name that was rebound", "POST", list, []string{"Host", "attacker.example"}, 403},
		{"an unknown session", "POST", list, []string{"Mcp-Session-Id", "unknown"}, 404},
		{"no session", "POST", list, nil, 400},
		{"no stream without a session", "GET", "", nil, 400},
		{"another method", "PUT", "", nil, 405},
		{"no message", "POST", "nothing", []string{"Mcp-Session-Id", session}, 400},
		{"a notification", "POST", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, []string{"Mcp-Session-Id", session}, 202},
		{"an unknown revision of the session", "POST", list, []string{"Mcp-Session-Id", session, "Mcp-Protocol-Version", "1999-01-01"}, 400},
		{"a request", "POST", list, []string{"Mcp-Session-Id", session}, 200},
		{"a list without a session", "POST", modern("tools/list", mcp.Revision20260728), []string{"Mcp-Protocol-Version", mcp.Revision20260728}, 200},
		{"an unknown method", "POST", modern("tea/make", mcp.Revision20260728), []string{"Mcp-Protocol-Version", mcp.Revision20260728}, 404},
		{"an unknown revision", "POST", modern("tools/list", "2030-01-01"), []string{"Mcp-Protocol-Version", "2030-01-01"}, 400},
		{"the end of the session", "DELETE", "", []string{"Mcp-Session-Id", session}, 204},
		{"what comes after it", "POST", list, []string{"Mcp-Session-Id", session}, 404},
	} {
		if got, _ := send(c.method, c.body, c.header...); got != c.want {
			t.Errorf("%s: status %d, want %d", c.what, got, c.want)
		}
	}
}
