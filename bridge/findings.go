package bridge

import (
	"context"

	"elicitation-inspector/bridge/lint"
	"elicitation-inspector/bridge/live"
)

// Found is a finding of the linter with its server, question and call.
type Found = live.Finding

// Findings is [live.Findings.Of].
func (in *Inspection) Findings(id string) []Found { return in.findings.Of(id) }

// Found is [live.Findings.At].
func (in *Inspection) Found(seq int64) []Found { return in.findings.At(seq) }

// FindingsKnown returns the number of findings so far.
func (in *Inspection) FindingsKnown() int { return in.findings.Linter.Count(in.log.Len()) }

// Rules returns a function for filters that returns the rules that a frame breaks, by the
// findings so far.
func (in *Inspection) Rules() func(seq int64) []string {
	return lint.RulesAt(in.findings.Linter.From(0, in.log.Len()))
}

// Judge waits until the linter has checked all frames that the log has now. It is for
// live inspections; a [Replay] runs the linter in each Refresh.
func (in *Inspection) Judge(ctx context.Context) error { return in.findings.Update(ctx) }

// judgeLog runs the linter on the log of a live inspection until the inspection ends.
func (in *Inspection) judgeLog() {
	if err := in.findings.Linter.Follow(in.life); err != nil && in.life.Err() == nil {
		in.logger.Error("judging the log", "error", err)
	}
}

// View implements [live.FindingsOwner].
func (w wiring) View() *live.View { return w.in.read() }

// IDOf implements [live.FindingsOwner].
func (w wiring) IDOf(label string) string { return w.in.known.IDOf(label) }

// Keeps implements [live.FindingsOwner].
func (w wiring) Keeps(call int) bool { return w.in.replay != nil || w.in.calls.Known(call) }
