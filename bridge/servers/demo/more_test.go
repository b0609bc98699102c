//lint:file-ignore SA1019 2026-07-28 deprecates sampling, roots and logging, and servers of every revision still use them.

package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image/png"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	protocol "elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/meaning/elicit"
)

func TestEveryFieldComesBack(t *testing.T) {
	everywhere(t, func(t *testing.T, s setup) {
		full := map[string]any{
			"boat": "Zwaan ⛵", "sail": "NED-1", "skipper": "ada@example.com", "site": "https://sail.example/", "built": "2001-02-03",
			"arrival": "2026-08-14T18:30:00Z", "story": "One.\nTwo.", "length": 9.75, "crew": 3.0, "engine": false, "insured": true,
			"berth": false, "rig": "ketch", "harbour": "lis", "class": "c", "races": []any{"night", "triangle"}, "meals": []any{"sat"},
		}
		var sent map[string]any
		s.answer = func(_ context.Context, p *mcp.ElicitParams) (*mcp.ElicitResult, error) {
			sent = asAsked(p, full)
			return accept(sent)
		}
		p, _ := sit(t, s)
		res := p.call("every_field", nil)
		if got, want := string(mustJSON(res.StructuredContent)), fmt.Sprintf(`{"action":"accept","content":%s}`, mustJSON(sent)); got != want {
			t.Errorf("got %s\nwant %s", got, want)
		}
	})
}

func TestEveryKind(t *testing.T) {
	answers := map[string]any{
		"text": "Momo", "long_text": "a\nb", "pattern": "AB123456789", "email": "a@example.com", "uri": "https://docs.example/", "date": "2026-01-02",
		"date_time": "2026-01-02T03:04:05Z", "number": 20.5, "whole_number": 7.0, "yes_or_no": true, "optional_yes_or_no": false, "choice": "filter",
		"titled_choice": "r3", "old_choice": "d", "several": []any{"Monday", "Friday"}, "titled_several": []any{"cape"}, "ten_thousand": "Roof, 10000",
		"file": "data:image/png;base64,AAAA",
	}
	for _, k := range kinds() {
		for _, rev := range []string{protocol.Revision20250618, protocol.Revision20251125, protocol.Revision20260728} {
			p, _ := sit(t, setup{revision: rev, answer: func(_ context.Context, q *mcp.ElicitParams) (*mcp.ElicitResult, error) {
				if q.Message != k.Message {
					t.Errorf("asked %q, want %q", q.Message, k.Message)
				}
				return accept(map[string]any{"answer": answers[k.Name]})
			}})
			res := p.call("ask", map[string]any{"kind": k.Name})
			if want := string(mustJSON(answers[k.Name])); res.IsError || !strings.Contains(textOf(res), want) {
				t.Errorf("%s, %s: got %q, want %s", rev, k.Name, textOf(res), want)
			}
		}
	}
	if len(answers) != len(kinds()) {
		t.Errorf("%d kinds, %d answers", len(kinds()), len(answers))
	}
}

// TestQuestionsAreProper checks that the questions of ordinary stories keep the rules that
// rule_breaker breaks.
func TestQuestionsAreProper(t *testing.T) {
	for _, k := range kinds() {
		if k.Name == "file" {
			continue // a draft
		}
		properQuestion(t, k.Name, k.schema())
	}
	for _, rev := range []string{protocol.Revision20250618, protocol.Revision20251125, protocol.Revision20260728} {
		for _, tool := range []string{"deploy", "transfer_money", "book_table", "delete_files", "onboard", "every_field", "plan_trip", "pay_invoice", "haggle", "ask_many", "crash_on_decline", "flood", "impatient", "times_out"} {
			b := newBare(t, rev, Options{Pause: func(ctx context.Context, d time.Duration) error {
				if d > 5*time.Second {
					<-ctx.Done() // nobody is late
				}
				return ctx.Err()
			}})
			b.answer = func(_ string, params json.RawMessage) string {
				return string(fill(t, params))
			}
			b.greet()
			args := `{}`
			if tool == "ask_many" || tool == "flood" {
				args = `{"count":3}`
			}
			if _, err := b.tool(tool, args); err != nil {
				t.Fatalf("%s: %v", tool, err)
			}
			for _, m := range b.seen {
				if m.Method != protocol.MethodElicit {
					continue
				}
				var q struct {
					Message         string
					RequestedSchema json.RawMessage
				}
				if err := json.Unmarshal(m.Params, &q); err != nil || q.Message == "" || strings.Contains(q.Message, "http") {
					t.Errorf("%s asks %s", tool, m.Params)
				}
				properQuestion(t, tool, string(q.RequestedSchema))
				if newer := regexp.MustCompile(`"oneOf"|"array"`); rev == protocol.Revision20250618 && newer.Match(q.RequestedSchema) {
					t.Errorf("%s asks in %s with %s", tool, rev, q.RequestedSchema)
				}
			}
		}
	}
}

