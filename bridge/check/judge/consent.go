package judge

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"sync"

	"elicitation-inspector/bridge/check/report"
	"elicitation-inspector/bridge/conversation"
	"elicitation-inspector/bridge/elicit"
	"elicitation-inspector/bridge/fault"
	"elicitation-inspector/bridge/mcp"
	"elicitation-inspector/bridge/rawjson"
)

// consent judges from all trials of a call in a revision whether the server acted though
// nobody agreed.
type consent struct {
	list []*Judgement
	// agreed holds the successful calls in which everything was accepted, and nothing was
	// denied in a form.
	agreed []Made
	// shows reports that the result of an accepted call has the accepted content.
	shows bool
	// independent reports that the result of an accepted call is the same whatever the
	// content is, so that only the action can decide.
	independent bool
	// denied is the trial that says no in the fields that ask for consent; nil if there is
	// none.
	denied *Judgement
}

func judgeConsent(list []*Judgement, steady bool) {
	c := &consent{list: list}
	c.learn()
	for _, j := range list {
		j.lacks = j.unconsented()
		if steady && j.lacks != nil && len(j.Calls) == 1 && len(c.agreed) > 0 {
			j.standing = c.standing(j)
		}
	}
	for _, j := range list {
		switch {
		case j.lacks == nil || len(j.Calls) == 0:
		case j.Effect.State == Changed && !j.agreedElsewhere():
			c.blame(j, "a witness saw that something was done: "+j.Effect.Text)
		case j.Effect.State == EffectUnknown && len(j.Calls) == 1:
			c.compare(j)
		}
	}
}

// Unasked judges a call that asked nothing by the trials of another revision, in which
// it asks.
func Unasked(j *Judgement, list []*Judgement) {
	if len(list) == 0 || len(j.Calls) != 1 || !j.Calls[0].succeeded() || len(j.Calls[0].Questions) > 0 ||
		j.says(report.RuleUnasked, report.Warn) || slices.ContainsFunc(list, (*Judgement).unsteady) {
		return
	}
	c := &consent{list: list}
	if c.learn(); len(c.agreed) == 0 {
		return
	}
	j.lacks = &lack{rule: report.RuleUnasked, did: "was not asked, as it is in " + list[0].Revision}
	j.standing = c.standing(j)
	c.compare(j)
}

// learn finds out from the honest calls what the result depends on.
func (c *consent) learn() {
	runs := slices.Clone(c.list[0].Honest)
	for _, j := range c.list {
		if (j.Behaviour == BehaviourOther || j.Behaviour == BehaviourDenied) && len(j.Calls) == 1 {
			runs = append(runs, j.Calls[0])
		}
		if j.Behaviour == BehaviourDenied && len(j.Calls) == 1 && slices.ContainsFunc(j.Calls[0].Questions, denies) {
			c.denied = j
		}
	}
	accepted := func(m Made) bool {
		return m.succeeded() && len(m.Questions) > 0 &&
			!slices.ContainsFunc(m.Questions, func(q *conversation.Question) bool { return q.Method == mcp.MethodElicit && q.Action != "accept" })
	}
	for _, m := range runs {
		if accepted(m) && !slices.ContainsFunc(m.Questions, denies) {
			c.agreed = append(c.agreed, m)
		}
	}
	if len(c.agreed) == 0 {
		c.agreed = slices.DeleteFunc(slices.Clone(c.list[0].Honest), func(m Made) bool { return !accepted(m) })
	}
	if len(c.agreed) == 0 {
		return
	}
	base := runs[0]
	varied := map[string]bool{}
	c.independent = true
	for _, m := range runs {
		all := changes(m.Questions, func(*conversation.Question, string, json.RawMessage) bool { return true })
		if sameAnswers(m, base) {
			continue
		}
		c.shows = c.shows || m.succeeded() && against(runs[:len(c.list[0].Honest)], m.Result, nil, all) == filled
		c.independent = c.independent && m.succeeded() && against(runs[:len(c.list[0].Honest)], m.Result, nil, unchanged) == same
		for _, d := range all(base) {
			varied[d.field] = true
		}
	}
	for i, q := range base.Questions {
		for name := range rawjson.Members(contentOf(q)) {
			c.independent = c.independent && varied[fmt.Sprint(i, name)]
		}
	}
}

// unchanged says that a trial sent what honest calls sent.
func unchanged(Made) []change { return nil }

// denies reports whether the content of an answer says no in a field that asks for
// consent.
func denies(q *conversation.Question) bool {
	return slices.ContainsFunc(fieldsOf(q), func(f elicit.Field) bool {
		no, said := ConsentIn(f, false), rawjson.Member(contentOf(q), f.Name)
		return no != nil && said != nil && rawjson.Same(no, said)
	})
}

// lack describes a trial in which nobody agreed.
type lack struct {
	rule  string
	did   string                 // what the client did, for use after "the client"
	about *conversation.Question // the question that was not agreed to; nil for all
}

