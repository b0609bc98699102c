package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"elicitation-inspector/e2e/internal/inspector"
	"elicitation-inspector/e2e/internal/page"
)

// A million rows, without -whole a tenth of them, are scrolled from end to end, by key, wheel and
// scroll bar. In every position the rows are those of the transcript, none missing, doubled or out
// of order.
func TestMillionRows(t *testing.T) {
	f := flow{frames: 100_000, span: 1000 * 1e9}
	if *whole {
		f.frames = 1_000_000
	}
	between := func(row int, low, high float64) bool {
		return float64(row) > low*float64(f.frames) && float64(row) < high*float64(f.frames)
	}
	path, _ := f.write(t)
	s := opened(t, f.frames, path)
	s.page.Until(func() string { return fmt.Sprintf("the grid has %d rows; it has %d", f.frames, s.rowCount()) }, func() bool { return s.rowCount() == f.frames })
	grid := s.page.Region("Wire log").Role("grid", "Frames")
	grid.Focus()

	// right checks the rows in sight, and returns the first and the last of them.
	right := func(where string) (first, last int) {
		t.Helper()
		all := s.inSight()
		for i, r := range all {
			if r.Index != all[0].Index+i || r.Seq != r.Index || !strings.Contains(r.Text, f.says(r.Index)) {
				t.Fatalf("%s: row %d in sight is %+v, after row %d; want %q", where, i+1, r, all[max(0, i-1)].Index, f.says(r.Index))
			}
		}
		return all[0].Index, all[len(all)-1].Index
	}
	reach := func(where string, there func(first, last int) bool) (first, last int) {
		t.Helper()
		s.page.Until(func() string { return fmt.Sprintf("%s; in sight are %d to %d", where, first, last) }, func() bool {
			first, last = right(where)
			return there(first, last)
		})
		return first, last
	}

	s.page.Press(page.Home)
	reach("the first row after Home", func(first, _ int) bool { return first == 1 })
	s.page.Press(page.End)
	reach("the last row after End", func(_, last int) bool { return last == f.frames })

	// By the scroll bar, from end to end.
	const stops = 40
	var before int
	for i := range stops + 1 {
		page.Call[bool](s.page.Region("Wire log"), `function(part) {
			const grid = this.querySelector('[role=grid]');
			grid.scrollTop = part * (grid.scrollHeight - grid.clientHeight);
			return true;
		}`, float64(i)/stops)
		want := float64(f.frames) * float64(i) / stops
		first, last := reach(fmt.Sprintf("the scroll bar at %d of %d", i, stops), func(first, last int) bool {
			return float64(first) < want+2000 && float64(last) > want-2000
		})
		if i > 0 && first <= before {
			t.Fatalf("the scroll bar further down shows row %d, after row %d", first, before)
		}
		before = first
		if i == 0 && first != 1 || i == stops && last != f.frames {
			t.Errorf("the scroll bar at %d of %d shows rows %d to %d", i, stops, first, last)
		}
	}

	// By key and by wheel, over many windows, somewhere in the middle.
	page.Call[bool](s.page.Region("Wire log"), `function() { const g = this.querySelector('[role=grid]'); g.scrollTop = g.scrollHeight * 0.37; return true }`)
	reach("the scroll bar in the middle", func(first, _ int) bool { return between(first, 0.3, 0.45) })
	grid.Role("row", "").All().Nth(5).Click()
	at := 0
	s.page.Until(func() string { return "a row is chosen" }, func() bool { at = s.chosenRow(); return between(at, 0.3, 0.45) })
	grid.HasFocus()
	for i := range 45 {
		key, want := page.Down, at+1
		if i >= 30 {
			key, want = page.Up, at-1
		}
		s.page.Press(key)
		s.page.Until(func() string { return fmt.Sprintf("row %d is chosen; it is %d", want, s.chosenRow()) }, func() bool { return s.chosenRow() == want })
		at = want
		if first, last := right("stepping by key"); at < first || at > last {
			t.Fatalf("row %d is chosen, in sight are %d to %d", at, first, last)
		}
	}

	down := true
	seenTo, _ := right("before the wheel")
	for i := range 36 {
		if i == 24 {
			down = false
		}
		by := 200.0
		if !down {
			by = -200
		}
		beforeFirst, beforeLast := right("the wheel")
		grid.Wheel(by)
		first, last := reach("the wheel turned", func(first, _ int) bool { return first != beforeFirst })
		if down && (first < beforeFirst || first > beforeLast) || !down && (last > beforeLast || last < beforeFirst) {
			t.Fatalf("the wheel went from %d to %d on to %d to %d: rows were left out", beforeFirst, beforeLast, first, last)
		}
	}
	if now, _ := right("after the wheel"); now <= seenTo {
		t.Errorf("24 turns down and 12 up lead from row %d to row %d", seenTo, now)
	}

	// The scroll bar moves while the log gets another height, before the page knows of either.
	s.page.Press(page.Enter)
	s.page.Region("Wire log").Role("group", "Frame").Wait()
	page.Call[bool](s.page.Region("Wire log"), `function() {
		const grid = this.querySelector('[role=grid]');
		grid.scrollTop = grid.scrollHeight * 0.8;
		[...this.querySelectorAll('button')].find(b => b.ariaLabel === 'Close the frame').click();
		return true;
	}`)
	reach("the scroll bar further down, where a frame is closed", func(first, _ int) bool { return between(first, 0.75, 0.85) })

	// The same with a filter, whose rows the server selects.
	s.page.Region("Wire log").Field("Filter").Fill("method:elicitation/create kind:request")
	s.page.Until(func() string {
		return fmt.Sprintf("the filter picks %d rows; it picks %d", f.frames/10_000, s.rowCount())
	}, func() bool { return s.rowCount() == f.frames/10_000 })
	grid.Focus()
	for _, key := range []string{page.Home, page.PageDown, page.PageDown, page.End, page.PageUp} {
		s.page.Press(key)
		all := s.inSight()
		for i, r := range all {
			seq := (r.Index-1)*10_000 + 50
			if r.Index != all[0].Index+i || r.Seq != seq || !strings.Contains(r.Text, f.says(seq)) {
				t.Fatalf("filtered row %d in sight is %+v, want frame %d", i+1, r, seq)
			}
		}
	}
}

