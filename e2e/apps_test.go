package e2e

import (
	"strings"
	"testing"

	"elicitation-inspector/e2e/internal/page"
	"elicitation-inspector/e2e/internal/servers"
)

// The question that the server of apps asks, and the app that would draw it.
const (
	seatAsks = "Which seat do you want on the 9:40 to Linz?"
	seatApp  = `<!DOCTYPE html><title>Seats</title><button onclick="pick('12A')">12A</button>`
)

// appServer starts a server whose tool asks only those clients whose apps draw questions
// (draft SEP-3118).
func appServer(t testing.TB) *servers.Scripted {
	s := servers.NewScripted(t, "2026-07-28", map[string]servers.Script{
		"book_seat": func(_ int, c servers.Call) string {
			switch {
			case c.Member("inputResponses") != "":
				return servers.Done("Booked: " + c.Member("inputResponses"))
			case !strings.Contains(c.Member("_meta"), `"io.modelcontextprotocol/ui":{"elicitation":{}}`):
				return servers.Done("There is nobody to draw the seats.")
			}
			return `"result":{"resultType":"input_required","inputRequests":{"seat":{"method":"elicitation/create","params":{"mode":"form","message":"` + seatAsks +
				`","_meta":{"ui":{"resourceUri":"ui://seats.html"},"com.example/train":"RJ 547"},"requestedSchema":{"type":"object","properties":{"seat":{"type":"string","title":"Seat"}},"required":["seat"]}}}}}`
		},
	})
	s.Read = func(c servers.Call) string {
		return `"result":{"resultType":"complete","ttlMs":0,"cacheScope":"private","contents":[{"uri":` + c.Member("uri") + `,"mimeType":"text/html;profile=mcp-app","text":"` + strings.ReplaceAll(seatApp, `"`, `\"`) + `"}]}`
	}
	return s
}

func onApps(t testing.TB) *session {
	return shown(t, "--no-open", "--listen", "127.0.0.1:0", appServer(t).URL)
}

// declareApps switches on the declaration that apps draw questions.
func (s *session) declareApps() {
	s.settings(func(server *page.Control) { server.Checkbox("Apps").Click() })
}

var appStates = []state{
	{name: "app-question", pane: work, ask: true, show: func(s *session) {
		s.declareApps()
		s.call("book_seat")
		s.question(seatAsks).Button("Read the app’s source").Wait()
	}},
	{name: "app-source", pane: work, show: func(s *session) {
		s.question(seatAsks).Button("Read the app’s source").Click()
		s.result("pick('12A')")
	}},
	{name: "app-settings", pane: work, show: func(s *session) { s.serverDetails() }},
}

// A server that asks only clients with apps asks once the check box says that there are
// some. The question is answered with the ordinary form, and what the app would have been is
// text.
func TestQuestionOfAnApp(t *testing.T) {
	t.Parallel()
	s := open(t, appServer(t).URL)
	s.call("book_seat")
	s.result("There is nobody to draw the seats.")
	s.declareApps()
	s.call("book_seat")
	q := s.question(seatAsks).Contains("ui://seats.html").Contains("com.example/train")
	q.Button("Read the app’s source").Click()
	s.result(seatApp)
	if s.page.Button("12A").Exists() {
		t.Error("the app has been drawn")
	}
	q = s.question(seatAsks)
	q.Field("Seat").Type("12A")
	q.Button("Accept").Click()
	s.page.Until(func() string { return "the answer has reached the server" }, func() bool {
		return len(s.Wire().Requests("c2s", "tools/call")) == 3
	})
}
