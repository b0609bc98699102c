package markup

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/a-h/templ"

	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/meaning/lint"
)

// Limits of the parts of a frame that are drawn at once. The page can fetch the rest
// piece by piece.
const (
	LargeFrame   = 1 << 20  // size from which on little is unfolded
	nodesFirst   = 400      // lines of JSON that are unfolded at first
	childrenStep = 100      // members or elements of one value at a time
	gistMost     = 64       // characters of a folded value
	rawStep      = 64 << 10 // bytes of a raw frame
	stringStep   = 16 << 10 // bytes of one JSON string
	stringFirst  = 2 << 10  // the same, at first
)

// Tree draws a frame's JSON as a tree whose objects and arrays fold (ARIA Authoring
// Practices, Tree View), with findings at their values. Its text is the formatted JSON.
// It does not keep raw.
func Tree(label string, raw []byte, found []lint.Finding) templ.Component {
	return component(func(b *strings.Builder) {
		b.WriteString(`<div class="code tree" role="tree" dir="ltr" aria-label="` + templ.EscapeString(label) + `">`)
		t := newTree(b, found)
		t.left, t.depth = nodesFirst, 16
		if len(raw) >= LargeFrame {
			// The cost of a value grows with the number of levels above it.
			t.left, t.depth = childrenStep, 4
		}
		t.value(node{index: -1, level: 1, siblings: 1, place: 1}, bytes.Trim(raw, " \t\r\n"), true)
		b.WriteString(`</div>`)
	})
}

// TreeNodes draws one level of the value at a pointer, from a member or element on.
func TreeNodes(pointer string, level int, value []byte, from int, found []lint.Finding) templ.Component {
	return component(func(b *strings.Builder) {
		newTree(b, found).inside(node{pointer: pointer, level: level}, value, from)
	})
}

// tree draws JSON. It unfolds a limited part; the page fetches the rest when somebody
// unfolds it.
type tree struct {
	*strings.Builder
	left  int                       // nodes that may still be unfolded
	depth int                       // levels that are unfolded at first
	found map[string][]lint.Finding // by JSON pointer
}

func newTree(b *strings.Builder, found []lint.Finding) *tree {
	t := &tree{Builder: b, found: map[string][]lint.Finding{}}
	for _, one := range found {
		t.found[one.Pointer] = append(t.found[one.Pointer], one)
	}
	return t
}

type node struct {
	key, name string // the member's name with its quotes, and decoded; "" for elements and the root
	index     int    // index of an element; -1 for the root
	pointer   string
	level     int // 1 for the root
	place     int // position among its siblings, from 1
	siblings  int // itself included
}

// value draws a value. No white space must get between tags on one line.
func (t *tree) value(n node, value []byte, unfold bool) {
	t.left--
	within := count(value)
	short, whole := gist(value)
	room := t.left > 0 && n.level <= t.depth && !(whole && flat(value))
	unfold = unfold && (room || t.leads(n.pointer))

	attribute := func(name, value string) {
		t.WriteString(" " + name + `="` + templ.EscapeString(value) + `"`)
	}
	t.WriteString(`<div role="treeitem" class="node"`)
	attribute("tabindex", TabIndex(n.level == 1))
	attribute("aria-level", strconv.Itoa(n.level))
	attribute("aria-setsize", strconv.Itoa(n.siblings))
	attribute("aria-posinset", strconv.Itoa(n.place))
	switch {
	case n.key != "":
		attribute("data-name", n.name)
	case n.index >= 0:
		attribute("data-index", strconv.Itoa(n.index))
	}
	if within > 0 {
		attribute("aria-expanded", strconv.FormatBool(unfold))
	}
	t.WriteString(`><div class="line">`)
	if n.key != "" {
		writeAll(t.Builder, appendRuns(nil, n.key, "k"))
		t.WriteString(": ")
	}
	comma := ""
	if n.place < n.siblings {
		comma = ","
	}
	closing := map[byte]string{'{': "}", '[': "]"}[value[0]]
	if within == 0 {
		if closing != "" {
			t.WriteString(string(value[:1]) + closing)
		} else {
			shown := []byte(wording.FoldFiles(string(value)))
			p := excerpt(shown, 0, stringFirst)
			if len(shown) < len(value) { // the button brings the string as it is
				p.next, p.size = 0, int64(len(value))
			}
			p.write(t.Builder, scalarClass(value), "string")
		}
		t.WriteString(comma + `</div>`)
		t.writeFound(n.pointer)
	} else {
		t.WriteString(`<span class="gist">`)
		writeAll(t.Builder, jsonRuns(short))
		if !whole {
			t.WriteString(`<span class="dim"> ` + closing + ` ` + wording.Grouped(int64(within)) + `</span>`)
		}
		t.WriteString(comma + `</span><span class="open">` + string(value[:1]) + `</span></div>`)
		t.writeFound(n.pointer)
		t.WriteString(`<div role="group">`)
		if unfold {
			t.inside(n, value, 0)
		}
		t.WriteString(`</div><div class="line end">` + closing + comma + `</div>`)
	}
	t.WriteString(`</div>`)
}

