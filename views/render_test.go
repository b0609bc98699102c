package views

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/a-h/templ"
	"golang.org/x/net/html"

	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/judges/fit"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/meaning/elicit"
	"elicitation-inspector/bridge/wire"
	"elicitation-inspector/static"
	"elicitation-inspector/views/forms"
	"elicitation-inspector/views/markup"
	"elicitation-inspector/views/wirelog"
)

// render is the markup of a component.
func render(t *testing.T, c templ.Component) string {
	t.Helper()
	var b strings.Builder
	if err := c.Render(t.Context(), &b); err != nil {
		t.Fatalf("rendering: %v", err)
	}
	return b.String()
}

// draw renders a component and parses it as a browser does.
func draw(t *testing.T, c templ.Component) *html.Node {
	t.Helper()
	doc, err := html.ParseWithOptions(strings.NewReader(render(t, c)), html.ParseOptionEnableScripting(false))
	if err != nil {
		t.Fatalf("parsing what was rendered: %v", err)
	}
	return doc
}

func attr(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

func has(n *html.Node, name string) bool {
	for _, a := range n.Attr {
		if a.Key == name {
			return true
		}
	}
	return false
}

// every returns the elements below n that match, in document order.
func every(n *html.Node, match func(*html.Node) bool) []*html.Node {
	var out []*html.Node
	for d := range n.Descendants() {
		if d.Type == html.ElementNode && match(d) {
			out = append(out, d)
		}
	}
	return out
}

func only(t *testing.T, n *html.Node, what string, match func(*html.Node) bool) *html.Node {
	t.Helper()
	found := every(n, match)
	if len(found) != 1 {
		t.Fatalf("%d elements are %s, want one", len(found), what)
	}
	return found[0]
}

func byID(t *testing.T, n *html.Node, id string) *html.Node {
	t.Helper()
	return only(t, n, "#"+id, func(e *html.Node) bool { return attr(e, "id") == id })
}

// text is what a person reads, and of a clock that runs when it started.
func text(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		switch {
		case d.Type == html.TextNode:
			b.WriteString(d.Data)
		case has(d, "data-since"):
			b.WriteString("since " + attr(d, "data-since"))
		}
	}
	return b.String()
}

// region finds the region with a name, as assistive technology does.
func region(t *testing.T, n *html.Node, name string) *html.Node {
	t.Helper()
	return only(t, n, "region "+name, func(e *html.Node) bool { return e.Data == "section" && attr(e, "aria-label") == name })
}

// button finds a button by the text that names it.
func button(t *testing.T, n *html.Node, name string) *html.Node {
	t.Helper()
	return only(t, n, "button "+name, func(e *html.Node) bool {
		return e.Data == "button" && strings.TrimSpace(text(e)) == name && attr(e, "role") == ""
	})
}

func tag(name string) func(*html.Node) bool {
	return func(e *html.Node) bool { return e.Data == name }
}

var someServer = Server{ServerStatus: conversation.ServerStatus{
	ID: "s1", Label: "release-bot", How: "stdio", State: conversation.ServerReady,
	Info: conversation.ServerInfo{Presented: conversation.Presented{Name: "release-bot", Version: "1.4.0"}, Protocol: "2025-11-25"},
}}

func someQuestion(fields ...forms.Field) Question {
	return Question{
		InputRequest: conversation.InputRequest{
			Question: conversation.Question{Number: 7, State: conversation.Pending, Asked: time.Now().Add(-18 * time.Second), AskedSeq: 204},
			Request:  &elicit.Request{Mode: "form", Message: "Deploy to production?"},
			Call:     3,
			CallName: "deploy",
		},
		Server: someServer,
		Form:   forms.Form{ID: "q7", Fields: fields, Preview: "{\n  \"action\": \"accept\",\n  \"content\": {}\n}"},
	}
}

func somePage() Page {
	tool := Item{Server: "s1", Item: conversation.Item{Kind: conversation.Tool, Name: "deploy", Key: "deploy", Title: "Ship it", Description: "Ships a build."}}
	return Page{
		Version: "1.0", Servers: []Server{someServer},
		Catalogs: []Catalog{{
			Server: someServer, Lists: map[Shelf]List{
				"tools":     {Items: []Item{tool}, Total: 1},
				"prompts":   {Items: []Item{{Server: "s1", Item: conversation.Item{Kind: conversation.Prompt, Name: "greet", Key: "greet"}}}, Total: 1},
				"resources": {Items: []Item{{Server: "s1", Item: conversation.Item{Kind: conversation.Resource, Name: "log", Key: "file:///log"}}}, Total: 1},
			},
		}},
		Form:      &CallForm{Item: tool, Server: someServer, Form: forms.Form{ID: "args"}},
		Questions: []Question{someQuestion()},
		Log:       wirelog.Status{Frames: 214},
		Seq:       42,
	}
}

