package redact

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"elicitation-inspector/bridge/testdata/logtest"
	"elicitation-inspector/bridge/wire"
)

func newLog(t testing.TB) *wire.Log {
	t.Helper()
	l, err := wire.NewLog(wire.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

func message(dir wire.Direction, format string, args ...any) wire.Frame {
	return wire.Frame{Server: "files", Session: "s1", Transport: "stdio", Dir: dir, Raw: fmt.Appendf(nil, format, args...)}
}

// transcript returns the transcript of frames.
func transcript(t *testing.T, frames []wire.Frame, r *Redaction) []byte {
	t.Helper()
	l := newLog(t)
	for _, f := range frames {
		l.Append(f)
	}
	var out bytes.Buffer
	if err := wire.WriteFrames(&out, l, nil, r); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// Secrets are redacted in the fields and in the words of a note.
func TestNotesAreRedacted(t *testing.T) {
	r, err := New("password")
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Values("--redact-value", "4711", "geheim-1"); err != nil {
		t.Fatal(err)
	}
	answer := wire.Frame{Dir: wire.Meta, Question: 2, Note: &wire.Note{Kind: wire.NoteAnswered, Answer: json.RawMessage(`{"action":"accept","content":{"password":"abc","at":"https://a.example/?key=xyz"}}`), Pointer: "/p"}}
	settled := message(wire.ClientToServer, `{"jsonrpc":"2.0","id":6,"result":{"action":"cancel"}}`)
	settled.Note = &wire.Note{Kind: wire.NoteSettled, State: "withdrawn", Why: "geheim-1 ended"}
	text := transcript(t, []wire.Frame{
		answer, settled,
		{Dir: wire.Meta, Note: &wire.Note{Kind: wire.NoteProcessStarted, Program: "geheim-1", PID: 4711}},
		{Dir: wire.Meta, HTTPMethod: "POST", Status: 307, Note: &wire.Note{Kind: wire.NoteRedirected, To: "https://a.example/?code=abc-abc"}},
	}, r)
	for _, secret := range []string{"4711", "geheim-1", `abc`, "xyz"} {
		if bytes.Contains(text, []byte(secret)) {
			t.Errorf("%q stands in\n%s", secret, text)
		}
	}
	frames := logtest.Read(t, bytes.NewReader(text))
	var got []string
	for _, f := range frames {
		if !f.Redacted || f.Note == nil {
			t.Errorf("%+v", f)
			continue
		}
		got = append(got, f.Note.Words(&f))
	}
	want := []string{
		"question 2: accept password: [REDACTED], at: https://a.example/?key=[REDACTED]",
		"a question: withdrawn: [REDACTED] ended",
		"started [REDACTED]",
		"POST redirected to https://a.example/?code=[REDACTED]",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// The command of a server is written without the secrets in its arguments, which are left
// out wherever else they stand.
func TestCommandIsRedacted(t *testing.T) {
	r, err := New("pin")
	if err != nil {
		t.Fatal(err)
	}
	command := []string{
		"/opt/server", "--token", "abc", "--api-key=k-1", "GITHUB_TOKEN=gh-secret-1", "-H", "Authorization: Bearer xyz-secret-2", "--pin=4711",
		"https://h.example/mcp?key=q-1", "postgres://ada:p-1@db/x", "--key-file", "id.pem", "--monkey=1", "-v", "--branch", "main", "--token",
	}
	text := transcript(t, []wire.Frame{
		{Dir: wire.Meta, Note: &wire.Note{Kind: wire.NoteProcessStarted, Program: "server", PID: 7, Command: command, Dir: "/srv", Env: []string{"TOKEN"}}},
		message(wire.Stderr, "with xyz-secret-2 and gh-secret-1"),
	}, r)
	frames := logtest.Read(t, bytes.NewReader(text))
	got := strings.Join(frames[0].Note.Command, " ")
	want := "/opt/server --token [REDACTED] --api-key=[REDACTED] GITHUB_TOKEN=[REDACTED] -H Authorization: [REDACTED] --pin=[REDACTED]" +
		" https://h.example/mcp?key=[REDACTED] postgres://ada:[REDACTED]@db/x --key-file id.pem --monkey=1 -v --branch main --token"
	if got != want || frames[0].Note.Dir != "/srv" || string(frames[0].Raw) != "started server as process 7" || !frames[0].Redacted {
		t.Errorf("%s\nwant\n%s\n%+v", got, want, frames[0])
	}
	if string(frames[1].Raw) != "with [REDACTED] and [REDACTED]" {
		t.Errorf("%s", frames[1].Raw)
	}
}

func TestTranscriptRedacts(t *testing.T) {
	f := message(wire.ClientToServer, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"login","arguments":{"user":"ann","password":"hunter2"}}}`)
	f.Header = map[string][]string{"Authorization": {"Bearer hunter2"}, "Accept": {"*/*"}}
	large := message(wire.ServerToClient, `{"jsonrpc":"2.0","id":1,"result":{"password":"hunter2","pad":"%s"}}`, strings.Repeat("x", 256<<10))
	stderr := message(wire.Stderr, `no password here`)
	r, err := New("password")
	if err != nil {
		t.Fatal(err)
	}
	frames := []wire.Frame{f, large, stderr}
	for name, write := range map[string]func(w io.Writer) error{
		"recorder": func(w io.Writer) error {
			l := newLog(t)
			rec := wire.NewRecorder(w, wire.RecordOptions{Redact: r})
			defer l.Record(rec)()
			for _, f := range frames {
				l.Append(f)
			}
			return rec.Close()
		},
		"WriteFrames": func(w io.Writer) error {
			l := newLog(t)
			for _, f := range frames {
				l.Append(f)
			}
			return wire.WriteFrames(w, l, nil, r)
		},
	} {
		var out bytes.Buffer
		if err := write(&out); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(out.String(), "hunter2") {
			t.Errorf("%s: the secret is in the transcript", name)
		}
		got := logtest.Read(t, &out)
		if len(got) != 3 {
			t.Fatalf("%s: %d frames", name, len(got))
		}
		if !got[0].Redacted || got[0].Header.Get("Authorization") != Placeholder || got[0].Header.Get("Accept") != "*/*" ||
			string(got[0].Message.Params) != `{"name":"login","arguments":{"user":"ann","password":"[REDACTED]"}}` || got[0].Size != int64(len(f.Raw)) {
			t.Errorf("%s: %+v %s", name, got[0], got[0].Raw)
		}
		if !got[1].Redacted || !strings.HasPrefix(string(got[1].Message.Result), `{"password":"[REDACTED]","pad":"x`) {
			t.Errorf("%s: %.100s", name, got[1].Raw)
		}
		if got[2].Redacted {
			t.Errorf("%s: what holds no secret is marked", name)
		}
	}
}

// A recorder that is attached in mid-session knows what earlier frames say is secret.
func TestRecorderKnowsEarlierSecrets(t *testing.T) {
	l := newLog(t)
	l.Append(wire.Frame{Dir: wire.ClientToServer, Transport: "http", Header: map[string][]string{"Authorization": {"Bearer token-4711"}}, Raw: []byte("{}")})
	r, err := New("pin")
	if err != nil {
		t.Fatal(err)
	}
	l.Append(message(wire.ClientToServer, `{"jsonrpc":"2.0","id":1,"method":"m","params":{"pin":"geheim-1"}}`))
	var out bytes.Buffer
	rec := wire.NewRecorder(&out, wire.RecordOptions{Redact: r})
	stop := l.Record(rec)
	l.Append(message(wire.Stderr, `token-4711 and geheim-1`))
	stop()
	if err := rec.Close(); err != nil {
		t.Fatal(err)
	}
	if got := logtest.Read(t, &out); len(got) != 1 || string(got[0].Raw) != "[REDACTED] and [REDACTED]" {
		t.Errorf("the recording has %+v", got)
	}
}

// Each server's secrets have a table of their own.
func TestTablesOfServers(t *testing.T) {
	r := Given()
	for i := range maxOfServer + 1 {
		r.Secret("flood", fmt.Sprintf("junk-%06d", i))
	}
	r.Secret("good", "good-token")
	if got := r.TextOf("good", "it is good-token"); got != "it is [REDACTED]" || r.values.missed != 1 || r.values.count.Load() != maxOfServer+1 {
		t.Errorf("%s; %d are known, %d were forgotten", got, r.values.count.Load(), r.values.missed)
	}
}

func BenchmarkRecord(b *testing.B) {
	for name, rules := range map[string][]string{"defaults": nil, "a field redacted": {"password"}} {
		b.Run(name, func(b *testing.B) {
			r, err := New(rules...)
			if err != nil {
				b.Fatal(err)
			}
			l := newLog(b)
			recorder, err := wire.OpenRecorder(filepath.Join(b.TempDir(), "flow.jsonl"), wire.RecordOptions{Redact: r})
			if err != nil {
				b.Fatal(err)
			}
			stop := l.Record(recorder)
			f := message(wire.ServerToClient, `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"step 123456 of 1000000 done, nothing to report here"}}`)
			b.ReportAllocs()
			for b.Loop() {
				l.Append(f)
			}
			stop()
			if err := recorder.Close(); err != nil {
				b.Fatal(err)
			}
		})
	}
}
