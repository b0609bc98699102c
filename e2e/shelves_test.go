package e2e

import "testing"

// Prompts and resources ask like tools, by requests or in rounds.
func TestPromptsAndResourcesAsk(t *testing.T) {
	t.Parallel()
	for _, protocol := range []string{"2025-11-25", "2026-07-28"} {
		t.Run(protocol, func(t *testing.T) {
			t.Parallel()
			s := open(t, "--protocol", protocol)
			call := s.choose("Prompts", "release_notes")
			call.Field("Version").Type("1.4.0")
			call.Button("Call").Click()
			q := s.question("Release notes for 1.4.0: who reads them?").Contains("release_notes")
			q.Field("Tone").Choose("dry")
			q.Role("group", "Will send").Contains("dry")
			s.accept(q, 1)
			s.result("Write the release notes of version 1.4.0 for users, in a dry tone.")

			s.choose("Resources", "lease").Button("Read").Click()
			const why = "Why do you want to read the old-mill of lease? It goes into the register."
			q = s.question(why).Contains("lease")
			q.Field("Reason").Choose("Curiosity")
			q.Role("group", "Will send").Contains("curiosity")
			s.accept(q, 2)
			s.result("-32602").Contains("Curiosity is not enough.")
			s.choose("Resources", "lease").Button("Read").Click()
			q = s.question(why)
			q.Field("Reason").Choose("Audit")
			q.Role("group", "Will send").Contains("audit")
			s.accept(q, 3)
			s.result("The rent is a sack of flour a month.")
			if all := s.findings(); len(all) > 0 {
				t.Errorf("false alarms: %+v", all)
			}
		})
	}
}
