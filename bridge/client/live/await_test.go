package live

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/client/session"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/meaning/elicit"
	"elicitation-inspector/bridge/wire"
)

// connection answers every request with the same result.
type connection struct {
	ctx    context.Context
	in     *Inbox
	result string
	mu     sync.Mutex
	sent   []time.Time
}

func (c *connection) RoundTrip(_ context.Context, r session.Request) (session.Reply, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sent = append(c.sent, time.Now())
	return session.Reply{Seq: int64(len(c.sent)), Question: len(c.sent), Message: wire.Message{Kind: wire.Result, Result: []byte(c.result)}}, nil
}

func (c *connection) TaskTold(string) <-chan struct{}                    { return nil }
func (c *connection) TaskOver(string)                                    {}
func (c *connection) ResumeTask(int, int, string, conversation.TaskKeys) {}
func (c *connection) CanCancelTasks() bool                               { return false }
func (c *connection) ReadToolsAgain() bool                               { return false }

func (c *connection) Judge(r *conversation.InputRequest) { r.Request, _ = elicit.Parse(r.Params) }

func (c *connection) Revision() string                                      { return mcp.Revision20260728 }
func (c *connection) ID() string                                            { return "one" }
func (c *connection) Context() context.Context                              { return c.ctx }
func (c *connection) EndedBy() (by, reason string)                          { return "", "" }
func (c *connection) Noted(wire.Frame)                                      {}
func (c *connection) Misbehave(context.Context, session.Misbehaviour) error { return nil }

// owner passes what the inbox tells to the calls.
type owner struct{ calls *Calls }

func (o *owner) Settled(q Question)                        { o.calls.Settled(q) }
func (o *owner) Changed(q Question)                        { o.calls.Changed(q) }
func (o *owner) ParamsAt(int64) (map[string][]byte, error) { return nil, nil }

func begin(t *testing.T, result string) (*Calls, *Inbox, *connection) {
	o := &owner{}
	in := NewInbox(o, NewFeed(), 0, 0)
	o.calls = NewCalls(NewFeed(), in, func(run func()) bool { go run(); return true }, func(int) {}, func(string) {})
	ctx, end := context.WithCancel(t.Context())
	t.Cleanup(end)
	return o.calls, in, &connection{ctx: ctx, in: in, result: result}
}

// A call that retries at an interval is not held up by what wakes it in between.
func TestIntervalOutlastsWakeUps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cs, in, conn := begin(t, `{"resultType":"input_required","inputRequests":{"k":{"method":"elicitation/create","params":{"mode":"url","message":"Go","url":"https://example.org/"}}}}`)
		began := time.Now()
		call := cs.Begin(conn, Request{Server: "s1", Kind: conversation.Tool, Name: "a", Key: "a"})
		synctest.Wait()
		if err := in.Answer(1, Answer{Action: "accept", Actor: conversation.ByPerson}); err != nil {
			t.Fatal(err)
		}
		if err := cs.RetryEvery(call.Number, 10*time.Second); err != nil {
			t.Fatal(err)
		}
		for range 15 {
			time.Sleep(3 * time.Second)
			cs.Settled(Question{InputRequest: conversation.InputRequest{Call: call.Number}}) // a request that the server makes besides
		}
		synctest.Wait()
		got := ""
		for _, at := range conn.sent {
			got += fmt.Sprint(at.Sub(began), " ")
		}
		if want := "0s 10s 20s 30s 40s "; got != want {
			t.Errorf("requests went out after %s, want %s", got, want)
		}
		if err := cs.Stop(call.Number); err != nil {
			t.Fatal(err)
		}
	})
}

// Of calls that have ended, only the latest are looked at.
func TestEndedCallsLeaveNothing(t *testing.T) { synctest.Test(t, endedCallsLeaveNothing) }

func endedCallsLeaveNothing(t *testing.T) {
	cs, _, conn := begin(t, `{"resultType":"complete","content":[]}`)
	const many = 3 * Kept
	for range many {
		cs.Begin(conn, Request{Server: "s1", Kind: conversation.Tool, Name: "a", Key: "a"})
		synctest.Wait()
	}
	if len(cs.calls) != Kept || len(cs.All()) != Kept || cs.All()[0].Number != many-Kept+1 {
		t.Errorf("%d calls are kept", len(cs.calls))
	}
	for number, want := range map[int]error{0: ErrUnknownCall, 1: ErrForgotten, many: nil, many + 1: ErrUnknownCall} {
		if _, err := cs.Call(number); !errors.Is(err, want) {
			t.Errorf("call %d: %v", number, err)
		}
	}
}
