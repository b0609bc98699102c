package e2e

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"elicitation-inspector/e2e/internal/inspector"
	"elicitation-inspector/e2e/internal/look"
	"elicitation-inspector/e2e/internal/page"
)

// deployment is a session with an accepted and a declined question.
var deployment = []string{
	`>{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"deploy"}}`,
	`<{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"message":"Which build should go out?","requestedSchema":{"type":"object","properties":{"build":{"type":"string","title":"Build"},"where":{"type":"string","title":"Where","enum":["staging","production"]},"sure":{"type":"boolean","title":"Sure"}}}}}`,
	`>{"jsonrpc":"2.0","id":1,"result":{"action":"accept","content":{"build":"4711","where":"production","sure":true}}}`,
	`<{"jsonrpc":"2.0","id":2,"method":"elicitation/create","params":{"message":"Tell the team?","requestedSchema":{"type":"object","properties":{"note":{"type":"string","title":"Note"}}}}}`,
	`>{"jsonrpc":"2.0","id":2,"result":{"action":"decline"}}`,
	`<{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"4711 is out"}]}}`,
}

// noteGiving notes each state of a question whose answer is being given.
const noteGiving = `window.given = [];
new MutationObserver(() => {
	const card = document.querySelector('.giving');
	if (!card) return;
	const form = card.querySelector('.looked'), fields = [...form?.querySelectorAll('input:checked, input[type=text]') ?? []].map(e => e.type === 'text' ? e.value : e.labels[0].innerText.trim());
	const now = [card.dataset.state, ...fields, ...[...card.querySelectorAll('.ways-out [aria-pressed=true]')].map(e => e.innerText)].join(' ');
	if (window.given.at(-1) !== now) window.given.push(now);
}).observe(document, {subtree: true, childList: true, attributes: true});`

// A playback shows each answer being given: the sent values, and the button, before the
// card settles. One button plays and pauses, and the slider leads to each question.
func TestPlaybackShowsTheAnswerBeingGiven(t *testing.T) {
	t.Parallel()
	s := openFile(t, deployment...)
	s.result("4711 is out")
	bar := s.page.Region("Transcript")
	position := bar.Role("slider", "Position").HasValue("6")
	bar.Button("2 questions").Click()
	bar.Button("Question 2: Tell the team?").Click()
	position.HasValue("4")
	s.page.Question("Tell the team?").HasAttr("data-state", "pending").Button("Decline").HasAttr("aria-pressed", "false")
	if live := page.Eval[[]string](s.page, `[document.title, ...document.getAnimations().filter(a => a.timeline === document.timeline).map(a => a.animationName), ...[...document.querySelectorAll("#waiting, #badge")].filter(e => !e.hidden).map(e => e.id)]`); len(live) > 1 || strings.HasPrefix(live[0], "(") {
		t.Errorf("a played question looks as if it waited: %q", live)
	}
	position.Focus()
	s.page.Press(page.PageUp)
	position.HasValue("2")
	s.page.Question("Which build should go out?").HasAttr("data-state", "pending")
	if found := look.Axe(t, s.page); len(found) > 0 {
		t.Errorf("axe-core finds %v", found)
	}

	page.Eval[any](s.page, noteGiving)
	bar.Button("Play").Click()
	position.HasValue("6")
	bar.Button("Play").Wait() // at the end
	s.page.Question("Tell the team?").HasAttr("data-state", "answered")
	position.HasValue("6")
	want := []string{"pending 4711 production Yes Accept", "pending  Decline"}
	if given := page.Eval[[]string](s.page, "window.given"); !slices.Equal(given, want) {
		t.Errorf("the answers were given as %q, want %q", given, want)
	}
	if names := bar.Role("button", "").All().Names(); slices.ContainsFunc(names, func(n string) bool { return strings.HasPrefix(n, "Pause") }) {
		t.Errorf("there are two buttons to play and pause: %q", names)
	}
}

// noteFilm notes each state of an exported page: the frames, arrows and results that are
// shown, and how its questions look.
const noteFilm = `window.film = [];
const seen = (match) => [...document.querySelectorAll(match)].filter(e => e.checkVisibility()).length;
new MutationObserver(() => {
	const questions = [...document.querySelectorAll('.question')].filter(q => q.checkVisibility()).map(q =>
		[q.querySelector('input[type=text]')?.value || '-', q.className.replace(/question|done|declined|failed/g, '').trim() || 'settled'].join(' '));
	const now = [seen('.frame'), seen('.l-arrow'), seen('div.result'), ...questions].join(', ');
	if (window.film.at(-1) !== now) window.film.push(now);
}).observe(document.body, {subtree: true, attributes: true});`

