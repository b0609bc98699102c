package e2e

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"elicitation-inspector/e2e/internal/inspector"
)

// The guard of the page, of static files and of the websocket, as one table over real
// connections. Requests are written by hand, because a client library would correct some
// of them.
func TestGuard(t *testing.T) {
	t.Parallel()
	p := inspector.Start(t)
	u, err := url.Parse(p.Base)
	if err != nil {
		t.Fatal(err)
	}
	address, port := u.Host, u.Port()
	jar := p.Client().Jar
	var cookie string
	for _, c := range jar.Cookies(u) {
		cookie = c.Name + "=" + c.Value
		if !strings.Contains(c.Name, port) {
			t.Errorf("the cookie %q is not named after the port, so that two inspectors would share it", c.Name)
		}
	}
	if cookie == "" {
		t.Fatal("the token was not swapped for a cookie")
	}
	other := "INSPECTOR=" + strings.Repeat("x", 32)

	const upgrade = "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
	targets := []struct {
		path  string
		extra string // further header lines
		ok    int    // status for allowed requests
	}{
		{"/", "", 200},
		{"/static/bundle.js", "", 200},
		{"/live?since=0", upgrade, 101},
		{"/wire.jsonl", "", 200},
	}
	for _, c := range []struct {
		name   string
		host   string
		origin string // "" for none; "null" is a value
		cookie string
		path   func(string) string // nil for unchanged
		allow  bool
	}{
		{name: "as the browser does", host: address, origin: p.Base, cookie: cookie, allow: true},
		{name: "no Origin", host: address, cookie: cookie, allow: true},
		{name: "foreign Origin", host: address, origin: "https://evil.example", cookie: cookie},
		{name: "Origin null", host: address, origin: "null", cookie: cookie},
		{name: "another port on localhost", host: address, origin: "http://127.0.0.1:1", cookie: cookie},
		{name: "https Origin of the same host", host: address, origin: "https://" + address, cookie: cookie},
		{name: "a longer Origin that begins like ours", host: address, origin: p.Base + ".evil.example", cookie: cookie},
		{name: "rebinding Host", host: "evil.example:" + port, origin: "http://evil.example:" + port, cookie: cookie},
		{name: "rebinding Host without Origin", host: "evil.example:" + port, cookie: cookie},
		{name: "Host with another port", host: "127.0.0.1:1", cookie: cookie},
		{name: "no cookie, no token", host: address},
		{name: "cookie of another inspector", host: address, cookie: other},
		{name: "cookie cut short", host: address, cookie: cookie[:len(cookie)-1]},
		{name: "cookie with more", host: address, cookie: cookie + "x"},
		{name: "wrong token", host: address, path: withToken(strings.Repeat("0", len(p.Token)))},
		{name: "truncated token", host: address, path: withToken(p.Token[:len(p.Token)-1])},
		{name: "empty token", host: address, path: withToken("")},
		{name: "percent-encoded path, no cookie", host: address, path: encoded},
		{name: "doubled slash, no cookie", host: address, path: func(s string) string { return "/" + s }},
		{name: "dot segment, no cookie", host: address, path: func(s string) string { return "/static/.." + s }},
		{name: "absolute form with a foreign host", host: "evil.example", cookie: cookie, path: func(s string) string { return "http://evil.example" + s }},
	} {
		for _, target := range targets {
			t.Run(c.name+" "+target.path, func(t *testing.T) {
				path := target.path
				if c.path != nil {
					path = c.path(path)
				}
				status, head, _ := raw(t, address, "GET", path, c.host, c.origin, c.cookie, target.extra, "")
				switch {
				case c.allow && status != target.ok:
					t.Errorf("status %d, want %d", status, target.ok)
				case !c.allow && status < 400:
					t.Errorf("status %d; who asks so must not come in\n%s", status, head)
				case !c.allow && strings.Contains(strings.ToLower(head), "set-cookie"):
					t.Errorf("a refusal sets a cookie: %s", head)
				}
			})
		}
	}

	t.Run("a POST from elsewhere changes nothing", func(t *testing.T) {
		const form = "Content-Type: application/x-www-form-urlencoded\r\n"
		body := "server=s1&kind=tool&key=deploy&tab=json&content=%7B%7D"
		for _, origin := range []string{"https://evil.example", "null", "http://127.0.0.1:1"} {
			if status, _, _ := raw(t, address, "POST", "/calls", address, origin, cookie, form, body); status < 400 {
				t.Errorf("Origin %s: status %d", origin, status)
			}
		}
		if n := len(p.Wire().Requests("c2s", "tools/call")); n != 0 {
			t.Errorf("%d calls were made", n)
		}
	})

	t.Run("headers", func(t *testing.T) {
		_, head, _ := raw(t, address, "GET", "/", address, "", cookie, "", "")
		for _, want := range []string{"default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "nosniff"} {
			if !strings.Contains(head, want) {
				t.Errorf("the page's headers have no %s:\n%s", want, head)
			}
		}
		if strings.Contains(head, "unsafe-") {
			t.Errorf("the content security policy has an exception:\n%s", head)
		}
		_, head, body := raw(t, address, "GET", "/?token="+p.Token, address, "", "", "", "")
		low := strings.ToLower(head)
		if !strings.Contains(low, "httponly") || !strings.Contains(low, "samesite=strict") {
			t.Errorf("the cookie is not HttpOnly and SameSite=Strict:\n%s", head)
		}
		_, _, body2 := raw(t, address, "GET", "/", address, "", cookie, "", "")
		if strings.Contains(body+body2, p.Token) {
			t.Error("the token is written into the page")
		}
	})

	t.Run("a body without end is cut off", func(t *testing.T) {
		status, _, _ := raw(t, address, "POST", "/form/preview", address, p.Base, cookie,
			"Content-Type: application/x-www-form-urlencoded\r\n", "content="+strings.Repeat("x", 300<<20))
		if status < 400 {
			t.Errorf("300 MiB of form data: status %d", status)
		}
	})
}

