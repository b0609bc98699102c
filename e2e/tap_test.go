package e2e

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"elicitation-inspector/e2e/internal/inspector"
	"elicitation-inspector/e2e/internal/servers"
)

// socketFolder returns the environment in which taps and the inspector that waits for them
// meet.
func socketFolder(t *testing.T) string {
	t.Helper()
	folder, err := os.MkdirTemp("", "tap") // a short path, as sockets need
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	return "XDG_RUNTIME_DIR=" + folder
}

// A tap between the inspector and real servers changes nothing: what the inspector gets and
// sends is what the tap has seen, and what it prints is what it prints without one. The page
// of taps shows the sessions; its questions cannot be answered there.
func TestTapBetweenRealParties(t *testing.T) {
	t.Parallel()
	meeting := socketFolder(t)
	taps := inspector.StartWith(t, inspector.Options{Env: []string{meeting}}, "--taps", "--no-open", "--listen", "127.0.0.1:0")
	s := &session{t: t, Process: taps, page: browser.Open(t, taps.URL)}
	answers := filepath.Join(t.TempDir(), "answers.yaml")
	if err := os.WriteFile(answers, []byte("default: {accept: valid}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		tool, protocol string
		server         []string
	}{
		"server-everything": {everythingTool, "auto", servers.Everything(t, "stdio")},
		"go-sdk":            {"test_input_required_result_elicitation", "auto", servers.GoSDK(t)},
		"mcp-go":            {"create_project", "2025-11-25", servers.MCPGo(t)},
	} {
		client, tap := filepath.Join(t.TempDir(), "client.jsonl"), filepath.Join(t.TempDir(), "tap.jsonl")
		call := func(server ...string) inspector.Result {
			return inspector.Run(t, inspector.Options{Env: []string{meeting}}, slices.Concat([]string{"call", c.tool, "--no-input", "-q", "--answers", answers, "--protocol", c.protocol}, server)...)
		}
		bare := call(append([]string{"--"}, c.server...)...)
		got := call(append([]string{"--record", client, "--", inspector.Binary, "tap", "--name", name, "--record", tap, "--"}, c.server...)...)
		if bare.Code != 0 || got.Code != bare.Code || got.Stdout != bare.Stdout {
			t.Errorf("%s: exit code %d, without a tap %d; it says\n%s\nand without a tap\n%s%s", name, got.Code, bare.Code, got.Stdout, bare.Stdout, got.Stderr)
		}
		for _, direction := range []string{"c2s", "s2c"} {
			var sides [2][]string
			for i, path := range []string{client, tap} {
				for _, f := range inspector.WireFile(t, path).In(direction) {
					sides[i] = append(sides[i], string(f.Bytes()))
				}
			}
			// A list that the client asks for just before it ends the connection may go unread.
			for len(sides[0]) > len(sides[1]) && strings.Contains(sides[0][len(sides[0])-1], `/list"`) {
				sides[0] = sides[0][:len(sides[0])-1]
			}
			if len(sides[0]) < 3 || !slices.Equal(sides[0], sides[1]) {
				t.Errorf("%s, %s: the inspector has\n%s\nand the tap\n%s", name, direction, strings.Join(sides[0], "\n"), strings.Join(sides[1], "\n"))
			}
		}
		s.page.Region("Servers").Contains(name)
	}

	// A question that waits for the person in front of the client waits on the page of taps,
	// too, where nobody can answer it.
	p := inspector.StartWith(t, inspector.Options{Env: []string{meeting}},
		slices.Concat([]string{"--no-open", "--listen", "127.0.0.1:0", "--protocol", "2025-11-25", "--", inspector.Binary, "tap", "--name", "waits", "--"}, servers.MCPGo(t))...)
	client := &session{t: t, Process: p, page: browser.Open(t, p.URL)}
	client.call("create_project")
	const message = "I need some information to set up your project. Please provide the project details."
	q := client.question(message)
	s.page.Region("Servers").Contains("waits")
	s.page.Region("Taps").Contains("1 tap is connected")
	seen := s.page.Question(message).HasAttr("data-state", "pending")
	seen.Button("Accept").HasAttr("disabled", "")
	seen.Button("Decline").HasAttr("disabled", "")
	q.Button("Decline").Click()
	s.state(message, "answered")
}

// The official conformance suite finds of an SDK's server, through a tap, what it finds
// without one: every scenario passes.
func TestTapUnderConformance(t *testing.T) {
	t.Parallel()
	suite := servers.Node(t, "@modelcontextprotocol", "conformance", "dist", "index.js")
	for revision, stateless := range map[string]bool{"2025-11-25": false, "2026-07-28": true} {
		cmd := exec.Command(inspector.Binary, "tap", "--http", "127.0.0.1:0", servers.GoSDKHTTP(t, stateless))
		cmd.Env = append(os.Environ(), socketFolder(t))
		out, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := cmd.Process.Signal(os.Interrupt); err != nil {
				t.Error(err)
			}
			_ = cmd.Wait()
		}()
		var url string
		if _, err := fmt.Fscanf(out, "Tap ready: %s", &url); err != nil {
			t.Fatal(err)
		}
		said, err := exec.CommandContext(t.Context(), suite[0], append(suite[1:], "server", "--url", url, "--spec-version", revision)...).CombinedOutput()
		if err != nil || !regexp.MustCompile(`Total: \d\d+ passed, 0 failed`).Match(said) {
			t.Errorf("%s: %v\n%s", revision, err, said)
		}
	}
}