// chosenRow returns the position of the chosen row of the log, 0 if there is none.
func (s *session) chosenRow() int {
	s.t.Helper()
	return page.Call[int](s.page.Region("Wire log"), `function() {
		const active = this.querySelector('[role=grid]').getAttribute('aria-activedescendant');
		return Number(document.getElementById(active)?.ariaRowIndex ?? 0);
	}`)
}

// A filter is typed while 10,000 frames a second arrive. The page keeps up, the server is
// not slowed down, and afterwards every frame is in the file, in the log and on the page,
// once and in order.
func TestFilterWhileFramesArrive(t *testing.T) {
	const n, rate = 60_000, 10_000
	const atOnce = n - n/10 // the others come when the filter has been typed
	const beforeTyping = rate / 2
	gate, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer gate.Close()
	path := filepath.Join(t.TempDir(), "flow.jsonl")
	s := plain(t, "--no-open", "--listen", "127.0.0.1:0", "--record", path, "--", torrentBinary(), "-gate", gate.Addr().String())
	s.send(n, rate)
	s.page.Until(func() string { return "frames arrive" }, func() bool { return s.rowCount() > beforeTyping })
	page.Eval[int](s.page, "window.longTasks.length = 0")

	// Each letter makes a new filter, most of which search the bytes of all frames.
	log := s.page.Region("Wire log")
	line := `kind:notification "warning"`
	box := log.Field("Filter")
	box.Type(line)
	box.HasValue(line)
	// The rows in sight are those of earlier filters until the last one's arrive.
	picked := func() bool {
		all := s.inSight()
		return len(all) > 0 && !slices.ContainsFunc(all, func(r seen) bool { return !strings.Contains(r.Text, "warning") })
	}
	s.page.Until(func() string { return "the filter picks what is in sight" }, picked)
	typed := s.rowCount()
	_ = gate.(*net.TCPListener).SetDeadline(time.Now().Add(page.Wait)) // works on an open listener
	if held, err := gate.Accept(); err != nil || held.Close() != nil {
		t.Fatal("the last frames are held back for good:", err)
	}
	s.page.Until(func() string { return "the filter picks what arrives" }, func() bool { return s.rowCount() > typed })
	log.Role("grid", "Frames").Focus()

	for range 20 {
		all := s.inSight()
		for i, r := range all {
			if r.Index != all[0].Index+i || i > 0 && r.Seq <= all[i-1].Seq || !strings.Contains(r.Text, "warning") {
				t.Fatalf("while frames arrive, in sight is %+v after %+v", r, all[max(0, i-1)])
			}
		}
	}
	s.result(fmt.Sprintf("sent %d messages", n))
	briefTasks(t, page.Eval[[]int](s.page, "window.longTasks"))

	// The file, and the log from GET /wire.jsonl.
	frames := inspector.WireFile(t, path)
	logged := s.Wire()
	if len(frames) != len(logged) {
		t.Errorf("the file has %d frames, the log %d", len(frames), len(logged))
	}
	for i := range min(len(frames), len(logged)) {
		if f, l := frames[i], logged[i]; f.Direction != l.Direction || f.Seq != l.Seq || !bytes.Equal(f.Bytes(), l.Bytes()) {
			t.Fatalf("frame %d is %s in the file, %s in the log", i+1, clip(f.Line), clip(l.Line))
		}
	}
	next, answers, warnings := 1, map[string]int{}, []int{}
	var first, early, last inspector.Frame
	for i, f := range frames {
		switch {
		case f.Direction == "c2s" && f.IsResponse():
			answers[string(f.Message.ID)]++ // the SDK answers simultaneous requests concurrently
		case f.Direction == "s2c" && (f.Message.Method == "notifications/message" || f.Message.Method == "ping"):
			want := fmt.Sprintf(`"data":"message %d of %d"`, next, n)
			if next%100 == 0 {
				want = fmt.Sprintf(`"id":%d,"method":"ping"`, next)
			} else if next%20 == 0 {
				warnings = append(warnings, i+1)
			}
			if !bytes.Contains(f.Raw, []byte(want)) {
				t.Fatalf("frame %d is %s, want %s", i+1, f.Raw, want)
			}
			switch next {
			case 1:
				first = f
			case beforeTyping:
				early = f
			case atOnce:
				last = f
			}
			next++
		}
	}
	if next != n+1 {
		t.Errorf("the file has the messages up to %d of %d", next-1, n)
	}
	for i := 100; i <= n; i += 100 {
		if got := answers[strconv.Itoa(i)]; got != 1 {
			t.Errorf("the file has %d answers to request %d", got, i)
		}
	}
	// On a busy machine the server is slower before anything is typed, too.
	pace := max(time.Second/rate, early.TS.Sub(first.TS)/beforeTyping)
	if took := last.TS.Sub(first.TS); took > 3*atOnce*pace {
		t.Errorf("messages for %v took %v: the server was held up", atOnce*pace, took)
	}

	// The page: every row of the filtered view, page by page.
	s.page.Until(func() string {
		return fmt.Sprintf("the filter picks %d rows; it picks %d", len(warnings), s.rowCount())
	}, func() bool { return s.rowCount() == len(warnings) })
	s.page.Press(page.Home)
	shown := 0
	for {
		for _, r := range s.inSight() {
			if r.Index > shown+1 {
				t.Fatalf("after row %d the page shows row %d", shown, r.Index)
			}
			if r.Seq != warnings[r.Index-1] || !strings.Contains(r.Text, messageIn(frames[r.Seq-1])) {
				t.Fatalf("filtered row is %+v, want frame %d", r, warnings[r.Index-1])
			}
			shown = max(shown, r.Index)
		}
		if shown == len(warnings) {
			break
		}
		// A second key before the page has followed the first would leave rows out.
		before := s.chosenRow()
		s.page.Press(page.PageDown)
		s.page.Until(func() string {
			return fmt.Sprintf("a row after %d of %d is chosen and in sight", before, len(warnings))
		}, func() bool {
			all, at := s.inSight(), s.chosenRow()
			return at > before && at >= all[0].Index && at <= all[len(all)-1].Index
		})
	}

	// And rows of the whole log.
	box.Fill("")
	s.page.Until(func() string { return fmt.Sprintf("%d rows are back; there are %d", len(frames), s.rowCount()) }, func() bool { return s.rowCount() == len(frames) })
	for i := range 20 {
		page.Call[bool](log, "function(part) { const g = this.querySelector('[role=grid]'); g.scrollTop = part * (g.scrollHeight - g.clientHeight); return true }", float64(i)/19)
		for _, r := range s.inSight() {
			f := frames[r.Index-1]
			if r.Seq != r.Index || f.Message.Method != "" && !strings.Contains(r.Text, f.Message.Method) || strings.Contains(string(f.Raw), "message ") && !strings.Contains(r.Text, messageIn(f)) {
				t.Fatalf("row %+v, frame %s", r, f.Line)
			}
		}
	}
}