// TestNames checks the accessible names that tests and screen readers rely on.
func TestNames(t *testing.T) {
	page := draw(t, PageView(somePage()))
	for _, name := range []string{"Tools", "Prompts", "Resources", "Call", "Questions", "Wire log", "Servers"} {
		region(t, page, name)
	}
	for name, item := range map[string]string{"Tools": "deploy", "Prompts": "greet", "Resources": "log"} {
		r := region(t, page, name)
		b := only(t, r, "item", tag("button"))
		if got := strings.TrimSpace(text(b)); got != item {
			t.Errorf("the button in %s is named %q, want %q", name, got, item)
		}
		panel := r.Parent
		if hidden := has(panel, "hidden"); hidden != (name != "Tools") {
			t.Errorf("region %s: hidden is %v", name, hidden)
		}
	}
	button(t, region(t, page, "Call"), "Call")
	article := only(t, region(t, page, "Questions"), "article", tag("article"))
	if got := text(byID(t, page, attr(article, "aria-labelledby"))); got != "Deploy to production?" {
		t.Errorf("the article is named %q", got)
	}
	if attr(article, "data-state") != "pending" {
		t.Errorf("data-state is %q", attr(article, "data-state"))
	}
	for _, name := range []string{"Accept", "Decline", "Cancel"} {
		button(t, article, name)
	}
	for _, name := range []string{"Form", "JSON"} {
		only(t, article, "tab "+name, func(e *html.Node) bool { return attr(e, "role") == "tab" && text(e) == name })
	}
	if found := every(article, func(e *html.Node) bool { return strings.Contains(text(e), "Send anyway") && e.Data == "button" }); len(found) > 0 {
		t.Error("Send anyway is offered before a check has failed")
	}
	servers := only(t, region(t, page, "Servers"), "item", tag("li"))
	if !strings.Contains(text(servers), "ready") {
		t.Errorf("the server's state is not in its text: %q", text(servers))
	}
	grid := only(t, region(t, page, "Wire log"), "grid", func(e *html.Node) bool { return attr(e, "role") == "grid" })
	if attr(grid, "aria-rowcount") != "214" {
		t.Errorf("aria-rowcount is %q", attr(grid, "aria-rowcount"))
	}
}

// TestRowCellsStandUnderTheirHeaders compares the order of cells with that of headers.
func TestRowCellsStandUnderTheirHeaders(t *testing.T) {
	classes := func(n *html.Node, role string) (out []string) {
		for _, e := range every(n, func(e *html.Node) bool { return attr(e, "role") == role }) {
			out = append(out, strings.Fields(attr(e, "class"))[0])
		}
		return out
	}
	page := draw(t, PageView(somePage()))
	rows := draw(t, wirelog.Rows([]wirelog.Row{{Row: wire.Row{Frame: wire.Frame{Seq: 9, Dir: wire.ServerToClient, Kind: wire.Result, Method: "tools/call", Time: time.Unix(106, 249e6), Pair: 8, Latency: 4249 * time.Millisecond}}, Index: 3, Start: time.Unix(100, 0), Since: time.Unix(102, 0)}}))
	headers, cells := classes(page, "columnheader"), classes(rows, "gridcell")
	if fmt.Sprint(headers) != fmt.Sprint(cells) || len(cells) == 0 {
		t.Errorf("headers %v, cells %v", headers, cells)
	}
	row := only(t, rows, "row", func(e *html.Node) bool { return attr(e, "role") == "row" })
	if attr(row, "aria-rowindex") != "3" {
		t.Errorf("aria-rowindex is %q", attr(row, "aria-rowindex"))
	}
	for _, want := range []string{"6.249", "from 2.000 to 6.249", "from the server", "answer to", "4.25 s"} {
		if !strings.Contains(text(row), want) {
			t.Errorf("the row does not say %q: %q", want, text(row))
		}
	}
}

// TestNothingInline checks the markup against the content-security policy: no scripts,
// handlers or styles except the sheet and the script whose hashes the policy names.
func TestNothingInline(t *testing.T) {
	p := somePage()
	p.Questions = append(p.Questions, someQuestion(everyKind()...))
	page := draw(t, PageView(p))
	for _, e := range every(page, func(*html.Node) bool { return true }) {
		if e.FirstChild != nil && (e.Data == "style" && e.FirstChild.Data == static.Sheet || e.Data == "script" && e.FirstChild.Data == static.Main) {
			continue
		}
		if e.Data == "style" || e.Data == "script" && (attr(e, "src") == "" || e.FirstChild != nil) {
			t.Errorf("<%s> with content", e.Data)
		}
		for _, a := range e.Attr {
			if a.Key == "style" || strings.HasPrefix(a.Key, "on") {
				t.Errorf("<%s %s=%q>", e.Data, a.Key, a.Val)
			}
			if (a.Key == "src" || a.Key == "href") && a.Val != static.Icon() && !strings.HasPrefix(a.Val, "/") && !strings.HasPrefix(a.Val, "#") {
				t.Errorf("<%s %s=%q> is not of this server", e.Data, a.Key, a.Val)
			}
			if a.Key == "pattern" {
				t.Errorf("<%s pattern>: patterns are the server's to check", e.Data)
			}
		}
	}
	seen := map[string]bool{}
	for _, e := range every(page, func(e *html.Node) bool { return has(e, "id") }) {
		if id := attr(e, "id"); seen[id] && !strings.HasPrefix(id, "q7") { // two questions of one number are intended
			t.Errorf("id %q stands twice", id)
		} else {
			seen[id] = true
		}
	}
}

