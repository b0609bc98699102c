// The race detector makes these tests several times slower: they run dozens of inspectors. Others run
// each subcommand with it.

//go:build !race

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// runToEnd runs an inspector that ends by itself.
func runToEnd(t *testing.T, args ...string) (code int, out string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, args...)
	cmd.Env = append(os.Environ(), asInspector+"=1", "CI=1")
	text, err := cmd.CombinedOutput()
	if err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), string(text)
}

// A file that is not regular is refused with a message, and opening a pipe does not block.
func TestRefusesWhatIsNoTranscript(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	pipe, sparse := filepath.Join(folder, "pipe"), filepath.Join(folder, "sparse.jsonl")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(sparse, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(sparse, 40<<30); err != nil {
		t.Skip("this file system has no sparse files")
	}
	for _, c := range []struct{ args, want string }{
		{"open " + pipe, "it is a pipe"},
		{"export --format json " + pipe, "it is a pipe"},
		{"--listen 127.0.0.1:0 --record " + pipe, "it is a pipe"},
		{"open " + folder, "it is a folder"},
		{"open " + sparse, "begins with zero bytes"},
	} {
		if code, out := runToEnd(t, strings.Fields(c.args)...); code != exitError || !strings.Contains(out, c.want) {
			t.Errorf("inspector %s: %d, %s", c.args, code, out)
		}
	}
}

// A second recorder of a file gets an error that names the first one.
func TestRecordsAlone(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "flow.jsonl")
	first := startInspector(t, "--record", file)
	code, out := runToEnd(t, "--listen", "127.0.0.1:0", "--record", file)
	if want := fmt.Sprintf("process %d", first.Process.Pid); code != exitError || !strings.Contains(out, want) {
		t.Errorf("the second recorder: %d, %s; want %s named", code, out, want)
	}
}

// A huge number of servers leads to a page of a hundred, and Ctrl-C works during reading.
func TestOpensVeryManyServers(t *testing.T) {
	t.Parallel()
	var text bytes.Buffer
	for i := range 20_000 {
		fmt.Fprintf(&text, `{"session_id":"s%d","server_label":"server %d","direction":"c2s","raw":{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask"}}}`+"\n", i, i)
	}
	file := filepath.Join(t.TempDir(), "many.jsonl")
	if err := os.WriteFile(file, text.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	r := startInspector(t, "open", file)
	page := r.until("further servers")
	if strings.Contains(page, `server 19999`) && strings.Count(page, `data-server=`) > 1000 || len(page) > 1<<20 {
		t.Errorf("the page has %d bytes", len(page))
	}
	if err := r.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { _ = r.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-time.After(30 * time.Second): // it took 40 s without the bound
		t.Error("Ctrl-C does not end it")
	}
}

// A file without an end is refused after a bounded part of it, whichever flag names it.
func TestRefusesEndlessFiles(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	for i, args := range []string{
		"list --redact-file FILE",
		"list --oauth-client-id a --oauth-client-secret-file FILE http://127.0.0.1:1/mcp",
		"list --oauth-client-id a --oauth-client-key-file FILE http://127.0.0.1:1/mcp",
		"list --config FILE", "call deploy --answers FILE", "call deploy --args @FILE", "run FILE", "check --plan FILE",
		"check --baseline FILE", "probe --compare FILE",
	} {
		pipe := filepath.Join(folder, fmt.Sprint(i))
		if err := syscall.Mkfifo(pipe, 0o600); err != nil {
			t.Fatal(err)
		}
		go func() {
			file, err := os.OpenFile(pipe, os.O_WRONLY, 0)
			for line := bytes.Repeat([]byte(" "), 1<<20); err == nil; {
				_, err = file.Write(line) // it fails once the reader has closed its end
			}
			file.Close()
		}()
		code, out := runToEnd(t, strings.Fields(strings.ReplaceAll(args, "FILE", pipe))...)
		if code != exitUsage || !strings.Contains(out, "reading "+pipe+": it has more than ") {
			t.Errorf("inspector %s: %d, %s", args, code, out)
		}
	}
}

// A response of more than 64 MiB is left to the wire log: to read it took a page load 3.8 s.
func TestOpensAHugeResponse(t *testing.T) {
	t.Parallel()
	file := write(t, "huge.jsonl", `{"session_id":"a","server_label":"s","direction":"c2s","call":1,"raw":{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask"}}}
{"session_id":"a","server_label":"s","direction":"s2c","call":1,"raw":{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"`+strings.Repeat("x", 65<<20)+`"}]}}}
`)
	startInspector(t, "open", file).until("bytes, and the page draws at most 67\u202f108\u202f864: the wire log has it.")
}
