package views

import (
	"strconv"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/meaning/elicit"
	"elicitation-inspector/bridge/meaning/lint"
	"elicitation-inspector/bridge/wire"
	"elicitation-inspector/views/forms"
	"elicitation-inspector/views/markup"
	"elicitation-inspector/views/wirelog"
)

func someFindings(severities ...lint.Severity) []lint.Finding {
	var out []lint.Finding
	for i, s := range severities {
		out = append(out, lint.Finding{
			Rule: "rule-" + s.String(), Severity: s, Text: "Sentence " + string(rune('A'+i)) + ".", Pointer: "/params/requestedSchema",
			Reference: "MCP 2025-11-25, client/elicitation, Requested Schema", Link: "https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#requested-schema",
		})
	}
	return out
}

// found puts each finding into a frame of its own.
func found(list ...lint.Finding) []wirelog.FoundIn {
	var out []wirelog.FoundIn
	for i, f := range list {
		out = append(out, wirelog.FoundIn{Found: lint.Found{Finding: f, Seq: int64(204 + i)}, Call: "deploy"})
	}
	return out
}

func byClass(n *html.Node, class string) []*html.Node {
	return every(n, func(e *html.Node) bool {
		for c := range strings.FieldsSeq(attr(e, "class")) {
			if c == class {
				return true
			}
		}
		return false
	})
}

// TestFindingsOnACard checks that a single finding is shown in full, and several are
// folded under their counts.
func TestFindingsOnACard(t *testing.T) {
	for _, c := range []struct {
		severities []lint.Severity
		summary    string
	}{
		{nil, ""},
		{[]lint.Severity{lint.Violation}, ""},
		{[]lint.Severity{lint.Advice, lint.Violation, lint.Violation}, "2 MUST · 1 advice"},
		{[]lint.Severity{lint.Should, lint.Should, lint.Advice}, "2 SHOULD · 1 advice"},
		{[]lint.Severity{lint.Advice, lint.Advice}, "2 pieces of advice"},
		{[]lint.Severity{lint.Violation, lint.Should, lint.Advice, lint.Advice}, "1 MUST · 1 SHOULD · 2 advice"},
	} {
		q := someQuestion()
		q.Findings, q.Unfolded = someFindings(c.severities...), true
		for _, state := range []conversation.QuestionState{conversation.Pending, conversation.Answered, conversation.Refused} {
			q.State = state
			doc := draw(t, QuestionCard(q))
			lines := byClass(doc, "finding")
			if len(lines) != len(c.severities) {
				t.Errorf("%v, %s: %d findings are drawn", c.severities, state, len(lines))
			}
			for _, l := range lines {
				for _, want := range []string{"Sentence", "/params/requestedSchema", "rule-", "MCP 2025-11-25"} {
					if !strings.Contains(text(l), want) {
						t.Errorf("%v: %q does not say %q", c.severities, text(l), want)
					}
				}
			}
			if c.summary == "" {
				continue
			}
			folded := byID(t, doc, "q7-findings")
			if has(folded, "open") {
				t.Errorf("%v: they are unfolded", c.severities)
			}
			if got := text(byClass(folded, "counts")[0]); got != c.summary {
				t.Errorf("%v: counted as %q, want %q", c.severities, got, c.summary)
			}
		}
	}
}

// Each finding is said once on a card: at its field or at the URL, else in the head, which counts
// those at fields. Where the fields are not on show, the head has them all.
func TestFindingsAreSaidOnce(t *testing.T) {
	about := func(pointer, rule string) lint.Finding {
		return lint.Finding{Rule: rule, Severity: lint.Violation, Text: "It breaks " + strings.ToUpper(rule) + ".", Pointer: pointer, Reference: "MCP 2025-11-25"}
	}
	form := someQuestion(forms.Field{ID: "q7-f0", Field: elicit.Field{Kind: elicit.Text, Name: "pin", Label: "PIN"}})
	for n := range 4 {
		form.Findings = append(form.Findings, about("/params/requestedSchema/properties/pin", "rule-"+strconv.Itoa(n)))
	}
	form.Findings = append(form.Findings, about("/params/message", "url-in-form"))
	forms.AddFindings(form.Form.Fields, form.Findings)
	asJSON, link := form, urlQuestion("https://www.parcels.example@203.0.113.7/track")
	asJSON.Form.JSON = true
	link.Findings = []lint.Finding{about("/params/url", "url-credentials"), about("/params/url", "url-personal-data")}
	opened := accepted(link)
	opened.Unfolded = true
	for name, c := range map[string]struct {
		q             Question
		placed, inAll int
		jump          string
	}{
		"a form":          {form, 3, 5, "3 MUST at their fields"},
		"its JSON":        {asJSON, 0, 5, ""},
		"a URL":           {link, 0, 1, ""}, // the other finding is what a warning says
		"a URL once open": {opened, 0, 2, ""},
	} {
		doc := draw(t, QuestionCard(c.q))
		lines := 0
		for _, f := range c.q.Findings {
			if n := strings.Count(text(doc), f.Rule); n != 1 {
				t.Errorf("%s: %s is said %d times", name, f.Rule, n)
			}
			for _, line := range byClass(doc, "finding") {
				lines += strings.Count(text(line), f.Text)
			}
		}
		if placed := len(every(doc, func(e *html.Node) bool {
			return strings.Contains(attr(e, "class"), "in-place ") && len(byClass(e, "where")) > 0 && attr(e, "data-warning") == ""
		})); name != "a URL" && placed != c.placed {
			t.Errorf("%s: %d findings stand in place", name, placed)
		}
		if lines != c.inAll {
			t.Errorf("%s: %d texts of findings", name, lines)
		}
		jumps := every(doc, func(e *html.Node) bool { return has(e, "data-first-found") })
		if len(jumps) != min(c.placed, 1) || len(jumps) > 0 && text(jumps[0]) != c.jump {
			t.Errorf("%s: %d ways to the fields", name, len(jumps))
		}
	}
}

