package inspection_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"elicitation-inspector/bridge/client/inspection"
	"elicitation-inspector/bridge/client/live"
	"elicitation-inspector/bridge/client/target"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/testdata/logtest"
	"elicitation-inspector/bridge/wire"
	"elicitation-inspector/bridge/wire/redact"
)

// patience limits every wait of these tests. It is much longer than any of them needs.
const patience = 90 * time.Second

type bench struct {
	*testing.T
	in  *inspection.Inspection
	log *wire.Log
	sub *live.Subscription
}

// start starts an inspection of one raw server.
func start(t *testing.T, server string, settings conversation.ClientSettings) *bench {
	t.Helper()
	return startConfig(t, server, inspection.Config{Settings: settings})
}

func startConfig(t *testing.T, server string, config inspection.Config) *bench {
	t.Helper()
	config.Targets = []target.Spec{inProcess(server)}
	if ownProcess[server] || strings.HasPrefix(server, "recorder") {
		config.Targets = []target.Spec{asProcess(t, server)}
	}
	return startInspection(t, config)
}

// ownProcess holds the raw servers that run as a process each, because tests look at its exit, at
// its standard error, or at what it prints. The others run in the test's process, in a part of
// the time.
var ownProcess = map[string]bool{
	"answers the probe late": true, "chatty": true, "dies late of the probe": true, "dies of the probe": true,
	"ignores the probe": true, "never": true, "old-tools": true, "panics": true, "talker": true, "withdraws": true,
}

// startProcess starts an inspection of one raw server that runs as a process.
func startProcess(t *testing.T, server string) *bench {
	t.Helper()
	return startInspection(t, inspection.Config{Targets: []target.Spec{asProcess(t, server)}})
}

func asProcess(t *testing.T, server string) target.Spec {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return target.Spec{Name: server, Command: []string{self}, Env: []string{serverEnv + "=" + server}}
}

// inProcess returns a raw server that runs in the test's process.
func inProcess(server string) target.Spec {
	return target.Spec{Name: server, Builtin: func(_ context.Context, in io.Reader, out io.Writer) error {
		rawServers[server](newRawServer(in, out))
		return nil
	}}
}

// inside runs a test of one raw server that runs in the test's own process and by the test's own
// clock, which goes on when everything waits: however slow the machine is, all takes the same time.
func inside(t *testing.T, server string, config inspection.Config, test func(*bench)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		config.Targets = []target.Spec{inProcess(server)}
		test(startInspection(t, config))
	})
}

// startInspection starts an inspection, and fails the test unless the first server
// becomes ready.
func startInspection(t *testing.T, config inspection.Config) *bench {
	t.Helper()
	b := startAny(t, config)
	if s := b.server(); s.State != conversation.ServerReady {
		t.Fatalf("server is %s: %s\n%s", s.State, s.Reason, strings.Join(s.Stderr, "\n"))
	}
	b.until("the catalog", func() bool {
		c, err := b.in.Catalog("s1")
		return err == nil && !c.Loading
	})
	return b
}

// startFailing starts an inspection, and fails the test unless the first server fails.
func startFailing(t *testing.T, config inspection.Config) *bench {
	t.Helper()
	b := startAny(t, config)
	if s := b.server(); s.State != conversation.ServerFailed {
		t.Fatalf("server is %s", s.State)
	}
	return b
}

func startAny(t *testing.T, config inspection.Config) *bench {
	t.Helper()
	log, err := wire.NewLog(wire.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	config.Log, config.Version = log, "test"
	in := inspection.New(config)
	b := &bench{t, in, log, in.Subscribe()}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := in.Close(ctx); err != nil {
			t.Errorf("closing: %v", err)
		}
		b.checkEnds()
		b.sub.Close()
		if err := log.Close(); err != nil {
			t.Errorf("closing the log: %v", err)
		}
	})
	in.Start()
	b.until("ready", func() bool {
		state := b.server().State
		return state != conversation.ServerConnecting && state != conversation.ServerDisconnected
	})
	return b
}

func (b *bench) server() inspection.Server { return b.in.Servers()[0] }

