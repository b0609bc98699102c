// The race detector makes these tests several times slower. Other tests do the same
// concurrently at smaller sizes.

//go:build !race

package web

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"elicitation-inspector/bridge/wire"
)

// The first drawing of a large frame is bounded. The page can fetch the rest piece by
// piece, until it has all.
func TestLargeFrames(t *testing.T) {
	s := newLogServer(t, wire.Options{})
	var list strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&list, `,{"n":%d}`, i)
	}
	text := strings.Repeat("0123456789abcdef", 200_000)
	seq := s.in(`{"jsonrpc":"2.0","method":"x","params":{"list":[` + list.String()[1:] + `],"text":"` + text + `","deep":` + strings.Repeat(`{"a":`, 900) + "1" + strings.Repeat("}", 900) + `}}`)
	_, body := s.frame(seq, "")
	if len(body) > 400<<10 {
		t.Errorf("the detail is %d bytes", len(body))
	}
	if !strings.Contains(body, "4\u202f900 more") || !strings.Contains(body, "Show more") {
		t.Error("it does not say that there is more")
	}

	seen := 0
	for from := "0"; from != ""; {
		_, piece := s.frame(seq, "/nodes", "at", "/params/list", "from", from, "level", "3")
		n := strings.Count(piece, `data-index="`)
		if n == 0 || n > 100 || !strings.Contains(piece, fmt.Sprintf(`data-index="%d"`, seen)) {
			t.Fatalf("%d elements from %s on", n, from)
		}
		seen += n
		_, rest, _ := strings.Cut(piece, `data-more="`)
		from, _, _ = strings.Cut(rest, `"`)
	}
	if seen != 5000 {
		t.Errorf("%d elements in all", seen)
	}

	var got strings.Builder
	for from := "0"; from != ""; {
		_, piece := s.frame(seq, "/string", "at", "/params/text", "from", from)
		shown, rest, _ := strings.Cut(piece, "</span>")
		got.WriteString(strings.TrimPrefix(shown, `<span class="s">`))
		_, rest, _ = strings.Cut(rest, `data-string="`)
		from, _, _ = strings.Cut(rest, `"`)
	}
	if got.String() != "&#34;"+text+"&#34;" {
		t.Errorf("the string has %d bytes in pieces, not %d", got.Len(), len(text))
	}

	got.Reset()
	for from := "0"; from != ""; {
		_, piece := s.frame(seq, "/more", "from", from)
		shown, rest, _ := strings.Cut(strings.TrimPrefix(piece, `<span class="piece">`), `</span>`)
		got.WriteString(shown)
		_, rest, _ = strings.Cut(rest, `data-raw="`)
		from, _, _ = strings.Cut(rest, `"`)
	}
	f, err := s.log.Frame(seq)
	if err != nil {
		t.Fatal(err)
	}
	if strings.ReplaceAll(got.String(), "&#34;", `"`) != string(f.Raw) {
		t.Errorf("the frame has %d bytes in pieces, not %d", got.Len(), len(f.Raw))
	}
	if r, _ := s.frame(seq, "/nodes", "at", "/params/"+strings.Repeat("a/", 2000)); r.StatusCode != http.StatusNotFound {
		t.Errorf("what is not there: %s", r.Status)
	}
}

// TestSaveThatIsNotRead checks that a client that requests a large frame but does not
// read it does not stop others from seeing large frames.
func TestSaveThatIsNotRead(t *testing.T) {
	s := newLogServer(t, wire.Options{})
	seq := s.in(`{"jsonrpc":"2.0","method":"x","params":{"text":"` + strings.Repeat("x", 24<<20) + `"}}`)
	server := httptest.NewServer(s)
	defer server.Close()
	for _, what := range []string{"/raw", "/copy/raw"} {
		lazy, err := net.Dial("tcp", server.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer lazy.Close()
		if _, err := fmt.Fprintf(lazy, "GET /wire/frames/%d%s HTTP/1.1\r\nHost: x\r\n\r\n", seq, what); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(lazy, make([]byte, 12)); err != nil { // the response has begun
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), patienceOfTests)
		defer cancel()
		for _, what := range []string{"", "/more?from=0", "/nodes?at=/params", "/string?at=/params/text", "/raw"} {
			r, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("%s/wire/frames/%d%s", server.URL, seq, what), nil)
			if err != nil {
				t.Fatal(err)
			}
			answer, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatalf("%s beside a client that does not read: %v", what, err)
			}
			_, err = io.Copy(io.Discard, answer.Body)
			answer.Body.Close()
			if err != nil || answer.StatusCode != http.StatusOK {
				t.Errorf("%s beside a client that does not read: %s, %v", what, answer.Status, err)
			}
		}
	}
}
