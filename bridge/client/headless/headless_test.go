package headless

import (
	"encoding/json"
	"os"
	"testing"
	"time"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/client/target"
	"elicitation-inspector/bridge/keep/script"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/servers/demo"
)

// TestPausesAfterManyRounds has a call of twenty rounds pause once before its end.
func TestPausesAfterManyRounds(t *testing.T) {
	t.Parallel()
	server := demo.New(demo.Options{})
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	s, err := Open(t.Context(), Config{
		Target:   target.Spec{Name: demo.Name, Builtin: server.ServeLines},
		Settings: conversation.ClientSettings{Protocol: mcp.Revision20260728, Choice: conversation.ChoiceExplicit, Elicitation: conversation.DeclareBoth},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	rules, err := script.Parse("answers", []byte("default: {accept: {offer: 1}}"), os.LookupEnv)
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	out, err := s.Call(t.Context(), Call{Kind: conversation.Tool, Key: "haggle", Arguments: json.RawMessage(`{"rounds":20}`), Scripts: []*script.Script{rules}})
	if err != nil || out.Result == nil || out.IsError {
		t.Fatalf("%v: %+v", err, out)
	}
	if took := time.Since(began); took < roundsPause {
		t.Errorf("it went on after %v", took)
	}
}
