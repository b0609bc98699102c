package judge

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"sync"

	"elicitation-inspector/bridge/base/alike"
	"elicitation-inspector/bridge/base/lazy"
	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/judges/check/report"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/meaning/elicit"
	"elicitation-inspector/bridge/meaning/fault"
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
	// matters says for each question, by its place, how its content shows in the result.
	matters []matter
	// denied is the trial that says no in the fields that ask for consent; nil if there is
	// none.
	denied *Judgement
}

// matter says how the content of a question's answer shows in the result of an accepted call.
type matter int

const (
	untold  matter = iota // nobody knows: not all of its fields were answered differently
	nothing               // the result is the same whatever the content is, so that only the action can decide
	shown                 // the result has the content
	decides               // other content leads to another result
)

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
		case len(j.Calls) != 1 && (j.lacks == nil || len(j.Calls) == 0 || j.Effect.State != Changed):
		case j.lacks == nil:
			c.silently(j)
		case j.Effect.State == Changed && !j.agreedElsewhere() && !j.lacks.doubtful:
			c.blame(j, "a witness saw that something was done: "+j.Effect.Text)
		case (j.Effect.State == EffectUnknown || j.lacks.doubtful && j.Effect.State == Changed) && len(j.Calls) == 1:
			c.compare(j)
		}
		if j.lacks != nil && len(j.Calls) == 1 {
			c.afterwards(j)
			j.unjudged(j.lacks.rule, len(c.agreed) > 0, steady)
		} else if isContentFault(j.Behaviour) && len(j.Calls) == 1 {
			j.unjudged(report.RuleInvalidContent, len(c.agreed) > 0, steady)
		}
	}
}

// unjudged says of a result that nothing could be compared with that nothing was judged.
func (j *Judgement) unjudged(rule string, agreed, steady bool) {
	says := slices.ContainsFunc(j.Findings, func(f report.Finding) bool { return f.Rule == rule || f.Verdict == report.Fail })
	if agreed && steady || says || j.Effect.State == Unchanged || !j.Calls[0].succeeded() || j.askedAgain() {
		return
	}
	why := "no call that was accepted has a result to compare it with"
	if agreed {
		why = "accepted calls differ from each other in more than times and numbers"
	}
	j.find(rule, report.Inconclusive, "The call has a result, and "+why+". A witness sees what the call does (--witness).", j.Calls[0].Began(), j.Calls[0].lastAnswer(), j.Calls[0].ResultSeq)
}

// silently judges a trial in which the server asked nothing, though it asks in other sessions.
func (c *consent) silently(j *Judgement) {
	m := j.Calls[0]
	if j.Behaviour == BehaviourRemembered { // it may remember the acceptance of the call before
		return
	}
	if len(m.Questions) > 0 || !j.says(report.RuleNotTried, report.Inconclusive) || !c.likeAgreed(j, m) {
		return
	}
	j.find(report.RuleUnasked, report.Fail, "In this session the call asked nothing, as it does in others, and the result is that of an accepted call: "+quoteResult(m), m.Began(), m.ResultSeq)
}

// afterwards judges a next call that asks nothing after a refusal, and does what was refused.
func (c *consent) afterwards(j *Judgement) {
	refusal := j.traits.Refuses != "" && j.lacks.rule == report.RuleConsent || j.Behaviour == BehaviourDeclineAlways
	if !refusal || j.After == nil || len(j.After.Questions) > 0 || j.standing != different && j.standing != refused || j.agreedElsewhere() || !c.likeAgreed(j, *j.After) {
		return
	}
	j.find(report.RuleUnasked, report.Fail, "The client "+j.lacks.did+", the next call in the session asked nothing, and its result is that of an accepted call: "+quoteResult(*j.After),
		append(j.frames(), j.After.Began(), j.After.ResultSeq)...)
}

