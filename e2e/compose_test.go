package e2e

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"elicitation-inspector/e2e/internal/inspector"
	"elicitation-inspector/e2e/internal/look"
	"elicitation-inspector/e2e/internal/page"
)

// composing is a session on the page Compose.
type composing struct{ *session }

func (s composing) json() *page.Control {
	return s.page.Region("Question as JSON").Field("Params of elicitation/create")
}

func (s composing) form() *page.Control { return s.page.Role("article", "As it is asked") }

// TestCompose designs a question of three fields from the palette, breaks it, and asks it.
func TestCompose(t *testing.T) {
	t.Parallel()
	s := composing{open(t)}
	s.page.Role("link", "Compose").Click()
	s.json().Matches("has the first draft", func(string) bool { return strings.Contains(s.json().Value(), "requestedSchema") })

	palette := s.page.Role("group", "Add a field")
	palette.Button("Text").Click()
	title := s.page.Role("form", "Fields").Field("Title of text")
	title.HasFocus().Fill("Name")
	s.page.Press(page.Enter)
	s.form().Field("Name").Wait()
	palette.Button("One choice with titles").Click()
	palette.Button("Yes or no").Click()
	s.page.Role("form", "Fields").Checkbox("text is required").Click()
	s.form().Contains("required")
	s.form().Field("Name").Type("Ada")
	s.form().Role("group", "Will send").Contains(`"text": "Ada"`)
	fields := s.page.Role("form", "Fields")
	fields.Button("Move agreed up").Click()
	s.form().Matches("has agreed before option", func(shown string) bool { return strings.Index(shown, "Agreed") < strings.Index(shown, "Option") })
	fields.Button("Move agreed up").HasFocus()
	s.page.Press(page.Enter)
	s.form().Matches("has agreed first", func(shown string) bool { return strings.Index(shown, "Agreed") < strings.Index(shown, "Name") })
	s.form().Role("group", "Will send").Contains(`"text": "Ada"`) // what was typed moves with its field
	fields.Button("Remove option").Click()
	s.page.Button("Undo").Click()
	fields.Button("Remove option").Wait()
	s.page.Region("Findings").Contains("Nothing found")
	s.page.Region("Code that asks it").Contains("session.Elicit(ctx")

	whole := s.json().Value()
	s.json().Fill(strings.Replace(whole, `"type": "string",`, `"type": "string"`, 1))
	s.page.Button("Line 13, column 9").Wait()
	s.json().HasAttr("aria-invalid", "true")
	s.form().Field("Name").Wait() // the form stays
	s.json().Fill(whole)
	s.form().Field("Name").Wait()

	s.page.Reload() // at once, before the address has the draft
	s.json().HasValue(whole)
	address := page.Eval[string](s.page, `new Promise(function look(done) { location.hash ? done(location.hash) : requestAnimationFrame(() => look(done)) })`)
	s.json().HasValue(whole)
	s.json().Fill(`{"message":7}`)
	s.page.Region("Findings").Contains("The message is a number")
	s.page.Goto(s.Base + "/?compose" + address)
	s.json().HasValue(whole)

	if found := look.Axe(t, s.page); len(found) > 0 {
		t.Errorf("axe-core finds %v", found)
	}
	s.page.Button("Ask it").Click()
	question := s.question("What do you want to know, and why?")
	question.Field("Name").Type("Ada")
	question.Button("Accept").Click()
	s.result("Arrived:")

	// The same question again, from its card, and for a client that calls the tool without arguments.
	copied := s.page.Question("What do you want to know, and why?")
	page.Call[any](copied, "function() { this.querySelector('details').open = true }")
	copied.Button("More about this question").Click()
	copied.Link("Edit a copy").Click()
	s.json().HasValue(whole)
	s.page.Goto(s.Base + "/")
	s.call("ask_this")
	s.question("What do you want to know, and why?").Button("Decline").Click()
}

// tabTo moves the focus to a control with the Tab key.
func (s composing) tabTo(c *page.Control, held ...page.Modifier) {
	s.t.Helper()
	for range 60 {
		if c.Focused() {
			return
		}
		s.page.Press(page.TabKey, held...)
	}
	s.t.Fatalf("60 presses of Tab do not reach %s", c)
}

