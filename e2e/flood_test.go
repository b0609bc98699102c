package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"elicitation-inspector/e2e/internal/inspector"
	"elicitation-inspector/e2e/internal/page"
	"elicitation-inspector/e2e/internal/servers"
)

// watchTasks records the durations of tasks on the page's main thread that take over 50
// ms.
const watchTasks = `{
	window.longTasks = [];
	new PerformanceObserver(l => { for (const e of l.getEntries()) window.longTasks.push(Math.round(e.duration)) }).observe({type: 'longtask', buffered: true});
}`

// briefTasks fails unless every task of the page's main thread, in ms, is far from what a
// page takes that draws each frame: seconds. It leaves room for a machine that does much
// else; the task bench measures what they take.
func briefTasks(t *testing.T, tasks []int) {
	t.Helper()
	if slices.Max(append(tasks, 0)) > 1500 {
		t.Errorf("tasks on the page's main thread took %v ms", tasks)
	}
}

// flooded holds the measurements of a flood.
type flooded struct {
	shown time.Duration // from the server's last write to the result on the page
	tasks []int         // tasks on the page's main thread over 50 ms during it, in ms
	typed string        // value of the open question's field after typing during the flood
	want  string
	sent  int // frames of the flood in the wire log
}

// floodOnce makes a tool send n log messages as fast as it can while a question is open
// and text is typed into it.
func floodOnce(t testing.TB, n int) flooded {
	t.Helper()
	rude := servers.NewRude(t, []servers.Question{{Name: "ask_signer", Params: `{"message":"Who signs?","requestedSchema":{"type":"object","properties":{"signer":{"type":"string","title":"Signer"}}}}`}})
	p := inspector.Start(t, append([]string{"--"}, rude.Command...)...)
	tab := browser.Blank(t)
	tab.BeforeLoad(watchTasks)
	tab.Goto(p.URL)
	s := &session{t: t, Process: p, page: tab}

	s.call("ask_signer")
	q := s.question("Who signs?")
	call := s.choose("Tools", "flood")
	call.Field("messages").Fill(fmt.Sprint(n))
	call.Button("Call").Click()
	call.Button("Stop").Wait()
	field := q.Field("Signer")
	field.Click()
	page.Eval[int](tab, "window.longTasks.length = 0")

	// The page records the time of the result, so that polling does not slow it down.
	page.Eval[bool](tab, fmt.Sprintf(`(() => {
		const there = () => document.querySelector('section[aria-label=Result]')?.textContent.includes('sent %d messages');
		window.resultAt = 0;
		const o = new MutationObserver(() => { if (there()) { window.resultAt = performance.timeOrigin + performance.now(); o.disconnect() } });
		o.observe(document, {subtree: true, childList: true, characterData: true});
		return true;
	})()`, n))
	done := make(chan struct{})
	go func() { rude.Order("go"); close(done) }()
	f := flooded{}
	for i := 0; page.Eval[float64](tab, "window.resultAt") == 0; i++ {
		if i > 2000 {
			t.Fatalf("the result of the flood is not on the page")
		}
		key := string(rune('a' + i%26))
		tab.Type(key)
		f.want += key
	}
	<-done
	f.typed = field.Value()
	resultAt := page.Eval[float64](tab, "window.resultAt")
	f.tasks = page.Eval[[]int](tab, "window.longTasks")
	s.result(fmt.Sprintf("sent %d messages", n))

	var last time.Time
	for _, l := range rude.Lines() {
		if l.Dir == "out" && strings.Contains(string(l.Raw), `"notifications/message"`) {
			last = l.At
		}
	}
	f.shown = time.UnixMicro(int64(resultAt * 1000)).Sub(last)
	for _, w := range s.Wire().Requests("s2c", "notifications/message") {
		if want := fmt.Sprintf(`"data":"message %d of %d"`, f.sent+1, n); !strings.Contains(string(w.Raw), want) {
			t.Fatalf("frame %d of the flood is %s", f.sent+1, w.Raw)
		}
		f.sent++
	}
	q.Role("group", "Will send").Contains(f.typed)
	q.Button("Accept").Click()
	rude.Until("the answer", func(line string) bool { return strings.Contains(line, `{"signer":"`+f.typed+`"}`) })
	tab.Close()
	p.Stop()
	return f
}

// A tool that logs 10,000 messages as fast as it can, while a question is open, does not
// slow down the page. The bounds here leave room for a machine that does much else: a page
// that draws each message takes seconds. The task bench measures the real ones.
func TestFlood(t *testing.T) {
	const n = 10_000
	f := floodOnce(t, n)
	if f.sent != n {
		t.Errorf("%d of %d frames are in the wire log", f.sent, n)
	}
	if f.shown > 2*time.Second {
		t.Errorf("the result was shown %v after the last message", f.shown)
	}
	briefTasks(t, f.tasks)
	if f.typed != f.want {
		t.Errorf("typed %q, the field holds %q", f.want, f.typed)
	}
}
