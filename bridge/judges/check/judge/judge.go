package judge

import (
	"fmt"
	"slices"
	"strings"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/judges/check/report"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/meaning/elicit"
	"elicitation-inspector/bridge/meaning/fault"
	"elicitation-inspector/bridge/meaning/lint"
	"elicitation-inspector/bridge/wire"
)

// standing is the outcome of comparing a call's result with the results of honest calls.
type standing int

const (
	unknown   standing = iota // there is no honest result, or nothing to compare with it
	refused                   // the call failed, or asked more questions than honest calls
	different                 // the result differs in more than times and numbers
	unlike                    // the result differs in times and numbers only
	same                      // the result is equal, except for words that change from run to run
	filled                    // the result is equal, except that it has the values that the trial sent
)

// Judgement is a trial with the findings so far.
type Judgement struct {
	*Observation
	traits   Traits // of the behaviour
	Findings []report.Finding
	standing standing
	lacks    *lack // what the trial has in place of an agreement; nil if it has one
	// carries reports that the honest result has values that the server can know only from
	// the requestState.
	carries bool
	// refusesAfter reports that the next call failed with no other cause than the trial or
	// chance.
	refusesAfter bool
}

// Alone returns the findings that one trial shows without other trials. It finds
// nothing if the server did right, or broke no rule. [Together] adds findings.
//
// What can spoil a verdict is looked at first: a trial without a session, a log with gaps, an
// answer that was never sent. Then what the server did by itself: whether it lives, responds,
// and refuses as the specification says. The comparison with honest calls comes last, because
// it is the only one that infers.
func Alone(o *Observation) *Judgement {
	j := &Judgement{Observation: o, traits: TraitsOf(o.Behaviour)}
	if o.Unconnected != "" {
		j.find(report.RuleNotTried, report.Inconclusive, "There was no session: "+o.Unconnected)
		return j
	}
	o.bySpans()
	switch j.linted(); {
	case o.Gaps != "": // what the server has done is not known, and may be owed to the limit
		j.find(report.RuleNotTried, report.Inconclusive, o.Gaps)
		return j
	case o.Quiet || !j.tried():
		return j
	}
	j.ended()
	for _, call := range o.Calls {
		j.answered(call)
		j.refusedForEver(call)
		j.refusesRightly(call)
		j.leaks(call, "the response")
	}
	if o.After != nil {
		j.after(*o.After)
		j.leaks(*o.After, "the response to the next call")
	}
	j.outlived()
	j.effects()
	j.compared()
	return j
}

// find adds a finding. Its verdict is at most gravest, and at most the verdict of the rule
// in this revision.
func (j *Judgement) find(rule string, gravest report.Verdict, text string, frames ...int64) {
	frames = slices.DeleteFunc(frames, func(seq int64) bool { return seq == 0 })
	slices.Sort(frames)
	f := report.Finding{Rule: rule, Text: text, Frames: slices.Compact(frames)}
	f.Verdict, f.Reference = report.RuleOf(rule).Verdict(j.Revision)
	f.Link = report.RuleOf(rule).Sources[j.Revision].Link(j.Revision)
	if gravest.Rank() > f.Verdict.Rank() {
		f.Verdict = gravest
	}
	if f.Verdict == report.Inconclusive {
		f.Reference, f.Link = "", ""
	}
	j.Findings = append(j.Findings, f)
}

// questionOnTrial returns the question with the answer under trial; nil if there is none.
func (j *Judgement) questionOnTrial() *conversation.Question {
	plain := j.Behaviour == BehaviourDecline || j.Behaviour == BehaviourCancel
	for _, call := range j.Calls {
		if i := j.Question - 1; plain && i >= 0 && i < len(call.Questions) && call.Questions[i].Action == j.Behaviour {
			return call.Questions[i]
		}
		for _, q := range call.Questions {
			if q.Fault == j.Behaviour || j.traits.Borrows && q.Fault == "invented-state" || q.Fault != "" && (q.Fault == j.traits.Forged || q.Fault == j.traits.By) || plain && q.Action == j.Behaviour {
				return q
			}
		}
	}
	return nil
}

