package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"elicitation-inspector/e2e/internal/inspector"
	"elicitation-inspector/e2e/internal/page"
)

// million is the number of messages in a long session.
const million = 1_000_000

const mib = 1 << 20

// plainClient is a client of the SDK without a tap.
var plainClient = sync.OnceValue(func() string {
	path := filepath.Join(binaries, "plainclient")
	if err := inspector.Build(".", path, "./plainclient"); err != nil {
		panic(err)
	}
	return path
})

// measureTap measures the speed of clients from the torrent server: the inspector with
// its log, and the SDK's client without a tap, in turn. Each time there is one client
// process and one server process.
func measureTap(b *testing.B, runs int) []figure {
	const n = 20_000
	messages := figure{what: "tap: time of small messages, to that without a tap", unit: "×", bound: 1 / 0.9, noise: 1.2, note: "1.11 is 90 % of the throughput"}
	requests := figure{what: "tap: time of small requests, to that without a tap", unit: "×", bound: 1 / 0.9, noise: 1.2, note: "both ways"}
	type report struct{ Messages, Pings time.Duration }
	reported := func(path string) (r report) {
		patiently(b, "the server has measured", func() bool { _, err := os.Stat(path); return err == nil })
		raw, err := os.ReadFile(path)
		if err == nil {
			err = json.Unmarshal(raw, &r)
		}
		if err != nil {
			b.Fatal(err)
		}
		return r
	}
	for i := range runs {
		path := filepath.Join(b.TempDir(), fmt.Sprint("report", i))
		command := []string{torrentBinary(), "-measure", strconv.Itoa(n), "-report", path}

		client := exec.Command(plainClient(), command...)
		in, err := client.StdinPipe()
		if err != nil {
			b.Fatal(err)
		}
		client.Stderr = os.Stderr
		if err := client.Start(); err != nil {
			b.Fatal(err)
		}
		untapped := reported(path)
		in.Close()
		if err := client.Wait(); err != nil {
			b.Fatalf("the client without a tap: %v", err)
		}
		if err := os.Remove(path); err != nil {
			b.Fatal(err)
		}

		p := inspector.StartWith(b, inspector.Options{}, append([]string{"--no-open", "--listen", "127.0.0.1:0", "--"}, command...)...)
		tapped := reported(path)
		s := &session{t: b, Process: p}
		if frames := s.ask("", 0, 1).frames; frames < n+n/10+2*(n+n/10) {
			b.Fatalf("the log has %d frames only", frames)
		}
		p.Stop()
		messages.values = append(messages.values, tapped.Messages.Seconds()/untapped.Messages.Seconds())
		requests.values = append(requests.values, tapped.Pings.Seconds()/untapped.Pings.Seconds())
	}
	return []figure{messages, requests}
}

// watchJump records the time from the next key or movement of the scroll bar until all
// rows in sight are drawn and one of them is about row want, or for 0 until they differ
// from before.
const watchJump = `want => {
	const grid = document.querySelector('section[aria-label="Wire log"] [role=grid]');
	const first = () => [...grid.querySelectorAll('[role=row]')].find(r => !r.querySelector('[role=columnheader]'))?.ariaRowIndex;
	const before = first();
	let since = 0;
	const begin = () => { since ||= performance.now() };
	grid.addEventListener('keydown', begin, {capture: true, once: true});
	grid.addEventListener('scroll', begin, {once: true});
	window.jumped = new Promise(done => {
		const look = () => {
			const rows = [...grid.querySelectorAll('[role=row]')].filter(r => !r.querySelector('[role=columnheader]'));
			const there = since && rows.length && rows.every(r => r.querySelector('[role=gridcell]')) && (want ? rows.some(r => Math.abs(r.ariaRowIndex - want) < 500) : first() !== before);
			if (there) done(performance.now() - since);
			else requestAnimationFrame(look);
		};
		requestAnimationFrame(look);
	});
	return true;
}`

