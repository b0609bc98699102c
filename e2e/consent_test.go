package e2e

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"elicitation-inspector/e2e/internal/page"
	"elicitation-inspector/e2e/internal/servers"
)

// watched is a site that a question links to. It records every connection, so that it
// also notices pre-connections.
type watched struct {
	URL string

	mu          sync.Mutex
	connections int
	requests    []string
}

func newWatched(t *testing.T) *watched {
	t.Helper()
	v := &watched{}
	web := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		v.mu.Lock()
		defer v.mu.Unlock()
		v.requests = append(v.requests, r.Method+" "+r.URL.RequestURI())
		if from := r.Header.Get("Referer"); from != "" {
			v.requests = append(v.requests, "referred by "+from)
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, `<!doctype html><title>Sign in</title><link rel="icon" href="data:,"><h1>Sign in</h1>`)
	}))
	web.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			v.mu.Lock()
			defer v.mu.Unlock()
			v.connections++
		}
	}
	web.Start()
	t.Cleanup(web.Close)
	v.URL = web.URL
	return v
}

// untouched fails the test if anything has connected to the site.
func (v *watched) untouched(t *testing.T, when string) {
	t.Helper()
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.connections > 0 {
		t.Fatalf("%s, there were %d connections to the URL, with requests %q", when, v.connections, v.requests)
	}
}

func (v *watched) seen() []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return append([]string(nil), v.requests...)
}

// complete returns the notification that a URL is done.
func complete(id string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/elicitation/complete","params":{"elicitationId":%q}}`, id)
}

// completions waits until n completions are in the log.
func (s *session) completions(n int) {
	s.t.Helper()
	s.page.Until(func() string { return fmt.Sprintf("%d completions are in the log", n) }, func() bool {
		return len(s.Wire().Requests("s2c", "notifications/elicitation/complete")) == n
	})
}

// Before the person consents, nothing connects to the URL. Completions that nothing waits
// for have no effect, then or later.
func TestNothingIsFetchedBeforeConsent(t *testing.T) {
	t.Parallel()
	site := newWatched(t)
	address := site.URL + "/connect?state=4f%2F2&lang=de"
	rude := servers.NewRude(t, []servers.Question{{Name: "connect", Params: urlParams("Connect your calendar?", address, "c-1")}})
	s := openOn(t, rude.Command)
	s.call("connect")
	q := s.question("Connect your calendar?").Contains(address).Contains("not encrypted")
	if got, want := willSend(t, q), `{"action":"accept"}`; got != want {
		t.Errorf("it will send %s, want %s", got, want)
	}
	// The host stands out from the rest of the address.
	const emphasised = `function() {
		const differs = (b, p) => ['fontWeight', 'color', 'backgroundColor'].some(k => getComputedStyle(b)[k] !== getComputedStyle(p)[k]);
		return [...this.querySelectorAll('code b')].filter(b => differs(b, b.parentElement)).map(b => b.textContent).join(' ');
	}`
	if got := page.Call[string](q, emphasised); got != "127.0.0.1" {
		t.Errorf("emphasised is %q, want the host", got)
	}

	rude.OrderWith("write", complete("nobody-knows-me"))
	rude.OrderWith("write", `{"jsonrpc":"2.0","method":"notifications/elicitation/complete","params":{"elicitationId":7}}`)
	rude.OrderWith("write", `{"jsonrpc":"2.0","method":"notifications/elicitation/complete","params":[]}`)
	s.completions(3)
	// Focusing the link and reloading the page are not consent.
	q.Link("Open").Focus()
	s.page.Reload()
	q = s.question("Connect your calendar?").Contains(address)
	q.Link("Open").Focus()
	site.untouched(t, "before any consent")
	if got := rude.Answers(); len(got) > 0 {
		t.Fatalf("answered without consent: %q", got)
	}

	q.Link("Open").Click()
	tab := s.page.Opened(address)
	tab.Role("heading", "Sign in").Wait()
	if got, want := s.answer(1), `{"action":"accept"}`; got != want {
		t.Errorf("Open sent %s, want %s", got, want)
	}
	s.result(`received: {"action":"accept"}`)
	if got := site.seen(); len(got) != 1 || got[0] != "GET /connect?state=4f%2F2&lang=de" {
		t.Errorf("the site was asked for %q", got)
	}

	q = s.outcome("Connect your calendar?", "accepted").Contains("Waiting for notifications/elicitation/complete").Contains("c-1")
	if q.Link("Open").Exists() || q.Button("Decline").Exists() {
		t.Error("what is accepted can be answered again")
	}
	for _, n := range []int{4, 5} { // the second one is a duplicate
		rude.OrderWith("write", complete("c-1"))
		s.completions(n)
		s.outcome("Connect your calendar?", "completed")
	}
	if got := len(rude.Answers()); got != 1 {
		t.Errorf("%d answers went out, want one", got)
	}
}

