package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// asDeep is the environment variable that makes the test binary a server of 2025-11-25 that
// does right, and nests a message 1,100 deep: the one that the value names. With "silent" it does
// not answer calls.
const asDeep = "INSPECTOR_TEST_DEEP"

// beDeep asks a question in each call. It answers the call with the answer.
func beDeep(in io.Reader, out io.Writer, which string) {
	deep := func(message string) string {
		return wordIf(message == which, strings.Repeat("[", 1100)+strings.Repeat("]", 1100))
	}
	call := json.RawMessage("0")
	for lines := bufio.NewScanner(in); lines.Scan(); {
		var m struct {
			ID     json.RawMessage
			Method string
			Result struct{ Action string }
			Error  struct{ Message string }
		}
		if json.Unmarshal(lines.Bytes(), &m) != nil {
			continue
		}
		switch m.Method {
		case "":
			text, _ := json.Marshal(m.Result.Action + m.Error.Message)
			fmt.Fprintf(out, `{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":%s}],"structuredContent":{"a":%s}}}`+"\n", call, text, deep("response"))
		case "initialize":
			fmt.Fprintf(out, `{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"deep","version":"1"}}}`+"\n", m.ID)
		case "tools/list":
			fmt.Fprintf(out, `{"jsonrpc":"2.0","id":%s,"result":{"tools":[{"name":"ask","inputSchema":{"type":"object"}}]}}`+"\n", m.ID)
		case "tools/call":
			if call = m.ID; which == "silent" {
				continue
			}
			fmt.Fprintf(out, `{"jsonrpc":"2.0","id":"q%s","method":"elicitation/create","params":{"message":"Who?","requestedSchema":{"type":"object","properties":{"a":{"type":"string"}}},"_meta":{"a":%s}}}`+"\n", m.ID, deep("question"))
		default:
			if m.ID != nil {
				fmt.Fprintf(out, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no"}}`+"\n", m.ID)
			}
		}
	}
}

// TestTimeLimitIsNamed lets calls reach their time limit: each of them says so, also to the server.
func TestTimeLimitIsNamed(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var calls sync.WaitGroup
	for i := range 5 {
		transcript := filepath.Join(t.TempDir(), fmt.Sprint(i))
		calls.Go(func() {
			got := inspectorRun(t, "call", "ask", "--timeout", "15s", "--record", transcript, "--env", asDeep+"=silent", "--", self)
			frames, err := os.ReadFile(transcript)
			if got.code != exitTimeout || !strings.Contains(got.err, "timed out after 15.0 s, by the inspector's clock") || err != nil ||
				!strings.Contains(string(frames), `"reason":"timed out after 15.0 s"`) || strings.Contains(string(frames), "by the user") {
				t.Errorf("the call ends with %d, %v:\n%s\n%s", got.code, err, got.err, frames)
			}
		})
	}
	calls.Wait()
}

func wordIf(is bool, word string) string {
	if is {
		return word
	}
	return "1"
}

// TestOwnLimitsAreToldAsSuch calls, lints and checks a right server with a message that is nested
// deeper than the inspector reads: the call ends at once, and no word is said against the server.
func TestOwnLimitsAreToldAsSuch(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	const bound = "it is nested deeper than the 1\u202f024 levels that the inspector reads"
	answers := write(t, "answers.yaml", "default: {accept: valid}\n")
	for which, want := range map[string]struct {
		code     int
		out, err string
	}{
		"response": {exitRPC, "", "inspector: the inspector does not take the message: " + bound},
		"question": {0, "the inspector does not read the request: " + bound, `→ {"code":-32603,"message":"the inspector does not read the request: ` + bound},
	} {
		server := []string{"--env", asDeep + "=" + which, "--", self}
		transcript := filepath.Join(t.TempDir(), which+".jsonl")
		got := inspectorRun(t, append([]string{"call", "ask", "--answers", answers, "--record", transcript}, server...)...)
		if got.code != want.code || !strings.Contains(got.out, want.out) || !strings.Contains(got.err, want.err) {
			t.Errorf("%s: the call ends with %d:\n%s\n%s", which, got.code, got.out, got.err)
		}
		if got := inspectorRun(t, "lint", "--fail-on", "advice", transcript); got.code != 0 || got.out != "no findings\n" || !strings.Contains(got.err, bound) {
			t.Errorf("%s: lint ends with %d:\n%s\n%s", which, got.code, got.out, got.err)
		}
		if got := inspectorRun(t, append([]string{"check", "ask", "--behaviour", "accept"}, server...)...); strings.Contains(got.out, "FAIL") || strings.Contains(got.out, "WARN") || !strings.Contains(got.out, bound) {
			t.Errorf("%s: check ends with %d:\n%s\n%s", which, got.code, got.out, got.err)
		}
	}
}
