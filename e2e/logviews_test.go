package e2e

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"

	"elicitation-inspector/e2e/internal/page"
	"elicitation-inspector/e2e/internal/servers"
)

// The button for new frames counts those since following stopped, for any filter, and
// covers neither the chosen row nor the ladder.
func TestNewFramesAreCounted(t *testing.T) {
	t.Parallel()
	rude := servers.NewRude(t, nil)
	s := openOn(t, rude.Command)
	log := s.page.Region("Wire log")
	grid := log.Role("grid", "Frames")
	s.page.Region("Servers").Contains("ready")
	say := func(n int, what string) {
		for i := range n {
			rude.OrderWith("write", fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"%s %d"}}`, what, i+1))
		}
	}
	say(60, "early")
	log.Contains("early 60")
	filter := log.Role("combobox", "Filter")
	filter.Fill("seq>5")
	log.Contains("match")
	grid.Wheel(-2000)
	s.page.Until(func() string { return "the log has been scrolled up" }, func() bool { return !strings.Contains(log.TextNow(), "early 60") })
	offer := log.Button("").All().Having("id", "newer")
	say(2, "late")
	offer.Contains("2 new")
	filter.Fill("early")
	log.Contains("60 match")
	offer.Gone()
	log.Button("Clear the filter").Click()
	offer.Contains("2 new")

	// The button is below the rows.
	below := func() bool {
		return page.Call[bool](offer, "function() { return this.getBoundingClientRect().top >= document.getElementById('grid').getBoundingClientRect().bottom - 1 }")
	}
	s.page.Until(func() string { return "the offer is below the rows" }, below)
	offer.Click()
	log.Contains("late 2")
	offer.Gone()
}

// Comparing ends when the second frame is chosen. The earlier frame is the old one, in
// either order of choice.
func TestCompareTwoFrames(t *testing.T) {
	t.Parallel()
	s := openFile(t,
		`>{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":{"n":1}}}`,
		`<{"jsonrpc":"2.0","id":1,"result":{"content":[]}}`,
		`>{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"a","arguments":{"n":2}}}`,
		`<{"jsonrpc":"2.0","id":2,"result":{"content":[]}}`,
	)
	log := s.page.Region("Wire log")
	choose := func(n int) {
		log.Role("row", "").All().Having("id", "r"+strconv.Itoa(n)).Wait().Click()
	}
	detail := log.Role("group", "Frame")
	for _, order := range [][2]int{{1, 3}, {3, 1}} {
		choose(order[0])
		detail.Contains("#" + strconv.Itoa(order[0]))
		detail.TabNamed("Compare").Click()
		detail.Button("Compare with…").Click()
		log.Contains("Choose the frame to compare #" + strconv.Itoa(order[0]) + " with.")
		choose(order[1])
		detail.Contains("/params/arguments/n")
		differences := detail.Role("list", "Differences").Text()
		if at := strings.Index(differences, "/params/arguments/n"); at < 0 || strings.Join(strings.Fields(differences[at+len("/params/arguments/n"):])[:2], " ") != "1 2" {
			t.Errorf("chosen in the order %v the differences are %q", order, differences)
		}
		log.Role("button", "Stop comparing").Gone()
		choose(2)
		detail.Contains("#2")
		if text := detail.Text(); strings.Contains(text, "Differences") {
			t.Errorf("the next frame is compared as well: %q", text)
		}
	}
}

// The chip This call follows the call on show.
func TestThisCallFollowsTheCall(t *testing.T) {
	t.Parallel()
	rude := servers.NewRude(t, nil)
	s := openOn(t, rude.Command)
	s.call("large")
	s.result("0123456789abcdef")
	log := s.page.Region("Wire log")
	chip := log.Button("This call")
	chip.Click()
	filter := log.Role("combobox", "Filter")
	filter.HasValue("call:1")
	chip.HasAttr("aria-pressed", "true")
	s.call("large")
	filter.HasValue("call:2")
	chip.HasAttr("aria-pressed", "true")
	chip.Click()
	filter.HasValue("")
}

// The filter line accepts common spellings, completes the names of tools, and explains
// mistakes.
func TestFilterLine(t *testing.T) {
	t.Parallel()
	s := openFile(t,
		`>{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"deploy"}}`,
		`<{"jsonrpc":"2.0","id":1,"result":{"content":[],"isError":true}}`,
		`>{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"build"}}`,
		`<{"jsonrpc":"2.0","id":2,"result":{"content":[]}}`,
	)
	log := s.page.Region("Wire log")
	filter := log.Role("combobox", "Filter")
	for line, want := range map[string]string{
		"-kind:request": "2 match", "tool:deploy && ms > 500": "1 match", "tool:build OR kind:error": "3 match", "kind != request": "2 match",
	} {
		filter.Fill(line)
		log.Contains(want)
	}
	filter.Fill("latency > 500")
	log.Contains("did you mean ms>?")
	filter.Fill("tool:")
	var offered []string
	s.page.Until(func() string { return fmt.Sprintf("after tool: the two tools are offered; it is %q", offered) }, func() bool {
		offered = log.Option("").All().Names()
		return slices.Equal(offered, []string{"build", "deploy"})
	})

	// A chip beside an "or" narrows all of it.
	filter.Fill("tool:build or tool:deploy")
	s.page.Press(page.Escape)
	log.Button("Errors").Click()
	filter.HasValue("(tool:build or tool:deploy) kind:error")
	log.Contains("1 match").Contains("isError")
}

// A request that was refused by HTTP status is over, and is among the errors.
func TestRefusedRequestIsOver(t *testing.T) {
	t.Parallel()
	server := servers.NewScripted(t, "2025-11-25", nil)
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if strings.Contains(string(body), "server/discover") {
			http.Error(w, "Bad Request: no session", http.StatusBadRequest)
			return
		}
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		server.ServeHTTP(w, r)
	}))
	t.Cleanup(front.Close)
	s := open(t, front.URL)
	s.page.Region("Servers").Contains("ready")
	log := s.page.Region("Wire log")
	log.Button("Errors").Click()
	log.Contains("POST of server/discover was answered with HTTP 400 Bad Request").Contains("HTTP 400")
	log.Button("Errors").Click()
	asked := log.Role("row", "").All().Having("id", "r"+strconv.FormatInt(s.Wire().Requests("c2s", "server/discover")[0].Seq, 10))
	asked.Contains("server/discover").Contains("HTTP 400")
	if clocks := page.Call[int](asked, "function() { return this.querySelectorAll('[data-since]').length }"); clocks != 0 {
		t.Error("the refused request still counts")
	}
}