// TestComposeByKeyboard changes a draft without a mouse, and copies its link and its code.
func TestComposeByKeyboard(t *testing.T) {
	t.Parallel()
	s := composing{open(t)}
	s.page.Role("link", "Compose").Click()
	s.json().Wait()
	page.Eval[any](s.page, watchCopies)
	s.json().Matches("has the first draft", func(string) bool { return strings.Contains(s.json().Value(), "requestedSchema") })
	palette, fields := s.page.Role("group", "Add a field"), s.page.Role("form", "Fields")
	insert := func(kind, name string, held ...page.Modifier) {
		s.tabTo(palette.Button(kind), held...)
		s.page.Press(page.Enter)
		fields.Field("Title of " + name).HasFocus()
	}
	insert("Number", "number")
	s.page.Type("Guests")
	s.page.Press(page.Enter)
	s.form().Field("Guests").Wait()
	insert("Date", "date", page.Shift)
	s.tabTo(fields.Button("Move date up"))
	s.page.Press(page.Enter)
	s.form().Matches("has the date first", func(shown string) bool {
		return strings.Contains(shown, "Date") && strings.Index(shown, "Date") < strings.Index(shown, "Guests")
	})
	fields.Field("Title of date").HasFocus() // it cannot go further up
	s.tabTo(fields.Button("Remove date"))
	s.page.Press(page.Enter)
	s.form().Field("Date").Gone()
	fields.Button("Remove number").HasFocus() // that of the next field
	s.page.Press("z", page.Ctrl)
	s.form().Field("Date").Wait()
	s.page.Press("z", page.Ctrl, page.Shift)
	s.form().Field("Date").Gone()

	message := fields.Field("Message")
	message.Focus()
	s.page.Press("a", page.Ctrl)
	s.page.Type("How many?" + page.Enter + "And when?")
	s.page.Press(page.TabKey)
	s.page.Type("Guests to come") // while the change of the message is drawn
	s.json().Matches("has the message", func(string) bool { return strings.Contains(s.json().Value(), `"How many?\nAnd when?"`) })
	fields.Field("Title of number").HasValue("Guests to come")
	s.page.Press(page.TabKey)
	s.form().Field("Guests to come").Wait()
	message.Focus()
	s.page.Press("z", page.Ctrl)
	s.page.Press("z", page.Ctrl)
	s.json().Matches("has the first message again", func(string) bool { return strings.Contains(s.json().Value(), "What do you want to know") })
	message.HasValue("What do you want to know, and why?")

	s.tabTo(s.page.Region("Code that asks it").Button("Copy code"))
	s.page.Press(page.Enter)
	copied := func(part string) {
		s.page.Until(func() string { return "the clipboard has " + part }, func() bool {
			return strings.Contains(page.Eval[string](s.page, "window.copied ?? ''"), part)
		})
	}
	copied("session.Elicit(ctx")
	s.tabTo(s.page.Button("Copy link"), page.Shift)
	s.page.Press(page.Enter)
	copied("/?compose#")
	draft, link := s.json().Value(), page.Eval[string](s.page, "localStorage.removeItem('draft'), window.copied")
	s.page.Goto(s.Base + "/")
	s.page.Goto(link)
	s.json().HasValue(draft)
}

// TestComposeOfHuge pastes huge drafts: other controls go on, and what is too much is said.
func TestComposeOfHuge(t *testing.T) {
	t.Parallel()
	s := composing{open(t)}
	s.page.Role("link", "Compose").Click()
	s.json().Matches("has the first draft", func(string) bool { return strings.Contains(s.json().Value(), "requestedSchema") })
	first := s.json().Value()
	var fields strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&fields, `,"f%d":{"type":"string","title":"%x"}`, i, sha256.Sum256([]byte{byte(i), byte(i >> 8)}))
	}
	for _, huge := range []struct{ what, draft, said, limit string }{
		{"10,000 fields", `{"message":"Many?","requestedSchema":{"type":"object","properties":{` + fields.String()[1:] + `}}}`, "this inspector draws no more", "This draft is too long for a link."},
		{"5 MB", `{"message":"` + strings.Repeat("long ", 1<<20) + `","requestedSchema":{"type":"object","properties":{"n":{"type":"number"}}}}`, "1 field", ""},
	} {
		// A paste, without the seconds that the browser itself takes to insert so much.
		page.Call[any](s.json(), `function(text) { this.value = text; this.dispatchEvent(new Event('input', {bubbles: true})) }`, huge.draft)
		began := time.Now()
		s.page.Button("Undo").Click()
		s.json().HasValue(first)
		if took := time.Since(began); took > time.Minute { // on a busy machine; a frozen page never answers
			t.Errorf("%s: Undo answers after %v", huge.what, took)
		}
		t.Logf("%s: Undo answers after %v", huge.what, time.Since(began))
		s.page.Button("Redo").Click()
		s.page.Role("status", "").All().Having("id", "draft-state").Nth(0).Contains(huge.said)
		s.page.Region("Question as JSON").Contains(huge.limit)
		s.page.Button("Undo").Click()
		s.form().Contains("What do you want to know")
	}
}

