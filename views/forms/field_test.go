package forms

import (
	"bytes"
	"encoding/json"
	"fmt"
	"mime/multipart"
	"net/url"
	"slices"
	"strings"
	"testing"

	"elicitation-inspector/bridge/meaning/elicit"
)

func TestHintsAndCounts(t *testing.T) {
	for _, c := range []struct {
		field       elicit.Field
		input       elicit.Input
		hint, count string
		over        bool
	}{
		{elicit.Field{Kind: elicit.Text, MaxLength: limit(12), Pattern: "^a"}, elicit.Input{Text: "CHG-20418"}, "At most 12 characters, must match", "9 of 12", false},
		{elicit.Field{Kind: elicit.Text, MaxLength: limit(2)}, elicit.Input{Text: "\U0001F469\u200d\U0001F4BB"}, "At most 2 characters", "3 of 2", true},
		{elicit.Field{Kind: elicit.Text, MinLength: limit(2), MaxLength: limit(5)}, elicit.Input{}, "2 to 5 characters", "0 of 5", false},
		{elicit.Field{Kind: elicit.Text, MinLength: limit(3)}, elicit.Input{Text: "a"}, "At least 3 characters", "1 character", true},
		{elicit.Field{Kind: elicit.Text, MinLength: limit(1), MaxLength: limit(1)}, elicit.Input{}, "Exactly 1 character", "0 of 1", false},
		{elicit.Field{Kind: elicit.Text}, elicit.Input{Text: "a"}, "", "", false},
		{elicit.Field{Kind: elicit.Text, Format: "ipv6"}, elicit.Input{}, "Format ipv6", "", false},
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

func TestControls(t *testing.T) {
	long, wordy := []elicit.Choice{{Title: strings.Repeat("a", 30)}, {}}, []elicit.Choice{{Title: strings.Repeat("a", 300)}}
	for _, c := range []struct {
		field elicit.Field
		input elicit.Input
		want  control
	}{
		{elicit.Field{Kind: elicit.Text}, elicit.Input{Text: "a"}, oneLine},
		{elicit.Field{Kind: elicit.Text, Format: "email"}, elicit.Input{}, oneLine},
		{elicit.Field{Kind: elicit.Text, Format: "date"}, elicit.Input{}, dateInput},
		{elicit.Field{Kind: elicit.Text, Format: "date"}, elicit.Input{Text: "soon"}, oneLine},
		{elicit.Field{Kind: elicit.Text, Format: "date-time"}, elicit.Input{Text: "soon"}, dateTime},
		{elicit.Field{Kind: elicit.Text, Format: "date-time"}, elicit.Input{Text: "a\nb"}, manyLines},
		{elicit.Field{Kind: elicit.Number}, elicit.Input{}, numberInput},
		{elicit.Field{Kind: elicit.Integer}, elicit.Input{JSON: `"x"`}, jsonText},
		{elicit.Field{Kind: elicit.Boolean}, elicit.Input{}, yesOrNo},
		{elicit.Field{Kind: elicit.SingleChoice, Choices: choices(2)}, elicit.Input{}, segments},
		{elicit.Field{Kind: elicit.SingleChoice, Choices: long}, elicit.Input{}, radios},
		{elicit.Field{Kind: elicit.SingleChoice, Choices: choices(mostRadios)}, elicit.Input{}, radios},
		{elicit.Field{Kind: elicit.SingleChoice, Choices: choices(mostRadios + 1)}, elicit.Input{}, dropDown},
		{elicit.Field{Kind: elicit.SingleChoice, Choices: choices(mostOptions)}, elicit.Input{}, dropDown},
		{elicit.Field{Kind: elicit.SingleChoice, Choices: choices(mostOptions + 1)}, elicit.Input{}, pickOne},
		{elicit.Field{Kind: elicit.SingleChoice, Choices: slices.Repeat(wordy, 40)}, elicit.Input{}, pickOne},
		{elicit.Field{Kind: elicit.MultiChoice, Choices: slices.Repeat(wordy, 40)}, elicit.Input{}, pickMany},
		{elicit.Field{Kind: elicit.MultiChoice, Choices: choices(mostChecks)}, elicit.Input{}, checkBoxes},
		{elicit.Field{Kind: elicit.MultiChoice, Choices: choices(mostChecks + 1)}, elicit.Input{}, pickMany},
		{elicit.Field{Kind: elicit.JSON}, elicit.Input{}, jsonText},
		{elicit.Field{Kind: elicit.File}, elicit.Input{Text: "data:,a"}, filePicker},
		{elicit.Field{Kind: elicit.File}, elicit.Input{JSON: `"https://example.com/"`}, jsonText},
	} {
		if got := (Field{Field: c.field, Input: c.input}).control(); got != c.want {
			t.Errorf("%v %q with %d choices and %+v: control %d, want %d", c.field.Kind, c.field.Format, len(c.field.Choices), c.input, got, c.want)
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

// TestKeptFile checks that a file which is too large for the page stays with the server, and that one
// which is chosen anew takes its place.
func TestKeptFile(t *testing.T) {
	fields, err := elicit.FieldsOf([]byte(`{"properties":{"p":{"type":"string","format":"uri","x-mcp-file":{}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	file, err := elicit.ReadFile(bytes.NewReader(make([]byte, 1<<20)), "a.png", "image/png")
	if err != nil {
		t.Fatal(err)
	}
	large := Submission{Inputs: elicit.Inputs{Fields: []elicit.Input{file}}}
	var page strings.Builder
	form := large.View("q1", fields, nil, func(value json.RawMessage) json.RawMessage { return value })
	if err := Panel(form, "").Render(t.Context(), &page); err != nil || page.Len() > fieldMost || !strings.Contains(page.String(), "a.png, image/png, 1 MB, sha256 30e14955ebf1") {
		t.Errorf("%v: %s", err, page.String()[:min(page.Len(), 4000)])
	}
	if lost, err := large.Lost(t.Context(), form.Fields, Submission{}); !lost || err != nil {
		t.Errorf("where nothing has the file, it is not lost (%v)", err)
	}
	posted := url.Values{"kept": {"0"}}
	if got := Submitted(&multipart.Form{Value: posted}, fields, large); !got.Inputs.Fields[0].Equal(large.Inputs.Fields[0]) {
		t.Error("the file is not kept")
	}
	posted.Set("f0", "data:,b")
	if got := Submitted(&multipart.Form{Value: posted}, fields, large); got.Inputs.Fields[0].Text != "data:,b" {
		t.Error("the file that is chosen anew does not count")
	}
}

func limit(n int) *int { return &n }

func choices(n int) []elicit.Choice {
	out := make([]elicit.Choice, n)
	for i := range out {
		out[i] = elicit.Choice{Value: fmt.Sprintf("v%d", i), Title: fmt.Sprintf("Title %d", i)}
	}
	return out
}
