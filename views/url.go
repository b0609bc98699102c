package views

import (
	"slices"

	"elicitation-inspector/bridge/elicit/link"
	"elicitation-inspector/views/markup"
)

// dangerous reports whether an address has a warning of the highest severity.
func dangerous(a *link.Verdict) bool {
	return slices.ContainsFunc(a.Warnings, func(w link.Warning) bool { return w.Severity == link.Danger })
}

// consent explains that opening an address means accepting, or why it cannot be opened.
func consent(a *link.Verdict) string {
	if follows(a) {
		return "Opening it (in a new tab) counts as accepting."
	}
	if a.Openable {
		return "It is too long for a browser to open."
	}
	return "It cannot be opened from here, but you can copy it as it is shown."
}

// followMost is the maximum length of a URL, in bytes, that all browsers follow.
const followMost = 32 << 10

// follows reports whether the page links to the address.
func follows(a *link.Verdict) bool { return a.Openable && len(a.Raw) <= followMost }

// copies reports whether the page contains the whole address, so that it can be copied.
func copies(a *link.Verdict) bool {
	whole := wholeAddress(a.Parts)
	return follows(a) || !markup.CutOff(whole, markup.ProseMost)
}