// A call's state looks the same on its tab and in its head.
func TestStateOfACall(t *testing.T) {
	for _, state := range []conversation.State{conversation.Running, conversation.Done, conversation.ToolFailed, conversation.Failed, conversation.Stopped} {
		for _, waiting := range []int{0, 1} {
			tab := CallTab{State: state, Waiting: waiting}
			head := byClass(draw(t, CallView(Call{Call: conversation.Call{Number: 1, State: state}, Wait: conversation.Wait{Waiting: waiting}})), "head")[0]
			button := byClass(draw(t, CallTabView(tab)), "call-tab")[0]
			if look, is := strings.TrimPrefix(attr(head, "class"), "head "), attr(button, "class"); !strings.HasSuffix(is, look) || text(byClass(head, "state")[0]) != text(byClass(button, "state")[0]) {
				t.Errorf("%v, %d waiting: the head is %q, the tab %q", state, waiting, look, is)
			}
		}
	}
}

// TestGravestFirst checks that the gravest finding comes first and determines the colour.
func TestGravestFirst(t *testing.T) {
	list := someFindings(lint.Advice, lint.Should, lint.Violation)
	if got := lint.TallyOf(list).Worst(); got != "violation" {
		t.Errorf("the worst is %q", got)
	}
	var got []string
	for _, f := range lint.GravestFirst(list) {
		got = append(got, f.Severity.String())
	}
	if strings.Join(got, " ") != "violation should advice" {
		t.Errorf("the order is %v", got)
	}
}

// TestFindingsAreText checks that quotations of the server in findings are escaped.
func TestFindingsAreText(t *testing.T) {
	evil := `<img src=x onerror="alert(1)">`
	f := lint.Finding{Rule: evil, Severity: lint.Advice, Text: evil, Pointer: evil, Reference: evil}
	q := someQuestion()
	q.Findings = []lint.Finding{f}
	for _, doc := range []*html.Node{
		draw(t, QuestionCard(q)),
		draw(t, wirelog.FindingsView("s1", found(f))),
		draw(t, wirelog.FrameDetail(wirelog.Detail{Row: wirelog.Row{Row: wire.Row{Frame: wire.Frame{Seq: 1, Kind: wire.Request}}}, Raw: markup.RawPiece(nil, 0), Found: []lint.Finding{f}})),
	} {
		if found := every(doc, tag("img")); len(found) > 0 {
			t.Error("it became markup")
		}
		if !strings.Contains(text(doc), evil) {
			t.Error("it is not there as text")
		}
	}
}

// TestFindingsOfARow checks that a mark shows the number of findings, also in words.
func TestFindingsOfARow(t *testing.T) {
	mark := func(r wirelog.Row) []*html.Node { return byClass(draw(t, wirelog.Rows([]wirelog.Row{r})), "mark") }
	if found := mark(wirelog.Row{Row: wire.Row{Frame: wire.Frame{Seq: 1, Kind: wire.Request}}}); len(found) > 0 {
		t.Errorf("a row without findings has a mark: %q", text(found[0]))
	}
	marks := mark(wirelog.Row{Row: wire.Row{Frame: wire.Frame{Seq: 1, Kind: wire.Request}}, Findings: lint.Tally{lint.Violation: 1, lint.Advice: 2}})
	if len(marks) != 1 || !strings.Contains(text(marks[0]), "3 findings: 1 MUST · 2 advice") {
		t.Errorf("the mark says %v", marks)
	}
	if got := text(mark(wirelog.Row{Row: wire.Row{Frame: wire.Frame{Seq: 1, Kind: wire.Request}}, Findings: lint.Tally{lint.Violation: 1}})[0]); !strings.Contains(got, "1 finding (MUST)") {
		t.Errorf("of one it says %q", got)
	}
}

