package e2e

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"elicitation-inspector/e2e/internal/inspector"
	"elicitation-inspector/e2e/internal/page"
	"elicitation-inspector/e2e/internal/servers"
)

// neighbour is another server on this computer, which keeps the cookies that it gets.
type neighbour struct {
	*httptest.Server
	mu      sync.Mutex
	visits  int
	cookies []string
}

func newNeighbour(t *testing.T) *neighbour {
	t.Helper()
	n := &neighbour{}
	n.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n.mu.Lock()
		defer n.mu.Unlock()
		if r.URL.Path != "/favicon.ico" {
			n.visits++
		}
		n.cookies = append(n.cookies, r.Header.Values("Cookie")...)
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte("<!doctype html><title>Next door</title><h1>Next door</h1>"))
	}))
	t.Cleanup(n.Close)
	return n
}

// TestTheCookieStaysAtHome opens the pages of another server on this computer, as a person
// does from a question and by typing, and checks that the cookie of the inspector does not
// go along.
func TestTheCookieStaysAtHome(t *testing.T) {
	t.Parallel()
	next := newNeighbour(t)
	_, port, err := net.SplitHostPort(next.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	var addresses []string
	for _, host := range []string{"127.0.0.1", "localhost", "inspector.localhost"} {
		addresses = append(addresses, "http://"+host+":"+port+"/open")
	}
	var questions []servers.Question
	for _, address := range addresses {
		questions = append(questions, servers.Question{Name: strings.NewReplacer(".", "_", ":", "_", "/", "_").Replace(address), Params: urlParams("To "+address+"?", address, "e1")})
	}
	rude := servers.NewRude(t, questions)
	s := openOn(t, rude.Command, "--protocol", "2025-11-25", "--elicit-rate", "0")
	if here := page.Eval[string](s.page, "location.href"); !ownAddress.MatchString(here) {
		t.Fatalf("the page is at %s", here)
	}
	for i, address := range addresses {
		s.call(questions[i].Name)
		s.question("To " + address + "?").Link("Open").Click()
		tab := s.page.Opened(address)
		tab.Role("heading", "Next door").Wait()
		tab.Close()
		tab = s.page.Tab(address + "ed-by-hand")
		tab.Role("heading", "Next door").Wait()
		tab.Close()
	}
	next.mu.Lock()
	defer next.mu.Unlock()
	if next.visits != 2*len(addresses) {
		t.Errorf("it was visited %d times", next.visits)
	}
	for _, cookie := range next.cookies {
		if strings.Contains(cookie, s.Token) {
			t.Errorf("it got the token of the run: %s", cookie)
		}
	}
}

// safari is the user agent of a browser that asks the system where names below localhost are.
const safari = "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.6 Safari/605.1.15"

// TestTheDoor opens the printed address in a browser that is led to the own host by a redirect, and
// in one that is led there by a page, which first makes sure of it. In both, the token leaves the
// address without another navigation, and goes along with no other request.
func TestTheDoor(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		agent     string
		documents int // besides redirects
	}{"Chromium": {"", 1}, "Safari": {safari, 2}} {
		t.Run(name, func(t *testing.T) {
			p := inspector.Start(t)
			tab := browser.Blank(t)
			if c.agent != "" {
				tab.UserAgent(c.agent)
			}
			var mu sync.Mutex
			documents, requests := 0, []string{}
			if err := chromedp.Listen(tab.Context(), func(event any) {
				mu.Lock()
				defer mu.Unlock()
				switch e := event.(type) {
				case *network.EventRequestWillBeSent:
					if e.Type != network.ResourceTypeDocument {
						requests = append(requests, fmt.Sprint(e.Request.URL, e.Request.Headers))
					}
				case *network.EventResponseReceived:
					if e.Type == network.ResourceTypeDocument && strings.Contains(e.Response.URL, "token=") {
						documents++
					}
				}
			}); err != nil {
				t.Fatal(err)
			}
			tab.Goto(p.URL + "&filter=dir:c2s")
			tab.Button("deploy").Nth(0).Wait()
			if here := page.Eval[string](tab, "location.href + ' ' + history.length"); !regexp.MustCompile(`^http://\w{26}\.inspector\.localhost:\d+/\?filter=dir%3Ac2s 2$`).MatchString(here) {
				t.Errorf("the page is at %s", here) // the first entry is the tab's blank page
			}
			mu.Lock()
			defer mu.Unlock()
			if documents != c.documents {
				t.Errorf("%d documents were loaded, want %d", documents, c.documents)
			}
			for _, r := range requests {
				if strings.Contains(r, p.Token) {
					t.Errorf("a request has the token: %s", r)
				}
			}
			if len(requests) == 0 {
				t.Error("no requests were seen")
			}
		})
	}
}