// until waits until holds returns true. It checks again after each change.
func (b *bench) until(what string, holds func() bool) {
	b.Helper()
	deadline := time.After(patience)
	for {
		grown := b.log.Grown() // before holds, so that no frame is missed
		if holds() {
			return
		}
		select {
		case <-b.sub.Ready():
		case <-grown:
		case <-deadline:
			b.Fatalf("waited in vain for %s\n%.20000s", what, b.transcript())
		}
	}
}

// judged waits until the linter has read the whole log, and returns its findings.
func (b *bench) judged() []inspection.Found {
	b.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := b.in.Judge(ctx); err != nil {
		b.Fatal(err)
	}
	return b.in.Findings("")
}

func (b *bench) transcript() string {
	var s strings.Builder
	frames, err := logtest.Frames(b.log)
	if err != nil {
		return err.Error()
	}
	for _, f := range frames {
		fmt.Fprintf(&s, "%d %s %s\n", f.Seq, f.Dir, f.Raw)
	}
	return s.String()
}

// sent counts the requests and notifications of a method that the client sent.
func (b *bench) sent(method string) (n int) {
	b.Helper()
	frames, err := logtest.Frames(b.log)
	if err != nil {
		b.Fatal(err)
	}
	for _, f := range frames {
		if f.Dir == wire.ClientToServer && f.Message.Method == method {
			n++
		}
	}
	return n
}

func (b *bench) call(tool string) inspection.Call {
	b.Helper()
	c, err := b.in.Begin(live.Request{Server: "s1", Kind: conversation.Tool, Name: tool, Key: tool, Arguments: json.RawMessage(`{}`)})
	if err != nil {
		b.Fatal(err)
	}
	return c
}

// callWithin is call with a time limit; a negative one means none.
func (b *bench) callWithin(tool string, limit time.Duration) inspection.Call {
	b.Helper()
	c, err := b.in.Begin(live.Request{
		Server: "s1", Kind: conversation.Tool, Name: tool, Key: tool, Arguments: json.RawMessage(`{}`), Timeout: limit,
	})
	if err != nil {
		b.Fatal(err)
	}
	return c
}

// question waits for the n-th question and returns it.
func (b *bench) question(n int) inspection.Question {
	b.Helper()
	b.until(fmt.Sprintf("question %d", n), func() bool { return len(b.in.Questions()) >= n })
	q, err := b.in.Question(n)
	if err != nil {
		b.Fatal(err)
	}
	return q
}

// done waits for the end of a call and returns it with the text of its result.
func (b *bench) done(number int) (inspection.Call, string) {
	b.Helper()
	var c inspection.Call
	var said *conversation.Call
	b.until(fmt.Sprintf("the end of call %d", number), func() bool {
		var err error
		if c, err = b.in.Call(number); err != nil || !c.State.Over() || c.Place == 0 { // no request was sent
			return err == nil && c.State.Over()
		}
		said, err = b.in.Conversation().Call(b.Context(), c.Place, conversation.Reading{Redact: redact.Nothing()})
		return err == nil && said.State.Over()
	})
	if said != nil && (said.State != c.State || said.Failure != c.Failure || said.ResultSeq != c.ResultSeq || !said.Ended.Equal(c.Ended)) {
		b.Errorf("call %d is %s: %q at frame %d; the log says %+v", number, c.State, c.Failure, c.ResultSeq, said)
	}
	if c.ResultSeq == 0 {
		return c, c.Failure
	}
	f, err := b.log.Frame(c.ResultSeq)
	if err != nil {
		b.Fatal(err)
	}
	final := conversation.Final(&f)
	if final.Kind == wire.Error {
		return c, string(final.Error)
	}
	r, err := conversation.ReadResult(final.Result)
	if err != nil {
		b.Fatal(err)
	}
	var text []string
	for _, part := range r.Content {
		text = append(text, part.Text)
	}
	return c, strings.Join(text, "\n")
}

func (b *bench) answer(n int, a live.Answer) {
	b.Helper()
	a.Actor = conversation.ByPerson
	if err := b.in.Answer(n, a); err != nil {
		b.Fatalf("answering %d: %v", n, err)
	}
}

func accept(content string) live.Answer {
	return live.Answer{Action: "accept", Content: json.RawMessage(content)}
}

func init() {
	// asks once per call, and returns the answer.
	rawServers["asks"] = func(s *rawServer) {
		s.serve("2025-11-25", []string{"ask"}, func(call request) {
			s.write(`{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"message":"How many?","requestedSchema":{"type":"object","properties":{"zeta":{"type":"number"},"alpha":{"type":"string"}}}}}`)
			answer, ok := s.read()
			if !ok {
				return
			}
			s.text(call, answer.raw)
		})
	}
}