// isAboutOneAnswer reports whether the behaviour is about the answer to one question.
func (j *Judgement) isAboutOneAnswer() bool {
	_, err := fault.Find(j.Behaviour)
	return err == nil || j.traits.Borrows || j.traits.Forged != "" || j.traits.By != "" || j.Question > 0 && (j.Behaviour == BehaviourDecline || j.Behaviour == BehaviourCancel)
}

// tried reports whether the client could carry the behaviour out. If not, it adds a
// finding with the reason.
func (j *Judgement) tried() bool {
	if !j.isAboutOneAnswer() || j.questionOnTrial() != nil {
		return true
	}
	asked, began := 0, int64(0)
	for _, call := range j.Calls {
		began = call.Began()
		asked += len(call.Questions)
	}
	switch {
	case asked == 0:
		j.find(report.RuleNotTried, report.Inconclusive, "The call asked nothing this time, so there was nothing to answer.", began)
	case asked < j.Question:
		j.find(report.RuleNotTried, report.Inconclusive, fmt.Sprintf("The call asked %s this time, so that there was no question %d.", wording.Plural(asked, "question"), j.Question), began)
	default:
		j.find(report.RuleNotTried, report.Inconclusive, "None of the questions could be answered like that this time.", began)
	}
	return false
}

// Began returns the sequence number of the call's first request; 0 if there is none.
func (m Made) Began() int64 {
	if len(m.Rounds) == 0 {
		return 0
	}
	return m.Rounds[0].Request
}

func (m Made) responded() bool { return m.Result != nil || m.Error != nil }

// succeeded reports whether the server sent a result without isError.
func (m Made) succeeded() bool {
	return m.State == conversation.Done && m.Result != nil
}

// lastAnswer returns the sequence number of the last answer that the client sent; 0 if
// there is none.
func (m Made) lastAnswer() (seq int64) {
	for _, q := range m.Questions {
		seq = max(seq, q.AnswerSeq)
	}
	return seq
}

// sharedByHonest reports whether calls with honest answers show the same defect. It is
// then reported for honest answers only, not again for every behaviour.
func (o *Observation) sharedByHonest(calls []Made, seen func(Made) bool) bool {
	return o.Behaviour != BehaviourAccept && slices.ContainsFunc(calls, seen)
}

func (j *Judgement) answered(m Made) {
	if m.responded() || j.Exit != nil {
		return
	}
	what, seq := j.missing(m)
	if what == "" {
		return
	}
	after := "."
	if answer := m.lastAnswer(); answer != 0 {
		after = fmt.Sprintf(", though its questions are answered (the last in frame %d).", answer)
	}
	frames := []int64{m.Began(), m.lastAnswer(), seq}
	switch why := j.waits(m); {
	case why != "":
		if !m.TimedOut && seq == 0 { // the client ended the connection
			what = "The call got no response"
		}
		j.find(report.RuleNoResponse, report.Inconclusive, fmt.Sprintf("%s, but %s.", what, why), frames...)
	case j.sharedByHonest(j.Honest, Made.unanswered):
		j.find(report.RuleNoResponse, report.Inconclusive, what+", and neither does it after honest answers.", frames...)
	default:
		j.find(report.RuleNoResponse, report.Fail, what+after, frames...)
	}
}

// refusesRightly judges how a call fails that lacks an answer or a capability.
func (j *Judgement) refusesRightly(m Made) {
	if !m.responded() || m.succeeded() || j.Revision < mcp.Revision20260728 || !slices.ContainsFunc(j.Honest, Made.succeeded) {
		return
	}
	switch {
	case j.Behaviour == "missing-key":
		j.find(report.RuleMissingKey, report.Warn, fmt.Sprintf("A round came without the answer to its question, and the server failed the call (%s) where it should ask again.", m.failure()), m.Began(), m.lastAnswer(), m.ResultSeq)
	case j.declaresLess() && len(m.Questions) == 0 && m.Error != nil && string(rawjson.Member(m.Error, "code")) != fmt.Sprint(mcp.CodeMissingCapability):
		j.find(report.RuleCapability, report.Fail, fmt.Sprintf("The client had not declared that it can be asked, and the call failed (%s) with another error than %d, which names what is missing.", m.failure(), mcp.CodeMissingCapability), m.Began(), m.ResultSeq)
	}
}

