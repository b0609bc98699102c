package e2e

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/chromedp/cdproto/network"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"elicitation-inspector/e2e/internal/inspector"
	"elicitation-inspector/e2e/internal/page"
	"elicitation-inspector/e2e/internal/servers"
)

// figure is one measured number that users notice, with its bound.
type figure struct {
	what   string
	unit   string
	values []float64 // one per run; the median counts
	bound  float64   // 0 with noise 0: no bound, a figure to compare others with
	noise  float64   // the factor over bound that cannot be noise
	note   string
}

func (f figure) median() float64 { return quantile(f.values, 0.5) }

func quantile(values []float64, q float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	return sorted[int(q*float64(len(sorted)-1)+0.5)]
}

func (f figure) verdict() string {
	switch m := f.median(); {
	case len(f.values) == 0:
		return "MISSED: not measured"
	case f.noise == 0:
		return ""
	case m <= f.bound:
		return "ok"
	case m <= f.bound*f.noise:
		return "over, within noise"
	default:
		return "MISSED"
	}
}

// BenchmarkFigures measures how long users wait and how much of their machine the
// inspector takes, from real runs of the binary in a real browser. It fails if a bound is
// missed by a factor that cannot be noise. Run it with -benchtime 1x, as the task bench
// does; with -bench 'BenchmarkFigures/load' it measures one group.
func BenchmarkFigures(b *testing.B) {
	busy := loadAverage()
	var figures []figure
	for _, group := range []struct {
		name    string
		measure func(b *testing.B) []figure
	}{
		{"start", func(b *testing.B) []figure { return measureStart(b, 21) }},
		{"opening", func(b *testing.B) []figure { return measureOpening(b, 21) }},
		{"load", func(b *testing.B) []figure { return measureLoad(b, 11) }},
		{"questions", func(b *testing.B) []figure { return measureQuestions(b, 41) }},
		{"once", measureOnce},
		{"form", func(b *testing.B) []figure { return measureForm(b, 11) }},
		{"compose", func(b *testing.B) []figure { return measureCompose(b, 21) }},
		{"flood", func(b *testing.B) []figure { return measureFlood(b, 3) }},
		{"memory", measureMemory},
		{"tap", func(b *testing.B) []figure { return measureTap(b, 5) }},
		{"million", measureMillion},
		{"huge", measureHuge},
		{"open", func(b *testing.B) []figure { return measureOpen(b, 3) }},
		{"playback", measurePlayback},
		{"call", func(b *testing.B) []figure { return measureCall(b, 21) }},
		{"script", func(b *testing.B) []figure { return measureScript(b, 7) }},
		{"check", measureCheck},
		{"diff", measureDiff},
		{"replay", func(b *testing.B) []figure { return measureReplay(b, 3) }},
	} {
		b.Run(group.name, func(b *testing.B) {
			for b.Loop() {
				figures = append(figures, group.measure(b)...)
			}
		})
	}
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "\nfigure\tmedian\tbest\tworst\tbound\truns\t")
	for _, f := range figures {
		fmt.Fprintf(table, "%s\t%.4g %s\t%.4g\t%.4g\t%.4g\t%d\t%s\t%s\n", f.what, f.median(), f.unit,
			quantile(f.values, 0), quantile(f.values, 1), f.bound, len(f.values), f.verdict(), f.note)
		if strings.HasPrefix(f.verdict(), "MISSED") {
			b.Errorf("%s: median %.4g %s, the bound is %.4g", f.what, f.median(), f.unit, f.bound)
		}
	}
	fmt.Fprintf(table, "\n%d processors, load average before the run: %s\n\n", runtime.NumCPU(), busy)
	_ = table.Flush()
}

