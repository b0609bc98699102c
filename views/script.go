package views

// Script describes the script that answers questions before the person does.
type Script struct {
	Name    string // "" if none is loaded
	Rules   int
	Typed   string // the path that was to be loaded
	Problem string // why it was not loaded
}
