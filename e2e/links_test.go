package e2e

import (
	"net/url"
	"regexp"
	"strings"
	"testing"

	"elicitation-inspector/e2e/internal/page"
)

// watchCopies keeps what the page copies in window.copied.
const watchCopies = `navigator.clipboard.writeText = async text => { window.copied = text }`

// copied presses a button that copies a link, and returns the link.
func (s *session) copied(button *page.Control) string {
	s.t.Helper()
	page.Eval[any](s.page, "void (window.copied = '')")
	button.Focus()
	s.page.Press(page.Enter)
	link := ""
	s.page.Until(func() string { return "the link is copied" }, func() bool {
		link = page.Eval[string](s.page, "window.copied")
		return link != ""
	})
	if u, err := url.Parse(link); err != nil || u.Query().Has("token") || u.Hostname() != "127.0.0.1" { // the host of the run would not be found in the next one
		s.t.Errorf("the link is %q", link)
	}
	return link
}

// goTo opens an address of the same inspector.
func (s *session) goTo(query string) {
	s.t.Helper()
	base := page.Eval[string](s.page, "location.origin")
	if !strings.HasPrefix(query, "http://") {
		query = base + "/" + query
	}
	s.page.Goto(query)
}

// TestLinks opens the links that the page offers, and such as people write by hand.
func TestLinks(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.page.BeforeLoad(watchCopies)
	s.goTo("")

	t.Run("a tool with arguments", func(t *testing.T) {
		s := &session{t: t, Process: s.Process, page: s.page.For(t)}
		call := s.choose("Tools", "haggle")
		call.TabNamed("JSON").Click()
		call.Field("Content").Fill(`{"rounds":5,"nonsense":"a & b"}`)
		call.Button("More for this call").Click()
		s.goTo(s.copied(call.Button("Copy link")))
		call.Role("heading", "haggle").Wait()
		for range 2 {
			call.Field("Rounds").HasValue("5")
			call.Role("group", "Arguments").Contains("a & b")
			call.Contains(`The link gives "nonsense", which the tool does not list.`)
			s.page.Reload()
		}
		if made := s.Wire().Requests("c2s", "tools/call"); len(made) > 0 {
			t.Errorf("a link has called: %v", made)
		}
	})

	t.Run("what is wrong with it", func(t *testing.T) {
		s := &session{t: t, Process: s.Process, page: s.page.For(t)}
		for _, c := range [][2]string{
			{`?tool=haggle&args={"rounds":`, "The arguments in the link are not JSON"},
			{`?tool=haggle&args=[1]`, "A form cannot show the arguments of the link"},
			{`?tool=haggle&args="` + strings.Repeat("x", 9000) + `"`, "which are left out here: a link holds at most"},
			{`?tool=hagle`, "No server here offers a tool of that name."},
			{`?tool=haggle&server=other`, `This link is for the server "other", which is not here.`},
			{`?resource=` + url.QueryEscape("demo://no/such/thing"), "No server here offers a resource of that name."},
			{`?call=99`, "This session has no call 99."},
			{`?question=99`, "This session has no question 99"},
		} {
			s.goTo(c[0])
			s.page.Region("Call").Contains(c[1])
		}
		s.goTo("?tool=hagle")
		s.page.Region("Call").Button("haggle").Click()
		s.page.Region("Call").Field("Rounds").HasValue("12")
		s.goTo("?frame=999999")
		s.page.Role("alert", "").Contains("There is no frame 999999 in the log")
	})

	t.Run("a call and a question", func(t *testing.T) {
		s := &session{t: t, Process: s.Process, page: s.page.For(t)}
		s.goTo("")
		headTop := func() float64 {
			return page.Eval[float64](s.page, `document.querySelector("#call .head").getBoundingClientRect().top`)
		}
		call := s.choose("Tools", "deploy")
		before := headTop()
		call.Button("Call").Click()
		q := s.question("Which build should go out?")
		if after := headTop(); after != before {
			t.Errorf("the first call moves the page from %v to %v", before, after)
		}
		q.Button("More about this question").Click()
		asked := s.copied(q.Button("Copy link to this question"))
		s.call("book_table")
		s.page.Region("Call").Button("Stop").Wait() // before that, the menu is the tool's, which the call's panel replaces
		s.page.Region("Call").Button("More for this call").Click()
		second := s.copied(s.page.Region("Call").Button("Copy link"))
		s.goTo(asked)
		call = s.page.Region("Call")
		call.Role("heading", "deploy").Wait()
		s.question("Which build should go out?").Button("Decline").Click()
		s.page.Reload()
		settled := s.state("Which build should go out?", "answered")
		settled.Contains("Sent")
		s.page.Until(func() string { return "the question has the focus" }, func() bool {
			return page.Eval[bool](s.page, `!!document.activeElement.closest("article")?.dataset.number`)
		})
		s.goTo(second)
		call.Role("heading", "book_table").Wait()
		shown := page.Eval[string](s.page, `document.body.innerText + [...document.querySelectorAll("[title], [aria-label]")].map(e => e.title + e.ariaLabel).join(" ")`)
		if id := internalID.FindString(shown); id != "" {
			t.Errorf("the page shows the id %q", id)
		}
	})
}

// internalID matches the id of a server, which is for the program only.
var internalID = regexp.MustCompile(`\bs[1-9]\b`)

// The first call moves nothing that is on the page, and what the bar of a wide window has
// is within reach in a narrow one. A sign-in stands over the start.
func TestFirstSight(t *testing.T) {
	t.Parallel()
	s := open(t, "--protocol", "2025-11-25", protectedDemo(t))
	viewport{390, 844, true}.apply(s.page, work)
	s.signIn("waiting").Button("Open").Wait()
	at := page.Eval[float64](s.page, `document.querySelector("#sign-ins .foot").getBoundingClientRect().bottom`)
	if at > 844 {
		t.Errorf("the buttons of the sign-in end at %v", at)
	}
	more := s.page.Button("More")
	more.Click()
	s.page.Role("combobox", "Theme").Choose("Dark")
	s.page.Button("Present").HasAttr("aria-pressed", "false").Click()
	s.page.Button("Present").Gone()
	more.Click()
	s.page.Button("Present").HasAttr("aria-pressed", "true")
}

// The log follows what comes until the person scrolls, in a window of any size.
func TestFollowingOutlivesResizing(t *testing.T) {
	t.Parallel()
	s := open(t)
	for range 6 {
		s.call("deploy")
		s.page.Region("Call").Button("Stop").Click()
		s.page.Region("Call").Button("Call again").Wait()
	}
	painted := `new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(() => done(0)))))`
	for _, size := range [][2]int64{{1440, 300}, {1440, 1000}, {390, 844}, {1440, 900}, {1000, 400}, {1440, 1200}} {
		s.page.Size(size[0], size[1])
		page.Eval[int](s.page, painted)
		if pressed := page.Eval[string](s.page, "document.getElementById('follow').ariaPressed"); pressed != "true" {
			t.Fatalf("in a window of %v the log does not follow", size)
		}
	}
	s.page.Region("Wire log").Role("grid", "Frames").Wheel(-300)
	s.page.Region("Wire log").Button("Follow").HasAttr("aria-pressed", "false")
}
