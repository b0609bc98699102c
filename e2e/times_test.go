package e2e

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"elicitation-inspector/e2e/internal/inspector"
	"elicitation-inspector/e2e/internal/page"
	"elicitation-inspector/e2e/internal/servers"
)

var waitedSeconds = regexp.MustCompile(`waiting for you\s+(0:0[1-9]|0:[1-5]|[1-9])`)

var shownDuration = regexp.MustCompile(`\d+ h \d+ min|\d+ min \d+ s|[\d.]+ [mµ]?s\b`)

// The times of one call are the same wherever they stand: in its timeline, on the card of
// its question, at its result, in its ladder and in the wire log, live and in the opened
// recording.
func TestOneCallHasOneSetOfTimes(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "flow.jsonl")
	live := openOn(t, servers.NewRude(t, nil).Command, "--record", file)
	live.call("ask")
	q := live.question("Who signs the release?")
	q.Field("Signer").Fill("Ann")
	live.page.Region("Call").Role("DisclosureTriangle", "Times").Click()
	live.page.Region("Call").Matches("shows a wait of some seconds", waitedSeconds.MatchString) // so that the durations have several digits
	q.Button("Accept").Click()
	live.result("Ann")
	live.state("Who signs the release?", "answered")

	var question, answer, result inspector.Frame
	for _, f := range live.Wire() {
		switch {
		case f.Message.Method == "elicitation/create":
			question = f
		case question.Seq != 0 && f.IsResponse() && f.Direction == "c2s":
			answer = f
		case answer.Seq != 0 && f.IsResponse() && f.Direction == "s2c":
			result = f
		}
	}
	took := func(s *session, f inspector.Frame) string {
		row := s.row(strconv.FormatInt(f.Seq, 10)).Text()
		shown := shownDuration.FindAllString(row, -1)
		if len(shown) == 0 {
			t.Fatalf("frame %d has no duration: %q", f.Seq, row)
		}
		return shown[len(shown)-1]
	}
	all := func(s *session) map[string]string {
		call := s.page.Region("Call")
		if times := call.Role("DisclosureTriangle", "Times"); page.Call[bool](times, "function() { return !this.parentElement.open }") {
			times.Click()
		}
		_, timeline, _ := strings.Cut(call.Contains("result").Text(), "called")
		steps := shownDuration.FindAllString(timeline, 3)
		for len(steps) < 3 {
			steps = append(steps, "")
		}
		s.page.Region("Wire log").Button("Sequence").Click()
		ladder := s.page.Region("Sequence").Contains("Done after").Text()
		_, sentence, _ := strings.Cut(ladder, "Done after ")
		parts := shownDuration.FindAllString(sentence, 2)
		s.page.Region("Wire log").Button("Sequence").Click()
		card := shownDuration.FindString(s.state("Who signs the release?", "answered").Text())
		return map[string]string{
			"call in the result": shownDuration.FindString(s.page.Region("Result").Text()), "call in the timeline": steps[2],
			"call in the wire log": took(s, result), "call in the ladder": parts[0],
			"question on its card": card, "question in the wire log": took(s, answer), "question in the ladder": parts[1],
			"asked in the timeline": steps[0],
		}
	}
	same := func(of string, shown map[string]string) {
		t.Helper()
		var values []string
		for name, value := range shown {
			if strings.HasPrefix(name, of+" ") {
				values = append(values, value)
			}
		}
		if slices.Sort(values); values[0] == "" || len(slices.Compact(values)) != 1 {
			t.Errorf("the %s has several durations: %v", of, shown)
		}
	}
	first := all(live)
	same("call", first)
	same("question", first)
	if want := fmt.Sprintf("%.2f s", answer.TS.Sub(question.TS).Seconds()); first["question on its card"] != want {
		t.Errorf("by the frames the question took %s, and on its card %s", want, first["question on its card"])
	}
	live.Stop()
	p := inspector.StartWith(t, inspector.Options{}, "open", "--no-open", "--listen", "127.0.0.1:0", file)
	opened := &session{t: t, Process: p, page: browser.Open(t, p.URL)}
	second := all(opened)
	for name, value := range first {
		if second[name] != value {
			t.Errorf("%s: %q live, %q opened", name, value, second[name])
		}
	}
}
