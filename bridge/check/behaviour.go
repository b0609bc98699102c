package check

import (
	"encoding/json"
	"slices"

	"elicitation-inspector/bridge/check/judge"
	"elicitation-inspector/bridge/check/report"
	"elicitation-inspector/bridge/conversation"
	"elicitation-inspector/bridge/elicit"
	"elicitation-inspector/bridge/fault"
)

// own lists the behaviours that are not faults of package fault, in the order in which
// they are tried.
var own = []report.Behaviour{
	{Name: judge.BehaviourAccept, Group: "Honest answers", Title: "Accept", Does: "Accepts every question with valid content.", Good: "It answers the call, and goes on serving."},
	{Name: judge.BehaviourOther, Group: "Honest answers", Title: "Accept with other content", Does: "Accepts every question with other valid content.", Good: "It answers the call by what was said this time, and goes on serving."},
	{Name: judge.BehaviourDenied, Group: "Honest answers", Title: "Accept, and say no", Does: "Accepts every question with no in each field that asks for a yes, and false in other booleans.", Good: "It does nothing that a field with no forbids."},
	{Name: judge.BehaviourDecline, Group: "Honest answers", Title: "Decline", Does: "Declines one question, and accepts the others.", Good: "It does nothing that the question was to allow, answers the call, and goes on serving."},
	{Name: judge.BehaviourCancel, Group: "Honest answers", Title: "Cancel", Does: "Cancels one question, and accepts the others.", Good: "It does nothing that the question was to allow, answers the call, and goes on serving."},
	{Name: judge.BehaviourDeclineAlways, Group: "Honest answers", Title: "Decline everything", Does: "Declines every question, up to 20 of them.", Good: "It does not ask for ever what was declined."},
	{Name: judge.BehaviourUsed, Group: "Another call's state", Title: "Use a state again", Does: "Makes the call, and then again with the last requestState of the first one.", Good: "It refuses a state that was used, or answers as it did then: nothing is done twice."},
	{Name: judge.BehaviourOtherSession, Group: "Another call's state", Title: "Use the state of another session", Does: "Makes the call with the last requestState of a call in another session.", Good: "It goes on with that call if the state is good for its user, or refuses it."},
	{Name: judge.BehaviourOtherArguments, Group: "Another call's state", Title: "Use the state of other arguments", Does: "Declines the last question of the call with other arguments, and makes the call with that requestState and an acceptance.", Good: "It refuses a state that belongs to another request."},
	{Name: judge.BehaviourNone, Group: "Capabilities", Title: "No elicitation", Does: "Does not declare the capability to be asked.", Good: "It does without the question, or says that it cannot go on."},
	{Name: judge.BehaviourForm, Group: "Capabilities", Title: "Forms only", Does: "Declares the capability for forms alone.", Good: "It sends no URL, and does without it or says that it cannot go on."},
	{Name: judge.BehaviourURL, Group: "Capabilities", Title: "URLs only", Does: "Declares the capability for URLs alone.", Good: "It sends no form, and does without it or says that it cannot go on."},
	{Name: judge.BehaviourSeveral, Group: "Several calls", Title: "Several calls at once", Does: "Makes the call three times at the same time, with different contents, and answers the last question first.", Good: "It gives each call the answer to its own question."},
}

// unplanned lists the faults that need content or a result that only a person can write.
var unplanned = []string{"given-content", "given-result"}

// Behaviours lists all behaviours in the order in which reports have them.
func Behaviours() []report.Behaviour {
	list := slices.Clone(own)
	for _, f := range fault.All() {
		if !slices.Contains(unplanned, f.Name) {
			list = append(list, report.Behaviour{Name: f.Name, Group: f.Group.Title(), Title: f.Title, Does: f.Does, Good: f.Good})
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
var declarations = map[string]conversation.DeclaredElicitation{
	judge.BehaviourNone: conversation.DeclareNone, judge.BehaviourForm: conversation.DeclareForm, judge.BehaviourURL: conversation.DeclareURL,
}

// otherwise holds the content in place of the honest one, by the behaviours that accept
// with other content.
var otherwise = map[string]func(*elicit.Request, json.RawMessage) json.RawMessage{
	judge.BehaviourOther:  func(r *elicit.Request, base json.RawMessage) json.RawMessage { return distinct(r, base, 3) },
	judge.BehaviourDenied: denied,
}

// Behaviours whose trials run in another order or with other times than most.
var (
	// plainAnswers lists the behaviours whose trials run first: people look at refusals
	// first.
	plainAnswers = []string{judge.BehaviourOther, judge.BehaviourDenied, judge.BehaviourDecline, judge.BehaviourCancel}

	// waiting lists the faults that give the server no answer that it can use, so that a
	// trial is likely to last until its time limit.
	waiting = []string{"never", "wrong-id", "retyped-id", "invalid-json", "answer-withdrawn", "close-connection", "late", "half-then-rest", "byte-by-byte"}
	// slow holds the delay of a fault in seconds.
	slow = map[string]float64{"late": 3, "half-then-rest": 1, "byte-by-byte": 1, "status-backwards": 1, "result-before-completed": 1}
	// ending lists the faults that end the connection.
	ending = []string{"close-connection", "kill-process"}
)
