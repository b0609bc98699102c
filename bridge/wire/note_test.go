package wire

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

// notes holds a frame with a note of each kind, and its words.
func notes() []Frame {
	one := 1
	at := time.Date(2026, 7, 28, 10, 11, 0, 5, time.UTC)
	meta := func(words string, n Note) Frame {
		return Frame{Dir: Meta, Transport: "http", Session: "s-1", Server: "s", Note: &n, Raw: []byte(words)}
	}
	http := func(method string, status int, words string, n Note) Frame {
		f := meta(words, n)
		f.HTTPMethod, f.Status = method, status
		return f
	}
	about := func(call, question int, actor, words string, n Note) Frame {
		f := meta(words, n)
		f.Call, f.Question, f.Actor = call, question, actor
		return f
	}
	return []Frame{
		meta(`span insert\n order, 12 ms; failed: no such table`, Note{Kind: NoteSpan, Span: &Span{
			TraceID: "0af7651916cd43dd8448eb211c80319c", SpanID: "b7ad6b7169203331", ParentID: "00f067aa0ba902b7", Name: "insert\n order", Kind: SpanClient,
			Start: at, End: at.Add(12 * time.Millisecond), Status: SpanError, Message: "no such table", Service: "orders", Scope: "sql",
			Attributes: map[string]json.RawMessage{"db.operation.name": json.RawMessage(`"INSERT"`), "rows": json.RawMessage("3")},
			Events:     []SpanEvent{{At: at, Name: "retry"}},
		}}),
		meta("started node as process 4711", Note{Kind: NoteProcessStarted, Program: "node", PID: 4711}),
		meta("process 4711 exited with code 1", Note{Kind: NoteProcessExited, PID: 4711, Code: &one}),
		meta("process 4711 exited with code 1; its output did not end", Note{Kind: NoteProcessExited, PID: 4711, Code: &one, Why: "its output did not end"}),
		meta("process 4711 ended by signal: killed", Note{Kind: NoteProcessExited, PID: 4711, Signal: "killed"}),
		meta("process 4711 process group 4711 could not be killed", Note{Kind: NoteProcessExited, PID: 4711, Why: "process group 4711 could not be killed"}),
		meta("the process still runs 2s after its input was closed, and is ended", Note{Kind: NoteStillRuns, Took: "2s"}),
		meta("the server's standard output is held open by a process outside of its group, and is no longer read", Note{Kind: NotePipeHeld, Of: "standard output"}),
		meta("reading the server's standard error: i/o error", Note{Kind: NoteReadFailed, Of: "the server's standard error", Why: "i/o error"}),
		meta("1\u202f234 bytes of standard error were passed on and not looked at, since the tap could not keep up", Note{Kind: NoteUnseen, Of: "standard error", Bytes: 1234}),
		meta("not passed on: the message of 9 bytes is over the limit", Note{Kind: NoteNotPassedOn, Why: "the message of 9 bytes is over the limit"}),
		meta("not delivered: broken pipe", Note{Kind: NoteNotDelivered, Why: "broken pipe"}),
		http("POST", 503, "POST of tools/call was answered with HTTP 503 Service Unavailable: try\nlater: \"<now>\"", Note{Kind: NoteHTTPStatus, Of: "tools/call", Said: "try\nlater: \"<now>\""}),
		http("POST", 302, "POST of tools/call was answered with HTTP 302 Found to https://a.example:1/b: gone", Note{Kind: NoteHTTPStatus, Of: "tools/call", To: "https://a.example:1/b", Said: "gone"}),
		http("POST", 200, "POST of the response to request \"a\" was answered with HTTP 200 OK; 202 Accepted is called for", Note{Kind: NoteHTTPStatus, Of: `response to "a"`, Want: "202 Accepted"}),
		http("POST", 200, "POST of tools/list was answered with HTTP 200 OK and text/html; charset=utf-8 in place of JSON or an event stream", Note{Kind: NoteHTTPStatus, Of: "tools/list", Got: "text/html; charset=utf-8"}),
		http("GET", 404, "GET of the event stream was answered with HTTP 404 Not Found", Note{Kind: NoteHTTPStatus}),
		http("DELETE", 204, "DELETE of the session was answered with HTTP 204 No Content", Note{Kind: NoteHTTPStatus}),
		http("POST", 307, "POST redirected to https://b.example/, which is not told the session id and the headers that are set for a.example", Note{Kind: NoteRedirected, To: "https://b.example/", Withheld: "a.example"}),
		http("DELETE", 0, "DELETE of the session failed: refused", Note{Kind: NoteRequestFailed, Why: "refused"}),
		meta("the answer to tools/call broke off after 7 bytes: EOF", Note{Kind: NoteAnswerBroken, Of: "tools/call", Bytes: 7, Why: "EOF"}),
		meta("the server has no GET event stream: no", Note{Kind: NoteNoStream, Said: "no"}),
		meta("GET of the event stream that answers tools/call, from behind event 7", Note{Kind: NoteStreamRequested, Of: "tools/call", After: "7"}),
		meta("GET of the event stream", Note{Kind: NoteStreamRequested}),
		meta("GET of the event stream has no answer yet; the session goes on without", Note{Kind: NoteStreamAwaited}),
		meta("the GET event stream is open", Note{Kind: NoteStreamOpened}),
		meta("the event stream that answers tools/call goes on", Note{Kind: NoteStreamResumed, Of: "tools/call"}),
		http("GET", 0, "GET of http://127.0.0.1:1/open/… by curl/8", Note{Kind: NoteURLFetched, To: "http://127.0.0.1:1/open/…", Said: "curl/8"}),
		http("", 400, "the event stream that answers tools/call broke off, and going on with it was answered with HTTP 400 Bad Request: no such event", Note{Kind: NoteResumeRefused, Of: "tools/call", Said: "no such event"}),
		meta("the server has ended the session (HTTP 404 to its id): a new one is begun, and nothing is sent again", Note{Kind: NoteSessionGone}),
		meta("the event stream broke off: EOF", Note{Kind: NoteStreamBroken, Why: "EOF"}),
		meta("the event stream that answers tools/call has ended without the response", Note{Kind: NoteStreamEnded, Of: "tools/call"}),
		meta("the server has ended the GET event stream (3 times so far); it is opened again", Note{Kind: NoteStreamClosed, Times: 3}),
		meta("the event stream that answers tools/call ended within an event: 1\u202f234 bytes without the blank line that ends it, which are no message: {", Note{Kind: NoteUnfinishedEvent, Of: "tools/call", Bytes: 1234, Said: "{"}),
		meta("the server's message endpoint is /message", Note{Kind: NoteEndpoint, To: "/message"}),
		http("POST", 0, "POST of tools/call is sent again, with an access token", Note{Kind: NoteSentAgain, Of: "tools/call"}),
		func() Frame {
			f := http("GET", 404, "sign-in, resource metadata: HTTP 404 Not Found to GET https://a.example/.well-known/x: gone", Note{
				Kind: NoteSignIn, Why: "gone", Took: "3ms", At: at,
				SignIn: &SignIn{Number: 1, Step: StepResource, Received: "no", JWTs: map[string]JWT{"access_token": {json.RawMessage("{}"), json.RawMessage("{}")}}},
			})
			f.URL = "https://a.example/.well-known/x"
			return f
		}(),
		meta("the server cannot be reached any more: refused", Note{Kind: NoteServerLost, Why: "the server cannot be reached any more: refused"}),
		meta("server/discover had no answer within 10s: the server is taken to be of an older revision, and initialize is tried", Note{Kind: NoteProbeUnanswered, Took: "10s"}),
		meta("the process ended at server/discover: it is started again, and initialize is tried at once", Note{Kind: NoteProbeFatal}),
		meta("a response came without an id, so that nothing tells what it answers", Note{Kind: NoteStrayResponse}),
		meta("a second response came with id 7, which had its response already", Note{Kind: NoteStrayResponse, ID: json.RawMessage("7"), Again: true}),
		meta(`a response came with id "7", which nothing asked for; the call waits for one with id 7`, Note{Kind: NoteStrayResponse, ID: json.RawMessage(`"7"`), Want: "7"}),
		meta(`a response came with id "x", which nothing asked for`, Note{Kind: NoteStrayResponse, ID: json.RawMessage(`"x"`)}),
		meta("the request is cancelled by closing its response stream, as revision 2026-07-28 has it", Note{Kind: NoteCancelledByClose}),
		meta("the client says: no schema", Note{Kind: NoteClientSaid, Why: "no schema"}),
		meta("a person says no on probe choice: Was it red?", Note{Kind: NotePersonSaid, Of: "choice", Why: "Was it red?", Said: "no"}),
		meta("a person takes the word back on probe choice: Was it red?", Note{Kind: NotePersonSaid, Of: "choice", Why: "Was it red?"}),
		about(4, 2, "person", "question 2: accept a: <1>, by the person, completed, says the server",
			Note{Kind: NoteAnswered, Answer: json.RawMessage(`{"action":"accept","content":{"a":"<1>"}}`), Pointer: "/x", Completion: "completed", At: at}),
		about(4, 3, "server", "question 3: withdrawn, by the server: exited with code 1",
			Note{Kind: NoteSettled, State: "withdrawn", Why: "exited with code 1", Pointer: "/params", At: at}),
		about(4, 4, "fault", "question 4: deliberate: unknown action",
			Note{Kind: NoteMisbehaved, Why: "unknown action", Params: json.RawMessage(`{"action":"maybe"}`), Answer: json.RawMessage(`{"action":"maybe"}`), Pointer: "/params", At: at}),
		about(5, 0, "", "call 5 failed: exited with code 1", Note{Kind: NoteEnded, State: "failed", Why: "exited with code 1", At: at}),
	}
}

