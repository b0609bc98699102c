package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/creack/pty"

	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/judges/fit"
	"elicitation-inspector/bridge/meaning/elicit"
	"elicitation-inspector/e2e/internal/page"
	"elicitation-inspector/e2e/internal/servers"
)

// asking is a server whose tool ask puts its questions one after the other, and holds what is sent for each
// against a profile.
type asking struct {
	*testing.T
	url       string
	profile   *fit.Profile
	questions []*elicit.Request
	answers   chan json.RawMessage
	at        atomic.Int32 // the place of the question that waits
	asks      chan int     // the same, for those who wait for the next one
	judged    int
}

func newAsking(t *testing.T, client string) *asking {
	t.Helper()
	profiles, err := fit.Choose([]string{client})
	if err != nil {
		t.Fatal(err)
	}
	a := &asking{T: t, profile: profiles[0], questions: fitQuestions(t), answers: make(chan json.RawMessage, 1)}
	defer func() { a.asks = make(chan int, len(a.questions)) }()
	published, err := os.ReadFile(filepath.Join("..", "bridge", "judges", "fit", "testdata", "published.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(published) {
		q, err := elicit.Parse(rawjson.Member(line, "params"))
		if err != nil {
			t.Fatal(err)
		}
		if q.Mode == elicit.ModeURL && q.ElicitationID == "" { // taken from a result of 2026-07-28, where it has no id
			q.Params = rawjson.WithMember(q.Params, "elicitationId", `"1"`)
		}
		q.Params = rawjson.Without(q.Params, "task") // to which a client of tasks answers with one
		a.questions = append(a.questions, q)
	}
	web := httptest.NewServer(a)
	t.Cleanup(web.Close)
	a.url = web.URL + "/mcp"
	return a
}

// ServeHTTP takes one message.
func (a *asking) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil || r.Method != http.MethodPost {
		http.Error(w, "only POST", http.StatusMethodNotAllowed)
		return
	}
	id := rawjson.Member(body, "id")
	say := func(member string) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,%s}`, id, member)
	}
	switch method := rawjson.Text(rawjson.Member(body, "method")); {
	case method == "" && id != nil:
		a.answers <- body
		w.WriteHeader(http.StatusAccepted)
	case id == nil:
		w.WriteHeader(http.StatusAccepted)
	case method == "initialize":
		say(`"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"asks","version":"1"}}`)
	case method == "tools/list":
		say(`"result":{"tools":[{"name":"ask","inputSchema":{"type":"object"}}]}`)
	case method == "ping":
		say(`"result":{}`)
	case method == "tools/call":
		w.Header().Set("Content-Type", "text/event-stream")
		for i, q := range a.questions {
			a.at.Store(int32(i))
			fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"elicitation/create\",\"params\":%s}\n\n", i, q.Params)
			if err := http.NewResponseController(w).Flush(); err != nil {
				a.Errorf("asking %d: %v", i, err)
			}
			a.asks <- i
			select {
			case answer := <-a.answers:
				a.judge(q, answer)
			case <-r.Context().Done():
				a.Errorf("it went away at question %d: %s", i, q.Params)
				return
			}
		}
		close(a.asks)
		fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"All is asked.\"}]}}\n\n", id)
	default:
		say(`"error":{"code":-32601,"message":"Method not found"}`)
	}
}

func (a *asking) judge(q *elicit.Request, answer json.RawMessage) {
	a.judged++
	if s := fit.See(q, a.profile); !bytes.Equal(s.Accept, rawjson.Member(answer, "result")) {
		a.Errorf("%s: %s: the profile says\n%s, and it sends\n%s", a.profile.Client, q.Params, s.Accept, answer)
	}
}

// done checks that every question was asked.
func (a *asking) done() {
	a.Helper()
	if a.judged != len(a.questions) {
		a.Errorf("%s was asked %d of %d questions", a.profile.Client, a.judged, len(a.questions))
	}
}

