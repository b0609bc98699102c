package markup

import "github.com/a-h/templ"

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
