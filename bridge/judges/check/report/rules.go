package report

import (
	"cmp"
	"slices"
	"strings"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/meaning/lint"
)

// Rule is a rule of the check. The linter has further ones.
type Rule struct {
	ID       string // ID of the rule, which never changes
	Breaks   string // what breaks the rule
	Evidence string // which frames prove it
	Unclear  string // when the verdict is at most Inconclusive
	// Sources holds the section of the specification that the rule is based on, by
	// revision. Without an entry, or with one that is only advice, the rule gives at most
	// Inconclusive.
	Sources lint.Sources
}

// The pages of the specification that rules cite.
const (
	pageBasic        = "basic"
	pageElicitation  = "client/elicitation"
	pageRoundTrips   = "basic/patterns/mrtr"
	pageStdio        = "basic/transports/stdio"
	pageCancellation = "basic/utilities/cancellation"
	pageTools        = "server/tools"
	roundTripsServer = "Server Requirements (Basic Workflow)"
)

func must(page, section string) lint.Source   { return lint.Violation.At(page, section) }
func should(page, section string) lint.Source { return lint.Should.At(page, section) }
func advice(page, section string) lint.Source { return lint.Advice.At(page, section) }

// The ids of the rules.
const (
	RuleAfterCancel    = "acts-after-cancel"
	RuleNotTried       = "not-tried"
	RuleNoResponse     = "no-response"
	RuleProcessEnded   = "process-ended"
	RuleUnusable       = "unusable"
	RuleRefusesAfter   = "refuses-afterwards"
	RuleOutlives       = "outlives-connection"
	RuleConsent        = "acts-without-consent"
	RuleUnasked        = "goes-on-unasked"
	RuleInvalidContent = "uses-invalid-content"
	RuleLeaks          = "leaks-internals"
	RuleForgedState    = "forged-state"
	RuleForeignState   = "foreign-state"
	RuleAsksForEver    = "asks-for-ever"
	RuleCrossed        = "crossed-answers"
	RuleActsEarly      = "acts-before-answer"
	RuleActsTwice      = "acts-twice"
	RuleMissingKey     = "fails-on-missing-answer"
	RuleCapability     = "capability-error-missing"
)

// replies is the source of the rules that require a response: messages follow JSON-RPC
// 2.0, whose section 5 says that a server must reply.
var replies = lint.Always(must(pageBasic, "Messages"))