func withToken(token string) func(string) string {
	return func(path string) string {
		sep := "?"
		if strings.Contains(path, "?") {
			sep = "&"
		}
		return path + sep + "token=" + token
	}
}

// encoded percent-encodes every letter of the path.
func encoded(path string) string {
	path, query, _ := strings.Cut(path, "?")
	var b strings.Builder
	for i := range len(path) {
		if c := path[i]; c == '/' {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02x", c)
		}
	}
	if b.String() == "/" {
		return "/%2e/?" + query
	}
	return b.String() + "?" + query
}

// raw writes one HTTP/1.1 request byte by byte and returns the response's status, head
// and body. It stops sending a body when the other side closes the connection.
func raw(t *testing.T, address, method, path, host, origin, cookie, extra, body string) (status int, head, content string) {
	t.Helper()
	conn, err := net.DialTimeout("tcp", address, 10*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nHost: %s\r\n", method, path, host)
	if origin != "" {
		fmt.Fprintf(&b, "Origin: %s\r\n", origin)
	}
	if cookie != "" {
		fmt.Fprintf(&b, "Cookie: %s\r\n", cookie)
	}
	if !strings.Contains(extra, "Upgrade") {
		b.WriteString("Connection: close\r\n")
	}
	if body != "" {
		fmt.Fprintf(&b, "Content-Length: %d\r\n", len(body))
	}
	b.WriteString(extra + "\r\n")
	go func() {
		_, _ = io.WriteString(conn, b.String())
		_, _ = io.WriteString(conn, body)
	}()
	res, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: method})
	if err != nil {
		if body != "" {
			return http.StatusRequestEntityTooLarge, "", "" // the server closed the connection in the middle of the body
		}
		t.Fatalf("%s %s: no answer: %v", method, path, err)
	}
	defer res.Body.Close()
	var h strings.Builder
	_ = res.Header.Write(&h)
	if res.StatusCode != http.StatusSwitchingProtocols {
		all, _ := io.ReadAll(res.Body)
		content = string(all)
	}
	return res.StatusCode, h.String(), content
}