const hostile = `</textarea></script><img src=x onerror=alert(1)>"'><b>` + "\u202e\x1b[31m&amp;\u2028"

// everyText draws every component with one text in all places for a server's words.
func everyText(hostile string) map[string]templ.Component {
	s := Server{ServerStatus: conversation.ServerStatus{
		ID: "s1", Label: markup.Brief(hostile), How: "stdio", Address: hostile, State: conversation.ServerFailed, Reason: hostile, Stderr: []string{hostile}, Cause: hostile,
		Info: conversation.ServerInfo{
			Presented: conversation.Presented{Name: hostile, Title: hostile, Version: hostile, Instructions: hostile, Capabilities: []string{hostile}},
			Protocol:  hostile, Negotiated: hostile,
		},
	}}
	item := Item{Server: "s1", Item: conversation.Item{
		Kind: conversation.Tool, Name: hostile, Key: hostile, Title: hostile, Description: hostile, Schema: json.RawMessage(hostile),
	}}
	field := forms.Field{ID: "q1-f0", Problems: []string{hostile}, Input: elicit.Input{Text: hostile}, Field: elicit.Field{
		Kind: elicit.Text, Name: hostile, Label: hostile, Description: hostile, Format: hostile, Pattern: hostile}}
	choice := forms.Field{ID: "q1-f1", Index: 1, Field: elicit.Field{Label: hostile, Kind: elicit.SingleChoice, Choices: []elicit.Choice{{Value: hostile, Title: hostile}}}}
	raw := forms.Field{ID: "q1-f2", Index: 2, Input: elicit.Input{JSON: hostile}, Field: elicit.Field{Label: hostile, Kind: elicit.JSON, Why: hostile}}
	form := forms.Form{ID: "q1", Fields: []forms.Field{field, choice, raw}, Extra: hostile, Content: hostile, Preview: hostile, Problems: []string{hostile}, Trouble: hostile}
	pending := Question{InputRequest: conversation.InputRequest{Question: conversation.Question{Number: 1, State: conversation.Pending, AskedSeq: 1, Via: elicit.InRound, Key: hostile}, Request: &elicit.Request{Mode: elicit.Mode(hostile), Message: hostile, Schema: json.RawMessage(hostile)}, Call: 1, CallName: hostile}, Server: s, Form: form}
	settled := pending
	settled.Unfolded = true
	settled.State, settled.Action, settled.Digest, settled.Reason, settled.By = conversation.Answered, "accept", hostile, hostile, hostile
	settled.Answer = json.RawMessage(hostile)
	call := Call{
		Call:   conversation.Call{Number: 1, State: conversation.Running, Steps: []conversation.Step{{Kind: "called", Text: hostile, Seq: 1}}, Progress: &conversation.Progress{Message: hostile}},
		Item:   item,
		Server: s,
		Result: &Result{
			Error: &conversation.RPCError{Message: hostile, Problem: hostile, Data: json.RawMessage(hostile)},
			Result: conversation.Result{
				Structured: json.RawMessage(hostile), Raw: json.RawMessage(hostile),
				Content: []conversation.Content{
					{Type: "text", Text: hostile, Role: hostile}, {Type: "text", Text: fmt.Sprintf("[%q]", hostile)}, {Type: "image", MIME: "image/" + hostile, Bytes: []byte{}},
					{Type: "resource_link", Name: hostile, URI: hostile, Description: hostile, Text: hostile}, {Problem: hostile, Raw: json.RawMessage(hostile)},
				},
			},
		},
		Form: CallForm{Item: item, Server: s, Form: form},
	}
	row := wirelog.Row{Row: wire.Row{
		Frame: wire.Frame{
			Dir: wire.ServerToClient, Server: hostile, Kind: wire.Noise, Method: hostile, Transport: hostile, Session: hostile,
			Message: wire.Message{ID: json.RawMessage(hostile)},
		},
		Action: hostile, Summary: hostile,
	}}
	jsonForm := form
	jsonForm.JSON = true
	jsonQuestion := pending
	jsonQuestion.Form = jsonForm

	return map[string]templ.Component{
		"servers":  ServersBar([]Server{s}),
		"catalog":  CatalogPanel([]Catalog{{Server: s, Lists: map[Shelf]List{"tools": {Items: []Item{item}, Total: 1}}, Err: hostile}, {Server: someServer, Err: hostile}}),
		"calls":    CallStrip([]CallTab{{Number: 1, Server: hostile, Name: hostile, State: conversation.Running}}, EarlierCalls{}),
		"call":     CallPanel(nil, &call),
		"form":     CallPanel(&CallForm{Item: item, Server: s, Form: form}, nil),
		"pending":  QuestionCard(pending),
		"json tab": QuestionCard(jsonQuestion),
		"settled":  QuestionCard(settled),
		"steps":    CallSteps(Call{Call: conversation.Call{Steps: []conversation.Step{{Kind: "log", Text: hostile}}}}),
		"rows":     wirelog.Rows([]wirelog.Row{row}),
		"detail":   wirelog.FrameDetail(hostileDetail(row)),
		"log":      wirelog.Pane(wirelog.Status{Err: hostile}),
	}
}

