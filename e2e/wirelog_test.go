package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"elicitation-inspector/e2e/internal/inspector"
	"elicitation-inspector/e2e/internal/page"
	"elicitation-inspector/e2e/internal/servers"
)

// GET /wire.jsonl returns, byte for byte and in order, what the server read and wrote:
// messages, noise and standard error.
func TestWireHoldsTheExactBytes(t *testing.T) {
	t.Parallel()
	rude := servers.NewRude(t, nil, "-noise")
	s := openOn(t, rude.Command)
	s.call("ask")
	q := s.question("Who signs the release?")
	odd := []string{
		`{"jsonrpc":"2.0" , "method":"notifications/message","params":{"level":"info","data":"a\u003cb <c> \/ \ud83d\ude42 é","n":1.10e2}}  `,
		`{"jsonrpc":"1.0","method":"notifications/message","params":{}}`,
		`[{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"in a batch"}}]`,
		`{"jsonrpc":"2.0","id":null,"method":"ping"}`,
		`{"jsonrpc":"2.0","method":"notifications/elicitation/complete"}`,
		"\ttabs and \u2028 and \xff\xfe no UTF-8",
		`{"cut":`,
	}
	for _, line := range odd {
		rude.OrderWith("write", line)
	}
	q.Field("Signer").Fill("Zoë <z@example.org> & co")
	q.Role("group", "Will send").Contains("Zoë")
	q.Button("Accept").Click()
	s.result("received")
	s.call("large")
	s.result("0123456789abcdef")

	var got, want []string
	s.page.Until(func() string { return "the wire log has as many frames as the server has lines" }, func() bool {
		got, want = nil, nil
		for _, f := range s.Wire() {
			switch f.Direction {
			case "c2s":
				got = append(got, "in "+string(f.Bytes()))
			case "s2c":
				got = append(got, "out "+string(f.Bytes()))
			}
		}
		for _, l := range rude.Lines() {
			want = append(want, l.Dir+" "+string(l.Raw))
		}
		return len(got) >= len(want)
	})
	// Both sides see each direction in order; the two directions may interleave
	// differently.
	for _, dir := range []string{"in ", "out "} {
		of := func(all []string) []string {
			return slices.DeleteFunc(slices.Clone(all), func(s string) bool { return !strings.HasPrefix(s, dir) || s == dir })
		}
		g, w := of(got), of(want)
		for i := range min(len(g), len(w)) {
			if g[i] != w[i] {
				t.Fatalf("line %d %sof the server is\n%q\nin the transcript\n%q", i+1, dir, clip(w[i]), clip(g[i]))
			}
		}
		if len(g) != len(w) {
			t.Errorf("%sthe transcript has %d lines, the server %d", dir, len(g), len(w))
		}
	}
}

func clip(s string) string {
	if len(s) > 300 {
		return s[:300] + "…"
	}
	return s
}

// A row describes its frame in words; a click shows the raw bytes, a formatted view and
// the paired frame, by direction and id.
func TestWireRowsAndDetail(t *testing.T) {
	t.Parallel()
	rude := servers.NewRude(t, nil)
	s := openOn(t, rude.Command)
	s.call("ask")
	q := s.question("Who signs the release?")
	q.Field("Signer").Fill("Ida")
	q.Role("group", "Will send").Contains("Ida")
	q.Button("Accept").Click()
	s.result("received")
	rude.OrderWith("stderr", "warn: the region is deprecated\n")
	rude.OrderWith("write", "DEBUG: plan ready")

	log := s.page.Region("Wire log")
	for _, text := range []string{"initialize", "tools/call", "elicitation/create", "Who signs the release?", "accept", "warn: the region is deprecated", "DEBUG: plan ready"} {
		log.Contains(text)
	}
	find := func(parts ...string) row {
		t.Helper()
		var found row
		s.page.Until(func() string { return fmt.Sprintf("there is a row with %q", parts) }, func() bool {
			for _, r := range rows(s) {
				line := strings.Join(r.cells, " | ")
				if !slices.ContainsFunc(parts, func(p string) bool { return !strings.Contains(line, p) }) {
					found = r
					return true
				}
			}
			return false
		})
		return found
	}
	asked := find("elicitation/create", "Who signs the release?")
	answered := find("elicitation/create", "accept")
	if answered.index <= asked.index {
		t.Errorf("the answer is row %d, the question row %d", answered.index, asked.index)
	}

	rowAt := func(r row) *page.Control {
		return log.Role("row", "").All().Having("aria-rowindex", strconv.Itoa(r.index))
	}
	frames := s.Wire()
	question := frames.Requests("s2c", "elicitation/create")[0]
	answer, err := frames.ResponseTo(question)
	if err != nil {
		t.Fatal(err)
	}
	call := frames.Requests("c2s", "tools/call")[0]

	rowAt(answered).Click()
	detail := log.Role("group", "Frame").Wait()
	detail.Contains("#" + strconv.FormatInt(answer.Seq, 10))
	detail.TabNamed("Raw").Click()
	detail.Contains(string(answer.Raw))
	detail.TabNamed("Pair").Click()
	detail.Contains("#" + strconv.FormatInt(question.Seq, 10)).Contains("Who signs the release?")

	rowAt(find("tools/call", "ask")).Click()
	detail.Contains("#" + strconv.FormatInt(call.Seq, 10))
	detail.TabNamed("Pair").Click()
	response, err := frames.ResponseTo(call)
	if err != nil {
		t.Fatal(err)
	}
	detail.Contains("#" + strconv.FormatInt(response.Seq, 10)).Contains("received")
	if bytes.Equal(call.Message.ID, question.Message.ID) {
		t.Log("the two requests even share an id")
	}
	if latency := response.TS.Sub(call.TS); latency <= 0 {
		t.Errorf("the response came %v after the request", latency)
	}
}

