package e2e

import (
	"slices"
	"strings"
	"testing"

	"elicitation-inspector/e2e/internal/inspector"
	"elicitation-inspector/e2e/internal/page"
)

// watchPresented looks in every frame that the browser draws whether the newest arrow of the
// ladder is in sight, and whether the strip of calls is cut, which a low window scrolls away.
const watchPresented = `window.presented = {samples: 0, hidden: 0, cut: 0};
const sample = () => {
	const drawing = document.querySelector('.drawing')?.getBoundingClientRect();
	const ends = [...document.querySelectorAll('.drawing .l-arrow .l-shaft')].map(e => e.getBoundingClientRect().bottom);
	const pane = document.querySelector('#work').getBoundingClientRect(), strip = document.querySelector('#calls').getBoundingClientRect();
	if (drawing && ends.length) {
		window.presented.samples++;
		const newest = Math.max(...ends);
		if (newest > drawing.bottom + 1 || newest < drawing.top) window.presented.hidden++;
	}
	if (innerHeight > 576 && strip.top < pane.top - 1 || document.querySelector('#calls ol').getBoundingClientRect().right > pane.right + 1) window.presented.cut++;
	requestAnimationFrame(sample);
};
sample();`

type presented struct{ Samples, Hidden, Cut int }

// wasPresented checks the samples of watchPresented.
func wasPresented(t *testing.T, p *page.Page) {
	t.Helper()
	got := page.Eval[presented](p, "window.presented")
	if got.Samples < 32 || got.Hidden > 0 || got.Cut > 0 {
		t.Errorf("of %d samples %d are without the newest arrow, and in %d the strip of calls is cut", got.Samples, got.Hidden, got.Cut)
	}
}

// While a deployment is presented, the newest arrow of the ladder is in sight all the time,
// and nothing that only the presenter uses is; the sequence is of the call whose question
// is being answered. Once the person has scrolled it, it stays where it is until they press Follow.
func TestPresentingFollowsTheLadder(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.page.Size(1280, 640)
	s.call("plan_trip")
	s.question("Which train to Lisbon?")
	call := s.choose("Tools", "deploy")
	s.page.Button("Present").Click()
	page.Eval[any](s.page, watchPresented)
	call.Button("Call").Click()
	q := s.question("Which build should go out?")
	for _, name := range []string{"Misbehave…", "Copy as…", "Save", "This call", "Sequence", "Follow", "Column of tools"} {
		s.page.Button(name).Gone()
	}
	s.page.Role("combobox", "Filter").Gone()
	q.Button("Accept").Click()
	q = s.question("Deploy build 2291 of checkout? Three services will restart.")
	q.Field("Environment").Choose("Canary")
	q.Field("Change ticket").Type("CHG-20418")
	q.Button("Accept").Click()
	s.question("Build 2291 is up in canary, 4% slower than the last one. Keep it?").Button("Accept").Click()
	s.result("Build 2291 of checkout is deployed in canary.")
	s.page.Until(func() string { return "the whole ladder is drawn" }, func() bool {
		return page.Eval[bool](s.page, "document.querySelector('.ladder-head')?.dataset.running === 'false' && window.presented.samples > 32")
	})
	wasPresented(t, s.page)
	s.page.Region("Sequence").Contains("tools/call deploy")
	s.page.Question("Which room in Lisbon?").Field("Nights").Fill("5") // it waits in the other call
	s.page.Region("Sequence").Contains("tools/call plan_trip")
}

// A transcript that is played keeps its ladder's newest arrow in sight in the same way.
func TestPlayingFollowsTheLadder(t *testing.T) {
	t.Parallel()
	p := inspector.StartWith(t, inspector.Options{}, "open", "--no-open", "--listen", "127.0.0.1:0", transcript(t, deployment...))
	s := &session{t: t, Process: p, page: browser.Open(t, p.URL)}
	s.page.Size(1280, 480)
	s.page.Button("Present").Click()
	s.result("4711 is out")
	position := s.page.Region("Transcript").Role("slider", "Position").HasValue("6")
	position.Focus()
	s.page.Press(page.Home)
	position.HasValue("0")
	page.Eval[any](s.page, watchPresented)
	s.page.Region("Transcript").Button("Play").Click()
	position.HasValue("6")
	s.result("4711 is out")
	s.page.Until(func() string { return "the whole ladder is drawn" }, func() bool {
		return page.Eval[bool](s.page, "document.querySelector('.ladder-head')?.dataset.running === 'false'")
	})
	wasPresented(t, s.page)
}

// The first load of the page takes five requests: the address with the token, a look for the
// page's own host, the page there, its scripts, and the rows of the log.
func TestFirstLoadTakesFiveRequests(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.page.Region("Tools").Button("deploy").Wait()
	s.page.Region("Wire log").Contains("server/discover")
	var asked []string
	for _, url := range s.page.Requests() {
		path, _, _ := strings.Cut(url, "?") // the rows are asked for again when the log has grown
		if !strings.HasPrefix(url, "data:") && !strings.HasPrefix(url, "ws:") && !slices.Contains(asked, path) {
			asked = append(asked, path)
		}
	}
	if len(asked) > 5 {
		t.Errorf("it takes %d requests: %q", len(asked), asked)
	}
}
