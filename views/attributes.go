package views

import "github.com/a-h/templ"

// said are the attributes that tell a control's meaning to assistive technology.
func (f Field) said() templ.OrderedAttributes {
	a := templ.OrderedAttributes{{Key: "id", Value: f.ID}, {Key: "aria-describedby", Value: f.describedBy()}}
	a = append(a, when(f.Required, "aria-required", "true")...)
	return append(a, invalid(f.invalid())...)
}

func invalid(is bool) templ.OrderedAttributes { return when(is, "aria-invalid", "true") }

// when is an attribute that an element has on a condition.
func when(on bool, name, value string) templ.OrderedAttributes {
	if !on {
		return nil
	}
	return templ.OrderedAttributes{{Key: name, Value: value}}
}