var rules = []Rule{
	{
		ID:     RuleConsent,
		Breaks: "a server that acts though nobody agreed: after a decline, a cancel, an error, an invalid result, no answer, an answer after the call was over, or content that says no or has no valid yes",
		Evidence: "a witness saw an effect, or the server's own spans say that one began (--otlp-listen); or the result is that of an accepted call, with the content of the refusal, or with undefined, <nil> or the like in place of the accepted content; " +
			"or the result is word for word that of an accepted call, and a decline, a cancel, or a no in the form led to another one",
		Unclear: "all refusals read like an acceptance, and no witness looked (--witness; after a decline of a question that required something it is a warn); or the result after a decline may be what the server does by default, since it has the accepted content, or the form requires nothing; " +
			"or a false, or another choice, changes nothing, and no word says what it means; or the result differs from the accepted one in numbers alone; or it mentions a refused value in other words; or honest calls differ from each other",
		Sources: lint.Always(must(pageElicitation, "Response Actions")).In(mcp.Revision20260728, must(pageElicitation, "Error Handling")),
	},
	{
		ID:       RuleUnasked,
		Breaks:   "a server that acts without asking, where it otherwise asks first: for a client that cannot be asked, in another session, after a refusal, or in another revision",
		Evidence: "a witness saw an effect; or nothing was asked, and the result is that of an accepted call word for word, whatever its content is, and after a decline or a cancel it is another one",
		Unclear:  "the result depends on the content, so that it may be what the server does by default",
		Sources:  lint.Always(should(pageElicitation, "Response Actions")).In(mcp.Revision20260728, should(pageElicitation, "Error Handling")),
	},
	{
		ID:       RuleAfterCancel,
		Breaks:   "an accept that comes when the question is over, after a cancel or the end of its call, taken for consent",
		Evidence: "a witness saw an effect; or the result is that of an accepted call, and after a cancel alone it is another one",
		Unclear:  "the result does not show it",
		Sources:  lint.Always(should(pageCancellation, "Behavior Requirements")).In(mcp.Revision20260728, should("basic/patterns/cancellation", "Behavior Requirements")),
	},
	{
		ID:       RuleNotTried,
		Breaks:   "nothing: the client could not act as the trial wanted",
		Evidence: "there was no session, the question did not come, the answer does not fit it, the questions of several calls did not wait at the same time, or a message of the server is over a limit of the inspector",
		Unclear:  "always",
	},
	{
		ID:       RuleNoResponse,
		Breaks:   "a call that gets no response, though its questions are answered",
		Evidence: "the call, the answer, and nothing from the server within the limit; or an HTTP stream that ends, or a status from 500 on, in place of the response",
		Unclear:  "the answer never came, came late or could not be told from garbage, so that waiting on is right; a URL was accepted that nobody opens; a message of the client did not get through; the server still reported progress, or answered round after round with more questions",
		Sources:  replies,
	},
	{
		ID:       RuleProcessEnded,
		Breaks:   "a process or connection that the server ends, though nobody asked for it, with a call unanswered or by a crash",
		Evidence: "the note about the end, the act before it, and the last words on standard error",
		Unclear:  "the call was answered and the process left in order, which it may; or what it got was not a message of the protocol, and it left without a crash",
		Sources:  replies,
	},
	{
		ID:       RuleUnusable,
		Breaks:   "a server that leaves the next call, with honest answers, without a response",
		Evidence: "the call after the trial's own, in the same session",
		Unclear:  "the second call of a session goes unanswered with honest answers, too; or the question of the first one is still open",
		Sources:  replies,
	},
	{
		ID:       RuleRefusesAfter,
		Breaks:   "a server whose next call, with honest answers, fails because of the one before",
		Evidence: "a JSON-RPC error or isError, twice in a row, where the second call of a session has a result if the first was answered honestly, and after three quarters of the other trials",
		Unclear:  "it fails only once, or after many trials, and so perhaps by chance; the first was declined, which a server may remember, and nothing says that the second failed by an internal error; what a second call gets after an honest first one differs or is not known; the question of the first one is still open",
		Sources:  lint.Always(should(pageElicitation, "Response Actions")).In(mcp.Revision20260728, should(pageBasic, "Statelessness")),
	},
	{
		ID:       RuleOutlives,
		Breaks:   "a process that goes on after its standard input was closed, until it is ended",
		Evidence: "the note that it still runs",
		Unclear:  "before 2026-07-28 the text leaves it to the client to end the process",
		Sources:  lint.SinceJuly(should(pageStdio, "Shutdown")),
	},
	{
		ID:       RuleInvalidContent,
		Breaks:   "content that breaks its own schema, used as if it did not",
		Evidence: "the result is that of an honest call, with the invalid value in place of the valid one, without isError and without the question asked again; or it is that of an honest call word for word, though other content of which a field breaks the schema of the same question is refused; or it has what the call before was answered with, where this one was accepted without content",
		Unclear:  "the result is that of an honest call word for word, and no content is refused: the value may have been replaced by a default, or never been looked at; the content was left out or null, and the form requires nothing",
		Sources:  lint.Always(should(pageElicitation, "Form Mode Security")).In(mcp.Revision20250618, should(pageElicitation, "Security Considerations")),
	},
	{
		ID:       RuleLeaks,
		Breaks:   "a stack trace, or a runtime's own words for a fault in the program, in what comes back from a tool",
		Evidence: "the words, in the response; what honest results contain, what was sent, and standard error do not count",
		Unclear:  "the response is a prompt's or a resource's, of which the text does not say so; or it is not an error, and the tool's name or a question speaks of logs or errors",
		Sources:  lint.Always(must(pageTools, "Security Considerations")),
	},
	{
		ID:       RuleForgedState,
		Breaks:   "a requestState that is not the server's own, or none, taken for the right one",
		Evidence: "the result has what the client put into the state; or it is that of an honest call with something else in place of the answer to an earlier round, which only the state can hold; or it has that answer from a wrong state, and without any state it has not",
		Unclear:  "nothing shows that the state matters: where tampering can cause nothing worse than a failure, it needs no protection",
		Sources:  lint.SinceJuly(must(pageRoundTrips, roundTripsServer)),
	},
	{
		ID:       RuleForeignState,
		Breaks:   "a requestState that belongs to another tool or to other arguments, taken for the right one",
		Evidence: "the other tool's result shows the answer to a question that this tool asked, or the other tool answers without its own question, which it asks with a state of its own where nobody sends this one; or the result is that of an honest call and has its arguments, though the requestState was given out for other ones, and that call was declined",
		Unclear:  "the result does not show it",
		Sources:  lint.SinceJuly(should(pageRoundTrips, roundTripsServer)),
	},
	{
		ID:       RuleAsksForEver,
		Breaks:   "the same question again, however often it is refused",
		Evidence: "twenty refusals of the same question in one call",
		Unclear:  "since 2026-07-28 a server may ask until it has what it needs",
		Sources: lint.Always(should(pageElicitation, "Response Actions")).
			In(mcp.Revision20260728, advice(pageRoundTrips, roundTripsServer)),
	},
	{
		ID:       RuleCrossed,
		Breaks:   "calls at the same time that get each other's answers",
		Evidence: "a call's result is that of an honest call with the content of another call in it; or it is that of honest calls word for word, with the mail address that the check had made up for them, where this call sent another one, and nothing else in the call has that address; or, where the wire does not tell whose question it was, two results have the same content and one content is lost",
		Unclear:  "the answers could not differ, or the results do not show them",
		Sources: lint.Always(must(pageBasic, "Result Responses")).In(mcp.Revision20250618, must(pageBasic, "Responses")).
			In(mcp.Revision20260728, must(pageBasic, "Statelessness")),
	},
	{
		ID:       RuleActsEarly,
		Breaks:   "what a question asks about, done before the question is answered",
		Evidence: "a witness that sees what accepted calls do says something else while the first question of the call waits than before the call; or the server's own spans say so (--otlp-listen)",
		Unclear:  "never; without a witness or spans it is not looked at",
		Sources:  lint.Always(must(pageElicitation, "Response Actions")),
	},
	{
		ID:       RuleActsTwice,
		Breaks:   "what was agreed to once, done twice",
		Evidence: "an answer that is sent twice changes what a witness says by twice as much as two accepted calls did before it, each by the same; or so do two calls, the second of which sends the requestState of the first (a warn); or the server's own spans say so of an answer that is sent twice",
		Unclear:  "never; without a witness or spans it is not looked at",
		Sources:  lint.Always(must(pageElicitation, "Response Actions")),
	},
	{
		ID:       RuleMissingKey,
		Breaks:   "an error in place of the question again, for a round without the answer to it",
		Evidence: "the call came back without the answer, and ended with a JSON-RPC error or isError",
		Unclear:  "never; where honest calls fail, too, nothing is said",
		Sources:  lint.SinceJuly(should(pageRoundTrips, "Error Handling")),
	},
	{
		ID:       RuleCapability,
		Breaks:   "a call that fails for want of a capability, with another error than -32021",
		Evidence: "the client has not declared what honest calls are asked with, nothing was asked, and the call failed with a JSON-RPC error or isError",
		Unclear:  "never; where honest calls fail, too, nothing is said",
		Sources:  lint.SinceJuly(must(pageBasic, "_meta")),
	},
}