// inside draws some members or elements of a value, from one on, and a button for the
// others.
func (t *tree) inside(n node, value []byte, from int) {
	all, end := count(value), from+childrenStep
	i, c := 0, rawjson.NewCursor(value)
	write := func(child node) (more bool) {
		if i >= from {
			child.level, child.place, child.siblings = n.level+1, i+1, all
			t.value(child, c.Value(), true)
		}
		i++
		return i < end
	}
	if value[0] == '[' {
		for range c.Elements() {
			if !write(node{index: i, pointer: n.pointer + "/" + strconv.Itoa(i)}) {
				break
			}
		}
	} else {
		for name := range c.Members() {
			plain := name.String()
			if !write(node{index: -1, name: plain, key: `"` + string(name) + `"`, pointer: rawjson.PointerTo(n.pointer, plain)}) {
				break
			}
		}
	}
	if from < i && i < all {
		t.WriteString(`<button type="button" class="link more" tabindex="-1" data-more="` + strconv.Itoa(i) + `">` + wording.Count(all-i, "more", "more") + `</button>`)
	}
}

func (t *tree) leads(pointer string) bool {
	for at := range t.found {
		if strings.HasPrefix(at, pointer+"/") {
			return true
		}
	}
	return false
}

func (t *tree) writeFound(pointer string) {
	for _, f := range lint.GravestFirst(t.found[pointer]) {
		t.WriteString(`<p class="in-place ` + f.Severity.String() + `" title="` + templ.EscapeString(wording.Join(", ", f.Rule, f.Judges.Words(), f.Reference)) + `"><b>` + f.Severity.Word() + `</b> <span dir="auto">` + templ.EscapeString(f.Text) + `</span></p>`)
	}
}

func count(value []byte) (n int) {
	for range rawjson.Elements(value) {
		n++
	}
	return n + rawjson.Count(value)
}

func flat(value []byte) bool { return !bytes.ContainsAny(value[1:], "{[") }

func scalarClass(value []byte) string {
	switch value[0] {
	case '"':
		return "s"
	case 't', 'f', 'n':
		return "b"
	}
	return "n"
}

// gist returns the beginning of a value on one line. whole reports that this is the whole
// value.
func gist(value []byte) (text string, whole bool) {
	var b strings.Builder
	runes, quoted := 0, false
	for i := 0; i < len(value); {
		r, size := utf8.DecodeRune(value[i:])
		switch c := value[i]; {
		case quoted && c == '\\' && i+1 < len(value):
			b.WriteByte(c)
			i++
			runes++
			r, size = utf8.DecodeRune(value[i:])
		case c == '"':
			quoted = !quoted
		case !quoted && (c == ' ' || c == '\t' || c == '\r' || c == '\n'):
			i++
			continue
		}
		if runes >= gistMost {
			return b.String() + "…", false
		}
		b.WriteRune(r)
		runes++
		if c := value[i]; !quoted && (c == ':' || c == ',') {
			b.WriteByte(' ')
		}
		i += size
	}
	return b.String(), true
}

type piece struct {
	text             string
	next, size, step int64 // offset of the next piece, size of the whole, and size of pieces
}

// excerpt returns the piece of a text from an offset on, with at most most bytes. It does
// not end inside a character.
func excerpt(raw []byte, from int64, most int) piece {
	from = min(max(from, 0), int64(len(raw)))
	text := wording.Head(raw[from:], most)
	return piece{string(text), from + int64(len(text)), int64(len(raw)), int64(most)}
}

// write draws a piece, and a button for the next one.
func (p piece) write(b *strings.Builder, class, what string) {
	writeAll(b, appendRuns(nil, p.text, class))
	p.writeMore(b, what)
}

func (p piece) writeMore(b *strings.Builder, what string) {
	left := p.size - p.next
	if left <= 0 {
		return
	}
	words := "Show all"
	if left > p.step {
		words = "Show more"
	}
	b.WriteString(`<button type="button" class="link more" data-` + what + `="` + strconv.FormatInt(p.next, 10) + `">` + words + `</button><span class="dim left"> ` + wording.Size(left) + ` left</span>`)
}

// StringPiece draws a further piece of a long string.
func StringPiece(value []byte, from int64) templ.Component {
	return component(func(b *strings.Builder) {
		excerpt(value, from, stringStep).write(b, "s", "string")
	})
}

// RawPiece draws a further piece of a frame's bytes. Each piece is a block, so that the
// browser does not lay out the earlier ones again.
func RawPiece(raw []byte, from int64) templ.Component {
	return component(func(b *strings.Builder) {
		p := excerpt(raw, from, rawStep)
		b.WriteString(`<span class="piece">`)
		writeAll(b, plainRuns(p.text))
		b.WriteString(`</span>`)
		p.writeMore(b, "raw")
	})
}