func TestFindingsOfAFrame(t *testing.T) {
	doc := draw(t, wirelog.FrameDetail(wirelog.Detail{Row: wirelog.Row{Row: wire.Row{Frame: wire.Frame{Seq: 1, Kind: wire.Request}}}, Raw: markup.RawPiece(nil, 0), Found: someFindings(lint.Advice, lint.Violation)}))
	tab := only(t, doc, "tab Findings 2", func(e *html.Node) bool { return attr(e, "role") == "tab" && text(e) == "Findings 2" })
	panel := byID(t, doc, attr(tab, "aria-controls"))
	if n := len(byClass(panel, "finding")); n != 2 {
		t.Errorf("it has %d findings", n)
	}
	plain := draw(t, wirelog.FrameDetail(wirelog.Detail{Row: wirelog.Row{Row: wire.Row{Frame: wire.Frame{Seq: 1, Kind: wire.Request}}}, Raw: markup.RawPiece(nil, 0)}))
	if strings.Contains(text(plain), "Findings") {
		t.Error("a frame without findings has a tab for them")
	}
}

// TestFindingsPanel checks that findings are grouped by rule, the same one once, with the
// call and links to the frames and to the specification, and that many do not fill the page.
func TestFindingsPanel(t *testing.T) {
	list := someFindings(lint.Advice, lint.Violation)
	for i := range 300 {
		list = append(list, someFindings(lint.Should)...)
		list[len(list)-1].Text = "Sentence " + strconv.Itoa(i) + "."
	}
	for range 3 {
		list = append(list, list[1])
	}
	doc := draw(t, wirelog.FindingsView("s1", found(list...)))
	var rules []string
	for _, g := range every(doc, tag("details")) {
		rules = append(rules, attr(g, "data-rule"))
	}
	if strings.Join(rules, " ") != "rule-violation rule-should rule-advice" {
		t.Errorf("the rules are %q", rules)
	}
	if !strings.Contains(text(doc), "×300") || !strings.Contains(text(doc), "and 250 more") {
		t.Error("it does not say how many there are")
	}
	frames := every(doc, func(e *html.Node) bool { return has(e, "data-frame") })
	if len(frames) != 5+50 {
		t.Errorf("%d ways to frames", len(frames))
	}
	must := text(every(doc, tag("details"))[0])
	if strings.Count(must, "Sentence B.") != 2 || strings.Count(must, "deploy") != 1 || strings.Count(must, "#") != 4 || strings.Contains(must, "×") {
		t.Errorf("the finding of four frames, after its gist, is %q", must)
	}
	for _, a := range every(doc, tag("a")) {
		if attr(a, "href") != someFindings(lint.Violation)[0].Link || attr(a, "rel") != "noopener noreferrer" {
			t.Errorf("it refers to %s", attr(a, "href"))
		}
	}
	secret := lint.Finding{Rule: "secret-in-form", Severity: lint.Violation, Text: "\"Password\" asks for a password."}
	told := text(draw(t, wirelog.FindingsView("s1", found(secret))))
	for _, want := range []string{"A field or a message that asks for a secret", secret.Text} {
		if !strings.Contains(told, want) {
			t.Errorf("it does not say %q: %q", want, told)
		}
	}
	if got := text(draw(t, wirelog.FindingsView("s1", nil))); !strings.Contains(got, "Nothing found so far.") {
		t.Errorf("without findings it says %q", got)
	}
}

// What a question's _meta has beyond the specification is named on its card, and bounded.
func TestMetaOfAQuestion(t *testing.T) {
	for meta, want := range map[string]string{
		`{}`: "",
		`{"progressToken":1,"io.modelcontextprotocol/related-task":{"taskId":"t"}}`: "",
		`{"ui":{"resourceUri":"ui://form.html"}}`:                                   "by its resource ui://form.html.",
		`{"ui":{},"com.example/x":1}`:                                               `Its _meta also has "ui", "com.example/x",`,
		`{` + strings.TrimSuffix(strings.Repeat(`"x":1,`, 500), ",") + `}`:          "490 more",
	} {
		lines := strings.Join(Question{InputRequest: conversation.InputRequest{Request: &elicit.Request{Params: []byte(`{"_meta":` + meta + `}`)}}}.metaLines(), "\n")
		if (lines == "") != (want == "") || !strings.Contains(lines, want) || len(lines) > 1000 {
			t.Errorf("%.100s: %.300q", meta, lines)
		}
	}
}
