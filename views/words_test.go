package views

import (
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"elicitation-inspector/bridge/elicit"
)

func TestHintsAndCounts(t *testing.T) {
	for _, c := range []struct {
		field       elicit.Field
		input       elicit.Input
		hint, count string
		over        bool
	}{
		{elicit.Field{MaxLength: limit(12), Pattern: "^a"}, elicit.Input{Text: "CHG-20418"}, "At most 12 characters, must match", "9 of 12", false},
		{elicit.Field{MaxLength: limit(2)}, elicit.Input{Text: "\U0001F469\u200d\U0001F4BB"}, "At most 2 characters", "3 of 2", true},
		{elicit.Field{MinLength: limit(2), MaxLength: limit(5)}, elicit.Input{}, "2 to 5 characters", "0 of 5", false},
		{elicit.Field{MinLength: limit(3)}, elicit.Input{Text: "a"}, "At least 3 characters", "1 character", true},
		{elicit.Field{MinLength: limit(1), MaxLength: limit(1)}, elicit.Input{}, "Exactly 1 character", "0 of 1", false},
		{elicit.Field{}, elicit.Input{Text: "a"}, "", "", false},
		{elicit.Field{Format: "ipv6"}, elicit.Input{}, "Format ipv6", "", false},
		{elicit.Field{Kind: elicit.Number, Minimum: "0", Maximum: "1.50"}, elicit.Input{Text: "2"}, "From 0 to 1.50", "", false},
		{elicit.Field{Kind: elicit.Integer, ExclusiveMinimum: "0", MultipleOf: "5"}, elicit.Input{}, "A whole number, more than 0, a multiple of 5", "", false},
		{elicit.Field{Kind: elicit.MultiChoice, Choices: choices(3), MinItems: limit(1), MaxItems: limit(3)}, elicit.Input{Picks: []int{0, 2}}, "", "2 chosen, 1 to 3 allowed", false},
		{elicit.Field{Kind: elicit.MultiChoice, Choices: choices(3), MaxItems: limit(1)}, elicit.Input{Picks: []int{0, 2}}, "", "2 chosen, at most 1 allowed", true},
		{elicit.Field{Kind: elicit.MultiChoice, Choices: choices(3)}, elicit.Input{Picks: []int{0, 2}}, "", "2 of 3 chosen", false},
		{elicit.Field{Kind: elicit.Number, Minimum: "0", Maximum: "1", Description: "From 0 to 1."}, elicit.Input{}, "", "", false},
	} {
		f := Field{Field: c.field, Input: c.input}
		if got := f.hint(); got != c.hint {
			t.Errorf("%+v: hint %q, want %q", c.field, got, c.hint)
		}
		if got := f.count(); got != c.count {
			t.Errorf("%+v: count %q, want %q", c.field, got, c.count)
		}
		if got := f.over(); got != c.over {
			t.Errorf("%+v: over is %v", c.field, got)
		}
	}
}

func TestTitlesTellChoicesApart(t *testing.T) {
	f := Field{Field: elicit.Field{Choices: []elicit.Choice{{Value: "a", Title: "Same"}, {Value: "b", Title: "Same"}, {Value: "c"}, {}, {Value: "d", Title: "Own"}}}}
	want := []string{"Same (a)", "Same (b)", "c", `"" (empty)`, "Own"}
	for i, w := range want {
		if got := f.title(i); got != w {
			t.Errorf("choice %d is titled %q, want %q", i, got, w)
		}
	}
}

func TestTimelineKeepsBothEnds(t *testing.T) {
	start := time.Date(2026, 8, 1, 14, 2, 7, 0, time.UTC)
	c := Call{Started: start}
	add := func(kind, text string) {
		c.Steps = append(c.Steps, Step{Kind: kind, Text: text, At: start.Add(time.Duration(len(c.Steps)) * time.Second)})
	}
	add("called", "")
	for range 5 {
		add("asked", "")
		add("log", "")
		add("answered", "accept")
		add("answered", "withdrawn: its call ended")
	}
	add("asked", "")
	add("asked", "")
	add("answered", "decline")
	add("answered", "decline")
	steps, left := c.line()
	var got []string
	for _, s := range steps {
		got = append(got, c.short(s))
	}
	want := []string{"called 14:02:07", "asked +17.0 s", "accepted +19.0 s", "withdrawn +20.0 s", "asked ×2 +22.0 s", "declined ×2 +24.0 s"}
	if !slices.Equal(got, want) || left != 12 {
		t.Errorf("%q, %d left out, want %q", got, left, want)
	}
}

// The reason why a server cannot be called is a sentence in every state of the server.
func TestNotReady(t *testing.T) {
	for state, want := range map[ServerState]string{
		ServerConnecting:   "far is still connecting, so nothing can be called.",
		ServerFailed:       "far could not be connected, so nothing can be called.",
		ServerEnded:        "far has ended, so nothing can be called.",
		ServerDisconnected: "far is disconnected, so nothing can be called.",
	} {
		doc := draw(t, CallPanel(&CallForm{Server: Server{Label: "far", State: state}}, nil))
		if got := text(doc); !strings.Contains(strings.Join(strings.Fields(got), " "), want) {
			t.Errorf("%s: %q, want %q", state, got, want)
		}
	}
}

// If a default is not among the choices, none is chosen, and the field tells so visibly
// and accessibly.
func TestDefaultThatDoesNotFit(t *testing.T) {
	for _, schema := range []string{
		`{"enum":["red","blue"],"default":"purple"}`,
		`{"type":"array","items":{"enum":["red","blue"]},"default":["purple"]}`,
		`{"type":"boolean","default":"purple"}`,
		`{"type":"number","default":"purple"}`,
		`{"type":"string","default":["purple"]}`,
	} {
		fields, err := elicit.FieldsOf([]byte(`{"properties":{"x":` + schema + `}}`))
		if err != nil {
			t.Fatal(err)
		}
		doc := draw(t, Fields(Form{Fields: []Field{{Field: fields[0], ID: "q1-f0", Input: elicit.Defaults(fields).Fields[0]}}}))
		if len(every(doc, tag("textarea"))) > 0 {
			t.Errorf("%s: it is a box of JSON", schema)
		}
		for _, e := range every(doc, tag("input")) {
			if has(e, "checked") && attr(e, "value") != "" || attr(e, "type") == "text" && attr(e, "value") != "" {
				t.Errorf("%s: %q is given", schema, attr(e, "value"))
			}
		}
		note := only(t, doc, "note", func(e *html.Node) bool { return attr(e, "id") == "q1-f0-default" })
		if got := text(note); !strings.Contains(got, `"purple"`) {
			t.Errorf("%s: it says %q", schema, got)
		}
		if control := only(t, doc, "control", func(e *html.Node) bool { return attr(e, "id") == "q1-f0" }); !slices.Contains(strings.Fields(attr(control, "aria-describedby")), "q1-f0-default") {
			t.Errorf("%s: the control is not described by it", schema)
		}
	}
}

// A question that the server's policy could not answer shows the reason.
func TestHandedOver(t *testing.T) {
	q := someQuestion()
	q.Handed = `"Signer" is required and has no default`
	if got := text(draw(t, QuestionCard(q))); !strings.Contains(got, `The policy left this one to you: "Signer" is required and has no default.`) {
		t.Errorf("it says %q", got)
	}
}
