package views

import (
	"slices"
	"strconv"
	"time"

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

// awaits tells whether a URL was agreed to and its outcome is still to come, so
// that its card stays open.
func (q Question) awaits() bool {
	return q.State == QuestionAnswered && q.Completion == "awaited" && (q.Told || q.Waits)
}

// completeMethod is how a server says that a URL is done, up to 2025-11-25.
const completeMethod = "notifications/elicitation/complete"

// awaitedWhat names what an accepted URL waits for.
func (q Question) awaitedWhat() string {
	if q.Told {
		return "Waiting for " + completeMethod
	}
	return "Waiting for you to try again"
}

// awaitedHow explains what ends the wait.
func (q Question) awaitedHow() string {
	call := "Call " + strconv.Itoa(q.Call)
	switch {
	case q.Told && q.ID == "":
		return "It came without an elicitationId, so the server has no way to say that it is done: only you can."
	case q.Told && q.Waits:
		return call + " is made again once every page that it needs is done, or when you say so."
	case q.Told:
		return "If the server never says that it is done, you can."
	case q.Every > 0:
		return call + " is tried again every " + seconds(q.Every) + " s, until it has a result."
	}
	return "In this revision servers do not say when a page is done: to learn the outcome, try call " + strconv.Itoa(q.Call) + " again."
}

// callPath is the address of what can be done with the question's call.
func (q Question) callPath(what string) string {
	return "/calls/" + strconv.Itoa(q.Call) + "/" + what
}

// everyUsual is how often a call is tried again if the person does not say.
const everyUsual = 5 * time.Second

func (q Question) everySeconds() string {
	if q.Every > 0 {
		return seconds(q.Every)
	}
	return seconds(everyUsual)
}

// seconds writes a duration as a bare number of seconds.
func seconds(d time.Duration) string { return number(d.Seconds()) }

// followMost is the longest URL that browsers follow for certain.
const followMost = 32 << 10

// follows reports whether a link can lead to the address.
func follows(a *link.Verdict) bool { return a.Openable && len(a.Raw) <= followMost }

// copies reports whether the page has all of the address, so that it can be copied.
func copies(a *link.Verdict) bool {
	whole := wholeAddress(a.Parts)
	return follows(a) || !cutOff(whole, proseMost)
}