// However a server, a client, the disk or the inspector ends or hangs, the other side sees
// what it would see without a tap.
func TestTapEnds(t *testing.T) {
	t.Parallel()
	hung := socketFolder(t)
	_, folder, _ := strings.Cut(hung, "=")
	if err := os.Mkdir(filepath.Join(folder, "elicitation-inspector"), 0o700); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", filepath.Join(folder, "elicitation-inspector", "taps.sock"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() }) // after the cases
	record := filepath.Join(t.TempDir(), "full.jsonl")
	ended := filepath.Join(t.TempDir(), "ended")
	const text = "one\ntwo"
	for name, c := range map[string]struct {
		script string // a tap, as a shell runs it
		exit   int    // -1 for a signal
		stdout string
		stderr string // a part
	}{
		"the server exits":           {`exec "$0" tap -- sh -c 'cat; exit 9'`, 9, text, ""},
		"the server is killed":       {`exec "$0" tap -- sh -c 'cat; kill -KILL $$'`, -1, text, ""},
		"there is no server":         {`exec "$0" tap -- ./missing`, 127, "", "missing"},
		"the disk is full":           {`ulimit -f 0; exec "$0" tap --record ` + record + ` -- sh -c 'cat; exit 9'`, 9, text, "file too large"},
		"the inspector hangs":        {`export ` + hung + `; exec "$0" tap -- sh -c 'cat; exit 9'`, 9, text, "takes no more"},
		"the tap is killed":          {`"$0" tap -- sh -c 'trap "echo ended >` + ended + `; exit" TERM; kill -KILL $PPID; sleep 60 & wait'; until [ -s ` + ended + ` ]; do sleep 0.1; done; exit 3`, 3, "", ""},
		"the client does not listen": {`"$0" tap -- sh -c 'trap "" PIPE; cat >/dev/null; until ! echo x; do :; done 2>/dev/null; echo broken >&2' | true; exit 4`, 4, "", "broken"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd := exec.Command("sh", "-c", c.script, inspector.Binary)
			cmd.Env = append(os.Environ(), socketFolder(t))
			cmd.Stdin = strings.NewReader(text)
			var out, said bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &said
			defer time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() }).Stop()
			_ = cmd.Run() // how it ends is checked
			state := cmd.ProcessState
			if state.ExitCode() != c.exit || c.exit < 0 && state.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
				t.Errorf("it ended with %v", state)
			}
			if out.String() != c.stdout || !strings.Contains(said.String(), c.stderr) || c.stderr == "" && c.exit != 3 && said.Len() > 0 {
				t.Errorf("standard output is %q, want %q; standard error is %q", &out, c.stdout, &said)
			}
		})
	}
}