// TestHostileText puts hostile text in all places for a server's words. It must be drawn
// as text: the same characters, and no element or attribute from it.
func TestHostileText(t *testing.T) {
	all := everyText(hostile)
	asked := &elicit.Request{Mode: elicit.ModeForm, Message: hostile, Fields: []elicit.Field{
		{Kind: elicit.Text, Name: hostile, Label: hostile, Description: hostile, Default: rawjson.Quoted(hostile), Schema: json.RawMessage(`{"type":"string"}`)},
		{Kind: elicit.SingleChoice, Name: "n", Label: hostile, Choices: []elicit.Choice{{Value: hostile, Title: hostile}}, Schema: json.RawMessage(`{"type":"string"}`)},
	}}
	for _, p := range fit.All() {
		seen := fit.See(asked, p)
		all["seen in "+p.Client] = DraftSeen(SeenIn{Trouble: hostile, Seen: []*fit.Seen{seen}, Drawn: &Drawing{Seen: seen, Request: asked}})
	}
	for name, c := range all {
		t.Run(name, func(t *testing.T) {
			doc := draw(t, c)
			for _, e := range every(doc, func(e *html.Node) bool {
				return has(e, "onerror") || e.Data == "script" || e.Data == "img" && attr(e, "src") == "x"
			}) {
				t.Errorf("<%s> came out of the text", e.Data)
			}
			if !strings.Contains(text(doc), "<img src=x onerror=alert(1)>") {
				t.Error("the text is gone")
			}
		})
	}
	if got := text(only(t, draw(t, all["pending"]), "message", func(e *html.Node) bool { return attr(e, "id") == "q1-message" })); got != hostile {
		t.Errorf("the message is %q", got)
	}
	if got := attr(byID(t, draw(t, all["pending"]), "q1-f0"), "value"); got != hostile {
		t.Errorf("the value is %q", got)
	}
}

