package inspection_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/client/inspection"
	"elicitation-inspector/bridge/client/live"
	"elicitation-inspector/bridge/client/target"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/servers/demo"
	"elicitation-inspector/bridge/testdata/logtest"
)

// ofRound holds the params of a call that the servers of this file read.
type ofRound struct {
	State     json.RawMessage `json:"requestState"`
	Responses json.RawMessage `json:"inputResponses"`
}

func roundOf(r request) (p ofRound) {
	_ = json.Unmarshal(r.Params, &p)
	return p
}

const formRequest = `{"method":"elicitation/create","params":{"message":"%s","requestedSchema":{"type":"object","properties":{}}}}`

// States that a server may send, and that the client must send back byte for byte.
var oddStates = []string{
	``, `""`, `" "`, `"<a href=\"x\">&amp;</a>"`, `"\u2028\u2029\u0000\ud83d\ude00 \/ \u002F"`, `"ünïcode 漢字 🙂"`, `"` + strings.Repeat("x", 100_000) + `"`,
	`null`, `{"not":["a","string"],"n":1e3}`,
}

func init() {
	rawServers["odd-rounds"] = func(s *rawServer) {
		tools := []string{"twice", "pair", "mixed", "polls", "exits"}
		for i := range oddStates {
			tools = append(tools, fmt.Sprint("state-", i))
		}
		rounds := 0
		s.serve("2026-07-28", tools, func(call request) {
			p := roundOf(call)
			rounds++
			var state int
			switch n, _ := fmt.Sscanf(call.tool(), "state-%d", &state); {
			case n == 1 && p.Responses == nil:
				member := ""
				if oddStates[state] != "" {
					member = `,"requestState":` + oddStates[state]
				}
				s.reply(call, `{"resultType":"input_required","inputRequests":{"q":`+formRequest+`}%s}`, "State?", member)
			case call.tool() == "twice" && p.Responses == nil:
				s.reply(call, `{"resultType":"input_required","inputRequests":{"a":`+formRequest+`,"a":`+formRequest+`}}`, "First?", "Second?")
			case call.tool() == "pair" && p.Responses == nil:
				s.reply(call, `{"resultType":"input_required","inputRequests":{"a":`+formRequest+`,"b":`+formRequest+`}}`, "First?", "Second?")
			case call.tool() == "mixed" && p.Responses == nil:
				s.reply(call, `{"resultType":"input_required","inputRequests":{"s":{"method":"sampling/createMessage","params":{"messages":[],"maxTokens":9}},"q":`+formRequest+`,"r":{"method":"roots/list"}}}`, "Mixed?")
			case call.tool() == "polls" && rounds <= 5:
				s.reply(call, `{"resultType":"input_required","inputRequests":{"q":`+formRequest+`}}`, "Poll?")
			case call.tool() == "polls" && rounds <= 7:
				s.reply(call, `{"resultType":"input_required","requestState":"later"}`)
			case call.tool() == "exits":
				s.reply(call, `{"resultType":"input_required","inputRequests":{"u":{"method":"elicitation/create","params":{"mode":"url","message":"Visit","url":"https://example.com/"}}}}`)
				for {
					if r, ok := s.read(); !ok || r.Method == "notifications/cancelled" {
						os.Exit(7)
					}
				}
			default:
				s.text(call, call.raw)
			}
		})
	}
}

func TestRequestStateIsEchoedByteForByte(t *testing.T) {
	b := start(t, "odd-rounds", conversation.ClientSettings{})
	for i, state := range oddStates {
		call := b.call(fmt.Sprint("state-", i))
		b.question(i + 1)
		b.answer(i+1, live.Answer{Action: "decline"})
		_, text := b.done(call.Number)
		want := `"inputResponses":{"q":{"action":"decline"}}`
		if state != "" && state != "null" { // see conversation.StateOf
			want += `,"requestState":` + state
		}
		if want += "}}"; !strings.HasSuffix(text, want) {
			t.Errorf("state %.80s came back in %.400s", state, text)
		}
	}
}

// Of two input requests with the same key, only one can be answered.
func TestOddInputRequests(t *testing.T) {
	b := start(t, "odd-rounds", conversation.ClientSettings{})
	call := b.call("twice")
	b.question(2)
	if q := b.question(1); q.State != conversation.Refused || !strings.Contains(q.Reason, "only the last counts") {
		t.Errorf("the first question is %s: %q", q.State, q.Reason)
	}
	b.answer(2, accept(`{"n":1}`))
	if _, text := b.done(call.Number); !strings.Contains(text, `"inputResponses":{"a":{"action":"accept","content":{"n":1}}}`) {
		t.Errorf("the server got %s", text)
	}
}

// An answer that the next round has sent is in the log once.
func TestSentAnswersHaveNoNote(t *testing.T) {
	b := start(t, "odd-rounds", conversation.ClientSettings{})
	call := b.call("state-1")
	b.question(1)
	b.answer(1, accept(`{}`))
	if c, text := b.done(call.Number); c.State != conversation.Done {
		t.Fatalf("call is %s: %s", c.State, text)
	}
	frames, err := logtest.Frames(b.log)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range frames {
		if f.Note != nil && f.Call != 0 {
			t.Errorf("frame %d notes: %s", f.Seq, f.Note.Words(&f))
		}
	}
}

