package markup

import (
	"context"
	"errors"
	"io"
	"strings"

	"github.com/a-h/templ"
)

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
