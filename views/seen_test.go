package views

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/judges/fit"
	"elicitation-inspector/bridge/meaning/elicit"
)

// TestDrawnBy checks what the drawing of a question in a client says, and that nothing of it can be used.
func TestDrawnBy(t *testing.T) {
	const consent = `{"message":"Delete?","requestedSchema":{"type":"object","properties":{
		"reason":{"type":"string","title":"Reason","description":"For the log.","pattern":"^[A-Z]"},
		"where":{"type":"string","title":"Where to","default":"bin","oneOf":[{"const":"bin","title":"The bin"},{"const":"gone","title":"Nowhere"}]},
		"confirm":{"type":"boolean","default":true}},"required":["reason"]}}`
	const number = `{"message":"How many?","requestedSchema":{"type":"object","properties":{"n":{"type":"integer","title":"Number","default":3}}}}`
	const address = `{"mode":"url","message":"Sign in","url":"https://a.example/x","elicitationId":"e"}`
	for _, c := range []struct {
		client, question string
		as               fit.Verdict
		want, not        []string
	}{
		{"goose-cli", consent, fit.Guard, []string{`not shown: title "Reason"`, "not checked: pattern", "has to be filled in", "For the log.", "no way to decline", "with Ctrl-C", "not shown: its 2 choices", "Give \"confirm\" the default false.", "read 2026-11-28: aaif-goose/goose"}, []string{"The bin"}},
		{"vscode-chat", consent, fit.Guard, []string{"bin - The bin", "gone - Nowhere", "drawn as Markdown", "How this is known: read"}, []string{"not shown: title"}},
		{"codex", number, fit.Unanswerable, []string{`not shown: "n"`, "Yes", "removed /content/n", "In results"}, []string{"Number "}},
		{"gemini-cli", consent, fit.NotShown, []string{`not shown: the message, "reason", "where" and "confirm"`, "No person sees it.", "No result that is known."}, []string{"Accept ", "Time limit"}},
		{"copilot-cli", consent, fit.Unknown, []string{"Nobody knows what it is drawn as.", "Its source is closed, and nobody has measured it."}, nil},
		{"claude-code", number, fit.Fine, []string{"Both send the same.", "closed"}, nil},
		{"goose-desktop", address, fit.Unknown, nil, []string{"Accept "}},
		{"vscode", address, fit.Fine, []string{"https://a.example/x", "the button Cancel"}, []string{"/content"}},
	} {
		t.Run(c.client, func(t *testing.T) {
			q, err := elicit.Parse(json.RawMessage(c.question))
			if err != nil {
				t.Fatal(err)
			}
			client := fit.All()[slices.IndexFunc(fit.All(), func(p *fit.Profile) bool { return p.Client == c.client })]
			d := Drawing{Seen: fit.See(q, client), Request: q, Now: time.Date(2026, 11, 28, 0, 0, 0, 0, time.UTC)}
			if d.Verdict() != c.as {
				t.Errorf("it is %s, want %s", d.Verdict().Words(), c.as.Words())
			}
			doc := draw(t, DrawnBy(d))
			shown := strings.Join(strings.Fields(text(doc)), " ") + " "
			for _, part := range c.want {
				if !strings.Contains(shown, part) {
					t.Errorf("it lacks %q: %s", part, shown)
				}
			}
			for _, part := range c.not {
				if strings.Contains(shown, part) {
					t.Errorf("it has %q: %s", part, shown)
				}
			}
			for _, e := range every(doc, func(e *html.Node) bool { return slices.Contains([]string{"input", "select", "textarea"}, e.Data) }) {
				if !has(e, "disabled") || has(e, "name") {
					t.Errorf("a control of the picture can be used: %v", e.Attr)
				}
			}
		})
	}
}

// TestMarks checks that each client has a mark, by name and verdict, the gravest first, and the advice for what is not fine.
func TestMarks(t *testing.T) {
	q, err := elicit.Parse(json.RawMessage(`{"message":"How many?","requestedSchema":{"type":"object","properties":{"n":{"type":"integer","default":3}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	s := SeenIn{ID: "q1", Source: "/questions/1/seen?client="}
	var names []string
	for _, p := range fit.All() {
		s.Seen = append(s.Seen, fit.Glance(q, p))
		if name := ClientName(p); slices.Contains(names, name) {
			t.Errorf("two clients are called %s", name)
		} else {
			names = append(names, name)
		}
	}
	doc := draw(t, DraftSeen(s))
	before := fit.Guard
	marks := every(doc, func(e *html.Node) bool { return has(e, "data-seen") })
	for _, e := range marks {
		i := slices.IndexFunc(s.Seen, func(one *fit.Seen) bool { return one.Client.Client == attr(e, "data-seen") })
		v := s.Seen[i].Verdict()
		if want := ClientName(s.Seen[i].Client) + ": " + v.Words(); attr(e, "aria-label") != want || v > before {
			t.Errorf("a mark %q, want %q", attr(e, "aria-label"), want)
		}
		before = v
	}
	if len(marks) != len(fit.All()) {
		t.Errorf("%s", wording.Plural(len(marks), "mark"))
	}
	if shown := text(doc); !strings.Contains(shown, `Ask for "n" as a text, and have the server read the number.`) {
		t.Errorf("no advice: %s", shown)
	}
}
