package e2e

import (
	"strings"
	"testing"
	"time"

	"elicitation-inspector/e2e/internal/servers"
)

// withdrawnMost is long enough for a busy machine, and too short for a page that polls
// rarely.
const withdrawnMost = 10 * time.Second

// When the server cancels its question, dies, or ends the call, the question is withdrawn
// with the reason, and can no longer be answered.
func TestWithdrawn(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, order string
		reason      string // part of the page's text
		result      string // result of the call, "" if it has none
	}{
		{"cancelled by the server", "cancel", "the maintenance window is over", ""},
		{"the call ends", "return", "", "ended without waiting for the answer"},
		{"the server exits", "exit?code=7", "7", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			rude := servers.NewRude(t, nil)
			s := openOn(t, rude.Command)
			s.call("ask")
			q := s.question("Who signs the release?")
			q.Field("Signer").Fill("too late")
			before := time.Now()
			rude.Order(c.order)
			q = s.state("Who signs the release?", "withdrawn")
			if took := time.Since(before); took > withdrawnMost {
				t.Errorf("it took %v", took)
			}
			q.Contains(c.reason)
			if q.Button("Accept").Exists() || q.Button("Decline").Exists() {
				t.Error("a withdrawn question can still be answered")
			}
			if c.result != "" {
				s.result(c.result)
			}
			// A request that was not cancelled gets a response, but not an answer of the
			// person.
			if got := strings.Join(rude.Answers(), " "); c.order != "return" && got != "" || strings.Contains(got, "too late") {
				t.Errorf("it was answered: %s", got)
			}
		})
	}
}

// When a server dies, the page shows its exit code and last words, and can start it
// again.
func TestServerExits(t *testing.T) {
	t.Parallel()
	rude := servers.NewRude(t, nil)
	s := openOn(t, rude.Command, "--name", "fragile")
	s.call("wait")
	s.page.Region("Call").Button("Stop").Wait()
	rude.Order("exit?code=7")
	bar := s.page.Region("Servers")
	bar.Contains("fragile").Contains("ended")
	s.page.Region("Tools").Contains("7").Contains("fatal: the licence has run out")

	s.page.Region("Tools").Button("Reconnect").Click()
	bar.Contains("ready")
	s.call("ask")
	q := s.question("Who signs the release?")
	q.Button("Decline").Click()
	s.result(`received: {"action":"decline"}`)
}

// A server that cannot be started is shown with the reason.
func TestServerDoesNotStart(t *testing.T) {
	t.Parallel()
	rude := servers.NewRude(t, nil, "-die")
	s := openOn(t, rude.Command)
	s.page.Region("Servers").Contains("failed")
	s.page.Region("Tools").Contains("3").Contains("cannot open the database: no such file")

	none := open(t, "--", "/no/such/program", "--flag")
	none.page.Region("Servers").Contains("failed")
	none.page.Region("Tools").Contains("/no/such/program")
}

// When the person stops a call, the server gets a cancellation, and the call's question
// is withdrawn.
func TestStop(t *testing.T) {
	t.Parallel()
	rude := servers.NewRude(t, nil)
	s := openOn(t, rude.Command)
	s.call("wait")
	s.page.Region("Call").Button("Stop").Click()
	rude.Until("notifications/cancelled", func(line string) bool { return strings.Contains(line, `"notifications/cancelled"`) })
	s.page.Region("Call").Contains("topped")

	s.call("ask")
	s.question("Who signs the release?")
	s.page.Region("Call").Button("Stop").Click()
	s.state("Who signs the release?", "withdrawn")
}
