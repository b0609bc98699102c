package judge

import (
	"slices"

	"elicitation-inspector/bridge/judges/check/report"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/meaning/fault"
)

// Names of the behaviours that are not faults and that the check treats specially.
const (
	BehaviourAccept         = "accept"
	BehaviourOther          = "accept-other"
	BehaviourDenied         = "accept-no"
	BehaviourDecline        = "decline"
	BehaviourCancel         = "cancel"
	BehaviourDeclineAlways  = "decline-always"
	BehaviourNone           = "no-elicitation"
	BehaviourForm           = "form-only"
	BehaviourURL            = "url-only"
	BehaviourSeveral        = "several-at-once"
	BehaviourUsed           = "used-state"
	BehaviourOtherSession   = "other-session-state"
	BehaviourOtherArguments = "other-arguments-state"
	BehaviourForgedDeclined = "forged-state-declined"
	BehaviourForgedAlone    = "forged-state-alone"
	BehaviourRemembered     = "no-content-again"
)

// Traits say how the check applies and judges a behaviour. Its words for people are elsewhere.
type Traits struct {
	Declares conversation.DeclaredElicitation // the capability that the client declares, in revisions that distinguish the modes; "" for the default
	Refuses  string                           // the action of the answer if it is no acceptance: "decline" or "cancel"
	Did      string                           // what the client did so that nobody agreed, for use after "the client"; "" if that depends on the trial
	Waits    string                           // why a server may still wait for an answer, or owes no response
	Borrows  bool                             // it sends the requestState of another call, as the fault invented-state does with a state that it gets
	Forged   string                           // the fault that carries a forged requestState, without an acceptance
	By       string                           // the fault that carries it out, if that has another name
	Forges   bool                             // it sends no requestState, or another one than the server sent
	Lasts    bool                             // it gives the server no answer that it can use, so that a trial is likely to last until its time limit
	Seconds  float64                          // the time that the behaviour itself takes
	Ends     bool                             // it ends the connection
	Twice    bool                             // it gives one consent twice
	Follows  bool                             // it sends another answer right after the first one
	Soon     bool                             // its trials run before others, since people look at them first
	Content  Content
}

// Content says what a fault sends in place of an object with an acceptance.
type Content int

const (
	withFields Content = iota
	Unaccepted         // valid content, without an acceptance
	noContent
	noFields  // content that is no object. A refusal of it proves nothing about content with fields.
	noMessage // a result that is not an object, and no valid response before 2026-07-28
)

const (
	honest       = "Honest answers"
	states       = "Another call's state"
	capabilities = "Capabilities"

	otherID  = "the answer went out under an id that is not the question's"
	unopened = "nobody opened the URL"
)

// own lists the behaviours that are not faults, in the order in which reports have them.
var own = []struct {
	Traits
	report.Behaviour
}{
	{Traits{}, report.Behaviour{Name: BehaviourAccept, Group: honest, Title: "Accept", Does: "Accepts every question with valid content.", Good: "It answers the call, and goes on serving."}},
	{Traits{Soon: true}, report.Behaviour{Name: BehaviourOther, Group: honest, Title: "Accept with other content", Does: "Accepts every question with other valid content.", Good: "It answers the call by what was said this time, and goes on serving."}},
	{Traits{Soon: true}, report.Behaviour{Name: BehaviourDenied, Group: honest, Title: "Accept, and say no", Does: "Accepts every question with no in each field that asks for a yes, and false in other booleans.", Good: "It does nothing that a field with no forbids."}},
	{Traits{Refuses: "decline", Did: "declined", Soon: true}, report.Behaviour{Name: BehaviourDecline, Group: honest, Title: "Decline", Does: "Declines one question, and accepts the others.", Good: "It does nothing that the question was to allow, answers the call, and goes on serving."}},
	{Traits{Refuses: "cancel", Did: "cancelled", Soon: true}, report.Behaviour{Name: BehaviourCancel, Group: honest, Title: "Cancel", Does: "Cancels one question, and accepts the others.", Good: "It does nothing that the question was to allow, answers the call, and goes on serving."}},
	{Traits{Did: "declined everything"}, report.Behaviour{Name: BehaviourDeclineAlways, Group: honest, Title: "Decline everything", Does: "Declines every question, up to 20 of them.", Good: "It does not ask for ever what was declined."}},
	{Traits{By: "no-content", Content: noContent}, report.Behaviour{Name: BehaviourRemembered, Group: honest, Title: "Accept without content, after an acceptance", Does: "Makes the call and accepts, and makes it again and accepts without content.", Good: "It refuses content that is not there, whatever was said before."}},
	{Traits{Borrows: true, Twice: true}, report.Behaviour{Name: BehaviourUsed, Group: states, Title: "Use a state again", Does: "Makes the call, and then again with the last requestState of the first one.", Good: "It refuses a state that was used, or answers as it did then: nothing is done twice."}},
	{Traits{Borrows: true}, report.Behaviour{Name: BehaviourOtherSession, Group: states, Title: "Use the state of another session", Does: "Makes the call with the last requestState of a call in another session.", Good: "It goes on with that call if the state is good for its user, or refuses it."}},
	{Traits{Borrows: true}, report.Behaviour{Name: BehaviourOtherArguments, Group: states, Title: "Use the state of other arguments", Does: "Declines the last question of the call with other arguments, and makes the call with that requestState and an acceptance.", Good: "It refuses a state that belongs to another request."}},
	{Traits{Forged: "invented-state"}, report.Behaviour{Name: BehaviourForgedDeclined, Group: states, Title: "Forge the state, and decline", Does: "Declines the last question with a requestState in which one value is another one that could be right.", Good: "It refuses a state that it did not make, or takes the decline."}},
	{Traits{Forged: "missing-key"}, report.Behaviour{Name: BehaviourForgedAlone, Group: states, Title: "Forge the state, and do not answer", Does: "Makes the call again without the answer, with a requestState in which one value is another one that could be right.", Good: "It refuses a state that it did not make, or asks again."}},
	{Traits{Declares: conversation.DeclareNone}, report.Behaviour{Name: BehaviourNone, Group: capabilities, Title: "No elicitation", Does: "Does not declare the capability to be asked.", Good: "It does without the question, or says that it cannot go on."}},
	{Traits{Declares: conversation.DeclareForm}, report.Behaviour{Name: BehaviourForm, Group: capabilities, Title: "Forms only", Does: "Declares the capability for forms alone.", Good: "It sends no URL, and does without it or says that it cannot go on."}},
	{Traits{Declares: conversation.DeclareURL}, report.Behaviour{Name: BehaviourURL, Group: capabilities, Title: "URLs only", Does: "Declares the capability for URLs alone.", Good: "It sends no form, and does without it or says that it cannot go on."}},
	{Traits{}, report.Behaviour{Name: BehaviourSeveral, Group: "Several calls", Title: "Several calls at once", Does: "Makes the call three times at the same time, with different contents, and answers the last question first.", Good: "It gives each call the answer to its own question."}},
}

