package conversation

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"elicitation-inspector/bridge/meaning/elicit"
	"elicitation-inspector/bridge/testdata/logtest"
	"elicitation-inspector/bridge/wire"
	"elicitation-inspector/bridge/wire/redact"
)

// Each file of testdata/talks is a log of another program, which does not record the calls
// of frames; the .golden file beside it has the calls that the package finds.
func TestTalks(t *testing.T) {
	files, err := filepath.Glob("testdata/talks/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			l := logtest.New(t, logtest.Talk(t, string(text))...)
			var b bytes.Buffer
			w := bufio.NewWriter(&b)
			for _, e := range callsOf(t, l) {
				dump(w, e)
			}
			w.Flush()
			logtest.Golden(t, strings.TrimSuffix(file, ".txt")+".golden", b.Bytes())
		})
	}
}

// strip removes the fields that only our inspector records from a transcript.
func strip(t *testing.T, path string) *wire.Log {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	for line := range bytes.Lines(raw) {
		var m map[string]json.RawMessage
		if err := json.Unmarshal(line, &m); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"v", "call", "round", "elicitation", "actor", "stream", "status", "headers"} {
			delete(m, name)
		}
		less, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		out.Write(append(less, '\n'))
	}
	file := filepath.Join(t.TempDir(), "foreign.jsonl")
	if err := os.WriteFile(file, out.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return logtest.Open(t, file)
}

// The person declines one of two questions, and the process exits. The exit counts as the server's
// reaction to the decline, although the log notes in between that the other question ended.
func TestAfterWhileOthersEnd(t *testing.T) {
	file := filepath.Join(t.TempDir(), "talk.jsonl")
	var text strings.Builder
	for i, rest := range []string{
		`"direction":"c2s","call":1,"raw":{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask"}}`,
		`"direction":"s2c","call":1,"elicitation":1,"raw":{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"message":"Who?"}}`,
		`"direction":"c2s","call":2,"raw":{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"ask"}}`,
		`"direction":"s2c","call":2,"elicitation":2,"raw":{"jsonrpc":"2.0","id":2,"method":"elicitation/create","params":{"message":"Who?"}}`,
		`"direction":"c2s","call":1,"elicitation":1,"actor":"person","raw":{"jsonrpc":"2.0","id":1,"result":{"action":"decline"}}`,
		`"direction":"meta","call":2,"elicitation":2,"actor":"server","note":{"kind":"settled","state":"withdrawn","why":"the connection ended"}`,
		`"direction":"meta","note":{"kind":"process-exited","pid":7,"code":1}`,
	} {
		fmt.Fprintf(&text, `{"v":1,"session_id":"s","server_label":"files","seq":%d,"ts":"2026-11-27T01:00:0%[1]dZ","transport":"stdio",%s}`+"\n", i+1, rest)
	}
	if err := os.WriteFile(file, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	log := logtest.Open(t, file)
	call := callsOf(t, log)[0]
	if next := follow(t, log).After(Settled{Question: *call.Questions[0], Session: "s", Server: "files", Call: *call}); next.Seq != 7 || next.Text != "process 7 exited with code 1" {
		t.Errorf("%+v", next)
	}
}

// The calls found from the messages alone equal the calls that the inspector recorded.
func TestForeignRecordingsComeToTheSame(t *testing.T) {
	for _, path := range logtest.Files(t, recordings) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			log, foreign := logtest.Open(t, path), strip(t, path)
			ours, theirs := callsOf(t, log), callsOf(t, foreign)
			talk, alike := follow(t, log), follow(t, foreign)
			if len(ours) != len(theirs) || len(ours) < 10 {
				t.Fatalf("%d exchanges, and %d without attribution", len(ours), len(theirs))
			}
			for i, e := range ours {
				f := theirs[i]
				for _, q := range e.Questions { // only the recording inspector knows that nobody gave this answer
					if q.State == Withdrawn && q.Action == "cancel" {
						q.State = Answered
					}
				}
				if got, want := outlineOf(f), outlineOf(e); got != want {
					t.Errorf("exchange %d:\n got %s\nwant %s", i+1, got, want)
				}
				// Two calls are merged if one was stopped and the next began at once; the
				// inspector cannot tell them apart either.
				if e.Name != "deploy" && e.Name != "release_notes" || e.State == Done {
					if got, want := seqsOf(f), seqsOf(e); !reflect.DeepEqual(got, want) {
						t.Errorf("exchange %d %s: frames %v, want %v", i+1, e.Name, got, want)
					}
					for k, q := range e.Questions {
						want := talk.After(Settled{Question: *q, Session: e.Session, Server: e.Server, Call: *e})
						got := alike.After(Settled{Question: *f.Questions[k], Session: f.Session, Server: f.Server, Call: *f})
						if got != want {
							t.Errorf("exchange %d %s: then the server %+v, want %+v", i+1, e.Name, got, want)
						}
					}
				}
			}
		})
	}
}

