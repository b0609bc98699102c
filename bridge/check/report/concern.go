package report

import "slices"

// Concern groups findings in summaries, which are in the order of [Concerns].
type Concern string

// Concerns lists the concerns, the gravest for people first.
func Concerns() []Concern {
	return []Concern{"consent", "crashes and hangs", "states", "unchecked content", "the rest"}
}

// concern is the concern of a rule, and who is harmed where a server breaks it, in a
// sentence.
type concern struct {
	place int // in Concerns
	harm  string
}

var concerns = map[string]concern{
	RuleConsent:        {0, "Whoever says no, or nothing at all, gets it done all the same."},
	RuleUnasked:        {0, "There are clients whose users are never asked, and it is done all the same."},
	RuleActsEarly:      {0, "By the time that the person reads the question it is done: a no comes too late."},
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

const (
	undeclared = "A client that has said that it does not offer this can only refuse, and the call fails."
	// wayward is who is harmed by other messages that break the protocol.
	wayward = "A client that keeps to the specification may refuse or misread the message."
)

// Concern returns what the finding is about.
func (f Finding) Concern() Concern {
	if c, ok := concerns[f.Rule]; ok {
		return Concerns()[c.place]
	}
	return Concerns()[len(Concerns())-1]
}

// Harm says in a sentence who is harmed and how.
func (f Finding) Harm() string {
	if c, ok := concerns[f.Rule]; ok {
		return c.harm
	}
	return wayward
}

// Before orders findings for people: by concern, and the severest first.
func (f Finding) Before(g Finding) int {
	place := func(f Finding) int { return slices.Index(Concerns(), f.Concern()) }
	if a, b := place(f), place(g); a != b {
		return a - b
	}
	return f.Verdict.Rank() - g.Verdict.Rank()
}

// Undecidable reports whether the trial is inconclusive by its nature: it was made as it
// was meant, and the frames cannot show whether the server did right.
func (r *Result) Undecidable() bool {
	return r.Verdict == Inconclusive && !slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.Rule == RuleNotTried })
}