// fill accepts a question with its defaults, or else with values of the fields' types.
func fill(t *testing.T, params json.RawMessage) json.RawMessage {
	t.Helper()
	type property struct {
		Type, Format, Pattern string
		Default               any
		Enum                  []any
		OneOf                 []struct{ Const any }
		Items                 struct {
			Enum  []any
			AnyOf []struct{ Const any }
		}
		Minimum any
	}
	var q struct {
		RequestedSchema struct{ Properties map[string]property }
	}
	if err := json.Unmarshal(params, &q); err != nil {
		t.Fatal(err)
	}
	content := map[string]any{}
	for name, p := range q.RequestedSchema.Properties {
		switch {
		case p.Default != nil:
			content[name] = p.Default
		case p.Enum != nil:
			content[name] = p.Enum[0]
		case p.OneOf != nil:
			content[name] = p.OneOf[0].Const
		case p.Items.Enum != nil:
			content[name] = p.Items.Enum[:1]
		case p.Items.AnyOf != nil:
			content[name] = []any{p.Items.AnyOf[0].Const}
		case p.Type == "boolean":
			content[name] = true
		case p.Minimum != nil:
			content[name] = p.Minimum
		case p.Pattern != "":
			content[name] = map[string]string{"^CHG-[0-9]{5}$": "CHG-20418"}[p.Pattern]
		case p.Format == "email":
			content[name] = "ada@example.com"
		case p.Format == "date":
			content[name] = "2026-06-05"
		default:
			content[name] = "something"
		}
	}
	return mustJSON(map[string]any{"action": "accept", "content": content})
}

func properQuestion(t *testing.T, where, schema string) {
	t.Helper()
	var s struct {
		Type       string
		Properties map[string]json.RawMessage
		Required   []string
	}
	if err := json.Unmarshal([]byte(schema), &s); err != nil || s.Type != "object" || s.Properties == nil {
		t.Fatalf("%s asks with %s", where, schema)
	}
	for _, r := range s.Required {
		if s.Properties[r] == nil {
			t.Errorf("%s requires %q, which is not there", where, r)
		}
	}
	allowed := []string{"type", "title", "description", "default", "minLength", "maxLength", "pattern", "format", "minimum", "maximum", "enum", "enumNames", "oneOf", "items", "minItems", "maxItems"}
	for name, raw := range s.Properties {
		var p map[string]json.RawMessage
		if err := json.Unmarshal(raw, &p); err != nil {
			t.Fatal(err)
		}
		for k := range p {
			if !slices.Contains(allowed, k) {
				t.Errorf("%s: %s has %s, which is not in the allowed subset", where, name, k)
			}
		}
		if d := p["default"]; d != nil {
			if err := validate(string(raw), d); err != nil {
				t.Errorf("%s: %s rejects its own default: %v", where, name, err)
			}
		}
		if len(p["title"]) < 3 {
			t.Errorf("%s: %s has no title", where, name)
		}
	}
}

