package views

import (
	"context"
	"io"

	"github.com/a-h/templ"

	"elicitation-inspector/bridge/elicit"
)

// said are the attributes that tell a control's meaning to assistive technology.
func (f Field) said() templ.OrderedAttributes {
	a := templ.OrderedAttributes{{Key: "id", Value: f.ID}, {Key: "aria-describedby", Value: f.describedBy()}}
	if f.Required {
		a = append(a, templ.KV[string, any]("aria-required", "true"))
	}
	return append(a, invalid(f.invalid())...)
}

func invalid(is bool) templ.OrderedAttributes {
	if !is {
		return nil
	}
	return templ.OrderedAttributes{{Key: "aria-invalid", Value: "true"}}
}

// keyboard is what a touch keyboard should offer for a one-line control.
func (f Field) keyboard() templ.OrderedAttributes {
	if f.Kind == elicit.Number || f.Kind == elicit.Integer {
		return templ.OrderedAttributes{{Key: "inputmode", Value: "decimal"}}
	}
	return nil
}

// drawn writes runs without any space between them. What cannot be seen is
// marked by the style sheet, and stays in the text as it was.
func drawn(runs []run) templ.Component {
	return templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		for _, r := range runs {
			open, end := "", ""
			switch {
			case r.Mark != "":
				open, end = `<span class="inv" data-c="`+templ.EscapeString(r.Mark)+`" title="`+templ.EscapeString(r.Name)+`">`, "</span>"
			case r.Class != "":
				open, end = `<span class="`+r.Class+`">`, "</span>"
			}
			if _, err := io.WriteString(w, open+templ.EscapeString(r.Text)+end); err != nil {
				return err
			}
		}
		return nil
	})
}
