package views

import (
	"context"
	"io"
	"strconv"
	"strings"

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
		var b strings.Builder
		for _, r := range runs {
			r.write(&b)
		}
		_, err := io.WriteString(w, b.String())
		return err
	})
}

// drawnJSON writes JSON in colours, each line in an element of its own, so that
// what is too long for a line goes on below its beginning. JSON of great length
// is drawn plainly, which costs the page far fewer elements, and cut.
func drawnJSON(text string) templ.Component {
	return templ.ComponentFunc(func(ctx context.Context, w io.Writer) error {
		var b strings.Builder
		done := 0
		if len(text) > maxColoured {
			done = writeRuns(&b, plainRuns(headOf(text, codeMost)), codeMost)
			if _, err := io.WriteString(w, b.String()); err != nil {
				return err
			}
			return rest(text, done).Render(ctx, w)
		}
		for line := range strings.SplitAfterSeq(text, "\n") {
			if line == "" || b.Len() > codeMost {
				break
			}
			depth := (len(line) - len(strings.TrimLeft(line, " "))) / 2
			class := "i" + strconv.Itoa(depth)
			if depth > 8 { // no room to wrap in
				class = "deep"
			}
			b.WriteString(`<span class="l ` + class + `">`)
			done += writeRuns(&b, jsonRuns(line), codeMost)
			b.WriteString("</span>")
		}
		if _, err := io.WriteString(w, b.String()); err != nil {
			return err
		}
		return rest(text, done).Render(ctx, w)
	})
}

func (r run) write(b *strings.Builder) {
	switch text := templ.EscapeString(r.Text); {
	case r.Mark != "":
		b.WriteString(`<span class="inv" data-c="` + templ.EscapeString(r.Mark) + `" title="` + templ.EscapeString(r.Name) + `">` + text + "</span>")
	case r.Class != "":
		b.WriteString(`<span class="` + r.Class + `">` + text + "</span>")
	default:
		b.WriteString(text)
	}
}

// tabbed makes an element the panel of a tab, where there are tabs.
func tabbed(there bool, tab string) templ.Attributes {
	if !there {
		return nil
	}
	return templ.Attributes{"role": "tabpanel", "aria-labelledby": tab}
}

// fetched marks what unfolds: its content is fetched from source into the element
// with the id into, and again when the version is another.
func fetched(source, into, version string) templ.Attributes {
	return templ.Attributes{"data-source": source, "data-into": into, "data-version": version}
}

// lacking marks an element of which the page has to fetch more.
func lacking(more bool) templ.Attributes {
	if !more {
		return nil
	}
	return templ.Attributes{"data-more": "1"}
}

// currently marks the link to what is on show.
func currently(on bool) templ.Attributes {
	if !on {
		return nil
	}
	return templ.Attributes{"aria-current": "true"}
}