// unconsented describes why nobody agreed in the trial; nil if somebody did.
func (j *Judgement) unconsented() *lack {
	deed := j.deed()
	if len(j.Calls) == 0 || j.needsDeed() && deed == nil {
		return nil
	}
	out := &lack{rule: report.RuleConsent, about: deed}
	f, _ := fault.Find(j.Behaviour) // the zero Fault for the other behaviours
	switch {
	case j.Behaviour == BehaviourDenied && slices.ContainsFunc(j.Calls[0].Questions, denies):
		out.did = "accepted with a no in the form"
	case j.declaresLess() && len(j.Calls[0].Questions) == 0:
		out.rule, out.did = report.RuleUnasked, "has not declared that it can be asked"
	case j.Behaviour == "answer-withdrawn" && j.Calls[0].TimedOut:
		return nil
	case j.traits.Did != "":
		out.did = j.traits.Did
	case deed == nil:
		return nil
	case f.Group == fault.Error:
		out.did = fmt.Sprintf("answered with the error %s", rawjson.Member(deed.Error, "code"))
	case f.Name == "unknown-action":
		out.did = fmt.Sprintf("answered with the action %q", deed.Action)
	case f.Group == fault.Time && (deed.AnswerSeq == 0 || deed.AnswerSeq > j.Calls[0].ResultSeq):
		out.did = "had not answered"
	case isContentFault(f.Name) && withoutYes(deed):
		out.did = "accepted with content in which the yes is missing or broken"
	default:
		return nil
	}
	return out
}

// withoutYes reports whether a field that asks for consent has no valid value in the
// answer. Without a field that may be left out, the action alone is the consent.
func withoutYes(q *conversation.Question) bool {
	return slices.ContainsFunc(fieldsOf(q), func(f elicit.Field) bool {
		value := rawjson.Member(contentOf(q), f.Name)
		if value == nil {
			return f.Required && ConsentIn(f, true) != nil
		}
		return ConsentIn(f, true) != nil && f.Refuses(value)
	})
}

// agreedElsewhere reports whether the client agreed to another question of the trial, so
// that an effect may be due to that.
func (j *Judgement) agreedElsewhere() bool {
	return slices.ContainsFunc(j.Calls, func(m Made) bool {
		return slices.ContainsFunc(m.Questions, func(q *conversation.Question) bool {
			return q != j.lacks.about && q.Action == "accept" && !denies(q)
		})
	})
}

// standing compares the result of a trial with the results of accepted calls.
func (c *consent) standing(j *Judgement) standing {
	m := j.Calls[0]
	switch {
	case m.responded() && !m.succeeded(), (j.lacks.about != nil || j.Behaviour == BehaviourDenied) && j.askedAgain():
		return refused
	case !m.succeeded():
		return unknown
	case j.Behaviour == BehaviourDenied:
		return against(c.agreed, m.Result, nil, unchanged)
	}
	return against(c.agreed, m.Result, undefined, changes(m.Questions, func(q *conversation.Question, field string, value json.RawMessage) bool {
		about := j.lacks.about == nil || q == j.lacks.about
		return about && (!isContentFault(j.Behaviour) || value == nil || field == j.Field) // the other fields are as in accepted calls
	}))
}

// refuses reports whether the server refused in a trial about the same question. A failure
// counts only if a second refusal fails, too: one alone can be chance.
func (c *consent) refuses(j *Judgement, behaviours ...string) bool {
	tried, failed := 0, 0
	for _, other := range c.list {
		if (j.Question == 0 || other.Question == j.Question) && other.traits.Refuses != "" {
			tried++
			if other.standing == refused {
				failed++
			}
		}
	}
	return j.any(c.list, behaviours, func(other *Judgement) bool { return other.differsFrom(j) }) || (failed > 1 || tried == 1) && j.stands(c.list, behaviours, refused)
}

// differsFrom reports whether the result differs from those of accepted calls and from that
// of another trial: the questions of a call can come in another order each time, and then
// the same result compares in another way.
func (j *Judgement) differsFrom(other *Judgement) bool {
	return j.standing == different && !rawjson.Same(j.Calls[0].Result, other.Calls[0].Result)
}

func (c *consent) compare(j *Judgement) {
	m, q := j.Calls[0], j.lacks.about
	sent := contentOf(q)
	switch {
	case j.standing == filled && isContentFault(j.Behaviour), j.standing == filled && j.lacks.rule == report.RuleUnasked:
		return // it is judged as content
	case j.standing == filled && sent == nil:
		c.blame(j, "the result is that of an accepted call with nothing in place of what was accepted: "+quoteResult(m))
		return
	case j.standing == filled && (c.shows || slices.ContainsFunc(valuesOf(sent), isDistinct)):
		c.blame(j, "the result is that of an accepted call with the content that came without an acceptance: "+quoteResult(m))
		return
	case j.standing == same || j.standing == filled:
	case j.traits.Content == Unaccepted && m.succeeded():
		if name := mentioned(m, q); name != "" {
			j.find(report.RuleConsent, report.Inconclusive, fmt.Sprintf("The client %s, and the result mentions the value of %q that came with it. The wire does not show whether it was used or only repeated.", j.lacks.did, name), q.AskedSeq, q.AnswerSeq, m.ResultSeq)
		}
		return
	default:
		return
	}
	what := "the result is that of an accepted call: " + quoteResult(m)
	if after := c.otherwise(j); after != "" {
		c.blame(j, what+". After "+after+" it is another one")
		return
	}
	if j.lacks.rule != report.RuleConsent || isContentFault(j.Behaviour) || j.Behaviour == BehaviourDenied {
		return
	}
	why := "No refusal gets another result, so that the wire does not show whether anything was done"
	if !c.independent {
		why = "It may be what the server does by default, and the wire does not show whether more was done"
	}
	j.find(report.RuleConsent, report.Inconclusive, fmt.Sprintf("The client %s, and %s. %s. What would decide it is a witness: something that shows the effects of the call (--witness).", j.lacks.did, what, why), j.frames()...)
}

