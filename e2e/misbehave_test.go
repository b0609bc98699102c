package e2e

import (
	"encoding/json"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"elicitation-inspector/e2e/internal/inspector"
	"elicitation-inspector/e2e/internal/page"
	"elicitation-inspector/e2e/internal/servers"
)

// The menu is used by role and name, and by keyboard alone. Deliberate answers are marked
// in all places, and the card shows what the server did next.
func TestMisbehaveMenu(t *testing.T) {
	t.Parallel()
	s := open(t)
	const message = "Which build should go out?"
	s.call("deploy")
	q := s.question(message)
	q.Role("DisclosureTriangle", "Misbehave…").Focus()
	s.page.Press(page.Enter)
	q.Role("searchbox", "Search the wrong answers").Type("unknown ACTION perhaps")
	list := q.Region("An invalid result")
	list.Button("Send no action").Gone()
	q.Button("An invalid result").Focus()
	s.page.Press(page.Enter)
	list.Button("Send an unknown action").HasFocus()
	list.Role("DisclosureTriangle", "What it does: Send an unknown action").Focus()
	s.page.Press(page.Enter)
	list.Contains("A good server:").Contains("Response Actions")
	list.Button("Send an unknown action").Focus()
	s.page.Press(page.Enter)

	card := s.outcome(message, "misbehaved")
	card.Contains("deliberate: send an unknown action").Contains("on purpose").Contains("then: ")
	card.Role("DisclosureTriangle", "").All().Nth(0).Click()
	card.Contains("What the server did next:").Contains("unknown-action")
	s.page.Region("Wire log").Contains("deliberate")
	marked := 0
	for _, f := range s.Wire() {
		if strings.Contains(f.Line, `"fault":"unknown-action"`) && f.Actor == "fault" {
			marked++
		}
	}
	if marked != 2 {
		t.Errorf("%d frames are marked, want the note and the answer", marked)
	}

	s.call("deploy")
	q = s.question(message)
	q.Role("DisclosureTriangle", "Misbehave…").Click()
	late := q.Region("Time")
	late.Field("Seconds").All().Nth(0).Fill("0.2")
	late.Button("Answer late").Click()
	s.question("Deploy build 2291 of checkout? Three services will restart.")
	if got := s.page.Complaints(); len(got) > 0 {
		t.Errorf("the browser complained: %q", got)
	}
}

func TestLedger(t *testing.T) {
	t.Parallel()
	s := open(t)
	const message = "Which build should go out?"
	s.call("deploy")
	s.question(message).Button("Decline").Click()
	s.result("No build was chosen.")
	s.call("deploy")
	s.question(message).Button("Cancel").Click()
	s.result("put off")

	s.page.Button("Questions asked").Click()
	ledger := s.page.Region("Questions asked")
	ledger.Contains("2 questions").Contains("declined").Contains("answered the call: No build was chosen.")
	ledger.Role("searchbox", "Filter").Type("declined")
	ledger.Contains("1 question").Contains("No build was chosen.")
	ledger.Button("#").Click()
	ledger.Button("Give this answer again").Click()
	s.page.Until(func() string { return "call 3 is on show" }, func() bool {
		return page.Eval[string](s.page, `document.querySelector("#call > [data-call]")?.dataset.call ?? ""`) == "3"
	})
	s.result("No build was chosen.")
	if got := s.answer(3); got != `{"action":"decline"}` {
		t.Errorf("given again: %s", got)
	}

	s.page.Button("Questions asked").Click()
	ledger.Contains("declined")
	ledger.Button("Call again with other arguments").Nth(0).Click()
	s.page.Region("Call").Field("Service").Wait()
}

// The ledger names the mode of questions that wait, too, and says of an answer in a round
// that was stopped that it was never sent.
func TestLedgerOfARound(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.call("plan_trip")
	questions := s.page.Region("Questions")
	questions.Button("Decline").Nth(2).Wait()
	questions.Button("Decline").Nth(0).Click()
	s.page.Button("Questions asked").Click()
	ledger := s.page.Region("Questions asked")
	ledger.Role("searchbox", "Filter").Type("waiting")
	ledger.Contains("2 questions").Contains("form · ")
	ledger.Button("Close").Click()
	s.page.Region("Call").Button("Stop").Click()
	questions.Contains("never sent, since the call ended first")
	s.page.Button("Questions asked").Click()
	ledger.Role("searchbox", "Filter").Fill("never sent")
	ledger.Contains("1 question").Contains("declined · never sent, since the call ended first")
}

