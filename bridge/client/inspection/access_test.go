package inspection_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"elicitation-inspector/bridge/client/inspection"
	"elicitation-inspector/bridge/client/target"
)

// If a server requires a token, the reason of the failed connection tells how to provide
// one.
func TestTokenWanted(t *testing.T) {
	const how = `--header 'Authorization: Bearer TOKEN', or in "headers" in mcp.json`
	for _, c := range []struct {
		name, token, body, challenge string
		transport                    target.Transport
		status                       int
		elsewhere                    bool // the server redirects to another one
		want                         []string
	}{
		{name: "401", status: 401, body: "no token", challenge: `Bearer resource_metadata="https://example.com/.well-known/x"`,
			want: []string{"HTTP 401 Unauthorized: no token; signing in failed at the ", ". Give a token with " + how, `WWW-Authenticate: Bearer resource_metadata="https://example.com/.well-known/x"`}},
		{name: "401 with JSON-RPC", status: 401, body: `{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"Log in first"}}`, want: []string{"401", "Log in first", "Give a token with " + how}},
		{name: "401 that answers the request", status: 401, body: `{"jsonrpc":"2.0","id":ID,"error":{"code":-32001,"message":"Log in first"}}`, challenge: "Bearer", want: []string{"401", "Log in first", "Give a token with " + how, "WWW-Authenticate: Bearer"}},
		{name: "401 with a token", status: 401, token: "Bearer old", want: []string{"that was sent is not accepted", how}},
		{name: "401 of another origin", status: 401, token: "Bearer old", elsewhere: true, want: []string{"The request was redirected to 127.0.0.1:", "is not told the headers that are set for the server"}},
		{name: "403", status: 403, want: []string{"HTTP 403 Forbidden", "If it is a token that is missing, give it with " + how}},
		{name: "403 with a token", status: 403, token: "Bearer low", want: []string{"does not give access", how}},
		{name: "401 over SSE", status: 401, transport: target.TransportSSE, challenge: "Bearer", want: []string{"over SSE: HTTP 401 Unauthorized", how, "WWW-Authenticate: Bearer"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if c.challenge != "" {
					w.Header().Set("WWW-Authenticate", c.challenge)
				}
				if strings.HasPrefix(c.body, "{") {
					w.Header().Set("Content-Type", "application/json")
				}
				w.WriteHeader(c.status)
				var m struct{ ID json.RawMessage }
				_ = json.NewDecoder(r.Body).Decode(&m)
				_, _ = w.Write([]byte(strings.ReplaceAll(c.body, "ID", string(m.ID))))
			}))
			t.Cleanup(server.Close)
			address := server.URL
			if c.elsewhere {
				redirects := httptest.NewServer(http.RedirectHandler(server.URL, http.StatusTemporaryRedirect))
				t.Cleanup(redirects.Close)
				address = redirects.URL
			}
			spec := target.Spec{Name: "closed", URL: address, Transport: c.transport, Header: http.Header{}}
			if c.token != "" {
				spec.Header.Set("Authorization", c.token)
			}
			b := startFailing(t, inspection.Config{Targets: []target.Spec{spec}})
			for _, want := range c.want {
				if reason := b.server().Reason; !strings.Contains(reason, want) || c.elsewhere && strings.Contains(reason, "that was sent") {
					t.Errorf("the reason is %q, want %q in it", reason, want)
				}
			}
		})
	}
}

// A server with an invalid entry in mcp.json fails, and the others run.
func TestMisconfiguredServer(t *testing.T) {
	b := startFailing(t, inspection.Config{Targets: []target.Spec{
		{Name: "revision", Command: []string{"never-started"}, From: "mcp.json:3", Protocol: "2024-11-05"},
	}})
	const want = `mcp.json:3: server "revision": unknown protocol revision "2024-11-05": want auto, 2026-07-28, 2025-11-25, 2025-06-18`
	if got := b.server().Reason; got != want {
		t.Errorf("the reason is %q, want %q", got, want)
	}
	if b.log.Len() > 0 {
		t.Errorf("it was connected to:\n%s", b.transcript())
	}
}
