package e2e

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"elicitation-inspector/e2e/internal/page"
	"elicitation-inspector/e2e/internal/servers"
)

const calendarAsks = "Sign in to Fernhill Calendar, to let the demo server read when you are free."

// A URL from question to completion: nothing is fetched before Open, which is a real link
// and the consent; the page is used in its own tab; the server reports the completion.
func TestURLMode(t *testing.T) {
	t.Parallel()
	s := open(t, "--protocol", "2025-11-25")
	s.call("connect_calendar")
	q := s.question(calendarAsks)
	link := q.Link("Open").Wait()
	href := link.Attr("href")
	shown := page.Call[string](q, "function() { return this.querySelector('.address code').textContent.trim() }")
	if shown != href {
		t.Errorf("the page shows %q and opens %q", shown, href)
	}
	if target, rel := link.Attr("target"), link.Attr("rel"); target != "_blank" || !strings.Contains(rel, "noopener") || !strings.Contains(rel, "noreferrer") {
		t.Errorf("the link has target=%q rel=%q", target, rel)
	}
	noneFetched(t, s)

	link.Click()
	tab := s.page.Opened(href)
	if got := s.answer(1); got != `{"action":"accept"}` {
		t.Errorf("consent sent %s, want accept without content", got)
	}
	if got := page.Eval[string](tab, "document.referrer + (window.opener ? ' has an opener' : '')"); got != "" {
		t.Errorf("the opened page knows where it came from: %s", got)
	}
	if got := page.Eval[string](tab, "location.href"); got != href {
		t.Errorf("%s was opened, the page showed %s", got, href)
	}
	s.page.Question(calendarAsks).Contains("notifications/elicitation/complete")
	tab.Button("Continue as Robin").Click()
	s.result("Fernhill Calendar is connected. You are free on Tuesday 10:00 and Wednesday 15:30.")
	s.page.Question(calendarAsks).Having("data-outcome", "completed").Wait()
	if n := len(s.Wire().Requests("s2c", "notifications/elicitation/complete")); n != 1 {
		t.Errorf("there are %d completions on the wire", n)
	}
}

// noneFetched checks that the page has only sent requests to the inspector.
func noneFetched(t *testing.T, s *session) {
	t.Helper()
	for _, url := range s.page.Requests() {
		if !strings.HasPrefix(url, s.Base+"/") && !strings.HasPrefix(url, "data:") && !strings.HasPrefix(url, strings.Replace(s.Base, "http", "ws", 1)+"/") {
			t.Errorf("the page has fetched %s", url)
		}
	}
	if hints := page.Eval[int](s.page, "document.querySelectorAll('link[rel~=prefetch], link[rel~=preconnect], link[rel~=dns-prefetch], link[rel~=prerender]').length"); hints > 0 {
		t.Error("the page hints at other hosts")
	}
}

// The other answers: copying is consent, too, Decline and Cancel work as for forms.
func TestURLModeOtherAnswers(t *testing.T) {
	t.Parallel()
	s := open(t, "--protocol", "2025-11-25")
	s.call("connect_calendar")
	s.question(calendarAsks).Button("Decline").Click()
	s.result("The calendar is not connected, as you wish.")
	s.call("connect_calendar")
	s.question(calendarAsks).Button("Cancel").Click()
	s.result("The calendar is not connected yet.")

	// A completion that never comes: the person can mark it done.
	const mailbox = "Sign in to Northmail, to let the demo server read your newsletters."
	s.call("connect_mailbox")
	s.question(mailbox).Button("Copy URL and accept").Click()
	if got := s.answer(3); got != `{"action":"accept"}` {
		t.Errorf("copying sent %s", got)
	}
	s.result("Northmail will tell when your mailbox is connected.")
	q := s.page.Question(mailbox).Having("data-state", "answered")
	q.Button("Mark as done").Click()
	s.page.Question(mailbox).Having("data-outcome", "marked as done").Wait()
}

// In 2026-07-28 there is no completion notification: only a retry shows the outcome.
func TestURLModeByRetry(t *testing.T) {
	t.Parallel()
	s := open(t, "--protocol", "2026-07-28")
	s.call("connect_calendar")
	link := s.question(calendarAsks).Link("Open").Wait()
	href := link.Attr("href")
	link.Click()
	tab := s.page.Opened(href)
	tab.Button("Continue as Robin").Click()
	tab.Button("Continue as Robin").Gone()
	retry := s.page.Question(calendarAsks).Having("data-state", "answered").Button("Retry now")
	s.page.Until(func() string { return "the calendar is connected, by itself or by Retry now" }, func() bool {
		retry.ClickIfThere()
		return strings.Contains(s.page.Region("Result").TextNow(), "Fernhill Calendar is connected.")
	})
	if n := len(s.Wire().Requests("s2c", "notifications/elicitation/complete")); n != 0 {
		t.Errorf("there are %d completions on the wire", n)
	}
}