// offered matches the faults of a menu.
var offered = regexp.MustCompile(`<button name="fault" value="([^"]+)"`)

// TestMisbehavingWithRealServers sends every fault that fits to real servers. The
// inspector survives their reactions, and the card describes these.
func TestMisbehavingWithRealServers(t *testing.T) {
	t.Parallel()
	everything := []string{everythingTool}
	for _, c := range []struct {
		name  string
		start func(t *testing.T) *inspector.Process
		tools []string
	}{
		{"server-everything over stdio", func(t *testing.T) *inspector.Process { return startOn(t, servers.Everything(t, "stdio")) }, everything},
		{"server-everything over HTTP", func(t *testing.T) *inspector.Process { return inspector.Start(t, servers.EverythingHTTP(t)) }, everything},
		{"server-everything over SSE", func(t *testing.T) *inspector.Process { return inspector.Start(t, servers.EverythingSSE(t)) }, everything},
		{"go-sdk over stdio, in rounds", func(t *testing.T) *inspector.Process { return startOn(t, servers.GoSDK(t)) }, []string{"test_input_required_result_elicitation"}},
		{"go-sdk over stateless HTTP, in rounds", func(t *testing.T) *inspector.Process { return inspector.Start(t, servers.GoSDKHTTP(t, true)) }, []string{"test_input_required_result_elicitation"}},
		{"go-sdk over HTTP", func(t *testing.T) *inspector.Process { return inspector.Start(t, servers.GoSDKHTTP(t, false)) }, []string{"test_elicitation_sep1330_enums"}},
		{"mcp-go's example", func(t *testing.T) *inspector.Process {
			return startOn(t, servers.MCPGo(t), "--protocol", "2025-11-25")
		}, []string{"create_project"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			m := &misbehaving{Process: c.start(t), t: t, news: make(chan struct{}, 1)}
			m.follow()
			for _, tool := range c.tools {
				m.all(tool)
			}
		})
	}
}

func startOn(t *testing.T, command []string, flags ...string) *inspector.Process {
	return inspector.Start(t, append(append(flags, "--"), command...)...)
}

// misbehaving is an inspector that is used without a page.
type misbehaving struct {
	*inspector.Process
	t    *testing.T
	news chan struct{} // receives when something has changed
}

// follow signals every push until the test ends.
func (m *misbehaving) follow() {
	socket, _, err := websocket.Dial(m.t.Context(), strings.Replace(m.Base, "http", "ws", 1)+"/live?since=0", &websocket.DialOptions{HTTPClient: m.Client()})
	if err != nil {
		m.t.Fatal(err)
	}
	socket.SetReadLimit(-1)
	done := make(chan struct{})
	m.t.Cleanup(func() { // the socket has ended with the test's context
		<-done
		_ = socket.CloseNow()
	})
	go func() {
		defer close(done)
		for {
			if _, _, err := socket.Read(m.t.Context()); err != nil {
				return
			}
			select {
			case m.news <- struct{}{}:
			default:
			}
		}
	}()
}

