package e2e

import (
	"strings"
	"testing"
)

// The main job: one command, a page, a tool, its questions as forms, the tool's
// result, and every byte of it in the wire log.
func TestMainJob(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.call("deploy")

	q := s.question("Which build should go out?")
	q.Contains("demo").Contains("deploy")
	if got := willSend(t, q); got != `{"action":"accept","content":{"build":"2291"}}` {
		t.Errorf("the default is not what Accept sends: %s", got)
	}
	q.Field("Build").Choose("2288 · Price rounding fixed, yesterday")
	q.Role("group", "Will send").Contains("2288")
	s.accept(q, 1)
	s.state("Which build should go out?", "answered")

	message := "Deploy build 2288 of checkout? Three services will restart."
	q = s.question(message)
	q.Field("Environment").Choose("Canary")
	q.Field("Change ticket").Type("CHG-20418")
	q.Field("Share of traffic").Fill("0.10")
	q.Field("Notify").Choose("On-call")
	q.Field("Notify").Choose("Team channel")
	q.Role("group", "Will send").Contains("team")
	if sent, want := s.accept(q, 2), `{"action":"accept","content":{"environment":"canary","ticket":"CHG-20418","share":0.10,"notify":["team","me"]}}`; sent != want {
		t.Errorf("sent %s, want %s", sent, want)
	}

	q = s.question("Build 2288 is up in canary, 4% slower than the last one. Keep it?")
	s.accept(q, 3)
	s.result("Build 2288 of checkout is deployed in canary.")

	log := s.page.Region("Wire log")
	log.Contains("tools/call").Contains("accept")
	if got := s.page.Complaints(); len(got) > 0 {
		t.Errorf("the browser complained: %q", got)
	}
	for _, url := range s.page.Requests() {
		if !strings.HasPrefix(url, s.Base+"/") && !strings.HasPrefix(url, strings.Replace(s.Base, "http", "ws", 1)+"/") {
			t.Errorf("the page asked another host: %s", url)
		}
	}
}

// Declining and cancelling take one click, and the tool gets the right action.
func TestDeclineAndCancel(t *testing.T) {
	t.Parallel()
	s := open(t)
	for i, c := range []struct{ button, action, result string }{
		{"Decline", "decline", "No build was chosen. Nothing was deployed."},
		{"Cancel", "cancel", "The deployment was put off before a build was chosen."},
	} {
		s.call("deploy")
		s.question("Which build should go out?").Button(c.button).Click()
		if got, want := s.answer(i+1), `{"action":"`+c.action+`"}`; got != want {
			t.Errorf("%s sent %s, want %s", c.button, got, want)
		}
		s.result(c.result)
		s.page.Region("Wire log").Contains(c.action)
	}
}

// The digits that the person types are the digits on the wire.
func TestDigits(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.call("transfer_money")
	q := s.page.Region("Questions").Article("").All().Having("data-state", "pending").Wait()
	q.Field("Amount").Fill("1250.10")
	q.Role("group", "Will send").Contains("1250.10")
	sent := s.accept(q, 1)
	for _, digits := range []string{`"amount":1250.10,`, `"invoice":9007199254740993,`} {
		if !strings.Contains(sent, digits) {
			t.Errorf("%s was sent without %s", sent, digits)
		}
	}
	s.result("went to Greenfield Bakery")
}
