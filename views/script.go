package views

// Script is what answers questions before a person does.
type Script struct {
	Name    string // "" if none is loaded
	Rules   int
	Typed   string // what was to be loaded
	Problem string // why it was not
}
