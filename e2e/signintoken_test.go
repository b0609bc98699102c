package e2e

import (
	"strings"
	"testing"

	"elicitation-inspector/bridge/testdata/protectedtest"
	"elicitation-inspector/e2e/internal/page"
)

// times counts the frames of a step.
func (s *session) times(step string) (n int) {
	s.t.Helper()
	for _, f := range s.Wire() {
		if f.Text != nil && strings.HasPrefix(*f.Text, "sign-in, "+step+": ") {
			n++
		}
	}
	return n
}

// The buttons for the token do what they say: expire it, refresh it, sign out, and sign in
// as another. A refresh that is held waits for the person as long as it takes.
func TestSignInToken(t *testing.T) {
	t.Parallel()
	w := protectedtest.New(t)
	s := open(t, w.URL+"/mcp")
	s.visits()
	s.signIn("signed in")
	bar := s.serverDetails()
	token := bar.Region("Sign-in").Contains("Signed in; the token expires at").Contains("scopes: demo.use")
	refreshed := func(times int) {
		t.Helper()
		s.page.Until(func() string { return "the token was refreshed" }, func() bool { return s.times("token refresh") == times })
		s.page.Region("Sign-ins").Article("").All().Having("data-outcome", "refreshed").Wait()
	}

	token.Button("Refresh now").Click()
	refreshed(1)
	token.Button("Expire the token now").Click()
	token.Contains("Signed in;").Matches("no time", func(shown string) bool { return !strings.Contains(shown, "expires at") })
	s.page.Press(page.Escape)
	s.call("who_am_i")
	refreshed(2)
	s.result("elicitation-inspector")

	// A held refresh leaves the page free for other things, and the token as it is.
	s.serverDetails()
	token.Role("switch", "Step by step").Click()
	token.Button("Refresh now").Click()
	s.held("token refresh")
	token.Button("Refresh now").HasAttr("disabled", "").HasAttr("aria-busy", "")
	s.page.Press(page.Escape)
	s.signIn("held").Button("Cancel").Click()
	s.signIn("cancelled")
	s.serverDetails()
	token.Contains("Signed in")

	// The call that needs a refresh waits for the person, and fails if they do not want it.
	token.Button("Expire the token now").Click()
	s.page.Press(page.Escape)
	s.page.Region("Call").Button("Call again").Click()
	s.held("token refresh").Button("Stop here").Click()
	s.signIn("failed").Contains("at the token refresh: it was stopped before this request")
	s.result("signing in failed at the token refresh")
	s.page.Region("Call").Button("Call again").Click()
	s.sends("token refresh")
	refreshed(3)
	s.result("elicitation-inspector")

	s.serverDetails()
	token.Role("switch", "Step by step").Click()
	token.Button("Sign out").Click()
	token.Contains("There is no token.")
	s.page.Press(page.Escape)
	s.page.Region("Call").Button("Call again").Click()
	s.signIn("waiting").Button("Decline").Click()
	s.result("signing in was declined")

	s.serverDetails()
	token.Button("Sign in as another").Click()
	s.page.Press(page.Escape)
	s.signIn("waiting").Button("Open").Click()
	tab := s.page.Opened(w.URL)
	tab.Role("combobox", "Sign in as").Choose("Sam")
	tab.Button("Allow").Click()
	tab.Role("heading", "Back at the inspector").Wait()
	tab.Close()
	s.signIn("signed in")
	if log := s.transcript(); !strings.Contains(log, `"sub":"Sam"`) || !strings.Contains(log, "prompt=login") {
		t.Error("the token is not Sam's")
	}
}