// RuleOf returns the rule of the check with an ID; the zero Rule for none.
func RuleOf(id string) Rule {
	for _, r := range rules {
		if r.ID == id {
			return r
		}
	}
	return Rule{}
}

// Rules lists the rules of the check in the order in which they are documented, without
// those of the linter.
func Rules() []Rule { return slices.Clone(rules) }

// Verdict returns the most severe verdict that the rule can give in a revision, and the
// reference to its source; "" if it has no source.
func (r Rule) Verdict(revision string) (v Verdict, reference string) {
	source, ok := r.Sources[revision]
	if v = VerdictOf(source.Severity); !ok || v == Inconclusive {
		return Inconclusive, ""
	}
	return v, source.Reference(revision)
}

// VerdictOf returns the verdict for breaking a rule of this severity.
func VerdictOf(s lint.Severity) Verdict {
	return cmp.Or(map[lint.Severity]Verdict{lint.Violation: Fail, lint.Should: Warn}[s], Inconclusive)
}

// Concern groups findings in summaries, which are in the order of [Concerns].
type Concern string

// Concerns lists the concerns, the gravest for people first.
func Concerns() []Concern {
	return []Concern{"consent", "crashes and hangs", "states", "unchecked content", "the rest"}
}

// concern is the concern of a rule, and who is harmed where a server breaks it, in a
// sentence.
type concern struct {
	place int    // in Concerns
	harm  string // {it} stands for the call
}