// ofFaults holds the traits of the faults that have any.
var ofFaults = map[string]Traits{
	"no-content":           {Content: noContent},
	"null-content":         {Content: noContent},
	"array-content":        {Content: noFields},
	"null-result":          {Content: noMessage, Did: "answered with a result that is not an object"},
	"string-result":        {Content: noMessage, Did: "answered with a result that is not an object"},
	"decline-with-content": {Content: Unaccepted, Refuses: "decline", Did: "declined"},
	"cancel-with-content":  {Content: Unaccepted, Refuses: "cancel", Did: "cancelled"},
	"unknown-action":       {Content: Unaccepted},
	"no-action":            {Content: Unaccepted, Did: "answered with a result without an action"},

	"invalid-json":          {Waits: "the answer was not JSON", Lasts: true},
	"wrong-id":              {Waits: otherID, Lasts: true},
	"retyped-id":            {Waits: otherID, Lasts: true},
	"response-twice":        {Twice: true, Follows: true},
	"cancel-then-accept":    {Refuses: "cancel", Did: "cancelled", Follows: true},
	"response-after-cancel": {Waits: "the call was cancelled", Did: "cancelled the call, and answered after that"},
	"half-then-rest":        {Lasts: true, Seconds: 1},
	"answer-withdrawn":      {Waits: "the answer waited until the question was withdrawn", Lasts: true, Did: "answered only when the question was over"},
	"late":                  {Waits: "the answer came late, and the server may have given it up", Lasts: true, Seconds: 3},
	"never":                 {Waits: "no answer went out", Lasts: true},
	"byte-by-byte":          {Lasts: true, Seconds: 1},
	"close-connection":      {Waits: "the connection was closed", Lasts: true, Seconds: abandoned, Ends: true},
	"kill-process":          {Waits: "the process was killed", Ends: true},
	"drop-stream":           {Waits: "the stream was dropped"},
	"new-session":           {Waits: "the session was ended"},

	"missing-key":          {Did: "left the answer out"},
	"changed-state":        {Forges: true},
	"changed-state-start":  {Forges: true},
	"changed-state-end":    {Forges: true},
	"changed-state-inside": {Forges: true},
	"invented-state":       {Forges: true},
	"no-state":             {Forges: true},
	"same-id":              {Waits: "the request had the id of the one before", Twice: true},

	"accept-unopened":         {Waits: unopened},
	"retry-before-completion": {Waits: unopened},
	"never-retry":             {Waits: "the call was not made again"},

	"result-never-fetched":    {Waits: "the result was not fetched"},
	"cancel-after-answer":     {Waits: "the task was cancelled"},
	"status-backwards":        {Seconds: 1},
	"result-before-completed": {Seconds: 1},
	"task-forgotten":          {Waits: "the client had forgotten the task with the answer"},
}

// TraitsOf returns the traits of a behaviour; the zero Traits for one without any.
func TraitsOf(behaviour string) Traits {
	for _, b := range own {
		if b.Name == behaviour {
			return b.Traits
		}
	}
	return ofFaults[behaviour]
}

// Unplanned lists the faults that need content or a result that only a person can write.
var Unplanned = []string{"given-content", "given-result"}

// Behaviours lists all behaviours in the order in which reports have them.
func Behaviours() (list []report.Behaviour) {
	for _, b := range own {
		list = append(list, b.Behaviour)
	}
	for _, f := range fault.All() {
		if !slices.Contains(Unplanned, f.Name) {
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

// abandoned is how many seconds a process may keep running after its input was closed.
const abandoned = 5
