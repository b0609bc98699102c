package judge

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/judges/check/report"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/wire"
)

// waits returns the reason why a server may leave a call without a response; "" if it may
// not.
func (j *Judgement) waits(m Made) string {
	if j.gaveUp(m) {
		return ""
	}
	if j.traits.Waits != "" {
		return j.traits.Waits
	}
	if j.traits.Content == noMessage && j.Revision < mcp.Revision20260728 {
		return "the answer was not a valid response"
	}
	return j.busy(m)
}

// gaveUp reports whether the server took the last question of a call back, and had half of
// the time limit left to answer the call.
func (o *Observation) gaveUp(m Made) bool {
	if !m.TimedOut || len(m.Questions) == 0 || o.Log == nil {
		return false
	}
	q := m.Questions[len(m.Questions)-1]
	for seq := q.AskedSeq + 1; seq <= o.Last; seq++ {
		f, err := o.Log.Frame(seq)
		if err == nil && f.Dir == wire.ServerToClient && f.Method == mcp.NotificationCancelled && f.Question == q.Number {
			return m.End.Sub(f.Time) >= m.Limit/2
		}
	}
	return false
}

// busy returns the reason, other than the behaviour itself, why a server may leave a call
// without a response; "" if there is none.
func (o *Observation) busy(m Made) string {
	for _, q := range m.Questions {
		switch {
		case TraitsOf(q.Fault).Waits != "":
			return TraitsOf(q.Fault).Waits
		case q.State != conversation.Answered && q.State != conversation.Refused:
			return "a question was not answered"
		case q.URL() != "" && q.Action == "accept":
			return "a URL was accepted, and nobody opened it"
		}
	}
	if m.TimedOut && o.undelivered(m) {
		return "the client did not get its message through in time"
	}
	if m.TimedOut && o.AskedOn(m) {
		return fmt.Sprintf("the server answered each time, and asked again (this is round %d)", len(m.Rounds))
	}
	if m.TimedOut && o.reported(m) {
		return "the server still reported that it was at work"
	}
	return ""
}

// AskedOn reports whether the server answered every round of a call, or every round but
// the last, which it had less than half of the time limit for.
func (o *Observation) AskedOn(m Made) bool {
	n := len(m.Rounds)
	if n == 0 {
		return false
	}
	last := m.Rounds[n-1]
	if last.Response != 0 && o.Log != nil && o.Log.Head(last.Response).AsksInput {
		return true
	}
	return n > 1 && m.End.Sub(last.Began) < m.Limit/2
}

// reported reports whether the server sent progress or log messages in the second half of
// the call's time limit.
func (o *Observation) reported(m Made) bool {
	if o.Log == nil {
		return false
	}
	for seq := o.Last; seq >= m.Began(); seq-- {
		switch head := o.Log.Head(seq); {
		case head.Time.Before(m.End.Add(-m.Limit / 2)):
			return false
		case head.Dir == wire.ServerToClient && head.Time.Before(m.End) && slices.Contains([]string{mcp.NotificationProgress, mcp.NotificationMessage}, head.Method):
			return true
		}
	}
	return false
}

// undelivered reports whether the server did not receive a message of the call, for
// example because the client sent it slowly on purpose.
func (o *Observation) undelivered(m Made) bool {
	for seq := m.Began(); o.Log != nil && seq > 0 && seq <= o.Last; seq++ {
		f, err := o.Log.Frame(seq)
		if err == nil && f.Note != nil && f.Note.Kind == wire.NoteNotDelivered && f.Call == m.Number {
			return true
		}
	}
	return false
}

