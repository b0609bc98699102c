// The race detector makes these tables of trials several times slower. The tests of whole
// checks, in package check, run trials at the same time with it.

//go:build !race

package judge

import (
	"encoding/json"
	"flag"
	"maps"
	"slices"
	"strings"
	"testing"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/judges/check/report"
	"elicitation-inspector/bridge/meaning/conversation"
)

var whole = flag.Bool("whole", false, "try every behaviour on every right server")

// TestRightServers expects no finding for servers that are right. Without -whole, each tries the
// three actions, and a third of the other behaviours in turn.
func TestRightServers(t *testing.T) {
	t.Parallel()
	for i, name := range slices.Sorted(maps.Keys(tastes)) {
		if !strings.HasPrefix(name, "right: ") {
			continue
		}
		trials := every
		if !*whole {
			trials = slices.Clone(every[:3])
			for n := 3 + i%3; n < len(every); n += 3 {
				trials = append(trials, every[n])
			}
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for trial, found := range judged(t, name, mcp.Revision20251125, trials...) {
				for _, f := range found {
					if f.Verdict == report.Fail || f.Verdict == report.Warn {
						t.Errorf("%s: %+v", trial, f)
					}
				}
			}
		})
	}
}

// TestWaitingOn allows a server to keep waiting if it got no answer that it can use.
func TestWaitingOn(t *testing.T) {
	t.Parallel()
	for trial, found := range judged(t, "right: greets", mcp.Revision20250618, waitedOn...) {
		if len(found) == 0 || found[0].Rule != report.RuleNoResponse || found[0].Verdict != report.Inconclusive || found[0].Reference != "" {
			t.Errorf("%s: %+v", trial, found)
		}
	}
}

// TestWrongServers expects exactly the planted defects, with the frames that prove them.
func TestWrongServers(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		server, trial string
		want          []string
		words         string // in the text of the first finding
	}{
		{"uses whatever comes", "wrong-type name", []string{"uses-invalid-content warn"}, "Hello 12345, size 3!"},
		{"uses whatever comes", "above-maximum size", []string{"uses-invalid-content warn"}, "size 10!"},
		{"uses whatever comes", "missing-field name", []string{"uses-invalid-content warn"}, "Hello undefined"},
		{"uses whatever comes", "extra-field", nil, ""},
		{"stores whatever comes", "wrong-type size", []string{"uses-invalid-content warn"}, ""},
		{"stores whatever comes", "array-content", []string{"uses-invalid-content warn"}, ""},
		{"reads content that is not there", BehaviourDecline, []string{"acts-without-consent fail"}, "booked for undefined"},
		{"reads content that is not there", "decline-with-content", []string{"acts-without-consent fail"}, "booked for narwhal"},
		{"uses refused content", "cancel-with-content", []string{"acts-without-consent fail"}, "booked for narwhal"},
		{"uses refused content", BehaviourCancel, nil, ""},
		{"shows its inside", "no-content", []string{"leaks-internals fail"}, "Cannot read properties of undefined"},
		{"hangs after a cancel", BehaviourCancel, []string{"no-response fail"}, "no response within 5"},
		{"crashes on a decline", BehaviourDecline, []string{"process-ended fail"}, "assignment to entry in nil map"},
		{"crashes as Python does", BehaviourDecline, []string{"process-ended fail"}, `Its last words: "KeyError: 'name'"`},
		{"leaves without a word", BehaviourDecline, []string{"process-ended fail"}, "left the call without a response"},
		{"is stuck after an error", "any-error", []string{"unusable fail"}, "next call"},
		{"asks for ever", BehaviourDeclineAlways, []string{"asks-for-ever warn"}, "20 times"},
		{"asks for a password", BehaviourAccept, []string{"secret-in-form fail"}, ""},
	} {
		t.Run(test.server+": "+test.trial, func(t *testing.T) {
			t.Parallel()
			found := judged(t, test.server, mcp.Revision20251125, test.trial)[test.trial]
			if got := verdictsOf(found, report.Warn); !slices.Equal(got, test.want) {
				t.Fatalf("%v, want %v: %+v", got, test.want, found)
			}
			for _, f := range found {
				if f.Verdict != report.Inconclusive && (len(f.Frames) == 0 || f.Reference == "" || !strings.Contains(f.Text, test.words)) {
					t.Errorf("%+v", f)
				}
			}
		})
	}
}

// TestActsWithoutConsent expects a result that is equal to that of an accepted call to
// prove something only together with other trials.
func TestActsWithoutConsent(t *testing.T) {
	t.Parallel()
	const blamed, proceeds, unasked = "acts-without-consent fail", "acts-without-consent warn", "goes-on-unasked warn"
	all := func(except ...string) map[string]string {
		want := map[string]string{"no-elicitation": unasked}
		for _, trial := range []string{BehaviourDecline, BehaviourCancel, "decline-with-content", "cancel-with-content", "any-error", "method-not-found", "null-result", "string-result", "unknown-action", "no-action"} {
			if !slices.Contains(except, trial) {
				want[trial] = blamed
			}
		}
		return want
	}
	confirmed := all("unknown-action", "no-action", "null-result", "string-result")
	confirmed["no-content"], confirmed["missing-field confirm"] = blamed, blamed
	for server, want := range map[string]map[string]string{
		"takes a decline for an accept":                               all(BehaviourCancel, "cancel-with-content"),
		"queries after any error":                                     all(BehaviourDecline, BehaviourCancel, "decline-with-content", "cancel-with-content", "unknown-action", "no-action"),
		"shows what was refused":                                      {"unknown-action": blamed},
		"ignores what is confirmed":                                   {BehaviourDenied: blamed},
		"confirms by itself":                                          confirmed,
		"asks until it is confirmed":                                  {},
		"takes an acceptance that leaves out what is to be confirmed": {},
		"asks only whom it can ask":                                   {"no-elicitation": unasked},
		"right: orders the plain one":                                 {},
		"right: thanks whatever is said":                              {BehaviourDecline: proceeds, "decline-with-content": proceeds},
	} {
		t.Run(server, func(t *testing.T) {
			t.Parallel()
			trials := []string{BehaviourOther, BehaviourDecline, BehaviourCancel, "decline-with-content", "cancel-with-content", "any-error", "method-not-found", "null-result", "string-result",
				"unknown-action", "no-action", "no-content", "no-elicitation"}
			if strings.Contains(server, "confirm") {
				trials = append(trials[1:], BehaviourDenied, "missing-field confirm")
			}
			for trial, found := range judged(t, server, mcp.Revision20251125, trials...) {
				if got := strings.Join(verdictsOf(found, report.Warn), ", "); got != want[trial] {
					t.Errorf("%s: %q, want %q: %+v", trial, got, want[trial], found)
				}
			}
		})
	}
}