func outlineOf(e *Call) string {
	s := fmt.Sprintf("%s %s %s %s: %d rounds, result in %d", e.Method, e.Name, e.Arguments, e.State, len(e.Rounds), e.ResultSeq)
	for _, q := range e.Questions {
		s += fmt.Sprintf("; %d %s %q %s %q %d", q.AskedSeq, q.Method, q.Key, q.State, q.Action, q.AnswerSeq)
	}
	return s
}

func seqsOf(e *Call) []int64 {
	var out []int64
	for _, f := range e.Frames {
		out = append(out, f.Seq)
	}
	return out
}

// Every frame of a call is found to belong to it, and the outlines of the list equal those
// of the calls.
func TestOfAndOutlines(t *testing.T) {
	for _, path := range logtest.Files(t, recordings) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			l := logtest.Open(t, path)
			x := follow(t, l)
			in := make(map[int64]int)
			for i, o := range x.calls {
				e := read(t, x, i+1, Reading{})
				if int64(x.events[o.first].seq) != e.Frames[0].Seq || int(o.recorded) != e.Recorded || int(o.number) != e.Number {
					t.Errorf("outline %+v\nof %s", o, outlineOf(e))
				}
				for _, f := range e.Frames {
					in[f.Seq] = e.Place
				}
			}
			for seq := int64(1); seq <= l.Len(); seq++ {
				if n := x.PlaceOf(seq); n != in[seq] {
					t.Errorf("frame %d is in exchange %d, want %d", seq, n, in[seq])
				}
			}
		})
	}
}

