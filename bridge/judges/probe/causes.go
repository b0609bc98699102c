package probe

import (
	"cmp"
	"slices"
	"sync"

	"elicitation-inspector/bridge/meaning/lint"
)

// cause is a fault that can show in every probe. The one that is made for it names it, and
// the others only refer to that one.
type cause struct {
	owner  string // the probe that names it; "" for each that finds it
	rule   string // that it breaks, of the linter or of the probe alone; "" for none of the specification
	change string // what to change in the client
}

var (
	causeShape      = &cause{"accept", "answer-malformed", "Answer with an object that has an action, and content that is an object."}                   // the answer is no valid result
	causeAction     = &cause{"accept", "answer-action-unknown", "Answer with the action accept, decline or cancel."}                                     // it has no action, or one that does not exist
	causeNoContent  = &cause{"accept", "answer-content-missing", "Send what was entered as the member content of the answer."}                           // an accepted form has no content
	causeWrapped    = &cause{"accept", "answer-value-type", "Put each field directly into content, under its own name."}                                 // all content is in an object under one member
	causeExtra      = &cause{"accept", "answer-field-unknown", "Send only the fields that the question has."}                                            // content has members that the schema does not have
	causeDeclined   = &cause{"accept", "", "Show the question to a person, and send what the person chooses."}                                           // the answer is not the accept that the message asks for
	causeUnread     = &cause{"decline", "answer-unattended", "Show the question to a person before it is answered, with a way to decline."}              // an accept of what is to be declined, sooner than any person reads
	causeDenied     = &cause{"accept", "refused-declared", "Answer questions of each declared mode, or do not declare the mode."}                        // an error that says that a declared mode is not there
	causeRefused    = &cause{"accept", "", "Answer the question, or do not declare what it needs."}                                                      // another JSON-RPC error
	causeTwice      = &cause{"accept", "client-answered-twice", "Send one response to each request."}                                                    // a second response to one request
	causeLate       = &cause{"accept", "", "Close the questions of a call when it is cancelled, and answer them no more."}                               // an answer in a call that the client has cancelled
	causeWrongID    = &cause{"accept", "client-response-unasked", "Send the id of the request as it came, as a number or as a string."}                  // a response under an id that nobody used
	causeNoise      = &cause{"accept", "stdin-noise", "Write nothing but JSON-RPC messages, each on one line."}                                          // bytes that are not a message
	causeSilent     = &cause{"accept", "", "Answer each question, with cancel where nobody does."}                                                       // nothing came in time
	causeUnanswered = &cause{"accept", "input-missing", "Make the call again with an answer in inputResponses under each key of inputRequests."}         // rounds are never answered: no retry, or one without inputResponses
	causeURLContent = &cause{"url-consent", "answer-url-content", "Leave content out of the answer to a URL."}                                           // an accepted URL has content
	causePrefetched = &cause{"url-decline", "url-prefetched", "Fetch nothing of a URL before a person has agreed to open it."}                           // a declined URL was fetched
	causeTextURL    = &cause{"text-markup", "", "Fetch no address that stands in a text."}                                                               // an address in a text was fetched
	causeState      = &cause{"round-state", "state-changed", "Send requestState back as it came: do not trim, parse or normalise it."}                   // requestState changed
	causeNoState    = &cause{"round-state", "state-missing", "Send requestState back with the retry."}                                                   // requestState missing
	causeNewState   = &cause{"round-no-state", "state-unasked", "Send no requestState where the result has none."}                                       // a requestState that the server has not sent
	causeKeys       = &cause{"round-keys", "input-missing", "Answer under each key of inputRequests, exactly as it is written."}                         // an answer is missing under its key
	causeOwnKeys    = &cause{"round-keys", "input-unknown", "Answer only under the keys of inputRequests of this round."}                                // keys in inputResponses that nobody asked for
	causeList       = &cause{"round-keys", "input-missing", "Send inputResponses as an object with the keys of inputRequests."}                          // inputResponses is no object
	causeSameID     = &cause{"round-id", "retry-id-same", "Give each retry a new id."}                                                                   // a retry under the id of the request before
	causeOther      = &cause{"round-arguments", "retry-changed", "Repeat the name and the arguments of the call in its retry."}                          // a retry with another name or other arguments
	causeTaskLeft   = &cause{"task-call", "", "Ask for the status of a task until it has ended, and fetch its result."}                                  // a task that the client asks nothing about, or whose result it leaves
	causeTaskHeader = &cause{"task-call", "", "Send the id of the task in the header Mcp-Name."}                                                         // a request about a task without its header
	causeTaskKeys   = &cause{"task-keys", "task-input-unknown", "Answer only under the keys that the task asks for."}                                    // keys in tasks/update that the task has not asked for
	causeTaskTwice  = &cause{"task-keys", "task-input-again", "Answer each question of a task once."}                                                    // a second answer in tasks/update to one question
	causeTaskStorm  = &cause{"task-poll", "", "Wait for pollInterval before asking again."}                                                              // many requests tasks/get within a pollInterval
	causeNoTask     = &cause{"task-question", "", "Make a task of a question that asks for one, or do not declare it."}                                  // a question that should be a task is none
	causeTaskTold   = &cause{"task-question", "", "Report a task with all its members, from working to one status that ends it."}                        // what the client tells of its task is wrong
	causeInvalid    = &cause{"", "answer-invalid", "Send each value with the type and among the choices that the schema has, and every required field."} // content without a required field, or with a value of another type
	causeUnchecked  = &cause{"", "answer-unchecked", "Check what is entered against the schema before it is sent."}                                      // a value that should have been refused
	causeAltered    = &cause{"", "answer-altered", "Send each value as it was entered, and a default that nobody touched as it came."}                   // another value than the one that was entered, or left alone
	causeRounded    = &cause{"", "", "Keep the digits of a number as they are written."}                                                                 // a number with fewer digits
	causeUnwanted   = &cause{"", "answer-content-unwanted", "Leave content out of a decline or a cancel."}                                               // content with decline or cancel
	causeUndeclared = &cause{"", "answer-undeclared", "Refuse a mode that is not declared with error -32602."}                                           // an answer to what was not declared
	causeWrongCode  = &cause{"", "refused-undeclared", "Refuse a mode that is not declared with error -32602."}                                          // another error for it than the specification has
)

