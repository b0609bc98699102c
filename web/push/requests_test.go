package push

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/coder/websocket"
	"github.com/coder/websocket/wsjson"
)

// A form that is posted over the socket is answered as over HTTP.
func TestForms(t *testing.T) {
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/panics":
			panic("oops")
		case "/nothing":
			w.WriteHeader(http.StatusNoContent)
		default:
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprintf(w, "%s %s %s of %s", r.Method, r.URL.Path, r.FormValue("branch"), r.Host)
		}
	})
	base := formServer(t, handler)
	socket, _, err := websocket.Dial(t.Context(), base+"?since=0", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer socket.CloseNow()
	post := func(r Request) Answer {
		t.Helper()
		if err := wsjson.Write(t.Context(), socket, r); err != nil {
			t.Fatal(err)
		}
		for {
			var a Answer
			if err := wsjson.Read(t.Context(), socket, &a); err != nil {
				t.Fatal(err)
			}
			if a.ID != 0 { // else a push
				return a
			}
		}
	}
	host := strings.TrimPrefix(base, "http://")
	for _, c := range []struct {
		request Request
		want    Answer
	}{
		{Request{7, "/calls", "branch=a+%26+b"}, Answer{7, 200, "text/html", "POST /calls a & b of " + host}},
		{Request{8, "/nothing", ""}, Answer{8, 204, "", ""}},
		{Request{9, "/panics", ""}, Answer{9, 500, "", "Something went wrong in the inspector: oops"}},
	} {
		if got := post(c.request); got != c.want {
			t.Errorf("%v is answered with %v, not %v", c.request, got, c.want)
		}
	}
}

// A page that sends anything else than forms loses its socket.
func TestJunkEndsTheSocket(t *testing.T) {
	base := formServer(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { t.Errorf("%s is let in", r.URL) }))
	for _, junk := range []string{
		"junk", `{"seq":1}`, `{"id":1,"path":"calls"}`, `{"id":1,"path":"/calls/../x"}`, `{"id":1,"path":"//calls"}`,
		`{"id":1,"path":"/calls","body":"` + strings.Repeat("x", requestMost) + `"}`,
	} {
		socket, _, err := websocket.Dial(t.Context(), base+"?since=0", nil)
		if err != nil {
			t.Fatal(err)
		}
		_ = socket.Write(t.Context(), websocket.MessageText, []byte(junk)) // it may be hung up on in the middle
		for err == nil {                                                   // the test waits until the socket ends
			_, _, err = socket.Read(t.Context())
		}
	}
}

func formServer(t *testing.T, handler http.Handler) string {
	h := NewHub()
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _ = h.Serve(w, r, handler) }))
	t.Cleanup(func() { h.Close(); web.Close() })
	return web.URL
}