// A mixed round is answered as a whole, in the order of its keys.
func TestMixedRound(t *testing.T) {
	b := start(t, "odd-rounds", conversation.ClientSettings{Sampling: true, Roots: true})
	call := b.call("mixed")
	b.question(3)
	for _, n := range []int{3, 1} {
		q := b.question(n)
		if !json.Valid(q.Suggestion) {
			t.Errorf("%s: suggestion %s", q.Method, q.Suggestion)
		}
		b.answer(n, live.Answer{Result: q.Suggestion})
	}
	b.answer(2, live.Answer{Action: "cancel"})
	_, text := b.done(call.Number)
	again := b.call("mixed")
	b.question(6)
	for n, action := range map[int]string{4: "decline", 5: "decline", 6: "cancel"} {
		b.answer(n, live.Answer{Action: action})
	}
	if _, text := b.done(again.Number); !strings.Contains(text, `"inputResponses":{"q":{"action":"decline"}}`) {
		t.Errorf("the server got %s", text)
	}
	if q := b.question(6); !strings.HasPrefix(q.Reason, "nothing is sent") || b.question(5).Reason != "" {
		t.Errorf("what cannot be said is explained by %q", q.Reason)
	}
	want := fmt.Sprintf(`"inputResponses":{"s":%s,"q":{"action":"cancel"},"r":%s}`, b.question(1).Suggestion, b.question(3).Suggestion)
	if !strings.Contains(text, want) {
		t.Errorf("the server got %s, want %s in it", text, want)
	}
}

// The pause between empty rounds grows with the number of empty rounds in a row, not with
// the number of all rounds.
func TestPausesBeginShort(t *testing.T) {
	inside(t, "odd-rounds", inspection.Config{}, func(b *bench) {
		if err := b.in.SetPolicy("s1", conversation.PolicyDecline); err != nil {
			b.Fatal(err)
		}
		began := time.Now()
		got, _ := b.done(b.call("polls").Number)
		if took := time.Since(began); len(got.Rounds) != 8 || took > 2*time.Second || took < 700*time.Millisecond {
			b.Errorf("%d rounds took %s", len(got.Rounds), took)
		}
	})
}

// A call that waits for the outcome of a URL ends with its server, shows the reason, and
// has no open question.
func TestServerEndsDuringARound(t *testing.T) {
	b := startProcess(t, "odd-rounds")
	call := b.call("exits")
	b.question(1)
	b.answer(1, live.Answer{Action: "accept"})
	b.until("the visit", func() bool { return b.question(1).Awaited })
	other := b.call("exits") // cancelling it ends the server
	b.until("the request", func() bool { return b.sent("tools/call") == 2 })
	if err := b.in.Stop(other.Number); err != nil {
		t.Fatal(err)
	}
	got, text := b.done(call.Number)
	if got.State != conversation.Failed || !strings.Contains(text, "exited with code 7") {
		t.Errorf("call is %s: %s", got.State, text)
	}
	if b.question(1).Awaited {
		t.Error("somebody still waits for the outcome")
	}
	if n := b.sent("tools/call"); n != 2 {
		t.Errorf("%d calls were made, want 2", n)
	}
}

// Disconnecting while a round waits does not start the next round.
func TestDisconnectDuringARound(t *testing.T) {
	t.Parallel()
	for range 20 { // to catch a race
		b := start(t, "odd-rounds", conversation.ClientSettings{})
		call := b.call("twice")
		b.question(2)
		if err := b.in.Reconnect("s1"); err != nil {
			t.Fatal(err)
		}
		if q := b.question(2); q.State == conversation.Pending {
			b.until("the withdrawal", func() bool { return b.question(2).State != conversation.Pending })
		}
		if got, text := b.done(call.Number); got.State != conversation.Failed || len(got.Rounds) != 1 || !strings.Contains(text, "reconnecting") {
			t.Errorf("call is %s after %d rounds: %s", got.State, len(got.Rounds), text)
		}
		b.until("the new connection", func() bool { return b.server().State == conversation.ServerReady })
		if n := b.sent("tools/call"); n != 1 {
			t.Fatalf("%d calls were made, want 1\n%s", n, b.transcript())
		}
	}
}