var concerns = map[string]concern{
	RuleConsent:        {0, "Whoever says no, or nothing at all, gets {it} done all the same."},
	RuleUnasked:        {0, "There are clients whose users are never asked, and {it} is done all the same."},
	RuleAfterCancel:    {0, "What the person has called off is done all the same, when an answer comes late."},
	RuleActsEarly:      {0, "By the time that the person reads the question {it} is done: a no comes too late."},
	RuleActsTwice:      {0, "One consent is used twice: it is paid, ordered or deleted two times."},
	RuleCrossed:        {0, "What one person answers is taken for the answer of another."},
	RuleNoResponse:     {1, "Whoever waits for the result waits for ever: the call never ends."},
	RuleProcessEnded:   {1, "One answer ends the server, and with it the calls of everybody who uses it."},
	RuleUnusable:       {1, "After one such answer the session is lost: later calls hang, whoever makes them."},
	RuleRefusesAfter:   {1, "After one such answer honest calls fail, until the person connects again."},
	RuleOutlives:       {1, "A process stays behind on the person's machine when the client has gone."},
	RuleForgedState:    {2, "Whoever can change the state can put in answers that nobody has given."},
	RuleForeignState:   {2, "What was answered to one tool can be carried over to another."},
	RuleInvalidContent: {3, "What the form forbids gets through, and the server works with values that it has not checked."},
	RuleMissingKey:     {3, "One answer that is lost ends the call, and the person is not asked again."},
	RuleCapability:     {3, "The client does not learn which capability is missing, and cannot say so."},
	RuleLeaks:          {4, "Strangers read about the inside of the server."},
	RuleAsksForEver:    {4, "The person cannot get out: the same question comes back after every refusal."},

	// Rules of the linter
	"secret-in-form":      {4, "The secret passes through the client, where others can read it: its screen, its logs, its language model."},
	"mode-undeclared":     {4, "A client that cannot ask in this way can only refuse, and its user does not learn what was asked."},
	"sampling-undeclared": {4, undeclared},
	"roots-undeclared":    {4, undeclared},
	"newer-than-revision": {4, "A client of that revision may not be able to draw the form, so that its user cannot answer."},
	"ping-unanswered":     {4, "A client that watches the connection takes the server for dead, and ends it while its user still reads."},
}

const undeclared = "A client that has said that it does not offer this can only refuse, and the call fails."

// Concern returns what the finding is about.
func (f Finding) Concern() Concern {
	return Concerns()[concernOf(f.Rule).place]
}

// Harm says in a sentence who is harmed and how.
func (f Finding) Harm() string { return f.harmBy("it") }

func (f Finding) harmBy(call string) string {
	return strings.ReplaceAll(concernOf(f.Rule).harm, "{it}", call)
}

// Harm is Finding.Harm in the words of the call that it is about.
func (t *Told) Harm() string { return t.harmBy(t.Call.Key) }

// Harm is Finding.Harm, in the words of the call if it is about one alone.
func (c Cause) Harm() string {
	if len(c.Told) == 1 {
		return c.Told[0].Harm()
	}
	return c.Finding.Harm()
}

func concernOf(rule string) concern {
	return cmp.Or(concerns[rule], concern{len(Concerns()) - 1, "A client that keeps to the specification may refuse or misread the message."})
}

// Before orders findings for people: by concern, and the severest first.
func (f Finding) Before(g Finding) int {
	return cmp.Or(concernOf(f.Rule).place-concernOf(g.Rule).place, f.Verdict.Rank()-g.Verdict.Rank())
}
