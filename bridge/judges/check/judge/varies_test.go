package judge

import (
	"encoding/json"
	"testing"

	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/judges/check/report"
	"elicitation-inspector/bridge/meaning/conversation"
)

// TestWhatVaries expects durations and what differs after other trials to be no other result,
// though both honest calls happen to have the same; none in place of some proves nothing.
func TestWhatVaries(t *testing.T) {
	t.Parallel()
	made := func(result string) Made {
		call := &conversation.Call{}
		call.State = conversation.Done
		if call.Result = json.RawMessage(result); result[0] != '{' {
			call.Result = json.RawMessage(`{"content":[{"type":"text","text":` + string(rawjson.Quoted(result)) + `}]}`)
		}
		return Made{Call: call}
	}
	for _, test := range []struct {
		honest, later, got string
		want               standing
	}{
		{"Deleted 3 files in 2 ms.", "", "Deleted 3 files in 41 ms.", same},
		{"3 Dateien gelöscht (1,5 Sekunden)", "", "3 Dateien gelöscht (0,7 Sekunden)", same},
		{"3 ファイルを削除 (2秒)", "", "3 ファイルを削除 (0秒)", same},
		{"Done, elapsed: 2", "", "Done, elapsed: 0", same},
		{`{"structuredContent":{"deleted":3,"took_ms":2}}`, "", `{"structuredContent":{"deleted":3,"took_ms":57}}`, same},
		{`{"structuredContent":{"deleted":3,"durationMs":2}}`, "", `{"structuredContent":{"deleted":0,"durationMs":57}}`, unlike},
		{`{"deleted":3,"executionTime":"2ms"}`, "", `{"deleted":3,"executionTime":"57ms"}`, same},
		{"Order 4b1f at 12:30", "Order 77ac at 12:31", "Order 90e2 at 12:44", same},
		{"Order 17", "", "Order 18", unlike},
		{"Deleted 3 rows", "Deleted 5 rows", "Deleted 4 rows", same},
		{"Deleted 3 rows", "Deleted 5 rows", "Deleted 0 rows", unlike},
		{"Deleted 3 rows", "Deleted 5 rows", "Deleted no rows", unlike},
	} {
		o := &Observation{}
		if test.later != "" {
			o.Later = []Made{made(test.later)}
		}
		honest := []Made{made(test.honest), made(test.honest)}
		if got := o.against(honest, made(test.got).Result, nil, unchanged); got != test.want {
			t.Errorf("%s, then %s: %v, want %v", test.honest, test.got, got, test.want)
		}
	}
}

// answeredCall is a call whose only question was answered with this content; "" for a call that
// asked nothing.
func answeredCall(number int, content, result string, guessed bool) Made {
	call := &conversation.Call{Number: number, Guessed: guessed}
	call.State, call.Result = conversation.Done, json.RawMessage(`{"content":[{"type":"text","text":`+string(rawjson.Quoted(result))+`}]}`)
	if content != "" {
		q := &conversation.Question{}
		q.Params = json.RawMessage(`{"message":"Sure?","requestedSchema":{"type":"object","properties":{"confirm":{"type":"boolean"}},"required":["confirm"]}}`)
		q.Answer = json.RawMessage(`{"action":"accept","content":` + content + `}`)
		call.Questions = []*conversation.Question{q}
	}
	return Made{Call: call}
}

// TestRememberedIsNoSample expects to learn nothing of what varies from a call that shows what an
// earlier call of its session was answered with.
func TestRememberedIsNoSample(t *testing.T) {
	t.Parallel()
	for result, want := range map[string]bool{"Recorded: honest.": true, "Recorded: quokka-73519.": false, "Recorded: okapi-1.": true} {
		after := answeredCall(2, `{"name":"honest"}`, result, false)
		o := &Observation{Calls: []Made{answeredCall(1, `{"name":"quokka-73519"}`, "Recorded: quokka-73519.", false)}, After: &after}
		if got := o.hasSample(); got != want {
			t.Errorf("%s: %v", result, got)
		}
	}
}

// TestGuessedCalls expects calls whose questions nobody can tell apart to be judged by a value
// that was given once, and not by results that mix what was given.
func TestGuessedCalls(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		results [2]string
		want    int
	}{
		"one answer for both": {[2]string{"Recorded: quokka-1.", "Recorded: quokka-1."}, 1},
		"exchanged":           {[2]string{"Recorded: okapi-2.", "Recorded: quokka-1."}, 0},
		"the same for all":    {[2]string{"Recorded.", "Recorded."}, 0},
		"what both were told": {[2]string{"Both said: shared.", "Both said: shared."}, 0},
	} {
		j := &Judgement{Observation: &Observation{Calls: []Made{
			answeredCall(1, `{"name":"quokka-1","place":"shared"}`, c.results[0], true), answeredCall(2, `{"name":"okapi-2","place":"shared"}`, c.results[1], true),
		}}}
		if j.crossed(); len(j.Findings) != c.want {
			t.Errorf("%s: %+v", name, j.Findings)
		}
	}
}

// TestAskedOncePerSession expects no blame for a server that asks nothing after an acceptance in
// the same session.
func TestAskedOncePerSession(t *testing.T) {
	t.Parallel()
	for behaviour, want := range map[string]int{BehaviourRemembered: 0, "no-content": 1} {
		agreed := answeredCall(1, `{"confirm":true}`, "The house is sold.", false)
		j := &Judgement{Observation: &Observation{Calls: []Made{answeredCall(2, "", "The house is sold.", false)}, Honest: []Made{agreed, agreed}}}
		j.Behaviour = behaviour
		j.find(report.RuleNotTried, report.Inconclusive, "It asked nothing.")
		c := &consent{list: []*Judgement{j}, agreed: []Made{agreed}}
		if c.silently(j); len(j.Findings) != 1+want {
			t.Errorf("%s: %+v", behaviour, j.Findings)
		}
	}
}