// TestBrokenYes expects a broken yes to be told from a value that the result shows, although
// the accepted calls differ in another field.
func TestBrokenYes(t *testing.T) {
	t.Parallel()
	const broken = "wrong-type confirm"
	found := judged(t, "takes any value for the yes", mcp.Revision20251125, BehaviourOther, BehaviourDenied, broken)
	if got := strings.Join(verdictsOf(found[broken], report.Warn), ", "); got != "acts-without-consent fail" {
		t.Errorf("%q: %+v", got, found[broken])
	}
}

// TestStuckIsSteady expects trials to be compared although the next call after another
// one got no response.
func TestStuckIsSteady(t *testing.T) {
	t.Parallel()
	const refused = "decline-with-content"
	found := judged(t, "uses refused content, and is stuck after an error", mcp.Revision20251125, "any-error", refused)
	if got := strings.Join(verdictsOf(found[refused], report.Warn), ", "); got != "acts-without-consent fail" {
		t.Errorf("%q: %+v", got, found[refused])
	}
}

// TestEffects expects what a witness saw to be definite.
func TestEffects(t *testing.T) {
	t.Parallel()
	const server = "right: thanks whatever is said"
	for _, test := range []struct {
		trial string
		state EffectState
		want  string
	}{
		{BehaviourDecline, Changed, "acts-without-consent fail"},
		{"no-elicitation", Changed, "goes-on-unasked warn"},
		{BehaviourDeclineAlways, Changed, "acts-without-consent fail"},
		{BehaviourAccept, Changed, ""},
		{BehaviourDecline, Unchanged, ""},
		{BehaviourDecline, EffectUnknown, "acts-without-consent inconclusive"},
	} {
		o := observe(t, server, mcp.Revision20251125, test.trial, answersOf(test.trial, ""))
		o.Honest = observe(t, server, mcp.Revision20251125, BehaviourAccept, honestAnswers).Calls
		o.Effect = Effect{test.state, "list said 3 files before the call, and 2 after it"}
		j := Alone(o)
		Together([]*Judgement{j})
		if got := strings.Join(verdictsOf(j.Findings, report.Inconclusive), ", "); got != test.want {
			t.Errorf("%s, %v: %q, want %q: %+v", test.trial, test.state, got, test.want, j.Findings)
		}
	}
}

// TestFailsAfterwards expects that only other trials tell a tool that fails after one
// trial from a tool that fails by chance.
func TestFailsAfterwards(t *testing.T) {
	t.Parallel()
	const server = "fails for ever after an error"
	found := judged(t, server, mcp.Revision20251125, "any-error", BehaviourAccept, BehaviourDecline, BehaviourCancel, "no-content")
	for trial, list := range found {
		want := []string(nil)
		if trial == "any-error" {
			want = []string{"refuses-afterwards warn"}
		}
		if got := verdictsOf(list, report.Warn); !slices.Equal(got, want) {
			t.Errorf("%s: %+v", trial, list)
		}
	}
}

// TestTheSameResultIsNoOther expects a refusal to prove nothing about another one with the
// same result, however the two compare with accepted calls.
func TestTheSameResultIsNoOther(t *testing.T) {
	t.Parallel()
	trial := func(behaviour, result string, s standing) *Judgement {
		call := &conversation.Call{}
		call.Result = json.RawMessage(result)
		return &Judgement{Observation: &Observation{Trial: report.Trial{Behaviour: behaviour, Question: 1}, Calls: []Made{{Call: call}}}, standing: s}
	}
	for decline, want := range map[string]bool{`{"content":[]}`: false, `{"content":[1]}`: true} {
		cancel := trial(BehaviourCancel, `{"content":[]}`, same)
		c := &consent{list: []*Judgement{cancel, trial(BehaviourDecline, decline, different), trial("decline-with-content", decline, different)}}
		if c.refuses(cancel, BehaviourDecline) != want {
			t.Errorf("%s: %v", decline, !want)
		}
	}
}

// TestGroupsStandTogether expects the behaviours of each group next to each other: reports and the
// page give each group one heading.
func TestGroupsStandTogether(t *testing.T) {
	seen := map[string]bool{}
	latest := ""
	for _, b := range Behaviours() {
		if b.Group != latest && seen[b.Group] {
			t.Errorf("%s stands apart from its group, %s", b.Name, b.Group)
		}
		seen[b.Group], latest = true, b.Group
	}
}