func TestPlanTrip(t *testing.T) {
	everywhere(t, func(t *testing.T, s setup) {
		s.answer = script(map[string]map[string]any{"Which train": {"leave": "night"}, "What would": {"see": []any{"tiles", "fado"}}})
		p, _ := sit(t, s)
		if got := textOf(p.call("plan_trip", nil)); got != "To Lisbon: the night train, and days for tiles, fado." {
			t.Errorf("got %q", got)
		}
	})

	// One answer at a time: the server keeps the answers it has, and asks only for the missing
	// ones.
	p, _ := sit(t, setup{manual: true})
	res := p.call("plan_trip", nil)
	for _, step := range []struct {
		left []string
		key  string
	}{{[]string{"days", "hotel", "train"}, "hotel"}, {[]string{"days", "train"}, "days"}, {[]string{"train"}, "train"}} {
		if got := slices.Sorted(keysOf(res.InputRequests)); !slices.Equal(got, step.left) {
			t.Fatalf("asked for %q, want %q", got, step.left)
		}
		res = p.again("plan_trip", nil, res, mcp.InputResponseMap{step.key: &mcp.ElicitResult{Action: "decline"}})
	}
	if got := textOf(res); got != "You are staying at home." {
		t.Errorf("got %q", got)
	}
}

func TestPayInvoice(t *testing.T) {
	all := func(o *mcp.ClientOptions) {
		o.Capabilities.RootsV2 = &mcp.RootCapabilities{}
		o.CreateMessageHandler = func(context.Context, *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
			return &mcp.CreateMessageResult{Role: "assistant", Model: "m", Content: &mcp.TextContent{Text: "Gutters."}}, nil
		}
	}
	everywhere(t, func(t *testing.T, s setup) {
		s.answer = script(map[string]map[string]any{"Pay invoice": {"approve": true}, "From which": {"account": "repairs"}})
		p, _ := sit(t, s)
		if got := textOf(p.call("pay_invoice", nil)); got != "4,380.00 EUR went to Copper & Sons from the account repairs." {
			t.Errorf("without sampling and roots: %q", got)
		}
		s.client = all
		p, _ = sit(t, s)
		if got := textOf(p.call("pay_invoice", nil)); !strings.HasSuffix(got, `In the books: "Gutters.". There is no folder to file it in.`) {
			t.Errorf("with sampling and roots: %q", got)
		}
	})
	p, _ := sit(t, setup{manual: true, client: all})
	res := p.call("pay_invoice", nil)
	if got := slices.Sorted(keysOf(res.InputRequests)); !slices.Equal(got, []string{"approve", "folders", "summary"}) {
		t.Errorf("the first round asks for %q", got)
	}
	res = p.again("pay_invoice", nil, res, mcp.InputResponseMap{
		"approve": &mcp.ElicitResult{Action: "accept", Content: map[string]any{"approve": true}},
		"summary": &mcp.CreateMessageResult{Role: "assistant", Model: "m", Content: &mcp.TextContent{Text: "Gutters."}},
		"folders": &mcp.ListRootsResult{Roots: []*mcp.Root{{URI: "file:///books"}}},
	})
	if got := slices.Collect(keysOf(res.InputRequests)); !slices.Equal(got, []string{"account"}) {
		t.Fatalf("the second round asks for %q", got)
	}
	res = p.again("pay_invoice", nil, res, mcp.InputResponseMap{"account": &mcp.ElicitResult{Action: "accept", Content: map[string]any{"account": "current"}}})
	if got := textOf(res); !strings.HasSuffix(got, `In the books: "Gutters.". Filed in file:///books.`) {
		t.Errorf("got %q", got)
	}
}

func TestExportPhotos(t *testing.T) {
	p, _ := sit(t, setup{manual: true})
	args := map[string]any{"rounds": 4}
	res := p.call("export_photos", args)
	rounds := 0
	for seen := ""; res.NeedsInput(); rounds++ {
		if res.InputRequests != nil || res.RequestState == "" || res.RequestState == seen {
			t.Fatalf("round %d: %+v", rounds, res)
		}
		seen = res.RequestState
		res = p.again("export_photos", args, res, nil)
	}
	if rounds != 4 || textOf(res) != "1,204 photos are ready, after 4 rounds." {
		t.Errorf("%d rounds, %q", rounds, textOf(res))
	}
	p, _ = sit(t, setup{revision: protocol.Revision20251125})
	if got := textOf(p.call("export_photos", nil)); !strings.HasPrefix(got, "1,204 photos") {
		t.Errorf("got %q", got)
	}
	p.await("three progress notifications", func() bool { return len(p.progress) == 3 }) // the client handles them beside the result
}

