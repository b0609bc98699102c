package views

import (
	"strings"
	"testing"
	"time"

	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/meaning/lint"
)

// A call whose server asks by a request that the revision does not allow shows this and
// offers another revision, except in a transcript.
func TestUnsent(t *testing.T) {
	call := Call{
		Call:   conversation.Call{Number: 3, State: conversation.Done},
		Server: someServer,
		Unsent: &Unsent{
			Method: "elicitation/create", Revision: "2025-11-25",
			Finding: &lint.Finding{Rule: "request-unsent", Severity: lint.Advice, Text: "The server says so.", Reference: "MCP 2026-07-28"},
		},
	}
	why := region(t, draw(t, CallView(call)), "Why nothing is asked")
	button(t, why, "Reconnect with 2025-11-25 and call again")
	for _, want := range []string{"elicitation/create", "request-unsent", "MCP 2026-07-28"} {
		if !strings.Contains(text(why), want) {
			t.Errorf("it does not say %q: %q", want, text(why))
		}
	}
	call.Unsent.Revision = ""
	why = region(t, draw(t, CallView(call)), "Why nothing is asked")
	if got := every(why, tag("button")); len(got) > 0 {
		t.Errorf("it offers %q", text(got[0]))
	}
	call.Result = &Result{Undeclared: "sampling"}
	button(t, region(t, draw(t, CallView(call)), "What was not declared"), "Declare sampling and call again")
}

// A result with isError is not shown as a success in the timeline.
func TestToolErrorInTimeline(t *testing.T) {
	start := time.Now()
	call := Call{
		Call: conversation.Call{Number: 3, State: conversation.Done, Start: start, Steps: []conversation.Step{
			{Kind: "called", At: start}, {Kind: conversation.StepToolError, At: start, Text: "the tool says that it failed"},
		}},
		Server: someServer,
	}
	if got := byClass(draw(t, CallSteps(call)), "at-"+string(conversation.StepToolError)); len(got) != 1 || !strings.Contains(text(got[0]), "tool error") {
		t.Errorf("the timeline has %d steps that failed", len(got))
	}
}

func TestRememberedLine(t *testing.T) {
	s := someServer
	s.Target = "a1b2"
	for _, c := range []struct {
		settings conversation.ClientSettings
		want     string
		applies  bool
	}{
		{conversation.ClientSettings{}, "2025-11-25, remembered in this browser.", true},
		{conversation.ClientSettings{Protocol: "2025-11-25", Choice: conversation.ChoiceExplicit}, "2025-11-25, remembered in this browser.", false},
		{conversation.ClientSettings{Protocol: "2026-07-28", Choice: conversation.ChoiceExplicit}, "2025-11-25 is remembered in this browser; 2026-07-28 was chosen for this run.", false},
	} {
		s.Settings = c.settings
		line := byID(t, draw(t, ServersBar([]Server{s})), "remembered-s1")
		if !strings.Contains(text(line), c.want) || has(line, "data-applies") != c.applies || !has(line, "hidden") {
			t.Errorf("with %+v: %q", c.settings, text(line))
		}
	}
}

// TestCallSaysWhyItsServerCrashed expects a call whose server has crashed to say why, where the
// list of servers may be out of sight.
func TestCallSaysWhyItsServerCrashed(t *testing.T) {
	c := Call{Call: conversation.Call{Number: 3, State: conversation.Failed}}
	c.Form.Server = Server{ServerStatus: conversation.ServerStatus{ID: "s1", Label: "shop", State: conversation.ServerEnded, Cause: "KeyError: 'door'"}}
	if got := text(draw(t, CallNow(c))); !strings.Contains(got, "KeyError: 'door'") {
		t.Errorf("it says %q", got)
	}
}
