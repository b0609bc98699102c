package live

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/client/session"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/meaning/elicit"
)

// desk is an owner that records the calls of its methods.
type desk struct {
	asked  atomic.Int64 // questions
	t      *testing.T
	params json.RawMessage // Params that Recall fills in; nil makes Recall fail

	mu      sync.Mutex
	settled map[int]Question
	changed map[int]int
}

func (d *desk) Settled(q Question) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, again := d.settled[q.Number]; again {
		d.t.Errorf("question %d is settled twice", q.Number)
	}
	d.settled[q.Number] = q
}

func (d *desk) Changed(q Question) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.changed[q.Number]++
}

func (d *desk) ParamsAt(int64) (map[string][]byte, error) {
	if d.params == nil {
		return nil, errors.New("it is gone")
	}
	return map[string][]byte{"": d.params}, nil
}

const (
	form = `{"message":"Your name?","requestedSchema":{"type":"object","properties":{"a":{"type":"string","default":"Ada"}}}}`
	url  = `{"mode":"url","message":"Sign in, please.","url":"https://example.com/in","elicitationId":"e1"}`
)

func of(server string) *session.Session {
	return &session.Session{Config: session.Config{Server: server, Name: server + "-1"}}
}

func open(t *testing.T, rate int) (*Inbox, *desk) {
	d := &desk{t: t, params: json.RawMessage(form), settled: map[int]Question{}, changed: map[int]int{}}
	return NewInbox(d, NewFeed(), rate, 0), d
}

// ask puts an elicitation into an inbox.
func ask(t *testing.T, in *Inbox, server, params string, via elicit.Via) int {
	t.Helper()
	q := Question{InputRequest: conversation.InputRequest{
		Server: server, Session: server + "-1", Call: 1, Question: conversation.Question{
			Number: int(in.owner.(*desk).asked.Add(1)), Via: via, Method: mcp.MethodElicit, Params: json.RawMessage(params), Asked: time.Now(), Place: 1,
		},
	}}
	q.AskedSeq = int64(q.Number)
	conversation.ClientSettings{}.ParseOrRefuse(&q.InputRequest, mcp.Revision20251125)
	in.Put(q)
	return q.Number
}

func is(t *testing.T, in *Inbox, number int, state conversation.QuestionState, by string, reason string) {
	t.Helper()
	q, err := in.Question(number)
	if err != nil || q.State != state || q.By != by || q.Reason != reason {
		t.Errorf("question %d is %s by %q: %q, %v; want %s by %q: %q", number, q.State, q.By, q.Reason, err, state, by, reason)
	}
}

// Of many simultaneous answers, one wins, and all others get ErrSettled.
func TestOneAnswerWins(t *testing.T) {
	in, d := open(t, 0)
	number := ask(t, in, "s", form, elicit.ByRequest)
	var answering sync.WaitGroup
	var mu sync.Mutex
	won := map[string]int{}
	for _, action := range []string{"accept", "decline", "cancel"} {
		for range 10 {
			answering.Go(func() {
				err := in.Answer(number, Answer{Action: action, Actor: conversation.ByPerson})
				mu.Lock()
				defer mu.Unlock()
				if err == nil {
					won[action]++
				} else if !errors.Is(err, ErrSettled) {
					t.Error(err)
				}
			})
		}
	}
	answering.Go(func() { in.Withdraw(conversation.ByServer, "gone", false, func(*Question) bool { return false }) })
	answering.Wait()
	if len(won) != 1 || won[d.settled[number].Action] != 1 {
		t.Errorf("%v have won; %q is what counts", won, d.settled[number].Action)
	}
}

