package e2e

import (
	"encoding/json"
	"strings"
	"testing"

	"elicitation-inspector/e2e/internal/page"
	"elicitation-inspector/e2e/internal/servers"
)

// npm's reference server asks for one field of every kind.
func TestServerEverything(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		open func(t *testing.T) *session
		how  string
	}{
		{"stdio", func(t *testing.T) *session { return openOn(t, servers.Everything(t, "stdio")) }, "stdio"},
		{"Streamable HTTP", func(t *testing.T) *session { return open(t, servers.EverythingHTTP(t)) }, "HTTP"},
		{"HTTP+SSE by fallback", func(t *testing.T) *session { return open(t, servers.EverythingSSE(t)) }, "SSE"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := c.open(t)
			s.page.Region("Servers").Contains(c.how).Contains("ready")
			s.everythingAccepts()
			s.everythingRefuses("Decline", "decline", "User declined to provide the requested information.", 2)
			s.everythingRefuses("Cancel", "cancel", "User cancelled the elicitation dialog.", 3)
		})
	}
}

const everythingTool = "trigger-elicitation-request"
const everythingAsks = "Please provide inputs for the following fields:"

func (s *session) everythingAccepts() {
	t := s.t
	t.Helper()
	s.call(everythingTool)
	q := s.question(everythingAsks)

	want := []string{"String", "Boolean", "String with default", "String with email format", "String with uri format",
		"String with date format", "Integer", "Number in range 1-1000", "Untitled Single Select Enum",
		"Untitled Multiple Select Enum", "Titled Single Select Enum", "Titled Multiple Select Enum", "Legacy Titled Single Select Enum"}
	got := q.Fields()
	for i, j := 0, 0; j < len(want); i++ { // other controls may be between them, but the order must be right
		if i == len(got) {
			t.Fatalf("the fields are %q; %q is missing or out of order", got, want[j])
		}
		if got[i] == want[j] {
			j++
		}
	}

	q.Field("String").Type("Ada “the first” Lovelace & sons <i>")
	q.Field("Boolean").Choose("No")
	q.Field("String with email format").Type("ada@example.org")
	q.Field("String with uri format").Type("https://example.org/~ada?a=1&b=2")
	q.Field("String with date format").Focus()
	s.page.Type("12101815")
	q.Field("Integer").Fill("7")
	q.Field("Number in range 1-1000").Fill("2.50")
	q.Field("Untitled Single Select Enum").Choose("Joey")
	q.Field("Untitled Multiple Select Enum").Choose("Guitar")
	q.Field("Untitled Multiple Select Enum").Choose("Drums")
	q.Field("Titled Single Select Enum").Choose("Wonder Woman")
	q.Field("Titled Multiple Select Enum").Choose("Trout")
	q.Field("Legacy Titled Single Select Enum").Choose("Fish")
	q.Role("group", "Will send").Contains("pet-4")

	sent := s.accept(q, 1)
	const content = `{"name":"Ada “the first” Lovelace & sons <i>","check":false,"firstLine":"It was a dark and stormy night.",` +
		`"email":"ada@example.org","homepage":"https://example.org/~ada?a=1&b=2","birthdate":"1815-12-10","integer":7,"number":2.50,` +
		`"untitledSingleSelectEnum":"Joey","untitledMultipleSelectEnum":["Drums"],"titledSingleSelectEnum":"hero-3",` +
		`"titledMultipleSelectEnum":["fish-1","fish-3"],"legacyTitledEnum":"pet-4"}`
	if want := `{"action":"accept","content":` + content + `}`; sent != want {
		t.Errorf("sent\n%s, want\n%s", sent, want)
	}
	s.result("User provided the requested information!")
	s.result("Raw result").Matches("holds what the page showed", func(shown string) bool { return sameRawResult(t, shown, sent) })
}

func (s *session) everythingRefuses(button, action, said string, nth int) {
	s.t.Helper()
	s.call(everythingTool)
	s.question(everythingAsks).Button(button).Click()
	if got, want := s.answer(nth), `{"action":"`+action+`"}`; got != want {
		s.t.Errorf("%s sent %s, want %s", button, got, want)
	}
	s.result(said).Matches("holds what was sent", func(shown string) bool {
		return sameRawResult(s.t, shown, `{"action":"`+action+`"}`)
	})
}

// sameRawResult compares the answer that server-everything reports ("Raw result: {…}",
// written by JavaScript) with the sent one.
func sameRawResult(t testing.TB, shown, sent string) bool {
	t.Helper()
	_, raw, ok := strings.Cut(shown, "Raw result: ")
	if !ok {
		return false
	}
	var received, want any
	if err := json.NewDecoder(strings.NewReader(raw)).Decode(&received); err != nil {
		return false
	}
	if err := json.Unmarshal([]byte(sent), &want); err != nil {
		t.Fatal(err)
	}
	a, _ := json.Marshal(received)
	b, _ := json.Marshal(want)
	return string(a) == string(b)
}

// Progress of a real server is a bar, and its tools' own forms come from their schemas.
func TestServerEverythingCalls(t *testing.T) {
	t.Parallel()
	s := openOn(t, servers.Everything(t, "stdio"))

	call := s.choose("Tools", "get-sum")
	call.Field("a").Type("0.1")
	call.Field("b").Type("0.2")
	call.Button("Call").Click()
	s.result("0.30000000000000004")

	call = s.choose("Tools", "trigger-long-running-operation")
	call.Field("duration").Fill("6") // long enough to be seen on a busy machine
	call.Field("steps").Fill("4")
	call.Button("Call").Click()
	s.page.Region("Call").Role("progressbar", "Progress").Wait()
	s.result("Duration: 6 seconds, Steps: 4.")

	s.choose("Tools", "get-tiny-image").Button("Call").Click()
	s.result("image")
	s.page.Until(
		func() string { return "the picture of get-tiny-image is shown" },
		func() bool {
			img := s.page.Region("Result").Role("image", "").All()
			return img.Count() == 1 && page.Call[int](img, "function() { return this.naturalWidth }") > 1
		},
	)

	s.choose("Prompts", "simple-prompt").Button("Call").Click()
	s.result("This is a simple prompt without arguments.")
	call = s.choose("Prompts", "args-prompt")
	call.Field("city").Type("Graz")
	call.Button("Call").Click()
	s.result("What's weather in Graz?")
}
