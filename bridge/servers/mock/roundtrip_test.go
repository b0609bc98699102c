package mock_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/client/headless"
	"elicitation-inspector/bridge/client/target"
	"elicitation-inspector/bridge/judges/diff"
	"elicitation-inspector/bridge/judges/replay"
	"elicitation-inspector/bridge/keep/script"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/servers/demo"
	"elicitation-inspector/bridge/servers/mock"
	"elicitation-inspector/bridge/testdata/logtest"
	"elicitation-inspector/bridge/wire"
	"elicitation-inspector/bridge/wire/redact"
)

// requests answers what is asked of a program.
const requests = `{match: {mode: sampling}, answer: {result: {role: assistant, model: m, content: {type: text, text: Office}}}}, {match: {mode: roots}, answer: {result: {roots: [{uri: "file:///office"}]}}}`

// behaviours are the answers with which the demo's tools are recorded.
var behaviours = []struct{ name, text string }{
	{"accept", "answers: [" + requests + "]\ndefault: {accept: valid}"},
	{"decline", "answers: [" + requests + "]\ndefault: decline"},
	{"cancel", "answers: [" + requests + "]\ndefault: cancel"},
	{"no-object", "answers: [" + requests + "]\ndefault: {fault: null-result}"},
	{"error", "answers: [" + requests + "]\ndefault: {fault: any-error}"},
	{"extra", "answers: [" + requests + ", {match: {mode: form}, answer: {fault: extra-field}}]\ndefault: cancel"},
	{"state", "answers: [" + requests + ", {answer: {fault: changed-state}, times: 1}]\ndefault: {accept: valid}"},
}

func settings(revision string) conversation.ClientSettings {
	s := conversation.ClientSettings{Protocol: revision, Choice: conversation.ChoiceExplicit, Elicitation: conversation.DeclareBoth, Sampling: true, Roots: true}
	if revision == mcp.Revision20250618 {
		s.Elicitation = conversation.DeclareEmpty
	}
	return s
}

// session connects to a server in this process. watch may be nil.
func session(t *testing.T, spec target.Spec, s conversation.ClientSettings, watch func(wire.Frame)) *headless.Session {
	t.Helper()
	one, err := headless.Open(t.Context(), headless.Config{Target: spec, Settings: s, Timeout: 5 * time.Second, Watch: watch})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = one.Close() })
	return one
}

var signIn = regexp.MustCompile(`http://127.0.0.1:\d+/sign-in/\w+`)

// signsIn is a person who signs in wherever the demo sends them.
func signsIn(f wire.Frame) {
	if f.Dir == wire.ServerToClient {
		for _, page := range signIn.FindAllString(string(f.Raw), -1) {
			if r, err := http.PostForm(page, url.Values{"choice": {"allow"}}); err == nil {
				_ = r.Body.Close()
			}
		}
	}
}

// record records one call of the demo.
func record(t *testing.T, d *demo.Server, revision string, call headless.Call, answers string) *wire.Log {
	s := session(t, target.Spec{Name: "demo", Builtin: d.ServeLines}, settings(revision), signsIn)
	rules, err := script.Parse("answers", []byte(answers), os.LookupEnv)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Catalog(t.Context()); err != nil {
		t.Fatal(err)
	}
	call.Scripts = []*script.Script{rules}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	if _, err := s.Call(ctx, call); err != nil {
		t.Fatal(err)
	}
	if err := s.End(); err != nil {
		t.Fatal(err)
	}
	return s.Log()
}