func TestOnlyWebAddressesOpen(t *testing.T) {
	for uri, opens := range map[string]bool{
		"https://example.com/a?b": true, "http://127.0.0.1:8080/": true, "HTTPS://EXAMPLE.COM": true,
		"javascript:alert(1)": false, " javascript:alert(1)": false, "data:text/html,x": false, "file:///etc/passwd": false,
		"https:": false, "https:///x": false, "//example.com": false, "menu://today": false, "": false,
	} {
		doc := draw(t, CallView(Call{Call: conversation.Call{State: conversation.Done}, Result: &Result{Result: conversation.Result{Content: []conversation.Content{{Type: "resource_link", URI: uri}}}}}))
		links := every(doc, tag("a"))
		if (len(links) == 1) != opens {
			t.Errorf("%q: %d links", uri, len(links))
		}
		for _, a := range links {
			if attr(a, "rel") != "noopener noreferrer" || attr(a, "target") != "_blank" || attr(a, "href") != uri {
				t.Errorf("%q: %v", uri, a.Attr)
			}
		}
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

func everyKind() []forms.Field {
	var out []forms.Field
	for i, f := range []elicit.Field{
		{Label: "Text", Kind: elicit.Text, MaxLength: limit(12), Pattern: `^CHG-\d{5}$`},
		{Label: "Mail", Kind: elicit.Text, Format: "email"},
		{Label: "Site", Kind: elicit.Text, Format: "uri"},
		{Label: "Day", Kind: elicit.Text, Format: "date"},
		{Label: "Time", Kind: elicit.Text, Format: "date-time"},
		{Label: "Number", Kind: elicit.Number, Minimum: "0", Maximum: "1.50"},
		{Label: "Integer", Kind: elicit.Integer},
		{Label: "Maybe", Kind: elicit.Boolean},
		{Label: "Must", Kind: elicit.Boolean, Required: true},
		{Label: "Few", Kind: elicit.SingleChoice, Choices: choices(3)},
		{Label: "Some", Kind: elicit.SingleChoice, Choices: choices(40)},
		{Label: "Many", Kind: elicit.SingleChoice, Choices: choices(300)},
		{Label: "Several", Kind: elicit.MultiChoice, Choices: choices(3), MinItems: limit(1), MaxItems: limit(2)},
		{Label: "Several of many", Kind: elicit.MultiChoice, Choices: choices(300)},
		{Label: "Object", Kind: elicit.JSON, Why: "It is an object."},
	} {
		out = append(out, forms.Field{Field: f, Index: i, ID: fmt.Sprintf("q7-f%d", i)})
	}
	return out
}

// TestFieldKinds checks the control for each kind of field, and that its accessible name
// is its label only.
func TestFieldKinds(t *testing.T) {
	card := draw(t, QuestionCard(someQuestion(everyKind()...)))
	want := map[string]string{ // label: element, type or role, inputmode
		"Text": "input text", "Mail": "input email", "Site": "input url", "Day": "input date", "Time": "input text",
		"Number": "input text decimal", "Integer": "input text decimal", "Maybe": "div radiogroup", "Must": "div radiogroup",
		"Few": "div radiogroup", "Some": "select", "Many": "input combobox", "Several": "div group", "Several of many": "input combobox", "Object": "textarea",
	}
	for i, f := range everyKind() {
		control := byID(t, card, f.ID)
		got := control.Data
		for _, a := range []string{attr(control, "role"), attr(control, "type"), attr(control, "inputmode")} {
			if a != "" && got != "input combobox" {
				got += " " + a
			}
		}
		if got != want[f.Label] {
			t.Errorf("%s is %q, want %q", f.Label, got, want[f.Label])
		}
		label := byID(t, card, f.ID+"-label")
		if text(label) != f.Label {
			t.Errorf("%s is labelled %q", f.Label, text(label))
		}
		if named := attr(label, "for") == f.ID || attr(control, "aria-labelledby") == f.ID+"-label"; !named {
			t.Errorf("%s is not named by its label", f.Label)
		}
		for id := range strings.FieldsSeq(attr(control, "aria-describedby")) {
			byID(t, card, id)
		}
		if required := attr(control, "aria-required") == "true"; required != f.Required {
			t.Errorf("%s: aria-required is %v", f.Label, required)
		}
		_ = i
	}
	values := func(name string) (out []string, checked string) {
		for _, e := range every(card, func(e *html.Node) bool { return attr(e, "name") == name && attr(e, "type") == "radio" }) {
			out = append(out, attr(e, "value"))
			if has(e, "checked") {
				checked += attr(e, "value") + ";"
			}
		}
		return out, checked
	}
	if all, checked := values("f7"); fmt.Sprint(all) != "[ true false]" || checked != ";" {
		t.Errorf("an optional boolean offers %q, chosen %q", all, checked)
	}
	if all, checked := values("f8"); fmt.Sprint(all) != "[true false]" || checked != "" {
		t.Errorf("a required boolean offers %q, chosen %q: it must never be chosen silently", all, checked)
	}
}

// TestControlsThatWouldLoseText checks that no control is used for a value that it cannot
// hold.
func TestControlsThatWouldLoseText(t *testing.T) {
	for _, c := range []struct {
		name  string
		field elicit.Field
		input elicit.Input
		want  string
	}{
		{"a date", elicit.Field{Kind: elicit.Text, Format: "date"}, elicit.Input{Text: "2026-08-02"}, "input date"},
		{"no date", elicit.Field{Kind: elicit.Text, Format: "date"}, elicit.Input{Text: "tomorrow"}, "input text"},
		{"a day that is not", elicit.Field{Kind: elicit.Text, Format: "date"}, elicit.Input{Text: "2026-02-30"}, "input text"},
		{"one line", elicit.Field{Kind: elicit.Text}, elicit.Input{Text: "a"}, "input text"},
		{"two lines", elicit.Field{Kind: elicit.Text}, elicit.Input{Text: "a\nb"}, "textarea "},
		{"a date of two lines", elicit.Field{Kind: elicit.Text, Format: "date"}, elicit.Input{Text: "a\nb"}, "textarea "},
		{"a value of another type", elicit.Field{Kind: elicit.Number}, elicit.Input{JSON: `"x"`}, "textarea "},
		{"a choice that is none", elicit.Field{Kind: elicit.SingleChoice, Choices: choices(2)}, elicit.Input{JSON: `7`}, "textarea "},
	} {
		doc := draw(t, forms.Fields(forms.Form{Fields: []forms.Field{{Field: c.field, ID: "x", Input: c.input}}}))
		control := byID(t, doc, "x")
		if got := control.Data + " " + attr(control, "type"); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
		if value := attr(control, "value") + text(control); value != c.input.Text+c.input.JSON {
			t.Errorf("%s: it holds %q", c.name, value)
		}
	}
}

// TestTextAreaKeepsItsFirstLine: HTML drops a line end that follows <textarea>.
func TestTextAreaKeepsItsFirstLine(t *testing.T) {
	doc := draw(t, forms.Fields(forms.Form{Fields: []forms.Field{{ID: "x", Field: elicit.Field{Kind: elicit.Text}, Input: elicit.Input{Text: "\n\na"}}}}))
	if got := text(byID(t, doc, "x")); got != "\n\na" {
		t.Errorf("it holds %q", got)
	}
}

func TestErrorsStandAtTheirFields(t *testing.T) {
	fields := everyKind()
	for i := range fields {
		fields[i].Problems = []string{"Wrong here."}
	}
	q := someQuestion(fields...)
	q.Form.Checked = true
	card := draw(t, QuestionCard(q))
	for _, f := range fields {
		control := byID(t, card, f.ID)
		if attr(control, "role") == "group" { // aria-invalid is not for groups, but for their boxes
			control = every(control, tag("input"))[0]
		} else if !strings.Contains(attr(control, "aria-describedby"), f.ID+"-error") {
			t.Errorf("%s is not described by its error", f.Label)
		}
		if attr(control, "aria-invalid") != "true" {
			t.Errorf("%s is not marked invalid", f.Label)
		}
		if got := strings.TrimSpace(text(byID(t, card, f.ID+"-error"))); got != "Wrong here." {
			t.Errorf("%s: error %q", f.Label, got)
		}
	}
	if attr(button(t, card, "Send anyway"), "data-force") != "1" {
		t.Error("Send anyway does not insist")
	}
	valid := draw(t, QuestionCard(someQuestion(everyKind()...)))
	if n := len(every(valid, func(e *html.Node) bool { return has(e, "aria-invalid") })); n > 0 {
		t.Errorf("%d controls are marked invalid before any check", n)
	}
}

func TestJSONTab(t *testing.T) {
	q := someQuestion(everyKind()...)
	q.Form.JSON, q.Form.Content, q.Form.Problems = true, "{\n \"a\": 1.50\n}", []string{"a: At most 1."}
	card := draw(t, QuestionCard(q))
	content := only(t, card, "Content", func(e *html.Node) bool { return attr(e, "name") == "content" })
	if text(content) != "{\n \"a\": 1.50\n}" {
		t.Errorf("Content holds %q", text(content))
	}
	if attr(content, "aria-invalid") != "true" || text(byID(t, card, attr(content, "aria-describedby"))) == "" {
		t.Error("Content does not lead to what is wrong")
	}
	if n := len(every(card, func(e *html.Node) bool { return attr(e, "name") == "f0" })); n > 0 {
		t.Error("the form's fields are sent along with the JSON")
	}
}

func TestWillSendIsExact(t *testing.T) {
	for _, want := range []string{
		"{\n  \"a\": 0.10,\n  \"b\": \"x\u202ey\",\n  \"c\": [9007199254740993, true, null]\n}",
		"{\"<b>\":\"&amp;\"}", "null", "not JSON at all", "\n\n{}",
	} {
		doc := draw(t, forms.WillSend(forms.Form{ID: "q1", Preview: want}))
		if got := text(only(t, doc, "pre", tag("pre"))); got != want {
			t.Errorf("it shows %q, want %q", got, want)
		}
	}
}

// TestSettledSaysWhy checks the texts for all ends of a question.
func TestSettledSaysWhy(t *testing.T) {
	for _, c := range []struct {
		state      conversation.QuestionState
		action, by string
		reason     string
		want       []string
	}{
		{conversation.Answered, "accept", "person", "", []string{"accepted", "by you", "build 2291"}},
		{conversation.Answered, "decline", "person", "", []string{"declined", "by you"}},
		{conversation.Answered, "cancel", "policy", "", []string{"cancelled", "by policy"}},
		{conversation.Answered, "accept", "script", "", []string{"accepted", "by a script"}},
		{conversation.Withdrawn, "", "server", "The server cancelled it.", []string{"withdrawn", "by the server", "The server cancelled it."}},
		{conversation.Refused, "", "policy", "URL mode was not declared.", []string{"refused", "URL mode was not declared."}},
		{conversation.Undelivered, "accept", "person", "The pipe is broken.", []string{"not delivered", "The pipe is broken."}},
	} {
		q := someQuestion()
		q.State, q.Action, q.By, q.Reason, q.Digest, q.Waited = c.state, c.action, c.by, c.reason, "build 2291", 4200*time.Millisecond
		q.Unfolded = true
		doc := draw(t, QuestionCard(q))
		line := text(every(doc, tag("summary"))[0])
		for _, want := range append(c.want, "Deploy to production?", "4.20 s") {
			if !strings.Contains(line, want) {
				t.Errorf("%s: the line does not say %q: %q", c.state, want, line)
			}
		}
		if attr(only(t, doc, "article", tag("article")), "data-state") != c.state.String() {
			t.Errorf("%s: data-state is wrong", c.state)
		}
		if n := len(every(doc, tag("form"))); n > 0 {
			t.Errorf("%s: it can still be answered", c.state)
		}
	}
}

func TestPendingBeforeSettled(t *testing.T) {
	var questions []Question
	for i, s := range []conversation.QuestionState{conversation.Answered, conversation.Pending, conversation.Withdrawn, conversation.Pending} {
		q := someQuestion()
		q.Number, q.State = i+1, s
		questions = append(questions, q)
	}
	var got []string
	for _, a := range every(draw(t, QuestionsPanel(questions, false, 0)), tag("article")) {
		got = append(got, attr(a, "id"))
	}
	if fmt.Sprint(got) != "[q2 q4 q3 q1]" {
		t.Errorf("order %v", got)
	}
}

// TestOwnQuestionsFirst checks that the questions of the call on show come first, a line
// separates them from waiting ones of other calls, and settled ones of other calls are
// folded.
func TestOwnQuestionsFirst(t *testing.T) {
	var questions []Question
	for i, s := range []conversation.QuestionState{conversation.Pending, conversation.Pending, conversation.Answered, conversation.Answered} {
		q := someQuestion()
		q.Number, q.State, q.Call = i+1, s, 1+i%2
		questions = append(questions, q)
	}
	read := func(call int) string {
		var out []string
		for _, e := range every(draw(t, QuestionsPanel(questions, false, call)), func(e *html.Node) bool {
			return e.Data == "article" || (attr(e, "id") == "elsewhere" || attr(e, "id") == "earlier") && !has(e, "hidden")
		}) {
			out = append(out, attr(e, "id"))
		}
		return fmt.Sprint(out)
	}
	for call, want := range map[int]string{
		0:  "[q1 q2 q4 q3]",
		1:  "[q1 q3 elsewhere q2 earlier q4]",
		2:  "[q2 q4 elsewhere q1 earlier q3]",
		3:  "[elsewhere q1 q2 earlier q4 q3]",
		-1: "[elsewhere q1 q2 earlier q4 q3]",
	} {
		if got := read(call); got != want {
			t.Errorf("beside call %d: %s, want %s", call, got, want)
		}
	}
	if !strings.Contains(text(draw(t, QuestionsPanel(questions, false, 3))), "Earlier (2)") {
		t.Error("it does not say how many are folded")
	}
}

func TestCallButtons(t *testing.T) {
	server := someServer
	for _, c := range []struct {
		name string
		call Call
		want string
	}{
		{"running", Call{Call: conversation.Call{State: conversation.Running}}, "More for this call, Copy link, Stop"},
		{"done", Call{Call: conversation.Call{State: conversation.Done}, Form: CallForm{Server: server}}, "More for this call, Copy link, Check this tool, Call again"},
		{"failed", Call{Call: conversation.Call{State: conversation.Failed}, Result: &Result{Failed: true, Error: &conversation.RPCError{Code: -32602}}}, "More for this call, Copy link, Check this tool, Call again"},
		{"of a transcript", Call{Call: conversation.Call{State: conversation.Done}, Form: CallForm{ReadOnly: true}}, "More for this call, Copy link, Call again"},
	} {
		c.call.Number, c.call.Server = 3, server
		c.call.Item.Kind = conversation.Tool
		doc := draw(t, CallPanel(nil, &c.call))
		head := byID(t, doc, "call-3-head")
		var names []string
		for _, b := range every(head, tag("button")) {
			names = append(names, cmp.Or(attr(b, "aria-label"), text(b)))
		}
		if got := strings.Join(names, ", "); got != c.want {
			t.Errorf("%s: buttons %s, want %s", c.name, got, c.want)
		}
	}
	closed := draw(t, CallPanel(&CallForm{Server: Server{ServerStatus: conversation.ServerStatus{Label: "x", State: conversation.ServerEnded}}}, nil))
	if !has(button(t, closed, "Call"), "disabled") {
		t.Error("a server that has ended can be called")
	}
}

func TestResults(t *testing.T) {
	for _, c := range []struct {
		name string
		r    Result
		want []string
	}{
		{"tool error", Result{Result: conversation.Result{IsError: true, Content: []conversation.Content{{Type: "text", Text: "no"}}}}, []string{"The tool reports an error", "isError", "no"}},
		{"error", Result{Failed: true, Error: &conversation.RPCError{Code: -32602, Message: "share", Data: json.RawMessage(`{"path": "/share"}`)}}, []string{"Error", "-32602", "Invalid params", "share", "/share"}},
		{"nothing", Result{}, []string{"The result is empty."}},
		{"structure", Result{Result: conversation.Result{Structured: json.RawMessage(`{"ok": true}`)}}, []string{"Structured content", `"ok": true`}},
		{"role", Result{Result: conversation.Result{Content: []conversation.Content{{Type: "text", Role: "assistant", Text: "hello"}}}}, []string{"assistant", "hello"}},
	} {
		doc := draw(t, CallView(Call{Call: conversation.Call{Number: 1, State: conversation.Done}, Result: &c.r}))
		got := text(region(t, doc, "Result"))
		for _, want := range c.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: it does not say %q: %q", c.name, want, got)
			}
		}
	}
}

