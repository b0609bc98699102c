package export

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"elicitation-inspector/bridge/testdata/logtest"
	"elicitation-inspector/bridge/wire"
	"elicitation-inspector/bridge/wire/redact"
)

// remarkable is a call whose question breaks a rule and has a default that is none of
// its choices, and whose answer does not satisfy the schema.
const remarkable = `
+0s c2s {"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{}}}}
+0s s2c {"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","serverInfo":{"name":"files","version":"1"},"capabilities":{}}}
+1s c2s {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"paint"}}
+1s s2c {"jsonrpc":"2.0","id":7,"method":"elicitation/create","params":{"message":"Which colour?","requestedSchema":{"type":"object","properties":{"colour":{"type":"string","enum":["red","green"],"default":"mauve"},"age":{"type":"integer","minimum":18}}}}}
+1s c2s {"jsonrpc":"2.0","id":7,"result":{"action":"accept","content":{"colour":"blue","age":7}}}
+1s s2c {"jsonrpc":"2.0","id":1,"result":{"content":[]}}
+1s s2c {"jsonrpc":"2.0","method":"notifications/elicitation/complete","params":{"elicitationId":"e9"}}
`

func markedLog(t *testing.T) *wire.Log {
	t.Helper()
	l := logtest.New(t, logtest.Talk(t, remarkable)...)
	if err := l.Mark(5, wire.Mark{Pinned: true, Colour: "amber", Note: "a child, <b>sent</b> | anyway"}); err != nil {
		t.Fatal(err)
	}
	return l
}

// Exports for people contain the linter's findings, the marks, the problems of invalid
// answers, and all choices.
func TestRemarksForReading(t *testing.T) {
	l := markedLog(t)
	for format, want := range map[*DocumentFormat][]string{
		Markdown: {
			"6 findings: 3 MUST · 3 SHOULD.",
			"- **SHOULD** `default-invalid`: ", "- **MUST** `completion-unknown`: ",
			"(frame 7 at `/params/elicitationId`; by the server; [MCP 2025-11-25, client/elicitation, Completion Notifications for URL Mode Elicitation](https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#completion-notifications-for-url-mode-elicitation))",
			"; [JSON Schema Validation 2020-12, section 9.2. default](https://json-schema.org/draft/2020-12/json-schema-validation#section-9.2))",
			"## Notes\n\n- Frame 5 (pinned, amber): `a child, <b>sent</b> | anyway`\n",
			"Sent anyway, although the answer does not satisfy the schema:\n\n- `colour: ", "\n- `age: ",
			"one of `red`, `green`", "`\"blue\"` (none of the choices)",
		},
		HTML: {
			"6 findings: 3 MUST · 3 SHOULD.", `<a href="#findings">Findings</a> <a href="#notes">Notes</a>`,
			`<code>default-invalid</code> · by the server · <a href="#f4">frame 4</a>`, `<a href="https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#completion-notifications-for-url-mode-elicitation" target="_blank" rel="noopener noreferrer">MCP 2025-11-25`, `<b class="found violation">1 finding</b>`, `<span class="pin">pinned</span>`,
			`a child, &lt;b&gt;sent&lt;/b&gt; | anyway`, "Sent anyway, although the answer does not satisfy the schema:", `<li dir="auto">colour: `,
			`<input type="radio" data-asked=""> <bdi>red</bdi>`, `None of the choices: <code><bdi>&#34;blue&#34;</bdi></code>`,
		},
	} {
		text := write(t, Document{Log: l}, format)
		for _, words := range want {
			if !strings.Contains(text, words) {
				t.Errorf("%s: no %q in\n%s", format, words, text)
			}
		}
	}
}

type saidFrame struct {
	Direction string
	Findings  []struct{ Rule, Severity, Text, Pointer, Section, Reference string }
	Anyway    []struct{ Pointer, Text string } `json:"sent_anyway"`
	Mark      struct {
		Pinned       bool
		Colour, Note string
	}
}

// The JSON has these remarks at their frames, even if only some frames are chosen.
func TestRemarksInJSON(t *testing.T) {
	l := markedLog(t)
	read := func(x Document) []saidFrame {
		t.Helper()
		var list []saidFrame
		if err := json.Unmarshal([]byte(write(t, x, JSON)), &list); err != nil {
			t.Fatal(err)
		}
		return list
	}
	all := read(Document{Log: l})
	if len(all) != 8 || len(all[3].Findings) != 2 || all[3].Findings[1].Rule != "default-invalid" || all[3].Findings[1].Severity != "should" ||
		len(all[6].Findings) != 1 || len(all[0].Findings) != 0 {
		t.Fatalf("%+v", all)
	}
	answer := all[4]
	if answer.Mark.Note != "a child, <b>sent</b> | anyway" || !answer.Mark.Pinned || answer.Mark.Colour != "amber" || len(answer.Anyway) != 2 ||
		answer.Anyway[0].Pointer != "/result/content/colour" || answer.Anyway[1].Pointer != "/result/content/age" {
		t.Errorf("the answer: %+v", answer)
	}
	some := read(Document{Log: l, Seqs: slices.Values([]int64{4, 7})})
	if len(some) != 2 || !slices.Equal(some[0].Findings, all[3].Findings) || !slices.Equal(some[1].Findings, all[6].Findings) {
		t.Errorf("of two frames: %+v", some)
	}
}

// A finding does not quote redacted values of its frame.
func TestRemarksAreRedacted(t *testing.T) {
	redaction, err := redact.New("default", "colour")
	if err != nil {
		t.Fatal(err)
	}
	l := markedLog(t)
	if err := l.Mark(3, wire.Mark{Note: "not mauve again"}); err != nil {
		t.Fatal(err)
	}
	for _, format := range []*DocumentFormat{JSON, Markdown, HTML} {
		text := write(t, Document{Log: l, Redact: redaction}, format)
		if strings.Contains(text, "mauve") || strings.Contains(text, "blue") || !strings.Contains(text, "default-invalid") {
			t.Errorf("%s:\n%s", format, text)
		}
	}
}

// All choices are listed even if the question was not accepted.
func TestChoicesBesideAWrongDefault(t *testing.T) {
	declined := strings.Replace(remarkable, `{"action":"accept","content":{"colour":"blue","age":7}}`, `{"action":"decline"}`, 1)
	l := logtest.New(t, logtest.Talk(t, declined)...)
	for format, want := range map[*DocumentFormat][]string{
		Markdown: {"one of `red`, `green`"},
		HTML:     {`<input type="radio"> <bdi>red</bdi>`, `<input type="radio"> <bdi>green</bdi>`},
	} {
		text := write(t, Document{Log: l}, format)
		for _, words := range append(want, "mauve") {
			if !strings.Contains(text, words) {
				t.Errorf("%s: no %q in\n%s", format, words, text)
			}
		}
		if strings.Contains(text, "Sent anyway") {
			t.Errorf("%s: nothing was sent", format)
		}
	}
}
