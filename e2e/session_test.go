package e2e

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"elicitation-inspector/e2e/internal/inspector"
	"elicitation-inspector/e2e/internal/page"
)

// session is an inspector with a page.
type session struct {
	t testing.TB
	*inspector.Process
	page *page.Page
}

// open starts the inspector with these arguments and opens the printed URL.
func open(t testing.TB, args ...string) *session {
	t.Helper()
	p := inspector.Start(t, args...)
	return &session{t: t, Process: p, page: browser.Open(t, p.URL)}
}

// openOn is open for a server started by a command.
func openOn(t testing.TB, command []string, flags ...string) *session {
	t.Helper()
	return open(t, append(append(flags, "--"), command...)...)
}

// choose selects an item of a list: shelf is Tools, Prompts or Resources.
func (s *session) choose(shelf, name string) *page.Control {
	s.t.Helper()
	if tab := s.page.TabNamed(shelf); tab.Exists() && !s.page.Region(shelf).Exists() {
		tab.Click()
	}
	s.page.Region(shelf).Button(name).Click()
	call := s.page.Region("Call")
	call.Role("heading", name).Wait()
	return call
}

// call calls a tool with its initial arguments.
func (s *session) call(tool string) {
	s.t.Helper()
	s.choose("Tools", tool).Button("Call").Click()
}

// callButton returns the name of the button that makes the nth call of a tool, counted
// from 0, while the call before is on show.
func callButton(n int) string {
	if n == 0 {
		return "Call"
	}
	return "Call again"
}

// question waits for the pending question with a message.
func (s *session) question(message string) *page.Control {
	s.t.Helper()
	return s.page.Question(message).Having("data-state", "pending").Wait()
}

// state waits until a question is in a state.
func (s *session) state(message, state string) *page.Control {
	s.t.Helper()
	return s.page.Question(message).Having("data-state", state).Wait()
}

// result waits until the region Result shows a text.
func (s *session) result(part string) *page.Control {
	s.t.Helper()
	return s.page.Region("Result").Contains(part)
}

// willSend returns the JSON in a question's region Will send, on one line, with its
// numbers and strings byte for byte.
func willSend(t testing.TB, question *page.Control) string {
	t.Helper()
	shown := question.Role("group", "Will send").Text()
	from := strings.Index(shown, "{")
	if from < 0 {
		t.Fatalf("%s shows no JSON: %q", question.Role("group", "Will send"), shown)
	}
	return compact(t, shown[from:])
}

// compact returns JSON without white space between its tokens.
func compact(t testing.TB, doc string) string {
	t.Helper()
	var b bytes.Buffer
	if err := json.Compact(&b, []byte(doc)); err != nil {
		t.Fatalf("no JSON: %v: %q", err, doc)
	}
	return b.String()
}

// answersOnWire returns the answers to elicitations in a transcript, in order, each
// compact: the results of elicitation/create, and the inputResponses of retries.
func answersOnWire(t testing.TB, frames inspector.Frames) []string {
	t.Helper()
	var found []string
	for _, f := range frames.In("c2s") {
		if f.IsResponse() {
			asked := slices.ContainsFunc(frames.Requests("s2c", "elicitation/create"), func(q inspector.Frame) bool {
				return q.SessionID == f.SessionID && q.Seq < f.Seq && bytes.Equal(q.Message.ID, f.Message.ID)
			})
			switch {
			case asked && f.Message.Result != nil:
				found = append(found, compact(t, string(f.Message.Result)))
			case asked:
				found = append(found, compact(t, string(f.Message.Error)))
			}
			continue
		}
		var p struct {
			InputResponses json.RawMessage `json:"inputResponses"`
		}
		if json.Unmarshal(f.Message.Params, &p) == nil && p.InputResponses != nil {
			in := json.NewDecoder(bytes.NewReader(p.InputResponses))
			if _, err := in.Token(); err != nil {
				t.Fatalf("inputResponses: %v", err)
			}
			for in.More() {
				var answer json.RawMessage
				if _, err := in.Token(); err != nil {
					t.Fatalf("inputResponses: %v", err)
				}
				if err := in.Decode(&answer); err != nil {
					t.Fatalf("inputResponses: %v", err)
				}
				found = append(found, compact(t, string(answer)))
			}
		}
	}
	return found
}

// answer waits for the nth answer on the wire, counted from 1, and returns it.
func (s *session) answer(n int) string {
	s.t.Helper()
	var all []string
	s.page.Until(
		func() string {
			return "answer number " + string(rune('0'+n)) + " is on the wire: " + strings.Join(all, "; ")
		},
		func() bool { all = answersOnWire(s.t, s.Wire()); return len(all) >= n },
	)
	return all[n-1]
}

// accept clicks Accept and checks that exactly the shown JSON was sent.
func (s *session) accept(question *page.Control, nth int) string {
	s.t.Helper()
	shown := willSend(s.t, question)
	question.Button("Accept").Click()
	sent := s.answer(nth)
	if sent != shown {
		s.t.Errorf("the page showed that it will send\n%s\nand sent\n%s", shown, sent)
	}
	return sent
}