func TestProgress(t *testing.T) {
	bar := func(p conversation.Progress) *html.Node {
		return only(t, draw(t, CallView(Call{Call: conversation.Call{State: conversation.Running, Progress: &p}})), "progress", tag("progress"))
	}
	if b := bar(conversation.Progress{Value: 3, Total: 8}); attr(b, "value") != "3" || attr(b, "max") != "8" {
		t.Errorf("3 of 8: %v", b.Attr)
	}
	if b := bar(conversation.Progress{Value: 3}); has(b, "value") {
		t.Errorf("3 of an unknown total has a value: %v", b.Attr)
	}
}

// TestManyChoicesStayLight checks that the page contains only the picked ones of ten
// thousand choices.
func TestManyChoicesStayLight(t *testing.T) {
	for _, kind := range []elicit.Kind{elicit.SingleChoice, elicit.MultiChoice} {
		f := forms.Field{ID: "x", Field: elicit.Field{Kind: kind, Choices: choices(10_000)}, Input: elicit.Input{Picks: []int{9_999}}}
		doc := draw(t, forms.Fields(forms.Form{Fields: []forms.Field{f}}))
		list := only(t, doc, "select", tag("select"))
		if !has(list, "hidden") {
			t.Errorf("%s: the list is drawn", kind)
		}
		selected := every(list, func(e *html.Node) bool { return has(e, "selected") })
		if len(selected) != 1 || attr(selected[0], "value") != "9999" {
			t.Errorf("%s: selected %v", kind, selected)
		}
		if n := len(every(doc, func(*html.Node) bool { return true })); n > 40 {
			t.Errorf("%s: %d elements", kind, n)
		}
	}
}

