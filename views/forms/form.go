// Package forms draws a question's or a tool's schema as a form, and reads what is typed into
// it, with the JSON that it makes.
package forms

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/a-h/templ"

	"elicitation-inspector/bridge/meaning/elicit"
	"elicitation-inspector/bridge/meaning/lint"
	"elicitation-inspector/views/markup"
)

// Field is one control of a form.
type Field struct {
	elicit.Field
	Index    int
	ID       string // element id of the control; the label, hint and error derive theirs from it
	Input    elicit.Input
	Problems []string // in words
	Found    []lint.Finding
	Changed  bool // differs from the default, so that a reset makes sense
}

// Form is a set of controls for a schema, with the resulting JSON.
type Form struct {
	ID       string // prefix of its element ids: "q3" or "args"
	Fields   []Field
	Extra    string   // JSON of members without a field; "" if none
	JSON     bool     // the JSON tab is on show
	Content  string   // the text of the JSON tab
	Problems []string // of the whole form, not of one field
	Checked  bool     // a check has failed: "Send anyway" is offered
	Preview  string   // the exact JSON that will be sent
	Trouble  string   // why there are no controls, in words; "" if the schema could be read
}

func (f Field) said() templ.OrderedAttributes {
	a := templ.OrderedAttributes{{Key: "id", Value: f.ID}, {Key: "aria-describedby", Value: f.describedBy()}}
	a = append(a, markup.When(f.Required, "aria-required", "true")...)
	return append(a, markup.Invalid(f.invalid())...)
}

// Limits of the markup, in bytes.
const (
	fieldsMost  = 96 << 10 // fields of a form
	fieldMost   = 32 << 10 // one field
	contentMost = 96 << 10 // text in the JSON tab
	foundMost   = 3        // findings beside one field
)

// tooLong reports whether a text is too long for the text box of the JSON tab.
func tooLong(content string) bool { return markup.CutOff(content, contentMost) }

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

// drawFields also lists the fields whose values are not in the text.
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
		if f.control() == filePicker && !f.carried() {
			kept = append(kept, i)
		}
		all.WriteString(text)
	}
	return all.String(), kept, nil
}

// Shows reports whether a finding stands at a field that is on show.
func (f Form) Shows(one lint.Finding) bool {
	return !f.JSON && slices.ContainsFunc(f.Fields, func(field Field) bool { return slices.Contains(field.Found, one) })
}

// AddFindings adds the gravest findings about a property of a schema to the property's field.
func AddFindings(fields []Field, found []lint.Finding) {
	const properties = "/requestedSchema/properties/"
	for _, one := range lint.GravestFirst(found) {
		_, at, ok := strings.Cut(one.Pointer, properties)
		if !ok {
			continue
		}
		name, _, _ := strings.Cut(at, "/")
		name = strings.NewReplacer("~1", "/", "~0", "~").Replace(name)
		for i := range fields {
			if fields[i].Name == name && len(fields[i].Found) < foundMost {
				fields[i].Found = append(fields[i].Found, one)
			}
		}
	}
}