// Suspicious parts of a URL are explained before it is opened; a URL that no browser
// should follow has no link.
func TestURLWarnings(t *testing.T) {
	t.Parallel()
	s := open(t, "--protocol", "2025-11-25", "--elicit-rate", "0")
	const asks = "Your parcel is held. Confirm your address to have it delivered."
	for _, c := range []struct {
		link     string
		openable bool
		shows    string
	}{
		{"user_name", true, "www.parcels.example@203.0.113.7"},
		{"not_encrypted", true, "http://parcels.example"},
		{"ipv4_as_one_number", true, "3405803783"},
		{"look_alike", true, "xn--"},
		{"punycode", true, "xn--prcels-3nf"},
		{"secrets", true, "access_token"},
		{"script", false, "javascript:"},
		{"local_file", false, "file:"},
		{"page_in_the_address", false, "data:"},
		{"no_address", false, "https://[2001:db8::"},
	} {
		call := s.choose("Tools", "suspicious_link")
		call.Field("Link").Choose(c.link)
		call.Button("Call").Click()
		q := s.question(asks).Contains(c.shows)
		if n := q.Role("list", "Warnings").Role("listitem", "").All().Count(); n == 0 {
			t.Errorf("%s: there is no warning: %q", c.link, q.Text())
		}
		if got := q.Link("Open").Exists(); got != c.openable {
			t.Errorf("%s: there is a link to open it: %v, want %v", c.link, got, c.openable)
		}
		q.Button("Decline").Click()
		s.result("Well spotted")
	}
	noneFetched(t, s)
}

// mcp-go's example in URL mode: one tool completes by notification, one asks by error.
func TestMCPGoURL(t *testing.T) {
	t.Parallel()
	s := openOn(t, servers.MCPGo(t), "--protocol", "2025-11-25")
	const auth = "Please authenticate in your browser to continue."
	s.call("auth_via_url")
	q := s.question(auth).Contains("https://myserver.com/set-api-key?elicitationId=")
	q.Button("Copy URL and accept").Click()
	s.result("Authentication flow initiated. User accepted URL open request.")
	s.page.Question(auth).Having("data-outcome", "completed").Wait()
	s.call("auth_via_url")
	s.question(auth).Button("Decline").Click()
	s.result("User declined authentication: decline")

	const required = "Authorization is required to access this resource."
	s.call("protected_action")
	s.question(required).Contains("https://myserver.com/authorize?id=").Button("Copy URL and accept").Click()
	q = s.page.Question(required).Having("data-state", "answered")
	q.Button("Mark as done").Click() // then the call is repeated, and asks again
	s.question(required).Button("Decline").Click()
	noneFetched(t, s)
}

// server-everything in URL mode, by request and by error.
func TestServerEverythingURL(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		open func(t *testing.T) *session
	}{
		{"stdio", func(t *testing.T) *session { return openOn(t, servers.Everything(t, "stdio")) }},
		{"Streamable HTTP", func(t *testing.T) *session { return open(t, servers.EverythingHTTP(t)) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := c.open(t)
			const asks = "Please open the link to complete this action."
			ask := func(byError bool) {
				call := s.choose("Tools", "trigger-url-elicitation")
				call.Field("url").Fill("https://example.org/authorize?x=1")
				if byError {
					call.Field("errorPath").Choose("Yes")
				}
				call.Button("Call").Click()
			}
			ask(false)
			s.question(asks).Contains("https://example.org/authorize?x=1").Button("Copy URL and accept").Click()
			s.result("User completed the URL elicitation flow.")
			ask(false)
			s.question(asks).Button("Decline").Click()
			s.result("User declined to open the URL")
			ask(false)
			s.question(asks).Button("Cancel").Click()
			s.result("User cancelled the URL elicitation")

			ask(true)
			const prerequisite = "Open this link to satisfy the prerequisite, then retry the request."
			s.question(prerequisite).Contains("https://modelcontextprotocol.io").Button("Copy URL and accept").Click()
			s.page.Question(prerequisite).Having("data-state", "answered").Button("Retry now").Click()
			s.question(asks).Button("Copy URL and accept").Click() // the retry proceeds with the request
			s.result("User completed the URL elicitation flow.")
			noneFetched(t, s)
		})
	}
}

// outcome waits for the question with a message to have an outcome.
func (s *session) outcome(message, outcome string) *page.Control {
	s.t.Helper()
	return s.page.Question(message).Having("data-outcome", outcome).Wait()
}

// urlParams returns the params of an elicitation in URL mode.
func urlParams(message, address, id string) string {
	b, err := json.Marshal(struct {
		Mode          string `json:"mode"`
		Message       string `json:"message"`
		URL           string `json:"url"`
		ElicitationID string `json:"elicitationId"`
	}{"url", message, address, id})
	if err != nil {
		panic(err)
	}
	return string(b)
}

// visited is a web site that counts its requests.
type visited struct {
	*httptest.Server
	requests atomic.Int64
}

func newVisited(t *testing.T) *visited {
	t.Helper()
	v := &visited{}
	v.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		v.requests.Add(1)
	}))
	t.Cleanup(v.Close)
	return v
}

// untouched checks that the site has had no request so far.
func (v *visited) untouched(t *testing.T, when string) {
	t.Helper()
	if n := v.requests.Load(); n != 0 {
		t.Errorf("%s, the page was fetched %d times", when, n)
	}
}
