package views

import (
	"elicitation-inspector/bridge/fault"
	"elicitation-inspector/views/markup"
)

// Next describes what a server did after its question was answered.
type Next struct {
	Text string // "" if it has done nothing yet
	Seq  int64  // its frame, 0 if none
}

// words describes what the server did, or that it did nothing.
func (n Next) words() string {
	if n.Text == "" {
		return "then nothing so far"
	}
	return "then: " + markup.Brief(n.Text)
}

// FaultGroup holds the faults of one group that fit a question.
type FaultGroup struct {
	Group fault.Group
	List  []fault.Fault
}

// parameter is an input for a parameter of faults.
type parameter struct{ name, label, kind, placeholder string }

var parameters = []parameter{
	{"seconds", "Seconds", "number", ""},
	{"code", "Code", "number", "-32000"},
	{"message", "Message", "text", "Deliberate error"},
	{"data", "Data (JSON)", "text", ""},
	{"tool", "Tool", "text", ""},
}

// parametersOf returns the parameters of a fault that the menu offers.
func parametersOf(f fault.Fault) (list []parameter) {
	for _, p := range parameters {
		if f.Takes(p.name) {
			list = append(list, p)
		}
	}
	return list
}

// expects describes how a good server reacts, with the section of the specification.
func expects(f fault.Fault, revision string) string {
	if section := f.Section[revision]; section != "" {
		return f.Good + " (" + section + ")"
	}
	return f.Good
}

// lowerFirst converts the beginning of a sentence for use after a colon.
func lowerFirst(s string) string {
	if len(s) > 2 && s[1] == ' ' || len(s) > 1 && s[1] >= 'A' && s[1] <= 'Z' {
		return s
	}
	return string(s[0]|0x20) + s[1:]
}