// messageIn returns the text of a log message of the torrent server.
func messageIn(f inspector.Frame) string {
	var p struct {
		Data string `json:"data"`
	}
	_ = json.Unmarshal(f.Message.Params, &p)
	return p.Data
}

// A frame of the maximum size stops neither the session nor the page: the page cuts it,
// shows more on demand, and can save it. Of a larger frame the head is kept, marked
// truncated, and the session continues; a call ends if the frame was its result.
func TestHugeFrames(t *testing.T) {
	const limit = 64 << 20
	s := onTorrent(t)
	log := s.page.Region("Wire log")
	frame := log.Role("group", "Frame")
	seen := 0
	// look opens the next large frame, and returns the contents of its tab Raw.
	look := func() *page.Control {
		t.Helper()
		log.Role("grid", "Frames").Focus()
		s.page.Press(page.End)
		s.rowAfter(&seen, "head 0123456789").Click()
		frame.TabNamed("Raw").Click()
		return frame.Role("tabpanel", "Raw").Contains("head 0123456789")
	}
	s.page.Region("Tools").Button("huge").Wait()
	page.Eval[int](s.page, "window.longTasks.length = 0")

	s.huge(limit, "message")
	s.result(fmt.Sprintf("sent %d bytes", limit))
	raw := look()
	if n := len(raw.Text()); n < 10_000 || n > 200_000 {
		t.Errorf("of a frame of %d bytes %d characters are shown", limit, n)
	}
	before := len(raw.Text())
	raw.Button("Show more").Click()
	s.page.Until(func() string { return "more of the frame is shown" }, func() bool { return len(raw.Text()) > before+10_000 })
	if n := len(raw.Text()); n > 1<<20 {
		t.Errorf("at once %d characters more are shown", n-before)
	}
	if bytes := saved(t, s, frame); len(bytes) != limit || !strings.HasPrefix(bytes[:100], `{"jsonrpc":"2.0","method":"notifications/message"`) || !strings.HasSuffix(bytes, ` tail"}}`) {
		t.Errorf("saved are %d bytes: %s … %s", len(bytes), bytes[:min(100, len(bytes))], bytes[max(0, len(bytes)-20):])
	}
	if shown := frame.Text(); strings.Contains(shown, "were kept") {
		t.Error("a frame of the limit's size is said to be cut")
	}
	frame.Button("Close the frame").Click()

	// The same as the result of a call.
	s.huge(limit, "result")
	result := s.result("head 0123456789")
	s.rowAfter(&seen, "head 0123456789")
	for range 2 {
		if n := len(result.Text()); n > 2<<20 {
			t.Errorf("of a result of %d bytes %d characters are shown at once", limit, n)
		}
		result.TabNamed("Raw").Click()
	}
	briefTasks(t, page.Eval[[]int](s.page, "window.longTasks"))

	// One byte more is too much.
	s.huge(limit+1, "message")
	s.result(fmt.Sprintf("sent %d bytes", limit+1))
	look()
	frame.Contains(fmt.Sprintf("Only the first %d of %d bytes were kept.", limit, limit+1))
	if bytes := saved(t, s, frame); len(bytes) != limit || strings.HasSuffix(bytes, "tail\"}}") {
		t.Errorf("saved are %d bytes of the frame that was cut", len(bytes))
	}
	frame.Button("Close the frame").Click()

	s.huge(2*limit, "result")
	s.result("over the limit")
	look()
	frame.Contains(fmt.Sprintf("Only the first %d of %d bytes were kept.", limit, 2*limit))

	s.send(10, 0)
	s.result("sent 10 messages")
	s.page.Region("Servers").Contains("ready")
	cut := 0
	for f := range strings.Lines(s.transcript()) {
		if strings.Contains(f[:min(400, len(f))], `"truncated":true`) {
			cut++
		}
	}
	if cut != 2 {
		t.Errorf("%d frames of the transcript are marked truncated, want 2", cut)
	}
}

