package web

import (
	"context"
	"sync"
	"testing"

	"github.com/labstack/echo/v4"

	"elicitation-inspector/bridge"
	"elicitation-inspector/bridge/conversation"
	"elicitation-inspector/bridge/demo"
	"elicitation-inspector/bridge/live"
	"elicitation-inspector/bridge/transport"
	"elicitation-inspector/bridge/wire"
	"elicitation-inspector/views"
)

// counting is a panel that counts how often each question is to be drawn at once.
type counting struct {
	mu    sync.Mutex
	drawn map[int]int
}

func (*counting) routes(*echo.Echo) {}
func (*counting) fill(*views.Page)  {}

func (p *counting) draw(_ *painter, c changed) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for one := range c.what {
		if c.when == atOnce && one.Kind == live.QuestionChanged {
			p.drawn[one.Number]++
		}
	}
}

func (p *counting) of(question int) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.drawn[question]
}

// TestDrawnOnce checks that a question is drawn once when it is asked, and once when it is
// answered, over twenty calls: what reading the log marks is drawn with what was marked before.
func TestDrawnOnce(t *testing.T) {
	log, err := wire.NewLog(wire.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	server := demo.New(demo.Options{})
	defer server.Close()
	in := bridge.New(bridge.Config{Targets: []transport.Spec{{Name: "demo", Builtin: server.ServeLines}}, Log: log})
	defer in.Close(t.Context())
	changes := in.Subscribe()
	defer changes.Close()
	until := func(what string, holds func() bool) {
		t.Helper()
		for !holds() {
			select {
			case <-changes.Ready():
				changes.Take()
			case <-t.Context().Done():
				t.Fatal(what)
			}
		}
	}
	in.Start()
	until("the server is ready", func() bool { return in.Servers()[0].State == conversation.ServerReady })
	s := New(Config{Inspection: in, Token: "t"})
	count := &counting{drawn: map[int]int{}}
	s.panels = append(s.panels, count)
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(s.newPump(ctx).run)
	const calls = 20
	for n := 1; n <= calls; n++ {
		if _, err := in.Begin(live.Request{Server: "s1", Kind: conversation.Tool, Name: "deploy", Key: "deploy"}); err != nil {
			t.Fatal(err)
		}
		until("a question waits", func() bool {
			q, err := in.Question(n)
			return err == nil && q.State == conversation.Pending
		})
		if err := in.Answer(n, live.Answer{Action: "decline", Actor: conversation.ByPerson}); err != nil {
			t.Fatal(err)
		}
		until("the call is over", func() bool { c, err := in.Call(n); return err == nil && c.State.Over() })
	}
	stop()
	running.Wait()
	total := 0
	for n := 1; n <= calls; n++ {
		total += count.of(n)
	}
	// Now and then a turn falls between two marks of the same change.
	if total < calls || total > 2*calls+calls/2 {
		t.Errorf("%d questions were drawn %d times", calls, total)
	}
}
