package e2e

import (
	"fmt"
	"strings"
	"testing"

	"elicitation-inspector/e2e/internal/servers"
)

// required returns error -32042 with one elicitation per message.
func required(address string, messages ...string) string {
	var list []string
	for i, m := range messages {
		list = append(list, urlParams(m, address, fmt.Sprintf("e-%d", i+1)))
	}
	return `"error":{"code":-32042,"message":"Sign in first.","data":{"elicitations":[` + strings.Join(list, ",") + `]}}`
}

// Without a completion, the person decides when to try again. A call whose page was not
// visited ends with its error.
func TestURLRequiredByHand(t *testing.T) {
	t.Parallel()
	site := newVisited(t)
	after := func(first, then string) servers.Script {
		return func(n int, _ servers.Call) string {
			if n == 1 {
				return first
			}
			return then
		}
	}
	always := func(answer string) servers.Script {
		return func(int, servers.Call) string { return answer }
	}
	server := servers.NewScripted(t, "2025-11-25", map[string]servers.Script{
		"now":       after(required(site.URL, "Visit now?"), servers.Done("welcome now")),
		"marked":    after(required(site.URL, "Visit one?", "Visit two?"), servers.Done("welcome twice")),
		"loop":      always(required(site.URL, "Visit again?")),
		"declined":  always(required(site.URL, "Visit never?")),
		"no_data":   always(`"error":{"code":-32042,"message":"Sign in first."}`),
		"malformed": always(`"error":{"code":-32042,"message":"Sign in first.","data":{"elicitations":"https://parcels.example/"}}`),
		"empty":     always(`"error":{"code":-32042,"message":"Sign in first.","data":{"elicitations":[]}}`),
		"mixed":     always(`"error":{"code":-32042,"message":"Sign in first.","data":{"elicitations":[{"mode":"url","message":"Visit what?"},7,{"message":"Which size?","requestedSchema":{"type":"object","properties":{}}}]}}`),
	})
	s := open(t, server.URL)

	s.call("now")
	s.question("Visit now?").Button("Copy URL and accept").Click()
	s.outcome("Visit now?", "accepted").Button("Retry now").Click()
	s.result("welcome now")

	s.call("marked")
	for _, message := range []string{"Visit one?", "Visit two?"} {
		s.question(message).Button("Copy URL and accept").Click()
		if n := len(server.Calls("marked")); n != 1 {
			t.Fatalf("before %s was done, %d calls went out", message, n)
		}
		s.outcome(message, "accepted").Button("Mark as done").Click()
		s.outcome(message, "marked as done")
	}
	s.result("welcome twice")

	// A server may repeat its question any number of times.
	s.call("loop")
	s.question("Visit again?").Button("Copy URL and accept").Click()
	s.outcome("Visit again?", "accepted").Button("Mark as done").Click()
	s.question("Visit again?").Button("Copy URL and accept").Click()
	s.outcome("Visit again?", "accepted").Button("Give up").Click()
	s.page.Region("Call").Contains("topped")
	if n := len(server.Calls("loop")); n != 2 {
		t.Errorf("%d calls went out, want two", n)
	}

	s.call("declined")
	s.question("Visit never?").Button("Decline").Click()
	s.result("-32042").Contains("Sign in first.")
	if n := len(server.Calls("declined")); n != 1 {
		t.Errorf("%d calls went out though the URL was declined", n)
	}

	// The page explains what is wrong with the error, and shows the error.
	for tool, wrong := range map[string]string{
		"no_data": "no data", "malformed": "data.elicitations", "empty": "data.elicitations",
	} {
		s.call(tool)
		s.result("-32042").Contains("Sign in first.").Contains(wrong)
	}
	// Among several elicitations, invalid ones are refused with the reason.
	s.call("mixed")
	if s.question("Visit what?").Link("Open").Exists() {
		t.Error("a question without a URL can be opened")
	}
	s.state("Which size?", "refused").Contains("error -32042 can only ask for URLs")
	s.question("Visit what?").Button("Decline").Click()
	s.result("-32042")
	site.untouched(t, "without Open")
}
