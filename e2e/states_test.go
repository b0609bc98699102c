package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"elicitation-inspector/e2e/internal/inspector"
	"elicitation-inspector/e2e/internal/page"
	"elicitation-inspector/e2e/internal/servers"
)

// state is one appearance of the page. The states of a journey follow each other on one
// page.
type state struct {
	name string
	pane string // the pane that a narrow window shows
	ask  bool   // a question waits, and its message must be in sight
	show func(*session)
}

// journey is a page with the states that it goes through.
type journey struct {
	name   string
	start  func(testing.TB) *session
	states []state
}

const (
	tools = "side"
	work  = "work"
	log   = "wire"
)

// journeys are the states of the page that are judged and photographed.
var journeys = []journey{
	{"deploy", onDemo(), []state{
		{name: "start", pane: work, show: func(s *session) { s.page.Region("Tools").Contains("deploy") }},
		{name: "tools", pane: tools, show: func(s *session) {}},
		{name: "tool-chosen", pane: work, show: func(s *session) { s.choose("Tools", "deploy") }},
		{name: "question", pane: work, ask: true, show: func(s *session) {
			s.page.Region("Call").Button("Call").Click()
			s.question("Which build should go out?")
		}},
		{name: "question-json", pane: work, ask: true, show: func(s *session) {
			q := s.question("Which build should go out?")
			q.TabNamed("JSON").Click()
			q.Role("textbox", "Content").Wait()
		}},
		{name: "question-with-errors", pane: work, show: func(s *session) {
			q := s.question("Which build should go out?")
			q.TabNamed("Form").Click()
			q.Field("Build").Wait()
			q.Button("Accept").Click()
			q = s.page.Region("Questions").Article("Deploy build 2291 of checkout? Three services will restart.").Wait()
			q.Field("Share of traffic").Fill("3")
			q.Button("Accept").Click()
			q.Button("Send anyway").Wait()
		}},
		{name: "misbehave", pane: work, show: func(s *session) {
			q := s.page.Region("Questions").Article("Deploy build 2291 of checkout? Three services will restart.")
			q.Role("DisclosureTriangle", "Misbehave…").Click()
			q.Role("DisclosureTriangle", "What it does: Leave “environment” out").Click()
			q.Contains("A good server")
			q.Button("Leave “environment” out").Focus()
		}},
		{name: "ladder-live", pane: log, show: func(s *session) {
			s.page.Region("Wire log").Button("Sequence").Click()
			s.page.Region("Sequence").Contains("waiting for an answer…")
		}},
		{name: "question-filled", pane: work, show: func(s *session) {
			s.page.Region("Wire log").Button("Sequence").Click()
			s.page.Region("Wire log").Button("Follow").Click()
			q := s.page.Region("Questions").Article("Deploy build 2291 of checkout? Three services will restart.")
			q.Role("DisclosureTriangle", "Misbehave…").Click()
			q.Field("Environment").Choose("Canary")
			q.Field("Change ticket").Fill("CHG-20418")
			q.Field("Share of traffic").Fill("0.10")
			q.Role("group", "Will send").Contains("0.10")
			q.Role("heading", "").All().Nth(0).Wheel(-900)
		}},
		{name: "result", pane: work, show: func(s *session) {
			q := s.page.Region("Questions").Article("Deploy build 2291 of checkout? Three services will restart.")
			q.Button("Accept").Click()
			s.page.Region("Questions").Article("Build 2291 is up in canary, 4% slower than the last one. Keep it?").Button("Accept").Click()
			s.result("is deployed in canary")
		}},
		{name: "settled-unfolded", pane: work, show: func(s *session) {
			q := s.page.Region("Questions").Article("Deploy build 2291 of checkout? Three services will restart.")
			q.Role("DisclosureTriangle", "").All().Nth(0).Click()
			q.Contains("Sent")
		}},
		{name: "ladder", pane: log, show: func(s *session) {
			s.page.Region("Wire log").Button("Sequence").Click()
			s.page.Region("Sequence").Contains("tools/call")
		}},
		{name: "frame", pane: log, show: func(s *session) {
			s.page.Region("Wire log").Button("Sequence").Click()
			s.row("1").Click()
			s.page.Region("Wire log").Role("group", "Frame").Contains("#1")
		}},
		{name: "frame-raw", pane: log, show: func(s *session) { s.page.Region("Wire log").TabNamed("Raw").Click() }},
		{name: "frame-pair", pane: log, show: func(s *session) { s.page.Region("Wire log").TabNamed("Pair").Click() }},
		{name: "frame-note", pane: log, show: func(s *session) { s.page.Region("Wire log").TabNamed("Note").Click() }},
		{name: "frame-compared", pane: log, show: func(s *session) {
			s.page.Region("Wire log").TabNamed("Compare").Click()
			s.page.Region("Wire log").Button("Compare with…").Click()
			s.row("4").Click()
			s.page.Region("Wire log").Role("group", "Frame").Contains("difference")
		}},
		{name: "log", pane: log, show: func(s *session) { s.page.Button("Close the frame").Click() }},
		{name: "filter-offers", pane: log, show: func(s *session) {
			s.filter().Fill("is:")
			s.page.Role("option", "").All().Nth(0).Wait()
		}},
		{name: "filter-mistake", pane: log, show: func(s *session) {
			s.filter().Fill("method:tools/* nonsense:1")
			s.page.Press(page.Enter)
			s.page.Region("Wire log").Contains("There is no term")
		}},
		{name: "filter-nothing", pane: log, show: func(s *session) {
			s.filter().Fill("method:nothing/like/it")
			s.page.Press(page.Enter)
			s.page.Region("Wire log").Contains("0 match")
		}},
		{name: "keys", pane: log, show: func(s *session) {
			s.filter().Fill("")
			s.page.Press(page.Enter)
			s.press("keys")
		}},
		{name: "ledger", pane: work, show: func(s *session) {
			s.press("ledger")
			s.page.Region("Questions asked").Contains("Which build should go out?")
		}},
		{name: "server", pane: work, show: func(s *session) {
			s.page.Press(page.Escape)
			s.serverDetails()
		}},
	}},
	{"fields", onDemo("--protocol", "2025-11-25"), []state{
		{name: "every-field", pane: work, ask: true, show: func(s *session) {
			s.call("every_field")
			s.page.Region("Questions").Button("Accept").Wait()
		}},
		{name: "every-field-errors", pane: work, show: func(s *session) {
			s.page.Region("Questions").Button("Accept").Click()
			s.page.Region("Questions").Button("Send anyway").Wait()
		}},
		{name: "every-field-end", pane: work, show: func(s *session) {
			s.page.Region("Questions").Button("Send anyway").Focus()
		}},
		{name: "declined", pane: work, show: func(s *session) {
			s.page.Region("Questions").Button("Decline").Click()
			s.result("decline")
		}},
	}},
	{"links", onDemo("--protocol", "2025-11-25"), []state{
		{name: "suspicious-link", pane: work, ask: true, show: func(s *session) {
			s.call("suspicious_link")
			s.page.Region("Questions").Button("Decline").Wait()
		}},
		{name: "link-opened", pane: work, show: func(s *session) {
			s.page.Region("Questions").Button("Decline").Click()
			s.result("")
			s.call("connect_mailbox")
			s.page.Region("Questions").Button("Copy URL and accept").Click()
			s.page.Region("Questions").Button("Mark as done").Wait()
		}},
		{name: "url-required", pane: work, show: func(s *session) {
			s.call("protected_report")
			s.page.Region("Questions").Article("").All().Nth(0).Wait()
			s.page.Region("Call").Contains("protected_report")
		}},
	}},
	{"several", onDemo(), []state{
		{name: "several-at-once", pane: work, ask: true, show: func(s *session) {
			s.call("plan_trip")
			s.page.Region("Questions").Button("Accept").Nth(2).Wait()
		}},
		{name: "mixed-round", pane: work, show: func(s *session) {
			s.call("pay_invoice")
			s.page.Region("Questions").Article("").All().Nth(3).Wait()
		}},
		{name: "held-back", pane: work, show: func(s *session) {
			s.choose("Tools", "ask_many").Button("Call").Click()
			s.page.Button("Decline all").Wait()
		}},
	}},
	{"findings", onDemo("--protocol", "2025-11-25"), []state{
		{name: "findings-on-card", pane: work, ask: true, show: func(s *session) {
			s.call("rule_breaker")
			s.page.Region("Questions").Button("Accept").Wait()
		}},
		{name: "findings-of-server", pane: work, show: func(s *session) {
			s.serverDetails().Button("Findings").Click()
			s.page.Region("").All().Having("id", "findings").Role("DisclosureTriangle", "").All().Nth(0).Focus()
		}},
		{name: "frame-findings", pane: log, show: func(s *session) {
			s.page.Press(page.Escape)
			s.filter().Fill("finding:any")
			s.page.Press(page.Enter)
			s.page.Region("Wire log").Contains("1 match")
			s.page.Region("Wire log").Role("row", "").All().Nth(1).Click()
			s.page.Region("Wire log").Role("tab", "").All().Having("id", "detail-tab-findings").Click()
		}},
	}},
	{"results", onDemo(), []state{
		{name: "result-everything", pane: work, show: func(s *session) {
			s.call("show_result")
			s.page.Region("Result").Wait()
		}},
		{name: "running", pane: work, show: func(s *session) {
			call := s.choose("Tools", "slow_count")
			call.Field("Seconds for each").Fill("9")
			call.Button("Call").Click()
			call.Button("Stop").Wait()
		}},
		{name: "stopped", pane: work, show: func(s *session) {
			s.page.Region("Call").Button("Stop").Click()
			s.page.Region("Call").Contains("stopped")
		}},
		{name: "prompt", pane: work, show: func(s *session) { s.choose("Prompts", "release_notes") }},
		{name: "resource", pane: work, show: func(s *session) { s.choose("Resources", "lease") }},
	}},
	{"rude", onHardServers, []state{
		{name: "server-failed", pane: tools, show: func(s *session) {
			s.page.Region("Tools").Contains("cannot open the database")
		}},
		{name: "search-without-match", pane: tools, show: func(s *session) {
			s.page.Role("searchbox", "Search").Fill("no such thing")
			s.page.Region("Tools").Contains("match")
		}},
		{name: "long-names", pane: work, ask: true, show: func(s *session) {
			s.page.Role("searchbox", "Search").Fill("")
			s.call(longName)
			s.page.Region("Questions").Button("Accept").Wait()
		}},
		{name: "hostile", pane: work, ask: true, show: func(s *session) {
			s.page.Region("Questions").Button("Decline").Click()
			s.result("received")
			s.call("hostile")
			s.page.Region("Questions").Button("Accept").Wait()
		}},
		{name: "tool-error", pane: work, show: func(s *session) {
			s.page.Region("Questions").Button("Decline").Click()
			s.call("rpc_error")
			s.result("no such account")
		}},
	}},
	{"apps", onApps, appStates},
	{"tasks", onDemo(), []state{
		{name: "polls-folded", pane: log, show: func(s *session) {
			s.call("migrate_table")
			s.page.Region("Questions").Button("Decline").Click()
			s.result("Nothing of orders was migrated.")
			s.page.Region("Wire log").Role("grid", "Frames").Matches("one row counts the polls", regexp.MustCompile(`tasks/get ?×\d`).MatchString)
		}},
		{name: "task-ended", pane: work, show: func(s *session) {}},
	}},
	{"opened", onRecording, []state{
		{name: "recording", pane: work, show: func(s *session) { s.result("is deployed") }},
		{name: "recording-played", pane: work, show: func(s *session) {
			s.page.Role("slider", "").All().Nth(0).Focus()
			s.page.Press(page.Home)
			for range 6 {
				s.page.Press(page.Right)
			}
		}},
	}},
	{"present", onDemo(), presentStates},
	{"menus", onDemo("--allow-add"), menuStates},
	{"compose", onDemo(), composeStates},
	{"check", onDemo(), checkStates},
	{"sign-in", onProtected("/mcp"), signInStates},
	{"sign-in-failed", onProtected("/bad/issuer-mismatch/mcp"), failedSignInStates},
	{"broken", onBroken, []state{
		{name: "only-server-failed", pane: work, show: func(s *session) { s.page.Region("Call").Contains("could not be reached") }},
	}},
}

