package e2e

import (
	"strings"
	"testing"

	"elicitation-inspector/e2e/internal/page"
	"elicitation-inspector/e2e/internal/servers"
)

const release = `{"message":"Release?","requestedSchema":{"type":"object","properties":{` +
	`"branch":{"type":"string","title":"Branch","default":"main"},` +
	`"share":{"type":"number","title":"Share","minimum":0,"maximum":1,"default":0.5},` +
	`"mail":{"type":"string","title":"Mail","format":"email"}},"required":["branch","mail"]}}`

// A failed check shows errors at their fields, linked for screen readers, focuses the
// first, and sends nothing. Send anyway sends the answer unchanged.
func TestCheckAndSendAnyway(t *testing.T) {
	t.Parallel()
	rude := servers.NewRude(t, []servers.Question{{Name: "release", Params: release}})
	s := openOn(t, rude.Command)
	s.call("release")
	q := s.question("Release?")
	if q.Button("Send anyway").Exists() {
		t.Error("Send anyway is offered before any check has failed")
	}
	q.Field("Share").Fill("1.50")
	q.Field("Mail").Fill("ada(at)example.org")
	q.Role("group", "Will send").Contains("1.50").Contains("ada(at)")
	q.Button("Accept").Click()

	share := q.Field("Share").HasAttr("aria-invalid", "true").HasFocus()
	for label, says := range map[string]string{"Share": "1.50", "Mail": "mail"} {
		f := q.Field(label).HasAttr("aria-invalid", "true")
		described := page.Call[string](f, `function() {
			const ids = [this.getAttribute('aria-errormessage'), this.getAttribute('aria-describedby')].join(' ').split(/\s+/);
			return ids.map(id => document.getElementById(id)?.innerText ?? '').join(' ');
		}`)
		if !strings.Contains(described, says) {
			t.Errorf("the error linked to %s does not say %q: %q", label, says, described)
		}
	}
	if got := q.Field("Branch").Attr("aria-invalid"); got == "true" {
		t.Error("a field that is right is marked")
	}
	share.HasValue("1.50") // never changed silently
	if got := rude.Answers(); len(got) != 0 {
		t.Fatalf("an answer that the schema rejects was sent: %q", got)
	}

	shown := willSend(t, q)
	q.Button("Send anyway").Click()
	s.result("received: " + shown)
	if want := `{"action":"accept","content":{"branch":"main","share":1.50,"mail":"ada(at)example.org"}}`; shown != want {
		t.Errorf("sent %s, want %s", shown, want)
	}
}

// The JSON tab edits the whole content; going back and forth loses nothing.
func TestJSONTab(t *testing.T) {
	t.Parallel()
	rude := servers.NewRude(t, []servers.Question{{Name: "release", Params: release}})
	s := openOn(t, rude.Command)

	s.call("release")
	q := s.question("Release?")
	q.Field("Mail").Fill("ada@example.org")
	q.Field("Share").Fill("0.10")
	q.Role("group", "Will send").Contains("0.10")
	q.TabNamed("JSON").Click()
	text := q.Field("Content").Wait()
	if got, want := compact(t, text.Value()), `{"branch":"main","share":0.10,"mail":"ada@example.org"}`; got != want {
		t.Errorf("the JSON tab holds %s, want %s", got, want)
	}
	text.Paste(`{"mail": "eve@example.org", "extra": [1, {"x": 1.0}], "share": 0.250}`)
	q.Role("group", "Will send").Contains("0.250")
	q.TabNamed("Form").Click()
	q.Field("Mail").HasValue("eve@example.org")
	q.Field("Share").HasValue("0.250")
	q.Field("Branch").HasValue("")
	q.Field("Branch").Fill("fix")
	q.Role("group", "Will send").Contains("fix").Contains("extra")
	sent := s.accept(q, 1)
	for _, part := range []string{`"extra":[1,{"x":1.0}]`, `"share":0.250`, `"branch":"fix"`} {
		if !strings.Contains(sent, part) {
			t.Errorf("%s was lost: %s", part, sent)
		}
	}

	// Invalid JSON is an error, and stays in the editor.
	s.call("release")
	q = s.question("Release?")
	q.TabNamed("JSON").Click()
	q.Field("Content").Paste(`{"branch": `)
	q.Button("Accept").Click()
	q.Field("Content").HasAttr("aria-invalid", "true").HasValue(`{"branch": `)
	q.TabNamed("Form").Click()
	q.Field("Content").HasValue(`{"branch": `)
	q.Field("Content").Paste(`{"branch": 7, "mail": "a@example.org"}`)
	q.Button("Accept").Click()
	q.Button("Send anyway").Click()
	s.result(`received: {"action":"accept","content":{"branch":7,"mail":"a@example.org"}}`)
}
