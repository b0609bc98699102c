package fit

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/judges/probe"
	"elicitation-inspector/bridge/meaning/elicit"
	"elicitation-inspector/bridge/testdata/logtest"
)

// TestProfiles checks that every fact names its source, and every source a place and a day.
func TestProfiles(t *testing.T) {
	names, err := fs.Glob(profiles, "profiles/*.json")
	if err != nil || len(names) < 10 {
		t.Fatalf("%d profiles, %v", len(names), err)
	}
	now := time.Now()
	for _, name := range names {
		text, err := profiles.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		list, err := Parse(name, text)
		if err != nil {
			t.Errorf("%v", err)
			continue
		}
		p := list[0]
		if p.Client+".json" != filepath.Base(name) {
			t.Errorf("%s is of the client %s", name, p.Client)
		}
		used := map[string]bool{}
		for i, f := range p.Facts {
			for _, key := range f.From {
				used[key] = true
			}
			f.Of, f.From, f.When = nil, nil, ""
			if says, _ := json.Marshal(f); string(says) == `{"of":null,"from":null}` {
				t.Errorf("%s: fact %d says nothing", name, i+1)
			}
		}
		for key, s := range p.Sources {
			for _, day := range []string{s.Date, cmp.Or(s.Committed, s.Date)} {
				if at, err := time.Parse(time.DateOnly, day); err != nil || at.After(now) {
					t.Errorf("%s: the source %s is of %q", name, key, day)
				}
			}
			switch {
			case !used[key]:
				t.Errorf("%s: no fact is from %s", name, key)
			case s.How == Read && (s.Path == "" || !regexp.MustCompile(`^(npm:)?@?[\w.-]+/[\w.-]+$`).MatchString(s.Repository)):
				t.Errorf("%s: %s was read in %q %q", name, key, s.Repository, s.Path)
			case s.How == Read && s.Commit == "" && !(strings.HasPrefix(s.Repository, "npm:") && strings.Contains(s.Note, "version ")):
				t.Errorf("%s: %s was read at no commit or version", name, key)
			case s.How == Reported && !strings.HasPrefix(s.URL, "https://github.com/"):
				t.Errorf("%s: %s is reported at %q", name, key, s.URL)
			case s.How == Measured:
				if _, err := os.Stat(filepath.Join("..", "..", "..", s.Path)); err != nil {
					t.Errorf("%s: %s: %v", name, key, err)
				}
			}
		}
	}
}

