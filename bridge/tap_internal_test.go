package bridge

import (
	"errors"
	"fmt"
	"testing"

	"elicitation-inspector/bridge/target"
	"elicitation-inspector/bridge/wire"
)

// tapped is a session whose tap is driven by hand, so that what happens at one
// moment happens in a known order.
func tapped(t *testing.T) (*Inspection, *session) {
	t.Helper()
	log, err := wire.NewLog(wire.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = log.Close() })
	in := New(Config{Log: log, Targets: []target.Spec{{Name: "raw", Command: []string{"none"}}}})
	s := newSession(in.servers[0], 1, Settings{})
	s.recorded = Revision20251125
	in.servers[0].session = s
	return in, s
}

// unit is a message as the tap sees it.
func unit(t *testing.T, raw string) target.Unit {
	t.Helper()
	m, err := wire.ParseMessage([]byte(raw))
	if err != nil {
		t.Fatal(err)
	}
	return target.Unit{Frame: wire.Frame{Raw: []byte(raw), Size: int64(len(raw)), Message: m, Kind: m.Kind}}
}

// A cancellation can come when the person has answered and the answer has not
// gone out. It must not go out then, and the page must not say that it did.
func TestCancelledBetweenTheAnswerAndItsWayOut(t *testing.T) {
	in, s := tapped(t)
	s.Received(unit(t, `{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"message":"?","requestedSchema":{"type":"object","properties":{}}}}`))
	if _, err := in.Answer(1, Answer{Action: "accept", Actor: ByPerson}); err != nil {
		t.Fatal(err)
	}
	s.Received(unit(t, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"reason":"lunch"}}`))
	if s.Sent(unit(t, `{"jsonrpc":"2.0","id":1,"result":{"action":"accept"}}`)) {
		t.Error("the answer goes out")
	}
	q, err := in.Question(1)
	if err != nil {
		t.Fatal(err)
	}
	if q.State != Undelivered || q.Reason != "cancelled by the server: lunch, before the answer went out" || q.AnswerSeq != 0 {
		t.Errorf("question is %s: %q, answered in frame %d", q.State, q.Reason, q.AnswerSeq)
	}
	if in.Waits(q.Seq, s.name) {
		t.Error("the request is said to wait for a response")
	}
}

// A cancellation that comes after the answer changes nothing.
func TestCancelledAfterTheAnswer(t *testing.T) {
	in, s := tapped(t)
	s.Received(unit(t, `{"jsonrpc":"2.0","id":"a","method":"elicitation/create","params":{"message":"?","requestedSchema":{"type":"object","properties":{}}}}`))
	if _, err := in.Answer(1, Answer{Action: "decline", Actor: ByPerson}); err != nil {
		t.Fatal(err)
	}
	if !s.Sent(unit(t, `{"jsonrpc":"2.0","id":"a","result":{"action":"decline"}}`)) {
		t.Error("the answer is kept back")
	}
	s.Received(unit(t, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"a","reason":"too slow"}}`))
	q, err := in.Question(1)
	if err != nil {
		t.Fatal(err)
	}
	if q.State != Answered || q.By != ByPerson || q.Reason != "" {
		t.Errorf("question is %s by %s: %q", q.State, q.By, q.Reason)
	}
}

// What a server asks while its connection ends waits for nobody.
func TestAskedWhileTheConnectionEnds(t *testing.T) {
	in, s := tapped(t)
	s.release(ByPolicy, "reconnecting")
	s.Received(unit(t, `{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"message":"?","requestedSchema":{"type":"object","properties":{}}}}`))
	q, err := in.Question(1)
	if err != nil {
		t.Fatal(err)
	}
	if q.State != Withdrawn {
		t.Errorf("question is %s", q.State)
	}
}

// A server that never stops asking does not fill the memory with what it asked.
func TestSettledQuestionsAreForgotten(t *testing.T) {
	in, s := tapped(t)
	in.servers[0].policy = PolicyDecline
	const many = 2*fadedKept + settledKept + 500
	for n := range many {
		s.Received(unit(t, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"elicitation/create","params":{"message":"?","requestedSchema":{"type":"object","properties":{}}}}`, n)))
	}
	if n := len(in.Questions()); n > many-fadedKept {
		t.Errorf("%d of %d questions are known", n, many)
	}
	if _, err := in.Question(1); !errors.Is(err, ErrUnknownQuestion) {
		t.Errorf("the first: %v", err)
	}
	if q, err := in.Question(many); err != nil || q.State != Answered || q.Request == nil {
		t.Errorf("the last is %s, %v", q.State, err)
	}
	in.running.Wait()
}