func TestHowQuestionsAreSettled(t *testing.T) {
	for _, c := range []struct {
		name   string
		act    func(in *Inbox, number int)
		state  conversation.QuestionState
		by     string
		reason string
		sent   string // text of the response
	}{
		{"answered", func(in *Inbox, n int) {
			_ = in.Answer(n, Answer{Action: "accept", Content: json.RawMessage(`{"a":"b"}`), Actor: conversation.ByScript})
		}, conversation.Answered, conversation.ByScript, "", `{"action":"accept","content":{"a":"b"}}`},
		{"taken back", func(in *Inbox, n int) { in.Cancelled(n, "lunch") }, conversation.Withdrawn, conversation.ByServer, "lunch", ""},
		{"taken back after the answer", func(in *Inbox, n int) {
			_ = in.Answer(n, Answer{Action: "decline", Actor: conversation.ByPerson})
			in.Cancelled(n, "lunch")
		}, conversation.Answered, conversation.ByPerson, "", `{"action":"decline"}`},
		{"dismissed", func(in *Inbox, n int) { in.Closing(of("s"), "the end") }, conversation.Answered, conversation.ByPolicy, "the end", `{"action":"cancel"}`},
		{"left to the policy", func(in *Inbox, n int) { in.SetPolicy("s", conversation.PolicyDecline) }, conversation.Pending, "", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			in, d := open(t, 0)
			number := ask(t, in, "s", form, elicit.ByRequest)
			c.act(in, number)
			is(t, in, number, c.state, c.by, c.reason)
			q, settled := d.settled[number]
			if settled != (c.state != conversation.Pending) {
				t.Errorf("that it is settled is told: %t", settled)
			}
			if sent, _ := q.Response(); settled && string(sent) != c.sent {
				t.Errorf("the response is %s", sent)
			}
		})
	}
}

func TestPoliciesDecide(t *testing.T) {
	for policy, want := range map[conversation.Policy]string{
		conversation.PolicyDefaults: `{"action":"accept","content":{"a":"Ada"}}`, conversation.PolicyDecline: `{"action":"decline"}`, conversation.PolicyCancel: `{"action":"cancel"}`,
		conversation.PolicyBlock: "elicitation from this server is blocked by the user", conversation.PolicyAsk: "",
	} {
		in, d := open(t, 0)
		in.SetPolicy("s", policy)
		number := ask(t, in, "s", form, elicit.ByRequest)
		got := ""
		if q, settled := d.settled[number]; settled {
			result, refusal := q.Response()
			if got = string(result); refusal != nil {
				got = refusal.Message
			}
		}
		if got != want {
			t.Errorf("%s: %s", policy, got)
		}
	}
	in, _ := open(t, 0)
	in.SetPolicy("s", conversation.PolicyDefaults)
	if q, _ := in.Question(ask(t, in, "s", url, elicit.ByRequest)); q.State != conversation.Pending || q.LeftByPolicy != "a URL needs your consent" {
		t.Errorf("a URL is %s: %q", q.State, q.LeftByPolicy)
	}
}

// A question held back whose params cannot be read again is refused.
func TestHeldBackAndLost(t *testing.T) {
	in, d := open(t, 1)
	shown, held := ask(t, in, "s", form, elicit.ByRequest), ask(t, in, "s", form, elicit.ByRequest)
	if c := in.Counts("s"); c.Held != 1 || c.Room != ShownMost-1 {
		t.Fatalf("%+v", c)
	}
	d.params = nil
	in.ShowHeld("s")
	is(t, in, held, conversation.Refused, conversation.ByPolicy, "it was held back, and cannot be read again: it is gone")
	is(t, in, shown, conversation.Pending, "", "")
	if c := in.Counts("s"); c.Held != 0 {
		t.Errorf("%+v", c)
	}
}

// An accepted URL is awaited until it is reported as done, or nobody can report it any
// more.
func TestCompletions(t *testing.T) {
	in, _ := open(t, 0)
	accept := func(number int) {
		if err := in.Answer(number, Answer{Action: "accept", Actor: conversation.ByPerson}); err != nil {
			t.Fatal(err)
		}
	}
	says := func(number int, c conversation.Completion, awaited bool) {
		t.Helper()
		if q, _ := in.Question(number); q.Completion != c || in.IsOpen(func(q *Question) bool { return q.Number == number }) != awaited {
			t.Errorf("question %d is %q; want %q, awaited: %t", number, q.Completion, c, awaited)
		}
	}
	first := ask(t, in, "s", url, elicit.InError)
	accept(first)
	says(first, conversation.CompletionAwaited, true)
	in.Completed(first)
	says(first, conversation.CompletionDone, false)

	early := ask(t, in, "s", url, elicit.InError)
	in.Completed(early) // before the person has accepted
	accept(early)
	says(early, conversation.CompletionDone, false)

	for number := range earlyKept { // late repetitions leave room
		in.Completed(number + 1_000_000)
	}
	in.Completed(int(in.owner.(*desk).asked.Load()) + 1) // before the question is put in
	earliest := ask(t, in, "s", url, elicit.InError)
	accept(earliest)
	says(earliest, conversation.CompletionDone, false)

	hopeless := ask(t, in, "s", url, elicit.InError)
	accept(hopeless)
	in.CompletionImpossible(func(q *Question) bool { return q.Session == "s-1" })
	says(hopeless, conversation.CompletionAwaited, false)

	declined := ask(t, in, "s", url, elicit.InError)
	_ = in.Answer(declined, Answer{Action: "decline", Actor: conversation.ByPerson})
	in.Completed(declined)
	says(declined, conversation.CompletionNone, false)
}