// Requesting the next round twice starts one round: the second request does not apply to
// later questions.
func TestRetryTwice(t *testing.T) {
	goOn := make(chan struct{})
	s := &rawHTTP{revision: "2026-07-28", noStream: true}
	rounds := 0
	s.call = func(w http.ResponseWriter, r request) {
		if rounds++; rounds == 2 {
			<-goOn
		}
		event(w, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"resultType":"input_required","inputRequests":{"q":`+formRequest+`}}}`, r.ID, fmt.Sprint("Round ", rounds)))
	}
	serveHTTP(t, s)
	b := startHTTP(t, s, inspection.Config{})
	call := b.call("ask")
	b.question(1)
	again := func() {
		if err := b.in.Retry(call.Number); err != nil {
			t.Fatal(err)
		}
	}
	again()
	b.until("the second round", func() bool { return b.sent("tools/call") == 2 })
	again()
	close(goOn)
	b.question(2)
	again() // this one counts
	b.question(3)
	if q := b.question(2); q.State != conversation.Withdrawn || q.By != conversation.ByPerson {
		t.Errorf("the second question is %s by %s", q.State, q.By)
	}
	if q := b.question(3); q.State != conversation.Pending {
		t.Errorf("the third question is %s: %s", q.State, q.Reason)
	}
	if c, _ := b.in.Call(call.Number); len(c.Rounds) != 3 {
		t.Errorf("%d rounds", len(c.Rounds))
	}
}

// Each answer of a round has its own time, in the log as well: the first of two questions
// has ended before the second is answered.
func TestAnswersOfARoundHaveTheirTimes(t *testing.T) {
	b := start(t, "odd-rounds", conversation.ClientSettings{})
	call := b.call("pair")
	b.question(2)
	b.answer(1, accept(`{}`))
	var first *conversation.Question
	b.until("the first answer in the log", func() bool {
		c, err := b.in.Conversation().Call(t.Context(), 1, conversation.Reading{})
		if err != nil || len(c.Questions) != 2 {
			return false
		}
		first = c.Questions[0]
		return first.State == conversation.Answered
	})
	b.answer(2, accept(`{}`))
	b.done(call.Number)
	c, err := b.in.Conversation().Call(t.Context(), 1, conversation.Reading{})
	if err != nil {
		t.Fatal(err)
	}
	one, two := c.Questions[0], c.Questions[1]
	if !one.Ended.Equal(first.Ended) || !one.Ended.Before(two.Ended) || two.Ended.After(c.Rounds[1].Began) {
		t.Errorf("the answers stand at %s, before the second at %s, and %s; the next round began at %s", one.Ended, first.Ended, two.Ended, c.Rounds[1].Began)
	}
	if one.By != conversation.ByPerson || one.AnswerSeq != c.Rounds[1].Request || two.AnswerSeq != one.AnswerSeq {
		t.Errorf("the first is by %q in frame %d, the second in %d, and the round in %d", one.By, one.AnswerSeq, two.AnswerSeq, c.Rounds[1].Request)
	}
}

func init() {
	// asks many large questions in one round, and counts the complete answers.
	rawServers["large round"] = func(s *rawServer) {
		s.serve(mcp.Revision20260728, []string{"ask"}, func(call request) {
			p := roundOf(call)
			if p.Responses == nil {
				s.reply(call, `{"resultType":"input_required","inputRequests":{%s}}`, strings.Join(manyInputs(), ","))
				return
			}
			var answers map[string]struct{ Content struct{ A string } }
			if err := json.Unmarshal(p.Responses, &answers); err != nil {
				s.fail(call, -32602, err.Error(), "")
				return
			}
			whole := 0
			for key, answer := range answers {
				if answer.Content.A == key {
					whole++
				}
			}
			s.text(call, fmt.Sprint(whole))
		})
	}
}

const largeRound = 700

func manyInputs() (list []string) {
	for i := range largeRound {
		list = append(list, fmt.Sprintf(`"k%d":{"method":"elicitation/create","params":{"message":"?","requestedSchema":{"type":"object","properties":{"a":{"type":"string"}}}}}`, i))
	}
	return list
}

// A round with many large answers is sent completely.
func TestAnswersOfALargeRound(t *testing.T) {
	t.Parallel()
	b := start(t, "large round", conversation.ClientSettings{})
	call := b.call("ask")
	b.question(largeRound)
	for _, q := range b.in.Questions() {
		b.answer(q.Number, accept(fmt.Sprintf(`{"a":%q}`, q.Key)))
	}
	if _, text := b.done(call.Number); text != fmt.Sprint(largeRound) {
		t.Errorf("%s of %d answers came whole", text, largeRound)
	}
}

// What was said to one question of a round is not sent if the call ends before the others
// are answered.
func TestAnswerOfAStoppedRound(t *testing.T) {
	t.Parallel()
	server := demo.New(demo.Options{})
	b := startInspection(t, inspection.Config{
		Targets:  []target.Spec{{Name: demo.Name, Builtin: server.ServeLines}},
		Settings: conversation.ClientSettings{Protocol: july},
	})
	sent := b.call("deploy")
	b.question(1)
	b.answer(1, live.Answer{Action: "decline"})
	b.done(sent.Number)
	stopped := b.call("plan_trip")
	b.question(4)
	b.answer(2, live.Answer{Action: "decline"})
	b.stop(stopped)
	b.done(stopped.Number)
	for where, in := range map[string]*inspection.Inspection{"live": b.in, "opened": b.replayed()} {
		for n, want := range []bool{1: false, 2: true, 3: false} {
			if n == 0 {
				continue
			}
			if q, err := in.Question(n); err != nil || q.NeverSent != want {
				t.Errorf("%s: question %d, %s, was never sent: %t, %v", where, n, q.Action, q.NeverSent, err)
			}
		}
	}
	if err := server.Close(); err != nil {
		t.Error(err)
	}
}