// jumps measures the times of jumps in the log until the rows are drawn.
func (s *session) jumps(rounds int) (times []float64) {
	rows := s.rowCount()
	jump := func(want int, act func()) {
		page.Eval[bool](s.page, fmt.Sprintf("(%s)(%d)", watchJump, want))
		act()
		times = append(times, page.Eval[float64](s.page, "window.jumped"))
	}
	scroll := func(part float64) {
		jump(int(part*float64(rows)), func() {
			page.Eval[bool](s.page, fmt.Sprintf(`(() => {
				const grid = document.querySelector('section[aria-label="Wire log"] [role=grid]');
				grid.scrollTop = %g * (grid.scrollHeight - grid.clientHeight);
				return true;
			})()`, part))
		})
	}
	s.page.Region("Wire log").Role("grid", "Frames").Focus()
	s.page.Press(page.End)
	s.inSight()
	for i := range rounds {
		jump(1, func() { s.page.Press(page.Home) })
		scroll(0.2 + 0.6*float64(i)/float64(rounds))
		scroll(0.85 - 0.6*float64(i)/float64(rounds))
		jump(rows, func() { s.page.Press(page.End) })
	}
	return times
}

// turns measures the times of turns of the wheel, in the middle of the log.
func (s *session) turns(n int) (times []float64) {
	grid := s.page.Region("Wire log").Role("grid", "Frames")
	page.Eval[bool](s.page, `(() => {
		const grid = document.querySelector('section[aria-label="Wire log"] [role=grid]');
		grid.scrollTop = (grid.scrollHeight - grid.clientHeight) / 2;
		return true;
	})()`)
	s.inSight()
	for range n {
		page.Eval[bool](s.page, fmt.Sprintf("(%s)(0)", watchJump))
		grid.Wheel(240)
		times = append(times, page.Eval[float64](s.page, "window.jumped"))
	}
	return times
}

// heap returns the memory of the page's scripts, in MiB.
func (s *session) heap() float64 {
	s.t.Helper()
	got, err := chromedp.Call(s.page.Context(), runtime.GetHeapUsage, cdp.Empty{})
	if err != nil {
		s.t.Fatalf("reading the page's heap: %v", err)
	}
	return got.UsedSize / mib
}

// peak returns the peak memory of the inspector so far, in MiB.
func peak(b *testing.B, p *inspector.Process) float64 { b.Helper(); return peakOf(b, p.PID()) }

func peakOf(b *testing.B, pid int) float64 {
	b.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		b.Fatal(inspector.ErrNoProc)
	}
	for line := range strings.Lines(string(status)) {
		var kb float64
		if n, _ := fmt.Sscanf(line, "VmHWM: %f kB", &kb); n == 1 {
			return kb / 1024
		}
	}
	b.Fatal(inspector.ErrNoProc)
	return 0
}

// resident returns the present memory of the inspector, in MiB.
func resident(b *testing.B, p *inspector.Process) float64 {
	b.Helper()
	rss, err := p.RSS()
	if err != nil {
		b.Fatal(err)
	}
	return float64(rss) / mib
}

// longest returns the longest task on the page's main thread since the last call, in ms.
// The browser only reports tasks over 50 ms.
func (s *session) longest() float64 {
	s.t.Helper()
	return page.Eval[float64](s.page, "Math.max(0, ...window.longTasks.splice(0))")
}

// filters holds lines of different costs, all of them different, because results are
// cached.
var filters = []struct {
	what  string
	bound float64
	lines []string
}{
	{"by kind", 100, []string{"kind:request", "kind:result", "kind:noise", "kind:notification", "kind:error"}},
	{"by method", 100, []string{"method:ping", "method:notifications/*", "method:tools/call", "method:elicitation/*", "method:*message"}},
	{"by id", 100, []string{"id:100", "id:7", "id:123400", "id:500000", "id:999900"}},
	{"by text", 1000, []string{`"message 123456 "`, `absent`, `"warning"`, `"77 of 1000000"`, `has:logger`}},
	{"by expression", 1000, []string{`/message \d+7 of/`, `/warning.*99 of/`, `/77+ of \d{7}/`, `/[xyz]{3}/`, `/"data":"[^"]*5{3}[^"]*"/`}},
}

