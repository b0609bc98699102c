// Package check judges a server under every behaviour that a client can have. It makes
// each call that asks something once per behaviour and revision, each time in a session
// of its own, keeps what the wire showed, and judges it by the specification.
package check

import (
	"encoding/json"
	"time"

	"elicitation-inspector/bridge/catalog"
	"elicitation-inspector/bridge/client"
	"elicitation-inspector/bridge/conversation"
	"elicitation-inspector/bridge/findings"
	"elicitation-inspector/bridge/wire"
)

// Verdict says how a server stood a trial.
type Verdict string

// The verdicts, the gravest first.
const (
	Fail         Verdict = "fail"         // a MUST is broken, or the server died or hung
	Warn         Verdict = "warn"         // a SHOULD is broken
	Inconclusive Verdict = "inconclusive" // the wire cannot show it
	Pass         Verdict = "pass"
)

// Call is a call that is put on trial.
type Call struct {
	Kind      catalog.Kind    `json:"kind"`
	Key       string          `json:"key"` // a tool's or prompt's name, a resource's URI
	Title     string          `json:"title,omitempty"`
	Arguments json.RawMessage `json:"arguments,omitempty"`
	// MadeUp: the arguments were made up from the defaults, examples and types of the
	// call's input schema.
	MadeUp bool `json:"madeUp,omitempty"`
}

// Skipped is a call that is not made, with the reason in a sentence.
type Skipped struct {
	Call
	Why string `json:"why"`
}

// Behaviour is one way in which a client can act while a call is made.
type Behaviour struct {
	// Name never changes. The name of a behaviour that answers with a fault of package
	// fault is the fault's.
	Name  string `json:"name"`
	Group string `json:"group"` // heading that it stands under in reports
	Title string `json:"title"`
	Does  string `json:"does"` // what the client does, in a sentence
	Good  string `json:"good"` // what a good server does then, in a sentence
}

// Trial is one call made once with one behaviour in one revision.
type Trial struct {
	Call      int    `json:"call"` // index into Report.Calls
	Behaviour string `json:"behaviour"`
	Revision  string `json:"revision"`
	// Question is the place of the question that is answered so among those of the call,
	// from 1; 0 for all of them, and for behaviours that are not about an answer.
	Question int    `json:"question,omitempty"`
	Field    string `json:"field,omitempty"` // of the form, where the behaviour is about one
}

// Observation is what the log of one trial shows, before it is judged.
type Observation struct {
	Trial
	Settings client.Settings // as they were declared in this trial

	// Unconnected says why there was no session; "" if there was one.
	Unconnected string
	// Calls are the calls on trial: one, or several where the behaviour makes several at
	// once. Each holds its questions as they were asked and answered.
	Calls []Made
	// Exit is how the server's process ended, or its connection, though this side did
	// nothing to end it; nil if it did not.
	Exit *Exit
	// After is the same call made again in the same session with honest answers, to see
	// whether the server is still usable. It is nil where the session was ended on purpose.
	After *Made
	// Again is the same as After once more, where After came back as a failure: nil where
	// it did not.
	Again *Made
	// Honest are the same call with honest answers and full capabilities in sessions of
	// their own, in this revision, in the order in which they were made: what a good
	// client sees. There are at least two, unless the first failed.
	Honest []Made
	// HonestAfter are the calls that were made after each of Honest, in its session, with
	// honest answers too: what a second call gets where nothing went wrong before. It is
	// nil where that is not known.
	HonestAfter []Made
	// Found are what the linter finds in the log of the trial.
	Found []findings.Found
	// Ended is how the server stood its connection's end, where the behaviour ends it:
	// nil otherwise.
	Ended *Exit
	// Last is the number of the trial's last frame.
	Last int64
	// Log is read for evidence. It is closed after the trial was judged.
	Log *wire.Log
}

// Made is one call as it was made.
type Made struct {
	*conversation.Call
	Arguments json.RawMessage
	// TimedOut: no response came within Limit, counting only the server's own time.
	TimedOut bool
	Limit    time.Duration
}

// Exit is the end of a process or a connection.
type Exit struct {
	Seq   int64         // frame of the note
	Text  string        // of the note: "exited with status 3"
	After time.Duration // since the answer or act that came before it
}

// Finding is one thing that is said of a trial.
type Finding struct {
	Rule    string  `json:"rule"` // id of a Rule, or of a rule of the linter
	Verdict Verdict `json:"verdict"`
	Text    string  `json:"text"` // what happened, in a sentence
	// Reference names the place that backs the rule in the trial's revision: "MCP
	// 2025-11-25, client/elicitation, Response Actions". It is "" for Inconclusive.
	Reference string  `json:"reference,omitempty"`
	Frames    []int64 `json:"frames"` // the evidence, by number in the trial's transcript
	// New: the earlier report of Report.Baseline does not have it.
	New bool `json:"new,omitempty"`
}

// Result is what came of a trial.
type Result struct {
	Trial
	Verdict  Verdict       `json:"verdict"` // the gravest of Findings; Pass where there are none
	Findings []Finding     `json:"findings,omitempty"`
	Outcome  string        `json:"outcome"` // how the call ended, in words
	Took     time.Duration `json:"took"`    // nanoseconds
	// Transcript is the name of the trial's transcript; "" where none is kept.
	Transcript string `json:"transcript,omitempty"`
	// Evidence are the frames that findings name, and those around them that explain it.
	Evidence []Frame `json:"evidence,omitempty"`
	// Reproduce is a shell command that does the same again, ready to paste.
	Reproduce string `json:"reproduce"`
}

// Frame is a frame as reports quote it.
type Frame struct {
	Seq        int64  `json:"seq"`
	Time       string `json:"time"` // RFC 3339 with milliseconds
	Direction  string `json:"direction"`
	Deliberate string `json:"deliberate,omitempty"` // name of the fault that it is part of
	Summary    string `json:"summary"`
	Text       string `json:"text"` // the message as it was on the wire; long ones are cut, and say so
}

// Report is what a check has found. Its JSON form is documented in docs/check.md.
type Report struct {
	Format    int           `json:"format"`    // 1
	Inspector string        `json:"inspector"` // version
	Target    string        `json:"target"`    // as it was reached: a command line or a URL
	Server    string        `json:"server"`    // name and version, as the server says
	Began     time.Time     `json:"began"`
	Took      time.Duration `json:"took"` // nanoseconds
	// Stopped says why the check did not come to its end; "" if it did.
	Stopped    string      `json:"stopped,omitempty"`
	Revisions  []string    `json:"revisions"`         // that the server speaks
	Calls      []Call      `json:"calls"`             // that asked something
	Silent     []Call      `json:"silent,omitempty"`  // that asked nothing
	Skipped    []Skipped   `json:"skipped,omitempty"` // that were not made
	Behaviours []Behaviour `json:"behaviours"`        // in the order of the matrix's rows
	Results    []Result    `json:"results"`
	Directory  string      `json:"transcripts,omitempty"` // where the transcripts are
	// Baseline compares the report with an earlier one; nil if that was not asked for.
	Baseline *Baseline `json:"baseline,omitempty"`
}