// likeAgreed reports whether a call that asks nothing has the result of an accepted one, which
// cannot be what the server remembers of an answer: its questions are of yes or no.
func (c *consent) likeAgreed(j *Judgement, m Made) bool {
	asks := slices.DeleteFunc(slices.Clone(c.agreed), func(a Made) bool { return len(a.Questions) == 0 })
	if !m.succeeded() || len(asks) == 0 || slices.ContainsFunc(c.list, (*Judgement).unsteady) || j.against(asks, m.Result, nil, unchanged) != same {
		return false
	}
	for _, q := range asks[0].Questions {
		fields := fieldsOf(q)
		plain := func(f elicit.Field) bool { return f.Kind == elicit.Boolean || ConsentIn(f, true) != nil }
		if q.URL() != "" || len(fields) > 0 && (len(requiredOf(q)) == 0 || slices.ContainsFunc(fields, func(f elicit.Field) bool { return f.Required && !plain(f) })) {
			return false
		}
	}
	return true
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
	honest := slices.DeleteFunc(slices.Clone(c.list[0].Honest), func(m Made) bool {
		return !m.succeeded() || len(m.Questions) == 0 ||
			slices.ContainsFunc(m.Questions, func(q *conversation.Question) bool { return q.Method == mcp.MethodElicit && q.Action != "accept" })
	})
	if len(honest) == 0 {
		return
	}
	base := honest[0]
	compare := func(m Made, answers []*conversation.Question) standing {
		return c.list[0].against(honest, m.Result, nil, changes(answers, func(*conversation.Question, string, json.RawMessage) bool { return true }))
	}
	c.agreed = slices.DeleteFunc(slices.Clone(honest), func(m Made) bool { return slices.ContainsFunc(m.Questions, denies) })
	saysNo := len(c.agreed) == 0 // honest answers are those of defaults, or of the user
	for _, m := range runs {
		if like := compare(m, m.Questions); m.succeeded() && !sameAnswers(m, base) && len(m.Questions) == len(base.Questions) {
			c.shows = c.shows || like == filled
			if (like >= same || saysNo) && !slices.ContainsFunc(m.Questions, denies) {
				c.agreed = append(c.agreed, m)
			}
		}
	}
	if len(c.agreed) == 0 {
		c.agreed = honest
	}
	c.matters = make([]matter, len(base.Questions))
	for place, q := range base.Questions {
		varied, most := map[string]bool{}, nothing
		for _, m := range runs {
			if sameAnswers(m, base) || place >= len(m.Questions) || rawjson.Same(contentOf(q), contentOf(m.Questions[place])) {
				continue
			}
			for name, value := range rawjson.Members(contentOf(q)) {
				varied[name] = varied[name] || !rawjson.Same(value, rawjson.Member(contentOf(m.Questions[place]), name))
			}
			others := slices.Clone(m.Questions)
			others[place] = nil
			switch {
			case m.succeeded() && compare(m, others) >= same:
			case m.succeeded() && compare(m, m.Questions) == filled:
				most = max(most, shown)
			default:
				most = decides
			}
		}
		for _, f := range fieldsOf(q) {
			if fixed := len(f.Choices) == 1; most == nothing && !fixed && !varied[f.Name] && rawjson.Member(contentOf(q), f.Name) != nil {
				most = untold
			}
		}
		c.matters[place] = most
	}
}

// matter says how the content of the question under trial shows; of all questions the most.
func (c *consent) matter(j *Judgement) matter {
	if j.lacks.about != nil {
		if place := slices.Index(j.Calls[0].Questions, j.lacks.about); place >= 0 && place < len(c.matters) {
			return c.matters[place]
		}
		return untold
	}
	if len(c.matters) == 0 || slices.Contains(c.matters, untold) {
		return untold
	}
	return slices.Max(c.matters)
}

// unchanged says that a trial sent what honest calls sent.
func unchanged(Made) []alike.Change { return nil }

// denies reports whether the content of an answer says no in a field that asks for
// consent.
func denies(q *conversation.Question) bool {
	return slices.ContainsFunc(fieldsOf(q), func(f elicit.Field) bool {
		no, said := ConsentIn(f, false), rawjson.Member(contentOf(q), f.Name)
		return no != nil && said != nil && rawjson.Same(no, said)
	})
}

// deniesAll reports whether an answer says no to all that its form requires, or asks: then it
// is no consent, whatever the words of the form mean.
func deniesAll(q *conversation.Question) bool {
	fields := fieldsOf(q)
	return slices.ContainsFunc(fields, func(f elicit.Field) bool {
		no := ConsentIn(f, false)
		return no != nil && rawjson.Same(no, rawjson.Member(contentOf(q), f.Name)) && (f.Required || len(fields) == 1)
	})
}

// lack describes a trial in which nobody agreed.
type lack struct {
	rule  string
	did   string                 // what the client did, for use after "the client"
	about *conversation.Question // the question that was not agreed to; nil for all
	// doubtful reports that nobody knows whether the answer says no: a false or another choice
	// in a field whose words are not known to ask for consent.
	doubtful bool
}

