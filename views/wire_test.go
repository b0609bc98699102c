package views

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"
)

// hostileDetail has hostile text wherever what came over the wire goes.
func hostileDetail(row Row) Detail {
	row.Kind, row.Mark = "request", Mark{Note: hostile, Colour: hostile}
	row.ID = hostile
	other := row
	node := Node{Level: 1, Size: 1, Place: 1, Index: -1, Open: "{", Close: "}", Gist: hostile + "…", Count: 3, Unfolded: true, Children: []Node{
		{Key: hostile, Name: hostile, Index: -1, Class: "s", Text: Excerpt{Text: hostile, Next: 10, Size: 90, Step: 5}, Found: []Finding{{Rule: hostile, Severity: hostile, Text: hostile, Pointer: hostile, Reference: hostile}}},
		{Index: 0, Open: "[", Close: "]", Gist: hostile, Count: 2},
	}}
	return Detail{
		Row: row, Transport: hostile, Stream: hostile, Session: hostile, Raw: Excerpt{Text: hostile, Next: 10, Size: 90, Step: 100}, RawNote: hostile,
		Tree: &node, PairRow: &other, PairTree: &node, Header: []HeaderLine{{hostile, hostile}}, Found: []Finding{{Rule: hostile, Severity: "should", Text: hostile, Pointer: hostile}},
		Follow: hostile, Earlier: &other, Colours: []string{"red"},
		Diff: &Diff{Before: other, After: row, Problem: hostile, Total: 9, List: []Difference{{Pointer: hostile, Op: "changed", Before: hostile, After: hostile}}},
	}
}

// TestTreeReadsAsJSON: what a mouse selects in the tree is the JSON, laid out.
func TestTreeReadsAsJSON(t *testing.T) {
	scalar := func(key, text string, comma bool) Node {
		return Node{Key: key, Name: strings.Trim(key, `"`), Index: -1, Level: 3, Class: "s", Text: Excerpt{Text: text}, Comma: comma}
	}
	root := Node{Level: 1, Size: 1, Place: 1, Index: -1, Open: "{", Close: "}", Count: 2, Unfolded: true, Children: []Node{
		{Key: `"a\u0062"`, Name: "ab", Index: -1, Level: 2, Size: 2, Place: 1, Open: "[", Close: "]", Count: 2, Unfolded: true, Comma: true, Children: []Node{
			{Index: 0, Level: 3, Size: 2, Place: 1, Class: "n", Text: Excerpt{Text: "1.50"}, Comma: true}, {Index: 1, Level: 3, Size: 2, Place: 2, Open: "{", Close: "}"},
		}},
		scalar(`"c"`, `"x\ny"`, false),
	}}
	doc := draw(t, Tree("JSON", root))
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
	doc := draw(t, TreeNodes(Node{Level: 1, From: 100, Count: 2345, Children: []Node{
		{Index: 100, Level: 2, Class: "s", Text: Excerpt{Text: `"abc`, Next: 2048, Size: 60 << 20, Step: 16 << 10}},
	}}))
	buttons := every(doc, tag("button"))
	if len(buttons) != 2 || attr(buttons[0], "data-string") != "2048" || text(buttons[0]) != "Show more" || attr(buttons[1], "data-more") != "101" || text(buttons[1]) != "2\u202f244 more" {
		t.Errorf("it offers %q", text(doc))
	}
	if !strings.Contains(text(doc), "63 MB left") {
		t.Errorf("it does not say how much is left: %q", text(doc))
	}
	if b := every(draw(t, RawPiece(Excerpt{Text: "abc", Next: 10, Size: 20, Step: 64})), tag("button")); len(b) != 1 || text(b[0]) != "Show all" {
		t.Error("the last piece is not offered")
	}
	if b := every(draw(t, RawPiece(Excerpt{Text: "abc", Next: 20, Size: 20, Step: 64})), tag("button")); len(b) != 0 {
		t.Error("more is offered than there is")
	}
}

// TestFindingsStandInPlace: what the linter says stands at the value that it is about.
func TestFindingsStandInPlace(t *testing.T) {
	n := Node{Level: 1, Size: 1, Index: -1, Open: "{", Close: "}", Count: 1, Unfolded: true, Children: []Node{
		{Key: `"share"`, Name: "share", Index: -1, Level: 2, Class: "n", Text: Excerpt{Text: "5"}, Found: []Finding{{Rule: "default-invalid", Severity: "violation", Text: "Its default is rejected."}}},
	}}
	item := every(draw(t, Tree("JSON", n)), func(e *html.Node) bool { return attr(e, "data-name") == "share" })
	if len(item) != 1 || !strings.Contains(text(item[0]), "Violation Its default is rejected.") {
		t.Errorf("the value says %q", text(item[0]))
	}
}

