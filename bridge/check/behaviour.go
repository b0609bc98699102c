package check

import (
	"slices"

	"elicitation-inspector/bridge/client"
	"elicitation-inspector/bridge/fault"
	"elicitation-inspector/bridge/mcp"
)

// own are the behaviours that are no faults, in the order in which they are tried.
var own = []Behaviour{
	{behaviourAccept, "Honest answers", "Accept", "Accepts every question with valid content.", "It answers the call, and goes on serving."},
	{behaviourDecline, "Honest answers", "Decline", "Declines one question, and accepts the others.", "It does nothing that the question was to allow, answers the call, and goes on serving."},
	{behaviourCancel, "Honest answers", "Cancel", "Cancels one question, and accepts the others.", "It does nothing that the question was to allow, answers the call, and goes on serving."},
	{behaviourDeclineAlways, "Honest answers", "Decline everything", "Declines every question, up to 20 of them.", "It does not ask for ever what was declined."},
	{behaviourNone, "Capabilities", "No elicitation", "Does not declare the capability to be asked.", "It does without the question, or says that it cannot go on."},
	{behaviourForm, "Capabilities", "Forms only", "Declares the capability for forms alone.", "It sends no URL, and does without it or says that it cannot go on."},
	{behaviourURL, "Capabilities", "URLs only", "Declares the capability for URLs alone.", "It sends no form, and does without it or says that it cannot go on."},
	{behaviourSeveral, "Several calls", "Several calls at once", "Makes the call three times at the same time, with different contents, and answers the last question first.", "It gives each call the answer to its own question."},
}

// unplanned are the faults that need what only a person can write.
var unplanned = []string{"given-content", "given-result"}

// Behaviours lists all behaviours in the order in which reports have them.
func Behaviours() []Behaviour {
	list := slices.Clone(own)
	for _, f := range fault.All() {
		if !slices.Contains(unplanned, f.Name) {
			list = append(list, Behaviour{f.Name, f.Group.Title(), f.Title, f.Does, f.Good})
		}
	}
	return list
}

// BehaviourNames are the names of all behaviours.
func BehaviourNames() []string {
	var names []string
	for _, b := range Behaviours() {
		names = append(names, b.Name)
	}
	return names
}

// declarations are what the client declares in the behaviours that are about it, in the
// revisions that tell the modes apart.
var declarations = map[string]client.Elicitation{
	behaviourNone: client.DeclareNone, behaviourForm: client.DeclareForm, behaviourURL: client.DeclareURL,
}

// declarable reports whether a revision lets the client declare what a behaviour does.
func declarable(behaviour, revision string) bool {
	return behaviour == behaviourNone || revision != mcp.Revision20250618
}

// How the faults differ whose trials mostly wait.
var (
	// plainAnswers begin before others: honest calls are what the others are compared
	// with, and refusals are what people look at first.
	plainAnswers = []string{behaviourAccept, behaviourDecline, behaviourCancel}

	// waiting are the faults that leave the server without an answer that it can use, so
	// that a trial is likely to last until its limit.
	waiting = []string{"never", "wrong-id", "retyped-id", "invalid-json", "answer-withdrawn", "close-connection", "late", "half-then-rest", "byte-by-byte"}
	// slow are the seconds that a fault is given.
	slow = map[string]float64{"late": 3, "half-then-rest": 1, "byte-by-byte": 1}
	// ending are the faults that end the connection.
	ending = []string{"close-connection", "kill-process"}
)