// ended judges a process or connection that ended without a cause on the client's side.
func (j *Judgement) ended() {
	if j.Exit == nil {
		return
	}
	words, seqs, crashed := j.lastWords()
	code := 0
	if f, err := j.Log.Frame(j.Exit.Seq); err == nil && f.Note != nil {
		crashed = crashed || f.Note.Signal != ""
		if f.Note.Code != nil {
			code = *f.Note.Code
		}
	}
	unanswered := slices.ContainsFunc(j.Calls, Made.unanswered) || j.After != nil && j.After.unanswered()
	garbage := j.Behaviour == "invalid-json" || j.traits.Content == noMessage && j.Revision < mcp.Revision20260728
	text := fmt.Sprintf("The server ended by itself (%s) %s after the client's last act", strings.TrimSuffix(j.Exit.Text, "."), wording.Duration(j.Exit.After))
	if unanswered {
		text += ", and left the call without a response"
	}
	if text += "."; words != "" {
		text += " Its last words: " + strconv.Quote(words) + "."
	}
	gravest := report.Inconclusive
	switch {
	case j.sharedByHonest(j.Honest, func(m Made) bool { return m.unanswered() && !m.TimedOut && m.State == conversation.Failed }):
		text += " It does so after honest answers, too."
	case garbage && !crashed:
		text += " What it got was not a message, and the specification does not say what a server does then."
	case !unanswered && !crashed && code == 0:
		text += " It may end the connection in order once it has answered."
	default:
		gravest = report.Fail
	}
	frames := append(seqs, j.Exit.Seq)
	for _, call := range j.Calls {
		frames = append(frames, call.Began(), call.lastAnswer())
	}
	j.find(report.RuleProcessEnded, gravest, text, frames...)
}

// lastWords returns the server's last line on standard error; if the server crashed, the
// line that says why, or else the first one of its stack trace.
func (o *Observation) lastWords() (words string, seqs []int64, crashed bool) {
	var crash wording.Crash
	var traced, said int64 // frames of the stack trace's first line, and of the cause
	trace := ""
	for seq := int64(1); seq <= o.Last; seq++ {
		f, err := o.Log.Frame(seq)
		if err != nil || f.Dir != wire.Stderr || strings.TrimSpace(string(f.Raw)) == "" {
			continue
		}
		words, seqs = strings.TrimSpace(string(f.Raw)), []int64{seq}
		if crash.Line(string(f.Raw)) {
			said = seq
		}
		if traced == 0 && wording.RuntimeWords().MatchString(words) {
			traced, trace = seq, words
		}
	}
	switch {
	case said != 0:
		words, seqs = crash.Cause(), []int64{said}
	case traced != 0:
		words, seqs = trace, []int64{traced}
	}
	crashed = traced != 0 || strings.HasPrefix(words, "panic:") || strings.HasPrefix(words, "fatal error:")
	return wording.Shorten(words, 300), seqs, crashed
}

// leaks judges whether a result or an error shows stack traces or runtime errors of the
// server.
func (j *Judgement) leaks(m Made, what string) {
	for _, text := range m.texts() {
		words := wording.RuntimeWords().FindString(text)
		if words == "" || j.expects(m, words) {
			continue
		}
		about := nameWords(m.Name) // stack traces can be what the user asked for, where these speak of logs or errors
		for _, q := range m.Questions {
			about = append(about, nameWords(q.Message())...)
		}
		gravest := report.Inconclusive
		if m.Method == mcp.MethodCallTool && !(m.succeeded() && slices.ContainsFunc(about, logWords().MatchString)) {
			gravest = report.Fail
		}
		j.find(report.RuleLeaks, gravest, fmt.Sprintf("The words %s in %s are those of a runtime, and no message for the user: %s", wording.Quoted(strings.TrimSpace(words)), what, wording.Quoted(text)), m.Began(), m.lastAnswer(), m.ResultSeq)
		return
	}
}

// logWords matches a word of a tool whose result may show logs and stack traces.
var logWords = wordsOf("logs?|logging|journal|console|stderr|stdout|output|traces?|tracebacks?|stack|crash|crashes|errors?|exceptions?|panics?|debug|diagnostics?|diagnose")

// expects reports whether words do not count as a leak of this trial, because the client
// sent them or an honest result has them. A failed call has no expected words, unless it
// fails with the same ones after honest answers.
func (o *Observation) expects(m Made, words string) bool {
	has := func(raw []byte) bool {
		return slices.ContainsFunc(textsIn(raw), func(text string) bool { return strings.Contains(text, words) })
	}
	if has(m.Arguments) || has(m.Call.Arguments) {
		return true
	}
	for _, q := range m.Questions {
		if has(q.Answer) || has(q.Error) {
			return true
		}
	}
	return slices.ContainsFunc(o.Honest, func(h Made) bool {
		return (h.succeeded() || o.Behaviour != BehaviourAccept) && (has(h.Result) || has(h.Error))
	})
}
