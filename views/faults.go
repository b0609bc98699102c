package views

import (
	"elicitation-inspector/bridge/fault"
)

// Next is what a server did after its question was answered.
type Next struct {
	Text string // "" where it has done nothing yet
	Seq  int64  // its frame, 0 if none
}

// words say what the server did, or that it did nothing.
func (n Next) words() string {
	if n.Text == "" {
		return "then nothing so far"
	}
	return "then: " + Brief(n.Text)
}

// FaultGroup are the faults of one group that fit a question.
type FaultGroup struct {
	Group fault.Group
	List  []fault.Fault
}

// parameter is what a fault can be given besides.
type parameter struct{ name, label, kind, placeholder string }

var parameters = []parameter{
	{"seconds", "Seconds", "number", ""},
	{"code", "Code", "number", "-32000"},
	{"message", "Message", "text", "Deliberate error"},
	{"data", "Data (JSON)", "text", ""},
	{"tool", "Tool", "text", ""},
}

// parametersOf are those of a fault that a person can give in the menu.
func parametersOf(f fault.Fault) (list []parameter) {
	for _, p := range parameters {
		if f.Takes(p.name) {
			list = append(list, p)
		}
	}
	return list
}

// expects says what a good server does, with the place in the specification.
func expects(f fault.Fault, revision string) string {
	if section := f.Section[revision]; section != "" {
		return f.Good + " (" + section + ")"
	}
	return f.Good
}

// lowerFirst begins a sentence behind a colon.
func lowerFirst(s string) string {
	if len(s) > 2 && s[1] == ' ' || len(s) > 1 && s[1] >= 'A' && s[1] <= 'Z' {
		return s
	}
	return string(s[0]|0x20) + s[1:]
}
