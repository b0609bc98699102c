package torture

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"elicitation-inspector/e2e/internal/inspector"
)

// guardianTakes is a generous time limit for the guardian to end all processes of a
// server after the inspector was killed.
const guardianTakes = 20 * time.Second

// TestKill kills the inspector at random moments while it records a flood. Every frame
// whose arrival the server knows of must be in the file, and no process may survive,
// although the server ignores SIGTERM and has a child that does, too.
func TestKill(t *testing.T) {
	g := begin(t, "kill", 100, 0.4)
	var watched sync.WaitGroup
	acknowledged := 0
	for g.more() {
		dir := t.TempDir()
		p, err := floodedRecorder(t, dir)
		if err != nil {
			g.judge("starting", err)
			continue
		}
		time.Sleep(time.Duration(g.IntN(600_000)) * time.Microsecond) // a random moment, intended
		p.Crash()
		arrived, recorded := checkRecording(dir)
		acknowledged += arrived
		attack := fmt.Sprintf("kill %d", g.begun)
		watched.Go(func() {
			if left := p.Survivors(guardianTakes); len(left) > 0 {
				p.Kill()
				recorded = errors.Join(recorded, fmt.Errorf("these processes survive: %q", left))
			}
			g.judge(attack, recorded)
		})
		if g.IntN(2) == 0 {
			watched.Wait() // otherwise the next inspector starts while servers of this one still end
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	}
	watched.Wait()
	t.Logf("%d messages had arrived", acknowledged)
	if acknowledged == 0 && g.begun > 5 {
		t.Error("no message had arrived at any moment")
	}
}

// floodedRecorder starts an inspector that records into a folder while a server sends
// messages as fast as it can.
func floodedRecorder(t *testing.T, dir string) (*inspector.Process, error) {
	server := `trap "" HUP INT TERM; sleep 3600 & exec "$0" "$@"`
	p := inspector.Start(t, "--record", filepath.Join(dir, "flow.jsonl"), "--",
		"/bin/sh", "-c", server, torrentBinary, "-answered", filepath.Join(dir, "answered"))
	if err := untilOffered(p, "send"); err != nil {
		return p, err
	}
	return p, call(p, "s1", "send", `{"messages":100000000,"rate":0}`)
}

// checkRecording compares the transcript with the messages that the server knows to
// have arrived, and returns their number.
func checkRecording(dir string) (arrived int, err error) {
	file, err := os.Open(filepath.Join(dir, "flow.jsonl"))
	if err != nil {
		return arrived, err
	}
	defer file.Close()
	frames, rest, err := readLines(file)
	if err != nil {
		return arrived, fmt.Errorf("torn: %w", err)
	}
	if len(rest) > 0 && !bytes.HasPrefix(rest, []byte(`{"`)) {
		return arrived, fmt.Errorf("torn: the last line begins with %.100q", rest)
	}
	sent, answers := 0, map[string]bool{}
	for _, f := range frames {
		var n, of int
		message := string(f.Raw)
		if f.Direction == "c2s" {
			answers[message] = true
		} else if _, err := fmt.Sscanf(message, `{"jsonrpc":"2.0","id":%d,"method":"ping"}`, &n); err == nil || scanMessage(message, &n, &of) {
			if sent++; n != sent {
				return arrived, fmt.Errorf("message %d comes after %d", n, sent-1)
			}
		}
	}
	answered, err := os.ReadFile(filepath.Join(dir, "answered"))
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil // the inspector was killed before the server was ready
	}
	if err != nil {
		return 0, err
	}
	for _, id := range strings.Fields(string(answered)) {
		n, err := strconv.Atoi(id)
		if err != nil {
			return arrived, err
		}
		arrived = max(arrived, n)
		if n > sent {
			return arrived, fmt.Errorf("message %d was answered, and the file ends with %d", n, sent)
		}
		if answer := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{}}`, n); !answers[answer] {
			return arrived, fmt.Errorf("the answer %s is not in the file", answer)
		}
	}
	return arrived, nil
}

// scanMessage reads the number of a message from the torrent server.
func scanMessage(message string, n, of *int) bool {
	_, data, ok := strings.Cut(message, `"data":"message `)
	if !ok {
		return false
	}
	_, err := fmt.Sscanf(data, "%d of %d", n, of)
	return err == nil
}
