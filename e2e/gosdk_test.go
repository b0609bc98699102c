package e2e

import (
	"testing"

	"elicitation-inspector/e2e/internal/servers"
)

// go-sdk's conformance server, over stdio, stateless HTTP (both 2026-07-28, with
// multi round-trips) and stateful HTTP (2025-11-25, with requests of its own).
func TestGoSDKServer(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		open     func(t *testing.T) *session
		protocol string
	}{
		{"stdio", func(t *testing.T) *session { return openOn(t, servers.GoSDK(t)) }, "2026-07-28"},
		{"stateless HTTP", func(t *testing.T) *session { return open(t, servers.GoSDKHTTP(t, true)) }, "2026-07-28"},
		{"stateful HTTP", func(t *testing.T) *session { return open(t, servers.GoSDKHTTP(t, false)) }, "2025-11-25"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := c.open(t)
			s.page.Region("Servers").Contains(c.protocol)

			s.call("test_input_required_result_elicitation")
			q := s.question("What is your name?")
			q.Field("name").Type("Ünal")
			q.Role("group", "Will send").Contains("Ünal")
			s.accept(q, 1)
			s.result("Hello, Ünal!")

			// The server asks until it gets a name: it repeats a declined question.
			s.call("test_input_required_result_elicitation")
			s.question("What is your name?").Button("Decline").Click()
			if got := s.answer(2); got != `{"action":"decline"}` {
				t.Errorf("Decline sent %s", got)
			}
			if c.protocol < "2026" {
				return // the SDK's server asks once for a client of that revision
			}
			inRound(s.question("What is your name?"), 2).Button("Cancel").Click()
			if got := s.answer(3); got != `{"action":"cancel"}` {
				t.Errorf("Cancel sent %s", got)
			}
			inRound(s.question("What is your name?"), 3)
			s.page.Region("Call").Button("Stop").Click()
			s.page.Region("Questions").Article("What is your name?").Having("data-state", "withdrawn").Wait()
			s.multiRound()
		})
	}
}

// multiRound calls the tool that asks twice, where each round uses the requestState of
// the previous one.
func (s *session) multiRound() {
	s.t.Helper()
	s.call("test_input_required_result_multi_round")
	q := s.question("Step 1: What is your name?")
	q.Field("name").Type("Ada")
	q.Role("group", "Will send").Contains("Ada")
	q.Button("Accept").Click()
	q = s.question("Step 2: What is your favorite color?")
	q.Field("color").Type("sea green")
	q.Role("group", "Will send").Contains("sea green")
	q.Button("Accept").Click()
	s.result("Multi-round complete: Ada likes sea green")
}

// The same server, made to speak the revision that has elicitation/create.
func TestGoSDKServerRequests(t *testing.T) {
	t.Parallel()
	s := openOn(t, servers.GoSDK(t), "--protocol", "2025-11-25")

	ask := func(message string) {
		call := s.choose("Tools", "test_elicitation")
		call.Field("message").Fill(message)
		call.Button("Call").Click()
	}
	ask("Which name should the account have?")
	q := s.question("Which name should the account have?")
	q.Field("username").Type("gopher")
	q.Role("group", "Will send").Contains("gopher")
	if got, want := s.accept(q, 1), `{"action":"accept","content":{"username":"gopher"}}`; got != want {
		t.Errorf("sent %s, want %s", got, want)
	}
	s.result("Elicitation result: action=accept, content=map[username:gopher]")

	ask("And now?")
	s.question("And now?").Button("Decline").Click()
	s.result("Elicitation result: action=decline, content=map[]")
	ask("Really?")
	s.question("Really?").Button("Cancel").Click()
	s.result("Elicitation result: action=cancel, content=map[]")

	s.call("test_elicitation_sep1034_defaults")
	if got, want := s.accept(s.question("Test defaults for primitives"), 4),
		`{"action":"accept","content":{"age":30,"name":"John Doe","score":95.5,"status":"active","verified":true}}`; got != want {
		t.Errorf("untouched defaults sent %s, want %s", got, want)
	}
	s.result("action=accept, content=map[age:30 name:John Doe score:95.5 status:active verified:true]")

	// After the answer, the SDK of the server rejects the server's own schema.
	s.call("test_elicitation_sep1330_enums")
	q = s.question("Test enum schemas")
	q.Field("untitledSingle").Choose("option2")
	q.Field("titledSingle").Choose("Third Option")
	q.Field("legacyEnum").Choose("Option One")
	q.Field("untitledMulti").Choose("option1")
	q.Field("untitledMulti").Choose("option3")
	q.Field("titledMulti").Choose("Second Option")
	q.Role("group", "Will send").Contains("value2")
	if got, want := s.accept(q, 5), `{"action":"accept","content":{"legacyEnum":"opt1","titledMulti":["value2"],"titledSingle":"value3","untitledMulti":["option1","option3"],"untitledSingle":"option2"}}`; got != want {
		t.Errorf("sent %s, want %s", got, want)
	}
	s.result("items must specify enum").Contains("isError")
}
