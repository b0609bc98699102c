package views

import (
	"slices"

	"elicitation-inspector/bridge/elicit"
	"elicitation-inspector/bridge/elicit/link"
	"elicitation-inspector/views/markup"
)

// dangerous reports whether an address has a warning of the highest severity.
func dangerous(a *link.Verdict) bool {
	return slices.ContainsFunc(a.Warnings, func(w link.Warning) bool { return w.Severity == link.Danger })
}

// consent explains that opening an address means accepting, or why it cannot be opened.
func consent(a *link.Verdict) string {
	if a.Openable {
		return "Opening it (in a new tab) counts as accepting."
	}
	if len(a.Raw) > elicit.FormatCheckedMost {
		return "It is too long to be opened."
	}
	return "It cannot be opened from here, but you can copy it as it is shown."
}

// copies reports whether the page contains the whole address, so that it can be copied.
func copies(a *link.Verdict) bool {
	return a.Openable || len(a.Raw) <= elicit.FormatCheckedMost && !markup.CutOff(wholeAddress(a.Parts), markup.ProseMost)
}
