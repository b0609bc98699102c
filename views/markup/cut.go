// Package markup draws texts of others, of any length and with any characters, as markup
// of bounded size: cut, with invisible characters marked, and JSON in colours or as a tree. It
// has the small parts that panels have in common, and draws no panel.
package markup

import (
	"context"
	"errors"
	"hash/maphash"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/a-h/templ"

	"elicitation-inspector/bridge/base/wording"
)

// Limits of the markup, in bytes, for one text of a server. Where a text is cut, "Show
// all" fetches the rest; see docs/page.md.
const (
	NameMost    = 300       // names, titles, ids: texts in one line
	FindingMost = 1 << 10   // texts of findings
	ProseMost   = 4 << 10   // descriptions, hints, errors
	WordsMost   = 16 << 10  // messages of questions, texts of results
	codeMost    = 40 << 10  // JSON
	pieceMost   = 256 << 10 // text that "Show all" fetches at a time

	maxColoured = 12 << 10 // longer JSON is drawn in one colour, with far fewer elements
)

// Brief cuts a text to a line, for attributes, names of controls, and other places
// without room for "Show all".
func Brief(s string) string {
	if head := Head(s, NameMost); head != s {
		return head + "…"
	}
	return s
}

// OneLine returns the beginning of JSON in one line.
func OneLine(s string) string {
	return wording.Shorten(strings.Join(strings.Fields(s[:min(len(s), ProseMost)]), " "), 120)
}

// Head returns the longest beginning of s that takes at most most bytes as markup or as
// JSON.
func Head(s string, most int) string {
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

// CutOff reports whether a text takes more than most bytes.
func CutOff(s string, most int) bool {
	for range wording.HiddenIn(s) { // marks take more
		return writeHead(new(strings.Builder), s, most) < len(s)
	}
	return len(Head(s, most)) < len(s)
}

// Named draws a name or another text of one line, with "Show all" where it is cut.
func Named(s string) templ.Component { return Cut(s, NameMost) }

// Prose draws a text of some sentences, with "Show all" where it is cut.
func Prose(s string) templ.Component { return Cut(s, ProseMost) }

// Name draws the name of a control, cut without "Show all", with marks for invisible
// characters.
func Name(s string) templ.Component { return Marked(Brief(s)) }

// Cut draws a text with marks for invisible characters, and "Show all" where it is cut to
// most bytes.
func Cut(s string, most int) templ.Component {
	return WithRest(s, func(b *strings.Builder) int { return writeHead(b, s, most) })
}

// Cropped draws what Cut does, without "Show all".
func Cropped(s string, most int) templ.Component {
	return component(func(b *strings.Builder) { writeHead(b, s, most) })
}

// writeHead writes the beginning of a text that takes about most bytes of markup, and
// returns its length.
func writeHead(b *strings.Builder, s string, most int) int {
	return writeRuns(b, plainRuns(Head(s, most)), most)
}

// Rest draws "Show all" for a text that is cut elsewhere, in the name of a control, which
// cannot contain a button.
func Rest(s string, most int) templ.Component {
	return WithRest(s, func(*strings.Builder) int { return writeHead(new(strings.Builder), s, most) })
}

// WithRest draws the beginning of a text with write, and "Show all" for the rest, if any.
// The text is identified by its digest: a request for the rest finds it by drawing the
// page again; see [Find].
func WithRest(s string, write func(b *strings.Builder) (drawn int)) templ.Component {
	return templ.ComponentFunc(func(ctx context.Context, w io.Writer) error {
		var b strings.Builder
		if from := write(&b); from < len(s) {
			id := Digest(s)
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
	b := `<button type="button" class="link show-all" data-text="` + id + `" data-from="` + strconv.Itoa(from) + `" title="` + wording.Grouped(int64(left)) + ` bytes more">Show all</button>`
	if left > pieceMost {
		b += ` <a class="show-all" href="/texts/` + id + `" download>Save ` + wording.Size(int64(size)) + `</a>`
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
		drawn := writeRuns(b, plainRuns(Head(s[from:], pieceMost)), 2*pieceMost)
		if next := from + drawn; next < len(s) {
			b.WriteString(" " + showAll(Digest(s), next, len(s)))
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

var digestSeed = maphash.MakeSeed()

// Digest returns an id for a text that is valid while the inspector runs.
func Digest(s string) string { return strconv.FormatUint(maphash.String(digestSeed, s), 36) }

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

// Limits of what is drawn at once.
const (
	PageMost = 1_000_000 // bytes of a page, and of a push
	PartMost = 400 << 10 // bytes of markup of one element that is pushed
)

// Within draws the element with the given id, or [TooLarge] in its place if it would take
// more than most bytes.
func Within(most int, id string, c templ.Component) templ.Component {
	return templ.ComponentFunc(func(ctx context.Context, w io.Writer) error {
		text, err := Rendered(ctx, c, most)
		if errors.Is(err, ErrTooLarge) {
			text, err = Rendered(ctx, TooLarge(id), PageMost)
		}
		if err != nil {
			return err
		}
		_, err = io.WriteString(w, text)
		return err
	})
}

// Drawn returns the markup of a component as a component, so that it is drawn once, with
// its size in bytes: PartMost+1 if it is larger than [PartMost]. [Find] does not see into
// the markup.
func Drawn(c templ.Component) (drawn templ.Component, size int) {
	text, err := Rendered(context.Background(), c, PartMost)
	if err != nil {
		return c, PartMost + 1
	}
	return templ.Raw(text), len(text)
}

// ErrTooLarge is the error of markup beyond its limit.
var ErrTooLarge = errors.New("it takes too much markup")

// Rendered returns the markup of a component. The error is ErrTooLarge if the markup
// takes more than most bytes.
func Rendered(ctx context.Context, c templ.Component, most int) (string, error) {
	b := &bounded{most: most}
	err := c.Render(ctx, b)
	return b.b.String(), err
}

type bounded struct {
	b    strings.Builder
	most int
}

func (b *bounded) Write(data []byte) (int, error) {
	if b.b.Len()+len(data) > b.most {
		return 0, ErrTooLarge
	}
	return b.b.Write(data)
}

// Some draws parts as long as they fit into most bytes, and then left with the number of
// omitted parts, if any.
func Some(most int, parts []templ.Component, left func(n int) templ.Component) templ.Component {
	return templ.ComponentFunc(func(ctx context.Context, w io.Writer) error {
		for i, part := range parts {
			text, err := Rendered(ctx, part, most)
			if errors.Is(err, ErrTooLarge) {
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

// Each returns what draws the parts of a list.
func Each[T any](list []T, draw func(T) templ.Component) []templ.Component {
	out := make([]templ.Component, len(list))
	for i, one := range list {
		out[i] = draw(one)
	}
	return out
}

// Nothing takes the place of parts that do not fit, where no text says that they are missing.
func Nothing(int) templ.Component { return templ.NopComponent }

// Invalid returns the attribute of a control whose value is wrong, if it is.
func Invalid(is bool) templ.OrderedAttributes { return When(is, "aria-invalid", "true") }

// When returns an attribute if on is true.
func When(on bool, name, value string) templ.OrderedAttributes {
	if !on {
		return nil
	}
	return templ.OrderedAttributes{{Key: name, Value: value}}
}

// TabIndex returns the tabindex of one of several controls. Only the chosen control is a tab stop.
func TabIndex(chosen bool) string {
	if chosen {
		return "0"
	}
	return "-1"
}
