package e2e

import (
	"strings"
	"testing"

	"elicitation-inspector/e2e/internal/page"
	"elicitation-inspector/e2e/internal/servers"
)

// presentStates are those of a demo to an audience.
var presentStates = []state{
	{name: "present-start", pane: work, show: func(s *session) {
		s.page.Button("Present").Click()
		s.page.Region("Tools").Gone()
	}},
	{name: "present", pane: work, ask: true, show: func(s *session) {
		s.page.Region("Call").Button("A deployment Several questions in a row, each depending on the last deploy").Click()
		s.question("Which build should go out?")
		s.page.Region("Sequence").Contains("waiting for an answer…")
	}},
	{name: "present-result", pane: log, show: func(s *session) {
		for _, message := range []string{"Which build should go out?", "Deploy build 2291 of checkout? Three services will restart.", "Build 2291 is up in canary, 4% slower than the last one. Keep it?"} {
			q := s.question(message)
			if field := q.Field("Environment"); field.Exists() {
				field.Choose("Canary")
				q.Field("Change ticket").Fill("CHG-20418")
			}
			q.Button("Accept").Click()
		}
		s.result("is deployed in canary")
	}},
}

// menuStates are those with something open over the page.
var menuStates = []state{
	{name: "palette", pane: work, show: func(s *session) {
		s.call("deploy")
		s.question("Which build should go out?")
		s.page.Press("k", page.Ctrl)
		s.page.Role("option", "").All().Nth(3).Wait()
	}},
	{name: "palette-found", pane: work, show: func(s *session) {
		s.page.Type("invoice")
		s.page.Role("option", "Pay an invoice pay_invoice · tool · demo").HasAttr("aria-selected", "true")
	}},
	{name: "palette-nothing", pane: work, show: func(s *session) {
		s.page.Type(" xyz")
		s.page.Role("dialog", "Command palette").Contains("No matches")
	}},
	{name: "copy-as", pane: work, ask: true, show: func(s *session) {
		s.page.Press(page.Escape)
		q := s.question("Which build should go out?")
		q.Role("DisclosureTriangle", "Copy as…").Click()
		q.Button("Go (go-sdk)").Wait()
	}},
	{name: "seen-in", pane: work, show: func(s *session) {
		q := s.question("Which build should go out?")
		q.Role("DisclosureTriangle", "Copy as…").Click()
		q.Button("Seen in").Click()
		q.Button("Goose CLI: degraded").Click()
		q.Region("As Goose CLI shows it").Wait()
	}},
	{name: "save-menu", pane: log, show: func(s *session) {
		s.page.Press(page.Escape)
		s.filter().Fill("method:tools/*")
		s.page.Press(page.Enter)
		s.page.Region("Wire log").Contains("match")
		s.page.Region("Wire log").Button("Save").Click()
		s.page.Role("link", "This filter as Markdown").Wait()
	}},
	{name: "recording-on", pane: log, show: func(s *session) {
		s.page.Role("group", "Recording").Button("Start recording").Click()
		s.page.Role("group", "Recording").Button("Stop recording").Wait()
		s.page.Region("Wire log").Contains("Recording to session-")
	}},
	{name: "answers-file", pane: log, show: func(s *session) {
		s.page.Press(page.Escape)
		s.page.Region("Wire log").Button("Open an answers file").Click()
		s.page.Role("group", "Answers file").Button("Answer by these rules").Wait()
	}},
	{name: "note-being-written", pane: log, show: func(s *session) {
		s.page.Press(page.Escape)
		s.page.Region("Wire log").Role("row", "").All().Nth(1).Click()
		s.page.Region("Wire log").TabNamed("Note").Click()
		s.page.Region("Wire log").Field("Note").Fill("Here it asks a second time, although the first answer had all that it needs.")
		s.page.Region("Wire log").Radio("amber").Click()
	}},
	{name: "add-server", pane: work, show: func(s *session) {
		s.press("add-server")
		s.page.Role("form", "Add server").Button("Connect").Wait()
	}},
}