// TestCautions checks what is said of old evidence, of closed clients and of hearsay.
func TestCautions(t *testing.T) {
	now := time.Date(2026, 11, 28, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		closed bool
		how    How
		date   string
		want   string
	}{
		{false, Read, "2026-09-01", ""},
		{false, Read, "2025-09-01", "Its evidence is of 2025-09-01, more than a year old."},
		{true, Read, "2026-09-01", "Its source is closed, and nobody has measured it."},
		{true, Measured, "2026-09-01", ""},
		{false, Reported, "2026-09-01", "Nobody has read its source or measured it."},
	} {
		p := &Profile{Closed: c.closed, Sources: map[string]Source{"a": {How: c.how, Date: c.date}}}
		if got := strings.Join(p.Cautions(now), " "); got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
}

// TestParseRefuses checks that what is no profile is refused.
func TestParseRefuses(t *testing.T) {
	good := `{"client":"mine","name":"Mine","version":"1","surface":"page","sources":{"a":{"how":"measured","path":"x.json","date":"2026-11-28"}},"facts":[{"of":["*"],"from":["a"],"default":"sent"}]}`
	if _, err := Parse("mine", []byte(good)); err != nil {
		t.Error(err)
	}
	for _, bad := range []string{
		strings.Replace(good, `"sent"`, `"kept"`, 1), strings.Replace(good, `["a"]`, `["b"]`, 1), strings.Replace(good, `["a"]`, `[]`, 1),
		strings.Replace(good, `"how":"measured",`, "", 1), strings.Replace(good, `"path":"x.json",`, "", 1), `{"client":"mine"}`, `[`,
	} {
		if _, err := Parse("mine", []byte(bad)); err == nil {
			t.Errorf("accepted: %s", bad)
		}
	}
}

// asks returns a question with fields, whose names end in * where they are required.
func asks(t *testing.T, message string, fields ...string) *elicit.Request {
	t.Helper()
	var properties rawjson.ObjectWriter
	var needed rawjson.ArrayWriter
	for i := 0; i < len(fields); i += 2 {
		name, must := strings.CutSuffix(fields[i], "*")
		if properties.Add(name, json.RawMessage(fields[i+1])); must {
			needed.Add(rawjson.Quoted(name))
		}
	}
	q, err := elicit.Parse(fmt.Appendf(nil, `{"message":%s,"requestedSchema":{"type":"object","properties":%s,"required":%s}}`, rawjson.Quoted(message), properties.JSON(), needed.JSON()))
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// schemas are a field of each kind; default is a value that it takes.
var schemas = []struct{ kind, schema, initial string }{
	{"text", `{"type":"string"}`, `"x"`},
	{"number", `{"type":"number","minimum":0.5}`, `2.50`},
	{"integer", `{"type":"integer","minimum":2}`, `9007199254740993`},
	{"boolean", `{"type":"boolean"}`, `false`},
	{"choice", `{"type":"string","enum":["a<b","b"]}`, `"b"`},
	{"choice-names", `{"type":"string","enum":["a","b"],"enumNames":["A","B"]}`, `"b"`},
	{"choice-titled", `{"type":"string","oneOf":[{"const":"a","title":"A"},{"const":"b","title":"B"}]}`, `"b"`},
	{"choices", `{"type":"array","items":{"type":"string","enum":["a","b"]}}`, `["b"]`},
	{"choices-titled", `{"type":"array","items":{"anyOf":[{"const":"a","title":"A"},{"const":"b","title":"B"}]}}`, `["b"]`},
}

func profile(t *testing.T, name string) *Profile {
	t.Helper()
	list, err := Choose([]string{name})
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(list, func(p *Profile) bool { return p.Client == name })
	return list[i]
}

// TestSee checks what each client's first Accept sends, for questions on which they differ.
func TestSee(t *testing.T) {
	text, number, yes := `{"type":"string"}`, `{"type":"integer"}`, `{"type":"boolean"}`
	for _, c := range []struct {
		client  string
		fields  []string
		accept  string // "" if nobody knows, or nothing goes back
		verdict Verdict
		rule    string // of the gravest reason
	}{
		{"vscode", []string{"a", text, "n", number}, `{"action":"accept","content":{"n":null}}`, Wrong, "untouched-sent"},
		{"vscode", []string{"on", `{"type":"boolean","default":false}`}, `{"action":"accept","content":{"on":true}}`, Wrong, "default-changed"},
		{"vscode", []string{"n", `{"type":"integer","default":0}`}, `{"action":"accept","content":{"n":null}}`, Wrong, "default-changed"},
		{"vscode", []string{"n*", `{"type":"integer","default":5}`, "2", `{"type":"string","default":"b"}`, "10", `{"type":"string","default":"c"}`}, `{"action":"accept","content":{"2":"b","10":"c","n":5}}`, Fine, ""},
		{"vscode-chat", []string{"a", text, "n", `{"type":"integer","minimum":3}`}, `{"action":"accept","content":{"a":"","n":0}}`, Wrong, "untouched-sent"},
		{"vscode-chat", []string{"confirm*", yes}, `{"action":"accept","content":{"confirm":true}}`, Guard, "guard-untouched"},
		{"vscode-chat", []string{"confirm*", `{"type":"boolean","default":false}`}, `{"action":"accept","content":{"confirm":false}}`, Degraded, "no-decline"},
		{"codex", []string{"a*", text}, `{"action":"accept","content":{"a":"text"}}`, Fine, ""},
		{"codex", []string{"a*", `{"type":"string","pattern":"^x$"}`}, `{"action":"accept","content":{}}`, Unanswerable, "form-becomes-approval"},
		{"codex", []string{"a", `{"type":"string","default":"x"}`}, `{"action":"accept","content":{}}`, Wrong, "default-lost"},
		{"codex", []string{"a", text, "n", number}, `{"action":"accept","content":{}}`, Unanswerable, "form-becomes-approval"},
		{"codex", []string{"confirm*", yes}, `{"action":"accept","content":{"confirm":true}}`, Guard, "guard-untouched"},
		{"codex", nil, `{"action":"accept","content":{}}`, Guard, "guard-key"},
		{"goose-cli", []string{"on", yes, "a", text}, `{"action":"accept","content":{"on":false}}`, Wrong, "untouched-sent"},
		{"goose-cli", []string{"list*", schemas[7].schema}, `{"action":"accept","content":{"list":"[\"a\"]"}}`, Unanswerable, "wrong-type"},
		{"goose-cli", []string{"pick", schemas[6].schema}, `{"action":"accept","content":{}}`, Fine, ""},
		{"goose-cli", []string{"pick", schemas[6].schema, "a", text}, `{"action":"accept","content":{}}`, Degraded, "choices-hidden"},
		{"goose-desktop", []string{"a", text, "n", `{"type":"integer","minimum":3}`, "on", yes}, `{"action":"accept","content":{"a":"","n":3,"on":false}}`, Wrong, "untouched-sent"},
		{"goose-desktop", []string{"a", `{"type":"string","minLength":2}`}, `{"action":"accept","content":{"a":"text"}}`, Fine, ""},
		{"mcpdo", []string{"a*", text}, `{"action":"accept","content":{"a":""}}`, Degraded, "chosen-beforehand"},
		{"mcpdo", []string{"a*", `{"type":"string","minLength":2}`}, `{"action":"accept","content":{"a":"text"}}`, Fine, ""},
		{"mcpdo", []string{"a", `{"type":"object"}`}, `{"action":"decline"}`, Unanswerable, "form-refused"},
		{"inspector", []string{"a", text, "n", number, "on", yes}, `{"action":"accept","content":{}}`, Fine, ""},
		{"mcpjam", []string{"on*", yes, "off", yes}, `{"action":"accept","content":{"on":false}}`, Fine, ""},
		{"gemini-cli", []string{"a", text}, "", NotShown, "not-shown"},
		{"claude-code-sdk", []string{"a", text}, `{"action":"decline"}`, NotShown, "not-shown"},
		{"claude-code", []string{"a", text}, "", Unknown, "unknown"},
		{"claude-code", []string{"a", `{"type":"string","default":"x"}`}, `{"action":"accept","content":{"a":"x"}}`, Fine, ""},
		{"go-sdk", nil, `{"action":"accept"}`, Fine, ""},
		{"go-sdk", []string{"a", `{"type":"object"}`}, "", Unanswerable, "form-refused"},
		{"typescript-sdk-plain", []string{"a", `{"type":"string","default":"x"}`}, `{"action":"accept","content":{}}`, Wrong, "default-lost"},
	} {
		s := See(asks(t, "Now?", c.fields...), profile(t, c.client))
		if string(s.Accept) != c.accept || s.Verdict() != c.verdict || c.rule != "" && s.Reasons[0].Rule != c.rule {
			t.Errorf("%s: %v: sends %s: %s, %+v", c.client, c.fields, s.Accept, s.Verdict(), s.Reasons)
		}
	}
}

// TestURL checks what clients make of a URL.
func TestURL(t *testing.T) {
	q, err := elicit.Parse([]byte(`{"mode":"url","message":"Sign in","url":"https://example.com/","elicitationId":"1"}`))
	if err != nil {
		t.Fatal(err)
	}
	for client, want := range map[string]Verdict{"mcpjam": Fine, "mcpdo": Degraded, "inspector": Degraded, "mcp-go": NotShown, "gemini-cli": NotShown, "claude-code": Unknown} {
		if s := See(q, profile(t, client)); s.Verdict() != want {
			t.Errorf("%s: %s, %+v", client, s.Verdict(), s.Reasons)
		}
	}
}

// TestCarried checks what clients make of questions that are no requests of their own.
func TestCarried(t *testing.T) {
	q := asks(t, "m", "t", `{"type":"string"}`)
	for _, c := range []struct {
		client string
		via    elicit.Via
		want   Verdict
		reason string
	}{
		{"typescript-sdk", elicit.ByRequest, Fine, ""},
		{"typescript-sdk", elicit.InError, Fine, ""},
		{"typescript-sdk", elicit.InRound, NotShown, "no-rounds It takes no questions in results (2026-07-28): where a server asks in no other way, nobody sees it. read"},
		{"go-sdk", elicit.InRound, Fine, ""},
		{"go-sdk", elicit.InTask, Fine, ""}, // nobody knows
		{"mcpdo", elicit.InTask, Fine, ""},
		{"gemini-cli", elicit.InRound, NotShown, "not-shown"},
	} {
		s := See(q, profile(t, c.client)).Carried(c.via)
		reason := ""
		if len(s.Reasons) > 0 {
			reason = s.Reasons[0].Rule + " " + s.Reasons[0].Text + " " + string(s.Reasons[0].How)
			if s.Reasons[0].Advice == "" {
				t.Errorf("%s, %s: no advice", c.client, c.via)
			}
		}
		if s.Verdict() != c.want || !strings.HasPrefix(reason, c.reason) || (c.reason == "") != (reason == "") || s.Verdict() == NotShown && c.client == "typescript-sdk" && s.Accept != nil {
			t.Errorf("%s, %s: %s, %q", c.client, c.via, s.Verdict(), reason)
		}
	}
}

// TestAdvice checks that a question that is asked as a reason advises no longer has that reason.
func TestAdvice(t *testing.T) {
	helped := 0
	for _, p := range All() {
		for _, one := range schemas {
			for _, name := range []string{"value", "value*", "confirm", "confirm*"} {
				for _, schema := range []string{one.schema, rawjson.WithMember(one.schema, "default", one.initial)} {
					for _, r := range See(asks(t, "Now?", name, schema), p).Reasons {
						if r.Advice == "" || strings.Contains(r.Advice, "%s") || !strings.HasSuffix(r.Advice, ".") {
							t.Errorf("%s: %q", r.Rule, r.Advice)
						}
						if r.Instead == nil {
							continue
						}
						helped++
						q, err := elicit.Parse(fmt.Appendf(nil, `{"message":"Now?","requestedSchema":%s}`, r.Instead))
						if err != nil {
							t.Fatal(err)
						}
						for _, then := range See(q, p).Reasons {
							if then.Rule == r.Rule || then.Verdict > r.Verdict {
								t.Errorf("%s: %s: asked as %s: %s", p.Client, r.Rule, r.Instead, then.Text)
							}
						}
					}
				}
			}
		}
	}
	if helped < 50 {
		t.Errorf("%d reasons have another way to ask", helped)
	}
}

// forms are questions of all kinds of fields: each alone, optional and required, with a default and without, and all together.
func forms(t *testing.T) (list []*elicit.Request) {
	var all []string
	for i, one := range schemas {
		initial := rawjson.WithMember(one.schema, "default", one.initial)
		for _, name := range []string{"value", "value*"} {
			list = append(list, asks(t, one.kind, name, one.schema), asks(t, one.kind+" with a default", name, initial))
		}
		all = append(all, fmt.Sprintf("f%d", 9-i), one.schema, fmt.Sprintf("%d*", 20-i), initial)
	}
	long := "a <b> & \u00e4 \U0001f600 \"q\" \\ \t"
	return append(list, asks(t, "all", all...), asks(t, "nothing"), asks(t, "long", "t", rawjson.WithMember(`{"type":"string"}`, "default", string(rawjson.Quoted(long)))))
}

// TestGoSDK holds the profile of the Go SDK against the SDK itself, byte for byte.
func TestGoSDK(t *testing.T) {
	fromClient, toServer := io.Pipe()
	fromServer, toClient := io.Pipe()
	client := mcp.NewClient(&mcp.Implementation{Name: "go-sdk", Version: "1.8.0"}, &mcp.ClientOptions{ElicitationHandler: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
		schema, err := json.Marshal(r.Params.RequestedSchema)
		if err != nil {
			return nil, err
		}
		fields, err := elicit.FieldsOf(schema)
		content := map[string]any{}
		for _, f := range fields { // a program fills in what is required, and leaves the others to the SDK
			if f.Required {
				var value any
				if err := json.Unmarshal(rawjson.Member(elicit.Valid([]elicit.Field{f}), f.Name), &value); err != nil {
					return nil, err
				}
				content[f.Name] = value
			}
		}
		return &mcp.ElicitResult{Action: "accept", Content: content}, err
	}})
	go Serve(t, fromClient, toClient, forms(t), func(q *elicit.Request, result json.RawMessage) {
		if s := See(q, profile(t, "go-sdk")); !bytes.Equal(s.Accept, result) {
			t.Errorf("%s: the profile says %s, and the SDK sends %s", q.Message, s.Accept, result)
		}
	})
	session, err := client.Connect(t.Context(), &mcp.IOTransport{Reader: fromServer, Writer: toServer}, &mcp.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
	if err != nil {
		t.Fatal(err)
	}
	if err := session.Wait(); err != nil && err != io.EOF {
		t.Logf("the session ended: %v", err)
	}
}

// Serve is an MCP server that asks questions, one after the other, and ends. It tells what was sent for each.
func Serve(t *testing.T, from io.Reader, to io.WriteCloser, questions []*elicit.Request, tell func(*elicit.Request, json.RawMessage)) {
	defer to.Close()
	in := json.NewDecoder(from)
	next := 0
	for next <= len(questions) {
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Result json.RawMessage `json:"result"`
			Error  json.RawMessage `json:"error"`
		}
		if err := in.Decode(&m); err != nil {
			t.Errorf("after %d questions: %v", next, err)
			return
		}
		switch {
		case m.Method == "initialize":
			fmt.Fprintf(to, `{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"asks","version":"1"}}}`+"\n", m.ID)
			continue
		case m.Method != "" && m.Method != "notifications/initialized":
			continue
		case m.Method == "":
			if next > 0 {
				result := m.Result
				if m.Error != nil {
					result = m.Error
				}
				tell(questions[next-1], result)
			}
		}
		if next == len(questions) {
			return
		}
		fmt.Fprintf(to, `{"jsonrpc":"2.0","id":%d,"method":"elicitation/create","params":%s}`+"\n", next, questions[next].Params)
		next++
	}
}

// TestOfProbe checks which facts a probe's report gives.
func TestOfProbe(t *testing.T) {
	evidence := func(name, params, result string, verdict probe.Verdict) probe.Result {
		return probe.Result{Probe: name, Verdict: verdict, Evidence: []probe.Frame{{Text: `{"method":"elicitation/create","id":1,"params":` + params + `}`}, {Text: `{"id":1,"result":` + result + `}`}}}
	}
	form := func(properties, required string) string {
		return `{"message":"m","requestedSchema":{"type":"object","properties":{` + properties + `},"required":[` + required + `]}}`
	}
	r := &probe.Report{Date: time.Date(2026, 11, 28, 0, 0, 0, 0, time.UTC), Clients: []probe.Client{{
		Identity: probe.Identity{Name: "My Client", Version: "3", Revision: "2025-11-25", Transport: "stdio"},
		Results: []probe.Result{
			evidence("default-string", form(`"value":{"type":"string","default":"x"}`, ""), `{"action":"accept","content":{"value":"x"}}`, probe.Works),
			evidence("default-boolean", form(`"value":{"type":"boolean","default":true}`, ""), `{"action":"accept","content":{}}`, probe.Fails),
			evidence("optional-empty", form(`"first":{"type":"string"},"n":{"type":"integer"},"on":{"type":"boolean"}`, `"first"`), `{"action":"accept","content":{"first":"x","n":0}}`, probe.Fails),
			evidence("fields-none", form("", ""), `{"action":"accept"}`, probe.May),
			evidence("required", form(`"first":{"type":"string"}`, `"first"`), `{"action":"accept","content":{"first":"yes"}}`, probe.Works),
			{Probe: "format-email", Verdict: probe.Works},
		},
	}}}
	r.Format = 1
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	list, err := Parse("report.json", text)
	if err != nil || len(list) != 1 || list[0].Client != "my-client" {
		t.Fatalf("%+v, %v", list, err)
	}
	if text, err = json.Marshal(list[0]); err != nil {
		t.Fatal(err)
	}
	if list, err = Parse("again.json", text); err != nil { // what is measured is a profile by the schema
		t.Fatal(err)
	}
	p := list[0]
	s := See(asks(t, "m", "t", `{"type":"string","default":"x","format":"email"}`, "n", `{"type":"integer"}`, "on", `{"type":"boolean"}`, "must*", `{"type":"string"}`), p)
	if got, want := string(s.Accept), `{"action":"accept","content":{"t":"x","n":0,"must":"text"}}`; got != want {
		t.Errorf("sends %s, not %s", got, want)
	}
	if s := See(asks(t, "m"), p); string(s.Accept) != `{"action":"accept"}` {
		t.Errorf("sends %s for nothing", s.Accept)
	}
	if s := See(asks(t, "m", "on", `{"type":"boolean","default":true}`), p); s.Reasons[0].Rule != "default-lost" || s.Reasons[0].How != Measured {
		t.Errorf("%+v", s.Reasons)
	}
	r.Clients[0].Results = slices.DeleteFunc(r.Clients[0].Results, func(one probe.Result) bool { return one.Probe == "required" })
	if text, err = json.Marshal(r); err != nil {
		t.Fatal(err)
	}
	if list, err = Parse("report.json", text); err != nil {
		t.Fatal(err)
	}
	if s := See(asks(t, "m", "n*", `{"type":"integer"}`), list[0]); s.Accept != nil {
		t.Errorf("what became of an optional field is taken for what becomes of a required one: %s", s.Accept)
	}
}

// TestPublished compares the tables of docs/clients.md with the profiles, for 40 questions of published servers;
// -update writes them.
func TestPublished(t *testing.T) {
	const file, mark = "../../../docs/clients.md", "<!-- generated -->\n"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	head, _, _ := strings.Cut(string(text), mark)
	var out strings.Builder
	out.WriteString("\n## The clients\n\n| client | which | evidence | caution |\n|---|---|---|---|\n")
	newest := ""
	for _, p := range All() {
		for _, s := range p.Sources {
			newest = max(newest, s.Date)
		}
		at, _ := time.Parse(time.DateOnly, "2026-11-28")
		fmt.Fprintf(&out, "| `%s` | %s | %s | %s |\n", p.Client, p.Label(), p.Evidence(), strings.Join(p.Cautions(at), " "))
	}
	published, err := os.ReadFile("testdata/published.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	out.WriteString("\n## Questions of published servers\n\nBy the profiles as of " + newest + ". The servers with a version were run; the questions of the others were taken from their public source, with what they fill in made up.\n\n| server | question |")
	for _, p := range All() {
		out.WriteString(" " + p.Client + " |")
	}
	out.WriteString("\n|---|---|" + strings.Repeat("---|", len(All())) + "\n")
	n, counts := 0, map[string]map[Verdict]int{}
	for line := range strings.Lines(string(published)) {
		n++
		q, err := elicit.Parse(rawjson.Member([]byte(line), "params"))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&out, "| %s | %s |", rawjson.Text(rawjson.Member([]byte(line), "server")), strings.TrimSpace(strings.ReplaceAll(q.Message, "\n", " ")))
		for _, p := range All() {
			v := See(q, p).Verdict()
			if counts[p.Client] == nil {
				counts[p.Client] = map[Verdict]int{}
			}
			counts[p.Client][v]++
			out.WriteString(" " + v.Words() + " |")
		}
		out.WriteString("\n")
	}
	if n != 40 {
		t.Errorf("%d questions", n)
	}
	out.WriteString("\nIn sum:\n\n| client | fine | not known | degraded | wrong by default | not shown | unanswerable | guard passes unseen |\n|---|---|---|---|---|---|---|---|\n")
	for _, p := range All() {
		out.WriteString("| " + p.Client + " |")
		for v := Fine; v <= Guard; v++ {
			fmt.Fprintf(&out, " %d |", counts[p.Client][v])
		}
		out.WriteString("\n")
	}
	logtest.Golden(t, file, []byte(head+mark+out.String()))
}

// TestOurs checks that what has to be filled in has the same example in our answer as in a client's.
func TestOurs(t *testing.T) {
	q, err := elicit.Parse([]byte(`{"message":"m","requestedSchema":{"type":"object","properties":{"must":{"type":"string","pattern":"^[A-Z]"},"may":{"type":"string"},"n":{"type":"integer","default":3}},"required":["must"]}}`))
	if err != nil {
		t.Fatal(err)
	}
	clients, err := Choose([]string{"inspector"})
	if err != nil {
		t.Fatal(err)
	}
	ours, theirs := rawjson.Member(Ours(q), "content"), rawjson.Member(See(q, clients[0]).Accept, "content")
	if must := rawjson.Member(ours, "must"); must == nil || !rawjson.Same(must, rawjson.Member(theirs, "must")) || rawjson.Member(ours, "may") != nil || string(rawjson.Member(ours, "n")) != "3" {
		t.Errorf("ours is %s, theirs %s", ours, theirs)
	}
}

// TestAdviceIsBounded checks that remedies are tried for so many reasons alone, in a form of any size.
func TestAdviceIsBounded(t *testing.T) {
	var b strings.Builder
	for i := range 2 * advisedMost {
		fmt.Fprintf(&b, `,"f%d":{"type":"integer","default":3}`, i)
	}
	q, err := elicit.Parse([]byte(`{"message":"m","requestedSchema":{"type":"object","properties":{` + b.String()[1:] + `}}}`))
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range All() {
		for most, s := range map[int]*Seen{advisedMost: See(q, p), 1: Glance(q, p)} {
			tried := 0
			for _, r := range s.Reasons {
				if r.Advice == "" {
					t.Errorf("%s gives no advice for %s", p.Client, r.Text)
				}
				if r.Instead != nil {
					tried++
				}
			}
			if tried > most || p.Client == "mcp-go" && tried != most {
				t.Errorf("%d: %s has tried remedies for %d reasons, not %d", i, p.Client, tried, most)
			}
		}
	}
}
