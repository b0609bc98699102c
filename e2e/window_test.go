package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"elicitation-inspector/e2e/internal/page"
	"elicitation-inspector/e2e/internal/servers"
)

// onRude opens a page of the plain inspector on the rude server.
func onRude(t *testing.T, rude *servers.Rude, flags ...string) *session {
	t.Helper()
	args := append([]string{"--no-open", "--listen", "127.0.0.1:0"}, flags...)
	return plain(t, append(append(args, "--"), rude.Command...)...)
}

// reload loads the page again, and returns the time until a button was there.
func (s *session) reload(button string) time.Duration {
	s.t.Helper()
	begun := time.Now()
	s.page.Reload()
	s.page.Region("Tools").Button(button).Wait()
	return time.Since(begun)
}

// elements returns the number of elements of the page.
func (s *session) elements() int {
	s.t.Helper()
	return page.Eval[int](s.page, "document.getElementsByTagName('*').length")
}

// The page only has the ones in sight of 100,000 tools. Keys and search reach all of
// them, and questions are answered meanwhile.
func TestVeryManyTools(t *testing.T) {
	t.Parallel()
	const n = 100_000
	rude := servers.NewRude(t, nil, "-tools", fmt.Sprint(n))
	s := onRude(t, rude)
	tools, search := s.page.Region("Tools"), s.page.Role("searchbox", "Search")
	tools.Button("tool_0").Wait()
	t.Logf("the page is there after %v, and has %d elements", s.reload("tool_0"), s.elements())
	if got := s.elements(); got > 3000 {
		t.Errorf("the page has %d elements", got)
	}

	// By key: beyond the fetched items, to the end and back.
	first := tools.Button("tool_0")
	first.Focus()
	for range 120 {
		before := page.Eval[string](s.page, "document.activeElement.dataset.key")
		s.page.Press(page.Down)
		s.page.Until(func() string { return "the key moves from " + before }, func() bool {
			if page.Eval[string](s.page, "document.activeElement.dataset.key") != before {
				return true
			}
			s.page.Press(page.Down) // the next item was not fetched yet
			return false
		})
	}
	place := func() int { return page.Eval[int](s.page, "Number(document.activeElement.closest('li').ariaPosInSet)") }
	if got := place(); got < 121 {
		t.Errorf("120 keys lead to item %d", got)
	}
	s.page.Press(page.End)
	last := tools.Button(fmt.Sprintf("tool_%d", n-1))
	last.HasFocus()
	if size := page.Eval[int](s.page, "Number(document.activeElement.closest('li').ariaSetSize)"); place() != size || size < n {
		t.Errorf("the last item is %d of %d", place(), size)
	}
	s.page.Press(page.Home)
	s.page.Until(func() string { return "Home leads to the first item" }, func() bool { return place() == 1 })

	// By search, over names and descriptions, on the server.
	search.Fill("tool_4242")
	s.page.Until(func() string { return "11 tools are found" }, func() bool { return len(tools.Button("").All().Names()) == 11 })
	search.Fill("job 77777 of")
	tools.Button("tool_77776").Click()
	s.page.Region("Call").Role("heading", "tool_77776").Wait()
	s.page.Region("Call").Button("Call").Click()
	s.page.Region("Result").Contains("{}")
	search.Fill("no such thing")
	tools.Contains("No matches")
	search.Fill("")
	tools.Button("tool_0").Wait()

	// An answer is typed while the list is read repeatedly.
	search.Fill("rpc")
	search.Fill("")
	s.call("ask")
	q := s.question("Who signs the release?")
	signer := q.Field("Signer")
	signer.Focus()
	const name = "Emmy Noether"
	for i, c := range name {
		if i%4 == 0 {
			rude.Order("change")
		}
		s.page.Type(string(c))
	}
	signer.HasValue(name)
	signer.HasFocus()
	tools.Button("tool_0").Wait()
	q.Button("Accept").Click()
	s.page.Region("Result").Contains(name)
	if complaints := s.page.Complaints(); len(complaints) > 0 {
		t.Errorf("the browser complains: %q", complaints)
	}
}

// A description, a message and a result of 50 MB do not slow down the page, and can be
// fetched completely.
func TestHugeTexts(t *testing.T) {
	t.Parallel()
	rude := servers.NewRude(t, nil, "-huge", "50000000")
	s := onRude(t, rude)
	s.page.Region("Tools").Button("huge").Wait()
	t.Logf("the page is there after %v", s.reload("huge"))
	small := func(what string) {
		t.Helper()
		if size := page.Eval[int](s.page, "document.documentElement.outerHTML.length"); size > 1_000_000 {
			t.Errorf("%s: the page has %d characters", what, size)
		}
	}
	call := s.choose("Tools", "huge")
	small("the tool")
	more := call.Button("Show all")
	before := len(call.TextNow())
	more.Focus()
	s.page.Press(page.Enter)
	s.page.Until(func() string { return "more of the description is shown" }, func() bool { return len(call.TextNow()) > before+200_000 })
	call.Link("Save 50 MB").Wait()

	call.Button("Call").Click()
	var q *page.Control
	s.page.Until(func() string { return "the question is there" }, func() bool {
		q = s.page.Region("Questions").Article("").All().Nth(0)
		return s.page.Region("Questions").Article("").All().Count() == 1
	})
	q.Field("Name").Fill("Jack")
	small("the question")
	if text := q.TextNow(); !strings.Contains(text, "All work and no play.") || len(text) > 100_000 {
		t.Errorf("the question has %d bytes", len(text))
	}
	q.Button("Accept").Click()
	s.page.Region("Result").Contains("All work and no play.")
	small("the result")
	s.page.Reload()
	s.page.Region("Result").Contains("All work and no play.")
	small("the page loaded again")
	if complaints := s.page.Complaints(); len(complaints) > 0 {
		t.Errorf("the browser complains: %q", complaints)
	}
}