func TestHaggle(t *testing.T) {
	for _, rev := range []string{protocol.Revision20251125, protocol.Revision20260728} {
		b := newBare(t, rev, Options{})
		b.answer = func(string, json.RawMessage) string { return `{"action":"accept","content":{"offer":250}}` }
		b.greet()
		res, err := b.tool("haggle", `{}`)
		if err != nil || !strings.Contains(string(res), "Sold, for 250, in round 12") && !strings.Contains(string(res), "After 12 rounds") || len(b.seen) != 12 {
			t.Errorf("%s: %d rounds, %s, %v", rev, len(b.seen), res, err)
		}
		if want := "250? My children have to eat. 460,"; !strings.Contains(string(b.seen[1].Params), want) {
			t.Errorf("the second round is %s", b.seen[1].Params)
		}
	}
	p, _ := sit(t, setup{answer: script(map[string]map[string]any{"A fine": {"offer": 400}, "400? My children have to eat. 4": {"offer": 460}})})
	if got := textOf(p.call("haggle", nil)); got != "Sold, for 460, in round 2. It is a fine carpet." {
		t.Errorf("got %q", got)
	}
}

func TestPromptsAndResources(t *testing.T) {
	everywhere(t, func(t *testing.T, s setup) {
		s.answer = script(map[string]map[string]any{
			"Release notes for 1.4.0":                     {"audience": "press", "tone": "dry", "breaking": true},
			"Why do you want to read the lease of lodger": {"reason": "curiosity"},
			"Why do you want to read the old-mill":        {"reason": "renewal"},
			"Why do you want to read the terms of acme":   {"reason": "audit", "until": "2026-12-31"},
		})
		p, _ := sit(t, s)
		prompt, err := p.session.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "release_notes", Arguments: map[string]string{"version": "1.4.0"}})
		if err != nil || prompt.Messages[0].Content.(*mcp.TextContent).Text != "Write the release notes of version 1.4.0 for press, in a dry tone. Begin with what breaks." {
			t.Errorf("prompt: %+v, %v", prompt, err)
		}
		if _, err := p.session.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "release_notes"}); err == nil || !strings.Contains(err.Error(), "needs a version") {
			t.Errorf("without a version: %v", err)
		}
		if _, err := p.session.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "release_notes", Arguments: map[string]string{"version": "2"}}); err == nil || !strings.Contains(err.Error(), "No release notes") {
			t.Errorf("declined: %v", err)
		}
		if prompt, err = p.session.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "stand_up"}); err != nil || len(prompt.Messages) != 1 {
			t.Errorf("prompt: %+v, %v", prompt, err)
		}

		for uri, want := range map[string]string{
			"contract://lease/old-mill":       "# old-mill, lease",
			"contract://acme/terms":           "# terms, acme",
			"weather://harbour/yesterday":     "hour,mm\n00:00,0.0\n",
			"weather://harbour/yesterday.png": "",
		} {
			res, err := p.session.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri})
			if err != nil || len(res.Contents) != 1 || !strings.HasPrefix(res.Contents[0].Text, want) || res.Contents[0].MIMEType == "" {
				t.Errorf("%s: %+v, %v", uri, res, err)
			}
		}
		for uri, want := range map[string]string{
			"contract://lodger/lease": "Curiosity is not enough", "contract://nobody/will": "stays in its drawer", "contract://": "",
		} {
			if _, err := p.session.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri}); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v", uri, err)
			}
		}
	})
}