func TestNotesRoundTrip(t *testing.T) {
	frames := notes()
	for i := range frames {
		frames[i].Raw = nil // Append writes the words
	}
	_, text := transcript(t, frames)
	path := filepath.Join(t.TempDir(), "notes.jsonl")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	opened, err := open(t, path).Frames(1, len(frames))
	if err != nil {
		t.Fatal(err)
	}
	read, damage := readAll(t, bytes.NewReader(text))
	if damage != nil {
		t.Fatal(damage)
	}
	for i, want := range notes() {
		for way, got := range map[string]Frame{"read": read[i], "opened": opened[i]} {
			if !reflect.DeepEqual(got.Note, want.Note) || string(got.Raw) != string(want.Raw) || got.Kind != want.Note.kind() || got.HTTPMethod != want.HTTPMethod {
				t.Errorf("%s: %s %q, %+v\nwant %q, %+v", way, got.HTTPMethod, got.Raw, got.Note, want.Raw, want.Note)
			}
		}
	}
}

// A frame of a server is no note, whatever its text looks like.
func TestNotesAreTheInspectors(t *testing.T) {
	l := newTestLog(t, Options{})
	words := "process 4711 exited with code 1"
	for _, f := range []Frame{
		message(Stderr, "%s", words),
		message(ServerToClient, "%s", words),
		message(ServerToClient, `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":%q}}`, words),
		message(ServerToClient, `{"jsonrpc":"2.0","method":"x","note":{"kind":"settled"}}`),
		message(Stderr, `{"answer":{"action":"accept"},"pointer":"/x"}`),
	} {
		kept := l.Append(f)
		read, err := l.Frame(kept.Seq)
		if err != nil || kept.Note != nil || read.Note != nil {
			t.Errorf("%q is taken for %+v, %+v, %v", f.Raw, kept.Note, read.Note, err)
		}
	}
}

// A note of an unknown kind is kept unchanged.
func TestNoteOfAnotherKind(t *testing.T) {
	line := `{"v":1,"session_id":"s","server_label":"","seq":1,"ts":"2026-07-28T10:00:00Z","direction":"meta","transport":"","note":{"kind":"weather","why":"rain"},"text":"it rains"}` + "\n"
	frames, damage := readAll(t, strings.NewReader(line))
	if damage != nil || len(frames) != 1 || frames[0].Note.Kind != "weather" || frames[0].Summary() != "it rains" {
		t.Fatalf("%+v, %v", frames, damage)
	}
	_, text := transcript(t, frames)
	if string(text) != line {
		t.Errorf("it is written as %s", text)
	}
	_, damage = readAll(t, strings.NewReader(`{"direction":"meta","note":"rain","text":""}`+"\n"+`{"direction":"meta","note":{"kind":7},"text":""}`+"\n"))
	if len(damage) != 2 {
		t.Errorf("notes that are none: %v", damage)
	}
}