// unconsented describes why nobody agreed in the trial; nil if somebody did.
//
// A server that deletes files asks first. The trial declines, and the server says "Deleted 3
// files." all the same: that is the fault which matters most, and it shows in two ways only. A
// witness sees the files gone; without one, the result is the same as after an honest answer,
// and not as after other answers. For both one must know that nobody agreed, which is plain
// for a decline, and a guess where somebody accepted with a false in a field.
func (j *Judgement) unconsented() *lack {
	onTrial := j.questionOnTrial()
	if len(j.Calls) == 0 || j.isAboutOneAnswer() && onTrial == nil {
		return nil
	}
	out := &lack{rule: report.RuleConsent, about: onTrial}
	f, _ := fault.Find(j.Behaviour) // the zero Fault for the other behaviours
	switch {
	case j.Behaviour == BehaviourDenied && slices.ContainsFunc(j.Calls[0].Questions, denies):
		out.did, out.doubtful = "accepted with a no in the form", !slices.ContainsFunc(j.Calls[0].Questions, deniesAll)
	case j.Behaviour == BehaviourDenied || j.Behaviour == BehaviourOther:
		if out.did, out.doubtful = j.otherwiseSaid(), true; out.did == "" {
			return nil
		}
	case slices.Contains([]string{"cancel-then-accept", "response-after-cancel", "answer-withdrawn"}, j.Behaviour) && onTrial != nil && !(j.Behaviour == "answer-withdrawn" && j.Calls[0].TimedOut):
		out.rule, out.did = report.RuleAfterCancel, j.traits.Did
	case j.declaresLess() && len(j.Calls[0].Questions) == 0:
		out.rule, out.did = report.RuleUnasked, "has not declared that it can be asked"
	case j.Behaviour == "answer-withdrawn" && j.Calls[0].TimedOut:
		return nil
	case j.traits.Did != "":
		out.did = j.traits.Did
	case onTrial == nil:
		return nil
	case f.Group == fault.Error:
		out.did = fmt.Sprintf("answered with the error %s", rawjson.Member(onTrial.Error, "code"))
	case f.Name == "unknown-action":
		out.did = fmt.Sprintf("answered with the action %q", onTrial.Action)
	case f.Group == fault.Time && (onTrial.AnswerSeq == 0 || onTrial.AnswerSeq > j.Calls[0].ResultSeq):
		out.did = "had not answered"
	case isContentFault(f.Name) && withoutYes(onTrial):
		out.did = "accepted with content in which the yes is missing or broken"
	default:
		return nil
	}
	return out
}

