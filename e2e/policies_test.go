package e2e

import (
	"fmt"
	"strings"
	"testing"

	"elicitation-inspector/e2e/internal/servers"
)

// A policy answers a server's questions without the person, and the page shows this.
// Questions that it cannot answer are left to the person.
func TestPolicies(t *testing.T) {
	t.Parallel()
	site := newVisited(t)
	rude := servers.NewRude(t, []servers.Question{
		{Name: "size", Params: `{"message":"Which size?","requestedSchema":{"type":"object","properties":{"size":{"type":"string","default":"M"}},"required":["size"]}}`},
		{Name: "name", Params: `{"message":"Which name?","requestedSchema":{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}}`},
		{Name: "page", Params: urlParams("Which page?", site.URL, "p-1")},
	})
	s := openOn(t, rude.Command, "--name", "strict")
	for _, c := range []struct{ policy, chip, answer string }{
		{"Decline", "declines", `{"action":"decline"}`},
		{"Cancel", "cancels", `{"action":"cancel"}`},
		{"Block with an error", "blocked", `"code":-32000`},
		{"Accept with defaults", "accepts with defaults", `{"action":"accept","content":{"size":"M"}}`},
	} {
		s.setPolicy(c.policy)
		s.page.Region("Servers").Contains(c.chip)
		before := len(rude.Answers())
		s.call("size")
		s.result("received: ").Contains(c.answer)
		if got := rude.Answers(); len(got) != before+1 || !strings.Contains(got[before], c.answer) {
			t.Errorf("%s answered %q, want one answer with %s", c.policy, got[before:], c.answer)
		}
		for _, f := range s.Wire() {
			if f.Direction == "c2s" && f.IsResponse() && f.Elicitation > 0 && f.Actor != "policy" {
				t.Errorf("%s: the answer was given by %q", c.policy, f.Actor)
			}
		}
	}
	if s.page.Region("Questions").Article("").All().Having("data-state", "pending").Exists() {
		t.Error("a question that a policy answers was put to the person")
	}

	// Without a default, or for a URL, a person is needed.
	s.call("name")
	s.question("Which name?").Button("Decline").Click()
	s.result(`{"action":"decline"}`)
	s.call("page")
	s.question("Which page?").Button("Decline").Click()
	s.result(`{"action":"decline"}`)

	s.setPolicy("Ask me")
	s.call("size")
	s.question("Which size?").Button("Accept").Click()
	s.result(`{"size":"M"}`)
	site.untouched(t, "by a policy")
}

// Questions beyond the rate are held back in one line, neither dropped nor answered,
// until the person decides.
func TestRateLimit(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		button  string
		shown   int // pending questions afterwards
		sent    int // answers on the wire
		outcome string
	}{
		{"Show", 14, 0, ""},
		{"Decline all", 10, 4, `{"action":"decline"}`},
		{"Block", 0, 1, `"code":-32000`}, // after which the demo cancels the other questions
	} {
		t.Run(c.button, func(t *testing.T) {
			t.Parallel()
			s := open(t, "--protocol", "2025-11-25", "--name", "poll")
			call := s.choose("Tools", "ask_many")
			call.Field("Questions").Fill("14")
			call.Button("Call").Click()
			held := s.page.Role("group", "Held back from poll").Contains("4 more from poll")
			pending := s.page.Region("Questions").Article("").All().Having("data-state", "pending")
			s.page.Until(func() string { return "ten questions are on show" }, func() bool { return pending.Count() == 10 })
			if got := answersOnWire(t, s.Wire()); len(got) > 0 {
				t.Errorf("what is held back was answered: %q", got)
			}
			held.Button(c.button).Click()
			held.Gone()
			var answers []string
			s.page.Until(
				func() string { return fmt.Sprintf("%d questions are on show, and %d are answered", c.shown, c.sent) },
				func() bool {
					answers = answersOnWire(t, s.Wire())
					return pending.Count() == c.shown && (len(answers) == c.sent || c.shown == 0 && len(answers) > 0)
				})
			for _, a := range answers {
				if !strings.Contains(a, c.outcome) {
					t.Errorf("%s sent %s, want %s", c.button, a, c.outcome)
				}
			}
			if c.shown == 0 {
				return
			}
			s.page.Region("Call").Button("Stop").Click()
			s.page.Until(func() string { return "no question waits" }, func() bool { return pending.Count() == 0 })
		})
	}
}

// --elicit-rate sets the rate.
func TestElicitRate(t *testing.T) {
	t.Parallel()
	s := open(t, "--protocol", "2025-11-25", "--elicit-rate", "2", "--name", "poll")
	call := s.choose("Tools", "ask_many")
	call.Field("Questions").Fill("6")
	call.Button("Call").Click()
	s.page.Role("group", "Held back from poll").Contains("4 more from poll")
	pending := s.page.Region("Questions").Article("").All().Having("data-state", "pending")
	if n := pending.Count(); n != 2 {
		t.Errorf("%d questions are on show, want 2", n)
	}
}

// A call's timeout counts the server's own time only. The page shows both clocks and
// names the timer that ended the call.
func TestTimeout(t *testing.T) {
	t.Parallel()
	rude := servers.NewRude(t, nil)
	s := openOn(t, rude.Command)
	start := func(tool, timeout string) {
		call := s.choose("Tools", tool)
		call.Field("Timeout (seconds)").Fill(timeout)
		call.Button("Call").Click()
	}

	start("wait", "0.5")
	s.result("timed out after 500 ms of the server's own time")
	rude.Until("notifications/cancelled", func(line string) bool { return strings.Contains(line, `"notifications/cancelled"`) })

	start("ask", "0.5")
	q := s.question("Who signs the release?")
	q.Field("Signer").Fill("in no hurry")
	s.page.Region("Call").Role("DisclosureTriangle", "Times").Click()
	s.page.Region("Call").Matches("counts a second for the person, which is longer than the timeout", func(shown string) bool {
		clock := strings.TrimSpace(shown[max(0, strings.LastIndex(shown, "waiting for you")+len("waiting for you")):])
		return strings.Contains(clock, ":") && !strings.HasPrefix(clock, "0:00")
	})
	q = s.question("Who signs the release?")
	call := s.page.Region("Call").Contains("waiting for you").Contains("server").Contains("of 0.5 s")
	if shown := call.Text(); strings.Contains(shown, "timed out") {
		t.Errorf("the time for which the person was waited for counted: %q", shown)
	}
	q.Button("Accept").Click()
	s.result(`{"action":"accept","content":{"signer":"in no hurry"}}`)
	s.page.Region("Call").Matches("shows how long the person took", func(shown string) bool {
		_, rest, ok := strings.Cut(shown, "waiting for you")
		return ok && strings.Contains(strings.SplitN(strings.TrimSpace(rest), "\n", 2)[0], " ")
	})

	// After the answer, the rest of the server's time continues.
	call = s.choose("Tools", "ask")
	call.Field("Timeout (seconds)").Fill("no number")
	call.Button("Call").Click()
	s.page.Until(func() string { return "a timeout that is no number is told" }, func() bool {
		shown := call.TextNow() + s.page.Role("alert", "").All().Nth(0).TextNow()
		return strings.Contains(strings.ToLower(shown), "timeout")
	})
	if n := len(s.Wire().Requests("c2s", "tools/call")); n != 2 {
		t.Errorf("%d calls went out, want two", n)
	}
}
