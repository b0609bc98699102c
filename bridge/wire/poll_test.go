package wire_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"elicitation-inspector/bridge/wire"
	"elicitation-inspector/bridge/wire/redact"
)

// The polls of a task repeat, in either direction and in an opened transcript too, and their
// responses unless they say something new.
func TestRepeatedPolls(t *testing.T) {
	l, err := wire.NewLog(wire.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	id := 0
	poll := func(by wire.Direction, task, told string) {
		id++
		back := wire.ServerToClient
		if by == back {
			back = wire.ClientToServer
		}
		l.Append(wire.Frame{Server: "a", Session: "a", Dir: by, Raw: fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":"tasks/get","params":{"taskId":%q}}`, id, task)})
		l.Append(wire.Frame{Server: "a", Session: "a", Dir: back, Raw: fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"result":{"taskId":%q,"lastUpdatedAt":"%d",%s}}`, id, task, id, told)})
	}
	for _, by := range []wire.Direction{wire.ClientToServer, wire.ServerToClient} {
		poll(by, "x", `"status":"working"`)
		poll(by, "x", `"status":"working"`)
		poll(by, "y", `"status":"working"`)
		poll(by, "x", `"status":"working","statusMessage":"soon"`)
		poll(by, "x", `"status":"completed","result":{}`)
	}
	file := filepath.Join(t.TempDir(), "flow.jsonl")
	out, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := wire.WriteFrames(out, l, nil, redact.Nothing()); err != nil {
		t.Fatal(err)
	}
	opened, err := wire.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	if err := opened.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	for name, log := range map[string]*wire.Log{"live": l, "opened": opened} {
		if !log.HasRepeats() || log.Len() != 20 {
			t.Errorf("%s: %d frames, repeats %t", name, log.Len(), log.HasRepeats())
		}
		for seq := int64(1); seq <= log.Len(); seq++ {
			place := (seq - 1) % 10
			repeat, polls := place == 2 || place == 3 || place == 6 || place == 8, 0
			if place == 0 {
				polls = 4
			}
			if f := log.Head(seq); f.Repeat != repeat || log.Polls(seq) != polls {
				t.Errorf("%s: frame %d repeats: %t, counts %d", name, seq, f.Repeat, log.Polls(seq))
			}
		}
	}
}