// measureMillion makes a server send a million messages to a session with a page, and
// then navigates in them.
func measureMillion(b *testing.B) []figure {
	memory := figure{what: "a million frames live: most memory of the inspector", unit: "MiB", bound: 250, noise: 1.1}
	heap := figure{what: "a million frames live: most heap of the page", unit: "MiB", bound: 100, noise: 1.1}
	// The server, the inspector and the browser share the processors, so this mostly
	// measures how long the page waited for one.
	lag := figure{what: "a million frames live: longest task on the main thread, to compare", unit: "ms"}
	took := figure{what: "a million frames live: time, to compare", unit: "s"}
	jump := figure{what: "a million frames: jump to rows shown", unit: "ms", bound: 100, noise: 2, note: "Home, End, scroll bar"}
	wheel := figure{what: "a million frames: turn of the wheel to rows shown", unit: "ms", bound: 50, noise: 2}

	s := onTorrent(b)
	s.page.Region("Tools").Button("send").Wait()
	s.longest()
	begun := time.Now()
	s.send(million, 0)
	result := fmt.Sprintf("sent %d messages", million)
	patiently(b, "the result of a million messages", func() bool {
		heap.values = append(heap.values, s.heap())
		return strings.Contains(s.page.Region("Result").TextNow(), result)
	})
	took.values = append(took.values, time.Since(begun).Seconds())
	lag.values = append(lag.values, s.longest())
	frames := s.ask("", 0, 1).frames
	if frames < million+million/100 {
		b.Errorf("of a million messages and their answers the log has %d", frames)
	}
	s.page.Until(func() string { return "the page knows of all" }, func() bool { return s.rowCount() == frames })

	jump.values = s.jumps(6)
	wheel.values = s.turns(20)
	heap.values = append(heap.values, s.heap())

	all := []figure{took, lag}
	for _, kind := range filters {
		f := figure{what: "a million frames filtered " + kind.what, unit: "ms", bound: kind.bound, noise: 2}
		for _, line := range kind.lines {
			matches, d := s.sifted(line)
			f.values = append(f.values, ms(d))
			for picks, want := range map[string]int{"kind:request": million/100 + 1, "id:500000": 2, `"message 123456 "`: 1, "absent": 0, `"warning"`: million / 20 * 4 / 5} {
				if line == picks && (matches < want || matches > want+50) {
					b.Errorf("the filter %s picks %d frames, want about %d", line, matches, want)
				}
			}
		}
		all = append(all, f)
	}

	// What a person sees: the time from pasting the text to the rows.
	shown := figure{what: "a million frames: filter pasted to rows shown, to compare", unit: "ms"}
	for i, line := range []string{"id:200", "id:300", "method:pin*", "kind:request method:ping"} {
		want := []int{2, 2, million / 50, million / 100}[i]
		page.Eval[bool](s.page, fmt.Sprintf(`(() => {
			const grid = document.querySelector('section[aria-label="Wire log"] [role=grid]');
			let since = 0;
			document.addEventListener('input', () => { since = performance.now() }, {capture: true, once: true});
			window.filtered = new Promise(done => {
				const look = () => {
					const rows = [...grid.querySelectorAll('[role=row]')].filter(r => !r.querySelector('[role=columnheader]'));
					if (since && grid.ariaRowCount == %d && rows.length && rows.every(r => r.querySelector('[role=gridcell]'))) done(performance.now() - since);
					else requestAnimationFrame(look);
				};
				look();
			});
			return true;
		})()`, want))
		s.page.Region("Wire log").Field("Filter").Paste(line)
		shown.values = append(shown.values, page.Eval[float64](s.page, "window.filtered"))
	}
	heap.values = []float64{quantile(append(heap.values, s.heap()), 1)}
	memory.values = append(memory.values, peak(b, s.Process))
	s.page.Close()
	s.Stop()
	return append([]figure{memory, heap, jump, wheel}, append(all, shown)...)
}

// measureHuge sends frames of 64 MiB, as a log message and as a result, and opens them.
func measureHuge(b *testing.B) []figure {
	const size = 64*mib - 1024
	var all []figure
	for _, as := range []string{"message", "result"} {
		what := map[string]string{"message": "a log message of 64 MiB: ", "result": "a result of 64 MiB: "}[as]
		untapped := hugeUntapped(b, size, as)
		memory := figure{what: what + "most memory, to that of a client without a tap", unit: "×", bound: 2, noise: 1, note: fmt.Sprintf("which takes %.0f MiB", untapped)}
		staying := figure{what: what + "memory of the inspector afterwards", unit: "MiB", bound: 250, noise: 1.1}
		lag := figure{what: what + "longest task on the main thread", unit: "ms", bound: 50, noise: 3, note: "0 is under 50; the frame is looked at too"}
		s := onTorrent(b)
		s.choose("Tools", "huge")
		s.longest()
		s.huge(size, as)
		patiently(b, "the result of the huge frame", func() bool {
			shown := s.page.Region("Result").TextNow()
			return strings.Contains(shown, fmt.Sprintf("sent %d bytes", size)) || strings.Contains(shown, "head 0123456789")
		})
		s.rowWith("head 0123456789").Click()
		frame := s.page.Region("Wire log").Role("group", "Frame")
		frame.Contains(`"jsonrpc"`)
		frame.TabNamed("Raw").Click()
		frame.Contains(`"head 0123`)
		lag.values = append(lag.values, s.longest())
		memory.values = append(memory.values, peak(b, s.Process)/untapped)
		// Memory that is not needed any more is returned to the system within seconds.
		for end := time.Now().Add(5 * time.Second); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
			staying.values = append(staying.values, resident(b, s.Process))
		}
		staying.values = []float64{quantile(staying.values, 0)}
		s.page.Close()
		s.Stop()
		all = append(all, memory, staying, lag)
	}
	return all
}