// causes lists those whose rules the linter finds in the traffic with any server.
var causes = []*cause{
	causeShape, causeAction, causeNoContent, causeWrapped, causeExtra, causeDenied, causeTwice, causeWrongID, causeNoise, causeURLContent, causeState, causeNoState, causeNewState,
	causeKeys, causeOwnKeys, causeSameID, causeOther, causeTaskKeys, causeTaskTwice, causeInvalid, causeUnchecked, causeUnwanted, causeUndeclared, causeWrongCode,
}

// verdictOf returns the verdict for a rule that is broken: the one table of severities, for
// what the probe and what the linter finds.
func verdictOf(s lint.Severity) Verdict { return []Verdict{Fails, Partly, May}[s] }

// owners maps each rule of the linter to the probe that names what breaks it.
var owners = sync.OnceValue(func() map[string]string {
	of := map[string]string{ // that probes do not look for themselves, and those of several probes
		"state-elsewhere": "round-state", "input-unasked": "round-no-state", "input-duplicate": "round-keys", "answer-after-cancellation": "accept",
		"client-task-malformed": "task-question", "client-task-id-again": "task-question", "client-task-begins-otherwise": "task-question",
		"client-task-goes-back": "task-question", "client-related-task-missing": "task-question", "client-task-unasked": "task-undeclared",
		"answer-undeclared": "mode-undeclared", "refused-undeclared": "mode-undeclared", "answer-content-unwanted": "decline",
	}
	for _, c := range causes {
		of[c.rule] = cmp.Or(of[c.rule], c.owner, "accept")
	}
	return of
})

// changeFor says what to change so that a rule of the linter is kept.
func changeFor(rule string) string {
	for _, c := range causes {
		if c.rule == rule {
			return c.change
		}
	}
	return "No longer send " + lint.RuleOf(rule).Breaks + "."
}

// finding is the outcome of one run of a probe.
type finding struct {
	verdict Verdict
	how     string // a sentence; "" where the verdict says all
	cause   *cause // nil for none
	frames  []int64
	unseen  Unseen // of NotSeen
	blank   bool   // nobody entered anything into the content that is wrong
	// following says that the finding holds only for a client that elsewhere sends what the
	// messages ask for.
	following bool
}

// Unseen says why nothing was seen.
type Unseen string

// The reasons.
const (
	NotCalled   Unseen = "not called"
	NotDeclared Unseen = "not declared"
	OtherAnswer Unseen = "another answer" // a valid one that the message does not ask for
	Follows     Unseen = "follows"        // from what another probe names
	NoFrame     Unseen = "no frame"       // shows it: only a person sees it, or it did not happen
)

func works(how string) finding      { return finding{verdict: Works, how: how} }
func may(how string) finding        { return finding{verdict: May, how: how} }
func partly(how string) finding     { return finding{verdict: Partly, how: how} }
func fails(how string) finding      { return finding{verdict: Fails, how: how} }
func notSeen(how string) finding    { return finding{verdict: NotSeen, how: how, unseen: NoFrame} }
func undeclared(how string) finding { return finding{verdict: NotSeen, how: how, unseen: NotDeclared} }
func otherwise(how string) finding  { return finding{verdict: NotSeen, how: how, unseen: OtherAnswer} }

func (f finding) because(c *cause) finding {
	f.cause = c
	return f
}

// in returns the finding with the verdict that the broken rule has in a revision.
func (f finding) in(revision string) finding {
	if f.cause != nil && (f.verdict == Fails || f.verdict == Partly) {
		if source, ok := lint.RuleOf(f.cause.rule).Sources[revision]; ok {
			f.verdict = verdictOf(source.Severity)
		}
	}
	return f
}

// grave orders verdicts, the worst first.
func grave(v Verdict) int { return slices.Index(Verdicts(), v) }

// worst returns the gravest of the findings, the first of several.
func worst(list ...finding) finding {
	return slices.MinFunc(list, func(a, b finding) int { return cmp.Compare(grave(a.verdict), grave(b.verdict)) })
}
