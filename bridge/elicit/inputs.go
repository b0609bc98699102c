package elicit

import (
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Input is the state of one field's control. The zero Input is an untouched control: the
// property is left out of the content.
type Input struct {
	Text  string // for Text, Number and Integer; for Boolean "true", "false" or ""
	Picks []int  // indexes into Field.Choices, in the order in which they are sent
	Empty bool   // send the empty value ("" or []) rather than leaving the property out
	JSON  string // for Kind JSON, or a value that the control cannot express; if not "", it overrides the other members
}

// Order returns the value of the hidden control [InputName]+".order". It keeps the order
// in which choices were picked, since a browser submits checkboxes from top to bottom.
// It is "" if the picks are in the schema's order.
func (in Input) Order() string {
	if slices.IsSorted(in.Picks) {
		return ""
	}
	var list []string
	for _, p := range in.Picks {
		list = append(list, strconv.Itoa(p))
	}
	return strings.Join(list, ",")
}

// Equal tells whether two inputs hold the same values. A nil and an empty list of picks
// are equal.
func (in Input) Equal(other Input) bool {
	return in.Text == other.Text && in.Empty == other.Empty && in.JSON == other.JSON && slices.Equal(in.Picks, other.Picks)
}

// Inputs is the state of all controls of a form.
type Inputs struct {
	Fields []Input         // by field index
	Extra  json.RawMessage // JSON object of the members without a field; nil if there are none
}

// InputName returns the name of field i's control in an HTML form. Its companions have a
// suffix: ".empty" (any value), ".json" and ".order".
func InputName(i int) string { return "f" + strconv.Itoa(i) }

// extraName is the name of the control that holds Inputs.Extra.
const extraName = "extra"

// InputsFrom reads the inputs from a posted HTML form. Field 0 comes from f0 (for
// choices, their indexes), f0.empty, f0.json and f0.order; Inputs.Extra comes from
// extra.
func InputsFrom(fields []Field, form url.Values) Inputs {
	in := Inputs{Fields: make([]Input, len(fields))}
	for i, f := range fields {
		name := InputName(i)
		input := &in.Fields[i]
		input.Empty = form.Get(name+".empty") != ""
		input.JSON = form.Get(name + ".json")
		switch f.Kind {
		case SingleChoice, MultiChoice:
			input.Picks = picks(form[name], form.Get(name+".order"), f)
		case JSON:
			if input.JSON == "" {
				input.JSON = form.Get(name)
			}
		default:
			// Form encoding turns line breaks into CRLF, and no control can contain a
			// carriage return of its own.
			input.Text = strings.ReplaceAll(form.Get(name), "\r\n", "\n")
		}
	}
	if extra := form.Get(extraName); extra != "" {
		in.Extra = json.RawMessage(extra)
	}
	return in
}

// picks reads the indexes of the picked choices. Those listed in order come first, in
// that order. Values that are no index of a choice are ignored.
func picks(values []string, order string, f Field) []int {
	var picked []int
	for _, v := range values {
		if n, err := strconv.Atoi(v); err == nil && n >= 0 && n < len(f.Choices) {
			picked = append(picked, n)
		}
	}
	if f.Kind == SingleChoice && len(picked) > 1 {
		return picked[:1]
	}
	if order == "" || len(picked) < 2 {
		return picked
	}
	rank := make(map[int]int)
	for i, v := range strings.Split(order, ",") {
		if n, err := strconv.Atoi(v); err == nil {
			rank[n] = i - len(order) // negative, so they come before choices without a rank (0)
		}
	}
	slices.SortStableFunc(picked, func(a, b int) int { return rank[a] - rank[b] })
	return picked
}