func (m Made) unanswered() bool { return !m.responded() }

// missing describes a call without a response, and names the frame that shows it. It
// returns "" if the call has a response or the client ended the call.
func (o *Observation) missing(m Made) (what string, seq int64) {
	if m.TimedOut {
		return fmt.Sprintf("The call got no response within %s", wording.Duration(m.Limit)), 0
	}
	if m.State != conversation.Failed || len(m.Rounds) == 0 {
		return "", 0
	}
	seq = m.Rounds[len(m.Rounds)-1].Response
	if seq == 0 {
		return "The call got no response: " + strings.TrimSuffix(m.Failure, "."), 0
	}
	f, err := o.Log.Frame(seq)
	if err != nil {
		return "", 0
	}
	lost := f.Note != nil && slices.Contains([]wire.NoteKind{
		wire.NoteStreamEnded, wire.NoteStreamBroken, wire.NoteRequestFailed, wire.NoteAnswerBroken, wire.NoteServerLost, wire.NoteReadFailed,
	}, f.Note.Kind)
	switch {
	case lost:
		return "The call got no response: " + f.Note.Words(&f), seq
	case slices.ContainsFunc(m.Frames, func(r wire.Row) bool { // the client had ended the call
		return r.Seq < seq && r.Dir == wire.ClientToServer && r.Method == mcp.NotificationCancelled
	}):
		return "The call got no response: " + strings.TrimSuffix(m.Failure, "."), 0
	case f.Status >= 500:
		return fmt.Sprintf("The call got HTTP status %d in place of a response", f.Status), seq
	}
	return "", 0
}

// refusedForEver judges a call that asks the same question again after every refusal.
func (j *Judgement) refusedForEver(m Made) {
	const most = 20
	refused := map[string][]int64{}
	for _, q := range m.Questions {
		if q.Method != mcp.MethodElicit || q.Fault != "" || q.Action != "decline" && q.Action != "cancel" {
			continue
		}
		key := lint.QuestionKey(q.Params)
		if q.URL() != "" {
			key = q.Message() + "\n" + string(elicit.ModeURL)
		}
		if refused[key] = append(refused[key], q.AskedSeq); len(refused[key]) == most {
			j.find(report.RuleAsksForEver, report.Fail, fmt.Sprintf("The server asks %s again, though it was refused %d times.", wording.Quoted(q.Title()), most), refused[key]...)
		}
	}
}

// after judges the call that follows the trial in its session.
func (j *Judgement) after(m Made) {
	if j.Exit != nil || m.succeeded() {
		return
	}
	open := j.leftOpen()
	if what, seq := j.missing(m); what != "" {
		gravest, why := report.Fail, ""
		switch {
		case j.sharedByHonest(j.HonestAfter, Made.unanswered):
			gravest, why = report.Inconclusive, ", but neither does a second call after an honest first one"
		case open != "":
			gravest, why = report.Inconclusive, ", but the question of the call before is still open: "+open
		case j.busy(m) != "":
			gravest, why = report.Inconclusive, ", but "+j.busy(m)
		}
		j.find(report.RuleUnusable, gravest, "The next call in the session was answered honestly. "+what+why+".", m.Began(), m.lastAnswer(), seq)
		return
	}
	if !m.responded() || j.Behaviour == BehaviourAccept || j.declaresLess() || !slices.ContainsFunc(j.Honest, Made.succeeded) {
		return
	}
	why := "It may fail by chance."
	switch {
	case len(j.HonestAfter) == 0 || slices.ContainsFunc(j.HonestAfter, Made.Failed):
		why = "So may a second call after an honest first one."
	case open != "":
		why = "But the question of the call before is still open: " + open + "."
	case (j.declines() || j.Behaviour == BehaviourDeclineAlways) && string(rawjson.Member(m.Error, "code")) != fmt.Sprint(mcp.CodeInternalError):
		why = "But a server may remember that it was declined."
	default:
		j.refusesAfter = true
	}
	j.find(report.RuleRefusesAfter, report.Inconclusive, fmt.Sprintf("The next call in the session was answered honestly, and failed (%s). %s", m.failure(), why), m.Began(), m.lastAnswer(), m.ResultSeq)
}

