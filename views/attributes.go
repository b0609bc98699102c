package views

import "github.com/a-h/templ"

// said returns the attributes that describe a control to assistive technology.
func (f Field) said() templ.OrderedAttributes {
	a := templ.OrderedAttributes{{Key: "id", Value: f.ID}, {Key: "aria-describedby", Value: f.describedBy()}}
	a = append(a, when(f.Required, "aria-required", "true")...)
	return append(a, invalid(f.invalid())...)
}

func invalid(is bool) templ.OrderedAttributes { return when(is, "aria-invalid", "true") }

// when returns an attribute if on is true.
func when(on bool, name, value string) templ.OrderedAttributes {
	if !on {
		return nil
	}
	return templ.OrderedAttributes{{Key: name, Value: value}}
}