func TestDetailShowsWhatCannotBeSeen(t *testing.T) {
	raw := "{\"a\":\"x\u202ey\u2003z\"}\x1b\xff"
	doc := draw(t, wirelog.FrameDetail(wirelog.Detail{Row: wirelog.Row{Row: wire.Row{Frame: wire.Frame{Seq: 9, Kind: wire.Noise}}}, Raw: markup.RawPiece([]byte(raw), 0)}))
	var marks []string
	for _, e := range every(doc, func(e *html.Node) bool { return attr(e, "class") == "inv" }) {
		marks = append(marks, attr(e, "data-c"))
	}
	if fmt.Sprint(marks) != `[U+202E U+2003 ESC \xff]` {
		t.Errorf("marked: %v", marks)
	}
}

func TestDefaultsCanBeBroughtBack(t *testing.T) {
	f := forms.Field{ID: "q7-f0", Field: elicit.Field{Kind: elicit.Text, Label: "A", Default: json.RawMessage(`"x"`)}}
	hidden := func() bool {
		return has(button(t, draw(t, QuestionCard(someQuestion(f))), "Reset"), "hidden")
	}
	if !hidden() {
		t.Error("Reset is offered where nothing has changed")
	}
	f.Changed = true
	if hidden() {
		t.Error("Reset is not offered")
	}
}

// TestLiveQuestionsShowWhatCannotBeSeen checks the headline and the labels of a question.
func TestLiveQuestionsShowWhatCannotBeSeen(t *testing.T) {
	f := forms.Field{ID: "q7-f0", Field: elicit.Field{
		Kind: elicit.SingleChoice, Label: "la\u202ebel", Description: "de\u2066sc", Choices: []elicit.Choice{{Value: "a", Title: "ti\u200btle"}, {Value: "b", Title: "\u2764\ufe0f"}},
	}}
	q := someQuestion(f)
	q.Request.Message = "Del\u202eete\x1b?"
	var marks []string
	for _, e := range every(draw(t, QuestionCard(q)), func(e *html.Node) bool { return attr(e, "class") == "inv" }) {
		marks = append(marks, attr(e, "data-c"))
	}
	if fmt.Sprint(marks) != "[U+202E ESC U+202E U+2066 U+200B]" {
		t.Errorf("marked: %v", marks)
	}
}
