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

// torrentBinary is the server that has much to say.
var torrentBinary = sync.OnceValue(func() string {
	path := filepath.Join(binaries, "torrent")
	if err := inspector.Build(".", path, "./servers/torrent"); err != nil {
		panic(err)
	}
	return path
})

// onTorrent is a page on the torrent server, of the inspector as users build it.
func onTorrent(t testing.TB, flags ...string) *session {
	t.Helper()
	args := append([]string{"--no-open", "--listen", "127.0.0.1:0"}, flags...)
	return plain(t, append(args, "--", torrentBinary())...)
}

// plain is a page of the inspector as users build it, run with these arguments.
// The page notes its long tasks.
func plain(t testing.TB, args ...string) *session {
	t.Helper()
	p := inspector.StartWith(t, inspector.Options{Binary: plainBinary()}, args...)
	tab := browser.Blank(t)
	tab.BeforeLoad(watchTasks)
	tab.Goto(p.URL)
	return &session{t: t, Process: p, page: tab}
}

// send has the torrent server send so many messages, so many a second, and does
// not wait for them.
func (s *session) send(messages, rate int) {
	s.t.Helper()
	call := s.choose("Tools", "send")
	call.Field("Messages").Fill(strconv.Itoa(messages))
	call.Field("Rate").Fill(strconv.Itoa(rate))
	call.Button("Call").Click()
}

// huge has the torrent server send one line of so many bytes, as a message or a
// result, and does not wait for it.
func (s *session) huge(bytes int, as string) {
	s.t.Helper()
	call := s.choose("Tools", "huge")
	call.Field("Bytes").Fill(strconv.Itoa(bytes))
	call.Field("As").Choose(as)
	call.Button("Call").Click()
}

// patiently waits until a condition holds that may take much longer than the
// page takes for what a person does.
func patiently(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(3 * time.Minute); !holds(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("still not: %s", what)
		}
	}
}

// window is what the inspector says of its log when asked for rows.
type window struct {
	total, judged, frames int
	html                  string
}

// ask asks for a window of the log, as the page does.
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

// sifted asks until every frame of the log has been judged by a filter, and
// tells how many rows it picks and how long that took.
func (s *session) sifted(filter string) (matches int, took time.Duration) {
	s.t.Helper()
	for begun := time.Now(); ; {
		if w := s.ask(filter, 0, 50); w.judged == w.frames {
			return w.total, time.Since(begun)
		}
	}
}

// flow says what a transcript is made of. Of a hundred frames 96 are
// notifications, and there are a call with its result and a ping with its answer;
// of ten thousand, one ping is a question instead.
type flow struct {
	frames int
	pad    int           // bytes that each line is longer
	span   time.Duration // from the first frame to the last
}

// line is the frame at a place, counted from 1, as a transcript has it.
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

// write writes the transcript into a file of its own, which the test's end removes.
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
		_, _ = out.Write(b) // the error stays until Flush
	}
	if err := out.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	return path, size
}

// says is what the row of the frame at a place shows of it.
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

// opened is a page on transcripts, with all of them read.
func opened(t testing.TB, frames int, args ...string) *session {
	t.Helper()
	s := plain(t, append([]string{"open", "--no-open", "--listen", "127.0.0.1:0"}, args...)...)
	patiently(t, fmt.Sprintf("%d frames have been read", frames), func() bool { return s.ask("", 0, 1).frames == frames })
	return s
}

// seen is a row in sight: its aria-rowindex, and what its cells say.
type seen struct {
	Index int
	Seq   int
	Text  string
}

// inSight are the rows in sight in their order on the page, when all are there.
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

// rowsNow are the rows in sight; ok is false while some of them are on their way.
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

// rowCount is the number of rows that the grid says it has.
func (s *session) rowCount() int {
	s.t.Helper()
	return page.Call[int](s.page.Region("Wire log"), "function() { return Number(this.querySelector('[role=grid]').ariaRowCount) }")
}

// rowWith is the last row in sight that shows a text.
func (s *session) rowWith(part string) *page.Control {
	s.t.Helper()
	var found seen
	s.page.Until(func() string { return "there is a row with " + part }, func() bool {
		all, _ := s.rowsNow()
		for _, r := range slices.Backward(all) {
			if strings.Contains(r.Text, part) {
				found = r
				return true
			}
		}
		return false
	})
	return s.page.Region("Wire log").Role("row", "").All().Having("aria-rowindex", strconv.Itoa(found.Index))
}