// composeStates are those of a question that is designed.
var composeStates = []state{
	{name: "compose", pane: work, show: func(s *session) {
		s.page.Role("link", "Compose").Click()
		composing{s}.json().Paste(`{
  "message": "Which release goes to which of the regions?",
  "requestedSchema": {
    "type": "object",
    "properties": {
      "name": { "type": "string", "title": "Name of the release", "minLength": 2, "description": "As the notes call it." },
      "share": { "type": "number", "title": "Share of traffic", "minimum": 0, "maximum": 1, "default": 0.10 },
      "region": { "type": "string", "title": "Region", "oneOf": [{ "const": "eu", "title": "Europe" }, { "const": "us", "title": "United States" }] },
      "parts": { "type": "array", "title": "Parts", "items": { "type": "string", "enum": ["api", "web", "jobs"] }, "default": ["api"] },
      "notify": { "type": "boolean", "title": "Tell the channel", "default": true }
    },
    "required": ["name", "region"]
  }
}`)
		s.page.Region("Seen in").Button("Gemini CLI: not shown").Wait()
	}},
	{name: "compose-seen", pane: work, show: func(s *session) {
		s.page.Region("Seen in").Button("Goose CLI: degraded").Click()
		s.page.Region("As Goose CLI shows it").Wait()
	}},
	{name: "compose-broken", pane: work, show: func(s *session) {
		draft := composing{s}.json()
		draft.Paste(strings.Replace(draft.Value(), `"type": "object",`, `"type": "object"`, 1))
		s.page.Button("Line 5, column 5").Focus()
	}},
}

// checkStates are those of the check of a tool.
var checkStates = []state{
	{name: "check-plan", pane: work, show: func(s *session) {
		checkIn(s.choose("Tools", "delete_files"))
		s.page.Region("Check").Button("Start").Wait()
	}},
	{name: "check-running", pane: work, show: func(s *session) {
		s.page.Press(page.Escape)
		checkIn(s.choose("Tools", "crash_on_decline"))
		s.page.Region("Check").Button("Start").Click()
		s.page.Region("Check").Role("progressbar", "Progress of the check").Wait()
	}},
	{name: "check-matrix", pane: work, show: func(s *session) {
		s.page.Region("Check").Button("Check again").Wait()
	}},
	{name: "check-finding", pane: work, show: func(s *session) {
		check := s.page.Region("Check")
		check.Role("DisclosureTriangle", "Reproduce").Nth(0).Click()
		check.Contains("inspector call crash_on_decline")
	}},
}

// signInStates are those of a server behind OAuth.
var signInStates = []state{
	{name: "sign-in-waiting", pane: work, show: func(s *session) {
		s.signIn("waiting").Contains("demo.use").Button("Open").Wait()
	}},
	{name: "sign-in-done", pane: work, show: func(s *session) {
		s.consents(page.Eval[string](s.page, "document.querySelector('.facts-of code').innerText.trim()"), "Allow")
		s.signIn("signed in").Role("DisclosureTriangle", "").All().Nth(0).Click()
		s.signIn("signed in").Button("Sequence").Wait()
	}},
	{name: "token", pane: work, show: func(s *session) { s.serverDetails().Button("Sign in as another").Focus() }},
}

// failedSignInStates are those of a sign-in that breaks.
var failedSignInStates = []state{
	{name: "sign-in-failed", pane: work, show: func(s *session) { s.signIn("failed").Button("Try again").Wait() }},
	{name: "sign-in-ladder", pane: log, show: func(s *session) {
		s.signIn("failed").Button("Sequence").Click()
		s.page.Region("Sequence").Contains("authorization server")
	}},
}

// onProtected starts on the demo server behind OAuth, at this path.
func onProtected(path string) func(testing.TB) *session {
	return func(t testing.TB) *session {
		t.Helper()
		return shown(t, "--no-open", "--listen", "127.0.0.1:0", strings.TrimSuffix(protectedDemo(t), "/mcp")+path)
	}
}

// onBroken starts on a server that ends before the connection stands.
func onBroken(t testing.TB) *session {
	return shown(t, "--no-open", "--listen", "127.0.0.1:0", "--", servers.RudeBinary, "-die")
}