// loadAverage returns the system's load: on a busy machine the times mean little.
func loadAverage() string {
	raw, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	first, _, _ := strings.Cut(string(raw), " ")
	return first
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// measureStart times the built binary from its start to the first 200 of the page.
func measureStart(b *testing.B, runs int) []figure {
	f := figure{what: "start to the page's first 200", unit: "ms", bound: 35, noise: 2}
	for range runs {
		p := inspector.Start(b)
		jar, err := cookiejar.New(nil)
		if err != nil {
			b.Fatal(err)
		}
		res, err := (&http.Client{Jar: jar}).Get(p.URL)
		if err != nil {
			b.Fatal(err)
		}
		took := time.Since(p.Started)
		_, _ = io.Copy(io.Discard, res.Body)
		res.Body.Close()
		if res.StatusCode != http.StatusOK {
			b.Fatalf("the page is %s", res.Status)
		}
		f.values = append(f.values, ms(took))
		p.Stop()
	}
	return []figure{f}
}

// load counts the requests and bytes of a page's first load.
type load struct {
	mu              sync.Mutex
	requests        int
	packed, content float64 // bytes on the wire with headers, and of content
}

func (l *load) listen(event any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		if strings.HasPrefix(e.Request.URL, "data:") {
			return // the icon, which the page holds
		}
		l.requests++
		if e.RedirectResponse != nil {
			l.packed += e.RedirectResponse.EncodedDataLength
		}
	case *network.EventDataReceived:
		l.content += float64(e.DataLength)
	case *network.EventLoadingFinished:
		l.packed += e.EncodedDataLength
	}
}

// officialVersion is the version of the official Inspector that the task bench installs.
const officialVersion = "2.12.0"

// official starts the official Inspector, and returns the address that it prints.
func official(b testing.TB, args ...string) (address string) {
	b.Helper()
	command := append(officialProgram(b, "launcher", "build", "index.js"), append([]string{"--web"}, args...)...)
	free, err := net.Listen("tcp", "127.0.0.1:0") // it takes no port of 0
	if err != nil {
		b.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(free.Addr().String())
	_ = free.Close()
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Env = append(os.Environ(), "MCP_AUTO_OPEN_ENABLED=false", "CLIENT_PORT="+port, "MCP_INSPECTOR_SECRET_STORE=memory", "HOME="+b.TempDir())
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // its children too
		_ = cmd.Wait()
	})
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if before, query, printed := strings.Cut(strings.TrimSpace(lines.Text()), "?MCP_INSPECTOR_API_TOKEN="); printed {
			go func() { _, _ = io.Copy(io.Discard, out) }()
			return before + "/?MCP_INSPECTOR_API_TOKEN=" + query
		}
	}
	b.Fatal("the official Inspector prints no address")
	return ""
}

// measureOpening opens the printed address in fresh browser contexts, and beside it, in turn, that of
// the official Inspector and a page of one word. What counts are the ratios of a turn: times are
// those of the machine.
func measureOpening(b *testing.B, runs int) []figure {
	word := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, "<!doctype html><title>t</title><link rel=icon href=data:,>word")
	}))
	defer word.Close()
	ours := figure{what: "printed address to the first contentful paint", unit: "ms"}
	least := figure{what: "that of a page of one word", unit: "ms"}
	theirs := figure{what: "that of the official Inspector " + officialVersion, unit: "ms"}
	toWord := figure{what: "ours to that of one word", unit: "×", bound: 3, noise: 1.5}
	toTheirs := figure{what: "ours to that of the official Inspector", unit: "×", bound: 0.2, noise: 1.5}
	p := inspector.Start(b)
	rival := official(b)
	for i := range runs + 1 {
		o, w, t := painted(b, p.URL), painted(b, word.URL), painted(b, rival)
		if i == 0 {
			continue // the first turn warms up
		}
		ours.values, least.values, theirs.values = append(ours.values, o), append(least.values, w), append(theirs.values, t)
		toWord.values, toTheirs.values = append(toWord.values, o/w), append(toTheirs.values, o/t)
	}
	p.Stop()
	return []figure{ours, least, theirs, toWord, toTheirs}
}

