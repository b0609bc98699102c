package wire

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// transcript appends the frames to a log, and returns the frames as the log has them and
// the log's transcript.
func transcript(t *testing.T, frames []Frame) ([]Frame, []byte) {
	t.Helper()
	l := newTestLog(t, Options{})
	for _, f := range frames {
		l.Append(f)
	}
	kept, err := l.Frames(1, len(frames))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := WriteFrames(&out, l, nil, nil); err != nil {
		t.Fatal(err)
	}
	return kept, out.Bytes()
}

// readAll returns the frames of a transcript's lines, without the fields that only a log
// sets.
func readAll(t *testing.T, r io.Reader) (frames []Frame, damage []error) {
	t.Helper()
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	in := newLineReader(io.NewSectionReader(bytes.NewReader(text), 0, int64(len(text))), maxLine)
	var p parser
	for {
		line, err := in.next()
		if err == io.EOF {
			return frames, damage
		}
		line.data = bytes.Clone(line.data) // the frame keeps the bytes
		if err := p.parseText(line); err != nil {
			damage = append(damage, err)
		} else if !p.blank {
			f := p.frame
			f.Seq, f.Header = int64(len(frames)+1), p.header()
			frames = append(frames, f)
		}
	}
}

// alone clears the fields that only a log sets.
func alone(f Frame) Frame {
	f.Pair, f.Latency, f.Duplicate, f.Orphan = 0, 0, false, false
	f.Method, f.AsksInput, f.Failed = f.Message.Method, false, f.Failed && f.Kind == NoteFrame
	return f
}

func TestTranscriptRoundTrip(t *testing.T) {
	kept, text := transcript(t, variety())
	got, damage := readAll(t, bytes.NewReader(text))
	if len(damage) != 0 {
		t.Fatal(damage)
	}
	if len(got) != len(kept) {
		t.Fatalf("%d frames, want %d", len(got), len(kept))
	}
	for i := range got {
		if err := same(got[i], alone(kept[i])); err != nil {
			t.Errorf("frame %d: %v", i+1, err)
		}
	}
	// Appending the frames that were read makes an equal log.
	again := make([]Frame, len(got))
	copy(again, got)
	for i := range again {
		again[i].Seq = 0
	}
	kept2, text2 := transcript(t, again)
	for i := range kept {
		if err := same(kept2[i], kept[i]); err != nil {
			t.Errorf("appended again, frame %d: %v", i+1, err)
		}
	}
	if !bytes.Equal(text, text2) {
		t.Error("the transcript of a transcript differs from it")
	}
}

func TestTranscriptIsJSONLines(t *testing.T) {
	kept, text := transcript(t, variety())
	lines := strings.SplitAfter(string(text), "\n")
	if lines[len(lines)-1] != "" || len(lines)-1 != len(kept) {
		t.Fatalf("%d lines for %d frames", len(lines)-1, len(kept))
	}
	sessions := map[string]uint64{}
	for i, line := range lines[:len(lines)-1] {
		// The fields as mcpsnoop declares them.
		var env struct {
			SessionID   string          `json:"session_id"`
			ServerLabel string          `json:"server_label"`
			Seq         uint64          `json:"seq"`
			TS          time.Time       `json:"ts"`
			Direction   string          `json:"direction"`
			Transport   string          `json:"transport"`
			Raw         json.RawMessage `json:"raw"`
			Text        string          `json:"text"`
			Truncated   bool            `json:"truncated"`
			Redacted    bool            `json:"redacted"`
			Status      int             `json:"status"`
			MCPMethod   string          `json:"mcp_method"`
		}
		if err := json.Unmarshal([]byte(line), &env); err != nil {
			t.Fatalf("line %d: %v\n%s", i+1, err, line)
		}
		f := kept[i]
		sessions[env.SessionID]++
		if env.SessionID != f.Session || env.ServerLabel != f.Server || env.Seq != sessions[env.SessionID] ||
			!env.TS.Equal(f.Time) || env.Direction != f.Dir.String() || env.Transport != f.Transport ||
			env.Truncated != f.Truncated || env.Status != f.Status || env.MCPMethod != f.Header.Get("Mcp-Method") {
			t.Errorf("line %d says %+v of %+v", i+1, env, f)
		}
		if f.Kind.IsMessage() && !f.Truncated && !jsonEqual(env.Raw, f.Raw) {
			t.Errorf("line %d: raw is %.80s", i+1, env.Raw)
		}
	}
	if strings.Contains(string(text), `\u003c`) != strings.Contains(string(variety()[5].Raw), `\u003c`) ||
		!strings.Contains(string(text), `"raw":`+string(variety()[5].Raw)+"}\n") {
		t.Error("a message does not stand in its line as it is")
	}
}

