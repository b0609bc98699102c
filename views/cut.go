package views

import (
	"context"
	"errors"
	"hash/maphash"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/a-h/templ"
)

// Limits of the markup, in bytes, for one text of a server. Where a text is cut, "Show
// all" fetches the rest; see docs/page.md.
const (
	NameMost  = 300       // names, titles, ids: texts in one line
	foundText = 1 << 10   // texts of findings
	proseMost = 4 << 10   // descriptions, hints, errors
	wordsMost = 16 << 10  // messages of questions, texts of results
	codeMost  = 40 << 10  // JSON
	pieceMost = 256 << 10 // text that "Show all" fetches at a time

	maxColoured = 12 << 10 // longer JSON is drawn in one colour, with far fewer elements
)

// Limits of elements with many parts. Together they keep the page below [PageMost],
// whatever servers send.
const (
	PageMost  = 1_000_000 // bytes of a page, and of a push
	PartMost  = 400 << 10 // bytes of markup of one element that is pushed
	PanelMost = 250 << 10 // all questions

	serversMost = 80 << 10
	catalogMost = 110 << 10
	pinsMost    = 20 << 10
	rowsMost    = 900_000  // rows of the log in one answer
	partsMost   = 64 << 10 // blocks of a result
	fieldsMost  = 96 << 10 // fields of a form
	fieldMost   = 32 << 10 // one field
	contentMost = 96 << 10 // text in the JSON tab

	TabsMost         = 80 // calls in the strip
	capabilitiesMost = 40
	foundMost        = 20 // findings on one question
	comparedMost     = 100
)

// Brief cuts a text to a line, for attributes, names of controls, and other places
// without room for "Show all".
func Brief(s string) string {
	if head := headOf(s, NameMost); head != s {
		return head + "…"
	}
	return s
}

// headOf returns the longest beginning of s that takes at most most bytes as markup or as
// JSON.
func headOf(s string, most int) string {
	if len(s) <= most/6 {
		return s
	}
	taken := 0
	for i, r := range s {
		switch _, size := utf8.DecodeRuneInString(s[i:]); {
		case r < 0x20, r == '&', r == '"', r == '\'', r == utf8.RuneError && size == 1, r == '\u2028', r == '\u2029':
			taken += 6
		case r == '<', r == '>', r == '\\':
			taken += 4
		default:
			taken += size
		}
		if taken > most {
			return s[:i]
		}
	}
	return s
}

// TooLong reports whether a text is too long for the text box of the JSON tab.
func TooLong(content string) bool { return cutOff(content, contentMost) }

// cutOff reports whether a text takes more than most bytes.
func cutOff(s string, most int) bool { return len(headOf(s, most)) < len(s) }

// Named draws a name or another text of one line, with "Show all" where it is cut.
func Named(s string) templ.Component { return cut(s, NameMost) }

// Prose draws a text of some sentences, with "Show all" where it is cut.
func Prose(s string) templ.Component { return cut(s, proseMost) }

func cut(s string, most int) templ.Component {
	return withRest(s, func(b *strings.Builder) int {
		head := headOf(s, most)
		b.WriteString(templ.EscapeString(head))
		return len(head)
	})
}

// plain draws a text with marks for invisible characters.
func plain(s string, most int) templ.Component {
	return withRest(s, func(b *strings.Builder) int { return writeRuns(b, plainRuns(headOf(s, most)), 2*most) })
}

// Rest draws "Show all" for a text that Brief has cut in the name of a control, which
// cannot contain a button.
func Rest(s string) templ.Component { return rest(s, NameMost) }

func rest(s string, most int) templ.Component {
	return withRest(s, func(*strings.Builder) int { return len(headOf(s, most)) })
}

// withRest draws the beginning of a text with write, and "Show all" for the rest, if any.
// The text is identified by its digest: a request for the rest finds it by drawing the
// page again; see [Find].
func withRest(s string, write func(b *strings.Builder) (drawn int)) templ.Component {
	return templ.ComponentFunc(func(ctx context.Context, w io.Writer) error {
		var b strings.Builder
		if from := write(&b); from < len(s) {
			id := digest(s)
			if q, ok := ctx.Value(findKey{}).(*find); ok && q.digest == id {
				q.text = s
				return errFound
			}
			b.WriteString(`… <span class="rest kept" data-item="` + id + `"></span>` + showAll(id, from, len(s)))
		}
		_, err := io.WriteString(w, b.String())
		return err
	})
}

// component calls write at once, and returns a component that draws the result.
func component(write func(b *strings.Builder)) templ.Component {
	var b strings.Builder
	write(&b)
	return templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		_, err := io.WriteString(w, b.String())
		return err
	})
}

