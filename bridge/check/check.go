// Package check tries every behaviour that a client can have on a server, and judges what
// the server does by the specification. It makes each call that asks a question once per
// behaviour and revision, each time in a session of its own, and judges the recorded
// frames.
package check

import (
	"encoding/json"
	"slices"
	"time"

	"elicitation-inspector/bridge/conversation"
	"elicitation-inspector/bridge/lint"
	"elicitation-inspector/bridge/wire"
)

// Verdict is the judgement on a server's conduct in one trial.
type Verdict string

// The verdicts, most severe first.
const (
	Fail         Verdict = "fail"         // the server breaks a MUST, crashes or hangs
	Warn         Verdict = "warn"         // the server breaks a SHOULD
	Inconclusive Verdict = "inconclusive" // the frames do not show whether the server did right
	Pass         Verdict = "pass"
)

// Verdicts lists the verdicts, most severe first.
func Verdicts() []Verdict { return []Verdict{Fail, Warn, Inconclusive, Pass} }

// Rank returns the position of the verdict in [Verdicts], from 0; -1 for no verdict.
func (v Verdict) Rank() int { return slices.Index(Verdicts(), v) }

// Call is a tool call, prompt or resource that the check makes.
type Call struct {
	Kind      conversation.Kind `json:"kind"`
	Key       string            `json:"key"` // a tool's or prompt's name, a resource's URI
	Title     string            `json:"title,omitempty"`
	Arguments json.RawMessage   `json:"arguments,omitempty"`
	// MadeUp reports that the check made the arguments up from the defaults, examples and
	// types of the input schema.
	MadeUp bool `json:"madeUp,omitempty"`
	// Destructive reports that the tool is annotated with destructiveHint.
	Destructive bool `json:"destructive,omitempty"`
}

// Skipped is a call that the check does not make, with the reason in a sentence.
type Skipped struct {
	Call
	Why string `json:"why"`
}

// Behaviour is one way in which a client can act while a call is made.
type Behaviour struct {
	// Name never changes. The name of a behaviour that answers with a fault of package
	// fault is the fault's.
	Name  string `json:"name"`
	Group string `json:"group"` // heading of its rows in reports
	Title string `json:"title"`
	Does  string `json:"does"` // what the client does, in a sentence
	Good  string `json:"good"` // how a good server reacts, in a sentence
}

// Trial is one call made once with one behaviour in one revision.
type Trial struct {
	Call      int    `json:"call"` // index into Report.Calls
	Behaviour string `json:"behaviour"`
	Revision  string `json:"revision"`
	// Question is the position, from 1, of the question that the behaviour answers among
	// the questions of the call. It is 0 if the behaviour answers all questions, or is not
	// about an answer.
	Question int    `json:"question,omitempty"`
	Field    string `json:"field,omitempty"` // name of the form field that the behaviour is about; "" for none
}

