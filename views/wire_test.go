package views

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/meaning/lint"
	"elicitation-inspector/bridge/wire"
	"elicitation-inspector/views/markup"
	"elicitation-inspector/views/wirelog"
)

// hostileDetail returns a frame with hostile text in all places for received texts.
func hostileDetail(row wirelog.Row) wirelog.Detail {
	row.Kind, row.Mark = wire.Request, wire.Mark{Note: hostile, Colour: hostile}
	other := row
	found := []lint.Finding{{Rule: hostile, Severity: lint.Should, Text: hostile, Pointer: "/" + hostile, Reference: hostile}}
	raw := rawjson.AppendQuoted(nil, hostile)
	tree := markup.Tree(hostile, fmt.Appendf(nil, `{%s:%s,"list":[%[1]s]}`, raw, raw), found)
	return wirelog.Detail{
		Row: row, Raw: markup.RawPiece([]byte(hostile), 0), RawNote: hostile,
		Tree: tree, PairRow: &other, PairTree: tree, Header: []wirelog.Fact{{Name: hostile, Value: hostile}}, Found: found,
		Follow: hostile, Earlier: &other,
		Diff: &wirelog.Diff{Before: other, After: row, Problem: hostile, Total: 9, List: []rawjson.Difference{{Pointer: hostile, Op: rawjson.Changed, Before: raw, After: []byte(hostile)}}},
	}
}

// TestTreeReadsAsJSON checks that the text of the tree is the formatted JSON.
func TestTreeReadsAsJSON(t *testing.T) {
	raw := []byte(` {"a\u0062":[1.50,{ }], "c" : "x\ny"}`)
	doc := draw(t, markup.Tree("JSON", raw, []lint.Finding{{Pointer: "/ab/1/nothing"}})) // the finding unfolds the values above it
	var lines []string
	for _, e := range every(doc, func(e *html.Node) bool { return strings.HasPrefix(attr(e, "class"), "line") }) {
		for gist := range e.Descendants() {
			if attr(gist, "class") == "gist" {
				gist.Parent.RemoveChild(gist)
				break
			}
		}
		lines = append(lines, text(e))
	}
	if got := strings.Join(lines, "\n"); got != "{\n\"a\\u0062\": [\n1.50,\n{}\n],\n\"c\": \"x\\ny\"\n}" {
		t.Errorf("it reads\n%s", got)
	}
	items := every(doc, func(e *html.Node) bool { return attr(e, "role") == "treeitem" })
	if len(items) != 5 {
		t.Fatalf("%d items", len(items))
	}
	if at := items[1]; attr(at, "aria-level") != "2" || attr(at, "aria-expanded") != "true" || attr(at, "data-name") != "ab" || attr(at, "tabindex") != "-1" {
		t.Errorf("the list: %v", at.Attr)
	}
	if at := items[2]; attr(at, "data-index") != "0" || attr(at, "aria-posinset") != "1" || attr(at, "aria-setsize") != "2" || has(at, "aria-expanded") {
		t.Errorf("its first element: %v", at.Attr)
	}
	if has(items[3], "aria-expanded") {
		t.Error("an empty object is said to fold")
	}
	if attr(items[0], "tabindex") != "0" {
		t.Error("the tree cannot be reached by keyboard")
	}
}

func TestTreeOffersTheRest(t *testing.T) {
	list := []byte("[" + strings.Repeat("0,", 2244) + `"` + strings.Repeat("a", 30_000) + `"` + strings.Repeat(",0", 2244) + "]")
	doc := draw(t, markup.TreeNodes("/list", 1, list, 2244, nil))
	buttons := every(doc, tag("button"))
	if len(buttons) != 2 || attr(buttons[0], "data-string") != "2048" || text(buttons[0]) != "Show more" || attr(buttons[1], "data-more") != "2344" || text(buttons[1]) != "2\u202f145 more" {
		t.Errorf("it offers %q", text(doc))
	}
	if !strings.Contains(text(doc), "28 kB left") {
		t.Errorf("it does not say how much is left: %q", text(doc))
	}
	raw := make([]byte, 64<<10+10)
	if b := every(draw(t, markup.RawPiece(raw, 5)), tag("button")); len(b) != 1 || text(b[0]) != "Show all" {
		t.Error("the last piece is not offered")
	}
	if b := every(draw(t, markup.RawPiece(raw, 10)), tag("button")); len(b) != 0 {
		t.Error("more is offered than there is")
	}
}

