// The race detector makes this test several times slower. Other tests do the same
// concurrently at smaller sizes.

//go:build !race

package views

import (
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/views/markup"
)

// TestTextsAreCut checks that long texts of a server never make a component larger than
// the limit, and that the rest of cut texts can be fetched.
func TestTextsAreCut(t *testing.T) {
	for what, unit := range map[string]string{
		"plain": "0123456789abcdef", "markup": `<&"'>`, "invisible": "\u202e\x01\x00", "broken": "\xff", "lines": "\n", "wide": "é",
	} {
		long := strings.Repeat(unit, 2<<20/len(unit))
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			for name, c := range everyText(long) {
				var b strings.Builder
				if err := c.Render(t.Context(), &b); err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				if b.Len() > markup.PartMost {
					t.Errorf("%s takes %d bytes", name, b.Len())
				}
				if name == "rows" || name == "detail" || name == "calls" || name == "log" || name == "catalog" {
					continue // the whole texts are in the frame, or in the panel of the item
				}
				doc, err := html.ParseWithOptions(strings.NewReader(b.String()), html.ParseOptionEnableScripting(false))
				if err != nil {
					t.Fatal(err)
				}
				cuts := every(doc, func(e *html.Node) bool { return e.Data == "button" && text(e) == "Show all" })
				if len(cuts) == 0 {
					t.Errorf("%s does not offer what it cuts", name)
				}
				for _, cut := range cuts {
					if _, ok, err := markup.Find(t.Context(), attr(cut, "data-text"), c); !ok || err != nil {
						t.Errorf("%s: a text is not found again: %v", name, err)
					}
				}
			}
		})
	}
}

// TestPieces checks that the pieces of a cut text make up the whole of it.
func TestPieces(t *testing.T) {
	long := strings.Repeat("a\u202e<é\x01", 200_000)
	doc := draw(t, markup.Words(long))
	got := strings.TrimSuffix(text(only(t, doc, "text", func(e *html.Node) bool { return attr(e, "class") == "words" })), "Show all Save "+wording.Size(int64(len(long))))
	got = strings.TrimSuffix(got, "… ")
	for range len(long)/markup.WordsMost + 1 {
		more := every(doc, tag("button"))
		if len(more) == 0 {
			break
		}
		from := attr(more[0], "data-from")
		if from == "" {
			t.Fatal("it does not say where to go on")
		}
		var n int
		for _, c := range from {
			n = 10*n + int(c-'0')
		}
		doc = draw(t, markup.Piece(long, n))
		for _, b := range slices.Concat(every(doc, tag("button")), every(doc, tag("a"))) {
			b.RemoveChild(b.FirstChild)
		}
		got += strings.TrimSpace(text(doc))
	}
	if got != long {
		t.Errorf("the pieces have %d bytes, not %d", len(got), len(long))
	}
}
