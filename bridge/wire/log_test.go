package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

func newTestLog(t testing.TB, o Options) *Log {
	t.Helper()
	if o.Dir == "" {
		o.Dir = t.TempDir()
	}
	l, err := NewLog(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

func message(dir Direction, format string, args ...any) Frame {
	return Frame{Server: "files", Session: "s1", Transport: "stdio", Dir: dir, Raw: fmt.Appendf(nil, format, args...)}
}

// frames holds frames of every kind and form.
func variety() []Frame {
	big := `{"jsonrpc":"2.0","id":"big","result":{"content":[{"type":"text","text":"` + strings.Repeat("0123456789abcdef", 40_000) + `"}]}}`
	frames := []Frame{
		message(ClientToServer, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"clientInfo":{"name":"c","version":"1"},"protocolVersion":"2025-11-25"}}`),
		message(ServerToClient, `{"jsonrpc":"2.0","id":1,"result":{"serverInfo":{"name":"s","version":"2"}}}`),
		message(ClientToServer, `{"jsonrpc":"2.0","method":"notifications/initialized"}`),
		message(ServerToClient, `  {"jsonrpc":"2.0","method":"a"} `),
		message(ServerToClient, "{\r\n \"jsonrpc\": \"2.0\",\n \"method\": \"b c\", \"params\": {\"x\": [1, 2]}\n}"),
		message(ServerToClient, `{"jsonrpc":"2.0","method":"<&>","params":{"n":9007199254740993,"e":1E+2,"s":"\u003c\/\u00e9é😀"}}`),
		message(ServerToClient, `Listening on "port" 3000	\n`),
		message(ServerToClient, "\xff\xfe broken \x00\x01"),
		message(ServerToClient, `[{"jsonrpc":"2.0","method":"batch"}]`),
		message(ServerToClient, `{"jsonrpc":"2.0","id":1.5,"method":"m"}`),
		message(ServerToClient, `42`),
		message(ServerToClient, ``),
		message(ServerToClient, "\n"),
		message(ServerToClient, "%s", strings.Repeat("\x01", 100_000)),
		message(Stderr, "\x1b[31mwarning\x1b[0m: something"),
		message(Stderr, `{"level":"info"}`),
		message(Meta, "process 17 started"),
		message(Meta, `{"command":["node","server.js"],"cwd":"/srv"}`),
		message(Meta, `"quoted"`),
		message(ServerToClient, "%s", big),
		message(ClientToServer, `{"jsonrpc":"2.0","id":"after","method":"ping"}`),
	}
	noise := message(ServerToClient, `{"jsonrpc":"2.0","method":"valid, but called noise"}`)
	noise.Kind = Noise
	note := message(ClientToServer, `not delivered: broken pipe`)
	note.Kind = NoteFrame
	noteJSON := message(ServerToClient, `{"jsonrpc":"2.0","method":"a note that looks like a message"}`)
	noteJSON.Kind = NoteFrame
	cut := message(ServerToClient, `{"jsonrpc":"2.0","id":9,"result":{"text":"日本`)
	cut.Truncated, cut.Size = true, 1_000_000
	web := message(ServerToClient, `{"jsonrpc":"2.0","id":5,"error":{"code":-32603,"message":"no"}}`)
	web.Transport, web.Stream, web.Status = "http", StreamPostSSE, 500
	web.HTTPMethod, web.URL = "POST", `https://example.com:8443/a%20b/mcp?"é"=1&x`
	web.Header = http.Header{"Content-Type": {"text/event-stream"}, "X-Odd": {"a \"b\"", "c"}, "Mcp-Method": {"tools/call"}, "Www-Authenticate": {"Bearer"}}
	answer := message(ClientToServer, `{"jsonrpc":"2.0","id":6,"result":{"action":"accept","content":{}}}`)
	answer.Server, answer.Session = "sør \"2\"", "s2"
	answer.Call, answer.Round, answer.Question, answer.Actor = 12, 2, 7, "person"
	lost := message(Meta, "POST of tools/call was answered with 503 Service Unavailable")
	lost.Transport, lost.Status, lost.Failed, lost.Answers = "http", 503, true, []byte(`"seven"`)
	return append(frames, noise, note, noteJSON, cut, web, answer, lost)
}

// same reports whether two frames have equal fields and bytes.
func same(a, b Frame) error {
	if !bytes.Equal(a.Raw, b.Raw) {
		return fmt.Errorf("bytes differ:\n%.200q\n%.200q", a.Raw, b.Raw)
	}
	if !a.Time.Equal(b.Time) {
		return fmt.Errorf("times differ: %v, %v", a.Time, b.Time)
	}
	if x, y := fmt.Sprintf("%q", show(a.Message)), fmt.Sprintf("%q", show(b.Message)); x != y {
		return fmt.Errorf("messages differ:\n%.200s\n%.200s", x, y)
	}
	for _, f := range []*Frame{&a, &b} {
		f.Raw, f.Time, f.Message, f.line = nil, time.Time{}, Message{}, 0
		if len(f.Header) == 0 {
			f.Header = nil
		}
	}
	if !reflect.DeepEqual(a, b) {
		return fmt.Errorf("frames differ:\n%+v\n%+v", a, b)
	}
	return nil
}

func TestLogGivesBackWhatWasAppended(t *testing.T) {
	l := newTestLog(t, Options{})
	var want []Frame
	for range 3 {
		for _, f := range variety() {
			got := l.Append(f)
			if got.Seq != int64(len(want))+1 {
				t.Fatalf("frame %d has Seq %d", len(want)+1, got.Seq)
			}
			got.Raw = f.Raw
			got.Message = Message{}
			if got.Kind.IsMessage() {
				got.Message, _ = ParseMessage(f.Raw)
				if got.Truncated {
					head := Frame{Dir: f.Dir, Raw: f.Raw, Truncated: true}
					head.Identify()
					got.Message = head.Message
				}
			}
			want = append(want, got)
		}
	}
	check := func() {
		t.Helper()
		for i, w := range want {
			// The response to a request is unknown when the request is appended.
			f, err := l.Frame(w.Seq)
			if err != nil {
				t.Fatal(err)
			}
			if w.Kind == Request {
				w.Pair = f.Pair
			}
			w.Time = w.Time.Round(0)
			if err := same(f, w); err != nil {
				t.Fatalf("frame %d: %v", i+1, err)
			}
		}
		for _, window := range []struct{ from, n int }{{1, len(want)}, {5, 10}, {len(want), 5}, {-3, 5}, {1, 1}} {
			fs, err := l.Frames(int64(window.from), window.n)
			if err != nil {
				t.Fatal(err)
			}
			first := max(window.from, 1)
			if n := min(window.from+window.n-1, len(want)) - first + 1; len(fs) != n {
				t.Fatalf("window %v has %d frames, want %d", window, len(fs), n)
			}
			for i, f := range fs {
				if w := want[first-1+i]; f.Seq != w.Seq || !bytes.Equal(f.Raw, w.Raw) || f.Kind != w.Kind {
					t.Fatalf("window %v: frame %d is not what it should be", window, i)
				}
			}
		}
	}
	check()
	if fs, err := l.Frames(l.Len()+1, 3); err != nil || len(fs) != 0 {
		t.Errorf("past the end: %d frames, %v", len(fs), err)
	}
	if fs, err := l.Frames(1, 0); err != nil || len(fs) != 0 {
		t.Errorf("an empty window: %d frames, %v", len(fs), err)
	}
	if _, err := l.Frame(0); err == nil {
		t.Error("there is a frame 0")
	}
	if _, err := l.Frame(l.Len() + 1); err == nil {
		t.Error("there is a frame past the end")
	}
}

func TestLogPairs(t *testing.T) {
	l := newTestLog(t, Options{})
	start := time.Date(2026, 7, 28, 10, 0, 0, 0, time.UTC)
	steps := []struct {
		dir       Direction
		session   string
		raw       string
		pair      int64
		latency   time.Duration
		duplicate bool
		orphan    bool
		method    string
	}{
		{dir: ClientToServer, raw: `{"jsonrpc":"2.0","id":0,"method":"tools/call"}`, method: "tools/call"},
		{dir: ServerToClient, raw: `{"jsonrpc":"2.0","id":0,"method":"elicitation/create"}`, method: "elicitation/create"},
		{dir: ClientToServer, raw: `{"jsonrpc":"2.0","id":0,"result":{"action":"decline"}}`, pair: 2, latency: time.Second, method: "elicitation/create"},
		{dir: ServerToClient, raw: `{"jsonrpc":"2.0","id":0,"result":{}}`, pair: 1, latency: 3 * time.Second, method: "tools/call"},
		{dir: ServerToClient, raw: `{"jsonrpc":"2.0","id":"0","result":{}}`, orphan: true},
		{dir: ServerToClient, raw: `{"jsonrpc":"2.0","id":0,"error":{}}`, pair: 1, latency: 5 * time.Second, duplicate: true, method: "tools/call"},
		{dir: ClientToServer, raw: `{"jsonrpc":"2.0","id":0,"method":"ping"}`, duplicate: true, method: "ping"},
		{dir: ServerToClient, raw: `{"jsonrpc":"2.0","id":0,"result":{}}`, pair: 7, latency: time.Second, method: "ping"},
		{dir: ClientToServer, session: "other", raw: `{"jsonrpc":"2.0","id":0,"method":"x"}`, method: "x"},
		{dir: ServerToClient, raw: `{"jsonrpc":"2.0","id":0,"result":{}}`, pair: 7, latency: 3 * time.Second, duplicate: true, method: "ping"},
		{dir: ServerToClient, session: "other", raw: `{"jsonrpc":"2.0","id":0,"result":{}}`, pair: 9, latency: 2 * time.Second, method: "x"},
		{dir: ClientToServer, raw: `{"jsonrpc":"2.0","id":"a\u0062","method":"y"}`, method: "y"},
		{dir: ServerToClient, raw: `{"jsonrpc":"2.0","id":"ab","result":{}}`, pair: 12, latency: time.Second, method: "y"},
		{dir: ClientToServer, raw: `{"jsonrpc":"2.0","id":1e3,"method":"z"}`, method: "z"},
		{dir: ServerToClient, raw: `{"jsonrpc":"2.0","id":1000,"result":{}}`, pair: 14, latency: time.Second, method: "z"},
		{dir: ServerToClient, raw: `{"jsonrpc":"2.0","error":{"code":-32700,"message":"?"}}`},
	}
	for i, s := range steps {
		f := Frame{Server: "x", Session: "s" + s.session, Dir: s.dir, Raw: []byte(s.raw), Time: start.Add(time.Duration(i) * time.Second)}
		got := l.Append(f)
		read, err := l.Frame(got.Seq)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range []Frame{got, read} {
			if f.Pair != s.pair || f.Latency != s.latency || f.Duplicate != s.duplicate || f.Orphan != s.orphan || f.Method != s.method {
				t.Errorf("frame %d: pair %d latency %v duplicate %v orphan %v method %q, want %+v", i+1, f.Pair, f.Latency, f.Duplicate, f.Orphan, f.Method, s)
			}
		}
	}
	for request, response := range map[int64]int64{1: 4, 2: 3, 7: 8, 9: 11, 12: 13, 14: 15} {
		if f, _ := l.Frame(request); f.Pair != response {
			t.Errorf("request %d pairs with %d, want %d", request, f.Pair, response)
		}
	}
	if f, _ := l.Frame(3); f.Action() != "decline" {
		t.Errorf("the answer's action is %q", f.Action())
	}
}

// If several requests have the same id, a response belongs to the only request that it
// fits.
func TestLogPairsWhatSharesAnID(t *testing.T) {
	const request, response = `{"jsonrpc":"2.0","id":1,"method":"elicitation/create"}`, `{"jsonrpc":"2.0","id":1,"result":{"action":"accept"}}`
	for name, tt := range map[string]struct {
		questions []int   // sequence numbers of the requests
		answers   []int   // sequence numbers of the responses
		want      []int64 // the request of each response
		duplicate int     // number of surplus responses
	}{
		"by the question":                    {[]int{1, 2}, []int{1}, []int64{1}, 0},
		"by the questions":                   {[]int{1, 2, 3}, []int{2, 1, 3}, []int64{2, 1, 3}, 0},
		"the latest without a response":      {[]int{0, 0, 0}, []int{0, 0, 0}, []int64{3, 2, 1}, 0},
		"the latest, where all have one":     {[]int{0, 0}, []int{0, 0, 0}, []int64{2, 1, 2}, 1},
		"a question that nobody asked so":    {[]int{1, 2}, []int{9}, []int64{2}, 0},
		"a second response to one, named so": {[]int{1, 2}, []int{1, 1}, []int64{1, 1}, 1},
	} {
		l := newTestLog(t, Options{})
		for _, q := range tt.questions {
			l.Append(Frame{Dir: ServerToClient, Question: q, Raw: []byte(request)})
		}
		var got []int64
		duplicates := 0
		for _, q := range tt.answers {
			f := l.Append(Frame{Dir: ClientToServer, Question: q, Raw: []byte(response)})
			got = append(got, f.Pair)
			if f.Duplicate {
				duplicates++
			}
		}
		if !slices.Equal(got, tt.want) || duplicates != tt.duplicate {
			t.Errorf("%s: the responses are for %v, %d of them duplicate; want %v, %d", name, got, duplicates, tt.want, tt.duplicate)
		}
	}
}

func TestLogCutsLargeFrames(t *testing.T) {
	l := newTestLog(t, Options{MaxFrame: 64})
	raw := `{"method":"notifications/x","params":{"t":"` + strings.Repeat("é", 40) + `"},"jsonrpc":"2.0"}`
	got := l.Append(message(ServerToClient, "%s", raw))
	read, err := l.Frame(1)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range []Frame{got, read} {
		if !f.Truncated || f.Size != int64(len(raw)) || string(f.Raw) != raw[:63] {
			t.Errorf("truncated %v, size %d, %q", f.Truncated, f.Size, f.Raw)
		}
		if f.Kind != Notification || f.Method != "notifications/x" || f.Message.Params != nil {
			t.Errorf("kind %v, %q", f.Kind, show(f.Message))
		}
	}
	// A large frame is paired like a small one.
	l.Append(message(ClientToServer, `{"jsonrpc":"2.0","id":3,"method":"m"}`))
	if f := l.Append(message(ServerToClient, `{"result":"%s","id":3,"jsonrpc":"2.0"}`, strings.Repeat("x", 100))); f.Pair != 2 || f.Kind != Result {
		t.Errorf("a cut result pairs with %d", f.Pair)
	}
}

func TestLogRefusesSenselessOptions(t *testing.T) {
	for _, o := range []Options{{MaxFrame: -1}, {MaxFrame: 1<<30 + 1}, {Memory: -1}} {
		if l, err := NewLog(o); err == nil {
			l.Close()
			t.Errorf("%+v was taken", o)
		}
	}
}

func TestGrown(t *testing.T) {
	l := newTestLog(t, Options{})
	a, b := l.Grown(), l.Grown()
	select {
	case <-a:
		t.Fatal("grown before anything was appended")
	default:
	}
	l.Append(message(Stderr, "x"))
	<-a
	<-b
	select {
	case <-l.Grown():
		t.Fatal("the next channel is closed already")
	default:
	}
}

func TestLogLeavesNoFile(t *testing.T) {
	dir := t.TempDir()
	l := newTestLog(t, Options{Dir: dir})
	for range 3000 {
		l.Append(message(Stderr, "%s", strings.Repeat("x", 100)))
	}
	waitWritten(t, l)
	if runtime.GOOS != "windows" {
		if files, _ := os.ReadDir(dir); len(files) != 0 {
			t.Errorf("the file has a name: %v", files)
		}
	}
	if where := l.Stats().Where; !strings.Contains(where, dir) {
		t.Errorf("it is said to be in %q", where)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if files, _ := os.ReadDir(dir); len(files) != 0 {
		t.Errorf("Close leaves %v", files)
	}
	// Frames that come after Close do no harm.
	if f := l.Append(message(Stderr, "late")); f.Seq != 3001 {
		t.Errorf("a frame after Close has Seq %d", f.Seq)
	}
	if _, err := l.Frame(3001); err == nil {
		t.Error("a frame after Close can be read")
	}
}

// waitWritten waits until a frame is on the disk, or the disk has failed.
func waitWritten(t *testing.T, l *Log) {
	t.Helper()
	s := l.spool
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.err == nil && len(s.blocks) > 0 && s.blocks[0].sealed {
		s.changed.Wait()
	}
}

func TestLogGoesOnWithoutADisk(t *testing.T) {
	l := newTestLog(t, Options{Dir: filepath.Join(t.TempDir(), "gone"), Memory: 1 << 20})
	line := strings.Repeat("x", 1000)
	const n = 5000
	for i := range n {
		l.Append(message(Stderr, "%d %s", i, line))
		if i == 100 {
			waitWritten(t, l)
		}
	}
	waitWritten(t, l)
	if err := l.Err(); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("the failure is reported as %v", err)
	}
	st := l.Stats()
	if st.Frames != n || st.Lost == 0 || st.Lost >= n || !strings.Contains(st.Where, "memory") || st.Memory > 3<<20 {
		t.Errorf("stats: %+v", st)
	}
	first, err := l.Frame(1)
	if err != nil || !first.Lost || first.Raw != nil || first.Kind != StderrLine || first.Server != "files" {
		t.Errorf("the oldest frame: %+v, %v", first, err)
	}
	fs, err := l.Frames(1, n)
	if err != nil || len(fs) != n {
		t.Fatalf("%d frames, %v", len(fs), err)
	}
	var lost int64
	for i, f := range fs {
		if f.Lost {
			lost++
		} else if want := fmt.Sprintf("%d %s", i, line); string(f.Raw) != want {
			t.Fatalf("frame %d is %.20q", i+1, f.Raw)
		}
	}
	if lost != st.Lost || fs[n-1].Lost {
		t.Errorf("%d frames lost, said to be %d", lost, st.Lost)
	}
	// A frame that is too large for the remaining memory leaves the others in memory.
	big := message(ServerToClient, `{"jsonrpc":"2.0","id":1,"result":"%s"}`, strings.Repeat("y", 2<<20))
	l.Append(big)
	if f, err := l.Frame(n + 1); err != nil || !f.Lost || f.Kind != Result {
		t.Errorf("the large frame: %+v, %v", f, err)
	}
	if f, err := l.Frame(n); err != nil || f.Lost {
		t.Errorf("the frame before it is lost, %v", err)
	}
	mid := message(ServerToClient, `{"jsonrpc":"2.0","id":1,"result":"%s"}`, strings.Repeat("y", 400<<10))
	l.Append(mid)
	if f, err := l.Frame(n + 2); err != nil || !bytes.Equal(f.Raw, mid.Raw) {
		t.Errorf("a large frame that fits: lost %v, %v", f.Lost, err)
	}
}

// With a bound on its file, a log keeps the latest frames whole, and says of the others that they
// are gone.
func TestEldestFramesGiveWay(t *testing.T) {
	const bound = 300_000 // no multiple of a block, so that lines stand across the turn
	l := newTestLog(t, Options{Disk: bound})
	text := func(i int64) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","method":"m%d","params":%q}`, i, strings.Repeat(string(rune('a'+i%26)), int(i*7919%20_000)))
	}
	check := func(seq int64) (lost bool) {
		f, err := l.Frame(seq)
		if err != nil || !f.Lost && string(f.Raw) != text(seq) {
			t.Errorf("frame %d: %v, %.100q", seq, err, f.Raw)
		}
		return f.Lost
	}
	const last = 400
	var reading sync.WaitGroup
	reading.Go(func() {
		for l.Len() < last {
			for seq := range l.Len() {
				check(seq + 1)
			}
		}
	})
	for i := range int64(last) {
		l.Append(message(ServerToClient, "%s", text(i+1)))
	}
	reading.Wait()
	add := func(text string) { // and waits until all is written
		l.Append(message(ServerToClient, "%s", text))
		for l.Stats().Memory > (last/chunkLen+1)*chunkLen*recordSize {
			runtime.Gosched()
		}
	}
	latest := strings.Repeat("y", blockSize)
	add(latest)
	lost := int64(0)
	for seq := range int64(last) {
		if check(seq + 1) {
			lost++
		}
	}
	if st := l.Stats(); lost < last/2 || lost > last-5 || st.Lost != lost || st.Bytes > bound {
		t.Errorf("%d frames are lost, and %d bytes on disk: %+v", lost, st.Bytes, st)
	}
	add(strings.Repeat("x", bound+1)) // more than there is room for
	add(latest)
	if f, err := l.Frame(last + 2); err != nil || !f.Lost {
		t.Errorf("the frame that is larger than the file is not lost: %v", err)
	}
	if f, err := l.Frame(last + 3); err != nil || string(f.Raw) != latest {
		t.Errorf("the frame after it: %v", err)
	}
	if info, err := l.spool.file.Stat(); err != nil || info.Size() > bound {
		t.Errorf("the file: %v, %d bytes", err, info.Size())
	}
}

func TestLogWhenTheDiskFillsUp(t *testing.T) {
	dir := t.TempDir()
	l := newTestLog(t, Options{Dir: dir, Memory: 1 << 20})
	for i := range 2000 {
		l.Append(message(Stderr, "%d %s", i, strings.Repeat("x", 100)))
	}
	waitWritten(t, l)
	if l.Err() != nil || l.Stats().Bytes == 0 {
		t.Fatalf("nothing was written: %v", l.Err())
	}
	grown := l.Grown()
	// From here on the file refuses writes, but can be read.
	l.spool.mu.Lock()
	file := l.spool.file
	readOnly, err := os.Open(fmt.Sprintf("/proc/self/fd/%d", file.Fd()))
	if err != nil {
		l.spool.mu.Unlock()
		t.Skip("no way to make the file read-only here")
	}
	l.spool.file = readOnly
	l.spool.mu.Unlock()
	defer file.Close()
	for i := 2000; i < 4000; i++ {
		l.Append(message(Stderr, "%d %s", i, strings.Repeat("x", 100)))
	}
	<-grown
	waitWritten(t, l)
	if l.Err() == nil {
		t.Fatal("no failure is reported")
	}
	fs, err := l.Frames(1, 4000)
	if err != nil || len(fs) != 4000 {
		t.Fatal(len(fs), err)
	}
	for i, f := range fs {
		if !strings.HasPrefix(string(f.Raw), fmt.Sprintf("%d x", i)) {
			t.Fatalf("frame %d is %.20q, lost %v", i+1, f.Raw, f.Lost)
		}
	}
}

func TestLogIsSafeForConcurrentUse(t *testing.T) {
	l := newTestLog(t, Options{})
	const writers, each = 4, 2000
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := range each {
				f := message(ClientToServer, `{"jsonrpc":"2.0","id":%d,"method":"m%d","params":{"i":%d}}`, i, w, i)
				f.Session = fmt.Sprint("w", w)
				if i%500 == 0 {
					f.Raw = fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":"m%d","params":{"i":%d,"big":"%s"}}`, i, w, i, strings.Repeat("z", largeLine))
				}
				got := l.Append(f)
				clear(f.Raw)
				answer := message(ServerToClient, `{"jsonrpc":"2.0","id":%d,"result":{}}`, i)
				answer.Session = f.Session
				if a := l.Append(answer); a.Pair != got.Seq || a.Method != fmt.Sprint("m", w) {
					t.Errorf("answer %d of %s pairs with %d, %q", i, f.Session, a.Pair, a.Method)
				}
			}
		})
	}
	stop := make(chan struct{})
	var readers sync.WaitGroup
	for range 2 {
		readers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				from := rand.Int64N(l.Len() + 1)
				fs, err := l.Frames(from, 50)
				if err != nil {
					t.Error(err)
				}
				for _, f := range fs {
					if !json.Valid(f.Raw) {
						t.Errorf("frame %d: %.80q", f.Seq, f.Raw)
					}
				}
				if _, err := l.Rows([]int64{from, from + 1, 1}); err != nil {
					t.Error(err)
				}
				l.Stats()
			}
		})
	}
	wg.Wait()
	close(stop)
	readers.Wait()
	if l.Len() != writers*each*2 {
		t.Errorf("%d frames", l.Len())
	}
	next := map[string]int64{}
	fs, err := l.Frames(1, int(l.Len()))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range fs {
		if f.Dir != ClientToServer {
			continue
		}
		var params struct{ I int64 }
		if err := json.Unmarshal(f.Message.Params, &params); err != nil || params.I != next[f.Session] {
			t.Fatalf("frame %d of %s is %d, want %d: %v", f.Seq, f.Session, params.I, next[f.Session], err)
		}
		next[f.Session]++
	}
}