// TestFindingsStandInPlace checks that findings are drawn at the values that they are
// about.
func TestFindingsStandInPlace(t *testing.T) {
	found := []lint.Finding{{Rule: "default-invalid", Severity: lint.Violation, Text: "Its default is rejected.", Pointer: "/share"}}
	item := every(draw(t, markup.Tree("JSON", []byte(`{"share":5}`), found)), func(e *html.Node) bool { return attr(e, "data-name") == "share" })
	if len(item) != 1 || !strings.Contains(text(item[0]), "MUST Its default is rejected.") {
		t.Errorf("the value says %q", text(item[0]))
	}
}

// TestRowsSayWhatIsOdd checks that rows describe oddities in words, not by colour alone.
func TestRowsSayWhatIsOdd(t *testing.T) {
	for name, tt := range map[string]struct {
		row  wirelog.Row
		want []string
	}{
		"same id":   {wirelog.Row{Row: wire.Row{Frame: wire.Frame{Kind: wire.Request, Method: "ping", Duplicate: true}}}, []string{"same id"}},
		"again":     {wirelog.Row{Row: wire.Row{Frame: wire.Frame{Kind: wire.Result, Method: "ping", Duplicate: true}}}, []string{"again"}},
		"orphan":    {wirelog.Row{Row: wire.Row{Frame: wire.Frame{Kind: wire.Error, Orphan: true}}}, []string{"orphan"}},
		"findings":  {wirelog.Row{Row: wire.Row{Frame: wire.Frame{Kind: wire.Request, Method: "x"}}, Findings: lint.Tally{lint.Violation: 2}}, []string{"2 findings"}},
		"mark":      {wirelog.Row{Row: wire.Row{Frame: wire.Frame{Kind: wire.Request, Method: "x"}}, Mark: wire.Mark{Pinned: true, Colour: "amber", Note: "see here"}}, []string{"pinned, marked amber", "see here"}},
		"pending":   {wirelog.Row{Row: wire.Row{Frame: wire.Frame{Kind: wire.Request, Method: "x", Time: time.Unix(65, 0)}}, Pending: true}, []string{"since 65000"}},
		"error":     {wirelog.Row{Row: wire.Row{Frame: wire.Frame{Kind: wire.Error, Method: "tools/call", Failed: true}}}, []string{"tools/call", "error"}},
		"isError":   {wirelog.Row{Row: wire.Row{Frame: wire.Frame{Kind: wire.Result, Method: "tools/call", Failed: true}}}, []string{"tools/call", "isError"}},
		"status":    {wirelog.Row{Row: wire.Row{Frame: wire.Frame{Kind: wire.NoteFrame, Status: 503, Failed: true}}}, []string{"note", "HTTP 503"}},
		"ended":     {wirelog.Row{Row: wire.Row{Frame: wire.Frame{Kind: wire.Request, Method: "tools/call"}}, Ended: "no response"}, []string{"tools/call", "no response"}},
		"no method": {wirelog.Row{Row: wire.Row{Frame: wire.Frame{Kind: wire.Error}}}, []string{"answer to error"}},
	} {
		got := text(draw(t, wirelog.Rows([]wirelog.Row{tt.row})))
		for _, want := range tt.want {
			if !strings.Contains(strings.Join(strings.Fields(got), " "), want) {
				t.Errorf("%s: the row says %q, not %q", name, got, want)
			}
		}
	}
}

// TestFilterLineIsACombobox checks the filter line against the ARIA Authoring Practices,
// with its error linked.
func TestFilterLineIsACombobox(t *testing.T) {
	page := draw(t, PageView(somePage()))
	box := byID(t, page, "filter")
	if attr(box, "role") != "combobox" || attr(box, "aria-label") != "Filter" || attr(box, "aria-autocomplete") != "list" || attr(box, "aria-expanded") != "false" {
		t.Errorf("the text box: %v", box.Attr)
	}
	if attr(byID(t, page, attr(box, "aria-controls")), "role") != "listbox" {
		t.Error("it controls no list box")
	}
	if attr(byID(t, page, attr(box, "aria-describedby")), "class") != "filter-error" {
		t.Error("mistakes are not linked to it")
	}
	group := only(t, page, "chips", func(e *html.Node) bool { return attr(e, "class") == "chips" })
	for name, term := range map[string]string{
		"Questions": "is:question", "Answers": "is:answer", "Errors": "kind:error", "Noise": "kind:noise,stderr", "Findings": "finding:any", "Pinned": "is:pinned",
	} {
		b := button(t, group, name)
		if attr(b, "aria-pressed") != "false" || attr(b, "data-term") != term {
			t.Errorf("%s: %v", name, b.Attr)
		}
	}
}

