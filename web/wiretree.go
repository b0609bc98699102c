package web

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"

	"elicitation-inspector/bridge/rawjson"
	"elicitation-inspector/bridge/wire"
	"elicitation-inspector/views"
)

// tree draws up a frame's JSON for reading. What it unfolds by itself is
// bounded; the page asks for the rest when somebody unfolds it.
type tree struct {
	raw   []byte
	left  int                        // nodes that may still be unfolded
	depth int                        // levels that are unfolded by themselves
	found map[string][]views.Finding // by JSON pointer
}

func newTree(f wire.Frame, found []views.Finding) *tree {
	t := &tree{raw: f.Raw, left: nodesFirst, depth: 16, found: make(map[string][]views.Finding)}
	if len(f.Raw) >= bigFrame {
		// Each level is looked through once for each level above it.
		t.left, t.depth = childrenStep, 4
	}
	for _, one := range found {
		t.found[one.Pointer] = append(t.found[one.Pointer], one)
	}
	return t
}

func (t *tree) root() views.Node {
	value := bytes.Trim(t.raw, " \t\r\n")
	n := views.Node{Level: 1, Size: 1, Place: 1, Index: -1}
	t.fill(&n, value, true)
	return n
}

// fill makes n the node of a value.
func (t *tree) fill(n *views.Node, value []byte, open bool) {
	t.left--
	n.Found = t.found[n.Pointer]
	switch value[0] {
	case '{':
		n.Open, n.Close = "{", "}"
	case '[':
		n.Open, n.Close = "[", "]"
	default:
		n.Class = map[byte]string{'"': "s", 't': "b", 'f': "b", 'n': "b"}[value[0]]
		if n.Class == "" {
			n.Class = "n"
		}
		n.Text = excerpt(value, 0, stringFirst)
		return
	}
	var whole bool
	n.Gist, whole = gist(value)
	leads := t.leads(n.Pointer)
	n.Unfolded = open && (leads || t.left > 0 && n.Level <= t.depth && !(whole && flat(value)))
	if n.Unfolded {
		t.inside(n, value, 0)
	} else {
		n.Count = count(value)
	}
}

// leads reports whether something was found inside of what a pointer leads to.
func (t *tree) leads(pointer string) bool {
	for at := range t.found {
		if strings.HasPrefix(at, pointer+"/") {
			return true
		}
	}
	return false
}

// inside fills in the members or elements of a value, from one on: a few.
func (t *tree) inside(n *views.Node, value []byte, from int) {
	n.Count = count(value)
	n.From = from
	add := func(i int, child views.Node, v []byte) bool {
		if i < from {
			return true
		}
		if len(n.Children) == childrenStep {
			return false
		}
		child.Level, child.Size, child.Place, child.Comma = n.Level+1, n.Count, i+1, i+1 < n.Count
		t.fill(&child, v, true)
		n.Children = append(n.Children, child)
		return true
	}
	if value[0] == '[' {
		for i, v := range rawjson.Elements(value) {
			if !add(i, views.Node{Index: i, Pointer: n.Pointer + "/" + strconv.Itoa(i)}, v) {
				break
			}
		}
		return
	}
	i, c := 0, rawjson.NewCursor(value)
	for name := range c.Members() {
		plain := name.String()
		if !add(i, views.Node{Index: -1, Name: plain, Key: `"` + string(name) + `"`, Pointer: rawjson.PointerTo(n.Pointer, plain)}, c.Value()) {
			break
		}
		i++
	}
}

// count counts members or elements.
func count(value []byte) int {
	n := 0
	if value[0] == '[' {
		for range rawjson.Elements(value) {
			n++
		}
		return n
	}
	for range rawjson.Members(value) {
		n++
	}
	return n
}

// flat reports whether no object or array is inside of a short value.
func flat(value []byte) bool {
	return !bytes.ContainsAny(value[1:], "{[")
}

// gist is a value on one line, as far as there is room for it. whole says that
// all of it is there.
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