// leftOpen returns the reason why the question under trial may still be open on the
// server; "" if it is settled.
func (j *Judgement) leftOpen() string {
	if j.Behaviour == "response-after-cancel" {
		return "" // it was answered after the end of its call
	}
	open := j.traits.Waits
	for _, call := range j.Calls {
		if call.unanswered() && open == "" {
			open = j.waits(call)
		}
	}
	return open
}

// Failed reports whether the call got an error, a result with isError, or no response.
func (m Made) Failed() bool { return !m.succeeded() }

// texts returns the texts of the call's result or error.
func (m Made) texts() []string {
	if m.Error != nil {
		return textsIn(m.Error)
	}
	return textsIn(m.Result)
}

// failure returns the texts of a failed call's result or error, shortened.
func (m Made) failure() string { return wording.Shorten(strings.Join(m.texts(), " "), 200) }

func (j *Judgement) declaresLess() bool { return j.traits.Declares != "" }

func (j *Judgement) declines() bool { return j.traits.Refuses == "decline" }

// exchange lists the frames of a question, and of all answers that the behaviour gave it.
func (o *Observation) exchange(q *conversation.Question) []int64 {
	list := []int64{q.AskedSeq, q.AnswerSeq}
	for seq := q.AnswerSeq + 1; q.Fault != "" && seq <= o.Last; seq++ {
		if head := o.Log.Head(seq); head.Dir == wire.ClientToServer && head.Fault == q.Fault {
			list = append(list, seq)
		}
	}
	return list
}

// effects judges what a witness saw besides the effect of a refusal.
func (j *Judgement) effects() {
	var frames []int64
	if q := j.questionOnTrial(); q != nil {
		frames = j.exchange(q)
	}
	if j.Early != "" {
		j.find(report.RuleActsEarly, report.Fail, "The server did it before the question was answered: while the question waited, "+j.Early+".", frames...)
	}
	if j.Twice != "" {
		gravest, what := report.Fail, "The server did it twice for one consent: "
		if j.Behaviour == BehaviourUsed {
			gravest, what = report.Warn, "The server took the requestState of a call that was over, and did it once more: "
		}
		j.find(report.RuleActsTwice, gravest, what+j.Twice+".", frames...)
	}
}

// outlived judges a process that did not exit after its input was closed.
func (j *Judgement) outlived() {
	if j.Ended == nil {
		return
	}
	if f, err := j.Log.Frame(j.Ended.Seq); err == nil && f.Note != nil && f.Note.Kind == wire.NoteStillRuns {
		j.find(report.RuleOutlives, report.Fail, "After its standard input was closed the process went on until it was ended: "+f.Note.Words(&f)+".", j.Ended.Seq)
	}
}

// framesMost is the number of frames that one finding names if the linter finds the same
// defect several times.
const framesMost = 5

// linted adds the linter's findings, each defect once.
func (j *Judgement) linted() {
	type key struct{ rule, pointer string }
	of := func(f lint.Found) key { return key{f.Rule, f.Pointer} }
	at := map[key]int{} // index into j.Findings
	for _, f := range j.Found {
		i, known := at[of(f)]
		switch {
		case f.Severity == lint.Advice || j.toldBySpans(f.Rule):
		case known:
			if frames := j.Findings[i].Frames; len(frames) < framesMost && !slices.Contains(frames, f.Seq) {
				j.Findings[i].Frames = append(frames, f.Seq)
			}
		default:
			at[of(f)] = len(j.Findings)
			j.Findings = append(j.Findings, report.Finding{Rule: f.Rule, Verdict: report.VerdictOf(f.Severity), Text: f.Text, Reference: f.Reference, Link: f.Link, Frames: []int64{f.Seq}})
		}
	}
}