func TestAnswersReachTheServerByteForByte(t *testing.T) {
	b := start(t, "asks", conversation.ClientSettings{})
	cases := []struct {
		name   string
		answer live.Answer
		want   string
	}{
		{"accept", accept(`{"zeta":9007199254740993,"alpha":"<&>  "}`), `{"action":"accept","content":{"zeta":9007199254740993,"alpha":"<&>  "}}`},
		{"digits stay", accept(`{"zeta":1e3}`), `{"action":"accept","content":{"zeta":1e3}}`},
		{"accept without content", live.Answer{Action: "accept"}, `{"action":"accept"}`},
		{"decline", live.Answer{Action: "decline"}, `{"action":"decline"}`},
		{"cancel", live.Answer{Action: "cancel"}, `{"action":"cancel"}`},
		{"a whole result", live.Answer{Result: json.RawMessage(`{"action":"perhaps","x":[1]}`)}, `{"action":"perhaps","x":[1]}`},
	}
	for i, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			b.T = t
			call := b.call("ask")
			q := b.question(i + 1)
			if got := q.Request.Fields[0].Name; got != "zeta" {
				t.Errorf("first field is %q, want the schema's own order", got)
			}
			if q.Call != call.Number {
				t.Errorf("question belongs to call %d, want %d", q.Call, call.Number)
			}
			b.answer(q.Number, c.answer)
			_, text := b.done(call.Number)
			if want := `{"jsonrpc":"2.0","id":1,"result":` + c.want + `}`; text != want {
				t.Errorf("the server got\n%s\nwant\n%s", text, want)
			}
			q = b.question(q.Number)
			if q.State != conversation.Answered || q.By != conversation.ByPerson || q.AnswerSeq == 0 {
				t.Errorf("question is %s by %q, answer in frame %d", q.State, q.By, q.AnswerSeq)
			}
		})
	}
}

func TestOneOfManyAnswersWins(t *testing.T) {
	b := start(t, "asks", conversation.ClientSettings{})
	call := b.call("ask")
	q := b.question(1)
	var wait sync.WaitGroup
	wins := make(chan int, 20)
	for i := range 20 {
		wait.Go(func() {
			if err := b.in.Answer(q.Number, accept(fmt.Sprintf(`{"zeta":%d}`, i))); err == nil {
				wins <- i
			}
		})
	}
	wait.Wait()
	close(wins)
	if len(wins) != 1 {
		t.Fatalf("%d answers won, want 1", len(wins))
	}
	_, text := b.done(call.Number)
	if want := fmt.Sprintf(`"zeta":%d}`, <-wins); !strings.Contains(text, want) {
		t.Errorf("the server got %s, want %s in it", text, want)
	}
}

