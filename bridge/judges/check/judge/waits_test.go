package judge

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/judges/check/report"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/wire"
)

// timedOut returns a timed-out call with some rounds, of which the last was open for this
// long.
func timedOut(rounds int, open time.Duration) Made {
	end := time.Now()
	m := Made{Call: &conversation.Call{Number: 1, Method: mcp.MethodCallTool, State: conversation.Failed, End: end}, TimedOut: true, Limit: 5 * time.Second}
	for i := range rounds {
		m.Rounds = append(m.Rounds, conversation.Round{Number: i + 1, Request: int64(i + 1), Began: end.Add(-open)})
	}
	return m
}

// TestAskingOn expects no failure for a server that answers each round and asks again, but
// one for a server that leaves a later round without a response.
func TestAskingOn(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		call Made
		want report.Verdict
	}{
		{timedOut(9, 100*time.Millisecond), report.Inconclusive},
		{timedOut(2, 5*time.Second), report.Fail},
		{timedOut(1, 100*time.Millisecond), report.Fail},
	} {
		j := &Judgement{Observation: &Observation{Trial: report.Trial{Behaviour: BehaviourAccept, Revision: mcp.Revision20260728}}}
		if j.answered(test.call); len(j.Findings) != 1 || j.Findings[0].Verdict != test.want {
			t.Errorf("%d rounds: %+v", len(test.call.Rounds), j.Findings)
		}
	}
}

// TestNotDelivered expects no failure for a message that did not reach the server.
func TestNotDelivered(t *testing.T) {
	t.Parallel()
	log, err := wire.NewLog(wire.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = log.Close() })
	for _, f := range []wire.Frame{
		{Dir: wire.ClientToServer, Call: 1, Raw: json.RawMessage(`{"jsonrpc":"2.0","id":1,"method":"tools/call"}`)},
		{Dir: wire.Meta, Call: 1, Note: &wire.Note{Kind: wire.NoteNotDelivered, Why: "timed out"}},
	} {
		log.Append(f)
	}
	j := &Judgement{Observation: &Observation{Trial: report.Trial{Behaviour: "byte-by-byte", Revision: mcp.Revision20260728}, Log: log, Last: log.Len()}}
	if j.answered(timedOut(1, 5*time.Second)); len(j.Findings) != 1 || j.Findings[0].Verdict != report.Inconclusive || !strings.Contains(j.Findings[0].Text, "through in time") {
		t.Errorf("%+v", j.Findings)
	}
}

// TestStillReporting expects no failure for a server that still reports progress, however
// many messages it has sent before.
func TestStillReporting(t *testing.T) {
	t.Parallel()
	log, err := wire.NewLog(wire.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = log.Close() })
	log.Append(wire.Frame{Dir: wire.ClientToServer, Call: 1, Raw: json.RawMessage(`{"jsonrpc":"2.0","id":1,"method":"tools/call"}`)})
	for range 1000 { // more messages than a conversation keeps
		log.Append(wire.Frame{Dir: wire.ServerToClient, Call: 1, Raw: json.RawMessage(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}`)})
	}
	for reported, want := range map[time.Duration]report.Verdict{time.Second: report.Inconclusive, 4 * time.Second: report.Fail} { // time before the end of the call
		call := timedOut(1, 5*time.Second)
		call.End = log.Head(log.Len()).Time.Add(reported)
		j := &Judgement{Observation: &Observation{Trial: report.Trial{Behaviour: BehaviourDecline, Revision: mcp.Revision20251125}, Log: log, Last: log.Len()}}
		if j.answered(call); len(j.Findings) != 1 || j.Findings[0].Verdict != want {
			t.Errorf("%v before the end: %+v", reported, j.Findings)
		}
	}
}
