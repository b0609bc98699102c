package e2e

import (
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"elicitation-inspector/bridge/testdata/protectedtest"
	"elicitation-inspector/e2e/internal/page"
)

// held waits for a request that is held before a step, and returns its form.
func (s *session) held(step string) *page.Control {
	s.t.Helper()
	card := s.signIn("held")
	card.Role("heading", "About to send: "+step).Wait()
	return card.Role("form", "Request")
}

// sends presses Send for the requests that are held before some steps.
func (s *session) sends(steps ...string) {
	s.t.Helper()
	for _, step := range steps {
		s.held(step).Button("Send").Click()
	}
}

// types replaces the value of a field with the keyboard, wherever the field is scrolled to.
func (s *session) types(field *page.Control, text string) {
	s.t.Helper()
	field.Focus()
	s.page.Press("a", page.Ctrl)
	s.page.Type(text)
}

// consentForm is the hidden field of the consent page of the protected demo.
var consentForm = regexp.MustCompile(`name="request" value="(\w+)"`)

// visits goes where Open leads, as a browser does, and presses Allow if there is something
// to allow.
func (s *session) visits() {
	s.t.Helper()
	if text := s.visit(s.signIn("waiting")); !strings.Contains(text, "Back at the inspector") {
		s.t.Errorf("the browser is not back: %s", text)
	}
}

// visit is visits for one of several cards. It returns the last page.
func (s *session) visit(card *page.Control) string {
	s.t.Helper()
	to := page.Call[string](card.Button("Open"), "function() { return this.form.getAttribute('action') }")
	res, _ := s.read(s.Client().PostForm(s.Base+to, nil))
	_, there, _ := strings.Cut(res.Header.Get("Refresh"), "url=")
	res, text := s.read(s.Client().Get(there))
	if m := consentForm.FindStringSubmatch(text); m != nil {
		_, text = s.read(s.Client().PostForm(res.Request.URL.String(), url.Values{"request": {m[1]}, "choice": {"allow"}, "user": {"Robin"}}))
	}
	return text
}

// read reads a response.
func (s *session) read(res *http.Response, err error) (*http.Response, string) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return res, string(text)
}

const (
	resourceStep, serverStep, registrationStep = "resource metadata", "authorization server metadata", "client registration"
	authorizationStep, redirectStep, tokenStep = "authorization", "redirect", "token"
)

// Step by step, a person sees each request of a sign-in before it goes out, and sends it.
func TestSignInStepByStep(t *testing.T) {
	t.Parallel()
	w := protectedtest.New(t)
	s := open(t, w.URL+"/mcp")
	s.signIn("waiting").Role("switch", "Step by step").Click()
	s.page.Until(func() string { return "the switch is on" }, s.signIn("waiting").Role("switch", "Step by step").Checked)
	s.signIn("waiting").Button("Cancel").Click()
	s.signIn("cancelled").Role("DisclosureTriangle", "").All().Click()
	s.signIn("cancelled").Button("Try again").Click()

	s.held(resourceStep).Field("URL").HasValue(w.URL + "/.well-known/oauth-protected-resource/mcp")
	s.sends(resourceStep)
	s.held(serverStep).Field("URL").HasValue(w.URL + "/.well-known/oauth-authorization-server/auth")
	s.sends(serverStep)
	s.held(registrationStep).Field("Body")
	s.page.Reload()
	if body := s.held(registrationStep).Field("Body").Value(); !strings.Contains(body, s.Base+"/oauth/callback") {
		t.Errorf("the registration is %s", body)
	}
	s.sends(registrationStep)
	asked := s.held(authorizationStep)
	for name, want := range map[string]string{"code_challenge_method": "S256", "resource": w.URL + "/mcp", "state": "[REDACTED]", "scope": "demo.use"} {
		asked.Field(name).HasValue(want)
	}
	s.types(asked.Field("scope"), "demo.use demo.transfer")
	s.sends(authorizationStep)
	s.signIn("waiting").Contains("demo.use demo.transfer")
	s.consents(w.URL, "Allow")
	s.held(redirectStep).Field("code").HasValue("[REDACTED]")
	s.sends(redirectStep)
	s.held(tokenStep).Field("code_verifier").HasValue("[REDACTED]")
	s.sends(tokenStep)
	s.signIn("signed in")
	s.call("transfer_money")
	s.page.Region("Questions").Article("").All().Having("data-state", "pending").Wait() // the scope is granted
	s.noSecrets()
}

// Step by step, a person sends requests with something wrong, or stops before one. The card
// says what the server says about it, and at which step.
func TestSignInChangedByStep(t *testing.T) {
	t.Parallel()
	w := protectedtest.New(t)
	s := open(t, w.URL+"/mcp")
	s.visits()
	s.signIn("signed in")
	bar := s.serverDetails()
	bar.Role("switch", "Step by step").Click()
	s.page.Until(func() string { return "the switch is on" }, bar.Role("switch", "Step by step").Checked)
	bar.Button("Refresh now").Click()
	s.page.Press(page.Escape)
	s.held("token refresh").Button("Send with an expired token").Click()
	s.signIn("failed").Contains("at the token refresh: HTTP 400: invalid_grant: the refresh token is unknown here")

	for _, c := range []struct {
		step, button string // the button in place of Send
		stays        bool   // the browser goes there, and the redirect is held
		at, says     string
	}{
		{resourceStep, "Stop here", false, resourceStep, "it was stopped before this request"},
		{authorizationStep, "Send with another scope", true, redirectStep, "invalid_scope: a scope is unknown: another-scope"},
		{authorizationStep, "Send without PKCE", true, redirectStep, "invalid_request: PKCE with S256 is required"},
		{authorizationStep, "Send with a wrong resource", true, redirectStep, "invalid_target: resource must be " + w.URL + "/mcp"},
		{redirectStep, "Send with a tampered state", false, redirectStep, "state"},
		{tokenStep, "Send without PKCE", false, tokenStep, "HTTP 400: invalid_grant: code_verifier does not fit the code_challenge"},
		{tokenStep, "Send with a wrong resource", false, tokenStep, "HTTP 400: invalid_target"},
		{tokenStep, "Stop here", false, tokenStep, "it was stopped before this request"},
	} {
		s.signIn("failed").Button("Try again").Click()
		for _, step := range []string{resourceStep, serverStep, authorizationStep, redirectStep, tokenStep} {
			if step == redirectStep {
				s.visits()
			}
			if step == c.step {
				s.held(step).Button(c.button).Click()
				break
			}
			s.sends(step)
		}
		if c.stays {
			s.visits()
			s.sends(redirectStep)
		}
		s.signIn("failed").Contains("at the " + c.at + ": ").Contains(c.says)
	}
	s.noSecrets()
}
