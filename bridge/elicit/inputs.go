package elicit

import (
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Input is what a person has put into one field's control. The zero Input is a
// control left alone: the property is left out of the content.
type Input struct {
	Text  string // of Text, Number and Integer; of Boolean "true", "false" or ""
	Picks []int  // indexes into Field.Choices, in the order in which they are sent
	Empty bool   // send the empty value ("" or []) rather than leaving the property out
	JSON  string // of Kind JSON, or a value that the control cannot express; overrides the rest unless ""
}

// Order is what the control named [InputName] and ".order" has to hold, so that
// choices which were picked in an order of their own keep it through a form,
// whose boxes come back from top to bottom. It is "" where they stand in the
// order of the schema.
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

// Equal tells whether both hold the same, as a form that has been reset does.
func (in Input) Equal(other Input) bool {
	return in.Text == other.Text && in.Empty == other.Empty && in.JSON == other.JSON && slices.Equal(in.Picks, other.Picks)
}

// Inputs is what a person has put into a form.
type Inputs struct {
	Fields []Input         // by field index
	Extra  json.RawMessage // object of the members that no field stands for; nil if none
}

// InputName is the name of field i's control in an HTML form. With a suffix it
// names what goes with it: ".empty" (any value), ".json" and ".order".
func InputName(i int) string { return "f" + strconv.Itoa(i) }

// extraName is the name of the control that keeps Inputs.Extra.
const extraName = "extra"

// InputsFrom reads the inputs of a posted HTML form: for field 0 the values of
// f0 (for choices their indexes), f0.empty, f0.json, f0.order, and extra.
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
			// A form's encoding turns line ends into CRLF, and no control can
			// hold a carriage return of its own.
			input.Text = strings.ReplaceAll(form.Get(name), "\r\n", "\n")
		}
	}
	if extra := form.Get(extraName); extra != "" {
		in.Extra = json.RawMessage(extra)
	}
	return in
}

// picks reads the indexes of what is picked. Those that order names come first,
// in its order. Anything that is no index of a choice is left out.
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
			rank[n] = i - len(order) // all of them before 0, the rank of the others
		}
	}
	slices.SortStableFunc(picked, func(a, b int) int { return rank[a] - rank[b] })
	return picked
}
