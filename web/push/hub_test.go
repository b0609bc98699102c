package push

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
)

// hubServer starts a server for the pushes of a hub and returns its URL.
func hubServer(t *testing.T, h *Hub) string {
	t.Helper()
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := h.Serve(w, r); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(func() { h.Close(); web.Close() })
	return web.URL
}

// openPage opens a page's socket. next returns the next push that draws something.
func openPage(t *testing.T, base, query string) (next func() Message) {
	t.Helper()
	socket, _, err := websocket.Dial(t.Context(), base+query, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = socket.CloseNow() })
	socket.SetReadLimit(-1)
	return func() Message {
		t.Helper()
		for {
			var p Message
			_, data, err := socket.Read(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(data, &p); err != nil {
				t.Fatal(err)
			}
			if len(p.Changes) > 0 || p.Anew {
				return p
			}
		}
	}
}

func publish(h *Hub, pushes, size int) {
	for range pushes {
		h.Publish([]Change{{ID: "x", HTML: fmt.Sprintf("%*d", size, lastPush(h))}}, time.Time{})
	}
}

func pages(h *Hub) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.pages)
}

func lastPush(h *Hub) int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.seq
}

// TestResume checks that a page that reconnects gets exactly the pushes that it missed,
// or is told to reload if they are no longer kept, and then gets the new ones.
func TestResume(t *testing.T) {
	few, many, large := NewHub(), NewHub(), NewHub()
	publish(few, 10, 1)
	publish(many, 300, 1)
	publish(large, 12, messageMost/2)
	keptLarge := int64(bytesKept / (messageMost / 2))
	for _, c := range []struct {
		name  string
		hub   *Hub
		query string
		from  int64 // the first push that the page gets; 0 if it must reload
	}{
		{"nothing missed", few, "?since=10", 11},
		{"one missed", few, "?since=9", 10},
		{"all missed, all kept", few, "?since=0", 1},
		{"of an earlier run", few, "?since=11", 0},
		{"a new page", few, "?since=-1", 0},
		{"no number", few, "?since=x", 0},
		{"no query", few, "", 0},
		{"as many missed as are kept", many, fmt.Sprintf("?since=%d", 300-pushesKept), 300 - pushesKept + 1},
		{"one more missed than is kept", many, fmt.Sprintf("?since=%d", 300-pushesKept-1), 0},
		{"large ones that are kept", large, fmt.Sprintf("?since=%d", 12-keptLarge+1), 12 - keptLarge + 2},
		{"large ones that are not", large, fmt.Sprintf("?since=%d", 12-keptLarge-1), 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			latest := lastPush(c.hub)
			next := openPage(t, hubServer(t, stillOpen(c.hub)), c.query)
			want := c.from
			if c.from == 0 {
				if p := next(); !p.Anew {
					t.Fatalf("it gets push %d", p.Seq)
				}
				want = latest + 1
			}
			for ; want <= latest; want++ {
				if p := next(); p.Seq != want || p.Changes[0].ID != "x" {
					t.Fatalf("it gets push %d for %q, want %d", p.Seq, p.Changes[0].ID, want)
				}
			}
		})
	}
	for _, h := range []*Hub{many, large} {
		if len(h.kept) > pushesKept || h.bytes > bytesKept {
			t.Errorf("%d pushes of %d bytes are kept", len(h.kept), h.bytes)
		}
	}
}

// stillOpen returns a hub in the same state, which another server can close.
func stillOpen(h *Hub) *Hub {
	other := NewHub()
	other.seq, other.kept, other.bytes = h.seq, h.kept, h.bytes
	return other
}

// TestPushesArriveOnce checks that an open page gets each push once, also the one that
// makes it reload, and that a page that reconnects does not get them again.
func TestPushesArriveOnce(t *testing.T) {
	h := NewHub()
	base := hubServer(t, h)
	next := openPage(t, base, "?since=0")
	for range 5 {
		publish(h, 1, 1)
		if p := next(); p.Seq != lastPush(h) {
			t.Fatalf("it gets push %d, want %d", p.Seq, lastPush(h))
		}
	}
	h.Anew()
	publish(h, 1, 1)
	for name, next := range map[string]func() Message{"open": next, "back": openPage(t, base, "?since=5")} {
		if p := next(); !p.Anew || p.Seq != 6 {
			t.Errorf("%s: it gets %+v", name, p)
		}
		if p := next(); p.Anew || p.Seq != 7 {
			t.Errorf("%s: then it gets %+v", name, p)
		}
	}
}