// Observation holds the log of one trial and what was read from it. The judge turns it
// into findings.
type Observation struct {
	Trial
	Settings conversation.ClientSettings // settings that the client declared in this trial

	// Unconnected is the reason why the trial had no session; "" if it had one.
	Unconnected string
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
	// Effect says whether a witness saw the trial's own calls act. It must be EffectUnknown where
	// accepted calls do not change what the witness sees, so that it is blind. The judge
	// takes it for definite: see acts-without-consent.
	Effect Effect
	// Early names the change that a witness saw before the question was answered, and Twice
	// the change that one consent made twice, both for use inside a sentence; "" for none.
	Early, Twice string
	// Found holds the linter's findings in the log of the trial.
	Found []lint.Found
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

// Finding is a defect, or a doubt, that one trial shows.
type Finding struct {
	Rule    string  `json:"rule"` // ID of a Rule of this package or of the linter
	Verdict Verdict `json:"verdict"`
	Text    string  `json:"text"` // what happened, in a sentence
	// Reference cites the section of the specification that the rule is based on: "MCP
	// 2025-11-25, client/elicitation, Response Actions". It is "" for Inconclusive.
	Reference string  `json:"reference,omitempty"`
	Frames    []int64 `json:"frames"` // sequence numbers of the frames that prove it
	// New reports that the earlier report of Report.Baseline does not have the finding.
	New bool `json:"new,omitempty"`
}

// Result is the verdict on one trial with its findings and evidence.
type Result struct {
	Trial
	Verdict  Verdict       `json:"verdict"` // the most severe verdict of Findings; Pass without findings
	Findings []Finding     `json:"findings,omitempty"`
	Outcome  string        `json:"outcome"` // how the call ended, in words
	Took     time.Duration `json:"took"`    // nanoseconds
	// Transcript is the file name of the trial's transcript; "" if none is written.
	Transcript string `json:"transcript,omitempty"`
	// Evidence holds the frames that the findings name, their requests, and the answer
	// under trial with its question.
	Evidence []Frame `json:"evidence,omitempty"`
	// Reproduce is a shell command that repeats the trial.
	Reproduce string `json:"reproduce"`
	// Version counts the changes of the result during a check beside the page, from 1.
	Version int `json:"-"`

	quiet bool // the call asked nothing
}

// Frame is a frame as reports show it.
type Frame struct {
	Seq        int64  `json:"seq"`
	Time       string `json:"time"` // RFC 3339 with milliseconds
	Direction  string `json:"direction"`
	Deliberate string `json:"deliberate,omitempty"` // name of the fault that sent it; "" for honest frames
	Summary    string `json:"summary"`
	Text       string `json:"text"` // the message as sent; long messages are cut and end with their size
}

// Report holds all results of a check. docs/check.md documents its JSON form.
type Report struct {
	Format    int           `json:"format"`    // 1
	Inspector string        `json:"inspector"` // version of the inspector
	Target    string        `json:"target"`    // command line or URL of the server
	Server    string        `json:"server"`    // name and version that the server reports
	Began     time.Time     `json:"began"`
	Took      time.Duration `json:"took"` // nanoseconds
	// Stopped is the reason why the check ended early; "" if it did not.
	Stopped    string      `json:"stopped,omitempty"`
	Revisions  []string    `json:"revisions"`          // revisions that the server speaks
	Problems   []Problem   `json:"problems,omitempty"` // most severe first
	Calls      []Call      `json:"calls"`              // calls that asked a question, or of which the linter found something
	Silent     []Call      `json:"silent,omitempty"`   // calls that asked nothing
	Skipped    []Skipped   `json:"skipped,omitempty"`  // calls that were not made
	Behaviours []Behaviour `json:"behaviours"`         // in the order of the matrix's rows
	Results    []Result    `json:"results"`
	Made       int         `json:"made,omitempty"`        // trials that were made: more than results, as some are made twice, and those that asked nothing have none
	Directory  string      `json:"transcripts,omitempty"` // folder of the transcripts
	// Baseline compares the report with an earlier one; nil without an earlier report.
	Baseline *Baseline `json:"baseline,omitempty"`
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

// Baseline compares the fails and warnings of a report with those of an earlier one. A
// finding counts once for each trial that shows it.
type Baseline struct {
	Began   time.Time `json:"began"` // when the earlier report began
	Server  string    `json:"server"`
	New     int       `json:"new"`               // findings that only this report has; see Finding.New
	Known   int       `json:"known"`             // findings in both reports
	Mended  []Past    `json:"mended,omitempty"`  // earlier findings whose trials ran again and no longer show them
	Unclear []Past    `json:"unclear,omitempty"` // earlier findings with a trial that is inconclusive in this report
	Gone    []Past    `json:"gone,omitempty"`    // earlier findings whose trials did not run this time
}

// Past is a finding of the earlier report.
type Past struct {
	Kind      conversation.Kind `json:"kind"`
	Key       string            `json:"key"`
	Behaviour string            `json:"behaviour"`
	Revision  string            `json:"revision"`
	Question  int               `json:"question,omitempty"`
	Field     string            `json:"field,omitempty"`
	Rule      string            `json:"rule"`
	Verdict   Verdict           `json:"verdict"`
	Text      string            `json:"text"`
}
