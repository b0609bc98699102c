package inspection_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"elicitation-inspector/bridge/client/inspection"
	"elicitation-inspector/bridge/client/live"
	"elicitation-inspector/bridge/client/target"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/wire"
)

// oldToolsEnv selects the behaviour of a server that offers 2026-07-28 and whose tool
// asks by a request: the SDK refuses to send the request, the server sends it anyway, or
// the server accepts no other revision.
const oldToolsEnv = "BRIDGE_TEST_OLD_TOOLS"

const unsentText = `"elicitation/create" cannot be sent while serving a request on protocol version 2026-07-28: return an InputRequests map instead (multi round-trip requests, SEP-2322)`

func init() {
	rawServers["old-tools"] = func(s *rawServer) {
		modern := false
		for {
			r, ok := s.read()
			if !ok {
				return
			}
			switch r.Method {
			case "server/discover":
				modern = true
				s.reply(r, `{"supportedVersions":["2026-07-28","2025-11-25"],"capabilities":{"tools":{}},"resultType":"complete","ttlMs":0,"cacheScope":"private"}`)
			case "initialize":
				if os.Getenv(oldToolsEnv) == "modern only" {
					s.fail(r, -32022, "Unsupported protocol version", "")
					continue
				}
				s.reply(r, `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"old","version":"1"}}`)
			case "tools/list":
				s.reply(r, `{"tools":[{"name":"ask","inputSchema":{"type":"object"}}],"resultType":"complete","ttlMs":0,"cacheScope":"private"}`)
			case "tools/call":
				if modern && os.Getenv(oldToolsEnv) != "sends" {
					text, _ := json.Marshal("eliciting failed: " + unsentText)
					s.reply(r, `{"content":[{"type":"text","text":%s}],"isError":true,"resultType":"complete"}`, text)
					continue
				}
				s.write(`{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{"message":"Name?","requestedSchema":{"type":"object","properties":{"name":{"type":"string"}}}}}`)
				if modern {
					continue // the tool waits for ever
				}
				answer, ok := s.read()
				if !ok {
					return
				}
				s.text(r, fmt.Sprintf("%s for %s", answer.Result, r.Params))
			}
		}
	}
}

func startOldTools(t *testing.T, how string, config inspection.Config) *bench {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	config.Targets = []target.Spec{{Name: "old", Command: []string{self}, Env: []string{serverEnv + "=old-tools", oldToolsEnv + "=" + how}}}
	return startInspection(t, config)
}

// A tool that asks by a request fails or hangs in 2026-07-28. The call shows this, and
// CallAgain repeats it in the previous revision.
func TestCallAgain(t *testing.T) {
	for _, how := range []string{"refuses", "sends"} {
		t.Run(how, func(t *testing.T) {
			b := startOldTools(t, how, inspection.Config{})
			first, err := b.in.Begin(live.Request{Server: "s1", Kind: conversation.Tool, Name: "ask", Key: "ask", Arguments: json.RawMessage(`{"n":1}`)})
			if err != nil {
				t.Fatal(err)
			}
			b.until("that the request was in vain", func() bool {
				c, err := b.in.Call(first.Number)
				return err == nil && c.Unsent == "elicitation/create" && (how == "sends" || c.State == conversation.ToolFailed)
			})
			if found := b.judged(); how == "refuses" && (len(found) != 1 || found[0].Rule != "request-unsent" || found[0].Call != first.Number || found[0].Pointer != "/result/content/0/text") {
				t.Errorf("found %+v", found)
			}
			opened := inspection.NewReplay(b.log, nil, nil)
			if err := opened.Refresh(t.Context()); err != nil {
				t.Fatal(err)
			}
			if calls := opened.Inspection().Calls(); len(calls) != 1 || calls[0].Unsent != "elicitation/create" {
				t.Errorf("opened again: %+v", calls)
			}
			second, err := b.in.CallAgain(t.Context(), first.Number, "")
			if err != nil {
				t.Fatal(err)
			}
			if s := b.server(); second.Number != first.Number+1 || s.Info.Protocol != "2025-11-25" || s.Settings.Choice != conversation.ChoiceRemembered {
				t.Errorf("call %d of %+v", second.Number, s)
			}
			var q inspection.Question
			b.until("the question", func() bool {
				for _, one := range b.in.Questions() {
					if one.Call == second.Number {
						q = one
					}
				}
				return q.State == conversation.Pending && q.Number != 0
			})
			if err := b.in.Answer(q.Number, live.Answer{Action: "accept", Content: json.RawMessage(`{"name":"Ada"}`), Actor: conversation.ByPerson}); err != nil {
				t.Fatal(err)
			}
			b.until("the result", func() bool { c, err := b.in.Call(second.Number); return err == nil && c.State == conversation.Done })
			if text := b.transcript(); !strings.Contains(text, `Ada`) || !strings.Contains(text, `\"arguments\":{\"n\":1}`) {
				t.Errorf("other arguments were sent:\n%s", text)
			}
			if c, err := b.in.Call(second.Number); err != nil || c.Unsent != "" {
				t.Errorf("%v, %+v", err, c)
			}
			for _, capability := range []string{"sampling", "roots"} {
				again, err := b.in.CallAgain(t.Context(), second.Number, capability)
				if s := b.server(); err != nil || s.Info.Protocol != "2025-11-25" || s.Settings.Undeclared(map[string]string{"sampling": "sampling/createMessage", "roots": "roots/list"}[capability]) {
					t.Errorf("declaring %s: %v, %+v", capability, err, s.Settings)
				}
				if err := b.in.Stop(again.Number); err != nil {
					t.Error(err)
				}
				b.done(again.Number)
			}
		})
	}
}