func jsonEqual(a, b []byte) bool {
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
}

func TestReadingReportsDamage(t *testing.T) {
	good := `{"session_id":"s","server_label":"l","seq":1,"ts":"2026-07-28T10:00:00Z","direction":"s2c","transport":"stdio","raw":{"jsonrpc":"2.0","method":"m"}}`
	text := strings.Join([]string{
		good,
		`{"session_id":"s","server_la`,
		"",
		`[1]`,
		`{"direction":"sideways"}`,
		`{"raw":{"jsonrpc":"2.0","method":"m"}}`,
		`{"direction":"c2s","seq":"one","raw":1}`,
		`{"direction":"c2s","ts":"yesterday"}`,
		`{"direction":"c2s","bytes":"*"}`,
		`{"direction":"c2s","headers":{"a":"b"},"text":""}`,
		`{"direction":"c2s"} {}`,
		"  " + good + "\t\r",
		`{"direction":"s2c","future":{"a":[1]},"raw":{"jsonrpc":"2.0","method":"n"},"v":9}`,
		`{"direction":"s2c","raw":{"jsonrp`,
	}, "\n")
	frames, damage := readAll(t, strings.NewReader(text))
	if len(frames) != 3 || frames[0].Method != "m" || frames[1].Method != "m" || frames[2].Method != "n" || frames[2].Seq != 3 {
		t.Errorf("%d frames: %+v", len(frames), frames)
	}
	var got []string
	for _, err := range damage {
		var line *LineError
		if !errors.As(err, &line) {
			t.Fatal(err)
		}
		if line.Incomplete != (line.Line == 14) {
			t.Errorf("line %d incomplete: %v", line.Line, line.Incomplete)
		}
		got = append(got, err.Error())
	}
	want := []string{
		"line 2: column 29: the text ends inside a string",
		"line 4: not a JSON object",
		`line 5: "direction" cannot be "sideways"`,
		`line 6: "direction" is missing`,
		`line 7: "seq" cannot be "one"`,
		`line 8: "ts" cannot be "yesterday"`,
		`line 9: "bytes" is not base64: illegal base64 data at input byte 0`,
		`line 10: "headers" cannot be {"a":"b"}`,
		"line 11: column 21: expected nothing after the value, found '{'",
		"line 14: the last line is incomplete",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	// A last line without a newline is complete.
	if frames, damage := readAll(t, strings.NewReader(good)); len(frames) != 1 || damage != nil {
		t.Errorf("%d frames, %v", len(frames), damage)
	}
}

func TestReadingBoundsLines(t *testing.T) {
	good := `{"direction":"s2c","raw":{"jsonrpc":"2.0","method":"m"}}`
	long := `{"direction":"stderr","text":"` + strings.Repeat("x", 1<<20) + `"}`
	text := good + "\n" + long + "\n" + good + "\n" + long
	in := newLineReader(io.NewSectionReader(strings.NewReader(text), 0, int64(len(text))), 600_000)
	var got []string
	var p parser
	for line, err := in.next(); err == nil; line, err = in.next() {
		err := p.parseText(line)
		got = append(got, fmt.Sprint(p.frame.Method, err))
		p = parser{}
	}
	want := []string{"m<nil>", "line 2: the line is too long", "m<nil>", "line 4: the line is too long"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %q", got)
	}
	if frames, damage := readAll(t, strings.NewReader(long+"\n"+good)); len(frames) != 2 || damage != nil || len(frames[0].Raw) != 1<<20 {
		t.Errorf("%d frames, %v", len(frames), damage)
	}
}

// snooped is a session log as mcpsnoop writes it: encoding/json, local time, its
// fields for HTTP.
const snooped = `{"session_id":"files-17-ab","server_label":"files","seq":1,"ts":"2026-07-28T12:00:00.123456789+02:00","direction":"meta","transport":"stdio","raw":{"command":["node","s.js"],"cwd":"/srv"}}
{"session_id":"files-17-ab","server_label":"files","seq":2,"ts":"2026-07-28T12:00:01+02:00","direction":"c2s","transport":"stdio","raw":{"jsonrpc":"2.0","id":1,"method":"tools/list"}}
{"session_id":"files-17-ab","server_label":"files","seq":3,"ts":"2026-07-28T12:00:01.5+02:00","direction":"s2c","transport":"stdio","raw":{"jsonrpc":"2.0","id":1,"result":{"tools":[]}}}
{"session_id":"files-17-ab","server_label":"files","seq":4,"ts":"2026-07-28T12:00:02+02:00","direction":"stderr","transport":"stdio","text":"caf\u00e9 \u003cready\u003e"}
{"session_id":"files-17-ab","server_label":"files","seq":5,"ts":"2026-07-28T12:00:03+02:00","direction":"s2c","transport":"stdio","text":"stray line"}
{"session_id":"files-17-ab","server_label":"files","seq":6,"ts":"2026-07-28T12:00:03+02:00","direction":"s2c","transport":"stdio","text":"{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"a","truncated":true}
{"session_id":"web-9","server_label":"web","seq":1,"ts":"2026-07-28T10:00:00Z","direction":"c2s","transport":"http","raw":{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","arguments":{"token":"[REDACTED]"}}},"mcp_method":"tools/call","mcp_name":"x","mcp_protocol_version":"2026-07-28","mcp_param_headers":[{"name":"Mcp-Param-Region","value":"eu"}],"conn_id":"c1","redacted":true}
{"session_id":"web-9","server_label":"web","seq":2,"ts":"2026-07-28T10:00:00Z","direction":"c2s","transport":"http","raw":{"jsonrpc":"2.0","id":1,"method":"ping"},"conn_id":"c2"}
{"session_id":"web-9","server_label":"web","seq":3,"ts":"2026-07-28T10:00:01Z","direction":"s2c","transport":"http","raw":{"jsonrpc":"2.0","id":1,"result":{}},"conn_id":"c1","status":401,"auth_challenge":"Bearer realm=\"x\""}
`

func TestReadsLogsOfMcpsnoop(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.jsonl")
	if err := os.WriteFile(path, []byte(snooped), 0o600); err != nil {
		t.Fatal(err)
	}
	l := open(t, path)
	frames, err := l.Frames(1, 100)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range frames {
		got = append(got, fmt.Sprintf("%s %v %v %s|%s|%d %v", f.Session, f.Dir, f.Kind, f.Method, f.Summary(), f.Pair, f.Latency))
	}
	want := []string{
		`files-17-ab meta note |started as node s.js in /srv|0 0s`,
		`files-17-ab c2s request tools/list||3 0s`,
		`files-17-ab s2c result tools/list|0 tools|2 500ms`,
		`files-17-ab stderr stderr |café <ready>|0 0s`,
		`files-17-ab s2c noise |stray line|0 0s`,
		`files-17-ab s2c result |{"a|0 0s`,
		`web-9/c1 c2s request tools/call|x {"token":"[REDACTED]"}|9 0s`,
		`web-9/c2 c2s request ping||0 0s`,
		`web-9/c1 s2c result tools/call||7 1s`,
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if h := frames[6].Header; h.Get("Mcp-Name") != "x" || h.Get("Mcp-Protocol-Version") != "2026-07-28" || h.Get("Mcp-Param-Region") != "eu" || !frames[6].Redacted {
		t.Errorf("headers %v, redacted %v", h, frames[6].Redacted)
	}
	if f := frames[8]; f.Status != 401 || f.Header.Get("WWW-Authenticate") != `Bearer realm="x"` {
		t.Errorf("status %d, %v", f.Status, f.Header)
	}
	if _, total := l.Damage(); total != 0 {
		t.Errorf("%d damaged lines", total)
	}
}

func open(t testing.TB, paths ...string) *Log {
	t.Helper()
	l, err := Open(paths...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	if err := l.Wait(context.Background()); err != nil {
		t.Fatal(err)
	}
	return l
}

func TestOpen(t *testing.T) {
	dir := t.TempDir()
	kept, text := transcript(t, variety())
	a, b := filepath.Join(dir, "a.jsonl"), filepath.Join(dir, "b.jsonl")
	lines := bytes.SplitAfter(text, []byte("\n"))
	half := len(lines) / 2
	damaged := append(bytes.Join(lines[:half], nil), "{\"torn\n"...)
	damaged = append([]byte(ByteOrderMark), damaged...) // as editors of Windows write it
	if err := errors.Join(os.WriteFile(a, damaged, 0o600), os.WriteFile(b, append(bytes.Join(lines[half:], nil), `{"cut`...), 0o600)); err != nil {
		t.Fatal(err)
	}
	l := open(t, a, b)
	frames, err := l.Frames(1, 1000)
	if err != nil {
		t.Fatal(err)
	}
	if len(frames) != len(kept) {
		t.Fatalf("%d frames, want %d", len(frames), len(kept))
	}
	for i := range frames {
		if err := same(frames[i], kept[i]); err != nil {
			t.Errorf("frame %d: %v", i+1, err)
		}
		if one, err := l.Frame(int64(i + 1)); err != nil || same(one, kept[i]) != nil {
			t.Errorf("frame %d alone: %v, %v", i+1, err, same(one, kept[i]))
		}
	}
	list, total := l.Damage()
	if total != 2 || list[0].File != a || list[0].Line != int64(half+1) || list[0].Incomplete || list[1].File != b || !list[1].Incomplete {
		t.Errorf("damage: %d, %v", total, list)
	}
	if read, total := l.Reading(); read != total || total != int64(len(ByteOrderMark)+len(text)+len("{\"torn\n")+len(`{"cut`)) {
		t.Errorf("%d of %d bytes read", read, total)
	}
	if st := l.Stats(); st.Frames != int64(len(kept)) || st.Where != "a.jsonl, b.jsonl" {
		t.Errorf("stats: %+v", st)
	}
	if f := l.Append(message(Stderr, "x")); f.Seq != 0 || l.Len() != int64(len(kept)) {
		t.Error("an opened log can be appended to")
	}
	var out bytes.Buffer
	if err := WriteFrames(&out, l, nil, nil); err != nil {
		t.Error(err)
	}
	for i, line := range bytes.SplitAfter(out.Bytes(), []byte("\n")) {
		if !bytes.Equal(line, lines[i]) {
			t.Errorf("line %d of an opened transcript, written again, differs:\n%.300s\n%.300s", i+1, line, lines[i])
		}
	}
	if _, err := Open(a, filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
	if _, err := Open(dir); err == nil {
		t.Error("a directory was opened")
	}
}

func TestOpenTakesTheLeast(t *testing.T) {
	path := filepath.Join(t.TempDir(), "least.jsonl")
	text := `{"direction":"c2s","raw":{"jsonrpc":"2.0","id":1,"method":"ping"}}` + "\n" +
		`{"direction":"s2c","ts":"2026-07-28T10:00:00Z","raw":{"jsonrpc":"2.0","id":1,"result":{}}}`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	l := open(t, path)
	fs, err := l.Frames(1, 2)
	if err != nil || len(fs) != 2 {
		t.Fatal(fs, err)
	}
	if !fs[0].Time.IsZero() || fs[1].Pair != 1 || fs[1].Latency != 0 {
		t.Errorf("time %v, pair %d, latency %v", fs[0].Time, fs[1].Pair, fs[1].Latency)
	}
}

func TestRecorderContinuesAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "flow.jsonl")
	before := `{"direction":"stderr","text":"old"}` + "\n" + `{"direction":"stderr","text":"to`
	if err := os.WriteFile(path, []byte(before), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenRecorder(path, RecordOptions{New: true}); !errors.Is(err, fs.ErrExist) {
		t.Errorf("an existing file is refused with %v", err)
	}
	for range 2 {
		r, err := OpenRecorder(path, RecordOptions{})
		if err != nil {
			t.Fatal(err)
		}
		l := newTestLog(t, Options{})
		l.Append(message(Stderr, "too early"))
		stop := l.Record(r)
		l.Append(message(Stderr, "new"))
		stop()
		l.Append(message(Stderr, "too late"))
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		if r.Lines() != 1 || r.Missed() != 0 {
			t.Errorf("%d lines, %d missed", r.Lines(), r.Missed())
		}
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.HasPrefix(text, []byte(before+"\n{")) {
		t.Errorf("what was there was changed: %s", text)
	}
	frames, damage := readAll(t, bytes.NewReader(text))
	var got []string
	for _, f := range frames {
		got = append(got, string(f.Raw))
	}
	if !reflect.DeepEqual(got, []string{"old", "new", "new"}) || len(damage) != 1 {
		t.Errorf("%q, %v", got, damage)
	}
}

func TestRecorderMakesPrivateFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "flow.jsonl")
	r, err := OpenRecorder(path, RecordOptions{New: true})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v", info.Mode())
	}
}

// fullDisk takes a number of bytes, and then fails.
type fullDisk struct {
	bytes.Buffer
	room int
}

func (d *fullDisk) Write(b []byte) (int, error) {
	if len(b) > d.room {
		n, _ := d.Buffer.Write(b[:d.room])
		d.room = 0
		return n, errors.New("no space left on device")
	}
	d.room -= len(b)
	return d.Buffer.Write(b)
}

func TestRecorderSaysThatTheDiskIsFull(t *testing.T) {
	disk := &fullDisk{room: 1000}
	r := NewRecorder(disk, RecordOptions{})
	l := newTestLog(t, Options{})
	l.Record(r)
	for i := range 20 {
		l.Append(message(Stderr, "line %d", i))
	}
	if err := r.Err(); err == nil || !strings.Contains(err.Error(), "no space left") {
		t.Errorf("the error is %v", err)
	}
	frames, damage := readAll(t, &disk.Buffer)
	if int64(len(frames)) != r.Lines() || r.Lines()+r.Missed() != 20 || len(frames) < 4 {
		t.Errorf("%d frames in the file, %d said to be, %d missed", len(frames), r.Lines(), r.Missed())
	}
	if len(damage) > 1 {
		t.Errorf("damage: %v", damage)
	}
	if l.Err() != nil || l.Len() != 20 {
		t.Error("the log suffers from it")
	}
	if err := r.Close(); err == nil {
		t.Error("Close does not tell of it")
	}
}

func TestRecorderSaysThatTheFileIsGone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "flow.jsonl")
	r, err := OpenRecorder(path, RecordOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := os.Remove(path); err != nil {
		t.Skip("an open file cannot be removed here")
	}
	l := newTestLog(t, Options{})
	l.Record(r)
	l.Append(message(Stderr, "x"))
	if err := r.Err(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the error is %v", err)
	}
}

