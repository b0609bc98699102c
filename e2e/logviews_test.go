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
	if said := page.Eval[string](s.page, `document.querySelector("#notice").textContent`); said != "" {
		t.Errorf("beside the mistake at the filter the page says: %s", said)
	}
	log.Button("Did you mean ms > 500?").Click()
	filter.HasValue("ms > 500")
	log.Contains("2 match")
	filter.Fill("tool:deplyo")
	below := func() bool {
		return page.Eval[bool](s.page, `document.querySelector("#no-match").getBoundingClientRect().top >= document.querySelector(".names").getBoundingClientRect().bottom`)
	}
	log.Contains("No frame matches the filter.")
	s.page.Until(func() string { return "the words about the empty filter stand below the head" }, below)
	log.Button("Did you mean tool:deploy?").Click()
	log.Contains("2 match")
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

// A request that was refused by HTTP status is over. The refusal of server/discover is none of
// the errors if initialize follows, since the client expects it of earlier revisions.
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
	log.Contains("No frame matches the filter.")
	log.Button("Errors").Click()
	log.Contains("POST of server/discover was answered with HTTP 400 Bad Request").Contains("refused")
	asked := log.Role("row", "").All().Having("id", "r"+strconv.FormatInt(s.Wire().Requests("c2s", "server/discover")[0].Seq, 10))
	asked.Contains("server/discover").Contains("HTTP 400")
	if clocks := page.Call[int](asked, "function() { return this.querySelectorAll('[data-since]').length }"); clocks != 0 {
		t.Error("the refused request still counts")
	}
}

// The log gives its message the room first. It is sorted by how long exchanges took with the
// header's button, for frames that are not on the page too; frames that come are counted, and
// sorted on demand. What is not there yet is said to load.
func TestLogIsSorted(t *testing.T) {
	t.Parallel()
	rude := servers.NewRude(t, nil)
	s := openOn(t, rude.Command)
	log := s.page.Region("Wire log")
	s.page.Region("Servers").Contains("ready")
	s.call("ask")
	q := s.question("Who signs the release?")
	q.Field("Signer").Fill("Ann")
	q.Button("Accept").Click()
	s.result("Ann")
	for i := range 100 {
		rude.OrderWith("write", fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"later %d"}}`, i+1))
	}
	log.Contains("later 100")
	if wide := page.Eval[float64](s.page, `document.querySelector(".names .c-message").getBoundingClientRect().width`); wide < 400 {
		t.Errorf("the message has %.0f pixels", wide)
	}
	if cut := page.Eval[string](s.page, `[...document.querySelectorAll(".window :is(.c-ms, .m), .wire-foot *")].filter(e => e.checkVisibility() && e.scrollWidth > e.clientWidth && getComputedStyle(e).overflow !== "visible").map(e => e.textContent).join()`); cut != "" {
		t.Errorf("cut are %q", cut)
	}
	head := log.Role("columnheader", "took")
	log.Button("took").Click()
	head.HasAttr("aria-sort", "descending")
	first := func(want string) {
		t.Helper()
		var got string
		s.page.Until(func() string { return fmt.Sprintf("the first row has %q: %q", want, got) }, func() bool {
			shown := rows(s)
			if len(shown) > 0 {
				got = strings.Join(shown[0].cells, " | ")
			}
			return len(shown) > 0 && shown[0].index == 1 && strings.Contains(got, want)
		})
	}
	first("tools/call")
	rude.OrderWith("write", `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"last"}}`)
	offer := log.Button("").All().Having("id", "newer").Contains("1 new to sort")
	offer.Click()
	offer.Gone()
	log.Button("took").Focus()
	s.page.Press(page.Enter)
	head.HasAttr("aria-sort", "ascending")
	s.page.Press(page.Enter)
	log.Contains("last")
	log.Button("Follow").HasAttr("aria-pressed", "true")

	// In a wide log the waterfall shows who was at work.
	s.page.Size(2400, 900)
	s.page.Region("Wire log").Role("grid", "Frames").Wheel(-5000)
	bars := `(() => { const w = e => e.getBoundingClientRect().width; return [...document.querySelectorAll(".c-fall .by-person")].some(p => w(p) > 2 && w(p) <= w(p.parentElement)) })()`
	s.page.Until(func() string { return "the wait for the person has a bar" }, func() bool { return page.Eval[bool](s.page, bars) })

	// Rows whose window does not come say that they load.
	page.Eval[any](s.page, `(() => { const real = fetch; fetch = (url, init) => String(url).startsWith("/wire/rows") ? new Promise(() => {}) : real(url, init) })()`)
	log.Button("took").Click()
	log.Contains("Loading…")
	if busy := page.Eval[bool](s.page, `document.querySelector(".blank").ariaBusy === "true"`); !busy {
		t.Error("a row that loads is not busy")
	}
}