// TestDetailOffers checks that the detail offers the tabs that fit the frame, and no
// others.
func TestDetailOffers(t *testing.T) {
	tree := markup.Tree("JSON", []byte("{}"), nil)
	other := wirelog.Row{Row: wire.Row{Frame: wire.Frame{Seq: 3, Kind: wire.Request, Method: "tools/call"}}}
	for name, tt := range map[string]struct {
		d     wirelog.Detail
		tabs  string
		offer []string
		not   []string
	}{
		"noise": {wirelog.Detail{Row: wirelog.Row{Row: wire.Row{Frame: wire.Frame{Seq: 9, Kind: wire.Noise}}}, Raw: markup.RawPiece(nil, 0)}, "Raw Compare Note", []string{"Raw bytes", "Pin", "Save"}, []string{"Pretty", "curl", "Follow this exchange"}},
		"call over HTTP": {wirelog.Detail{Row: wirelog.Row{Row: wire.Row{Frame: wire.Frame{Seq: 9, Kind: wire.Request, Method: "tools/call"}}}, Raw: markup.RawPiece(nil, 0), Tree: tree, Curl: true, Follow: "call:3", Earlier: &other, Header: []wirelog.Fact{{Name: "Accept", Value: "*/*"}}},
			"Pretty Raw Headers Pair Compare Note", []string{"curl", "curl with secrets", "Follow this exchange", "Compare with the attempt before, #3"}, nil},
		"result": {wirelog.Detail{Row: wirelog.Row{Row: wire.Row{Frame: wire.Frame{Seq: 9, Kind: wire.Result}}, Mark: wire.Mark{Note: "x"}}, Raw: markup.RawPiece(nil, 0), Tree: tree, PairRow: &other, Found: make([]lint.Finding, 2)},
			"Pretty Raw Pair Findings 2 Compare Note 1", []string{"Compare with its pair, #3"}, []string{"Compare with the attempt before, #3"}},
	} {
		doc := draw(t, wirelog.FrameDetail(tt.d))
		var tabs []string
		for _, e := range every(doc, func(e *html.Node) bool { return attr(e, "role") == "tab" }) {
			tabs = append(tabs, text(e))
		}
		if got := strings.Join(tabs, " "); got != tt.tabs {
			t.Errorf("%s: tabs %s", name, got)
		}
		offers := map[string]bool{}
		for _, e := range every(doc, func(e *html.Node) bool { return e.Data == "button" || e.Data == "a" }) {
			offers[strings.TrimSpace(text(e))] = true
		}
		for _, want := range tt.offer {
			if !offers[want] {
				t.Errorf("%s: no %q in %v", name, want, fmt.Sprint(offers))
			}
		}
		for _, not := range tt.not {
			if offers[not] {
				t.Errorf("%s: offers %q", name, not)
			}
		}
	}
}

// TestNoteOnAQuestion expects the note on a question before its message, which fills the row.
func TestNoteOnAQuestion(t *testing.T) {
	r := wirelog.Row{Row: wire.Row{Frame: wire.Frame{Seq: 1, Kind: wire.Request}}, Mark: wire.Mark{Note: "look here"}}
	r.Elicits = true
	cell := byClass(draw(t, wirelog.Rows([]wirelog.Row{r})), "c-message")[0]
	note, message := byClass(cell, "jot"), byClass(cell, "asks-what")
	if len(note) != 1 || len(message) != 1 || text(note[0]) != "look here" {
		t.Fatalf("it is drawn as %q", text(cell))
	}
	for e := cell.FirstChild; e != nil; e = e.NextSibling {
		switch e {
		case message[0]:
			t.Fatal("the note stands behind the message")
		case note[0]:
			return
		}
	}
}
