package probe

import (
	"cmp"
	"slices"

	"elicitation-inspector/bridge/lint"
)

// cause is a fault that can show in every probe. The one that is made for it names it, and
// the others only refer to that one.
type cause string

const (
	causeShape      cause = "shape"       // the answer is no valid result
	causeAction     cause = "action"      // it has no action, or one that does not exist
	causeNoContent  cause = "no-content"  // an accepted form has no content
	causeWrapped    cause = "wrapped"     // all content is in an object under one member
	causeExtra      cause = "extra"       // content has members that the schema does not have
	causeDeclined   cause = "declined"    // the answer is not the accept that the message asks for
	causeUnread     cause = "unread"      // an accept of what is to be declined, sooner than any person reads
	causeDenied     cause = "denied"      // an error that says that a declared mode is not there
	causeRefused    cause = "refused"     // another JSON-RPC error
	causeTwice      cause = "twice"       // a second response to one request
	causeLate       cause = "late"        // an answer in a call that the client has cancelled
	causeWrongID    cause = "wrong-id"    // a response under an id that nobody used
	causeNoise      cause = "noise"       // bytes that are not a message
	causeSilent     cause = "silent"      // nothing came in time
	causeUnanswered cause = "unanswered"  // rounds are never answered: no retry, or one without inputResponses
	causeURLContent cause = "url-content" // an accepted URL has content
	causePrefetched cause = "prefetched"  // a declined URL was fetched
	causeTextURL    cause = "text-url"    // an address in a text was fetched
	causeState      cause = "state"       // requestState changed
	causeNoState    cause = "no-state"    // requestState missing
	causeNewState   cause = "new-state"   // a requestState that the server has not sent
	causeKeys       cause = "keys"        // an answer is missing under its key
	causeOwnKeys    cause = "own-keys"    // keys in inputResponses that nobody asked for
	causeList       cause = "list"        // inputResponses is no object
	causeSameID     cause = "same-id"     // a retry under the id of the request before
	causeOther      cause = "other-call"  // a retry with another name or other arguments
	causeTaskLeft   cause = "task-left"   // a task that the client asks nothing about, or whose result it leaves
	causeTaskHeader cause = "task-header" // a request about a task without its header
	causeTaskKeys   cause = "task-keys"   // keys in tasks/update that the task has not asked for
	causeTaskTwice  cause = "task-twice"  // a second answer in tasks/update to one question
	causeTaskStorm  cause = "task-storm"  // many requests tasks/get within a pollInterval
	causeNoTask     cause = "no-task"     // a question that should be a task is none
	causeTaskTold   cause = "task-told"   // what the client tells of its task is wrong

	// Faults of a single probe, which nothing follows from.
	causeInvalid    cause = "invalid"    // content without a required field, or with a value of another type
	causeUnchecked  cause = "unchecked"  // a value that should have been refused
	causeAltered    cause = "altered"    // another value than the one that was entered, or left alone
	causeRounded    cause = "rounded"    // a number with fewer digits
	causeUnwanted   cause = "unwanted"   // content with decline or cancel
	causeUndeclared cause = "undeclared" // an answer to what was not declared
	causeWrongCode  cause = "wrong-code" // another error for it than the specification has
)

// causes says of each cause which probe names it ("" for each that finds it), which rule it
// breaks ("" for none of the specification), and what to change in the client.
var causes = map[cause]struct{ owner, rule, change string }{
	causeShape:      {"accept", "answer-malformed", "Answer with an object that has an action, and content that is an object."},
	causeAction:     {"accept", "answer-action-unknown", "Answer with the action accept, decline or cancel."},
	causeNoContent:  {"accept", "answer-content-missing", "Send what was entered as the member content of the answer."},
	causeWrapped:    {"accept", "answer-value-type", "Put each field directly into content, under its own name."},
	causeExtra:      {"accept", "answer-field-unknown", "Send only the fields that the question has."},
	causeDeclined:   {"accept", "", "Show the question to a person, and send what the person chooses."},
	causeUnread:     {"decline", "answer-unattended", "Show the question to a person before it is answered, with a way to decline."},
	causeDenied:     {"accept", "refused-declared", "Answer questions of each declared mode, or do not declare the mode."},
	causeRefused:    {"accept", "", "Answer the question, or do not declare what it needs."},
	causeTwice:      {"accept", "client-answered-twice", "Send one response to each request."},
	causeLate:       {"accept", "", "Close the questions of a call when it is cancelled, and answer them no more."},
	causeWrongID:    {"accept", "client-response-unasked", "Send the id of the request as it came, as a number or as a string."},
	causeNoise:      {"accept", "stdin-noise", "Write nothing but JSON-RPC messages, each on one line."},
	causeSilent:     {"accept", "", "Answer each question, with cancel where nobody does."},
	causeUnanswered: {"accept", "input-missing", "Make the call again with an answer in inputResponses under each key of inputRequests."},
	causeURLContent: {"url-consent", "answer-url-content", "Leave content out of the answer to a URL."},
	causePrefetched: {"url-decline", "url-prefetched", "Fetch nothing of a URL before a person has agreed to open it."},
	causeTextURL:    {"text-markup", "", "Fetch no address that stands in a text."},
	causeState:      {"round-state", "state-changed", "Send requestState back as it came: do not trim, parse or normalise it."},
	causeNoState:    {"round-state", "state-missing", "Send requestState back with the retry."},
	causeNewState:   {"round-no-state", "state-unasked", "Send no requestState where the result has none."},
	causeKeys:       {"round-keys", "input-missing", "Answer under each key of inputRequests, exactly as it is written."},
	causeOwnKeys:    {"round-keys", "input-unknown", "Answer only under the keys of inputRequests of this round."},
	causeList:       {"round-keys", "input-missing", "Send inputResponses as an object with the keys of inputRequests."},
	causeSameID:     {"round-id", "retry-id-same", "Give each retry a new id."},
	causeOther:      {"round-arguments", "retry-changed", "Repeat the name and the arguments of the call in its retry."},
	causeTaskLeft:   {"task-call", "", "Ask for the status of a task until it has ended, and fetch its result."},
	causeTaskHeader: {"task-call", "", "Send the id of the task in the header Mcp-Name."},
	causeTaskKeys:   {"task-keys", "task-input-unknown", "Answer only under the keys that the task asks for."},
	causeTaskTwice:  {"task-keys", "task-input-again", "Answer each question of a task once."},
	causeTaskStorm:  {"task-poll", "", "Wait for pollInterval before asking again."},
	causeNoTask:     {"task-question", "", "Make a task of a question that asks for one, or do not declare it."},
	causeTaskTold:   {"task-question", "", "Report a task with all its members, from working to one status that ends it."},
	causeInvalid:    {"", "answer-invalid", "Send each value with the type and among the choices that the schema has, and every required field."},
	causeUnchecked:  {"", "answer-unchecked", "Check what is entered against the schema before it is sent."},
	causeAltered:    {"", "answer-altered", "Send each value as it was entered, and a default that nobody touched as it came."},
	causeRounded:    {"", "", "Keep the digits of a number as they are written."},
	causeUnwanted:   {"", "answer-content-unwanted", "Leave content out of a decline or a cancel."},
	causeUndeclared: {"", "answer-undeclared", "Refuse a mode that is not declared with error -32602."},
	causeWrongCode:  {"", "refused-undeclared", "Refuse a mode that is not declared with error -32602."},
}

