package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"elicitation-inspector/e2e/internal/inspector"
)

// openFile opens a transcript of these messages: ">" marks messages to the server, "<"
// messages from it.
func openFile(t testing.TB, messages ...string) *session {
	t.Helper()
	p := inspector.StartWith(t, inspector.Options{}, "open", "--no-open", "--listen", "127.0.0.1:0", transcript(t, messages...))
	return &session{t: t, Process: p, page: browser.Open(t, p.URL)}
}

// transcript writes a transcript of these messages, a second apart.
func transcript(t testing.TB, messages ...string) string {
	t.Helper()
	var file strings.Builder
	at := time.Date(2026, 7, 28, 10, 0, 0, 0, time.UTC)
	for i, m := range messages {
		dir := "c2s"
		if m[0] == '<' {
			dir = "s2c"
		}
		fmt.Fprintf(&file, `{"session_id":"s-1","server_label":"desk","seq":%d,"ts":%q,"direction":%q,"transport":"stdio","raw":%s}`+"\n",
			i+1, at.Add(time.Duration(i)*time.Second).Format(time.RFC3339Nano), dir, m[1:])
	}
	path := filepath.Join(t.TempDir(), "flow.jsonl")
	if err := os.WriteFile(path, []byte(file.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// A recording shows every card with the sent choices: cards have fields with the same
// numbers, whose radio buttons must not exclude each other.
func TestOpenedShowsTheChoicesThatWereSent(t *testing.T) {
	t.Parallel()
	sent := map[string]string{"One?": "true", "Two?": "false", "Three?": "true"}
	var messages []string
	for i, q := range []string{"One?", "Two?", "Three?"} {
		messages = append(messages,
			fmt.Sprintf(`>{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"ask"}}`, i),
			fmt.Sprintf(`<{"jsonrpc":"2.0","id":%d,"method":"elicitation/create","params":{"message":%q,"requestedSchema":{"type":"object","properties":{"sure":{"type":"boolean"},"size":{"type":"string","enum":["small","large"]}}}}}`, i, q),
			fmt.Sprintf(`>{"jsonrpc":"2.0","id":%d,"result":{"action":"accept","content":{"sure":%s,"size":"large"}}}`, i, sent[q]),
			fmt.Sprintf(`<{"jsonrpc":"2.0","id":%d,"result":{"content":[]}}`, i),
		)
	}
	s := openFile(t, messages...)
	s.page.Button("Earlier (2)").Click() // questions of calls that are not on show
	for q, sure := range sent {
		card := s.page.Question(q).HasAttr("data-state", "answered")
		form := card.Role("group", "The form").Wait()
		want := "Yes"
		if sure == "false" {
			want = "No"
		}
		if !form.Field("sure").Radio(want).Checked() {
			t.Errorf("%s was answered with sure %s, and shows another choice", q, sure)
		}
		if !form.Field("size").Radio("large").Checked() {
			t.Errorf("%s was answered with large, and shows another choice", q)
		}
	}
}