// The log follows its end until the person scrolls up, and then shows a button for new
// frames. Clearing hides earlier frames. aria-rowcount counts the present view.
func TestWireFollowsTheTail(t *testing.T) {
	t.Parallel()
	rude := servers.NewRude(t, nil)
	s := openOn(t, rude.Command)
	log := s.page.Region("Wire log")
	grid := log.Role("grid", "Frames")
	s.page.Region("Servers").Contains("ready")
	say := func(n int, what string) {
		for i := range n {
			rude.OrderWith("write", fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"%s %d"}}`, what, i+1))
		}
	}
	say(100, "early")
	log.Contains("early 100")

	grid.Wheel(-2000)
	s.page.Until(func() string { return "the log has been scrolled up" }, func() bool {
		return !strings.Contains(log.TextNow(), "early 100")
	})
	before := rows(s)
	say(7, "late")
	offer := log.Button("").All().Having("id", "newer").Contains("7 new")
	if after := rows(s); len(after) == 0 || after[0].index != before[0].index {
		t.Error("the view moved although the person had scrolled up")
	}
	if strings.Contains(log.Text(), "late 7") {
		t.Error("the log jumped to its tail")
	}
	offer.Click()
	log.Contains("late 7")

	log.Button("Clear view").Click()
	s.page.Until(func() string { return "the view is empty" }, func() bool { return len(rows(s)) == 0 })
	grid.HasAttr("aria-rowcount", "0")
	say(3, "fresh")
	log.Contains("fresh 3")
	grid.HasAttr("aria-rowcount", "3")
	if got := len(s.Wire()); got < 110 {
		t.Errorf("clearing the view lost frames: %d are left", got)
	}
}

// --record writes every frame at once, and appends to an existing file.
func TestRecord(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "flow.jsonl")
	once := func(answer string) {
		rude := servers.NewRude(t, nil)
		s := openOn(t, rude.Command, "--record", path)
		s.call("ask")
		q := s.question("Who signs the release?")
		q.Field("Signer").Fill(answer)
		q.Role("group", "Will send").Contains(answer)
		q.Button("Accept").Click()
		s.result("received")
		live := s.Wire()
		inFile := inspector.WireFile(t, path) // during the run: frames are flushed at once
		last := live[len(live)-1]
		if !slices.ContainsFunc(inFile, func(f inspector.Frame) bool { return bytes.Equal(f.Bytes(), last.Bytes()) }) {
			t.Errorf("the last frame is not in the file yet: %s", last.Line)
		}
		s.Stop()
	}
	once("Edsger")
	first, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	once("Barbara")
	both, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.HasPrefix(both, first) {
		t.Error("the second run changed what the first had written")
	}
	sessions := map[string]bool{}
	for _, f := range inspector.WireFile(t, path) {
		sessions[f.SessionID] = true
		if f.Direction == "c2s" || f.Direction == "s2c" {
			if f.ServerLabel == "" || f.Seq == 0 || f.TS.IsZero() || f.Transport != "stdio" {
				t.Fatalf("a frame lacks what every frame has: %s", f.Line)
			}
		}
	}
	if len(sessions) < 2 {
		t.Errorf("two runs are %d sessions", len(sessions))
	}
	for _, name := range []string{"Edsger", "Barbara"} {
		if !bytes.Contains(both, []byte(`{"signer":"`+name+`"}`)) {
			t.Errorf("the answer of %s is not in the file", name)
		}
	}
}

// After SIGKILL, the transcript has every frame up to then, complete.
func TestRecordSurvivesAKill(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "flow.jsonl")
	rude := servers.NewRude(t, nil)
	s := openOn(t, rude.Command, "--record", path)
	s.call("ask")
	s.question("Who signs the release?")
	n := len(s.Wire())
	s.Kill()
	frames := inspector.WireFile(t, path)
	if len(frames) < n {
		t.Errorf("the page knew of %d frames, the file has %d", n, len(frames))
	}
	if len(frames.Requests("s2c", "elicitation/create")) != 1 {
		t.Error("the question is not in the file")
	}
	for _, f := range frames {
		if !json.Valid([]byte(f.Line)) {
			t.Errorf("no JSON: %q", f.Line)
		}
	}
}
