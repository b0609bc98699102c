package elicit

import (
	"encoding/json"
	"strconv"
)

// Input is what a person has put into one field's control. The zero Input is a
// control left alone: the property is left out of the content.
type Input struct {
	Text  string // of Text, Number and Integer; of Boolean "true", "false" or ""
	Picks []int  // indexes into Field.Choices, in the order in which they are sent
	Empty bool   // send the empty value ("" or []) rather than leaving the property out
	JSON  string // of Kind JSON, or a value that the control cannot express; overrides the rest unless ""
}

// Inputs is what a person has put into a form.
type Inputs struct {
	Fields []Input         // by field index
	Extra  json.RawMessage // object of the members that no field stands for; nil if none
}

// InputName is the name of field i's control in an HTML form. With a suffix it
// names what goes with it: ".empty", ".json" and ".order".
func InputName(i int) string { return "f" + strconv.Itoa(i) }
