package e2e

import (
	"testing"

	"elicitation-inspector/e2e/internal/servers"
)

// go-sdk's conformance server, over stdio and over stateful HTTP.
func TestGoSDKServer(t *testing.T) {
	for _, c := range []struct {
		name string
		open func(t *testing.T) *session
	}{
		{"stdio", func(t *testing.T) *session { return openOn(t, servers.GoSDK(t)) }},
		{"stateful HTTP", func(t *testing.T) *session { return open(t, servers.GoSDKHTTP(t, false)) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := c.open(t)
			s.multiRound()
		})
	}
}

// multiRound goes through the tool that asks twice, by multi round-trip where
// the revision has that.
func (s *session) multiRound() {
	t := s.t
	t.Helper()
	s.call("test_input_required_result_multi_round")
	q := s.question("Step 1: What is your name?")
	q.Field("name").Type("Ünal")
	q.Region("Will send").Contains("Ünal")
	s.accept(q, 1)
	q = s.question("Step 2: What is your favorite color?")
	q.Field("color").Type("sea green")
	q.Region("Will send").Contains("sea green")
	s.accept(q, 2)
	s.result("Multi-round complete: Ünal likes sea green")
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
	q.Region("Will send").Contains("gopher")
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

	s.call("test_elicitation_sep1330_enums")
	q = s.question("Test enum schemas")
	q.Field("untitledSingle").Choose("option2")
	q.Field("titledSingle").Choose("Third Option")
	q.Field("legacyEnum").Choose("Option One")
	q.Field("untitledMulti").Choose("option1")
	q.Field("untitledMulti").Choose("option3")
	q.Field("titledMulti").Choose("Second Option")
	q.Region("Will send").Contains("value2")
	s.accept(q, 5)
	s.result("content=map[legacyEnum:opt1 titledMulti:[value2] titledSingle:value3 untitledMulti:[option1 option3] untitledSingle:option2]")
}
