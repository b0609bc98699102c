package inspection_test

import (
	"fmt"
	"slices"
	"testing"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/client/inspection"
	"elicitation-inspector/bridge/client/live"
	"elicitation-inspector/bridge/meaning/conversation"
)

// asksInTurn returns a server whose tool sends these elicitations one after the other.
func asksInTurn(revision string, params ...string) func(*rawServer) {
	return func(s *rawServer) {
		s.serve(revision, []string{"ask"}, func(call request) {
			for i, p := range params {
				s.write(`{"jsonrpc":"2.0","id":"q%d","method":"elicitation/create","params":%s}`, i, p)
				s.read()
			}
			s.text(call, "done")
		})
	}
}

func who(message, schema string) string {
	return fmt.Sprintf(`{"message":%q,"requestedSchema":{"type":"object","properties":%s}}`, message, schema)
}

func signIn(id, url string) string {
	return fmt.Sprintf(`{"mode":"url","message":"Sign in.","elicitationId":%q,"url":%q}`, id, url)
}

func init() {
	rawServers["asks-alike"] = asksInTurn("2025-11-25",
		signIn("e1", "https://example.com/in?nonce=1"), signIn("e1", "https://example.com/in?nonce=2"),
		who("Who pays?", `{"name":{"type":"string"}}`), who("And who travels?", `{"name":{"type":"string","title":7}}`))
	rawServers["asks-the-same"] = asksInTurn("2025-11-25",
		signIn("e1", "https://example.com/in"), signIn("e1", "https://example.com/out"),
		who("Who pays?", `{"name":{"type":"string"}}`), who("Who pays?", `{"name":{"type":"string"}}`))
	rawServers["fails-with-text"] = func(s *rawServer) {
		s.serve("2025-11-25", []string{"ask"}, func(call request) {
			s.write(`{"jsonrpc":"2.0","id":%s,"error":{"code":"-32042","message":"sign in","data":{"elicitations":[]}}}`, call.ID)
		})
	}
	rawServers["fails-with-32042"] = func(s *rawServer) {
		s.serve("2025-06-18", []string{"ask"}, func(call request) { s.fail(call, -32042, "sign in", "") })
	}
}

// A server may repeat an elicitation, and ask for the same property in another question.
// A finding is only the reuse of an id for another purpose.
func TestWhatIsUsedAgain(t *testing.T) {
	for server, want := range map[string][]string{"asks-alike": {"text-not-string"}, "asks-the-same": {"asked-again", "id-reused"}} {
		b := start(t, server, conversation.ClientSettings{Protocol: mcp.Revision20251125})
		b.call("ask")
		for n, content := range []string{"", "", `{"name":"Ann"}`, `{"name":"Bob"}`} {
			b.question(n + 1)
			answer := live.Answer{Action: "accept"}
			if content != "" {
				answer = accept(content)
			}
			b.answer(n+1, answer)
		}
		b.done(1)
		got := []string{}
		b.until("as many findings as there are to be", func() bool {
			got = got[:0]
			for _, f := range b.in.Findings("s1") {
				got = append(got, f.Rule)
			}
			slices.Sort(got)
			return len(got) >= len(want)
		})
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", server, got, want)
		}
	}
}

// In a revision without error -32042, its data is not checked, and only its code is a
// finding.
func TestErrorOfALaterRevision(t *testing.T) {
	b := start(t, "fails-with-32042", conversation.ClientSettings{Protocol: mcp.Revision20250618})
	b.done(b.call("ask").Number)
	b.until("a finding", func() bool { return len(b.in.Findings("s1")) > 0 })
	if found := b.in.Findings("s1"); len(found) != 1 || found[0].Rule != "error-removed" || found[0].Severity.String() != "advice" || found[0].Section != "" {
		t.Errorf("found %+v", found)
	}
}

// An error code that is a string is a finding, however the client handles the call.
func TestErrorCodeThatIsText(t *testing.T) {
	b := start(t, "fails-with-text", conversation.ClientSettings{Protocol: mcp.Revision20251125})
	b.call("ask")
	b.until("a finding", func() bool {
		return slices.ContainsFunc(b.in.Findings("s1"), func(f inspection.Found) bool {
			return f.Rule == "error-code-type" && f.Pointer == "/error/code"
		})
	})
}