// A growing log has the same calls, however often it is read.
func TestUpdateStepByStep(t *testing.T) {
	for _, path := range logtest.Files(t, recordings) {
		from := logtest.Open(t, path)
		l := logtest.New(t)
		x := New(l)
		for seq := int64(1); seq <= from.Len(); seq++ {
			f, err := from.Frame(seq)
			if err != nil {
				t.Fatal(err)
			}
			l.Append(f)
			if err := x.Update(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		want := callsOf(t, from)
		if x.Len() != len(want) {
			t.Fatalf("%s: %d exchanges, want %d", path, x.Len(), len(want))
		}
		for i, e := range want {
			if got := read(t, x, i+1, Reading{}); outlineOf(got) != outlineOf(e) || !reflect.DeepEqual(seqsOf(got), seqsOf(e)) {
				t.Errorf("%s, exchange %d:\n got %s %v\nwant %s %v", path, i+1, outlineOf(got), seqsOf(got), outlineOf(e), seqsOf(e))
			}
		}
	}
}

func TestAround(t *testing.T) {
	l := logtest.New(t, logtest.Talk(t, `
+0s c2s {"jsonrpc":"2.0","id":1,"method":"tools/list"}
+1s s2c {"jsonrpc":"2.0","id":1,"result":{"tools":[]}}
+1s s2c {"jsonrpc":"2.0","method":"notifications/tools/list_changed"}
+1s c2s {"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"a"}}
+1s s2c {"jsonrpc":"2.0","id":2,"result":{"content":[]}}
+1s stderr oops
+1s c2s {"jsonrpc":"2.0","id":3,"method":"ping"}
`)...)
	x := follow(t, l)
	cases := []struct {
		seq    int64
		number int
		method string
		frames []int64
		state  State
	}{
		{1, 0, "tools/list", []int64{1, 2}, Done},
		{2, 0, "tools/list", []int64{1, 2}, Done},
		{3, 0, "notifications/tools/list_changed", []int64{3}, Done},
		{5, 1, "tools/call", []int64{4, 5}, Done},
		{6, 0, "", []int64{6}, Done},
		{7, 0, "ping", []int64{7}, Running},
	}
	for _, c := range cases {
		e, err := x.CallOrExchange(t.Context(), c.seq, Reading{})
		if err != nil {
			t.Fatal(err)
		}
		if e.Place != c.number || e.Method != c.method || !reflect.DeepEqual(seqsOf(e), c.frames) || e.State != c.state {
			t.Errorf("around %d: %d %s %v %s, want %+v", c.seq, e.Place, e.Method, seqsOf(e), e.State, c)
		}
	}
	if _, err := x.CallOrExchange(t.Context(), 8, Reading{}); err == nil {
		t.Error("there is no frame 8")
	}
	if _, err := x.Call(t.Context(), 2, Reading{}); err == nil {
		t.Error("there is no exchange 2")
	}
}

// A flood of notifications is neither read nor kept completely.
func TestFlood(t *testing.T) {
	frames := logtest.Talk(t, `+0s c2s {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"flood","_meta":{"progressToken":7}}}`)
	const n = 3*reportsMost + 5
	for i := range n {
		frames = append(frames, logtest.Talk(t, fmt.Sprintf(`+0s s2c {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":7,"progress":%d}}`, i))...)
	}
	frames = append(frames, logtest.Talk(t, `+1s s2c {"jsonrpc":"2.0","id":1,"result":{"content":[]}}`)...)
	l := logtest.New(t, frames...)
	x := follow(t, l)
	e := read(t, x, 1, Reading{})
	if len(e.Frames) != 2*reportsMost+2 || e.Omitted != n-2*reportsMost || e.State != Done {
		t.Errorf("%d frames and %d more, %s", len(e.Frames), e.Omitted, e.State)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := x.Call(ctx, 1, Reading{}); !errors.Is(err, context.Canceled) {
		t.Errorf("with a context that ended: %v", err)
	}
}

// An Update, as for an export, leaves the changes for readers of Changes.
func TestUpdateLeavesChanges(t *testing.T) {
	var frames []wire.Frame
	for id := range 2 {
		frames = append(frames, logtest.Talk(t, fmt.Sprintf(`+0s c2s {"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"a","_meta":{"progressToken":%d}}}`, id, id))...)
	}
	for i := range 3000 {
		frames = append(frames, logtest.Talk(t, fmt.Sprintf(`+0s s2c {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%d}}`, i%2))...)
	}
	c := follow(t, logtest.New(t, frames...))
	if len(c.touched) > 2 {
		t.Errorf("%d touches of two calls are kept", len(c.touched))
	}
	if got, err := c.Changes(t.Context()); err != nil || !reflect.DeepEqual(got, []int{1, 2}) {
		t.Errorf("the changes are %v, %v", got, err)
	}
	if got, err := c.Changes(t.Context()); err != nil || len(got) != 0 {
		t.Errorf("then the changes are %v, %v", got, err)
	}
}

// Notifications of several calls, of other frames and of no call are interleaved, and each
// call has its own.
func TestNotificationsOfSeveralCalls(t *testing.T) {
	c := follow(t, logtest.New(t, logtest.Talk(t, `
+0s c2s {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","_meta":{"progressToken":"one"}}}
+0s s2c {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"of the only call"}}
+0s c2s {"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"b","_meta":{"progressToken":"two"}}}
+0s s2c {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"one","progress":1}}
+0s s2c {"jsonrpc":"2.0","id":1,"method":"ping"}
+0s s2c {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"one","progress":2}}
+0s s2c {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"of one or the other"}}
+0s s2c {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"one","progress":3}}
+0s s2c {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"two","progress":1}}
+0s s2c {"jsonrpc":"2.0","id":1,"result":{"content":[]}}
+0s s2c {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"two","progress":2}}
+0s s2c {"jsonrpc":"2.0","id":2,"result":{"content":[]}}
`)...))
	want := [][]int64{{1, 2, 4, 6, 8, 10}, {3, 9, 11, 12}}
	place := make([]int, 13)
	for i, seqs := range want {
		if got := seqsOf(read(t, c, i+1, Reading{})); !reflect.DeepEqual(got, seqs) {
			t.Errorf("call %d has the frames %v, want %v", i+1, got, seqs)
		}
		for _, seq := range seqs {
			place[seq] = i + 1
		}
	}
	for seq := 1; seq < len(place); seq++ {
		if got := c.PlaceOf(int64(seq)); got != place[seq] {
			t.Errorf("frame %d is of call %d, want %d", seq, got, place[seq])
		}
	}
}

// Redacted values are in no part of a call, and neither are frames that are not chosen.
func TestReading(t *testing.T) {
	text, err := os.ReadFile("testdata/talks/form.txt")
	if err != nil {
		t.Fatal(err)
	}
	x := follow(t, logtest.New(t, logtest.Talk(t, string(text))...))
	redact, err := redact.New("branch", "$.params.arguments.ref", "text")
	if err != nil {
		t.Fatal(err)
	}
	e := read(t, x, 1, Reading{Redact: redact})
	all := fmt.Sprintf("%s %s", e.Arguments, e.Result)
	for _, q := range e.Questions {
		all += fmt.Sprintf(" %s %s", q.Params, q.Answer)
	}
	for _, f := range e.Frames {
		all += " " + f.Summary
	}
	for _, secret := range []string{"next", `"main"`, "deployed"} {
		if strings.Contains(all, secret) {
			t.Errorf("%q is in %s", secret, all)
		}
	}
	if !strings.Contains(all, "[REDACTED]") || !strings.Contains(all, "Which branch?") {
		t.Errorf("too much or nothing left out: %s", all)
	}

	e = read(t, x, 1, Reading{Only: func(seq int64) bool { return seq == 4 || seq == 10 }})
	if len(e.Frames) != 2 || len(e.Questions) != 0 || e.State != Done {
		t.Errorf("chosen: %s, frames %v", outlineOf(e), seqsOf(e))
	}
	e = read(t, x, 1, Reading{Only: func(seq int64) bool { return seq > 7 }})
	if e.Name != "deploy" || e.Arguments != nil || len(e.Questions) != 1 || e.State != Done {
		t.Errorf("chosen without its request: %s", outlineOf(e))
	}
	// Of a request and its response, one names the other without its content.
	e = read(t, x, 1, Reading{Only: func(seq int64) bool { return seq == 9 }})
	if e.Name != "deploy" || e.State != Done || e.Result != nil || e.ResultSeq != 0 || len(e.Frames) != 1 || len(e.Questions) != 1 {
		t.Fatalf("the answer alone: %s", outlineOf(e))
	}
	if q := e.Questions[0]; !q.AskedUnseen || q.AnswerUnseen || string(q.Params) != `{"message":"Which branch?"}` || q.Answer == nil || q.Ended.Sub(q.Asked) != 20*time.Second {
		t.Errorf("the answer alone: %+v", q)
	}
	e = read(t, x, 1, Reading{Only: func(seq int64) bool { return seq == 8 }})
	if len(e.Questions) != 1 || e.Questions[0].State != Answered || e.Questions[0].Action != "accept" || !e.Questions[0].AnswerUnseen || e.Questions[0].Answer != nil {
		t.Errorf("the question alone: %s", outlineOf(e))
	}
	e = read(t, x, 1, Reading{Only: func(int64) bool { return false }})
	if len(e.Frames)+len(e.Questions) != 0 || e.Name != "" {
		t.Errorf("nothing chosen: %s", outlineOf(e))
	}
}

// recordings are transcripts of the demo server, made by the inspector.
const recordings = "testdata/recorded/*.jsonl"

func follow(t testing.TB, l *wire.Log) *Conversation {
	t.Helper()
	c := New(l)
	if err := c.Update(t.Context()); err != nil {
		t.Fatal(err)
	}
	return c
}

func read(t testing.TB, c *Conversation, place int, how Reading) *Call {
	t.Helper()
	call, err := c.Call(t.Context(), place, how)
	if err != nil {
		t.Fatal(err)
	}
	return call
}

// callsOf returns all calls of a log.
func callsOf(t testing.TB, l *wire.Log) []*Call {
	t.Helper()
	c := follow(t, l)
	var out []*Call
	for place := 1; place <= c.Len(); place++ {
		out = append(out, read(t, c, place, Reading{}))
	}
	return out
}

// dump writes a call in the format of the golden files.
func dump(w *bufio.Writer, e *Call) {
	fmt.Fprintf(w, "%d %s %s %s: %s\n", e.Place, e.Method, e.Name, e.Arguments, e.State)
	fmt.Fprint(w, "  frames")
	for _, f := range e.Frames {
		fmt.Fprintf(w, " %d", f.Seq)
	}
	if e.Omitted > 0 {
		fmt.Fprintf(w, " and %d more", e.Omitted)
	}
	fmt.Fprintln(w)
	for _, r := range e.Rounds {
		fmt.Fprintf(w, "  round %d: %d → %d, asks %d\n", r.Number, r.Request, r.Response, r.Questions)
	}
	for _, q := range e.Questions {
		via := map[elicit.Via]string{elicit.ByRequest: "request", elicit.InRound: "round", elicit.InError: "error"}[q.Via]
		fmt.Fprintf(w, "  question by %s in round %d", via, q.Round)
		if q.Key != "" {
			fmt.Fprintf(w, " as %q", q.Key)
		}
		fmt.Fprintf(w, ": %s %s\n    %s", q.Method, q.Params, q.State)
		if q.AnswerSeq != 0 {
			fmt.Fprintf(w, ", frame %d", q.AnswerSeq)
		}
		if !q.Ended.IsZero() {
			fmt.Fprintf(w, ", after %s", q.Ended.Sub(q.Asked))
		}
		if q.CompletedSeq != 0 {
			fmt.Fprintf(w, ", completed by %d", q.CompletedSeq)
		}
		fmt.Fprintf(w, " %s%s%s", q.Answer, q.Error, q.Reason)
		if q.Guessed {
			fmt.Fprint(w, " (guessed)")
		}
		fmt.Fprintln(w)
	}
	for _, s := range e.Spans() {
		fmt.Fprintf(w, "  +%s to +%s: %s\n", s.From.Sub(e.Start), s.To.Sub(e.Start), s.With)
	}
	if e.ResultSeq != 0 {
		fmt.Fprintf(w, "  came to %s%s, frame %d\n", e.Result, e.Error, e.ResultSeq)
	}
}