func (m *misbehaving) get(path string) (string, int) {
	m.t.Helper()
	resp, err := m.Client().Get(m.Base + path)
	if err != nil {
		m.t.Fatal(err)
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(resp.Body)
	return string(body), resp.StatusCode
}

func (m *misbehaving) post(path string, values url.Values) (string, int) {
	m.t.Helper()
	req, err := http.NewRequest(http.MethodPost, m.Base+path, strings.NewReader(values.Encode()))
	if err != nil {
		m.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Origin", m.Base)
	resp, err := m.Client().Do(req)
	if err != nil {
		m.t.Fatalf("the inspector does not answer: %v", err)
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(resp.Body)
	return string(body), resp.StatusCode
}

// reconnectEvery is the time after which a failed connection is tried again.
const reconnectEvery = 5 * time.Second

// until waits until is returns true. It calls is after every push and at intervals,
// because a failed connection that is must open again causes no push.
func (m *misbehaving) until(what string, is func() bool) {
	m.t.Helper()
	late := time.After(inspector.Patience)
	for !is() {
		select {
		case <-m.news:
		case <-time.After(reconnectEvery):
		case <-late:
			m.t.Fatalf("waited in vain for %s", what)
		}
	}
}

// over reports whether a call has ended.
func (m *misbehaving) over(call string) bool {
	panel, _ := m.get("/calls/" + call)
	return !strings.Contains(panel, `class="head running`) // and more classes, while it waits
}

// ask calls a tool, on a new connection if the last one ended, and returns the numbers of
// the call and of its question.
func (m *misbehaving) ask(tool string) (call string, question int) {
	m.t.Helper()
	asked := func() (last int) {
		ledger, _ := m.get("/ledger?sort=-number")
		if n := regexp.MustCompile(`id="ledger-(\d+)"`).FindStringSubmatch(ledger); n != nil {
			_, _ = fmt.Sscan(n[1], &last)
		}
		return last
	}
	before := asked()
	tried := time.Time{}
	m.until("a question of "+tool, func() bool {
		question = asked()
		if question > before {
			return true
		}
		if call != "" && !m.over(call) {
			return false
		}
		// A connection that was closed on purpose takes a while to end, and calls fail until
		// then. The timeout ends the call if the server does nothing after a fault.
		body, status := m.post("/calls", url.Values{"server": {"s1"}, "kind": {"tool"}, "key": {tool}, "force": {"1"}, "timeout": {"2"}})
		call = strings.TrimSpace(body)
		if status != http.StatusOK {
			call = ""
		}
		if status != http.StatusOK && time.Since(tried) >= reconnectEvery && strings.Contains(body, "not connected") {
			tried = time.Now()
			m.post("/servers/s1/reconnect", nil)
		}
		return false
	})
	return call, question
}

// all sends every fault that fits.
func (m *misbehaving) all(tool string) {
	call, question := m.ask(tool)
	menu, status := m.get(fmt.Sprintf("/questions/%d/faults", question))
	if status != http.StatusOK {
		m.t.Fatalf("the menu: %d %s", status, menu)
	}
	var names []string
	for _, found := range offered.FindAllStringSubmatch(menu, -1) {
		if !slices.Contains(names, found[1]) {
			names = append(names, found[1])
		}
	}
	if len(names) < 25 {
		m.t.Errorf("only %d faults fit: %q", len(names), names)
	}
	for i, name := range names {
		values := url.Values{"fault": {name}, "seconds": {"0.2"}, "tab": {"json"}, "content": {`{"unexpected":1}`}}
		body, status := "", http.StatusConflict
		// A question of the call that was stopped can come up late: it is settled already.
		for again := i > 0; status == http.StatusConflict; again = true {
			if again {
				call, question = m.ask(tool)
			}
			body, status = m.post(fmt.Sprintf("/questions/%d/misbehave", question), values)
		}
		if status != http.StatusNoContent {
			m.t.Errorf("%s: %d %s", name, status, body)
			continue
		}
		next := ""
		m.until(name+": what the server did", func() bool {
			over := m.over(call)
			next = m.next(question)
			return next != "" && (over || next != "nothing so far.")
		})
		m.post("/calls/"+call+"/stop", nil)
		m.t.Logf("%-24s %s", name, next)
	}
	call, question = m.ask(tool) // the server can still be used
	m.post(fmt.Sprintf("/questions/%d/answer", question), url.Values{"action": {"decline"}})
	m.post("/calls/"+call+"/stop", nil)
	marked := map[string]bool{}
	for _, f := range m.Wire() {
		var line struct{ Fault, Actor string }
		if err := json.Unmarshal([]byte(f.Line), &line); err == nil && line.Fault != "" {
			marked[line.Fault] = line.Actor == "fault"
		}
	}
	for _, name := range names {
		if !marked[name] {
			m.t.Errorf("nothing in the transcript is marked as %s", name)
		}
	}
}

var (
	nextWords = regexp.MustCompile(`(?s)<b>What the server did next:</b>(.*?)</p>`)
	anyTag    = regexp.MustCompile(`<[^>]*>`)
)

// next returns what the server did, as the card of a question shows it.
func (m *misbehaving) next(question int) string {
	card, status := m.get(fmt.Sprintf("/questions/%d/past", question))
	found := nextWords.FindStringSubmatch(card)
	if status != http.StatusOK || found == nil {
		return ""
	}
	return strings.Join(strings.Fields(html.UnescapeString(anyTag.ReplaceAllString(found[1], " "))), " ")
}
