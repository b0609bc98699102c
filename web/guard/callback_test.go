package guard

import (
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
)

// A browser that returns from an authorization server has neither cookie nor token. It
// reaches the callback and nothing else.
func TestCallbackPassesTheGuard(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	page := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })
	g := New(NewToken(), l.Addr(), page)
	callback := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusAccepted) })
	for _, c := range []struct {
		callback     http.Handler
		host, target string
		origin       string
		want         int
	}{
		{callback, l.Addr().String(), "/oauth/callback?state=x", "", http.StatusAccepted},
		{callback, "evil.example", "/oauth/callback?state=x", "", http.StatusForbidden},
		{callback, l.Addr().String(), "/oauth/callback?state=x", "https://evil.example", http.StatusForbidden},
		{callback, l.Addr().String(), "/oauth/callback/", "", http.StatusUnauthorized},
		{callback, l.Addr().String(), "/", "", http.StatusUnauthorized},
		{nil, l.Addr().String(), "/oauth/callback?state=x", "", http.StatusUnauthorized},
	} {
		r := httptest.NewRequest(http.MethodGet, c.target, nil)
		if r.Host = c.host; c.origin != "" {
			r.Header.Set("Origin", c.origin)
		}
		w := httptest.NewRecorder()
		g.Callback = c.callback
		g.ServeHTTP(w, r)
		if w.Code != c.want {
			t.Errorf("%s of %s from %q: %d, want %d", c.target, c.host, c.origin, w.Code, c.want)
		}
	}
}
