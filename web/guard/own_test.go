package guard

import (
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
	for _, c := range []struct {
		name, host, target string
		mode, site         string // of Sec-Fetch; "" for a program
		want               int
		cookie, told       bool
	}{
		{"a program with the token", here, "/?token=" + token, "", "", http.StatusTeapot, true, false},
		{"a browser with the token", here, "/?token=" + token, "navigate", "none", http.StatusOK, false, true},
		{"one that does not find the host", here, "/?shared=1&token=" + token, "navigate", "same-origin", http.StatusTeapot, true, false},
		{"one at the host", g.own, "/?token=" + token, "navigate", "cross-site", http.StatusTeapot, true, false},
		{"a download by address", here, "/wire.jsonl?token=" + token, "navigate", "none", http.StatusTeapot, false, false},
		{"a link", here, "/?tool=deploy", "navigate", "none", http.StatusUnauthorized, false, false},
		{"a wrong token", here, "/?token=x", "navigate", "none", http.StatusUnauthorized, false, false},
		{"a link that led to the host", g.own, "/?tool=deploy", "navigate", "cross-site", http.StatusUnauthorized, false, false},
		{"a picture elsewhere", here, "/?token=" + token, "no-cors", "cross-site", http.StatusForbidden, false, false},
		{"the host of another run", "a" + g.own, "/?token=" + token, "navigate", "none", http.StatusForbidden, false, false},
		{"the proof, elsewhere", here, proofPath + "?nonce=n", "cors", "same-origin", http.StatusUnauthorized, false, false},
		{"the proof without an origin", g.own, proofPath + "?nonce=n", "navigate", "none", http.StatusUnauthorized, false, false},
	} {
		r := httptest.NewRequest(http.MethodGet, c.target, nil)
		r.Host = c.host
		if c.mode != "" {
			r.Header.Set("Sec-Fetch-Mode", c.mode)
			r.Header.Set("Sec-Fetch-Site", c.site)
		}
		w := httptest.NewRecorder()
		g.ServeHTTP(w, r)
		cookie, told := w.Header().Get("Set-Cookie") != "", strings.Contains(w.Body.String(), g.own)
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
