package views

import (
	"slices"

	"elicitation-inspector/bridge/elicit/link"
)

// dangerous tells whether a person should think twice before opening an address.
func dangerous(a *link.Verdict) bool {
	return slices.ContainsFunc(a.Warnings, func(w link.Warning) bool { return w.Severity == link.Danger })
}

// consent says what opening means, or why it is not offered.
func consent(a *link.Verdict) string {
	if follows(a) {
		return "Opening it, in a new tab, means accepting."
	}
	if a.Openable {
		return "It is too long for a browser to open."
	}
	return "It cannot be opened from here, but you can copy it as it is shown."
}

// followMost is the longest URL that browsers follow for certain.
const followMost = 32 << 10

// follows reports whether a link can lead to the address.
func follows(a *link.Verdict) bool { return a.Openable && len(a.Raw) <= followMost }

// copies reports whether the page has all of the address, so that it can be copied.
func copies(a *link.Verdict) bool {
	whole := wholeAddress(a.Parts)
	return follows(a) || !cutOff(whole, proseMost)
}
