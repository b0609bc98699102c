package forms

import (
	"context"
	"errors"
	"io"
	"strings"

	"github.com/a-h/templ"

	"elicitation-inspector/views/markup"
)

// fieldsWithin draws the fields of a form. Values that are too long for a control, and
// fields beyond the limit of the markup, are marked as kept: the server has their values.
func fieldsWithin(fields []Field) templ.Component {
	return templ.ComponentFunc(func(ctx context.Context, w io.Writer) error {
		text, _, err := drawFields(ctx, fields)
		if err != nil {
			return err
		}
		_, err = io.WriteString(w, text)
		return err
	})
}

// Kept lists the fields whose values are not on the page when it is drawn.
func Kept(ctx context.Context, fields []Field) ([]int, error) {
	_, kept, err := drawFields(ctx, fields)
	return kept, err
}

func drawFields(ctx context.Context, fields []Field) (text string, kept []int, err error) {
	var all strings.Builder
	for i, f := range fields {
		left := fieldsMost - all.Len()
		text, err := markup.Rendered(ctx, fieldView(f), min(fieldMost, left))
		if errors.Is(err, markup.ErrTooLarge) {
			kept = append(kept, i)
			text, err = markup.Rendered(ctx, keptField(f), left)
		}
		if errors.Is(err, markup.ErrTooLarge) {
			for more := i + 1; more < len(fields); more++ {
				kept = append(kept, more)
			}
			err = fieldsLeft(i, len(fields)-i).Render(ctx, &all)
			return all.String(), kept, err
		}
		if err != nil {
			return "", nil, err
		}
		all.WriteString(text)
	}
	return all.String(), kept, nil
}