// verdictOf returns the verdict for a rule that is broken: the one table of severities, for
// what the probe and what the linter finds.
func verdictOf(s lint.Severity) Verdict { return []Verdict{Fails, Partly, May}[s] }

// owners maps each rule of the linter to the probe that names what breaks it.
var owners = func() map[string]string {
	of := map[string]string{ // that probes do not look for themselves
		"state-elsewhere": "round-state", "input-unasked": "round-no-state", "input-duplicate": "round-keys", "answer-after-cancellation": "accept",
		"client-task-malformed": "task-question", "client-task-id-again": "task-question", "client-task-begins-otherwise": "task-question",
		"client-task-goes-back": "task-question", "client-related-task-missing": "task-question", "client-task-unasked": "task-undeclared",
		"answer-undeclared": "mode-undeclared", "refused-undeclared": "mode-undeclared", "answer-content-unwanted": "decline",
	}
	for _, c := range causes {
		if c.rule != "" && of[c.rule] == "" {
			of[c.rule] = c.owner
		}
	}
	for _, rule := range []string{"answer-invalid", "answer-unchecked", "answer-value-type"} {
		of[rule] = "accept"
	}
	of["input-missing"] = "round-keys"
	return of
}()

// changes says what to change for rules of the linter.
var changes = func() map[string]string {
	of := map[string]string{
		"meta-missing": "Put the revision and the capabilities into the _meta of each request.", "version-header-missing": "Send the header MCP-Protocol-Version with each request after the handshake.",
		"version-header-wrong": "Send the revision of the session, or of _meta, in MCP-Protocol-Version.", "standard-header-missing": "Send the headers Mcp-Method, and Mcp-Name for tools, prompts and resources.",
		"standard-header-wrong": "Repeat the method and the name of the message in Mcp-Method and Mcp-Name.", "initialized-missing": "Send notifications/initialized after the response to initialize.",
	}
	for _, c := range causes {
		if c.rule != "" {
			of[c.rule] = c.change
		}
	}
	return of
}()

// finding is the outcome of one run of a probe.
type finding struct {
	verdict Verdict
	how     string // a sentence; "" where the verdict says all
	cause   cause
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

func unseens() []Unseen { return []Unseen{NotCalled, NotDeclared, OtherAnswer, Follows, NoFrame} }

func works(how string) finding      { return finding{verdict: Works, how: how} }
func may(how string) finding        { return finding{verdict: May, how: how} }
func partly(how string) finding     { return finding{verdict: Partly, how: how} }
func fails(how string) finding      { return finding{verdict: Fails, how: how} }
func notSeen(how string) finding    { return finding{verdict: NotSeen, how: how, unseen: NoFrame} }
func undeclared(how string) finding { return finding{verdict: NotSeen, how: how, unseen: NotDeclared} }
func otherwise(how string) finding  { return finding{verdict: NotSeen, how: how, unseen: OtherAnswer} }

func (f finding) because(c cause) finding {
	f.cause = c
	return f
}

// in returns the finding with the verdict that the broken rule has in a revision.
func (f finding) in(revision string) finding {
	if source, ok := lint.RuleOf(causes[f.cause].rule).Sources[revision]; ok && (f.verdict == Fails || f.verdict == Partly) {
		f.verdict = verdictOf(source.Severity)
	}
	return f
}

// grave orders verdicts, the worst first.
func grave(v Verdict) int { return slices.Index(Verdicts(), v) }

// worst returns the gravest of the findings, the first of several.
func worst(list ...finding) finding {
	return slices.MinFunc(list, func(a, b finding) int { return cmp.Compare(grave(a.verdict), grave(b.verdict)) })
}