// TestComposeAsNewcomer designs a question of a name, a number and a choice that is fine in five clients.
func TestComposeAsNewcomer(t *testing.T) {
	t.Parallel()
	s := composing{open(t)}
	began, actions := time.Now(), 0
	act := func(does func()) {
		actions++
		does()
	}
	act(s.page.Role("link", "Compose").Click)
	s.json().Matches("has the first draft", func(string) bool { return strings.Contains(s.json().Value(), "requestedSchema") })
	palette, fields := s.page.Role("group", "Add a field"), s.page.Role("form", "Fields")
	for _, f := range [][3]string{{"Text", "text", "Name"}, {"Whole number", "count", "Guests"}, {"One choice", "choice", "Meal"}} {
		act(palette.Button(f[0]).Click)
		fields.Field("Title of " + f[1]).HasFocus()
		act(func() { s.page.Type(f[2]) })
		act(func() { s.page.Press(page.Enter) })
		s.form().Field(f[2]).Wait()
		act(fields.Checkbox(f[1] + " is required").Click)
		s.form().Matches("has "+f[2]+" as required", func(string) bool { return fields.Checkbox(f[1] + " is required").Checked() })
	}
	write := func(field, text string) {
		act(func() { fields.Field(field).Focus() })
		act(func() { s.page.Press("a", page.Ctrl) })
		act(func() { s.page.Type(text) })
		act(func() { s.page.Press(page.TabKey) })
	}
	write("Choices of choice", "Fish"+page.Enter+"Pasta")
	s.form().Contains("Pasta")
	write("Message", "Who comes?")
	s.form().Contains("Who comes?")
	fields.Field("Title of text").HasFocus() // where the Tab key led
	for _, client := range []string{"Go SDK", "MCP Inspector", "MCPJam Inspector", "mcp-go", "TypeScript SDK, a program, with applyDefaults"} {
		s.page.Region("Seen in").Button(client + ": fine").Wait()
	}
	t.Logf("%d actions, %v by a script that does not think", actions, time.Since(began).Round(time.Millisecond))
}

// TestComposeOfTranscript edits a copy of a recorded question, which nothing here can ask.
func TestComposeOfTranscript(t *testing.T) {
	t.Parallel()
	s := composing{openFile(t,
		`>{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask"}}`,
		`<{"jsonrpc":"2.0","id":9,"method":"elicitation/create","params":{"message":"Which?","requestedSchema":{"type":"object","properties":{"n":{"type":"number","default":1.50}}}}}`)}
	card := s.page.Question("Which?")
	card.Button("Seen in").Click()
	card.Button("Codex: unanswerable").Click()
	card.Region("As Codex shows it").Contains("removed /content/n")
	s.page.Press(page.Escape)
	card.Button("More about this question").Click()
	card.Link("Edit a copy").Click()
	s.form().Field("n").HasValue("1.50")
	s.page.Button("Ask it").HasAttr("disabled", "")
	s.page.Region("Question as JSON").Wait()
}

// TestSeenIn sees a draft as a client draws it, asks it, and sees it in two clients while it waits and in one afterwards.
func TestSeenIn(t *testing.T) {
	t.Parallel()
	s := composing{open(t)}
	s.page.Role("link", "Compose").Click()
	s.json().Fill(`{"message":"Delete 47 files?","requestedSchema":{"type":"object","properties":{"reason":{"type":"string","title":"Reason","description":"It goes into the log.","pattern":"^[A-Z]"},"keep":{"type":"integer","title":"Keep the newest","default":3},"confirm":{"type":"boolean","title":"Delete them","default":true}},"required":["reason"]}}`)
	seen := s.page.Region("Seen in")
	seen.Button("Gemini CLI: not shown").Wait()
	seen.Button("Codex: guard passes unseen").Click()
	seen.Button("Codex: guard passes unseen").HasAttr("aria-expanded", "true")
	seen.Region("As Codex shows it").Contains("/content/confirm")
	if found := look.Axe(t, s.page); len(found) > 0 {
		t.Errorf("axe-core finds %v", found)
	}

	s.page.Button("Ask it").Click()
	card := s.question("Delete 47 files?")
	s.page.Question("Delete 47 files?").Button("Seen in").Focus()
	s.page.Press(page.Enter)
	codex := card.Button("Codex: guard passes unseen")
	codex.Click()
	drawn := card.Region("As Codex shows it")
	drawn.Contains(`not shown: "reason", "keep" and "confirm"`).Contains("removed /content/keep")
	card.Button("VS Code, chat: guard passes unseen").Click()
	drawn.Gone()
	codex.HasAttr("aria-expanded", "false")
	drawn = card.Region("As VS Code, chat shows it")
	drawn.Contains("has to be filled in").Contains("Both send the same.")
	drawn.Field("Keep the newest").HasAttr("disabled", "").HasValue("3")
	if found := look.Axe(t, s.page); len(found) > 0 {
		t.Errorf("axe-core finds %v", found)
	}
	s.page.Press(page.Escape)
	drawn.Gone()
	card.Field("Reason").Fill("Old")
	card.Button("Accept").Click()
	s.result(`"confirm":true`)
	settled := s.page.Question("Delete 47 files?")
	page.Call[any](settled, "function() { this.querySelector('details').open = true }")
	settled.Button("Seen in").Click()
	settled.Button("Gemini CLI: not shown").Click()
	settled.Region("As Gemini CLI shows it").Contains("No person sees it.")
}

// TestDemoAsk has the demo ask a question of a file.
func TestDemoAsk(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "question.json")
	if err := os.WriteFile(file, []byte(`{"message":"Of the file?","requestedSchema":{"type":"object","properties":{}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	s := openOn(t, []string{inspector.Binary, "demo", "--ask", file})
	s.call("ask_this")
	s.question("Of the file?").Button("Accept").Click()
	s.result("Arrived: {}")
}