func init() {
	rawServers["withdraws"] = func(s *rawServer) {
		ask := func() {
			s.write(`{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{"message":"Still there?","requestedSchema":{"type":"object","properties":{}}}}`)
		}
		s.serve("2025-11-25", []string{"cancels", "returns", "exits"}, func(call request) {
			ask()
			switch call.tool() {
			case "cancels":
				s.write(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"q","reason":"lunch"}}`)
				s.text(call, "too late")
			case "returns":
				s.text(call, "never mind")
				if answer, ok := s.read(); ok {
					fmt.Fprintln(os.Stderr, "got", answer.raw)
				}
			case "exits":
				os.Exit(3)
			}
		})
	}
}

func TestQuestionsAreWithdrawn(t *testing.T) {
	cases := []struct {
		tool, reason string
		by           string
	}{
		{"cancels", "cancelled by the server: lunch", conversation.ByServer},
		{"returns", "call 1 ended", conversation.ByPolicy},
		{"exits", "exited with code 3", conversation.ByServer},
	}
	for _, c := range cases {
		t.Run(c.tool, func(t *testing.T) {
			b := start(t, "withdraws", conversation.ClientSettings{})
			call := b.call(c.tool)
			b.until("the withdrawal", func() bool { return b.question(1).State != conversation.Pending })
			q := b.question(1)
			if q.State != conversation.Withdrawn || q.Reason != c.reason || q.By != c.by {
				t.Errorf("question is %s by %s: %q; want withdrawn by %s: %q", q.State, q.By, q.Reason, c.by, c.reason)
			}
			got, text := b.done(call.Number)
			switch c.tool {
			case "exits":
				if got.State != conversation.Failed || !strings.Contains(text, "code 3") {
					t.Errorf("call is %s: %s", got.State, text)
				}
				b.until("the server's end", func() bool { return b.server().State == conversation.ServerEnded })
				if s := b.server(); s.Reason != "exited with code 3" {
					t.Errorf("server ended: %q", s.Reason)
				}
			case "returns":
				b.until("the answer on stderr", func() bool { return strings.Contains(strings.Join(b.server().Stderr, "\n"), `{"action":"cancel"}`) })
			case "cancels":
				if strings.Contains(b.transcript(), `c2s {"jsonrpc":"2.0","id":"q"`) {
					t.Errorf("a cancelled request was answered:\n%s", b.transcript())
				}
			}
		})
	}
}

func init() {
	rawServers["rude"] = func(s *rawServer) {
		var asked int
		questions := []string{
			`{"jsonrpc":"2.0","id":100,"method":"elicitation/create"}`,
			`{"jsonrpc":"2.0","id":101,"method":"elicitation/create","params":null}`,
			`{"jsonrpc":"2.0","id":102,"method":"elicitation/create","params":[1]}`,
			`{"jsonrpc":"2.0","id":103,"method":"elicitation/create","params":{"message":7}}`,
			`{"jsonrpc":"2.0","id":104,"method":"elicitation/create","params":{"mode":"carrier-pigeon","message":"?"}}`,
			`{"jsonrpc":"2.0","id":105,"method":"elicitation/create","params":{"mode":"url","message":"?","url":"https://example.com"}}`,
		}
		s.serve("2025-11-25", []string{"ask"}, func(call request) {
			s.write("this is not JSON")
			s.write(`{"jsonrpc":"2.0","method":"notifications/elicitation/complete"}`)
			s.write(`{"jsonrpc":"2.0","method":"notifications/cancelled"}`)
			s.write(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{}}}`)
			s.write(`{"jsonrpc":"2.0","id":999,"result":{}}`)
			s.write(`{"jsonrpc":"1.0","id":1,"method":"ping"}`)
			s.write(questions[asked])
			asked++
			if answer, ok := s.read(); ok {
				s.text(call, answer.raw)
			}
		})
	}
}

func TestWhatCannotBeAskedIsRefused(t *testing.T) {
	b := start(t, "rude", conversation.ClientSettings{Elicitation: conversation.DeclareForm})
	for i, want := range []string{"no params", "null", "not an object", "message", "carrier-pigeon", "did not declare"} {
		call := b.call("ask")
		q := b.question(i + 1)
		b.until("the refusal", func() bool { return b.question(q.Number).State != conversation.Pending })
		q = b.question(q.Number)
		if q.State != conversation.Refused || !strings.Contains(q.Reason, want) {
			t.Errorf("question %d is %s: %q, want refused: %q", i, q.State, q.Reason, want)
		}
		if _, text := b.done(call.Number); !strings.Contains(text, `"code":-32602`) {
			t.Errorf("the server got %s, want error -32602", text)
		}
	}
}

func init() {
	rawServers["rounds"] = func(s *rawServer) {
		s.serve("2026-07-28", []string{"rounds", "odd"}, func(call request) {
			var p struct {
				State     *string         `json:"requestState"`
				Responses json.RawMessage `json:"inputResponses"`
			}
			_ = json.Unmarshal(call.Params, &p)
			switch {
			case call.tool() == "odd":
				s.reply(call, `{"resultType":"input_required","inputRequests":{"a":null,"b":{"method":"nothing/known"}}}`)
			case p.State == nil && p.Responses == nil:
				s.reply(call, `{"resultType":"input_required","requestState":"","inputRequests":{"z":{"method":"elicitation/create","params":{"message":"First?","requestedSchema":{"type":"object","properties":{}}}},"a":{"method":"elicitation/create","params":{"message":"Second?","requestedSchema":{"type":"object","properties":{}}}}}}`)
			case p.State != nil && *p.State == "":
				s.reply(call, `{"resultType":"input_required","requestState":"später \u0000"}`)
			default:
				s.text(call, call.raw)
			}
		})
	}
}

