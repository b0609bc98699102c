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

// Bounds on what is drawn of one text that a server may have written, in bytes
// of markup. Where a text is cut, "Show all" brings the rest; see docs/page.md.
const (
	NameMost  = 300       // names, titles, ids: what stands in a line
	foundText = 1 << 10   // what a finding says
	proseMost = 4 << 10   // descriptions, hints, errors
	wordsMost = 16 << 10  // messages of questions, texts of results
	codeMost  = 40 << 10  // JSON
	pieceMost = 256 << 10 // what "Show all" brings at a time

	maxColoured = 12 << 10 // past this JSON is drawn in one colour, which costs the page far fewer elements
)

// Bounds on how much is drawn of what has many parts. Together they keep the
// page below [PageMost], whatever servers send.
const (
	PageMost  = 1_000_000 // bytes of a page, and of a push
	PartMost  = 400 << 10 // bytes of markup of one element that is pushed
	PanelMost = 250 << 10 // of the questions together

	serversMost = 80 << 10
	catalogMost = 110 << 10
	pinsMost    = 20 << 10
	rowsMost    = 900_000  // of the rows of the log that one answer has
	partsMost   = 64 << 10 // of the blocks of a result
	fieldsMost  = 96 << 10 // of a form's fields
	fieldMost   = 32 << 10 // of one field
	contentMost = 96 << 10 // of the text in the JSON tab

	TabsMost         = 80 // calls in the strip
	capabilitiesMost = 40
	foundMost        = 20 // findings on one question
	comparedMost     = 100
)

// Brief is a text cut to what fits in a line, for attributes, for controls whose
// name it is, and for whatever else can hold no "Show all".
func Brief(s string) string {
	if head := headOf(s, NameMost); head != s {
		return head + "…"
	}
	return s
}

// headOf is as much of the beginning of s as takes no more than most bytes, as
// markup or as JSON.
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

// Named draws a name or another text of one line, and Prose a text of several,
// with "Show all" behind what is cut.
func Named(s string) templ.Component { return cut(s, NameMost) }

// Prose draws a text of some sentences.
func Prose(s string) templ.Component { return cut(s, proseMost) }

func cut(s string, most int) templ.Component {
	return withRest(s, func(b *strings.Builder) int {
		head := headOf(s, most)
		b.WriteString(templ.EscapeString(head))
		return len(head)
	})
}

// plain draws a text with marks for what cannot be seen.
func plain(s string, most int) templ.Component {
	return withRest(s, func(b *strings.Builder) int { return writeRuns(b, plainRuns(headOf(s, most)), 2*most) })
}

// Rest offers what Brief has cut off a text, where the text is a control's name
// and the control can hold no button.
func Rest(s string) templ.Component { return rest(s, NameMost) }

func rest(s string, most int) templ.Component {
	return withRest(s, func(*strings.Builder) int { return len(headOf(s, most)) })
}

// withRest draws the beginning of a text, as long as write says, and offers the
// rest, if there is one. The text is known by its digest: whoever asks for the
// rest has it looked for by drawing the page again; see [Find].
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

// component draws what write writes, which it does at once.
func component(write func(b *strings.Builder)) templ.Component {
	var b strings.Builder
	write(&b)
	return templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		_, err := io.WriteString(w, b.String())
		return err
	})
}

// showAll is the button that brings the rest of a text, and beside a long one
// the way to all of it as a file.
func showAll(id string, from, size int) string {
	left := size - from
	b := `<button type="button" class="link show-all" data-text="` + id + `" data-from="` + strconv.Itoa(from) + `" title="` + grouped(int64(left)) + ` bytes more">Show all</button>`
	if left > pieceMost {
		b += ` <a class="show-all" href="/texts/` + id + `" download>Save ` + bytesWords(int64(size)) + `</a>`
	}
	return b
}

// Piece draws more of a text, from an offset on: what "Show all" brings.
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

// writeRuns writes runs for as long as they take no more than most bytes of
// markup, and tells how many bytes of the text those are.
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

// digest names a text for as long as the inspector runs.
func digest(s string) string { return strconv.FormatUint(maphash.String(digestSeed, s), 36) }

type findKey struct{}

type find struct{ digest, text string }

var errFound = errors.New("found")

// Find looks among the texts that a component cuts for one, by the digest that
// its "Show all" has.
func Find(ctx context.Context, id string, in templ.Component) (text string, ok bool, err error) {
	q := &find{digest: id}
	err = in.Render(context.WithValue(ctx, findKey{}, q), io.Discard)
	if errors.Is(err, errFound) {
		return q.text, true, nil
	}
	return "", false, err
}

// --- things with many parts

// Within draws the element with the given id, or, where it would take more than
// most bytes, another in its place that says so.
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

// Fits reports whether a component takes no more than a page may.
func Fits(c templ.Component) bool {
	_, err := rendered(context.Background(), c, PageMost)
	return err == nil
}

// SizeOf is how many bytes of markup a component takes, or more than [PartMost].
func SizeOf(c templ.Component) int {
	text, err := rendered(context.Background(), c, PartMost)
	if err != nil {
		return PartMost + 1
	}
	return len(text)
}

var errTooLarge = errors.New("it takes too much markup")

// rendered is the markup of a component. The error is errTooLarge where that is
// more than most bytes.
func rendered(ctx context.Context, c templ.Component, most int) (string, error) {
	b := &bounded{most: most}
	err := c.Render(ctx, b)
	return b.b.String(), err
}

// bounded takes up to so many bytes.
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

// some draws parts for as long as they take no more than most bytes, and left
// with the number of those that it leaves out, if there are any.
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

// each makes one component of each member of a list.
func each[T any](list []T, draw func(T) templ.Component) []templ.Component {
	out := make([]templ.Component, len(list))
	for i, one := range list {
		out[i] = draw(one)
	}
	return out
}

// firstOf are the first members of a list, at most so many.
func firstOf[T any](list []T, most int) []T { return list[:min(len(list), most)] }
