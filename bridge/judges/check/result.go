package check

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/judges/check/judge"
	"elicitation-inspector/bridge/judges/check/report"
	"elicitation-inspector/bridge/keep/script"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/wire/redact"
)

// assessed is a judged trial with the frames that reports can show. It does not need the
// log.
type assessed struct {
	*judge.Judgement
	result report.Result          // without findings, verdict and evidence
	frames map[int64]report.Frame // frames that findings can name, by sequence number
	pairs  map[int64]int64        // sequence numbers of requests, by that of the response
	whole  string                 // the command line that makes all calls of the trial again, and looks at the witness
}

// judge judges a trial without the other trials. The log can be closed afterwards.
func (r *runner) judge(c *chosen, m *made) *assessed {
	hide := r.Server.Redaction
	if err := hide.Learn(context.Background(), m.Log); err != nil {
		r.trouble(fmt.Errorf("some trials could not be made: %w", err))
	}
	one := &assessed{Judgement: judge.Alone(m.Observation), result: report.Result{
		Trial: m.Trial, Outcome: hide.Text(m.outcome()), Took: m.took, Transcript: m.transcript, Reproduce: hide.Text(r.reproduce(c, m.trial)),
	}, whole: hide.Text(r.reproduceWhole(c, m.trial))}
	if m.Behaviour == judge.BehaviourSeveral || m.trial.before != nil {
		one.result.Reproduce = one.whole
	}
	one.keep(hide, m)
	return one
}

// hung reports whether the trial has a failure because no response came in time.
func (one *assessed) hung() bool {
	timedOut := one.After != nil && one.After.TimedOut || slices.ContainsFunc(one.Calls, func(m judge.Made) bool { return m.TimedOut })
	return timedOut && slices.ContainsFunc(one.Findings, isHanging)
}

func isHanging(f report.Finding) bool {
	return f.Verdict == report.Fail && (f.Rule == report.RuleNoResponse || f.Rule == report.RuleUnusable)
}

// result returns the result of a trial for reports, with secrets redacted.
func (r *runner) result(one *assessed) report.Result {
	out := one.result
	out.Findings, out.Verdict = one.Findings, report.Worst(one.Findings)
	for i := range out.Findings {
		out.Findings[i].Text = r.Server.Redaction.Text(out.Findings[i].Text)
	}
	out.Evidence = one.evidence()
	if one.needsWhole() {
		out.Reproduce = one.whole
	}
	return out
}

// needsWhole reports whether one call alone does not show every finding: some are of
// the next call in the session, or of what a witness saw.
func (one *assessed) needsWhole() bool {
	if one.Effect.State == judge.Changed || one.Early+one.Twice != "" {
		return true
	}
	return one.After != nil && slices.ContainsFunc(one.Findings, func(f report.Finding) bool {
		return f.Verdict != report.Inconclusive && len(f.Frames) > 0 && slices.Max(f.Frames) >= one.After.Began()
	})
}

func (m *made) outcome() string {
	if len(m.Calls) == 0 {
		return wording.Shorten("no session: "+m.Unconnected, 200)
	}
	var words []string
	for i := range m.Calls {
		words = append(words, m.endOf(&m.Calls[i]))
	}
	if m.Exit != nil {
		words = append(words, m.Exit.Text)
	}
	return strings.Join(slices.Compact(words), "; ")
}

func (m *made) endOf(c *judge.Made) string {
	const most = 160
	switch {
	case c.TimedOut && m.AskedOn(*c):
		return fmt.Sprintf("after %v it was still asking, in round %d", c.Limit, len(c.Rounds))
	case c.TimedOut:
		return fmt.Sprintf("no response within %v", c.Limit)
	case c.Error != nil:
		return wording.Shorten(fmt.Sprintf("error %s: %s", rawjson.Member(c.Error, "code"), rawjson.Text(rawjson.Member(c.Error, "message"))), most)
	case c.Result == nil:
		return wording.Shorten(cmp.Or(c.Failure, c.State.String()), most)
	}
	text := strings.Join(strings.Fields(script.TextOf(c.Result)), " ")
	if c.State == conversation.ToolFailed {
		return wording.Shorten("isError: "+text, most)
	}
	return wording.Shorten("result: "+text, most)
}

// Limits of a result's evidence.
const (
	keptMost     = 60
	evidenceMost = 20
	textMost     = 4000 // characters
)