// officialProgram returns the command of a program of the official Inspector, which the task official installs.
func officialProgram(t testing.TB, script ...string) []string {
	t.Helper()
	program := filepath.Join(servers.Cache(), "official", "node_modules", "@modelcontextprotocol", "inspector")
	if raw, err := os.ReadFile(filepath.Join(program, "package.json")); err != nil || !strings.Contains(string(raw), `"version": "`+officialVersion+`"`) {
		t.Fatalf("the task official installs the official Inspector %s; it is not in %s (%v)", officialVersion, program, err)
	}
	return []string{servers.Node(t)[0], filepath.Join(append([]string{program, "clients"}, script...)...)}
}

var (
	styled = regexp.MustCompile(`\x1b\[[0-9;?]*[ -/]*[@-~]|\r`)
	// prompted is what mcpdo waits at.
	prompted = regexp.MustCompile(`(?:\n  (?:\[.*\])?: |Enter a number: |separated by commas: |'c' to cancel\)?: )$`)
	// refusedEntry is what mcpdo says of an entry that it does not take.
	refusedEntry = regexp.MustCompile(`Please answer|This field is required|Select at|Enter (?:a valid|exactly|a number between)|Must be at`)
)

// TestFitMcpdo holds the profile of mcpdo against the program at a terminal, byte for byte: Enter wherever that is
// taken, and else what is asked for.
func TestFitMcpdo(t *testing.T) {
	if !*whole {
		t.Skip("needs the official Inspector: go test -run TestFitMcpdo . -whole, in the task whole:e2e")
	}
	a := newAsking(t, "mcpdo")
	home, err := os.MkdirTemp("", "mcpdo") // a socket is in it, whose path must be short
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(home)
	environment := append(os.Environ(), "HOME="+home, "MCP_INSPECTOR_DAEMON_DIR="+home, "MCP_INSPECTOR_SECRET_STORE=file")
	ctx, cancel := context.WithTimeout(context.Background(), page.Wait)
	defer cancel()
	mcpdo := func(ctx context.Context, args ...string) *exec.Cmd {
		command := officialProgram(t, "mcpdo", "build", "mcp-bin.js")
		cmd := exec.CommandContext(ctx, command[0], append(command[1:], args...)...)
		cmd.Env = environment
		return cmd
	}
	run := func(args ...string) {
		if out, err := mcpdo(context.Background(), args...).CombinedOutput(); err != nil {
			t.Errorf("mcpdo %v: %v\n%s", args, err, out)
		}
	}
	run("connect", a.url)
	defer run("daemon", "stop")
	cmd := mcpdo(ctx, "tools/call", "ask")
	terminal, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 50, Cols: 500})
	if err != nil {
		t.Fatal(err)
	}
	defer terminal.Close()
	shown, field := "", -1
	buffer := make([]byte, 1<<16)
	for {
		n, err := terminal.Read(buffer)
		if shown += styled.ReplaceAllString(string(buffer[:n]), ""); err != nil {
			break // the program has ended
		}
		if !prompted.MatchString(shown) {
			continue
		}
		if strings.Contains(shown, "Input requested: ") {
			field = -1
		}
		entry := ""
		if field++; refusedEntry.MatchString(shown) {
			field--
			entry = atPrompt(a.questions[a.at.Load()], field)
		}
		shown = ""
		// After a carriage return, readline drops the line feed that the terminal may make of the next one.
		if _, err := io.WriteString(terminal, entry+"\n"); err != nil {
			t.Fatal(err)
		}
	}
	if err := cmd.Wait(); err != nil || !strings.Contains(shown, "All is asked.") {
		t.Errorf("%v: %s", err, shown)
	}
	a.done()
}