// TestOnlyNewsIsPushed checks that a change that all pages have is not pushed again,
// unless a page may have been drawn with another state in between.
func TestOnlyNewsIsPushed(t *testing.T) {
	h := NewHub()
	for i, step := range []struct {
		html string // of the element; "" if a page is drawn instead
		news bool
	}{
		{"a", true}, {"a", false}, {"b", true}, {"b", false}, {"a", true},
		{"", false}, {"a", true}, {"a", false},
	} {
		before := lastPush(h)
		if step.html == "" {
			_, done := h.Drawing()
			for range 2 {
				h.Publish([]Change{{ID: "x", HTML: "a"}}, time.Time{})
			}
			if lastPush(h) != before+2 {
				t.Error("while a page is drawn, something is not pushed")
			}
			done()
			continue
		}
		h.Publish([]Change{{ID: "x", HTML: step.html}}, time.Time{})
		if got := lastPush(h) > before; got != step.news {
			t.Errorf("step %d: pushed %v, want %v", i, got, step.news)
		}
	}
}

// TestSlowPageIsDropped checks that a page that does not read its pushes delays nobody:
// its socket is closed, and after it reconnects it gets all pushes that it missed.
func TestSlowPageIsDropped(t *testing.T) {
	h := NewHub()
	base := hubServer(t, h)
	slow, _, err := websocket.Dial(t.Context(), base+"?since=0", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer slow.CloseNow()
	slow.SetReadLimit(-1)
	if _, _, err := slow.Read(t.Context()); err != nil { // its first message: the hub knows it
		t.Fatal(err)
	}
	next := openPage(t, base, "?since=0")
	publish(h, 1, messageMost/2)
	next()
	for n := int64(2); pages(h) == 2; n++ {
		if n > 4*pageBacklog { // more than the sockets and the backlog hold
			t.Fatalf("after %d pushes the slow page is not dropped", n)
		}
		publish(h, 1, messageMost/2)
		if p := next(); p.Seq != n {
			t.Fatalf("the page that reads gets push %d, want %d", p.Seq, n)
		}
	}
	seen := int64(0)
	patient, cancel := context.WithTimeout(t.Context(), 90*time.Second)
	defer cancel()
	for {
		_, data, err := slow.Read(patient)
		if err != nil {
			break // the hub has dropped the slow page
		}
		var p Message
		if err := json.Unmarshal(data, &p); err != nil {
			t.Fatal(err)
		}
		if len(p.Changes) == 0 {
			continue
		}
		if p.Seq != seen+1 {
			t.Fatalf("the slow page gets push %d after %d", p.Seq, seen)
		}
		if seen = p.Seq; seen == lastPush(h) {
			t.Fatal("the slow page got all pushes, so the test tells nothing")
		}
	}
	if patient.Err() != nil {
		t.Fatalf("its socket is still open, after push %d of %d", seen, lastPush(h))
	}
	if p := openPage(t, base, fmt.Sprintf("?since=%d", seen))(); !p.Anew && p.Seq != seen+1 {
		t.Errorf("when it comes back it gets push %d, and has seen %d", p.Seq, seen)
	}
}

// TestPushesAreBounded checks that many changes are distributed over several pushes,
// and that one change that is too large is replaced by an element that says so.
func TestPushesAreBounded(t *testing.T) {
	h := NewHub()
	next := openPage(t, hubServer(t, h), "?since=-1")
	if p := next(); !p.Anew {
		t.Fatalf("a new page gets %+v", p)
	}
	var changes []Change
	for i := range 8 {
		changes = append(changes, Change{ID: fmt.Sprintf("part-%d", i), HTML: strings.Repeat(`"`, 200<<10)})
	}
	changes = append(changes, Change{ID: "monster", HTML: strings.Repeat("\x01", 1<<20)}, Change{ID: "last", HTML: "<p>"})
	h.Publish(changes, time.Time{})
	var got []string
	for len(got) < len(changes) {
		for _, c := range next().Changes {
			if c.ID == "monster" && !strings.Contains(c.HTML, "too large") {
				t.Errorf("it came as %.100q", c.HTML)
			}
			got = append(got, c.ID)
		}
	}
	for i, c := range changes {
		if got[i] != c.ID {
			t.Errorf("%s came in place of %s", got[i], c.ID)
		}
	}
}

// TestCount checks that pages learn of new frames, and of a new place where frames are
// kept.
func TestCount(t *testing.T) {
	h := NewHub()
	p := &page{pushes: make(chan []byte, 1), dropped: func() {}}
	if missed := h.join(p, 0); len(missed) != 1 || strings.Contains(string(missed[0]), "anew") {
		t.Fatalf("a page that has seen all is told %s", missed)
	}
	for _, c := range []struct {
		frames int64
		store  string
		told   bool
	}{{1, "in memory", true}, {2, "in memory", true}, {2, "on disk", true}, {2, "on disk", false}} {
		h.Count(c.frames, c.store)
		select {
		case told := <-p.pushes:
			if !c.told || !strings.Contains(string(told), c.store) {
				t.Errorf("it is told again of %d frames %s", c.frames, c.store)
			}
		default:
			if c.told {
				t.Errorf("it is not told of %d frames %s", c.frames, c.store)
			}
		}
	}
}