func TestRecorderKeepsTheOrder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "flow.jsonl")
	r, err := OpenRecorder(path, RecordOptions{})
	if err != nil {
		t.Fatal(err)
	}
	l := newTestLog(t, Options{})
	l.Record(r)
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			for i := range 1000 {
				pad := ""
				if i%300 == 0 {
					pad = strings.Repeat("x", largeLine)
				}
				l.Append(message(ServerToClient, `{"jsonrpc":"2.0","method":"m","params":[%d,%d,"%s"]}`, w, i, pad))
			}
		})
	}
	wg.Wait()
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	opened := open(t, path)
	if opened.Len() != 4000 {
		t.Fatalf("%d frames in the file", opened.Len())
	}
	for seq := int64(1); seq <= 4000; seq++ {
		a, err1 := l.Frame(seq)
		b, err2 := opened.Frame(seq)
		if err1 != nil || err2 != nil || !bytes.Equal(a.Raw, b.Raw) {
			t.Fatalf("frame %d differs: %v, %v\n%.80s\n%.80s", seq, err1, err2, a.Raw, b.Raw)
		}
	}
}

// TestMain makes the test binary also the process that is killed.
func TestMain(m *testing.M) {
	if path := os.Getenv("WIRE_TEST_RECORD"); path != "" {
		recordUntilKilled(path, os.Getenv("WIRE_TEST_SEED"))
		return
	}
	os.Exit(m.Run())
}

