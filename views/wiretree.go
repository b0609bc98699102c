package views

import (
	"context"
	"io"
	"strconv"
	"strings"

	"github.com/a-h/templ"
)

// Tree draws a frame's JSON as a tree whose objects and arrays fold (ARIA
// Authoring Practices, Tree View). Read as text it is the JSON, laid out.
func Tree(label string, root Node) templ.Component {
	return component(func(b *strings.Builder) {
		b.WriteString(`<div class="code tree" role="tree" dir="ltr" aria-label="` + templ.EscapeString(label) + `">`)
		root.write(b, true)
		b.WriteString(`</div>`)
	})
}

// TreeNodes draws what is inside one value, from a member or element on.
func TreeNodes(n Node) templ.Component {
	return component(n.writeChildren)
}

func component(write func(b *strings.Builder)) templ.Component {
	return templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		var b strings.Builder
		write(&b)
		_, err := io.WriteString(w, b.String())
		return err
	})
}

// write draws a value. Tags stand so that no white space gets between what
// belongs on one line.
func (n Node) write(b *strings.Builder, first bool) {
	attribute := func(name, value string) {
		b.WriteString(" " + name + `="` + templ.EscapeString(value) + `"`)
	}
	b.WriteString(`<div role="treeitem" class="node"`)
	attribute("tabindex", tabIndex(first))
	attribute("aria-level", strconv.Itoa(n.Level))
	attribute("aria-setsize", strconv.Itoa(n.Size))
	attribute("aria-posinset", strconv.Itoa(n.Place))
	switch {
	case n.Key != "":
		attribute("data-name", n.Name)
	case n.Index >= 0:
		attribute("data-index", strconv.Itoa(n.Index))
	}
	if n.Count > 0 {
		attribute("aria-expanded", strconv.FormatBool(n.Unfolded))
	}
	b.WriteString(`><div class="line">`)
	for _, r := range appendRuns(nil, n.Key, "k") {
		r.write(b)
	}
	if n.Key != "" {
		b.WriteString(": ")
	}
	comma := ""
	if n.Comma {
		comma = ","
	}
	switch {
	case n.Open == "":
		for _, r := range appendRuns(nil, n.Text.Text, n.Class) {
			r.write(b)
		}
		n.Text.writeMore(b, "string")
		b.WriteString(comma + `</div>`)
		n.writeFound(b)
	case n.Count == 0:
		b.WriteString(n.Open + n.Close + comma + `</div>`)
		n.writeFound(b)
	default:
		b.WriteString(`<span class="gist">`)
		for _, r := range jsonRuns(n.Gist) {
			r.write(b)
		}
		if strings.HasSuffix(n.Gist, "…") {
			b.WriteString(`<span class="dim"> ` + n.Close + ` ` + grouped(int64(n.Count)) + `</span>`)
		}
		b.WriteString(comma + `</span><span class="open">` + n.Open + `</span></div>`)
		n.writeFound(b)
		b.WriteString(`<div role="group">`)
		n.writeChildren(b)
		b.WriteString(`</div><div class="line end">` + n.Close + comma + `</div>`)
	}
	b.WriteString(`</div>`)
}

func (n Node) writeChildren(b *strings.Builder) {
	for _, child := range n.Children {
		child.write(b, false)
	}
	if next := n.From + len(n.Children); len(n.Children) > 0 && next < n.Count {
		b.WriteString(`<button type="button" class="link more" tabindex="-1" data-more="` + strconv.Itoa(next) + `">` + plural(n.Count-next, "more", "more") + `</button>`)
	}
}

// writeFound says in place what the linter says.
func (n Node) writeFound(b *strings.Builder) {
	for _, f := range gravestFirst(n.Found) {
		b.WriteString(`<p class="in-place ` + templ.EscapeString(f.Severity) + `" title="` + templ.EscapeString(join(", ", f.Rule, f.Reference)) + `"><b>` + templ.EscapeString(severityWord(f.Severity)) + `</b> <span dir="auto">` + templ.EscapeString(f.Text) + `</span></p>`)
	}
}

// writeMore offers the next piece of a text that was cut.
func (e Excerpt) writeMore(b *strings.Builder, what string) {
	left := e.Size - e.Next
	if left <= 0 {
		return
	}
	words := "Show all"
	if left > e.Step {
		words = "Show more"
	}
	b.WriteString(`<button type="button" class="link more" data-` + what + `="` + strconv.FormatInt(e.Next, 10) + `">` + words + `</button><span class="dim left"> ` + bytesWords(left) + ` left</span>`)
}

// StringPiece is more of a long string.
func StringPiece(e Excerpt) templ.Component {
	return component(func(b *strings.Builder) {
		for _, r := range appendRuns(nil, e.Text, "s") {
			r.write(b)
		}
		e.writeMore(b, "string")
	})
}

// RawPiece is more of a frame's bytes. Each piece is a block, so that the ones
// before it need not be laid out again.
func RawPiece(e Excerpt) templ.Component {
	return component(func(b *strings.Builder) {
		b.WriteString(`<span class="piece">`)
		for _, r := range plainRuns(e.Text) {
			r.write(b)
		}
		b.WriteString(`</span>`)
		e.writeMore(b, "raw")
	})
}

// bytesWords words a size: 512 bytes, 64 kB, 1.5 MB. Units are powers of 1000,
// as in filters.
func bytesWords(n int64) string {
	if n < 1000 {
		return plural(int(n), "byte", "bytes")
	}
	size, unit := float64(n)/1000, "kB"
	for _, next := range []string{"MB", "GB", "TB"} {
		if size < 999.5 {
			break
		}
		size, unit = size/1000, next
	}
	digits := 0
	if size < 9.95 {
		digits = 1
	}
	return strings.TrimSuffix(strconv.FormatFloat(size, 'f', digits, 64), ".0") + " " + unit
}