// otherwise names the refusal whose result proves that the accepted result of this trial
// is one of acting; "" if there is none.
func (c *consent) otherwise(j *Judgement) string {
	decline, cancel := []string{BehaviourDecline, "decline-with-content"}, []string{BehaviourCancel, "cancel-with-content"}
	requiresNothing := func() bool { return len(fieldsOf(j.lacks.about)) > 0 && len(requiredOf(j.lacks.about)) == 0 }
	deniedElse := c.denied != nil && c.denied != j && (c.denied.standing == refused || c.denied.differsFrom(j))
	switch {
	case j.Behaviour == "cancel-then-accept" && !j.stands(c.list, []string{BehaviourCancel}, same, filled):
		return "" // the second answer may be taken for a change of mind
	case deniedElse:
		return "a no in the form"
	case isContentFault(j.Behaviour):
		return ""
	case j.Behaviour == "decline-with-content" && c.refuses(j, BehaviourDecline), !j.declines() && j.lacks.rule != report.RuleUnasked && c.refuses(j, decline...):
		return "a decline"
	case j.Behaviour == "cancel-with-content" && c.refuses(j, BehaviourCancel):
		return "a cancel"
	case !c.independent || j.declines() && requiresNothing(): // a decline may mean the defaults
		return ""
	case !j.declines() && c.refuses(j, decline...):
		return "a decline"
	case j.traits.Refuses != "cancel" && c.refuses(j, cancel...):
		return "a cancel"
	}
	return ""
}

// blame adds the finding that the server acted.
func (c *consent) blame(j *Judgement, why string) {
	j.Findings = slices.DeleteFunc(j.Findings, func(f report.Finding) bool { return f.Rule == report.RuleInvalidContent })
	start := "Nobody agreed, and the server went on: the client "
	j.find(j.lacks.rule, report.Fail, start+j.lacks.did+", and "+why+".", j.frames()...)
}

// frames lists the frames of the question that nobody agreed to, and of the result.
func (j *Judgement) frames() []int64 {
	m := j.Calls[0]
	if q := j.lacks.about; q != nil {
		return append(j.exchange(q), m.ResultSeq)
	}
	return []int64{m.Began(), m.lastAnswer(), m.ResultSeq}
}

func valuesOf(object json.RawMessage) (list []json.RawMessage) {
	for _, value := range rawjson.Members(object) {
		list = append(list, value)
	}
	return list
}

// Words of fields that ask for consent, and of choices that give it or deny it.
var (
	asksConsent   = wordsOf("confirm|confirms|confirmed|confirmation|sure|proceed|approve|approved|approval|agree|agreed|agreement|consent|consents|accept|accepted|allow|allowed|authorize|authorise|authorized|authorised|permit|yes|ok|okay|acknowledge|acknowledged|understood|go_ahead")
	givesConsent  = wordsOf("yes|y|ok|okay|true|confirm|confirmed|proceed|continue|approve|approved|agree|accept|allow")
	deniesConsent = wordsOf("no|n|false|cancel|abort|stop|deny|denied|decline|reject|refuse|disagree")
)

func wordsOf(list string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)^(?:` + list + `)$`) })
}

// ConsentIn returns the value of a field that says yes, or no, to what the call asks for.
// It is nil if the field does not ask for consent.
func ConsentIn(f elicit.Field, yes bool) json.RawMessage {
	asks := slices.ContainsFunc(append(nameWords(f.Name), nameWords(f.Label)...), asksConsent().MatchString)
	switch {
	case f.Kind == elicit.Boolean && asks:
		return json.RawMessage(strconv.FormatBool(yes))
	case f.Kind != elicit.SingleChoice:
		return nil
	}
	var gives, denies json.RawMessage
	for _, c := range f.Choices {
		switch {
		case gives == nil && givesConsent().MatchString(c.Value):
			gives = rawjson.Quoted(c.Value)
		case denies == nil && deniesConsent().MatchString(c.Value):
			denies = rawjson.Quoted(c.Value)
		}
	}
	switch {
	case gives == nil || denies == nil:
		return nil
	case yes:
		return gives
	}
	return denies
}

// nameWord matches a word of a name in camel case, snake case or with spaces.
var nameWord = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\p{Lu}?\p{Ll}+|\p{Lu}+|\pN+`) })

func nameWords(name string) []string { return nameWord().FindAllString(name, -1) }
