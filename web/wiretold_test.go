package web

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"elicitation-inspector/bridge/wire"
)

// New rows are counted from the frame at which the page stopped following, so that a
// changed or cleared filter does not count as new rows.
func TestNewRowsAreNewFrames(t *testing.T) {
	s := newLogServer(t, wire.Options{})
	s.some(10)
	for query, want := range map[string]string{"": "40", "kind:error": "4", "is:question": "4"} {
		r := s.ask("GET", "/wire/rows", map[string][]string{"filter": {query}, "after": {"60"}, "count": {"0"}}, nil)
		if got := r.Header.Get("X-New"); got != want {
			t.Errorf("after frame 60 there are %s new rows of %q, want %s", got, query, want)
		}
	}
	r := s.ask("GET", "/wire/rows", map[string][]string{"after": {"60"}, "since": {"90"}, "count": {"0"}}, nil)
	if got := r.Header.Get("X-New"); got != "10" {
		t.Errorf("of a view that was cleared at frame 90 there are %s new rows, want 10", got)
	}
}

// Failed rows are red. A refused request is not pending, and its row shows the refusal.
func TestRowsOfFailures(t *testing.T) {
	s := newLogServer(t, wire.Options{})
	add := func(f wire.Frame) {
		f.Server, f.Session, f.Transport = "files", "files-1", "http"
		s.log.Append(f)
	}
	add(wire.Frame{Dir: wire.ClientToServer, Raw: []byte(`{"jsonrpc":"2.0","id":1,"method":"server/discover"}`)})
	add(wire.Frame{Dir: wire.Meta, Status: 400, Failed: true, Answers: []byte("1"), Raw: []byte("POST of server/discover was answered with 400 Bad Request")})
	add(wire.Frame{Dir: wire.ClientToServer, Raw: []byte(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"a"}}`)})
	add(wire.Frame{Dir: wire.ServerToClient, Status: 200, Raw: []byte(`{"jsonrpc":"2.0","id":2,"result":{"content":[],"isError":true}}`)})
	rows := strings.Split(s.rows().html, `role="row"`)
	for i, want := range map[int]string{1: "HTTP 400", 2: "HTTP 400", 4: "isError"} {
		if !strings.Contains(rows[i], `<b class="bad"`) || !strings.Contains(rows[i], want) {
			t.Errorf("row %d does not say %s: %s", i, want, rows[i])
		}
	}
	for i, red := range []bool{false, true, false, true} {
		if got := strings.Contains(rows[i], "failure"); got != red { // the class comes before the role
			t.Errorf("row %d is red: %v, want %v", i+1, got, red)
		}
	}
	if strings.Contains(rows[1], "data-since") {
		t.Error("the refused request still counts")
	}
	_, detail := s.frame(1, "")
	if !strings.Contains(detail, ">Pair<") || !strings.Contains(detail, "400 Bad Request") {
		t.Errorf("the request does not lead to its refusal: %s", detail)
	}
}

// The page is told again when the place of the frames changes.
func TestWhereFramesAreKept(t *testing.T) {
	s := newLogServer(t, wire.Options{})
	ctx, stop := context.WithCancel(t.Context())
	end := s.work(ctx)
	defer func() { stop(); end() }()
	line := `{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"` + strings.Repeat("x", 100_000) + `"}}`
	for end := time.Now().Add(patienceOfTests); ; {
		s.in(line)
		pushes, _ := s.hub.Since(0)
		pushed := string(slices.Concat(pushes...))
		if strings.Contains(pushed, `"id":"where"`) && strings.Contains(pushed, "a temporary file in") {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("the page is not told: %s; %s", s.log.Stats().Where, pushed)
		}
	}
}
