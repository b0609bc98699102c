package e2e

import (
	"bufio"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"elicitation-inspector/e2e/internal/inspector"
	"elicitation-inspector/e2e/internal/page"
)

// torrentBinary is the server that sends many messages.
var torrentBinary = sync.OnceValue(func() string {
	path := filepath.Join(binaries, "torrent")
	if err := inspector.Build(".", path, "./servers/torrent"); err != nil {
		panic(err)
	}
	return path
})

// onTorrent opens a page of the plain inspector on the torrent server.
func onTorrent(t testing.TB, flags ...string) *session {
	t.Helper()
	args := append([]string{"--no-open", "--listen", "127.0.0.1:0"}, flags...)
	return plain(t, append(args, "--", torrentBinary())...)
}

// plain starts the plain inspector with these arguments, and opens its page. The page
// records its long tasks.
func plain(t testing.TB, args ...string) *session {
	t.Helper()
	p := inspector.StartWith(t, inspector.Options{}, args...)
	tab := browser.Blank(t)
	tab.BeforeLoad(watchTasks)
	tab.Goto(p.URL)
	return &session{t: t, Process: p, page: tab}
}

// send makes the torrent server send messages at a rate per second, and does not wait for
// them.
func (s *session) send(messages, rate int) {
	s.t.Helper()
	call := s.choose("Tools", "send")
	call.Field("Messages").Fill(strconv.Itoa(messages))
	call.Field("Rate").Fill(strconv.Itoa(rate))
	call.Button("Call").Click()
}

// huge makes the torrent server send one line of this size, as a message or a result, and
// does not wait for it.
func (s *session) huge(bytes int, as string) {
	s.t.Helper()
	call := s.choose("Tools", "huge")
	call.Field("Bytes").Fill(strconv.Itoa(bytes))
	call.Field("As").Choose(as)
	call.Button("Call").Click()
}

// patiently waits for conditions that may take much longer than the page's reaction to a
// person.
func patiently(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(3 * time.Minute); !holds(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("still not: %s", what)
		}
	}
}

// window is the inspector's response to a request for rows of the log.
type window struct {
	total, judged, frames int
	html                  string
}

// ask requests a window of the log, like the page.
func (s *session) ask(filter string, from, count int) window {
	s.t.Helper()
	query := url.Values{"from": {strconv.Itoa(from)}, "count": {strconv.Itoa(count)}}
	if filter != "" {
		query.Set("filter", filter)
	}
	res, err := s.Client().Get(s.Base + "/wire/rows?" + query.Encode())
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	var html strings.Builder
	if _, err := bufio.NewReader(res.Body).WriteTo(&html); err != nil || res.StatusCode != 200 {
		s.t.Fatalf("rows %s: %s %v %s", query, res.Status, err, html.String())
	}
	number := func(name string) int {
		n, err := strconv.Atoi(res.Header.Get(name))
		if err != nil {
			s.t.Fatalf("rows %s: %s is %q", query, name, res.Header.Get(name))
		}
		return n
	}
	return window{total: number("X-Total"), judged: number("X-Judged"), frames: number("X-Frames"), html: html.String()}
}

// sifted polls until a filter has been applied to every frame of the log, and returns the
// number of matches and the time it took.
func (s *session) sifted(filter string) (matches int, took time.Duration) {
	s.t.Helper()
	for begun := time.Now(); ; {
		if w := s.ask(filter, 0, 50); w.judged == w.frames {
			return w.total, time.Since(begun)
		}
	}
}

// flow describes a transcript. Of a hundred frames 96 are notifications, the others a
// call with its result and a ping with its response; of ten thousand frames, one ping is
// a question instead.
type flow struct {
	frames int
	pad    int           // additional bytes of each line
	span   time.Duration // from the first frame to the last
}

// line appends the line of a frame at a place, counted from 1.
func (f flow) line(b []byte, i int, pad string) []byte {
	at := time.Date(2026, 7, 28, 10, 0, 0, 0, time.UTC).Add(f.span / time.Duration(f.frames) * time.Duration(i))
	head := func(dir string) {
		b = append(b, `{"v":1,"session_id":"flow-1","server_label":"flow","seq":`...)
		b = strconv.AppendInt(b, int64(i), 10)
		b = append(b, `,"ts":"`...)
		b = at.AppendFormat(b, time.RFC3339Nano)
		b = append(b, `","direction":"`...)
		b = append(b, dir...)
		b = append(b, `","transport":"stdio",`...)
	}
	call := (i-1)/100 + 1
	question := i%10_000 == 50 || i%10_000 == 51
	switch i % 100 {
	case 1:
		head("c2s")
		b = fmt.Appendf(b, `"call":%d,"raw":{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"load","arguments":{"step":%d}}}}`, call, call, i)
	case 50:
		head("s2c")
		if question {
			b = fmt.Appendf(b, `"call":%d,"elicitation":%d,"raw":{"jsonrpc":"2.0","id":%d,"method":"elicitation/create","params":{"message":"Go on after step %d?","requestedSchema":{"type":"object","properties":{"name":{"type":"string"}}}}}}`, call, i/10_000+1, call, i)
		} else {
			b = fmt.Appendf(b, `"raw":{"jsonrpc":"2.0","id":%d,"method":"ping"}}`, call)
		}
	case 51:
		head("c2s")
		if question {
			b = fmt.Appendf(b, `"call":%d,"elicitation":%d,"actor":"person","raw":{"jsonrpc":"2.0","id":%d,"result":{"action":"accept","content":{"name":"step %d"}}}}`, call, i/10_000+1, call, i)
		} else {
			b = fmt.Appendf(b, `"raw":{"jsonrpc":"2.0","id":%d,"result":{}}}`, call)
		}
	case 0:
		head("s2c")
		b = fmt.Appendf(b, `"call":%d,"raw":{"jsonrpc":"2.0","id":%d,"result":{"content":[{"type":"text","text":"loaded step %d"}]}}}`, call, call, i)
	default:
		head("s2c")
		b = append(b, `"raw":{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","logger":"flow","data":"step `...)
		b = strconv.AppendInt(b, int64(i), 10)
		b = append(b, ` of `...)
		b = strconv.AppendInt(b, int64(f.frames), 10)
		b = append(b, pad...)
		b = append(b, `"}}}`...)
	}
	return append(b, '\n')
}

