package check

import (
	"slices"

	"elicitation-inspector/bridge/client"
	"elicitation-inspector/bridge/fault"
	"elicitation-inspector/bridge/mcp"
)

// own lists the behaviours that are not faults of package fault, in the order in which
// they are tried.
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

// unplanned lists the faults that need content or a result that only a person can write.
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

// BehaviourNames lists the names of all behaviours.
func BehaviourNames() []string {
	var names []string
	for _, b := range Behaviours() {
		names = append(names, b.Name)
	}
	return names
}

// declarations holds the elicitation capability that the client declares, by behaviour.
// They apply to revisions that distinguish the modes.
var declarations = map[string]client.Elicitation{
	behaviourNone: client.DeclareNone, behaviourForm: client.DeclareForm, behaviourURL: client.DeclareURL,
}

// declarable reports whether the client can declare a behaviour's elicitation capability
// in a revision.
func declarable(behaviour, revision string) bool {
	return behaviour == behaviourNone || revision != mcp.Revision20250618
}

// Behaviours whose trials run in another order or with other times than most.
var (
	// plainAnswers lists the behaviours whose trials run first: the judge compares other
	// trials with honest calls, and people look at refusals first.
	plainAnswers = []string{behaviourAccept, behaviourDecline, behaviourCancel}

	// waiting lists the faults that give the server no answer that it can use, so that a
	// trial is likely to last until its time limit.
	waiting = []string{"never", "wrong-id", "retyped-id", "invalid-json", "answer-withdrawn", "close-connection", "late", "half-then-rest", "byte-by-byte"}
	// slow holds the delay of a fault in seconds.
	slow = map[string]float64{"late": 3, "half-then-rest": 1, "byte-by-byte": 1}
	// ending lists the faults that end the connection.
	ending = []string{"close-connection", "kill-process"}
)
