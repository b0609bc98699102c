package inspection_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/client/inspection"
	"elicitation-inspector/bridge/meaning/conversation"
)

// older serves 2025-06-18, and passes requests before initialize to before: servers of
// older revisions do not know server/discover.
func older(before func(s *rawServer, r request)) func(*rawServer) {
	return func(s *rawServer) {
		for {
			r, ok := s.read()
			if !ok {
				return
			}
			if r.Method != "initialize" {
				before(s, r)
				continue
			}
			s.reply(r, `{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"old","version":"1"}}`)
			s.serve("2025-06-18", []string{"t"}, func(call request) { s.text(call, "done") })
			return
		}
	}
}

func init() {
	rawServers["ignores the probe"] = older(func(_ *rawServer, r request) {
		if r.Method != "server/discover" {
			os.Stderr.WriteString("unexpected: " + r.raw + "\n")
			os.Exit(3)
		}
	})
	rawServers["dies of the probe"] = older(func(*rawServer, request) {
		os.Stderr.WriteString("expect initialize request\n")
		os.Exit(7)
	})
	rawServers["dies late of the probe"] = older(func(s *rawServer, _ request) {
		s.read() // initialize, which the client sends after a time without an answer
		os.Exit(7)
	})
	answered := false
	rawServers["answers the probe late"] = older(func(s *rawServer, r request) {
		if answered {
			os.Exit(3)
		}
		answered = true
		next, ok := s.read()
		if !ok {
			return
		}
		s.fail(r, -32601, "Method not found", "")
		s.reply(next, `{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"old","version":"1"}}`)
		s.serve("2025-06-18", []string{"t"}, func(call request) { s.text(call, "done") })
	})
}

func TestServersThatKnowOnlyInitialize(t *testing.T) {
	for server, how := range map[string]string{
		"ignores the probe":      "initialize, after server/discover had no answer within 200ms",
		"dies of the probe":      "initialize, after server/discover ended the process",
		"dies late of the probe": "initialize, after server/discover ended the process",
		"answers the probe late": "initialize, after server/discover had no answer within 200ms",
	} {
		t.Run(server, func(t *testing.T) {
			probe := 200 * time.Millisecond
			if server == "dies of the probe" {
				probe = patience // it dies before, however slow the machine is
			}
			b := startConfig(t, server, inspection.Config{Probe: probe})
			b.until("ready", func() bool { return b.server().State == conversation.ServerReady })
			if info := b.server().Info; info.Protocol != "2025-06-18" || info.Negotiated != how {
				t.Errorf("%s by %q, want %q", info.Protocol, info.Negotiated, how)
			}
			call := b.call("t")
			if _, text := b.done(call.Number); !strings.Contains(text, "done") {
				t.Errorf("the call brought %s", text)
			}
		})
	}
}

// A pinned revision is used without a probe.
func TestPinnedRevisionIsNotProbed(t *testing.T) {
	b := startConfig(t, "dies of the probe", inspection.Config{})
	if err := b.in.ReconnectWith("s1", conversation.ClientSettings{Protocol: mcp.Revision20260728}); err != nil {
		t.Fatal(err)
	}
	b.until("failed", func() bool { return b.server().State == conversation.ServerFailed })
	if reason := b.server().Reason; reason != "exited with code 7 when it was asked server/discover, before the connection was established" {
		t.Errorf("the reason is %q", reason)
	}
}