// watchPlaying counts the frames that the browser draws without the newest arrow of the ladder
// in sight, and those without the button that is about to be pressed.
const watchPlaying = `window.hidden = window.unseen = 0;
const sample = () => {
	const figure = document.querySelector('.exchange[open] figure')?.getBoundingClientRect();
	const ends = [...document.querySelectorAll('.exchange[open] .l-arrow:not(.ahead) .l-shaft')].map(e => e.getBoundingClientRect().bottom), newest = Math.max(...ends);
	if (figure && ends.length && (newest > Math.min(figure.bottom, innerHeight) + 1 || newest < figure.top)) window.hidden++;
	const button = document.querySelector('.exchange[open] .giving .actions')?.getBoundingClientRect(), pane = document.querySelector('.exchange[open] .told')?.getBoundingClientRect();
	if (button && (button.bottom > pane.bottom + 1 || button.top < pane.top - 1)) window.unseen++;
	requestAnimationFrame(sample);
};
sample();`

// An exported page plays itself from the disk, without a network: frames, ladder, answers
// and result follow each other up to the end.
func TestExportedPagePlaysItself(t *testing.T) {
	t.Parallel()
	file := transcript(t, deployment...)
	to := filepath.Join(t.TempDir(), "flow.html")
	if r := inspector.Run(t, inspector.Options{}, "export", file, "--format", "html", "--output", to); r.Code != 0 {
		t.Fatalf("%d %s", r.Code, r.Stderr)
	}
	p := browser.Open(t, "file://"+to)
	bar := p.Region("Playback")
	position := bar.Role("slider", "Position").HasValue("6")
	p.Size(1200, 480) // the first question is higher than its place
	if found := look.Axe(t, p); len(found) > 0 {
		t.Errorf("axe-core finds %v in the whole page", found)
	}
	bar.Button("2 questions").Click()
	bar.Button("Question 2: Tell the team?").Click()
	position.HasValue("4").Focus()
	p.Press(page.PageUp)
	position.HasValue("2")
	if found := look.Axe(t, p); len(found) > 0 {
		t.Errorf("axe-core finds %v while it is played", found)
	}
	position.Focus()
	p.Press(page.Home)
	position.HasValue("0")
	bar.Role("combobox", "Speed").Choose("4×")
	page.Eval[any](p, noteFilm)
	page.Eval[any](p, watchPlaying)
	bar.Button("Play").Focus()
	p.Press(page.Enter)
	position.HasValue("6")
	bar.Button("Play").Wait()
	if hidden, unseen := page.Eval[int](p, "window.hidden"), page.Eval[int](p, "window.unseen"); hidden > 0 || unseen > 0 {
		t.Errorf("out of sight were the newest arrow of the ladder %d times, and the button that is pressed %d times", hidden, unseen)
	}
	if !page.Eval[bool](p, `(() => {
		const r = document.querySelector('div.result').getBoundingClientRect(), at = document.elementFromPoint(r.left + 5, r.top + r.height / 2);
		return r.top >= 0 && r.bottom <= innerHeight && !!at?.closest('.result');
	})()`) {
		t.Error("at the end the result is not in sight")
	}
	if cut := page.Eval[int](p, `[...document.querySelectorAll('.frame')].filter(e => {
		const pane = document.querySelector('#log').getBoundingClientRect(), r = e.getBoundingClientRect();
		return r.bottom > pane.top + 1 && r.top < pane.bottom - 1 && (r.top < pane.top - 1 || r.bottom > pane.bottom + 1);
	}).length`); cut > 0 {
		t.Errorf("%d rows of the list of frames are cut", cut)
	}
	bar.Button("Present").Click()
	p.Region("Frames").Gone()
	if size := page.Eval[string](p, "getComputedStyle(document.documentElement).fontSize"); size != "22px" {
		t.Errorf("presented, its letters have %s", size)
	}
	p.Press("p")
	p.Region("Frames").Wait()
	if title := p.Title(); title != "deploy, asked twice, accepted and declined" {
		t.Errorf("the title is %q", title)
	}
	film := page.Eval[[]string](p, "window.film")
	last := -1
	for _, want := range []string{
		"1, 1, 0", "2, 3, 0, 4711 giving", "4, 7, 0, 4711 settled, - giving", "6, 10, 1, 4711 settled, - settled",
	} {
		at := slices.Index(film, want)
		if at <= last {
			t.Errorf("%q is not shown, or not in its turn: %q", want, film)
		}
		last = at
	}
	bar.Button("Show the whole page").Click()
	p.Region("Frames").Role("searchbox", "Filter").Wait()
	for _, url := range p.Requests() {
		if !strings.HasPrefix(url, "file://") {
			t.Errorf("the page asks for %s", url)
		}
	}
	if said := p.Complaints(); len(said) > 0 {
		t.Errorf("the browser complains: %q", said)
	}
}
