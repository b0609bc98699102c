package probe

import (
	"encoding/json"
	"flag"
	"fmt"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/meaning/elicit"
	"elicitation-inspector/bridge/meaning/lint"
)

// A client that does what it is asked works in all probes that frames can judge, over both
// transports.
func TestRightClientWorks(t *testing.T) {
	for _, revision := range mcp.Revisions {
		for _, way := range []string{"stdio", "HTTP"} {
			t.Run(revision+" over "+way, func(t *testing.T) {
				t.Parallel()
				s := newServer(t, Options{Pause: 50 * time.Millisecond})
				serve := s.ServeLines
				if way == "HTTP" {
					web := httptest.NewServer(s.Handler())
					t.Cleanup(web.Close)
					serve = overHTTP(web.URL+"/mcp", revision)
				}
				b := newBareOver(t, s, revision, serve)
				b.pause = 20 * time.Millisecond
				b.greet()
				for _, p := range Table() {
					if !p.In(revision) || p.Name == "patience" {
						continue
					}
					want := Works
					if p.OnlyLooks || slices.Contains([]string{"elicitation-undeclared", "progress", "task-undeclared"}, p.Name) {
						want = NotSeen
					}
					if r := b.run(p); r.Verdict != want {
						t.Errorf("%s: %s: %s", p.Name, r.Verdict, r.How)
					}
				}
			})
		}
	}
}

// A client that answers with any valid content works in no probe that asks for a certain
// one, and fails none.
func TestOtherValidAnswersAreNotSeen(t *testing.T) {
	for _, name := range []string{
		"string-length", "string-pattern", "format-email", "format-uri", "format-date", "integer", "integer-limits", "number", "boolean",
		"choice", "choice-names", "choice-titled", "choices", "choices-titled", "choice-many", "required", "optional-empty", "fields-many", "text-long",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBare(t, newServer(t, Options{}), mcp.Revision20251125)
			b.greet()
			b.answer = func(_ *bare, params json.RawMessage) string {
				other := map[string]string{
					"string-pattern": `{"value":"XY-9999"}`, "format-uri": `{"value":"https://example.org/"}`, "integer": `{"value":1}`,
					"format-email": `{"value":"bob@example.com"}`, "format-date": `{"value":"2026-01-31"}`, "boolean": `{"value":false}`, "number": `{"value":0.3}`,
				}[name]
				if other == "" {
					fields, err := elicit.FieldsOf(rawjson.Member(params, "requestedSchema"))
					if err != nil {
						t.Error(err)
					}
					other = string(elicit.Valid(fields))
				}
				return `{"action":"accept","content":` + other + `}`
			}
			if r := b.run(Find(name)); r.Verdict != NotSeen || r.Unseen != OtherAnswer {
				t.Errorf("%s: %s", r.Verdict, r.How)
			}
		})
	}
}

// The linter finds nothing wrong with what the probes send, apart from what they break on
// purpose.
func TestQuestionsAreRight(t *testing.T) {
	onPurpose := []string{"enum-names-deprecated", "too-many-fields", "url-in-form", "result-type-unknown", "completion-unknown", "question-task-undeclared"}
	for _, revision := range mcp.Revisions {
		b := newBare(t, newServer(t, Options{Pause: 50 * time.Millisecond}), revision)
		b.greet()
		for _, method := range []string{mcp.MethodListTools, mcp.MethodListPrompts, mcp.MethodListResources, mcp.MethodListTemplates} {
			if m := b.request(method, "{}"); m.Error != nil {
				t.Errorf("%s: %s", method, m.Error)
			}
		}
		for _, p := range Table() {
			if p.In(revision) && p.Name != "patience" && p.Name != "mode-undeclared" {
				b.run(p)
			}
		}
		l := lint.NewLinter(b.server.options.Log, conversation.New(b.server.options.Log))
		if err := l.Update(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, f := range l.From(0, b.server.options.Log.Len()) {
			if slices.Contains(onPurpose, f.Rule) {
				continue
			}
			t.Errorf("%s: frame %d: %s: %s", revision, f.Seq, f.Rule, f.Text)
		}
	}
}

var update = flag.Bool("update", false, "write the table of probes to docs/probe.md")

// The table in docs/probe.md has the probes as they are; -update writes it.
func TestDocumented(t *testing.T) {
	const file, mark = "../../../docs/probe.md", "<!-- probes -->\n"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	head, is, _ := strings.Cut(string(text), mark)
	var want strings.Builder
	group := Group("")
	for _, p := range Table() {
		if p.Group != group {
			group = p.Group
			fmt.Fprintf(&want, "\n### %s\n\n| probe | asks | in | a person sees |\n|---|---|---|---|\n", group)
		}
		in := ""
		for i, revision := range []string{mcp.Revision20250618, mcp.Revision20251125, mcp.Revision20260728} {
			if p.In(revision) {
				in += "ABC"[i : i+1]
			}
		}
		if p.Apart || p.Kind != conversation.Tool {
			in += ", apart"
		}
		title := p.Title
		if p.Kind != conversation.Tool {
			title += " (a " + string(p.Kind) + ")"
		}
		fmt.Fprintf(&want, "| `%s` | %s. %s | %s | %s |\n", p.Name, title, strings.NewReplacer("|", "\\|", "<", "&lt;", "*", `\*`).Replace(p.Do), in, strings.NewReplacer("<", "&lt;", "*", `\*`).Replace(strings.Join(p.Looks, " ")))
	}
	if is == want.String() {
		return
	}
	if !*update {
		t.Fatal("docs/probe.md does not have the probes as they are; run the test with -update")
	}
	if err := os.WriteFile(file, []byte(head+mark+want.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}