// trip replays a recording against a mock of it, and returns how both differ.
func trip(t *testing.T, name string, log *wire.Log) string {
	m, err := mock.New(t.Context(), []mock.Recording{{Name: name, Log: log}}, mock.Options{})
	if err != nil {
		return err.Error()
	}
	defer m.Close()
	talk := conversation.New(log)
	if err := talk.Update(t.Context()); err != nil {
		t.Fatal(err)
	}
	all, err := script.CallsIn(t.Context(), talk, 0, conversation.Reading{})
	if err != nil {
		t.Fatal(err)
	}
	calls := replay.Calls(all)
	revision := talk.Servers()[0].Protocol
	scenario, _ := script.FromCalls(calls, script.Writing{From: name, Servers: talk.Servers()})
	wanted, err := conversation.ParseClientSettings(revision, scenario.Elicitation)
	if err != nil {
		t.Fatal(err)
	}
	wanted.Sampling, wanted.Roots = scenario.Sampling, scenario.Roots
	s := session(t, target.Spec{Name: "demo", Builtin: m.ServeLines}, wanted, nil)
	if _, err := s.Catalog(t.Context()); err != nil {
		t.Fatal(err)
	}
	played, err := replay.Run(t.Context(), s, calls, replay.Options{})
	if err != nil {
		return err.Error()
	}
	if err := s.End(); err != nil {
		t.Fatal(err)
	}
	r, err := diff.Compare(t.Context(), diff.Side{Name: "old", Log: log, Redact: redact.Nothing()}, diff.Side{Name: "new", Log: s.Log(), Redact: redact.Nothing()}, diff.Options{Carried: played.Carried, Slower: 1e9})
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, u := range played.Unanswered {
		fmt.Fprintln(&b, "unanswered:", u.Question.Message(), u.Why)
	}
	for _, n := range played.Notes {
		fmt.Fprintln(&b, "note:", n)
	}
	for _, d := range r.Differences {
		fmt.Fprintf(&b, "%s: %s %q: %s\n", d.Kind, d.Call, d.Question, d.Text)
	}
	if len(r.Differences) == 0 {
		return ""
	}
	return b.String()
}

// apart matches the recordings whose round trip differs, as the table of docs/replay.md has them.
var apart = regexp.MustCompile("(?m)^\\| `(\\w+)` \\| (accept|decline|cancel|state|error) \\| ([0-9-]+) \\|")

// TestRoundTrip replays recordings against mocks of them: those of the repository, each also cut in the middle, and
// calls of all that the demo offers, in each revision, with right and wrong answers.
func TestRoundTrip(t *testing.T) {
	text, err := os.ReadFile("../../../docs/replay.md")
	if err != nil {
		t.Fatal(err)
	}
	excused := map[string]bool{} // by name of the recording
	for _, row := range apart.FindAllSubmatch(text, -1) {
		excused[fmt.Sprintf("%s %s %s", row[1], row[3], row[2])] = true
	}
	trips := map[string]bool{}
	try := func(name string, log func(t *testing.T) *wire.Log) {
		trips[name] = true
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := trip(t, name, log(t)); got != "" && !excused[name] {
				t.Error(got)
			}
		})
	}
	for _, path := range logtest.Files(t, "../../meaning/conversation/testdata/recorded/*.jsonl") {
		try(filepath.Base(path), func(t *testing.T) *wire.Log { return logtest.Open(t, path) })
		try(filepath.Base(path)+" cut", func(t *testing.T) *wire.Log {
			frames, err := logtest.Frames(logtest.Open(t, path))
			if err != nil {
				t.Fatal(err)
			}
			return logtest.New(t, frames[:len(frames)/2]...)
		})
	}
	d := demo.New(demo.Options{Pause: soon})
	t.Cleanup(func() { _ = d.Close() })
	for _, revision := range mcp.Revisions {
		offers, err := session(t, target.Spec{Name: "demo", Builtin: d.ServeLines}, settings(revision), nil).Catalog(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for i, item := range offers.Items {
			for k, b := range behaviours {
				if k > 0 && (i+k)%3 != 0 || item.Key == "flood" && k > 0 || item.Kind == conversation.Template {
					continue
				}
				try(strings.Join([]string{item.Key, revision, b.name}, " "), func(t *testing.T) *wire.Log {
					return record(t, d, revision, headless.Call{Kind: item.Kind, Key: item.Key, Arguments: json.RawMessage(`{}`), AsTask: item.Tasks != conversation.TaskForbidden && k < 2}, b.text)
				})
			}
		}
	}
	if len(trips) < 100 {
		t.Errorf("there are only %d recordings", len(trips))
	}
	for name := range excused {
		if !trips[name] {
			t.Errorf("docs/replay.md excuses %q, which is no recording", name)
		}
	}
}

// soon is the clock of a demo in a hurry.
func soon(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(min(d/50, 200*time.Millisecond)):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
