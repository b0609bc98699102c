package inspection

import (
	"context"
	"errors"
	"io"
	"testing"

	"elicitation-inspector/bridge/client/live"
	"elicitation-inspector/bridge/client/session"
	"elicitation-inspector/bridge/client/target"
	"elicitation-inspector/bridge/client/transport"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/wire"
)

// tapped returns a session whose tap the test calls directly, so that concurrent events
// have a fixed order: the server does not start before the test ends.
func tapped(t *testing.T) (*Inspection, *session.Session) {
	t.Helper()
	log, err := wire.NewLog(wire.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	over := make(chan struct{})
	in := New(Config{Log: log, Targets: []target.Spec{{Name: "raw", Builtin: func(context.Context, io.Reader, io.Writer) error {
		<-over
		return errors.New("the test is over")
	}}}})
	t.Cleanup(func() {
		close(over)
		if err := errors.Join(in.Close(context.Background()), log.Close()); err != nil {
			t.Error(err)
		}
	})
	changed := in.Subscribe()
	defer changed.Close()
	in.Start()
	for in.Servers()[0].Session == "" {
		<-changed.Ready()
		changed.Take()
	}
	return in, in.servers.live.Session(in.Servers()[0].Session)
}

// unit returns a message in the form that the tap receives.
func unit(t *testing.T, raw string) transport.Tapped {
	t.Helper()
	m, err := wire.ParseMessage([]byte(raw))
	if err != nil {
		t.Fatal(err)
	}
	return transport.Tapped{Frame: wire.Frame{Raw: []byte(raw), Size: int64(len(raw)), Message: m, Kind: m.Kind}}
}

// A cancellation can arrive after the person has answered and before the answer is sent.
// Then the answer must not be sent, and the page must not show it as sent.
func TestCancelledBetweenTheAnswerAndItsWayOut(t *testing.T) {
	in, s := tapped(t)
	tap := s.Observer()
	tap.Received(unit(t, `{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"message":"?","requestedSchema":{"type":"object","properties":{}}}}`))
	if err := in.Answer(1, live.Answer{Action: "accept", Actor: conversation.ByPerson}); err != nil {
		t.Fatal(err)
	}
	tap.Received(unit(t, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"reason":"lunch"}}`))
	if tap.Sending(t.Context(), unit(t, `{"jsonrpc":"2.0","id":1,"result":{"action":"accept"}}`)) {
		t.Error("the answer goes out")
	}
	q, err := in.Question(1)
	if err != nil {
		t.Fatal(err)
	}
	if q.State != conversation.Undelivered || q.Reason != "cancelled by the server: lunch, before the answer went out" || q.AnswerSeq != 0 {
		t.Errorf("question is %s: %q, answered in frame %d", q.State, q.Reason, q.AnswerSeq)
	}
	if in.Waits(q.AskedSeq, s.Name) {
		t.Error("the request is said to wait for a response")
	}
}

// A cancellation that comes after the answer changes nothing.
func TestCancelledAfterTheAnswer(t *testing.T) {
	in, s := tapped(t)
	tap := s.Observer()
	tap.Received(unit(t, `{"jsonrpc":"2.0","id":"a","method":"elicitation/create","params":{"message":"?","requestedSchema":{"type":"object","properties":{}}}}`))
	if err := in.Answer(1, live.Answer{Action: "decline", Actor: conversation.ByPerson}); err != nil {
		t.Fatal(err)
	}
	if !tap.Sending(t.Context(), unit(t, `{"jsonrpc":"2.0","id":"a","result":{"action":"decline"}}`)) {
		t.Error("the answer is kept back")
	}
	tap.Received(unit(t, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"a","reason":"too slow"}}`))
	q, err := in.Question(1)
	if err != nil {
		t.Fatal(err)
	}
	if q.State != conversation.Answered || q.By != conversation.ByPerson || q.Reason != "" {
		t.Errorf("question is %s by %s: %q", q.State, q.By, q.Reason)
	}
}

// A question that arrives while its connection ends does not wait.
func TestAskedWhileTheConnectionEnds(t *testing.T) {
	in, s := tapped(t)
	tap := s.Observer()
	s.Release(false, "reconnecting")
	tap.Received(unit(t, `{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"message":"?","requestedSchema":{"type":"object","properties":{}}}}`))
	q, err := in.Question(1)
	if err != nil {
		t.Fatal(err)
	}
	if q.State != conversation.Withdrawn {
		t.Errorf("question is %s", q.State)
	}
}