// hugeUntapped returns the peak memory, in MiB, of the SDK's client without a tap for
// such a frame.
func hugeUntapped(b *testing.B, size int, as string) float64 {
	b.Helper()
	client := exec.Command(plainClient(), "-call", "huge", "-arguments", fmt.Sprintf(`{"bytes":%d,"as":%q}`, size, as), torrentBinary())
	in, err := client.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := client.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	client.Stderr = os.Stderr
	if err := client.Start(); err != nil {
		b.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		b.Fatalf("the client without a tap: %v: %q", err, line)
	}
	top := peakOf(b, client.Process.Pid)
	in.Close()
	if err := client.Wait(); err != nil {
		b.Fatalf("the client without a tap: %v", err)
	}
	return top
}

// measureOpen opens transcripts of 1 GB: one of a million frames, and one of small
// frames, which has several times as many.
func measureOpen(b *testing.B, runs int) []figure {
	var figures []figure
	for _, f := range []flow{{frames: million, pad: 820, span: time.Hour}, {frames: 3_800_000, span: time.Hour}} {
		what := "open 1 GB: "
		if f.pad == 0 {
			what = "open 1 GB of small frames: "
			runs = 1
		}
		first := figure{what: what + "to the first row", unit: "s", bound: 5, noise: 1.5}
		all := figure{what: what + "until all is read, to compare", unit: "s", note: fmt.Sprintf("%.1f million frames", float64(f.frames)/million)}
		memory := figure{what: what + "most memory of the inspector", unit: "MiB", bound: 250, noise: 1.1}
		path, size := f.write(b)
		if size < 1e9 {
			b.Fatalf("the transcript has %d bytes", size)
		}
		for range runs {
			p := inspector.StartWith(b, inspector.Options{}, "open", "--no-open", "--listen", "127.0.0.1:0", path)
			s := &session{t: b, Process: p}
			patiently(b, "the first row", func() bool { return strings.Contains(s.ask("", 0, 1).html, "tools/call") })
			first.values = append(first.values, time.Since(p.Started).Seconds())
			s.page = browser.Open(b, p.URL)
			patiently(b, "all has been read", func() bool { return s.ask("", 0, 1).frames == f.frames })
			all.values = append(all.values, time.Since(p.Started).Seconds())
			s.page.Until(func() string { return "the page knows of all" }, func() bool { return s.rowCount() == f.frames })
			s.jumps(1)
			memory.values = append(memory.values, peak(b, p))
			s.page.Close()
			p.Stop()
		}
		if err := os.Remove(path); err != nil {
			b.Fatal(err)
		}
		figures = append(figures, first, all, memory)
	}
	return figures
}

// measurePlayback plays back a million frames at full speed.
func measurePlayback(b *testing.B) []figure {
	memory := figure{what: "play a million frames: most memory of the inspector", unit: "MiB", bound: 250, noise: 1.1}
	took := figure{what: "play a million frames: time, to compare", unit: "s"}
	heap := figure{what: "play a million frames: most heap of the page", unit: "MiB", bound: 100, noise: 1.1}
	f := flow{frames: million, span: 10 * time.Second}
	path, _ := f.write(b)
	s := plain(b, "open", "--no-open", "--listen", "127.0.0.1:0", "--play", "--speed", "16", path)
	patiently(b, "all has been played", func() bool {
		heap.values = append(heap.values, s.heap())
		return s.ask("", 0, 1).frames == f.frames
	})
	took.values = append(took.values, time.Since(s.Started).Seconds())
	s.page.Until(func() string { return "the page knows of all" }, func() bool { return s.rowCount() == f.frames })
	memory.values = append(memory.values, peak(b, s.Process))
	heap.values = []float64{quantile(heap.values, 1)}
	s.page.Close()
	s.Stop()
	return []figure{memory, heap, took}
}
