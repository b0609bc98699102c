package views

import (
	"strconv"

	"github.com/a-h/templ"
)

// colour returns the class for a server's colour.
func colour(index int) string { return "s" + strconv.Itoa(index%6) }

// number formats a number with at most six digits.
func number(f float64) string { return strconv.FormatFloat(f, 'g', 6, 64) }

// either returns yes if first is true, else no.
func either(first bool, yes, no string) string {
	if first {
		return yes
	}
	return no
}

// each returns a component for each member of a list.
func each[T any](list []T, draw func(T) templ.Component) []templ.Component {
	out := make([]templ.Component, len(list))
	for i, one := range list {
		out[i] = draw(one)
	}
	return out
}

// firstOf returns at most the first most members of a list.
func firstOf[T any](list []T, most int) []T { return list[:min(len(list), most)] }
