package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"elicitation-inspector/e2e/internal/inspector"
	"elicitation-inspector/e2e/internal/look"
	"elicitation-inspector/e2e/internal/page"
)

// recordedBooking records a call of the demo server, and changes what the recording says the question
// was: each old text becomes the new one.
func recordedBooking(t *testing.T, edits ...string) (old, now string) {
	t.Helper()
	dir := t.TempDir()
	old, now = filepath.Join(dir, "old.jsonl"), filepath.Join(dir, "now.jsonl")
	answers := filepath.Join(dir, "answers.yaml")
	if err := os.WriteFile(answers, []byte("default: {accept: {arrival: '2026-12-04T19:00:00Z', party: 2, seating: inside, email: a@example.com}}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := inspector.Run(t, inspector.Options{}, "call", "book_table", "--record", now, "--protocol", "2025-11-25", "--answers", answers); r.Code != 0 {
		t.Fatalf("%d %s", r.Code, r.Stderr)
	}
	text, err := os.ReadFile(now)
	if err != nil {
		t.Fatal(err)
	}
	edited := strings.NewReplacer(edits...).Replace(string(text))
	if edited == string(text) {
		t.Fatal("nothing was changed")
	}
	if err := os.WriteFile(old, []byte(edited), 0o600); err != nil {
		t.Fatal(err)
	}
	return old, now
}

// openFiles opens transcripts, with these arguments after them.
func openFiles(t *testing.T, args ...string) *session {
	t.Helper()
	p := inspector.StartWith(t, inspector.Options{}, append([]string{"open", "--no-open", "--listen", "127.0.0.1:0"}, args...)...)
	return &session{t: t, Process: p, page: browser.Open(t, p.URL)}
}

// A recording is replayed on a server that asks in another way. The calls appear on the live page of the
// new session; the comparison has an address, which survives a reload, and each frame is a click away.
func TestReplayOnThePage(t *testing.T) {
	t.Parallel()
	old, _ := recordedBooking(t, `"maximum":12`, `"maximum":20`)
	s := openFiles(t, old, "--", inspector.Binary, "demo")
	bar := s.page.Region("Transcript")
	if kids := s.Children(); len(kids) > 0 {
		t.Errorf("before it is asked for, there run %q", kids)
	}
	bar.Button("Replay on…").Click()
	bar.Button("Replay").Click()
	s.page.Region("Replay").Contains("1 of 1 call made again")
	s.page.Question("A table at The Paper Lantern: when, and for how many?").HasAttr("data-state", "answered").Contains("by a script")
	s.page.Region("Replay").Link("Show what differs").Click()
	compared := s.page.Region("tool book_table").Contains(`the field "party": maximum was 20, and is 12`)
	compared.Contains("differs")
	s.page.Region("Differences").Link(`tool book_table, "A table at The Paper Lantern: when, and for how many?": the field "party": maximum was 20, and is 12`).Click()
	s.page.Reload()
	compared.Role("DisclosureTriangle", "").All().Nth(0).Focus()
	s.page.Press(page.Enter)
	compared.Contains(`"maximum": 20`).Contains(`"maximum": 12`)
	if found := look.Axe(t, s.page); len(found) > 0 {
		t.Errorf("axe-core finds %v", found)
	}
	if wide := page.Eval[bool](s.page, "document.documentElement.scrollWidth > innerWidth"); wide {
		t.Error("the page scrolls sideways")
	}
	seq := page.Eval[string](s.page, "document.querySelector('.frames div:last-child a').textContent.replace('frame ', '')")
	compared.Link("frame " + seq).Click()
	s.page.Region("Wire log").Role("group", "Frame").Contains("elicitation/create")
	page.Eval[any](s.page, "history.back()")
	compared.Contains("maximum was 20")
	s.page.Goto(s.Base + "/?of=transcript")
	bar.Link("The new session").Wait()
}

// What is left to the person in a replay waits on the page, and the replay can be stopped.
func TestReplayAsksAndStops(t *testing.T) {
	t.Parallel()
	old, _ := recordedBooking(t, "A table at The Paper Lantern: when, and for how many?", "Your shoe size?", `"requestedSchema"`, `"was"`)
	s := openFiles(t, old, "--", inspector.Binary, "demo")
	bar := s.page.Region("Transcript")
	bar.Button("Replay on…").Click()
	bar.Button("Replay").Click()
	s.page.Question("A table at The Paper Lantern: when, and for how many?").HasAttr("data-state", "pending")
	s.page.Region("Replay").Button("Stop the replay").Click()
	s.page.Region("Replay").Link("Show what differs").Wait()
	s.page.Question("A table at The Paper Lantern: when, and for how many?").HasAttr("data-state", "withdrawn")
}

// Nothing that a recording names is started, unless the command line says so.
func TestReplayNeedsATarget(t *testing.T) {
	t.Parallel()
	s := openFile(t, deployment...)
	bar := s.page.Region("Transcript")
	bar.Button("Replay on…").Click()
	bar.Role("group", "Replay on").Contains("inspector open FILE -- COMMAND")
	bar.Button("Replay").Gone()
}

// Two sessions of one server, with other settings, are compared by links alone; so are two calls.
func TestCompareSessions(t *testing.T) {
	t.Parallel()
	s := open(t, "--protocol", "2025-11-25")
	s.page.Region("Tools").Button("connect_mailbox").Wait()
	s.settings(func(server *page.Control) { server.Field("Elicitation").Choose("nothing") })
	s.page.Region("Tools").Button("connect_mailbox").Gone()
	s.serverDetails().Link("Compare sessions").Click()
	s.page.Role("navigation", "Old").Link("demo, session 1").Click()
	s.page.Role("navigation", "New").Link("demo, session 2").Click()
	s.page.Region("Besides calls").Contains("tool connect_mailbox: the server does not list the tool any more")
	if found := look.Axe(t, s.page); len(found) > 0 {
		t.Errorf("axe-core finds %v", found)
	}
}

// The HTML file of a comparison opens without a network, and has what hostile servers say as text.
func TestComparedFile(t *testing.T) {
	t.Parallel()
	const hostile = `<img src=x onerror=document.title='pwned'>`
	old, now := recordedBooking(t, "A table at The Paper Lantern", hostile, `"title":"Guests"`, `"title":"`+hostile+`"`)
	to := filepath.Join(t.TempDir(), "diff.html")
	if r := inspector.Run(t, inspector.Options{}, "diff", "--output", to, old, now); r.Code != 8 {
		t.Fatalf("%d %s", r.Code, r.Stderr)
	}
	p := browser.Open(t, "file://"+to)
	p.Region("Differences").Contains("onerror")
	if title := p.Title(); strings.Contains(title, "pwned") || page.Eval[int](p, "document.images.length") > 0 {
		t.Errorf("the title is %q", title)
	}
	if loaded := p.Requests(); len(loaded) > 1 {
		t.Errorf("the file loads %q", loaded)
	}
	p.Size(390, 844)
	if page.Eval[bool](p, "document.documentElement.scrollWidth > innerWidth") {
		t.Error("on a phone the page scrolls sideways")
	}
	if found := look.Axe(t, p); len(found) > 0 {
		t.Errorf("axe-core finds %v", found)
	}
}