func TestCallAgainFails(t *testing.T) {
	b := startOldTools(t, "modern only", inspection.Config{})
	first := b.call("ask")
	if c, err := b.in.CallAgain(t.Context(), first.Number, ""); !errors.Is(err, live.ErrReconnect) || !strings.Contains(err.Error(), "Unsupported protocol version") {
		t.Errorf("call %+v, %v", c, err)
	}
	if len(b.in.Calls()) != 1 {
		t.Error("it was called all the same")
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := b.in.CallAgain(gone, first.Number, ""); !errors.Is(err, context.Canceled) {
		t.Errorf("for nobody: %v", err)
	}
}

// A revision that the browser remembers applies if nobody has chosen one, until it is
// forgotten.
func TestRecall(t *testing.T) {
	for name, c := range map[string]struct {
		settings conversation.ClientSettings
		file     string // protocol in mcp.json
		want     string
	}{
		"nobody has chosen":  {want: "2025-11-25"},
		"the command line":   {settings: parse(t, "2025-06-18"), want: "2025-06-18"},
		"auto, in words":     {settings: parse(t, "auto")},
		"the file":           {file: "2026-07-28", want: "2026-07-28"},
		"the file says auto": {file: "auto"},
		"both":               {settings: parse(t, "2025-06-18"), file: "2026-07-28", want: "2025-06-18"},
	} {
		t.Run(name, func(t *testing.T) {
			log, err := wire.NewLog(wire.Options{Dir: t.TempDir()})
			if err != nil {
				t.Fatal(err)
			}
			in := inspection.New(inspection.Config{Log: log, Settings: c.settings, Targets: []target.Spec{{
				Name: "gone", Command: []string{filepath.Join(t.TempDir(), "gone")}, Protocol: c.file,
			}}})
			t.Cleanup(func() {
				if err := in.Close(context.Background()); err != nil {
					t.Error(err)
				}
			})
			before := in.Servers()[0].Settings
			if err := in.Recall("s1", "2025-11-25"); err != nil {
				t.Fatal(err)
			}
			if got := in.Servers()[0].Settings; got.Protocol != c.want {
				t.Errorf("it is %+v", got)
			}
			if err := in.Recall("s1", ""); err != nil {
				t.Fatal(err)
			}
			if got := in.Servers()[0].Settings; got != before {
				t.Errorf("forgotten, it is %+v, was %+v", got, before)
			}
		})
	}
}

func parse(t *testing.T, protocol string) conversation.ClientSettings {
	t.Helper()
	s, err := conversation.ParseClientSettings(protocol, "")
	if err != nil {
		t.Fatal(err)
	}
	return s
}
