package web

import (
	"slices"
	"testing"

	"elicitation-inspector/bridge/client/inspection"
	"elicitation-inspector/bridge/client/live"
	"elicitation-inspector/bridge/client/target"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/servers/demo"
	"elicitation-inspector/bridge/wire"
)

// TestDrawnOnce checks that a question is drawn once when it is asked: what reading the log
// marks is taken with what was marked before.
func TestDrawnOnce(t *testing.T) {
	log, err := wire.NewLog(wire.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	server := demo.New(demo.Options{})
	defer server.Close()
	in := inspection.New(inspection.Config{Targets: []target.Spec{{Name: "demo", Builtin: server.ServeLines}}, Log: log})
	defer in.Close(t.Context())
	changes := in.Subscribe()
	defer changes.Close()
	until := func(holds func([]live.Change) bool) {
		for done := false; !done; done = holds(changes.Take()) {
			<-changes.Ready()
		}
	}
	in.Start()
	until(func([]live.Change) bool { return in.Servers()[0].State == conversation.ServerReady })
	p := New(Config{Inspection: in, Token: "t"}).newPump(t.Context())
	defer p.sub.Close()
	const calls = 20
	again := 0
	for n := 1; n <= calls; n++ {
		if _, err := in.Begin(live.Request{Server: "s1", Kind: conversation.Tool, Name: "deploy", Key: "deploy"}); err != nil {
			t.Fatal(err)
		}
		asked := live.Change{Kind: live.QuestionChanged, Number: n}
		until(func(list []live.Change) bool { return slices.Contains(list, asked) }) // nobody has read the log
		p.take(map[live.Change]bool{})
		in.CatchUp() // as drawing does
		if slices.Contains(p.sub.Take(), asked) {
			again++
		}
		for in.Answer(n, live.Answer{Action: "decline", Actor: conversation.ByPerson}) != nil { // not there yet
			<-changes.Ready()
			changes.Take()
		}
		until(func([]live.Change) bool { c, err := in.Call(n); return err == nil && c.State.Over() })
	}
	if again > calls/2 { // now and then the inbox tells of it once more in between
		t.Errorf("of %d questions, %d were to be drawn again", calls, again)
	}
}