// A server that never stops asking does not fill the memory, however slow the log is;
// and questions whose end is in the log are forgotten at once.
func TestSettledQuestionsAreForgotten(t *testing.T) {
	in, _ := open(t, 0)
	in.SetPolicy("s", conversation.PolicyDecline)
	const many = settledMost + 500
	for range many {
		ask(t, in, "s", form, elicit.ByRequest)
	}
	if n := len(in.Questions(true)); n > settledMost {
		t.Errorf("%d of %d questions are known", n, many)
	}
	if _, err := in.Question(1); !errors.Is(err, ErrUnknownQuestion) {
		t.Errorf("the first: %v", err)
	}
	if q, err := in.Question(many); err != nil || q.State != conversation.Answered || q.Request == nil {
		t.Errorf("the last is %s, %v", q.State, err)
	}
	in.SetPolicy("s", conversation.PolicyAsk)
	waits, visited := ask(t, in, "s", form, elicit.ByRequest), ask(t, in, "s", url, elicit.InError)
	if err := in.Answer(visited, Answer{Action: "accept", Actor: conversation.ByPerson}); err != nil {
		t.Fatal(err)
	}
	said := map[int]conversation.Completion{visited: conversation.CompletionDone, waits: conversation.CompletionNone}
	for _, number := range in.Settled() {
		said[number] = conversation.CompletionNone
	}
	in.Forget(said)
	if list := in.Questions(true); len(list) != 2 || list[0].Number != visited || list[1].Number != waits {
		t.Errorf("%d questions are left", len(list))
	}
}

// Under concurrent use each question is settled once, and the counts are right.
func TestEverythingAtOnce(t *testing.T) {
	in, d := open(t, 20)
	var acting sync.WaitGroup
	for n := range 4 {
		acting.Go(func() {
			r := rand.New(rand.NewPCG(uint64(n), 1))
			server := fmt.Sprint("s", n%2)
			for range 300 {
				number := ask(t, in, server, []string{form, url}[r.IntN(2)], elicit.Via(r.IntN(3)))
				number -= r.IntN(20)
				switch r.IntN(9) {
				case 0, 1, 2:
					_ = in.Answer(number, Answer{Action: "accept", Actor: conversation.ByPerson})
				case 3:
					in.Cancelled(number, "no more")
				case 4:
					in.Completed(number)
				case 5:
					in.SetPolicy(server, conversation.Policies()[r.IntN(5)])
				case 6:
					in.ShowHeld(server)
				case 7:
					in.Forget(map[int]conversation.Completion{number: conversation.CompletionDone})
				case 8:
					in.DeclineHeld(server)
				}
			}
		})
	}
	acting.Wait()
	held, shown := map[string]int{}, map[string]int{}
	for _, q := range in.Questions(true) {
		switch _, settled := d.settled[q.Number]; {
		case settled != (q.State != conversation.Pending):
			t.Errorf("question %d is %s; that it is settled is told: %t", q.Number, q.State, settled)
		case q.State == conversation.Pending && q.Held:
			held[q.Server]++
		case q.State == conversation.Pending:
			shown[q.Server]++
		}
	}
	for _, server := range []string{"s0", "s1"} {
		if c := in.Counts(server); c.Held != held[server] || c.Room != max(ShownMost-shown[server], 0) {
			t.Errorf("%s: %+v, but %d are held back and %d shown", server, c, held[server], shown[server])
		}
	}
	in.Withdraw(conversation.ByPolicy, "the end", false, func(*Question) bool { return true })
	if n := len(in.pending); n != 0 {
		t.Errorf("%d questions wait after the end", n)
	}
}
