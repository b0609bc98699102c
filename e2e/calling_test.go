package e2e

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"elicitation-inspector/e2e/internal/page"
	"elicitation-inspector/e2e/internal/servers"
)

// A tool's arguments have the same fields as a question, a JSON editor for values that a
// form cannot express, and a switch between the two that loses nothing.
func TestArguments(t *testing.T) {
	t.Parallel()
	rude := servers.NewRude(t, nil)
	s := openOn(t, rude.Command)
	call := s.choose("Tools", "echo")
	call.Field("Title").Fill("a <b>")
	call.Field("Amount").Fill("1.50")
	call.Field("Count").Fill("9007199254740993")
	call.Field("Dry run").Choose("No")
	call.Field("Size").Choose("large")
	call.Field("Nested").Fill(`{"a": [1]}`)
	call.TabNamed("JSON").Click()
	content := call.Field("Content").Wait()
	want := `{"title":"a <b>","amount":1.50,"count":9007199254740993,"dry":false,"size":"large","nested":{"a":[1]}}`
	if got := compact(t, content.Value()); got != want {
		t.Errorf("the JSON tab holds %s, want %s", got, want)
	}
	call.TabNamed("Form").Click()
	call.Field("Title").HasValue("a <b>")
	call.Button("Call").Click()
	s.resultIs(want)

	call = s.choose("Tools", "echo")
	call.TabNamed("JSON").Click()
	call.Field("Content").Paste(`{"title":"x","unknown":{"deep":[null,1.0]}}`)
	call.Button("Call").Click()
	s.resultIs(`{"title":"x","unknown":{"deep":[null,1.0]}}`)

	// A missing required argument is an error at its field; Send anyway still makes the
	// call.
	call = s.choose("Tools", "echo")
	call.Field("Title").Fill("")
	call.Field("Amount").Fill("2")
	call.Button("Call").Click()
	call.Field("Title").HasAttr("aria-invalid", "true")
	call.Button("Send anyway").Click()
	s.resultIs(`{"amount":2}`)
}

// resultIs waits until the region Result shows this JSON, ignoring white space.
func (s *session) resultIs(want string) {
	s.t.Helper()
	s.page.Region("Result").Matches("is "+want, func(shown string) bool {
		from := strings.Index(shown, "{")
		var b bytes.Buffer
		return from >= 0 && json.Compact(&b, []byte(shown[from:])) == nil && b.String() == want
	})
}

// Results of all kinds are shown in a readable form.
func TestResults(t *testing.T) {
	t.Parallel()
	rude := servers.NewRude(t, nil)
	s := openOn(t, rude.Command)

	s.call("parts")
	r := s.result("12.50").Contains(`"plain"`).Contains("report.pdf").Contains("https://example.org/report.pdf").Contains("an embedded note")
	img := r.Role("image", "").All()
	s.page.Until(func() string { return "the picture is shown" }, func() bool {
		return img.Count() == 1 && page.Call[int](img, "function() { return this.naturalWidth }") == 1
	})
	if n := page.Call[int](r, "function() { return this.querySelectorAll('audio').length }"); n != 1 {
		t.Errorf("there are %d audio players", n)
	}

	s.call("is_error")
	s.result("the disk is full").Contains("isError")
	s.call("rpc_error")
	s.result("-32602").Contains("no such account").Contains("42-17").Contains("see the <b>list</b>")
	s.result("-32602").Matches("says what -32602 means", func(shown string) bool {
		return strings.Contains(strings.ToLower(shown), "invalid params") || strings.Contains(strings.ToLower(shown), "parameters")
	})
	s.call("large")
	s.result("0123456789abcdef")
}

// Progress is a bar that moves; a call has no time limit of its own.
func TestProgress(t *testing.T) {
	t.Parallel()
	rude := servers.NewRude(t, nil)
	s := openOn(t, rude.Command)
	s.call("progress")
	call := s.page.Region("Call")
	call.Button("Stop").Wait()
	for _, step := range []string{"1", "2", "3"} {
		rude.Order("go")
		bar := call.Role("progressbar", "Progress").HasAttr("value", step)
		if got := bar.Attr("max"); got != "3" {
			t.Errorf("the bar ends at %s", got)
		}
		call.Contains("copied " + step + " of 3 tables")
	}
	rude.Order("go")
	s.result("all tables copied")
}

// Prompts, resources and templates are called in the same way as tools.
func TestPromptsAndResources(t *testing.T) {
	t.Parallel()
	rude := servers.NewRude(t, nil)
	s := openOn(t, rude.Command)
	s.choose("Prompts", "plain_prompt").Button("Call").Click()
	s.result("plain_prompt with").Contains("Certainly.").Contains("assistant")
	call := s.choose("Prompts", "letter")
	call.Field("Recipient").Fill("Ms. Noether")
	call.Button("Call").Click()
	s.result(`letter with {"to":"Ms. Noether"}`)

	s.choose("Resources", "first note").Button("Read").Click()
	s.result("the text of note://1")
	call = s.choose("Resources", "any note")
	call.Field("number").Fill("12")
	call.Field("page").Fill("a b/c")
	call.Button("Read").Click()
	s.result("the text of note://12/page/a%20b%2Fc")
	s.choose("Resources", "a pixel").Button("Read").Click()
	s.result("image/png")
}

// The lists can be searched, and are read again after list_changed notifications.
func TestLists(t *testing.T) {
	t.Parallel()
	rude := servers.NewRude(t, nil)
	s := openOn(t, rude.Command)
	tools := s.page.Region("Tools")
	tools.Button("large").Wait() // on the last page of the list
	s.page.Role("searchbox", "Search").Fill("rpc")
	s.page.Until(func() string { return "only what matches is listed" }, func() bool {
		names := tools.Button("").All().Names()
		return len(names) == 1 && names[0] == "rpc_error"
	})
	s.page.Role("searchbox", "Search").Fill("")
	tools.Button("ask").Wait()

	rude.Order("change")
	tools.Button("late_arrival").Wait()
	s.call("late_arrival")
	s.page.Region("Result").Wait()
}
