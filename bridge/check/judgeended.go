package check

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"elicitation-inspector/bridge/check/report"
	"elicitation-inspector/bridge/conversation"
	"elicitation-inspector/bridge/mcp"
	"elicitation-inspector/bridge/wire"
	"elicitation-inspector/bridge/wording"
)

// ended judges a process or connection that ended without a cause on the client's side.
func (j *judgement) ended() {
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
	garbage := j.Behaviour == "invalid-json" || slices.Contains(noMessages, j.Behaviour) && j.Revision < mcp.Revision20260728
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
		text += " What it got was no message, and the specification does not say what a server does then."
	case !unanswered && !crashed && code == 0:
		text += " It may end the connection in order once it has answered."
	default:
		gravest = report.Fail
	}
	frames := append(seqs, j.Exit.Seq)
	for _, call := range j.Calls {
		if call.Call != nil {
			frames = append(frames, call.began(), call.lastAnswer())
		}
	}
	j.find(report.RuleProcessEnded, gravest, text, frames...)
}

// lastWords returns the server's last line on standard error; if the server crashed, the
// line that reports the crash.
func (j *judgement) lastWords() (words string, seqs []int64, crashed bool) {
	const most = 200 // lines
	for seq := j.Last; seq > 0 && len(seqs) < most; seq-- {
		f, err := j.Log.Frame(seq)
		if err != nil || f.Dir != wire.Stderr || strings.TrimSpace(string(f.Raw)) == "" {
			continue
		}
		line := strings.TrimSpace(string(f.Raw))
		if isLeak(line) || strings.HasPrefix(line, "panic:") || strings.HasPrefix(line, "fatal error:") {
			words, seqs, crashed = line, []int64{seq}, true // an earlier line is closer to the cause
		}
		if words == "" {
			words, seqs = line, []int64{seq}
		}
	}
	return wording.Shorten(words, 300), seqs, crashed
}