// Copy URL and accept copies the whole URL. No answer except Open opens a page. A
// completion may come before the consent, and after the question is settled.
func TestConsentWithoutOpening(t *testing.T) {
	t.Parallel()
	site := newWatched(t)
	address := site.URL + "/a?b=c%20#d"
	var questions []servers.Question
	for _, name := range []string{"copy", "decline", "cancel", "early"} {
		questions = append(questions, servers.Question{Name: name, Params: urlParams("To "+name+"?", address, name)})
	}
	rude := servers.NewRude(t, questions)
	s := openOn(t, rude.Command)
	whole := s.page // without a call of its own it shows the questions of all calls
	tab := browser.Blank(t)
	tab.BeforeLoad(`{ const write = Clipboard.prototype.writeText; Clipboard.prototype.writeText = function(text) { window.copied = text; return write.call(this, text) } }`)
	tab.Goto(s.URL)
	s.page = tab

	s.call("copy")
	s.question("To copy?").Button("Copy URL and accept").Click()
	s.result(`received: {"action":"accept"}`)
	if got := page.Eval[string](s.page, "window.copied ?? ''"); got != address {
		t.Errorf("copied %q, want %q", got, address)
	}
	s.outcome("To copy?", "accepted").Button("Mark as done").Click()
	s.outcome("To copy?", "marked as done")
	rude.OrderWith("write", complete("copy"))

	for _, c := range []struct{ tool, button, action, outcome string }{
		{"decline", "Decline", "decline", "declined"},
		{"cancel", "Cancel", "cancel", "cancelled"},
	} {
		s.call(c.tool)
		s.question("To " + c.tool + "?").Button(c.button).Click()
		s.result(fmt.Sprintf(`received: {"action":%q}`, c.action))
		rude.OrderWith("write", complete(c.tool)) // late, without effect
		s.outcome("To "+c.tool+"?", c.outcome)
	}
	s.completions(3)
	whole.Question("To decline?").Having("data-outcome", "declined").Wait()

	s.call("early")
	s.question("To early?")
	rude.OrderWith("write", complete("early"))
	q := s.question("To early?").Contains("the server says it is done")
	q.Button("Copy URL and accept").Click()
	s.outcome("To early?", "completed")
	s.result(`received: {"action":"accept"}`)
	site.untouched(t, "after copies, a decline and a cancel")
}

// Retry every n seconds continues until the server returns a result; Give up ends the
// call.
func TestRetryEvery(t *testing.T) {
	t.Parallel()
	site := newWatched(t)
	asks := func(message string) string {
		return fmt.Sprintf(`"result":{"resultType":"input_required","inputRequests":{"visit":{"method":"elicitation/create","params":{"mode":"url","message":%q,"url":%q}}},"requestState":"desk"}`, message, site.URL)
	}
	server := servers.NewScripted(t, "2026-07-28", map[string]servers.Script{
		"pay": func(n int, c servers.Call) string {
			switch n {
			case 1:
				return asks("Pay at the desk?")
			case 2:
				return `"result":{"resultType":"input_required","requestState":"not yet"}`
			}
			return servers.Done(fmt.Sprintf("paid, at the attempt number %d", n))
		},
		"never": func(int, servers.Call) string { return asks("Pay later?") },
	})
	s := open(t, server.URL)
	s.call("pay")
	s.question("Pay at the desk?").Button("Copy URL and accept").Click()
	q := s.outcome("Pay at the desk?", "accepted").Contains("Waiting for you to try again")
	if q.Button("Mark as done").Exists() {
		t.Error("nothing can be marked as done in this revision")
	}
	if n := len(server.Calls("pay")); n != 1 {
		t.Errorf("%d calls went out before any word to retry", n)
	}
	q.Field("Seconds between retries").Fill("0.4")
	q.Button("Retry every").Click()
	s.result("paid, at the attempt number 3")
	calls := server.Calls("pay")
	if got := calls[1].Member("requestState") + calls[2].Member("requestState"); got != `"desk""not yet"` {
		t.Errorf("the retries carried the states %s", got)
	}

	s.call("never")
	s.question("Pay later?").Button("Copy URL and accept").Click()
	s.outcome("Pay later?", "accepted").Button("Give up").Click()
	s.page.Region("Result").Contains("topped")
	if got := len(server.Calls("never")); got != 1 {
		t.Errorf("%d calls went out, though the person gave up", got)
	}
	site.untouched(t, "without Open")
}