// recordUntilKilled records frames and reports on standard output how many it has
// appended.
func recordUntilKilled(path, seed string) {
	r, err := OpenRecorder(path, RecordOptions{})
	if err != nil {
		fmt.Println("error", err)
		return
	}
	l, err := NewLog(Options{Dir: filepath.Dir(path)})
	if err != nil {
		fmt.Println("error", err)
		return
	}
	l.Record(r)
	for i := 0; ; i++ {
		f := killedFrame(seed, i)
		l.Append(f)
		fmt.Println(i + 1)
	}
}

var varied = sync.OnceValue(variety)

// killedFrame returns frame number i of the process with that seed.
func killedFrame(seed string, i int) Frame {
	all := varied()
	f := all[(i*7+len(seed))%len(all)]
	f.Session = seed
	if f.Kind == 0 && i%3 == 0 {
		f.Raw = fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"m","params":{"seed":%q,"i":%d}}`, seed, i)
		f.Truncated, f.Size = false, 0
	}
	return f
}

func TestKilledRecordersLoseNothing(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "flow.jsonl")
	appended := map[string]int{}
	rounds := 8
	if testing.Short() {
		rounds = 2
	}
	for round := range rounds {
		seed := fmt.Sprint("session", round)
		cmd := exec.Command(exe)
		cmd.Env = append(os.Environ(), "WIRE_TEST_RECORD="+path, "WIRE_TEST_SEED="+seed)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		// The process is killed at a different moment each time.
		n := 0
		for ; n < 20+37*round; n++ {
			var said string
			if _, err := fmt.Fscanln(out, &said); err != nil || said != fmt.Sprint(n+1) {
				t.Fatalf("the recording process says %q, %v", said, err)
			}
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		// The process appended the frames that it reported before it died.
		rest, _ := io.ReadAll(out)
		n += bytes.Count(rest, []byte("\n"))
		cmd.Wait()
		appended[seed] = n
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	frames, damage := readAll(t, bytes.NewReader(text))
	if len(damage) > rounds {
		t.Errorf("%d damaged lines from %d killed processes: %v", len(damage), rounds, damage)
	}
	found := map[string]int{}
	for _, f := range frames {
		want := killedFrame(f.Session, found[f.Session])
		if !bytes.Equal(f.Raw, want.Raw) || f.Dir != want.Dir || f.Truncated != want.Truncated {
			t.Fatalf("frame %d of %s differs:\n%.200q\n%.200q", found[f.Session], f.Session, f.Raw, want.Raw)
		}
		found[f.Session]++
	}
	for seed, n := range appended {
		if found[seed] < n {
			t.Errorf("%s: %d frames were appended, %d can be read", seed, n, found[seed])
		}
	}
	// The next session continues in the same file.
	r, err := OpenRecorder(path, RecordOptions{})
	if err != nil {
		t.Fatal(err)
	}
	l := newTestLog(t, Options{})
	l.Record(r)
	l.Append(message(Stderr, "the end"))
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	opened := open(t, path)
	if f, err := opened.Frame(opened.Len()); err != nil || string(f.Raw) != "the end" || opened.Len() != int64(len(frames))+1 {
		t.Errorf("after it: %d frames, %q, %v", opened.Len(), f.Raw, err)
	}
}

func TestWriteFrames(t *testing.T) {
	l := newTestLog(t, Options{})
	for i := range 1000 {
		l.Append(message(Stderr, "%d", i+1))
	}
	var out bytes.Buffer
	if err := WriteFrames(&out, l, func(yield func(int64) bool) {
		for _, seq := range []int64{900, 3, 0, 1001, 7} {
			if !yield(seq) {
				return
			}
		}
	}, nil); err != nil {
		t.Fatal(err)
	}
	frames, _ := readAll(t, &out)
	var got []string
	for _, f := range frames {
		got = append(got, string(f.Raw))
	}
	if !reflect.DeepEqual(got, []string{"900", "3", "7"}) {
		t.Errorf("%q", got)
	}
	if err := WriteFrames(&fullDisk{room: 10}, l, nil, nil); err == nil {
		t.Error("a write that fails is not reported")
	}
}

func FuzzReadTranscript(f *testing.F) {
	f.Add([]byte(snooped))
	var out bytes.Buffer
	l, err := NewLog(Options{Dir: f.TempDir()})
	if err != nil {
		f.Fatal(err)
	}
	for _, fr := range variety() {
		if len(fr.Raw) < 1000 {
			l.Append(fr)
		}
	}
	if err := WriteFrames(&out, l, nil, nil); err != nil {
		f.Fatal(err)
	}
	l.Close()
	for line := range bytes.Lines(out.Bytes()) {
		f.Add(line)
	}
	f.Add([]byte(`{"direction":"c2s","raw":{"jsonrpc":"2.0","id":1,"method":"m"},"text":"x","bytes":"eA=="}`))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, text []byte) {
		lines := int64(0)
		frames, damage := readAll(t, bytes.NewReader(text))
		for _, err := range damage {
			var line *LineError
			switch {
			case !errors.As(err, &line):
				t.Fatal(err)
			case line.Line <= lines || line.Line > int64(bytes.Count(text, []byte("\n")))+1:
				t.Fatalf("line %d after %d", line.Line, lines)
			default:
				lines = line.Line
			}
		}
		// Writing the frames that were read, and reading them again, changes nothing.
		l, err := NewLog(Options{Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		for i := range frames {
			fr := frames[i]
			if year := fr.Time.Year(); year < 1900 || year > 2100 {
				fr.Time = time.Unix(int64(i), 0)
			}
			frames[i] = l.Append(fr)
		}
		var out bytes.Buffer
		if err := WriteFrames(&out, l, nil, nil); err != nil {
			t.Fatal(err)
		}
		again, damage := readAll(t, bytes.NewReader(out.Bytes()))
		if damage != nil || len(again) != len(frames) {
			t.Fatalf("%d frames, then %d, %v\n%s", len(frames), len(again), damage, out.Bytes())
		}
		for i := range again {
			again[i].line, frames[i].line = 0, 0
			if err := same(again[i], alone(frames[i])); err != nil && !strings.Contains(err.Error(), "times differ") {
				t.Fatalf("frame %d: %v\n%s", i+1, err, out.Bytes())
			}
		}
	})
}

// The examples in the documentation are read, so that they stay true.
func TestDocumentedLines(t *testing.T) {
	doc, err := os.ReadFile(filepath.Join("..", "..", "docs", "transcript.md"))
	if err != nil {
		t.Fatal(err)
	}
	examples := regexp.MustCompile("(?s)```json\n(.*?)```").FindAllSubmatch(doc, -1)
	var text bytes.Buffer
	for _, e := range examples {
		text.Write(e[1])
	}
	frames, damage := readAll(t, bytes.NewReader(text.Bytes()))
	if damage != nil || len(frames) != bytes.Count(text.Bytes(), []byte("\n")) {
		t.Fatalf("%d frames, %v", len(frames), damage)
	}
	kinds := map[Kind]bool{}
	l := newTestLog(t, Options{})
	for _, f := range frames {
		kinds[f.Kind] = true
		l.Append(f)
	}
	for k := Request; k <= NoteFrame; k++ {
		if !kinds[k] {
			t.Errorf("there is no example of a %v", k)
		}
	}
	var out bytes.Buffer
	if err := WriteFrames(&out, l, nil, nil); err != nil {
		t.Fatal(err)
	}
	// Each example equals the line that a recorder writes.
	want, got := bytes.Split(text.Bytes(), []byte("\n")), bytes.Split(out.Bytes(), []byte("\n"))
	number := regexp.MustCompile(`"seq":\d+`)
	for i := range want {
		if w, g := number.ReplaceAll(want[i], nil), number.ReplaceAll(got[i], nil); !bytes.Equal(w, g) {
			t.Errorf("documented: %s\nwritten:    %s", w, g)
		}
	}
}

// Long lines among short ones are read unchanged, and lines that are too long are
// reported.
func TestLongLines(t *testing.T) {
	var text strings.Builder
	var want []int
	add := func(n int, end string) {
		want = append(want, n)
		fmt.Fprintf(&text, `{"direction":"stderr","text":"%s"}%s`, strings.Repeat(string(rune('a'+len(want)%26)), n), end)
	}
	for _, n := range []int{10, 300 << 10, 3, 2 << 20, 2<<20 + 1, 256<<10 - 32, 256<<10 - 31, 256<<10 - 33} {
		add(n, "\n")
	}
	for range 50 {
		add(5, "\n")
	}
	add(1<<20, "\n")
	add(3<<20, "")
	check := func(from string, f *Frame, i int) {
		t.Helper()
		if letter := byte('a' + (i+1)%26); len(f.Raw) != want[i] || len(bytes.Trim(f.Raw, string(letter))) > 0 {
			t.Errorf("from %s, frame %d has %d bytes %.3q, want %d", from, i+1, len(f.Raw), f.Raw, want[i])
		}
	}
	got, damage := readAll(t, strings.NewReader(text.String()))
	if len(got) != len(want) || len(damage) > 0 {
		t.Fatalf("%d frames, %v", len(got), damage)
	}
	for i := range got {
		check("lines", &got[i], i)
	}
	path := filepath.Join(t.TempDir(), "long.jsonl")
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := l.Wait(context.Background()); err != nil || l.Len() != int64(len(want)) {
		t.Fatalf("%d frames, %v", l.Len(), err)
	}
	for i := range want {
		f, err := l.Frame(int64(i + 1))
		if err != nil {
			t.Fatal(err)
		}
		check("a file", &f, i)
	}
	long := strings.NewReader(strings.Repeat("x", 600<<10) + "\nshort\n" + strings.Repeat("y", 400<<10))
	in := newLineReader(io.NewSectionReader(long, 0, long.Size()), 500<<10)
	var lines []string
	for {
		line, err := in.next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, fmt.Sprintf("%d %v %d %v", line.size, line.data == nil, len(line.data), line.ended))
	}
	if want := []string{"614401 true 0 true", "6 false 6 true", "409600 false 409600 false"}; !slices.Equal(lines, want) {
		t.Errorf("%q", lines)
	}
}