// TestRowsSayWhatIsOdd in words, not by colour alone.
func TestRowsSayWhatIsOdd(t *testing.T) {
	for name, tt := range map[string]struct {
		row  Row
		want []string
	}{
		"same id":   {Row{Kind: "request", Method: "ping", Duplicate: true}, []string{"same id"}},
		"again":     {Row{Kind: "result", Method: "ping", Duplicate: true}, []string{"again"}},
		"orphan":    {Row{Kind: "error", Orphan: true}, []string{"orphan"}},
		"findings":  {Row{Kind: "request", Method: "x", Findings: 2, Worst: "violation"}, []string{"2 findings"}},
		"mark":      {Row{Kind: "request", Method: "x", Mark: Mark{Pinned: true, Colour: "amber", Note: "see here"}}, []string{"pinned, marked amber", "see here"}},
		"pending":   {Row{Kind: "request", Method: "x", Pending: true, AskedAt: time.Now().Add(-65 * time.Second)}, []string{"1:05"}},
		"error":     {Row{Kind: "error", Method: "tools/call", Failed: true}, []string{"tools/call", "error"}},
		"isError":   {Row{Kind: "result", Method: "tools/call", Failed: true}, []string{"tools/call", "isError"}},
		"status":    {Row{Kind: "note", Status: 503, Failed: true}, []string{"note", "HTTP 503"}},
		"ended":     {Row{Kind: "request", Method: "tools/call", Ended: "no response"}, []string{"tools/call", "no response"}},
		"no method": {Row{Kind: "error"}, []string{"answer to error"}},
	} {
		got := text(draw(t, WireRows([]Row{tt.row})))
		for _, want := range tt.want {
			if !strings.Contains(strings.Join(strings.Fields(got), " "), want) {
				t.Errorf("%s: the row says %q, not %q", name, got, want)
			}
		}
	}
}

func TestLatencyBars(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "w1", time.Microsecond: "w1", time.Millisecond: "w1", 10 * time.Millisecond: "w3", 100 * time.Millisecond: "w5", time.Second: "w7", 10 * time.Second: "w9", time.Hour: "w10",
	} {
		if got := (Row{Latency: d}).bar(); got != want {
			t.Errorf("%v: %s, not %s", d, got, want)
		}
	}
}

func TestBytesWords(t *testing.T) {
	for n, want := range map[int64]string{0: "0 bytes", 1: "1 byte", 999: "999 bytes", 1000: "1 kB", 1550: "1.6 kB", 64_000: "64 kB", 999_600: "1 MB", 1_000_000: "1 MB", 67_108_864: "67 MB", 1 << 40: "1.1 TB"} {
		if got := bytesWords(n); got != want {
			t.Errorf("%d: %q, not %q", n, got, want)
		}
	}
}

// TestFilterLineIsACombobox by the ARIA Authoring Practices, with its error linked.
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
	for _, c := range chips {
		b := button(t, group, c.name)
		if attr(b, "aria-pressed") != "false" || attr(b, "data-term") != c.term {
			t.Errorf("%s: %v", c.name, b.Attr)
		}
	}
}

// TestDetailOffers what makes sense for the frame, and nothing else.
func TestDetailOffers(t *testing.T) {
	tree := Node{Level: 1, Size: 1, Index: -1, Open: "{", Close: "}"}
	other := Row{Seq: 3, Kind: "request", Method: "tools/call"}
	for name, tt := range map[string]struct {
		d     Detail
		tabs  string
		offer []string
		not   []string
	}{
		"noise": {Detail{Row: Row{Seq: 9, Kind: "noise"}}, "Raw Compare Note", []string{"Raw bytes", "Pin", "Save"}, []string{"Pretty", "curl", "Follow this exchange"}},
		"call over HTTP": {Detail{Row: Row{Seq: 9, Kind: "request", Method: "tools/call"}, Tree: &tree, Curl: true, Follow: "call:3", Earlier: &other, Header: []HeaderLine{{"Accept", "*/*"}}},
			"Pretty Raw Headers Pair Compare Note", []string{"curl", "curl with secrets", "Follow this exchange", "Compare with the attempt before, #3"}, nil},
		"result": {Detail{Row: Row{Seq: 9, Kind: "result", Mark: Mark{Note: "x"}}, Tree: &tree, PairRow: &other, Found: make([]Finding, 2)},
			"Pretty Raw Pair Findings 2 Compare Note 1", []string{"Compare with its pair, #3"}, []string{"Compare with the attempt before, #3"}},
	} {
		doc := draw(t, FrameDetail(tt.d))
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
