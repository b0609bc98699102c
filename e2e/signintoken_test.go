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
// as another.
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

	s.serverDetails()
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