// measureLoad loads the page of the demo in fresh browser contexts.
func measureLoad(b *testing.B, runs int) []figure {
	packed := figure{what: "first load, compressed", unit: "kB", bound: 80, noise: 1}
	content := figure{what: "first load, uncompressed", unit: "kB", bound: 2770, noise: 1}
	requests := figure{what: "first load, requests", unit: "", bound: 5, noise: 1}
	ready := figure{what: "navigation to a keystroke that counts", unit: "ms", bound: 250, noise: 2}
	p := inspector.Start(b)
	for range runs {
		tab := browser.Blank(b)
		tab.BeforeLoad(pressSlash)
		tab.Goto(p.URL)
		ready.values = append(ready.values, page.Eval[float64](tab, "window.keyCounts"))
		tab.Close()
		tab = browser.Blank(b)
		var l load
		if err := chromedp.Listen(tab.Context(), l.listen); err != nil {
			b.Fatal(err)
		}
		tab.Goto(p.URL)
		tab.Region("Tools").Button("deploy").Wait()
		l.mu.Lock()
		packed.values = append(packed.values, l.packed/1000)
		content.values = append(content.values, l.content/1000)
		requests.values = append(requests.values, float64(l.requests))
		l.mu.Unlock()
		for _, url := range tab.Requests() {
			if !strings.HasPrefix(url, p.Base+"/") && !strings.HasPrefix(url, "data:") {
				b.Errorf("the page asked another host: %s", url)
			}
		}
		tab.Close()
	}
	p.Stop()
	return []figure{packed, content, requests, ready}
}

// pressSlash presses the key that leads to the search until the search has the focus.
const pressSlash = `window.keyCounts = new Promise(done => {
	const timer = setInterval(() => {
		document.body?.dispatchEvent(new KeyboardEvent('keydown', {key: '/', bubbles: true, cancelable: true}));
		if (document.activeElement?.type !== 'search') return;
		clearInterval(timer);
		done(performance.now());
	}, 2);
})`

// painted opens an address as a person does who clicks on it, and returns the time from then to the
// first contentful paint of the page that it leads to, in ms. It neither listens to the network nor
// reads the page meanwhile.
func painted(b *testing.B, url string) float64 {
	b.Helper()
	tab := browser.Blank(b)
	defer tab.Close()
	from := time.Now()
	if _, err := chromedp.Call(tab.Context(), cdppage.Navigate, cdppage.NavigateParams{URL: url}); err != nil {
		b.Fatal(err)
	}
	at := page.Eval[float64](tab, `new Promise(done => new PerformanceObserver(l => {
		const e = l.getEntriesByName('first-contentful-paint')[0];
		if (e && document.documentElement.dataset.own === undefined) done(performance.timeOrigin + e.startTime); // not on the page of the door
	}).observe({type: 'paint', buffered: true}))`)
	return at - float64(from.UnixMicro())/1000
}

// watchQuestions records, on the server's clock, when a pending question's form came into
// the document and when Accept was clicked.
const watchQuestions = `{
	const clock = now => performance.timeOrigin + now;
	let came;
	window.watchForm = () => {
		window.formAt = window.acceptAt = 0;
		window.formCame = new Promise(done => { came = done; });
	};
	window.watchForm();
	new MutationObserver(() => {
		if (window.formAt || !document.querySelector('article[data-state=pending] form input')) return;
		window.formAt = clock(performance.now());
		came(window.formAt);
	}).observe(document, {subtree: true, childList: true, attributes: true});
	document.addEventListener('click', e => {
		if (e.target.closest?.('button')?.textContent.trim() === 'Accept') window.acceptAt = clock(e.timeStamp);
	}, true);
}`