func TestRounds(t *testing.T) {
	b := start(t, "rounds", conversation.ClientSettings{})
	call := b.call("rounds")
	second := b.question(2)
	if first := b.question(1); first.Key != "z" || second.Key != "a" || first.Round != 1 {
		t.Errorf("keys are %q, %q in round %d; want the order on the wire", first.Key, second.Key, first.Round)
	}
	b.answer(2, live.Answer{Action: "decline"})
	b.answer(1, accept(`{}`))
	got, text := b.done(call.Number)
	if got.State != conversation.Done || len(got.Rounds) != 3 {
		t.Fatalf("call is %s after %d rounds: %s", got.State, len(got.Rounds), text)
	}
	transcript := b.transcript()
	if want := `"inputResponses":{"z":{"action":"accept","content":{}},"a":{"action":"decline"}},"requestState":""}`; !strings.Contains(transcript, want) {
		t.Errorf("no request holds %s:\n%s", want, transcript)
	}
	if want := `"requestState":"später \u0000"}`; !strings.Contains(text, want) {
		t.Errorf("the last round was %s, want %s in it", text, want)
	}
	if strings.Contains(text, "inputResponses") {
		t.Errorf("a round without questions answered some: %s", text)
	}
}

func TestInputRequestsThatNobodyCanAnswer(t *testing.T) {
	b := start(t, "rounds", conversation.ClientSettings{})
	call := b.call("odd")
	b.until("refusals", func() bool {
		qs := b.in.Questions()
		return len(qs) >= 2 && qs[0].State == conversation.Refused && qs[1].State == conversation.Refused
	})
	if c, _ := b.done(call.Number); c.State != conversation.Failed || !strings.Contains(c.Failure, `"b": "nothing/known" cannot be asked of a client`) {
		t.Errorf("call is %s: %s", c.State, c.Failure)
	}
}

func TestStopWithdrawsAndTellsTheServer(t *testing.T) {
	b := start(t, "asks", conversation.ClientSettings{})
	call := b.call("ask")
	b.question(1)
	if err := b.in.Stop(call.Number); err != nil {
		t.Fatal(err)
	}
	if q := b.question(1); q.State != conversation.Withdrawn {
		t.Errorf("question is %s", q.State)
	}
	b.until("the cancellation", func() bool { return strings.Contains(b.transcript(), `"method":"notifications/cancelled"`) })
}

func TestCloseAnswersWithCancel(t *testing.T) {
	b := start(t, "asks", conversation.ClientSettings{})
	b.call("ask")
	b.question(1)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := b.in.Disconnect(ctx, "s1"); err != nil {
		t.Fatal(err)
	}
	q := b.question(1)
	if q.State != conversation.Answered || q.By != conversation.ByPolicy || q.AnswerSeq == 0 {
		t.Errorf("question is %s by %s, answer in frame %d", q.State, q.By, q.AnswerSeq)
	}
	if s := b.server(); s.State != conversation.ServerDisconnected {
		t.Errorf("server is %s", s.State)
	}
	if err := b.in.Reconnect("s1"); err != nil {
		t.Fatal(err)
	}
	b.until("another connection", func() bool { return b.server().State == conversation.ServerReady })
}

func TestFailureIsExplained(t *testing.T) {
	log, err := wire.NewLog(wire.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	in := inspection.New(inspection.Config{Log: log, Targets: []target.Spec{
		{Name: "missing", Command: []string{"./no-such-program"}},
		{Name: "dies", Command: []string{"sh", "-c", "echo no database >&2; exit 4"}},
	}})
	b := &bench{t, in, log, in.Subscribe()}
	defer b.sub.Close()
	in.Start()
	b.until("both failures", func() bool {
		s := in.Servers()
		return s[0].State == conversation.ServerFailed && s[1].State == conversation.ServerFailed
	})
	s := in.Servers()
	if !strings.Contains(s[0].Reason, "no-such-program") {
		t.Errorf("missing: %q", s[0].Reason)
	}
	if !strings.Contains(s[1].Reason, "code 4") || strings.Join(s[1].Stderr, "") != "no database" {
		t.Errorf("dies: %q, stderr %q", s[1].Reason, s[1].Stderr)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := in.Close(ctx); err != nil {
		t.Error(err)
	}
}