// atPrompt returns what a person enters for a field at a prompt of mcpdo.
func atPrompt(q *elicit.Request, field int) string {
	f := q.Fields[field]
	f.Required = true
	value := rawjson.Member(elicit.Valid([]elicit.Field{f}), f.Name)
	number := func(value json.RawMessage) string {
		return strconv.Itoa(1 + slices.IndexFunc(f.Choices, func(c elicit.Choice) bool { return c.Value == rawjson.Text(value) }))
	}
	switch {
	case f.Kind == elicit.SingleChoice:
		return number(value)
	case f.Kind == elicit.MultiChoice:
		var list []string
		for _, one := range rawjson.Elements(value) {
			list = append(list, number(one))
		}
		return strings.Join(list, ",")
	case f.Kind == elicit.Boolean:
		return map[string]string{"true": "y", "false": "n"}[string(value)]
	}
	if text, ok := rawjson.Unquote(value); ok {
		return text
	}
	return string(value)
}

// TestFitInspector holds the profile of the official Inspector against its page, byte for byte: what is required is
// entered where Submit waits for it, and all else is left alone. That it opens URLs is measured by the probe.
func TestFitInspector(t *testing.T) {
	if !*whole {
		t.Skip("needs the official Inspector: go test -run TestFitInspector . -whole, in the task whole:e2e")
	}
	a := newAsking(t, "inspector")
	a.questions = slices.DeleteFunc(a.questions, func(q *elicit.Request) bool { return q.Mode == elicit.ModeURL })
	tab := browser.Blank(t)
	tab.Size(1440, 1400)
	if err := chromedp.Do(tab.Context(), chromedp.Navigate(official(t, "--transport", "http", "--server-url", a.url))); err != nil {
		t.Fatal(err)
	}
	tab.Role("switch", `Connect or disconnect "`+strings.TrimSuffix(strings.TrimPrefix(a.url, "http://"), "/mcp")+`"`).Click()
	for _, name := range []string{"Tools", "ask", "Execute Tool"} { // elements of several kinds
		page.Eval[any](tab, `new Promise(function look(done) {
			const at = [...document.querySelectorAll('button, label')].find(e => e.textContent.trim() === '`+name+`');
			at ? done(at.click()) : requestAnimationFrame(() => look(done));
		})`)
	}
	for i := range a.asks {
		q := a.questions[i]
		submits := page.Eval[bool](tab, `new Promise(function look(done) {
			const dialog = document.querySelector('[role=dialog]');
			const submit = [...dialog?.querySelectorAll('button') ?? []].find(e => e.textContent.trim() === 'Submit');
			const same = submit && document.lastQuestion !== `+strconv.Itoa(i)+` && dialog.textContent.includes(`+string(rawjson.Quoted(strings.TrimSpace(q.Message)))+`);
			if (!same) return requestAnimationFrame(() => look(done));
			document.lastQuestion = `+strconv.Itoa(i)+`;
			requestAnimationFrame(() => requestAnimationFrame(() => done(!submit.disabled && !submit.dataset.disabled)));
		})`)
		dialog := tab.Role("dialog", "Elicitation Request")
		for k := range q.Fields {
			if f := q.Fields[k]; !submits && f.Required && f.Default == nil {
				enter(dialog, f)
			}
		}
		dialog.Button("Submit").Click()
	}
	a.done()
}

// enter fills in a field of the official Inspector's form.
func enter(dialog *page.Control, f elicit.Field) {
	value := rawjson.Member(elicit.Valid([]elicit.Field{f}), f.Name)
	title := func(value json.RawMessage) string {
		return f.Choices[slices.IndexFunc(f.Choices, func(c elicit.Choice) bool { return c.Value == rawjson.Text(value) })].Title
	}
	switch control := dialog.Field(f.Label); f.Kind {
	case elicit.SingleChoice:
		control.Click()
		dialog.Page().Role("option", title(value)).Click()
	case elicit.MultiChoice:
		for _, one := range rawjson.Elements(value) {
			control.Click()
			dialog.Page().Role("option", title(one)).Click()
			dialog.Page().Press(page.Escape)
		}
	case elicit.Boolean:
		control.Click()
	case elicit.Text:
		control.Type(rawjson.Text(value))
	default:
		control.Type(string(value))
	}
}
