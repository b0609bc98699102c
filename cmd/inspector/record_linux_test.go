package main

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"elicitation-inspector/bridge/testdata/logtest"
	"elicitation-inspector/bridge/wire"
)

type running struct {
	*testing.T
	*exec.Cmd
	base, token string
	stderr      *strings.Builder // read it after stop
	calls       int              // number of calls made by unlock
}

func startInspector(t *testing.T, args ...string) *running {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, append(args, "--no-open", "--listen", "127.0.0.1:0")...)
	cmd.Env = append(os.Environ(), asInspector+"=1")
	said := new(strings.Builder)
	cmd.Stderr = said
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	m := regexp.MustCompile(`(http://\S+)/\?token=(\S+)`).FindStringSubmatch(line)
	if err != nil || m == nil {
		t.Fatalf("it said %q: %v", line, err)
	}
	return &running{T: t, Cmd: cmd, base: m[1], token: m[2], stderr: said}
}

// stop interrupts the inspector like Ctrl-C, and waits for its end.
func (r *running) stop() {
	r.Helper()
	if err := r.Process.Signal(os.Interrupt); err != nil {
		r.Fatal(err)
	}
	if err := r.Wait(); err != nil {
		r.Fatalf("it ended with %v: %s", err, r.stderr)
	}
}

func (r *running) ask(method, path string, form url.Values) string {
	q, err := http.NewRequest(method, r.base+path, strings.NewReader(form.Encode()))
	if err != nil {
		r.Fatal(err)
	}
	q.Header.Set("Authorization", "Bearer "+r.token)
	q.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	answer, err := http.DefaultClient.Do(q)
	if err != nil {
		return ""
	}
	defer answer.Body.Close()
	body, _ := io.ReadAll(answer.Body)
	return string(body)
}

func (r *running) until(what string) string {
	r.Helper()
	return r.untilAt("/", what)
}

// untilAt waits until the answer at a path contains a text.
func (r *running) untilAt(path, what string) string {
	r.Helper()
	page := ""
	for end := time.Now().Add(90 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if page = r.ask("GET", path, nil); strings.Contains(page, what) {
			return page
		}
	}
	r.Fatalf("%s never said %q, but at last %s", path, what, page)
	return ""
}

func (r *running) call(tool string) {
	r.ask("POST", "/calls", url.Values{"server": {"s1"}, "kind": {"tool"}, "key": {tool}, "tab": {"json"}, "content": {"{}"}, "force": {"1"}})
}

// readAll returns the frames of a transcript, and the number of damaged lines.
func readAll(t *testing.T, path string) (frames []wire.Frame, damaged int64) {
	t.Helper()
	log, err := wire.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	if err := log.Wait(context.Background()); err != nil {
		t.Fatal(err)
	}
	if frames, err = logtest.Frames(log); err != nil {
		t.Fatal(err)
	}
	_, damaged = log.Damage()
	return frames, damaged
}

// After a kill at any moment, every complete frame can be read, and a new recording appends to the
// file.
func TestKilledWhileRecording(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "f.jsonl")
	total := 0
	for run := range 4 {
		before, _ := os.ReadFile(path)
		r := startInspector(t, "--record", path)
		r.until(`data-key="flood"`)
		go r.call("flood")
		time.Sleep(time.Duration(20+90*run) * time.Millisecond) // a different moment each time
		if err := r.Process.Signal(syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		_ = r.Wait()
		after, err := os.ReadFile(path)
		if err != nil || !strings.HasPrefix(string(after), string(before)) {
			t.Fatalf("run %d: what was written before is changed: %v", run, err)
		}
		frames, damaged := readAll(t, path)
		if len(frames) <= total || damaged > int64(run+1) {
			t.Fatalf("run %d: %d frames after %d, %d damaged lines", run, len(frames), total, damaged)
		}
		total = len(frames)
	}
}

// A full disk is reported at once, the session continues, and written frames stay.
func TestDiskFull(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=32k"); err != nil {
		t.Skipf("no small file system can be made here: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	path := filepath.Join(dir, "f.jsonl")
	r := startInspector(t, "--record", path)
	r.until(`data-key="flood"`)
	for range 40 {
		r.call("show_result")
		if strings.Contains(r.ask("GET", "/", nil), "The recording has stopped") {
			break
		}
	}
	r.until("The recording has stopped")
	r.call("deploy")
	r.until("Which build should go out?")
	if frames, damaged := readAll(t, path); len(frames) == 0 || damaged > 1 {
		t.Errorf("%d frames and %d damaged lines are left", len(frames), damaged)
	}
}

func TestFileDeletedWhileRecording(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "f.jsonl")
	r := startInspector(t, "--record", path)
	r.until(`data-key="deploy"`)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	r.until("the file is gone")
	r.call("deploy")
	r.until("Which build should go out?")
}

// TestTranscriptsOnAFullDisk runs scenarios and a check where no file can be written, and
// checks that they say so and fail.
func TestTranscriptsOnAFullDisk(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	scenario := write(t, "s.yaml", "target: demo\ncalls:\n  - {tool: deploy, default: decline}\n")
	config := write(t, "mcp.json", `{"mcpServers": {"demo": {"command": "`+self+`", "args": ["demo"], "env": {"`+asInspector+`": "1"}}}}`)
	for name, args := range map[string][]string{
		"run":   {"run", scenario},
		"check": {"check", "deploy", "--behaviour", "decline", "--protocol", "2025-11-25", "--config", config},
	} {
		if got := inspectorRun(t, args...); got.code != exitOK {
			t.Fatalf("%s without a transcript: exit code %d\n%s%s", name, got.code, got.out, got.err)
		}
		folder := filepath.Join(t.TempDir(), "transcripts")
		// A write past the limit fails, as on a full disk, and not even root is exempt.
		cmd := exec.Command("sh", append([]string{"-c", `ulimit -f 0 && exec "$0" "$@"`, self}, append(args, "--record", folder)...)...)
		cmd.Env = append(os.Environ(), asInspector+"=1")
		var out, said strings.Builder
		cmd.Stdout, cmd.Stderr = &out, &said
		_ = cmd.Run() // the exit code is checked
		if code := cmd.ProcessState.ExitCode(); code != exitError {
			t.Errorf("%s: exit code %d, want %d\n%s%s", name, code, exitError, &out, &said)
		}
		if want := "the transcript is not complete: recording to " + folder; !strings.Contains(said.String(), want) || !strings.Contains(said.String(), "file too large") {
			t.Errorf("%s does not say %q:\n%s", name, want, &said)
		}
		if !strings.Contains(out.String(), "deploy") {
			t.Errorf("%s does not print what it found:\n%s", name, &out)
		}
	}
}