// write writes the transcript into a temporary file.
func (f flow) write(t testing.TB) (path string, size int64) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "flow.jsonl")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	out := bufio.NewWriterSize(file, 1<<20)
	pad := strings.Repeat(" lorem ipsum", f.pad/12+1)[:f.pad]
	var b []byte
	for i := 1; i <= f.frames; i++ {
		b = f.line(b[:0], i, pad)
		size += int64(len(b))
		_, _ = out.Write(b) // Flush returns the error
	}
	if err := out.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	return path, size
}

// says returns the text of the row of a frame.
func (f flow) says(i int) string {
	switch i % 100 {
	case 1:
		return "tools/call"
	case 50:
		if i%10_000 == 50 {
			return fmt.Sprintf("Go on after step %d?", i)
		}
		return "ping"
	case 51:
		if i%10_000 == 51 {
			return "accept"
		}
		return "ping"
	case 0:
		return fmt.Sprintf("loaded step %d", i)
	}
	return fmt.Sprintf("step %d of %d", i, f.frames)
}

// opened opens transcripts, and waits until all of their frames are read.
func opened(t testing.TB, frames int, args ...string) *session {
	t.Helper()
	s := plain(t, append([]string{"open", "--no-open", "--listen", "127.0.0.1:0"}, args...)...)
	patiently(t, fmt.Sprintf("%d frames have been read", frames), func() bool { return s.ask("", 0, 1).frames == frames })
	return s
}

// seen is a row in sight: its aria-rowindex, and its text.
type seen struct {
	Index int
	Seq   int
	Text  string
}

// inSight waits until all rows in sight are drawn, and returns them in their order on the
// page.
func (s *session) inSight() []seen {
	s.t.Helper()
	var all []seen
	s.page.Until(func() string { return fmt.Sprintf("all rows in sight are there: %v", all) }, func() bool {
		got, ok := s.rowsNow()
		all = got
		return ok
	})
	return all
}

// rowsNow returns the rows in sight; ok is false while some of them are being fetched.
func (s *session) rowsNow() (all []seen, ok bool) {
	s.t.Helper()
	got := page.Call[struct {
		Rows []seen
		Busy bool
	}](s.page.Region("Wire log"), `function() {
		const rows = [...this.querySelectorAll('[role=grid] [role=row][aria-rowindex]')].filter(r => !r.querySelector('[role=columnheader]'));
		return {
			Busy: rows.some(r => r.ariaBusy === 'true' || !r.querySelector('[role=gridcell]')),
			Rows: rows.map(r => ({Index: Number(r.ariaRowIndex), Seq: Number(r.querySelector('[role=gridcell]')?.textContent ?? 0), Text: r.textContent.replace(/\s+/g, ' ').trim(), y: r.getBoundingClientRect().top}))
				.sort((a, b) => a.y - b.y),
		};
	}`)
	return got.Rows, !got.Busy && len(got.Rows) > 0
}

// rowCount returns the grid's number of rows.
func (s *session) rowCount() int {
	s.t.Helper()
	return page.Call[int](s.page.Region("Wire log"), "function() { return Number(this.querySelector('[role=grid]').ariaRowCount) }")
}

// rowWith returns the last row in sight with a text.
func (s *session) rowWith(part string) *page.Control {
	s.t.Helper()
	return s.rowAfter(new(int), part)
}

// rowAfter returns the last row in sight that has a text and stands below the row at *index. It
// sets *index to the place of the row that it returns.
func (s *session) rowAfter(index *int, part string) *page.Control {
	s.t.Helper()
	var found seen
	s.page.Until(func() string { return "there is a row with " + part }, func() bool {
		all, _ := s.rowsNow()
		for _, r := range slices.Backward(all) {
			if r.Index > *index && strings.Contains(r.Text, part) {
				found = r
				return true
			}
		}
		return false
	})
	*index = found.Index
	return s.page.Region("Wire log").Role("row", "").All().Having("aria-rowindex", strconv.Itoa(found.Index))
}