// keep copies the frames that findings can name: those that they name now, and the
// requests, responses, questions and answers of the calls.
func (one *assessed) keep(hide *redact.Redaction, m *made) {
	var seqs []int64
	for _, f := range one.Findings {
		seqs = append(seqs, f.Frames...)
	}
	calls := m.Calls
	for _, after := range []*judge.Made{m.After, m.Again} {
		if after != nil {
			calls = append(calls[:len(calls):len(calls)], *after)
		}
	}
	for _, call := range calls {
		for _, round := range call.Rounds {
			seqs = append(seqs, round.Request, round.Response)
		}
		for _, q := range call.Questions {
			seqs = append(seqs, q.AskedSeq, q.AnswerSeq)
		}
	}
	one.frames, one.pairs = map[int64]report.Frame{}, map[int64]int64{}
	for _, seq := range seqs {
		f, err := m.Log.Frame(seq)
		if err != nil || len(one.frames) == keptMost {
			continue
		}
		f = *hide.Frame(&f)
		text := string(f.Raw)
		if cut := wording.Shorten(text, textMost); cut != text {
			text = cut + fmt.Sprintf(" (%d bytes in all)", f.Size)
		}
		one.frames[seq] = report.Frame{
			Seq: f.Seq, Time: f.Time.UTC().Format("2006-01-02T15:04:05.000Z07:00"), Direction: f.Dir.String(), Deliberate: f.Fault, Summary: f.Summary(), Text: text,
		}
		one.pairs[seq] = f.Pair
	}
}

// evidence returns the frames that the findings name, the requests of named responses, and
// the answer under trial with its question.
func (one *assessed) evidence() (frames []report.Frame) {
	var seqs []int64
	for _, f := range one.Findings {
		for _, seq := range f.Frames {
			seqs = append(seqs, seq, one.pairs[seq])
		}
	}
	if len(seqs) == 0 {
		return nil
	}
	for _, call := range one.Calls {
		for _, q := range call.Questions {
			if q.Fault != "" {
				seqs = append(seqs, q.AskedSeq, q.AnswerSeq)
			}
		}
	}
	slices.Sort(seqs)
	for _, seq := range slices.Compact(seqs) {
		if f, kept := one.frames[seq]; kept && len(frames) < evidenceMost {
			frames = append(frames, f)
		}
	}
	return frames
}

// reproduce returns a command line that makes the call of a trial again.
func (r *runner) reproduce(c *chosen, t *trial) string {
	words := []string{"inspector", "call"}
	switch c.Kind {
	case conversation.Prompt:
		words = append(words, "--prompt")
	case conversation.Resource:
		words = append(words, "--resource")
	}
	words = r.ofCall(append(words, wording.ShellWord(c.Key)), c, t)
	if t.Declares != "" {
		words = append(words, "--elicitation", string(t.Declares))
	}
	return r.answered(append(words, "--no-input"), t.answers)
}

// reproduceWhole returns a command line that makes all trials of a behaviour again, with
// the honest calls that they are compared with and that follow.
func (r *runner) reproduceWhole(c *chosen, t *trial) string {
	words := r.ofCall([]string{"inspector", "check", wording.ShellWord(c.Key)}, c, t)
	words = append(words, "--behaviour", t.Behaviour)
	if c.Destructive {
		words = append(words, "--allow-destructive", wording.ShellWord(script.Literal(c.Key)))
	}
	if c.witness != nil {
		words = append(words, "--witness", wording.ShellWord(c.witness.Source))
	}
	if r.Reset != "" {
		words = append(words, "--reset", wording.ShellWord(r.Reset))
	}
	return r.answered(words, c.honest.file())
}

// ofCall appends the flags of a call that the commands call and check have in common.
func (r *runner) ofCall(words []string, c *chosen, t *trial) []string {
	if c.Arguments != nil && c.Kind != conversation.Resource {
		words = append(words, "--args", wording.ShellWord(string(c.Arguments)))
	}
	words = append(words, "--protocol", t.Revision, "--timeout", t.limit.String())
	if r.Server.Late != nil {
		words = append(words, "--otlp-listen")
	}
	if r.Server.Settings.Sampling {
		words = append(words, "--sampling")
	}
	if r.Server.Settings.Roots {
		words = append(words, "--roots")
	}
	return words
}

// answered completes a command line with an answers file as its input, and the server.
func (r *runner) answered(words []string, answers string) string {
	words = append(words, "--answers", "-")
	if r.Command != "" {
		words = append(words, r.Command)
	}
	return strings.Join(words, " ") + " <<'EOF'\n" + answers + "EOF"
}
