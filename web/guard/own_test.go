package guard

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
)

// TestOwnHost checks where the cookie is given out, and to whom the own host is told.
func TestOwnHost(t *testing.T) {
	page := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })
	token := NewToken()
	g := New(token, &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 6280}, page)
	shared := 0
	g.Shared = func() { shared++ }
	const here = "127.0.0.1:6280"
	const chromium, firefox, safari = `"Not:A-Brand";v="8", "Chromium";v="156"`, "Mozilla/5.0 (X11; Linux x86_64; rv:146.0) Gecko/20100101 Firefox/146.0", "Mozilla/5.0 (iPhone) AppleWebKit/605.1.15 (KHTML, like Gecko) FxiOS/146.0 Mobile/15E148 Safari/605.1.15"
	for _, c := range []struct {
		name, host, target string
		mode, site         string // of Sec-Fetch; "" for a program
		want               int
		cookie, told       bool
		hint, agent        string // Sec-CH-UA and User-Agent
	}{
		{"a program with the token", here, "/?token=" + token, "", "", http.StatusTeapot, true, false, "", ""},
		{"a browser with the token", here, "/?token=" + token, "navigate", "none", http.StatusOK, false, true, "", ""},
		{"Chromium with the token", here, "/?filter=x&token=" + token, "navigate", "none", http.StatusSeeOther, false, true, chromium, ""},
		{"Firefox with the token", here, "/?filter=x&token=" + token, "navigate", "none", http.StatusSeeOther, false, true, "", firefox},
		{"Chromium at the known host", g.known, "/?filter=x&token=" + token, "navigate", "none", http.StatusSeeOther, false, true, chromium, ""},
		{"Firefox that is another browser underneath", here, "/?token=" + token, "navigate", "none", http.StatusOK, false, true, "", safari},
		{"a page of Chromium's", here, "/?token=" + token, "cors", "same-origin", http.StatusTeapot, true, false, chromium, ""},
		{"Chromium with another token", here, "/?token=x", "navigate", "none", http.StatusUnauthorized, false, false, chromium, ""},
		{"Chromium without a token, at the known host", g.known, "/?tool=deploy", "navigate", "cross-site", http.StatusUnauthorized, false, false, chromium, ""},
		{"Chromium at the host", g.own, "/?token=" + token, "navigate", "none", http.StatusTeapot, true, false, chromium, ""},
		{"one that does not find the host", here, "/?shared=1&token=" + token, "navigate", "same-origin", http.StatusTeapot, true, false, "", ""},
		{"one at the host", g.own, "/?token=" + token, "navigate", "cross-site", http.StatusTeapot, true, false, "", ""},
		{"a download by address", here, "/wire.jsonl?token=" + token, "navigate", "none", http.StatusTeapot, false, false, "", ""},
		{"a link", here, "/?tool=deploy", "navigate", "none", http.StatusUnauthorized, false, false, "", ""},
		{"a wrong token", here, "/?token=x", "navigate", "none", http.StatusUnauthorized, false, false, "", ""},
		{"a link that led to the host", g.own, "/?tool=deploy", "navigate", "cross-site", http.StatusUnauthorized, false, false, "", ""},
		{"a picture elsewhere", here, "/?token=" + token, "no-cors", "cross-site", http.StatusForbidden, false, false, "", ""},
		{"the host of another run", "a" + g.own, "/?token=" + token, "navigate", "none", http.StatusForbidden, false, false, "", ""},
		{"the proof, elsewhere", here, proofPath + "?nonce=n", "cors", "same-origin", http.StatusUnauthorized, false, false, "", ""},
		{"the proof without an origin", g.own, proofPath + "?nonce=n", "navigate", "none", http.StatusUnauthorized, false, false, "", ""},
	} {
		r := httptest.NewRequest(http.MethodGet, c.target, nil)
		r.Host = c.host
		if c.mode != "" {
			r.Header.Set("Sec-Fetch-Mode", c.mode)
			r.Header.Set("Sec-Fetch-Site", c.site)
		}
		r.Header.Set("Sec-CH-UA", c.hint)
		r.Header.Set("User-Agent", c.agent)
		w := httptest.NewRecorder()
		g.ServeHTTP(w, r)
		cookie, told := w.Header().Get("Set-Cookie") != "", strings.Contains(fmt.Sprint(w.Header(), w.Body), g.own)
		if to := w.Header().Get("Location"); to != "" && to != "http://"+g.own+c.target {
			t.Errorf("%s is redirected to %s", c.name, to)
		}
		if w.Header().Get("Cache-Control") != "no-store" || w.Header().Get("Referrer-Policy") != "same-origin" {
			t.Errorf("%s gets %v", c.name, w.Header())
		}
		if separate := w.Header().Get("Cross-Origin-Opener-Policy") != ""; w.Code < 400 && separate {
			t.Errorf("%s: only who knows the token may keep a hold on the page that it opens; %v", c.name, w.Header())
		}
		if c.host != here && w.Code == http.StatusForbidden {
			told = false // it is the name that was asked for
		}
		if w.Code != c.want || cookie != c.cookie || told != c.told {
			t.Errorf("%s: %d, cookie %v, told of the own host %v; want %d, %v, %v", c.name, w.Code, cookie, told, c.want, c.cookie, c.told)
		}
	}
	if shared != 1 {
		t.Errorf("a shared cookie was reported %d times", shared)
	}
	if other := New(token, &net.TCPAddr{IP: net.IPv6loopback, Port: 6280}, page); other.own != "" {
		t.Errorf("it has the host %s, which leads to 127.0.0.1", other.own)
	}
}

// TestProof checks that the own host proves to the door, and to no other origin, that it knows the
// token, by what the door has been told to expect.
func TestProof(t *testing.T) {
	g := New(NewToken(), &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 6280}, http.NotFoundHandler())
	ask := func(host, target, origin string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(http.MethodGet, target, nil)
		r.Host = host
		r.Header.Set("Sec-Fetch-Site", "cross-site")
		r.Header.Set("Sec-Fetch-Mode", map[bool]string{true: "navigate", false: "cors"}[origin == ""])
		if origin != "" {
			r.Header.Set("Origin", origin)
		}
		w := httptest.NewRecorder()
		g.ServeHTTP(w, r)
		return w
	}
	const here = "127.0.0.1:6280"
	for _, target := range []string{"/?token=" + g.token, "/"} {
		door := ask(here, target, "").Body.String()
		told := regexp.MustCompile(`data-nonce="(\w+)" data-proof="(\w+)"`).FindStringSubmatch(door)
		if told == nil || strings.Contains(door, g.token) {
			t.Fatalf("the door: %s", door)
		}
		w := ask(g.own, proofPath+"?nonce="+told[1], "http://"+here)
		if w.Body.String() != told[2] || w.Header().Get("Access-Control-Allow-Origin") != "http://"+here {
			t.Errorf("%d %q, want %s", w.Code, w.Body, told[2])
		}
		if w := ask(g.own, proofPath+"?nonce="+told[1], "http://evil.example"); w.Code != http.StatusForbidden {
			t.Errorf("another origin gets %d %s", w.Code, w.Body)
		}
	}
	g.Unnamed()
	if door := ask(here, "/?token="+g.token, ""); strings.Contains(door.Body.String(), ownDomain) || door.Header().Get("Set-Cookie") == "" {
		t.Errorf("without an own host: %s", door.Body)
	}
}