// measureQuestions times a question from the server's write to the form in the document, and
// its answer from the click to the bytes at the server. It does so first for questions that
// come right after a click on Call, and then for questions of a call that runs already. The
// former take longer, since Chromium lets no task of a page run between a click and the next
// drawn frame (its feature DeferRendererTasksAfterInput).
func measureQuestions(b *testing.B, runs int) []figure {
	clicked := figure{what: "elicitation/create written to form in the DOM, after a click on Call", unit: "ms", bound: 20, noise: 2}
	arrive := figure{what: "elicitation/create written to form in the DOM", unit: "ms", bound: 10, noise: 2}
	answer := figure{what: "click on Accept to bytes at the server", unit: "ms", bound: 4, noise: 2}
	const params = `{"message":"Release now?","requestedSchema":{"type":"object","properties":{` +
		`"branch":{"type":"string","title":"Branch","default":"main"},"size":{"type":"string","enum":["small","large"],"default":"small"},"dry":{"type":"boolean","title":"Dry run","default":true}},"required":["branch"]}}`
	rude := servers.NewRude(b, []servers.Question{{Name: "release", Params: params}})
	p := inspector.Start(b, append([]string{"--"}, rude.Command...)...)
	tab := browser.Blank(b)
	tab.BeforeLoad(watchQuestions)
	tab.Goto(p.URL)
	s := &session{t: b, Process: p, page: tab}
	asked := 0
	// question has a question asked, accepts it, and adds the times to two figures.
	question := func(ask func(), arrive, answer *figure) {
		page.Eval[bool](tab, "watchForm() ?? true")
		ask()
		page.Eval[float64](tab, "formCame") // a promise: polling the page would slow it down
		card := s.question("Release now?")
		card.Button("Accept").Click()
		line := func(dir, part string) time.Time {
			var at time.Time
			tab.Until(func() string { return "the server has logged " + part }, func() bool {
				n := 0
				for _, l := range rude.Lines() {
					if l.Dir == dir && strings.Contains(string(l.Raw), part) {
						if at = l.At; n == asked {
							return true
						}
						n++
					}
				}
				return false
			})
			return at
		}
		written, got := line("out", `"elicitation/create"`), line("in", `"accept"`)
		formAt := page.Eval[float64](tab, "window.formAt")
		acceptAt := page.Eval[float64](tab, "window.acceptAt")
		if formAt == 0 || acceptAt == 0 {
			b.Fatal("the page did not note the form or the click")
		}
		card.Gone() // it is settled
		asked++
		arrive.values = append(arrive.values, ms(time.UnixMicro(int64(formAt*1000)).Sub(written)))
		answer.values = append(answer.values, ms(got.Sub(time.UnixMicro(int64(acceptAt*1000)))))
	}
	call := s.choose("Tools", "release")
	for i := range runs {
		question(func() { call.Button(callButton(i)).Click() }, &clicked, &answer)
		tab.Until(func() string { return "the call is done" }, func() bool { return call.Button("Call again").Exists() })
	}
	call = s.choose("Tools", "wait")
	call.Button("Call").Click()
	call.Button("Stop").Wait()
	for i := range runs {
		question(func() {
			rude.OrderWith("write", fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"elicitation/create","params":%s}`, 1000+i, params))
		}, &arrive, &answer)
	}
	tab.Close()
	p.Stop()
	clicked.values, arrive.values = clicked.values[1:], arrive.values[1:] // the first round warms up
	return []figure{clicked, arrive, answer}
}

// watchFields records the time from a click on Call until the many fields of its question
// are painted.
const watchFields = `document.addEventListener('click', e => {
	if (e.target.closest?.('button')?.matches('#call .primary') !== true) return;
	window.fieldsPainted = new Promise(done => {
		const look = () => {
			if (document.querySelectorAll('article[data-state=pending] .field').length < 50) return requestAnimationFrame(look);
			const { port1, port2 } = new MessageChannel(); // gets its message after the frame is painted
			port1.onmessage = () => done(performance.now() - e.timeStamp);
			port2.postMessage(0);
		};
		requestAnimationFrame(look);
	});
}, true)`

// fifty are properties for fifty fields of five kinds.
func fifty() string {
	kinds := []string{`"string"`, `"integer"`, `"boolean"`, `"string","enum":["red","green","blue"]`, `"string","format":"date"`}
	fields := make([]string, 50)
	for i := range fields {
		fields[i] = fmt.Sprintf(`"field%d":{"type":%s,"title":"Field %d","description":"What field %d is for"}`, i, kinds[i%len(kinds)], i, i)
	}
	return strings.Join(fields, ",")
}

// measureForm times a click on Call until the form of its question, with fifty fields of
// five kinds, is painted.
func measureForm(b *testing.B, runs int) []figure {
	f := figure{what: "click on Call to a question of 50 fields painted", unit: "ms", bound: 100, noise: 2}
	rude := servers.NewRude(b, []servers.Question{{Name: "fifty", Params: `{"message":"Fill in fifty.","requestedSchema":{"type":"object","properties":{` + fifty() + `}}}`}})
	s := plain(b, append([]string{"--no-open", "--listen", "127.0.0.1:0", "--"}, rude.Command...)...)
	page.Eval[any](s.page, watchFields)
	call := s.choose("Tools", "fifty")
	for i := range runs {
		call.Button(callButton(i)).Click()
		f.values = append(f.values, page.Eval[float64](s.page, "window.fieldsPainted"))
		s.question("Fill in fifty.").Button("Decline").Click()
		s.page.Until(func() string { return "the call is done" }, func() bool { return call.Button("Call again").Exists() })
	}
	s.page.Close()
	s.Stop()
	return []figure{f}
}

// measureCompose times a keystroke in a draft of fifty fields of five kinds until its form is painted anew.
func measureCompose(b *testing.B, runs int) []figure {
	f := figure{what: "keystroke to the redrawn form of 50 fields", unit: "ms", bound: 30, noise: 2}
	s := composing{plain(b, "--no-open", "--listen", "127.0.0.1:0")}
	s.page.Goto(s.Base + "/?compose")
	s.json().Paste(`{"message":"","requestedSchema":{"type":"object","properties":{` + fifty() + `}}}`)
	s.form().Field("Field 49").Wait()
	s.page.Region("Seen in").Button("Gemini CLI: not shown").Wait()
	page.Call[any](s.json(), `function() {
		this.setSelectionRange(12, 12);
		this.addEventListener('keydown', () => {
			const at = performance.now();
			window.redrawn = new Promise(done => {
				const seen = new MutationObserver(() => {
					if (document.querySelector('#draft-question .message').innerText.trim() !== JSON.parse(this.value).message) return;
					seen.disconnect();
					requestAnimationFrame(() => setTimeout(() => done(performance.now() - at)));
				});
				seen.observe(document.querySelector('.drawn'), {childList: true, subtree: true, characterData: true});
			});
		});
	}`)
	for range runs {
		s.page.Type("x")
		f.values = append(f.values, page.Eval[float64](s.page, "window.redrawn"))
	}
	s.page.Close()
	s.Stop()
	return []figure{f}
}

// measureFlood floods the page with 10,000 log messages while a question is open.
func measureFlood(b *testing.B, runs int) []figure {
	const n = 10_000
	shown := figure{what: "flood of 10,000: last message to the result", unit: "ms", bound: 2000, noise: 1.5}
	longest := figure{what: "flood of 10,000: longest task on the main thread", unit: "ms", bound: 50, noise: 2, note: "0 is under 50"}
	missing := figure{what: "flood of 10,000: frames missing in the log", unit: "", bound: 0, noise: 1}
	lost := figure{what: "flood of 10,000: keystrokes lost", unit: "", bound: 0, noise: 1}
	for range runs {
		f := floodOnce(b, n)
		shown.values = append(shown.values, ms(f.shown))
		longest.values = append(longest.values, float64(slices.Max(append(f.tasks, 0))))
		missing.values = append(missing.values, float64(n-f.sent))
		wrong := 0
		if f.typed != f.want {
			wrong = max(1, len(f.want)-len(f.typed))
		}
		lost.values = append(lost.values, float64(wrong))
	}
	return []figure{shown, longest, missing, lost}
}

// measureMemory reads the process's resident memory, connected to a stdio server
// with a page open, over three seconds.
func measureMemory(b *testing.B) []figure {
	f := figure{what: "resident memory, connected, a page open", unit: "MiB", bound: 26, noise: 1.2}
	rude := servers.NewRude(b, nil)
	p := inspector.Start(b, append([]string{"--"}, rude.Command...)...)
	tab := browser.Open(b, p.URL)
	tab.Region("Tools").Button("large").Wait()
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	for tick := time.NewTicker(100 * time.Millisecond); ctx.Err() == nil; <-tick.C {
		rss, err := p.RSS()
		if err != nil {
			f.note = cmp.Or(f.note, err.Error())
			break
		}
		f.values = append(f.values, float64(rss)/(1<<20))
	}
	p.Stop()
	return []figure{f}
}