// TestLinksWithoutTheToken follows an address of 127.0.0.1, as links have it, in browsers
// that know the own host, and in one that does not.
func TestLinksWithoutTheToken(t *testing.T) {
	t.Parallel()
	p := inspector.Start(t)
	for _, agent := range []string{"", safari} {
		first := browser.Blank(t)
		if agent != "" {
			first.UserAgent(agent)
		}
		first.Goto(p.URL)
		first.Until(func() string { return "the own host is kept" }, func() bool {
			return page.Eval[bool](first, "performance.getEntriesByName('kept').length > 0") || agent != ""
		})
		tab := first.Tab(p.Base + "/?tool=deploy")
		tab.Region("Call").Role("heading", "deploy").Wait()
		if here := page.Eval[string](tab, "location.origin + '/'"); !ownAddress.MatchString(here) {
			t.Errorf("the link led to %s", here)
		}
	}
	stranger := browser.Open(t, p.Base+"/?tool=deploy")
	if text := page.Eval[string](stranger, "document.body.innerText"); !strings.Contains(text, "Open the address that the inspector printed") {
		t.Errorf("a browser without the token gets %s", text)
	}
	if here := page.Eval[string](stranger, "location.origin + '/'"); ownAddress.MatchString(here) {
		t.Errorf("a browser without the token learns of %s", here)
	}
}

// TestFallback opens the page where the browser does not find the own host: it stays on
// 127.0.0.1, and both the page and the log say what that means.
func TestFallback(t *testing.T) {
	t.Parallel()
	p := inspector.Start(t)
	tab := browser.Blank(t)
	tab.UserAgent(safari)
	tab.BeforeLoad(`const real = fetch; window.fetch = (to, ...more) => String(to).includes("inspector.localhost") ? Promise.reject(new TypeError("the name is not found")) : real(to, ...more)`)
	tab.Goto(p.URL)
	if here := page.Eval[string](tab, "location.href"); here != p.Base+"/" {
		t.Errorf("the page is at %s", here)
	}
	tab.Role("alert", "").Contains("Other servers on this computer also get this page's cookie")
	p.LogLine("about the cookie", func(line string) bool { return strings.Contains(line, "all servers on this computer get") })
	tab.Reload()
	tab.Button("deploy").Nth(0).Wait()
}

// TestForeignPagesDoNotAct sends what a browser sends for pages of other origins that have
// the cookie all the same, such as those of another port.
func TestForeignPagesDoNotAct(t *testing.T) {
	t.Parallel()
	p := inspector.Start(t)
	u, err := url.Parse(p.Base)
	if err != nil {
		t.Fatal(err)
	}
	cookie := p.Client().Jar.Cookies(u)[0].String()
	for _, c := range []struct {
		method, path, site, mode string
		want                     int
	}{
		{"POST", "/servers/s1/reconnect", "same-site", "navigate", 403},
		{"POST", "/servers/s1/reconnect", "cross-site", "no-cors", 403},
		{"GET", "/live?since=0", "same-site", "websocket", 403},
		{"GET", "/wire.jsonl", "same-site", "no-cors", 403},
		{"GET", "/servers/s1/signin/open", "same-origin", "navigate", 405},
		{"GET", "/", "cross-site", "navigate", 200},
		{"POST", "/servers/s1/reconnect", "same-origin", "cors", 204},
	} {
		extra := "Sec-Fetch-Site: " + c.site + "\r\nSec-Fetch-Mode: " + c.mode + "\r\n"
		if status, _, body := raw(t, u.Host, c.method, c.path, u.Host, "", cookie, extra, ""); status != c.want {
			t.Errorf("%s %s from %s by %s: %d, want %d: %s", c.method, c.path, c.site, c.mode, status, c.want, body)
		}
	}
}
