package headless

import (
	"os"
	"testing"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/client/target"
	"elicitation-inspector/bridge/keep/script"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/servers/demo"
	"elicitation-inspector/bridge/wire"
)

// TestLateAnswersGoOut has a call return only when the answer that a fault sends after the
// call's end is in the log, behind the cancellation of the call.
func TestLateAnswersGoOut(t *testing.T) {
	t.Parallel()
	server := demo.New(demo.Options{})
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	for range 10 { // the call's end and the answer are a race
		s, err := Open(t.Context(), Config{
			Target:   target.Spec{Name: demo.Name, Builtin: server.ServeLines},
			Settings: conversation.ClientSettings{Protocol: mcp.Revision20251125, Choice: conversation.ChoiceExplicit, Elicitation: conversation.DeclareBoth},
		})
		if err != nil {
			t.Fatal(err)
		}
		rules, err := script.Parse("answers", []byte("default: {fault: response-after-cancel}"), os.LookupEnv)
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.Call(t.Context(), Call{Kind: conversation.Tool, Key: "book_table", Scripts: []*script.Script{rules}})
		cancelled, answered := int64(0), int64(0)
		for seq := int64(1); seq <= s.Log().Len(); seq++ {
			switch e := s.Log().Entry(seq); {
			case e.Dir != wire.ClientToServer:
			case e.Names().Method == mcp.NotificationCancelled:
				cancelled = seq
			case e.Names().Fault != "":
				answered = seq
			}
		}
		if err != nil || cancelled == 0 || answered < cancelled {
			t.Errorf("%v: cancelled in frame %d, and answered in frame %d", err, cancelled, answered)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}
