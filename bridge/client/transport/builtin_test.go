package transport

import (
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"elicitation-inspector/bridge/client/target"
	"elicitation-inspector/bridge/testdata/logtest"
)

func TestBuiltinSession(t *testing.T) {
	noLeaks(t)
	r := &recorder{}
	l := mustOpen(t, target.Spec{Builtin: logtest.Serving(testServer().Connect)}, r, Options{})
	s := connect(t, l, answering())
	if got := mustCall(t, s, "ask", nil); got != "accept window" {
		t.Errorf("ask: %q", got)
	}
	if l.How() != "in process" {
		t.Errorf("how: %q", l.How())
	}
	mustClose(t, l)
	wait(t, l.Done())
	if exit, ok := l.Exit(); ok {
		t.Errorf("exit %+v", exit)
	}
	if err := s.Wait(); err != nil {
		t.Error(err)
	}
	r.checkUnits(t)
}

// Close cancels the server's running handlers and waits for them.
func TestBuiltinEndsItsHandlers(t *testing.T) {
	noLeaks(t)
	r := &recorder{}
	l := mustOpen(t, target.Spec{Builtin: logtest.Serving(testServer().Connect)}, r, Options{Grace: time.Hour})
	s := connect(t, l, nil)
	ended := make(chan error)
	go func() {
		_, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "wait"})
		ended <- err
	}()
	r.await(t, "sent", func(s seen) bool { return s.unit.Message.Method == "tools/call" })
	start := time.Now()
	mustClose(t, l)
	if took := time.Since(start); took > patience/2 {
		t.Errorf("the end took %v", took)
	}
	if err := <-ended; err == nil {
		t.Error("the call has succeeded")
	}
}

// When the server ends the session, the client's session ends too.
func TestBuiltinEndsByItself(t *testing.T) {
	noLeaks(t)
	server := testServer()
	r := &recorder{}
	l := mustOpen(t, target.Spec{Builtin: logtest.Serving(server.Connect)}, r, Options{})
	s := connect(t, l, nil)
	for session := range server.Sessions() {
		if err := session.Close(); err != nil {
			t.Error(err)
		}
	}
	wait(t, l.Done())
	if exit, ok := l.Exit(); !ok || exit.String() != "the built-in server has ended its session" {
		t.Errorf("the exit is %q", exit)
	}
	if err := s.Wait(); err != nil {
		t.Error(err)
	}
}
