package views

// Limits of elements with many parts. Together they keep the page below [markup.PageMost],
// whatever servers send.
const (
	PanelMost = 250 << 10 // all questions

	serversMost = 80 << 10
	startMost   = 40 << 10
	catalogMost = 110 << 10
	pinsMost    = 20 << 10
	rowsMost    = 900_000  // rows of the log in one answer
	partsMost   = 64 << 10 // blocks of a result

	TabsMost         = 80 // calls in the strip
	capabilitiesMost = 40
	foundMost        = 20 // findings on one question
	comparedMost     = 100
)
