package playback

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"elicitation-inspector/bridge/testdata/logtest"
	"elicitation-inspector/bridge/wire"
)

const export = `[
  {"id":"a","timestamp":"2026-07-28T10:00:00.000Z","direction":"request","origin":"client",
   "message":{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"ask"}},
   "response":{"jsonrpc":"2.0","id":3,"result":{"content":[]}},"duration":2000},
  {"id":"b","timestamp":"2026-07-28T10:00:00.500Z","direction":"request","origin":"server",
   "message":{"jsonrpc":"2.0","id":0,"method":"elicitation/create","params":{"message":"Who?","requestedSchema":{"type":"object","properties":{}}}},
   "response":{"jsonrpc":"2.0","id":0,"result":{"action":"decline"}},"duration":1000},
  {"id":"c","timestamp":"2026-07-28T10:00:00.250Z","direction":"notification",
   "message":{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}},
  {"id":"d","timestamp":"2026-07-28T10:00:03.000Z","direction":"request"},
  17
]`

func TestOpen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "inspector-protocol-my%20server-2026-07-28T10-00-05.000Z.json")
	if err := os.WriteFile(path, []byte(export), 0o600); err != nil {
		t.Fatal(err)
	}
	opened, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	folder := opened.folder
	ctx, cancel := context.WithTimeout(context.Background(), 90*time.Second)
	defer cancel()
	if err := opened.Wait(ctx); err != nil {
		t.Fatal(err)
	}
	frames, err := logtest.Frames(opened.Log)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"c2s request tools/call 0", "s2c notification notifications/message 0", "s2c request elicitation/create 0",
		"c2s result elicitation/create 3", "s2c result tools/call 1",
	}
	if len(frames) != len(want) {
		t.Fatalf("%d frames, want %d", len(frames), len(want))
	}
	for i, f := range frames {
		pair := int64(0)
		if f.Kind.IsResponse() {
			pair = f.Pair
		}
		if got := strings.Join([]string{f.Dir.String(), f.Kind.String(), f.Method, string('0' + rune(pair))}, " "); got != want[i] {
			t.Errorf("frame %d is %q, want %q", i+1, got, want[i])
		}
		if f.Server != "my server" {
			t.Errorf("frame %d is of %q", i+1, f.Server)
		}
	}
	if d := frames[4].Latency; d != 2*time.Second {
		t.Errorf("the call took %s", d)
	}
	if len(opened.Problems) != 2 || !strings.Contains(opened.Problems[0], "entry 4: it has no message") || !strings.Contains(opened.Problems[1], "entry 5") {
		t.Errorf("problems %q", opened.Problems)
	}
	if err := opened.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(folder); !os.IsNotExist(err) {
		t.Errorf("the transcript that was made of it is still there: %v", err)
	}
}

func TestReadRefuses(t *testing.T) {
	for name, text := range map[string]string{
		"no array":       `{"a":1}`,
		"cut off":        `[{"message":`,
		"network export": `[{"id":"a","timestamp":"2026-07-28T10:00:00Z","method":"POST","url":"http://x/"}]`,
	} {
		if _, _, err := Read(strings.NewReader(text), "x.json"); err == nil {
			t.Errorf("%s: it is read", name)
		}
	}
}

func TestDirectionOfOlderExports(t *testing.T) {
	for method, want := range map[string]wire.Direction{
		"tools/call": wire.ClientToServer, "elicitation/create": wire.ServerToClient, "roots/list": wire.ServerToClient,
	} {
		m := wire.Message{Kind: wire.Request, Method: method}
		if got := (&entry{}).from(m); got != want {
			t.Errorf("%s goes %s, want %s", method, got, want)
		}
	}
}