// saved returns the contents behind the frame's link Save.
func saved(t *testing.T, s *session, frame *page.Control) string {
	t.Helper()
	return s.get(frame.Link("Save").Attr("href"))
}

func (s *session) transcript() string { s.t.Helper(); return s.get("/wire.jsonl") }

// get returns the body of a response of the inspector.
func (s *session) get(path string) string {
	s.t.Helper()
	res, err := s.Client().Get(s.Base + path)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		s.t.Fatalf("GET %s: %s, %v", path, res.Status, err)
	}
	return string(body)
}

// Frames do not wait for a page: if its main thread hangs, the session continues, and
// afterwards the page shows all frames.
func TestWireDoesNotWaitForThePage(t *testing.T) {
	const n = 50_000
	s := onTorrent(t)
	s.send(n, 20_000) // takes two and a half seconds
	back := s.page.Hang()
	patiently(t, "all frames are in the log", func() bool { return s.ask("", 0, 1).frames > n+n/100 })
	patiently(t, "the call has its result", func() bool { return s.ask(`"sent 50000 messages"`, 0, 1).total == 1 })
	back()
	s.result("sent 50000 messages")
	frames := s.ask("", 0, 1).frames
	s.page.Until(func() string { return fmt.Sprintf("the page has %d of %d rows", s.rowCount(), frames) }, func() bool { return s.rowCount() == frames })
	s.page.Until(func() string { return "the last row is in sight" }, func() bool {
		all := s.inSight()
		return all[len(all)-1].Index == frames
	})
}
