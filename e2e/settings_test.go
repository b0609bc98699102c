package e2e

import (
	"strings"
	"testing"

	"elicitation-inspector/e2e/internal/page"
	"elicitation-inspector/e2e/internal/servers"
)

// serverDetails opens the details and settings of the only server, and returns their
// region.
func (s *session) serverDetails() *page.Control {
	s.t.Helper()
	bar := s.page.Region("Servers")
	if !bar.Button("Apply and reconnect").Exists() {
		bar.Role("button", "").All().Nth(0).Click()
	}
	bar.Button("Apply and reconnect").Wait()
	return bar
}

// settings changes the settings of the only server, reconnects, and waits until
// it is ready again.
func (s *session) settings(change func(server *page.Control)) {
	s.t.Helper()
	before := s.connections()
	server := s.serverDetails()
	change(server)
	server.Button("Apply and reconnect").Click()
	s.page.Until(func() string { return "it has connected anew and is ready" }, func() bool {
		return s.connections() > before && strings.Contains(server.TextNow(), "ready")
	})
	s.page.Press(page.Escape)
	server.Button("Apply and reconnect").Gone()
}

// connections counts the connections in the transcript.
func (s *session) connections() int {
	seen := map[string]bool{}
	for _, f := range s.Wire().In("c2s") {
		seen[f.SessionID] = true
	}
	return len(seen)
}

// setPolicy sets the policy for the only server's questions.
func (s *session) setPolicy(title string) {
	s.t.Helper()
	s.serverDetails().Field("Questions from this server").Choose(title)
	s.page.Press(page.Escape)
	s.page.Region("Servers").Button("Apply and reconnect").Gone()
}

// The declared capabilities can be changed on the page: it reconnects, shows what was
// declared and negotiated, and the wire agrees.
func TestSettings(t *testing.T) {
	t.Parallel()
	s := open(t)
	bar := s.serverDetails().Contains("2026-07-28, by server/discover").Contains(`{"form":{},"url":{}}`)
	s.page.Press(page.Escape)

	for _, c := range []struct{ protocol, elicitation, declared, shown string }{
		{"2025-11-25", "url", `"elicitation":{"url":{}}`, `{"url":{}}`},
		{"2025-06-18", "{}, which means form", `"elicitation":{}`, `{}`},
		{"2025-11-25", "nothing", ``, ``},
		{"2026-07-28", "form and url", `"elicitation":{"form":{},"url":{}}`, `{"form":{},"url":{}}`},
	} {
		s.settings(func(server *page.Control) {
			server.Field("Protocol").Choose(c.protocol)
			server.Field("Elicitation").Choose(c.elicitation)
		})
		bar.Contains(c.protocol)
		s.serverDetails().Contains(c.protocol + ", by").Contains(c.shown)
		s.page.Press(page.Escape)

		frames := s.Wire()
		last := frames[len(frames)-1].SessionID
		first := ""
		for _, f := range frames.In("c2s") {
			if f.SessionID == last {
				first = string(f.Bytes())
				break
			}
		}
		if !strings.Contains(first, c.protocol) {
			t.Errorf("%s was asked for by %s", c.protocol, first)
		}
		if c.declared == "" && strings.Contains(first, `"elicitation"`) || !strings.Contains(first, c.declared) {
			t.Errorf("%s with %s was declared by %s", c.protocol, c.elicitation, first)
		}
	}
}

// A question in an undeclared mode is refused with the specification's error, and the
// page shows the reason.
func TestUndeclaredModes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ declared, reason string }{
		{"form", "did not declare elicitation in url mode"},
		{"url", "did not declare elicitation in form mode"},
	} {
		t.Run(c.declared, func(t *testing.T) {
			t.Parallel()
			site := newVisited(t)
			rude := servers.NewRude(t, []servers.Question{
				{Name: "form", Params: `{"mode":"form","message":"Which form?","requestedSchema":{"type":"object","properties":{}}}`},
				{Name: "url", Params: urlParams("Which page?", site.URL, "u-1")},
			})
			s := openOn(t, rude.Command, "--elicitation", c.declared)
			undeclared, message := "url", "Which page?"
			if c.declared == "url" {
				undeclared, message = "form", "Which form?"
			}
			s.call(undeclared)
			s.state(message, "refused").Contains(c.reason)
			s.result(`-32602`).Contains(c.reason)
			if got := rude.Answers(); len(got) != 1 || !strings.Contains(got[0], `"code":-32602`) {
				t.Errorf("it was answered with %q", got)
			}
			site.untouched(t, "refused")
		})
	}
}

// An error that names a missing capability is explained, with a link to the settings.
func TestMissingCapability(t *testing.T) {
	t.Parallel()
	server := servers.NewScripted(t, "2026-07-28", map[string]servers.Script{
		"book": func(int, servers.Call) string {
			return `"error":{"code":-32021,"message":"Cannot ask","data":{"requiredCapabilities":{"sampling":{}}}}`
		},
	})
	s := open(t, server.URL)
	s.call("book")
	result := s.result("-32021").Contains("Missing required client capability").Contains(`{"sampling":{}}`)
	advice := result.Role("button", "").All()
	for i := range advice.Count() {
		if name := advice.Nth(i); strings.Contains(name.Text(), "Settings of") {
			name.Click()
		}
	}
	s.page.Region("Servers").Checkbox("Sampling").Wait()
}