func TestRows(t *testing.T) {
	l := newTestLog(t, Options{})
	l.Append(message(ClientToServer, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add","arguments":{"a":1}}}`))
	l.Append(message(ServerToClient, `{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{"message":"Who?"}}`))
	l.Append(message(ClientToServer, `{"jsonrpc":"2.0","id":"q","result":{"action":"accept","content":{"name":"Ann"}}}`))
	l.Append(message(ServerToClient, `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"%s"}]}}`, strings.Repeat("long ", 100_000)))
	rows, err := l.Rows([]int64{4, 99, 1, 3, 0, 2})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range rows {
		if r.Raw != nil || r.Message.Params != nil || r.Message.Result != nil {
			t.Errorf("row %d carries a body", r.Seq)
		}
		got = append(got, fmt.Sprintf("%d %v %s %s %s|%.14s|%s|%d", r.Seq, r.Kind, r.Message.ID, r.Method, r.Message.Method, r.Summary, r.Action, r.Pair))
	}
	want := []string{
		`4 result 1 tools/call |long long long||1`,
		`1 request 1 tools/call tools/call|add {"a":1}||4`,
		`3 result "q" elicitation/create |accept name: A|accept|2`,
		`2 request "q" elicitation/create elicitation/create|? Who?||3`,
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// underRace is true in builds with the race detector, which change the use of memory and
// time.
var underRace bool

func TestLogMemory(t *testing.T) {
	if testing.Short() || underRace {
		t.Skip("a million frames take a few seconds, many with the race detector")
	}
	heap := func() int64 {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc + m.StackInuse)
	}
	before := heap()
	l := newTestLog(t, Options{})
	l.Append(message(Stderr, "x"))
	if idle := heap() - before; idle > 1<<20 {
		t.Errorf("an idle log takes %d KiB", idle>>10)
	}
	notification := []byte(smallNotification)
	for i := range 250_000 {
		l.Append(message(ClientToServer, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"add"}}`, i))
		l.Append(Frame{Server: "files", Session: "s1", Transport: "stdio", Dir: ServerToClient, Raw: notification})
		l.Append(Frame{Server: "files", Session: "s1", Transport: "stdio", Dir: ServerToClient, Raw: notification})
		l.Append(message(ServerToClient, `{"jsonrpc":"2.0","id":%d,"result":{"content":[]}}`, i))
	}
	full := heap() - before
	st := l.Stats()
	t.Logf("1,000,000 frames: %d MiB of heap, said to be %d MiB; %d MiB on disk", full>>20, st.Memory>>20, st.Bytes>>20)
	if full > 100<<20 {
		t.Errorf("a million frames take %d MiB", full>>20)
	}
	if f, err := l.Frame(999_999); err != nil || !bytes.Equal(f.Raw, notification) {
		t.Errorf("frame 999,999: %v", err)
	}
	runtime.KeepAlive(l)
}

func BenchmarkAppend(b *testing.B) {
	for _, bb := range []struct {
		name string
		f    Frame
	}{
		{"notification", message(ServerToClient, "%s", smallNotification)},
		{"request", message(ClientToServer, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add","arguments":{"a":1,"b":2}}}`)},
		{"stderr", message(Stderr, "INFO listening on port 3000, nothing else to be said")},
		{"1MiB", message(ServerToClient, `{"jsonrpc":"2.0","id":1,"result":"%s"}`, strings.Repeat("x", 1<<20))},
	} {
		b.Run(bb.name, func(b *testing.B) {
			b.SetBytes(int64(len(bb.f.Raw)))
			b.ReportAllocs()
			appendMany(b, bb.f, nil)
		})
	}
}

// appendMany appends a frame many times, with a recorder if one can be opened. It starts
// with a new log when the disk would have to hold too much.
func appendMany(b *testing.B, f Frame, open func(path string) (*Recorder, error)) {
	const most = 256 << 20
	dir := b.TempDir()
	var l *Log
	var r *Recorder
	end := func() {
		if l == nil {
			return
		}
		if err := l.Close(); err != nil {
			b.Fatal(err)
		}
		if r != nil {
			if err := errors.Join(r.Close(), os.Remove(r.Name())); err != nil {
				b.Fatal(err)
			}
		}
	}
	for written := most; b.Loop(); written += len(f.Raw) {
		if written >= most {
			b.StopTimer()
			end()
			var err error
			if l, err = NewLog(Options{Dir: dir}); err != nil {
				b.Fatal(err)
			}
			if open != nil {
				if r, err = open(filepath.Join(dir, "flow.jsonl")); err != nil {
					b.Fatal(err)
				}
				l.Record(r)
			}
			written = 0
			b.StartTimer()
		}
		l.Append(f)
	}
	end()
}

func BenchmarkFrames(b *testing.B) {
	l := newTestLog(b, Options{})
	for range 100_000 {
		l.Append(message(ServerToClient, "%s", smallNotification))
	}
	b.Run("window of 60 rows", func(b *testing.B) {
		for b.Loop() {
			seqs := make([]int64, 60)
			from := rand.Int64N(l.Len() - 60)
			for i := range seqs {
				seqs[i] = from + int64(i) + 1
			}
			if _, err := l.Rows(seqs); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// A frame that is larger than all memory for waiting frames, and has to be copied, is
// written before the next one, whose Append waits for it.
func TestLargeFramesThatAreCopied(t *testing.T) {
	l := newTestLog(t, Options{})
	noise := bytes.Repeat([]byte("noise "), maxWaiting/6+100)
	truncated := Frame{Dir: ServerToClient, Truncated: true, Size: 1 << 30, Raw: bytes.Repeat([]byte(`{"a":`), maxWaiting/5+100)}
	for range 2 {
		l.Append(Frame{Dir: ServerToClient, Raw: noise})
		l.Append(Frame{Dir: Stderr, Raw: noise})
		l.Append(truncated)
		l.Append(message(ServerToClient, `{"jsonrpc":"2.0","id":1,"result":{}}`))
	}
	if l.Len() != 8 {
		t.Fatalf("%d frames", l.Len())
	}
	for seq := int64(1); seq <= 8; seq++ {
		f, err := l.Frame(seq)
		if err != nil {
			t.Fatal(err)
		}
		want := [][]byte{[]byte(`{"jsonrpc":"2.0","id":1,"result":{}}`), noise, noise, truncated.Raw}[seq%4]
		if !bytes.Equal(f.Raw, want) {
			t.Errorf("frame %d has %d bytes, want %d", seq, len(f.Raw), len(want))
		}
	}
}

// A large frame of control characters takes little memory: escaped it would be six times as long.
func TestLargeFramesOfControlCharacters(t *testing.T) {
	l := newTestLog(t, Options{})
	raw := make([]byte, 8<<20)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	l.Append(Frame{Dir: ServerToClient, Raw: raw})
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > 4*uint64(len(raw)) {
		t.Errorf("%d MB for one of %d", took>>20, len(raw)>>20)
	}
	if f, err := l.Frame(1); err != nil || !bytes.Equal(f.Raw, raw) {
		t.Errorf("it has %d bytes, %v", len(f.Raw), err)
	}
}

// What a server sends waits for a slow disk, and what our side sends and notes does not.
func TestOwnFramesDoNotWait(t *testing.T) {
	l := newTestLog(t, Options{})
	slow := func(by int64) {
		l.mu.Lock()
		l.spool.waiting += by
		l.spool.changed.Broadcast()
		l.mu.Unlock()
	}
	slow(maxWaiting + 1)
	flood := make(chan struct{})
	go func() {
		defer close(flood)
		l.Append(message(ServerToClient, `{"jsonrpc":"2.0","id":1,"result":{}}`))
	}()
	l.Append(message(ClientToServer, `{"jsonrpc":"2.0","id":1,"method":"ping"}`))
	l.Append(Frame{Dir: Meta, Note: &Note{Kind: NoteEnded}})
	l.Append(Frame{Dir: ClientToServer, Raw: bytes.Repeat([]byte("x"), largeLine)})
	if l.Len() != 3 {
		t.Errorf("%d frames", l.Len())
	}
	slow(-maxWaiting - 1)
	<-flood
	if l.Len() != 4 {
		t.Errorf("%d frames at the end", l.Len())
	}
}