const longName = "synchronise_the_inventories_of_all_warehouses_with_the_central_bookkeeping_system_and_report_back"

// onDemo starts on the demo server, with these flags.
func onDemo(flags ...string) func(testing.TB) *session {
	return func(t testing.TB) *session {
		return shown(t, append([]string{"--no-open", "--listen", "127.0.0.1:0"}, flags...)...)
	}
}

// shown opens the page of an inspector as users build it.
func shown(t testing.TB, args ...string) *session {
	t.Helper()
	p := inspector.StartWith(t, inspector.Options{Dir: t.TempDir()}, args...)
	return &session{t: t, Process: p, page: browser.Open(t, p.URL)}
}

// onHardServers starts on a server that fails, and on one with content that is hard to
// lay out.
func onHardServers(t testing.TB) *session {
	rude := servers.NewRude(t, []servers.Question{{Name: longName, Params: `{"message":"` + longName + `: which of the warehouses that have not reported back since the beginning of the last quarter should be left out of it?","requestedSchema":{"type":"object","properties":{"` + longName + `":{"type":"string","maxLength":4000},"reason":{"type":"string","title":"The reason that is given to everybody who is responsible for one of the warehouses","enum":["Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft","The roof leaks"]}},"required":["reason"]}}`}})
	command := func(words ...string) map[string]any { return map[string]any{"command": words[0], "args": words[1:]} }
	config, err := json.Marshal(map[string]any{"mcpServers": map[string]any{
		"warehouses of the northern and the southern regions": command(rude.Command...),
		"broken": command(servers.RudeBinary, "-die"),
	}})
	path := filepath.Join(t.TempDir(), "mcp.json")
	if err == nil {
		err = os.WriteFile(path, config, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return shown(t, "--no-open", "--listen", "127.0.0.1:0", "--config", path)
}

// onRecording opens a recording of a deployment.
func onRecording(t testing.TB) *session {
	dir := t.TempDir()
	path, answers := filepath.Join(dir, "flow.jsonl"), filepath.Join(dir, "answers.yaml")
	if err := os.WriteFile(answers, []byte("default: {accept: valid}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if done := inspector.Run(t, inspector.Options{}, "call", "deploy", "--record", path, "--answers", answers); done.Code != 0 {
		t.Fatalf("recording a call ended with %d: %s", done.Code, done.Stderr)
	}
	return shown(t, "open", "--no-open", "--listen", "127.0.0.1:0", path)
}

// row is one row of the wire log.
func (s *session) row(seq string) *page.Control {
	return s.page.Region("Wire log").Role("row", "").All().Having("id", "r"+seq).Wait()
}

func (s *session) filter() *page.Control {
	return s.page.Region("Wire log").Role("combobox", "Filter")
}

// press opens the popover of a button in the bar.
func (s *session) press(popover string) {
	s.t.Helper()
	s.page.Button("").All().Having("popovertarget", popover).Click()
}