func TestShowResult(t *testing.T) {
	p, _ := sit(t, setup{})
	for _, kind := range shows {
		res, err := p.try("show_result", map[string]any{"kind": kind})
		switch kind {
		case "protocol_error":
			if e, ok := wireError(err); !ok || len(e.Data) == 0 {
				t.Errorf("%s: %v", kind, err)
			}
			continue
		case "everything":
			if len(res.Content) != 6 || res.StructuredContent == nil {
				t.Errorf("%s: %d parts", kind, len(res.Content))
			}
		case "nothing":
			if len(res.Content) != 0 {
				t.Errorf("%s: %v", kind, res.Content)
			}
		default:
			if len(res.Content) != 1 || res.IsError != (kind == "tool_error") {
				t.Errorf("%s: %+v", kind, res)
			}
		}
		if err != nil {
			t.Errorf("%s: %v", kind, err)
		}
		for _, c := range res.Content {
			if c, ok := c.(*mcp.ImageContent); ok {
				if img, err := png.Decode(bytes.NewReader(c.Data)); err != nil || img.Bounds().Dx() != 240 {
					t.Errorf("the picture cannot be read: %v", err)
				}
			}
		}
	}
}

func TestWhoAmI(t *testing.T) {
	cases := []struct{ revision, caps, want string }{
		{protocol.Revision20250618, `{"elicitation":{}}`, `"revision":"2025-06-18","client":{"name":"bare","version":"1"},"capabilities":{"elicitation":{}},"canBeAsked":["form"]`},
		{protocol.Revision20251125, `{"elicitation":{"form":{},"url":{}},"sampling":{}}`, `"capabilities":{"elicitation":{"form":{},"url":{}},"sampling":{}},"canBeAsked":["form","url"]`},
		{protocol.Revision20251125, `{"elicitation":{"url":{}},"roots":{}}`, `"capabilities":{"elicitation":{"url":{}},"roots":{}},"canBeAsked":["url"]`},
		{protocol.Revision20260728, `{}`, `"revision":"2026-07-28","capabilities":{},"canBeAsked":[]`},
		{"2024-11-05", `{}`, `"revision":"2024-11-05"`},
		{"2031-01-01", `{}`, `"revision":"2026-07-28"`}, // refused below
	}
	for _, c := range cases {
		b := newBare(t, c.revision, Options{})
		b.caps = c.caps
		b.greet()
		res, err := b.call(protocol.MethodCallTool, `{"name":"who_am_i"}`)
		if c.revision == "2031-01-01" {
			if e, ok := wireError(err); !ok || e.Code != protocol.CodeUnsupportedVersion {
				t.Errorf("%s: %s, %v", c.revision, res, err)
			}
			continue
		}
		if err != nil || !strings.Contains(string(res), c.want) {
			t.Errorf("got %s, %v, want %s", res, err, c.want)
		}
	}
}

// TestAskThis checks that a question is asked as it is written, and again where none is given.
func TestAskThis(t *testing.T) {
	first, second := `{"message":"Of the file?","requestedSchema":{"type":"object","properties":{}}}`, `{"requestedSchema":{"type":"object","properties":{"z":{"type":"number","default":1.50},"a":{"type":"string"}}},"message":"Go on?"}`
	for _, rev := range []string{protocol.Revision20250618, protocol.Revision20251125, protocol.Revision20260728} {
		b := newBare(t, rev, Options{Ask: json.RawMessage(first)})
		var asked []string
		b.answer = func(_ string, params json.RawMessage) string {
			asked = append(asked, string(params))
			return `{"action":"accept","content":{"z":"no number"}}`
		}
		b.greet()
		for _, args := range []string{`{}`, `{"question":` + second + `}`, `{}`} {
			if res, err := b.tool("ask_this", args); err != nil || !strings.Contains(string(res), "no number") {
				t.Errorf("%s, %s: %s, %v", rev, args, res, err)
			}
		}
		if want := []string{first, second, second}; !slices.Equal(asked, want) {
			t.Errorf("%s: asked %q, want %q", rev, asked, want)
		}
	}
}

// TestSamples checks that each sample can be asked.
func TestSamples(t *testing.T) {
	specification, own := Samples()
	if len(specification) < 3 || len(own) < 12 {
		t.Errorf("%d and %d samples", len(specification), len(own))
	}
	for _, s := range slices.Concat(specification, own) {
		if r, err := elicit.Parse(s.Params); err != nil || r.Message == "" || r.Trouble != "" && r.Mode == elicit.ModeForm {
			t.Errorf("%s: %v, %s", s.Name, err, s.Params)
		}
	}
}
