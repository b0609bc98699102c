// Package judge turns what a server did in the trials of a check into findings: of one trial
// by itself, and of the trials of a call compared with each other. It makes no trial, and
// reads nothing but the observations and their logs.
package judge

import (
	"encoding/json"
	"time"

	"elicitation-inspector/bridge/judges/check/report"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/meaning/lint"
	"elicitation-inspector/bridge/wire"
)

// Observation holds the log of one trial and what was read from it. [Alone] and
// [Together] turn it into findings.
type Observation struct {
	report.Trial

	// Unconnected is the reason why the trial had no session; "" if it had one.
	Unconnected string
	// Quiet reports that the call asked nothing: the linter alone judges it, and [Unasked]
	// the calls that ask nothing in one revision.
	Quiet bool
	// Calls holds the calls of the trial with their questions and answers: one call, or
	// several if the behaviour makes several at once.
	Calls []Made
	// Exit is the end of the server's process or connection that the client did not cause;
	// nil if there was none.
	Exit *Exit
	// After is the same call, made again in the same session with honest answers. It shows
	// whether the server is still usable. It is nil if the behaviour ends the session.
	After *Made
	// Again is a third call like After. It is nil unless After failed.
	Again *Made
	// Honest holds the same call, made with honest answers and full capabilities in
	// sessions of their own, in order: the results that a good client gets in this
	// revision. It has at least two calls, unless the first one failed.
	Honest []Made
	// HonestAfter holds the honest call that followed each call of Honest in its session:
	// the results of a second call after nothing went wrong. It is nil if they are
	// unknown.
	HonestAfter []Made
	// Later holds the honest calls that followed the other trials of the call in this
	// revision. [Together] sets it.
	Later []Made
	// Other is another call of the trial: of other-tool an honest call of the tool that it sent
	// the requestState to, with the same arguments; of no-content-again the accepted call
	// before. It is nil for other behaviours.
	Other *Made
	// Effect says whether a witness saw the trial's own calls act. It must be EffectUnknown where
	// accepted calls do not change what the witness sees, so that it is blind. The judge
	// takes it for definite: see acts-without-consent.
	Effect Effect
	// Early names the change that a witness saw before the question was answered, and Twice
	// the change that one consent made twice, both for use inside a sentence; "" for none.
	Early, Twice string
	// Found holds the linter's findings in the log of the trial.
	Found []lint.Found
	Gaps  string // what the linter could not judge; see lint.FindingsOf
	// Ended is the end of the server's process or connection after the behaviour ended the
	// connection; nil if it did not.
	Ended *Exit
	// Last is the sequence number of the trial's last frame.
	Last int64
	// Log holds the frames of the trial. It is closed once the trial has been judged.
	Log *wire.Log
}

// Made is a call of a trial, as read from the log.
type Made struct {
	*conversation.Call
	Arguments json.RawMessage
	// TimedOut reports that the server sent no response within Limit of its own time.
	TimedOut bool
	Limit    time.Duration
}

// Exit is the end of a server's process or connection.
type Exit struct {
	Seq   int64         // frame of the note that reports the end
	Text  string        // text of the note: "exited with status 3"
	After time.Duration // time since the client last sent something
}

// Effect says, by what a witness saw, whether the world changed between the moment before
// the trial's call and the moment after it.
type Effect struct {
	State EffectState
	// Text describes what the witness saw, for use inside a sentence: "list said 3 files
	// before the call, and 2 after it". It is "" if State is EffectUnknown.
	Text string
}

// EffectState says whether a trial changed the world.
type EffectState int

// The states of an effect.
const (
	EffectUnknown EffectState = iota // nobody looked, or the witness cannot tell
	Unchanged                        // the world is as it was before the call
	Changed                          // the call changed the world
)
