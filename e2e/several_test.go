package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"elicitation-inspector/e2e/internal/page"
	"elicitation-inspector/e2e/internal/servers"
)

// Several questions of one call wait side by side and are answered in any order.
func TestSeveralQuestionsAtOnce(t *testing.T) {
	t.Parallel()
	rude := servers.NewRude(t, nil)
	s := openOn(t, rude.Command)
	s.call("ask_three")
	cities := []string{"Lisbon", "Graz", "Turku"}
	for _, city := range cities {
		s.question("How many people go to " + city + "?").Contains("rude").Contains("ask_three")
	}
	if title := s.page.Title(); !strings.Contains(title, "3") {
		t.Errorf("the title does not say that 3 questions wait: %q", title)
	}

	q := s.question("How many people go to Turku?")
	q.Field("People").Fill("3")
	q.Role("group", "Will send").Contains("3")
	s.accept(q, 1)
	s.question("How many people go to Lisbon?").Button("Decline").Click()
	s.state("How many people go to Lisbon?", "answered")
	s.question("How many people go to Graz?").Button("Cancel").Click()
	s.result(`received: {"action":"decline"} {"action":"cancel"} {"action":"accept","content":{"people":3}}`)
	if title := s.page.Title(); strings.Contains(title, "1") {
		t.Errorf("the title still says that questions wait: %q", title)
	}
}

// Questions of several calls wait at once. Over stdio nothing identifies the call of a
// question among several running ones, and the page does not guess wrong.
func TestQuestionsOfSeveralCalls(t *testing.T) {
	t.Parallel()
	rude := servers.NewRude(t, []servers.Question{
		{Name: "ask_colour", Params: `{"message":"Which colour?","requestedSchema":{"type":"object","properties":{"colour":{"type":"string"}}}}`},
		{Name: "ask_size", Params: `{"message":"Which size?","requestedSchema":{"type":"object","properties":{"size":{"type":"string"}}}}`},
	})
	s := openOn(t, rude.Command)
	s.call("ask_colour")
	colour := s.question("Which colour?")
	s.call("ask_size")
	size := s.question("Which size?")
	colour.Contains("ask_colour") // only one call ran then
	if shown := size.Text(); strings.Contains(shown, "during ask_colour") {
		t.Errorf("the second question is said to belong to the first call: %q", shown)
	}
	colour.Field("colour").Fill("red")
	size.Field("size").Fill("XL")
	colour.Role("group", "Will send").Contains("red")
	colour.Button("Accept").Click()
	s.page.Region("Questions").Button("Earlier (1)").Click() // the settled questions of calls that are not on show
	s.state("Which colour?", "answered")
	size.Field("size").HasValue("XL")
	size.Role("group", "Will send").Contains("XL")
	size.Button("Accept").Click()
	s.result(`received: {"action":"accept","content":{"size":"XL"}}`)
	rude.Until("the first answer", func(line string) bool { return strings.Contains(line, `{"colour":"red"}`) })
}

// Over HTTP the stream identifies the call of each question.
func TestQuestionsOfSeveralCallsOverHTTP(t *testing.T) {
	t.Parallel()
	s := open(t, servers.EverythingHTTP(t))
	for call := 1; call <= 3; call++ {
		s.call(everythingTool)
		pending := s.page.Region("Questions").Article(everythingAsks).Having("data-state", "pending")
		s.page.Until(func() string { return "another question is there" }, func() bool { return pending.Count() == call })
		one := s.page.Region("Questions").Article(everythingAsks).Having("data-call", strconv.Itoa(call))
		one.Button("More about this question").Click()
		one.Contains("call " + strconv.Itoa(call))
		s.page.Press(page.Escape)
	}
}

// An mcp.json with several servers connects to all of them, and every place names the
// right server.
func TestConfigFile(t *testing.T) {
	alpha, beta := servers.NewRude(t, nil, "-name", "Alpha Server"), servers.NewRude(t, nil, "-name", "Beta Server")
	argument := func(s string) string {
		b, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	list := func(command []string) string {
		var quoted []string
		for _, a := range command[1:] {
			quoted = append(quoted, argument(a))
		}
		return "[" + strings.Join(quoted, ", ") + ",]"
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "mcp.json")
	config := `{
		// Comments and trailing commas are allowed.
		"mcpServers": {
			"alpha": {"command": "${env:RUDE_BINARY}", "args": ` + list(alpha.Command) + `},
			"beta": {"command": ` + argument(beta.Command[0]) + `, "args": ` + list(beta.Command) + `, "env": {"GREETING": "${WHO:-nobody}"}},
			"gamma": {"command": "/no/such/program"},
		},
	}`
	if err := os.WriteFile(path, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("RUDE_BINARY", alpha.Command[0])

	s := open(t, "--config", path)
	bar := s.page.Region("Servers")
	bar.Contains("alpha").Contains("beta").Contains("gamma").Contains("failed")
	for _, tool := range []string{"alpha", "beta"} {
		s.page.Region("Tools").Contains(tool)
	}
	ask := s.page.Region("Tools").Button("ask")
	s.page.Until(func() string { return "both servers list the tool ask" }, func() bool { return ask.Count() == 2 })
	ask.Nth(1).Click()
	s.page.Region("Call").Button("Call").Click()
	q := s.question("Who signs the release?").Contains("beta")
	q.Field("Signer").Fill("Bea")
	q.Role("group", "Will send").Contains("Bea")
	q.Button("Accept").Click()
	s.result(`received: {"action":"accept","content":{"signer":"Bea"}}`)
	if got := len(alpha.Answers()); got != 0 {
		t.Errorf("the other server got %d answers", got)
	}
	for _, f := range s.Wire().Requests("s2c", "elicitation/create") {
		if f.ServerLabel != "beta" {
			t.Errorf("a question of beta is attributed to %q", f.ServerLabel)
		}
	}

	only := open(t, "--config", path, "--server", "beta")
	only.page.Region("Servers").Contains("beta").Contains("ready")
	if shown := only.page.Region("Servers").Text(); strings.Contains(shown, "alpha") {
		t.Errorf("--server beta connects to others as well: %q", shown)
	}
}