// otherwiseSaid describes a false, or another choice, that the client sent where honest calls
// send something else; "" if there is none.
func (j *Judgement) otherwiseSaid() string {
	if len(j.Honest) == 0 {
		return ""
	}
	for i, q := range j.Calls[0].Questions[:min(len(j.Calls[0].Questions), len(j.Honest[0].Questions))] {
		for _, f := range fieldsOf(q) {
			was, now := rawjson.Member(contentOf(j.Honest[0].Questions[i]), f.Name), rawjson.Member(contentOf(q), f.Name)
			if (f.Kind == elicit.Boolean && string(now) == "false" || f.Kind == elicit.SingleChoice && len(f.Choices) == 2) && was != nil && now != nil && !rawjson.Same(was, now) {
				return fmt.Sprintf("accepted with %s for %q", now, f.Name)
			}
		}
	}
	return ""
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
	case j.lacks.doubtful: // texts and numbers may differ in what they show
		values := changes(m.Questions, func(*conversation.Question, string, json.RawMessage) bool { return false })
		return j.against(c.list[0].Honest, m.Result, nil, func(h Made) []alike.Change {
			return slices.DeleteFunc(values(h), func(d alike.Change) bool { return rawjson.KindOf(d.Old) == rawjson.Boolean })
		})
	case j.Behaviour == BehaviourDenied:
		return j.against(c.agreed, m.Result, nil, unchanged)
	}
	return j.against(c.agreed, m.Result, alike.Undefined, changes(m.Questions, func(q *conversation.Question, field string, value json.RawMessage) bool {
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
	return j.any(c.list, behaviours, func(other *Judgement) bool { return other.differsFrom(j) }) || (failed > 1 || tried == 1) && j.anyStands(c.list, behaviours, refused)
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
	case j.lacks.doubtful:
		if j.standing == same && (c.refuses(j, BehaviourDecline) || c.refuses(j, BehaviourCancel)) {
			j.find(report.RuleConsent, report.Inconclusive, fmt.Sprintf("The client %s, and the result is that of an accepted call all the same, where a refusal gets another one: %s. The wire does not show whether that answer says no. A witness sees what is done (--witness).", j.lacks.did, quoteResult(m)), j.frames()...)
		}
		return
	case j.standing == unlike:
		j.find(j.lacks.rule, report.Inconclusive, fmt.Sprintf("The client %s, and the result differs from that of an accepted call in numbers and times alone: %s. It is neither the same nor a refusal. A witness sees what is done (--witness).", j.lacks.did, quoteResult(m)), j.frames()...)
		return
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
	if need := needs(q); j.declines() && j.traits.Refuses == "decline" && need != "" && (c.matter(j) == nothing || c.matter(j) == decides && saysYes(q)) {
		j.find(report.RuleConsent, report.Warn, fmt.Sprintf("The client %s, and %s. The question required %s, so that a decline can hardly mean the default. Whether it was done, a witness sees (--witness).", j.lacks.did, what, need), j.frames()...)
		return
	}
	why := "No refusal gets another result, so that the wire does not show whether anything was done"
	if c.matter(j) != nothing {
		why = "It may be what the server does by default, and the wire does not show whether more was done"
	}
	j.find(report.RuleConsent, report.Inconclusive, fmt.Sprintf("The client %s, and %s. %s. What would decide it is a witness: something that shows the effects of the call (--witness).", j.lacks.did, what, why), j.frames()...)
}

// needs names a field that a question requires and has no default for; "" if there is none, so
// that a decline may mean the default. A form without fields asks for nothing but a yes.
func needs(q *conversation.Question) string {
	if q == nil {
		return ""
	}
	fields := fieldsOf(q)
	if len(fields) == 0 {
		return "a yes"
	}
	for _, f := range fields {
		if f.Required && (f.Default == nil || string(f.Default) == "false" && ConsentIn(f, true) != nil) {
			return fmt.Sprintf("%q", f.Name)
		}
	}
	return ""
}

// saysYes reports whether all that a form lets one choose is a yes, by its words: any other
// choice of honest answers may be the one to do nothing, which a decline rightly gets.
func saysYes(q *conversation.Question) bool {
	return !slices.ContainsFunc(fieldsOf(q), func(f elicit.Field) bool {
		return f.Kind.Entry() != elicit.Typed && ConsentIn(f, true) == nil
	})
}

// otherwise names the refusal whose result proves that the accepted result of this trial
// is one of acting; "" if there is none.
func (c *consent) otherwise(j *Judgement) string {
	decline, cancel := []string{BehaviourDecline, "decline-with-content"}, []string{BehaviourCancel, "cancel-with-content"}
	requiresNothing := func() bool { return len(fieldsOf(j.lacks.about)) > 0 && len(requiredOf(j.lacks.about)) == 0 }
	deniedElse := c.denied != nil && c.denied != j && (c.denied.standing == refused || c.denied.differsFrom(j))
	switch {
	case j.Behaviour == "cancel-then-accept" && !j.anyStands(c.list, []string{BehaviourCancel}, same, filled):
		return "" // the second answer may be taken for a change of mind
	case deniedElse:
		return "a no in the form"
	case isContentFault(j.Behaviour):
		return ""
	case j.Behaviour == "decline-with-content" && c.refuses(j, BehaviourDecline), !j.declines() && j.lacks.rule != report.RuleUnasked && c.refuses(j, decline...):
		return "a decline"
	case j.Behaviour == "cancel-with-content" && c.refuses(j, BehaviourCancel):
		return "a cancel"
	case c.matter(j) != nothing || j.declines() && requiresNothing(): // a decline may mean the defaults
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
	if j.lacks.rule == report.RuleAfterCancel {
		start = "The answer came when the question was over, and the server went on: the client "
	}
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
	sendsWord     = wordsOf("send|sends|mail|email|sms|notify|receipt|newsletter") // a confirmation that is sent is none that is given
	givesConsent  = wordsOf("yes|y|ja|oui|s[ií]|sim|はい|是|ok|okay|true|confirm|confirmed|proceed|continue|approve|approved|agree|accept|allow")
	deniesConsent = wordsOf("no|n|nein|non|n[aã]o|いいえ|否|false|cancel|abort|stop|deny|denied|decline|reject|refuse|disagree")
)

func wordsOf(list string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)^(?:` + list + `)$`) })
}

// ConsentIn returns the value of a field that says yes, or no, to what the call asks for.
// It is nil if the field does not ask for consent.
func ConsentIn(f elicit.Field, yes bool) json.RawMessage {
	words := append(nameWords(f.Name), nameWords(f.Label)...)
	asks := slices.ContainsFunc(words, asksConsent().MatchString) &&
		!slices.ContainsFunc(append(words, nameWords(rawjson.Text(rawjson.Member(f.Schema, "description")))...), sendsWord().MatchString)
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
var nameWord = lazy.Regexp(`\p{Lu}?\p{Ll}+|\p{Lu}+|\pN+`)

func nameWords(name string) []string { return nameWord().FindAllString(name, -1) }
