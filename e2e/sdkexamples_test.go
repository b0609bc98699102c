package e2e

import (
	"strings"
	"testing"

	"elicitation-inspector/e2e/internal/servers"
)

// npm's SDK sends this example's questions on the standalone GET stream, which does not
// identify their call; only one call runs.
func TestSDKFormExample(t *testing.T) {
	t.Parallel()
	s := open(t, servers.SDKExample(t, "elicitationFormExample"))
	s.page.Region("Servers").Contains("2025-11-25")
	const asks = "Please provide your registration information:"

	s.call("register_user")
	q := s.question(asks).Contains("register_user")
	q.Field("Username").Type("ada")
	q.Field("Email").Type("ada@example.org")
	q.Field("Password").Type("12 characters")
	q.Field("Role").Choose("Manager")
	q.Field("Interests").Choose("mobile")
	q.Field("Interests").Choose("ai")
	q.Role("group", "Will send").Contains(`"mobile"`).Contains(`"ai"`).Contains("12 characters").Contains("manager")
	sent := s.accept(q, 1)
	if want := `{"action":"accept","content":{"username":"ada","email":"ada@example.org","password":"12 characters","newsletter":false,"role":"manager","interests":["mobile","ai"]}}`; sent != want {
		t.Errorf("sent %s, want %s", sent, want)
	}
	s.result("Registration successful!").Contains("Username: ada").Contains("Newsletter: No")
	asked := s.Wire().Requests("s2c", "elicitation/create")
	if len(asked) != 1 || asked[0].Stream != "get-sse" || asked[0].Call != 1 {
		t.Errorf("the question is %+v, want one on the GET stream, of call 1", asked)
	}

	s.call("register_user")
	s.question(asks).Button("Decline").Click()
	s.result("Registration cancelled by user.")
	s.call("register_user")
	s.question(asks).Button("Cancel").Click()
	s.page.Region("Result").Matches("is another result than before", func(shown string) bool {
		return strings.Contains(shown, "Registration was cancelled")
	})

	s.call("create_event")
	q = s.question("Step 1: Enter basic event information")
	q.Field("Event Title").Type("Launch")
	q.Role("group", "Will send").Contains("Launch")
	q.Button("Accept").Click()
	q = s.question("Step 2: Enter date and time")
	q.Field("Date").Focus()
	s.page.Type("12102026")
	q.Field("Start Time").Type("09:30")
	q.Field("Duration").Fill("45")
	q.Role("group", "Will send").Contains("2026-12-10").Contains("45").Contains("09:30")
	q.Button("Accept").Click()
	s.result("Event created successfully!").Contains(`"duration": 45`)

	// It asks for a password in a form, which is the only finding, and a correct one.
	s.foundAll("secret-in-form")
}

// The SDK cancels its question after 60 s, which a faster clock shortens to half a
// second, and ends the call. Both messages travel on separate streams and may arrive in
// either order. The question is withdrawn, and no person has answered it.
func TestSDKFormExampleTimesOut(t *testing.T) {
	t.Parallel()
	const hurry = "NODE_OPTIONS=--import=data:text/javascript,globalThis.patient=setTimeout;globalThis.setTimeout=(f,ms,...rest)=>patient(f,ms===60000?500:ms,...rest)"
	s := open(t, servers.SDKExample(t, "elicitationFormExample", hurry))
	s.call("register_user")
	q := s.state("Please provide your registration information:", "withdrawn")
	s.result("Registration failed: ").Contains("Request timed out")
	q.Matches("says why", func(shown string) bool {
		return strings.Contains(shown, "Request timed out") || strings.Contains(shown, "call 1 ended")
	})
	s.page.Until(func() string { return "the cancellation is on the wire" }, func() bool {
		return len(s.Wire().Requests("s2c", "notifications/cancelled")) == 1
	})
	for _, f := range s.Wire().In("c2s") {
		if f.Elicitation > 0 && f.Actor == "person" {
			t.Errorf("the question was answered as if by the person: %s", f.Bytes())
		}
	}
}

// The SDK's large example asks on the stream of the call.
func TestSDKStreamableExample(t *testing.T) {
	t.Parallel()
	s := open(t, servers.SDKExample(t, "simpleStreamableHttp"))
	ask := func(kind string) {
		call := s.choose("Tools", "collect-user-info")
		call.Field("infoType").Choose(kind)
		call.Button("Call").Click()
	}
	ask("contact")
	q := s.question("Please provide your contact information").Contains("collect-user-info")
	q.Field("Full Name").Type("Ada Lovelace")
	q.Field("Email Address").Type("ada@example.org")
	q.Role("group", "Will send").Contains("ada@example.org")
	if sent, want := s.accept(q, 1), `{"action":"accept","content":{"name":"Ada Lovelace","email":"ada@example.org"}}`; sent != want {
		t.Errorf("sent %s, want %s", sent, want)
	}
	s.result("Thank you! Collected contact information:")
	for _, asked := range s.Wire().Requests("s2c", "elicitation/create") {
		if asked.Stream != "post-sse" || asked.Call != 1 {
			t.Errorf("the question came on the stream %q, of call %d", asked.Stream, asked.Call)
		}
	}

	ask("preferences")
	q = s.question("Please set your preferences")
	q.Field("Theme").Choose("Dark")
	q.Role("group", "Will send").Contains("dark")
	q.Button("Accept").Click()
	s.result(`"theme": "dark"`).Contains(`"notifications": true`)

	ask("feedback")
	q = s.question("Please provide your feedback")
	q.Field("Rating").Fill("6")
	q.Field("Would you recommend this?").Choose("Yes")
	q.Role("group", "Will send").Contains("6").Contains("true")
	q.Button("Accept").Click()
	q.Field("Rating").HasAttr("aria-invalid", "true")
	q.Field("Rating").Fill("5")
	q.Role("group", "Will send").Contains("5")
	q.Button("Accept").Click()
	s.result(`"rating": 5`)
	ask("feedback")
	s.question("Please provide your feedback").Button("Decline").Click()
	s.result("User declined feedback information request.")

	// enumNames is deprecated; there are no other findings.
	s.foundAll("enum-names-deprecated")
}