// showAll returns the button that fetches the rest of a text, and for a long rest a link
// to the whole text as a file.
func showAll(id string, from, size int) string {
	left := size - from
	b := `<button type="button" class="link show-all" data-text="` + id + `" data-from="` + strconv.Itoa(from) + `" title="` + grouped(int64(left)) + ` bytes more">Show all</button>`
	if left > pieceMost {
		b += ` <a class="show-all" href="/texts/` + id + `" download>Save ` + bytesWords(int64(size)) + `</a>`
	}
	return b
}

// Piece draws the piece of a text, from an offset on, that "Show all" fetches.
func Piece(s string, from int) templ.Component {
	return component(func(b *strings.Builder) {
		from := min(max(from, 0), len(s))
		for from > 0 && from < len(s) && !utf8.RuneStart(s[from]) {
			from--
		}
		drawn := writeRuns(b, plainRuns(headOf(s[from:], pieceMost)), 2*pieceMost)
		if next := from + drawn; next < len(s) {
			b.WriteString(" " + showAll(digest(s), next, len(s)))
		}
	})
}

// writeRuns writes runs until they take more than most bytes of markup, and returns how
// many bytes of the text it has drawn.
func writeRuns(b *strings.Builder, runs []run, most int) (drawn int) {
	for _, r := range runs {
		if b.Len() > most {
			break
		}
		r.write(b)
		drawn += r.bytes
	}
	return drawn
}

// --- finding a text again

var digestSeed = maphash.MakeSeed()

// digest returns an id for a text that is valid while the inspector runs.
func digest(s string) string { return strconv.FormatUint(maphash.String(digestSeed, s), 36) }

type findKey struct{}

type find struct{ digest, text string }

var errFound = errors.New("found")

// Find searches the texts that a component cuts for the one with this digest.
func Find(ctx context.Context, id string, in templ.Component) (text string, ok bool, err error) {
	q := &find{digest: id}
	err = in.Render(context.WithValue(ctx, findKey{}, q), io.Discard)
	if errors.Is(err, errFound) {
		return q.text, true, nil
	}
	return "", false, err
}

// --- things with many parts

// Within draws the element with the given id, or [TooLarge] in its place if it would take
// more than most bytes.
func Within(most int, id string, c templ.Component) templ.Component {
	return templ.ComponentFunc(func(ctx context.Context, w io.Writer) error {
		text, err := rendered(ctx, c, most)
		if errors.Is(err, errTooLarge) {
			text, err = rendered(ctx, TooLarge(id), PageMost)
		}
		if err != nil {
			return err
		}
		_, err = io.WriteString(w, text)
		return err
	})
}

// Fits reports whether the markup of a component fits into a page.
func Fits(c templ.Component) bool {
	_, err := rendered(context.Background(), c, PageMost)
	return err == nil
}

// SizeOf returns the size of a component's markup in bytes; PartMost+1 if it is larger
// than [PartMost].
func SizeOf(c templ.Component) int {
	text, err := rendered(context.Background(), c, PartMost)
	if err != nil {
		return PartMost + 1
	}
	return len(text)
}

var errTooLarge = errors.New("it takes too much markup")

// rendered returns the markup of a component. The error is errTooLarge if the markup
// takes more than most bytes.
func rendered(ctx context.Context, c templ.Component, most int) (string, error) {
	b := &bounded{most: most}
	err := c.Render(ctx, b)
	return b.b.String(), err
}

// bounded is a buffer with a maximum size.
type bounded struct {
	b    strings.Builder
	most int
}

func (b *bounded) Write(data []byte) (int, error) {
	if b.b.Len()+len(data) > b.most {
		return 0, errTooLarge
	}
	return b.b.Write(data)
}

// some draws parts as long as they fit into most bytes, and then left with the number of
// omitted parts, if any.
func some(most int, parts []templ.Component, left func(n int) templ.Component) templ.Component {
	return templ.ComponentFunc(func(ctx context.Context, w io.Writer) error {
		for i, part := range parts {
			text, err := rendered(ctx, part, most)
			if errors.Is(err, errTooLarge) {
				return left(len(parts)-i).Render(ctx, w)
			}
			if err != nil {
				return err
			}
			most -= len(text)
			if _, err := io.WriteString(w, text); err != nil {
				return err
			}
		}
		return nil
	})
}

// each returns a component for each member of a list.
func each[T any](list []T, draw func(T) templ.Component) []templ.Component {
	out := make([]templ.Component, len(list))
	for i, one := range list {
		out[i] = draw(one)
	}
	return out
}

// firstOf returns at most the first most members of a list.
func firstOf[T any](list []T, most int) []T { return list[:min(len(list), most)] }
