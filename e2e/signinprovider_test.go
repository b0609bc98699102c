package e2e

import (
	"strings"
	"testing"
	"time"

	"elicitation-inspector/e2e/internal/page"
	"elicitation-inspector/e2e/internal/servers"
)

// allows signs in at the authorization server by the page, and waits until that is done.
func (s *session) allows(issuer string) {
	s.t.Helper()
	s.consents(issuer, "Allow")
	s.signIn("signed in")
}

// A person signs in to servers of two SDKs, which an authorization server that others wrote
// protects.
func TestSignInAtProvider(t *testing.T) {
	t.Parallel()
	provider := servers.NewOAuth(t, time.Hour)
	behind := map[string]*servers.Protected{"go-sdk": provider.GoSDK(), "TypeScript": provider.TypeScript()}
	sessions := map[string]*session{}
	for name, server := range behind {
		sessions[name] = open(t, server.URL)
	}
	each := func(what string, do func(s *session, server *servers.Protected)) {
		for name, s := range sessions {
			t.Run(what+", "+name, func(t *testing.T) {
				do(&session{t: t, Process: s.Process, page: s.page.For(t)}, behind[name])
			})
		}
	}
	each("sign in", func(s *session, _ *servers.Protected) {
		s.signIn("waiting").Contains(provider.Issuer).Contains("dynamic registration").Contains("use")
		s.consents(provider.Issuer, "Deny")
		s.signIn("failed").Contains("at the redirect: the authorization server answered access_denied: Robin said no.").Button("Try again").Click()
		s.allows(provider.Issuer)
		s.call("greet")
		question := s.question("What is your name?")
		question.Field("Name").Fill("Robin")
		question.Button("Accept").Click()
		s.result("Hello, Robin.")
	})
	each("refresh", func(s *session, _ *servers.Protected) {
		s.serverDetails().Button("Refresh now").Click()
		s.page.Press(page.Escape)
		s.page.Region("Sign-ins").Article("").All().Having("data-outcome", "refreshed").Wait()
	})
	each("step up", func(s *session, _ *servers.Protected) {
		s.call("transfer")
		s.signIn("waiting").Contains("HTTP 403").Contains("use transfer").Button("Decline").Click()
		s.result("signing in was declined")
		s.page.Region("Call").Button("Call again").Click()
		s.allows(provider.Issuer)
		s.result("Transferred.")
	})
	each("the server restarts", func(s *session, server *servers.Protected) {
		server.Restart()
		// The session begins anew by itself, or has ended if the server was away for longer. The
		// token is still good.
		reconnect := s.page.Region("Call").Button("Reconnect")
		s.page.Until(func() string { return "no new session" }, func() bool {
			return reconnect.Exists() || strings.Contains(s.page.Region("Servers").Text(), "in a new session")
		})
		reconnect.ClickIfThere()
		s.call("greet")
		s.question("What is your name?").Button("Decline").Click()
		s.result("Hello, stranger.")
	})
	provider.Restart()
	each("the authorization server restarts", func(s *session, _ *servers.Protected) {
		s.page.Region("Call").Button("Call again").Click()
		s.signIn("waiting").Contains("HTTP 401: invalid_client").Contains("Client registration")
		s.allows(provider.Issuer)
		s.question("What is your name?").Button("Decline").Click()
	})
	for _, s := range sessions {
		s.noSecrets()
	}
}
