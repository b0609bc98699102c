package web

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"elicitation-inspector/bridge/client/inspection"
	"elicitation-inspector/bridge/wire"
)

const testToken = "token-of-this-test-0123456789abcdefghijklmno"

// startServer serves an inspection without servers on a real port.
func startServer(t *testing.T) (addr string) {
	t.Helper()
	log, err := wire.NewLog(wire.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	in := inspection.New(inspection.Config{Log: log})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- New(Config{Inspection: in, Token: testToken}).Serve(ctx, l) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Errorf("serving: %v", err)
		}
		if err := in.Close(context.Background()); err != nil {
			t.Error(err)
		}
		if err := log.Close(); err != nil {
			t.Error(err)
		}
	})
	return l.Addr().String()
}

// send sends the bytes of a request unchanged, which no HTTP client does.
func send(t *testing.T, addr, request string) *http.Response {
	t.Helper()
	conn, err := net.DialTimeout("tcp", addr, 5*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(conn, request); err != nil {
		t.Fatal(err)
	}
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { res.Body.Close() })
	return res
}

func TestGuard(t *testing.T) {
	addr := startServer(t)
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		t.Fatal(err)
	}
	other := "6281"
	cookie := "Cookie: inspector_" + port + "=" + testToken + "\r\n"
	// Only an admitted websocket gets the status 101.
	const upgrade = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
	targets := []struct {
		path, extra string
		in          int
	}{
		{"/", "", 200},
		{"/static/bundle.js", "", 200},
		{"/live", upgrade, 101},
		{"/wire.jsonl", "", 200},
		{"/wire/rows", "", 200},
	}
	cases := []struct {
		name, host, headers string
		query               string
		want                int // 0: the websocket is admitted
	}{
		{"cookie", addr, cookie, "", 0},
		{"token in the address", addr, "", "token=" + testToken, 0},
		{"bearer", addr, "Authorization: Bearer " + testToken + "\r\n", "", 0},
		{"localhost", "localhost:" + port, cookie, "", 0},
		{"own origin", addr, cookie + "Origin: http://" + addr + "\r\n", "", 0},
		{"own origin by name", "localhost:" + port, cookie + "Origin: http://localhost:" + port + "\r\n", "", 0},

		{"no token", addr, "", "", 401},
		{"wrong token", addr, "", "token=" + strings.Repeat("x", len(testToken)), 401},
		{"truncated token", addr, "", "token=" + testToken[:len(testToken)-1], 401},
		{"longer token", addr, "", "token=" + testToken + "x", 401},
		{"empty token", addr, "", "token=", 401},
		{"wrong cookie", addr, "Cookie: inspector_" + port + "=x\r\n", "", 401},
		{"cookie of another port", addr, "Cookie: inspector_" + other + "=" + testToken + "\r\n", "", 401},
		{"wrong bearer", addr, "Authorization: Bearer x\r\n", "", 401},
		{"basic", addr, "Authorization: Basic " + testToken + "\r\n", "", 401},

		{"foreign origin", addr, cookie + "Origin: https://evil.example\r\n", "", 403},
		{"null origin", addr, cookie + "Origin: null\r\n", "", 403},
		{"empty origin", addr, cookie + "Origin: \r\n", "", 403},
		{"https origin", addr, cookie + "Origin: https://" + addr + "\r\n", "", 403},
		{"origin on another port", addr, cookie + "Origin: http://127.0.0.1:" + other + "\r\n", "", 403},
		{"origin with a prefix of ours", addr, cookie + "Origin: http://" + addr + ".evil.example\r\n", "", 403},
		{"two origins", addr, cookie + "Origin: http://" + addr + "\r\nOrigin: https://evil.example\r\n", "", 403},
		{"foreign origin, good token", addr, "Origin: https://evil.example\r\n", "token=" + testToken, 403},
		{"rebinding host", "evil.example:" + port, cookie, "", 403},
		{"rebinding host, good token", "evil.example:" + port, "", "token=" + testToken, 403},
		{"host without port", "127.0.0.1", cookie, "", 403},
		{"host on another port", "127.0.0.1:" + other, cookie, "", 403},
		{"host that only looks local", "127.0.0.1.evil.example:" + port, cookie, "", 403},
	}
	for _, target := range targets {
		for _, c := range cases {
			t.Run(target.path+" "+c.name, func(t *testing.T) {
				path := target.path
				if c.query != "" {
					path += "?" + c.query
				}
				res := send(t, addr, fmt.Sprintf("GET %s HTTP/1.1\r\nHost: %s\r\n%s%s\r\n", path, c.host, c.headers, target.extra))
				want := c.want
				if want == 0 {
					want = target.in
				}
				if res.StatusCode != want {
					t.Errorf("status %d, want %d", res.StatusCode, want)
				}
				if res.Header.Get("Content-Security-Policy") == "" {
					t.Error("no content-security policy")
				}
				if res.Header.Get("X-DNS-Prefetch-Control") != "off" {
					t.Error("the browser may look up hosts that nobody asked for")
				}
			})
		}
	}
}

func TestGuardPaths(t *testing.T) {
	addr := startServer(t)
	for _, path := range []string{
		"//static/bundle.js", "/static//bundle.js", "/static/%62undle.js", "/%2e%2e/", "/static/..%2fbundle.js",
		"/static/../bundle.js", "/./", "/%2Flive", "/static%2fbundle.js", "/static/bundle.js%00", `/static/\bundle.js`,
	} {
		t.Run(path, func(t *testing.T) {
			without := send(t, addr, "GET "+path+" HTTP/1.1\r\nHost: "+addr+"\r\n\r\n")
			if without.StatusCode != 401 && without.StatusCode != 400 {
				t.Errorf("without a token: status %d", without.StatusCode)
			}
			with := send(t, addr, "GET "+path+" HTTP/1.1\r\nHost: "+addr+"\r\nAuthorization: Bearer "+testToken+"\r\n\r\n")
			if with.StatusCode != 404 && with.StatusCode != 400 {
				t.Errorf("with the token: status %d, want nothing there", with.StatusCode)
			}
		})
	}
}

func TestCookie(t *testing.T) {
	addr := startServer(t)
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		t.Fatal(err)
	}
	res := send(t, addr, "GET /?token="+testToken+" HTTP/1.1\r\nHost: "+addr+"\r\n\r\n")
	cookies := res.Cookies()
	if len(cookies) != 1 {
		t.Fatalf("%d cookies, want 1", len(cookies))
	}
	c := cookies[0]
	if c.Name != "inspector_"+port || !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.MaxAge != 0 || !c.Expires.IsZero() {
		t.Errorf("cookie %v", c)
	}
}
