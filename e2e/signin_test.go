package e2e

import (
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"elicitation-inspector/e2e/internal/page"
)

// signIn waits for the card of a sign-in in a state.
func (s *session) signIn(state string) *page.Control {
	s.t.Helper()
	return s.page.Region("Sign-ins").Article("").All().Having("data-state", state).Wait()
}

// consents presses a button on the page of an authorization server, in the tab that
// Open has opened, and waits until the browser has returned.
func (s *session) consents(issuer, button string) {
	s.t.Helper()
	s.signIn("waiting").Button("Open").Click()
	tab := s.page.Opened(issuer)
	tab.Button(button).Click()
	tab.Role("heading", "Back at the inspector").Wait()
	tab.Close()
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

// noSecrets fails the test if the page, the transcript or the details of a frame
// contain a secret: a JWT, a code, a verifier or a state.
func (s *session) noSecrets() {
	s.t.Helper()
	for _, path := range []string{"/", "/wire.jsonl", "/wire/rows?from=0&count=500"} {
		if found := secretShape.FindString(s.get(path)); found != "" {
			s.t.Errorf("%s has %q", path, found)
		}
	}
}

var secretShape = regexp.MustCompile(`eyJ[\w-]+\.eyJ[\w-]+\.[\w-]{20,}|[?&](code|state|code_verifier)=[\w-]{8,}|(access|refresh)_token\\*":\\*"[\w.-]{8,}`)

// A person signs in to the protected demo on the page, answers a question of its tool,
// declines a step-up, and is then denied one.
func TestSignInByPage(t *testing.T) {
	t.Parallel()
	address := protectedDemo(t)
	issuer := strings.TrimSuffix(address, "/mcp")
	s := open(t, address)
	s.signIn("waiting").Contains(issuer + "/auth").Contains("demo.use").Contains("dynamic registration").Contains("Authorization server metadata")
	s.page.Reload()
	s.signIn("waiting").Contains("HTTP 401")
	s.consents(issuer, "Allow")
	s.signIn("signed in")
	s.call("deploy")
	s.page.Region("Questions").Article("").All().Having("data-state", "pending").Wait().Button("Decline").Click()
	s.noSecrets()

	// The token's exchange shows what its JWT says.
	s.page.Goto(s.Base + "/?frame=" + s.stepFrame("token"))
	s.page.Role("group", "Frame").Contains("grant_type").Contains("access_token, decoded").Contains("scope")

	// Without the scope, the tool leads to another sign-in, which is declined.
	s.call("transfer_money")
	s.signIn("waiting").Contains("demo.transfer").Button("Decline").Click()
	s.signIn("declined")
	s.result("declined")

	// Denied at the authorization server.
	s.page.Region("Call").Button("Call again").Click()
	s.consents(issuer, "Deny")
	s.signIn("failed").Contains("redirect").Contains("access_denied").Button("Sequence").Click()
	s.page.Region("Sequence").Contains("authorization server").Contains("browser").Contains("redirect")
	s.noSecrets()
}

// stepFrame returns the number of the latest frame of a step.
func (s *session) stepFrame(step string) (seq string) {
	s.t.Helper()
	for _, f := range s.Wire() {
		if f.Text != nil && strings.HasPrefix(*f.Text, "sign-in, "+step+": ") {
			seq = strconv.FormatInt(f.Seq, 10)
		}
	}
	return seq
}
