// Package report writes the report of a check in formats for people and for programs, and
// compares it with an earlier report.
package report

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"time"

	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/keep/export"
	"elicitation-inspector/bridge/meaning/conversation"
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

// Defect reports whether it is a fail or a warning.
func (v Verdict) Defect() bool { return v == Fail || v == Warn }

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

// NotMade is a call that the check does not make, with the reason in a sentence.
type NotMade struct {
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

// Finding is a defect, or a doubt, that one trial shows.
type Finding struct {
	Rule    string  `json:"rule"` // ID of a Rule of this package or of the linter
	Verdict Verdict `json:"verdict"`
	Text    string  `json:"text"` // what happened, in a sentence
	// Reference cites the section of the specification that the rule is based on: "MCP
	// 2025-11-25, client/elicitation, Response Actions". It is "" for Inconclusive.
	Reference string  `json:"reference,omitempty"`
	Link      string  `json:"link,omitempty"` // address of that section
	Frames    []int64 `json:"frames"`         // sequence numbers of the frames that prove it
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
	// Number is the place of the result in a check beside the page, and Version counts its
	// changes, both from 1.
	Number, Version int `json:"-"`
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
	Skipped    []NotMade   `json:"skipped,omitempty"`  // calls that were not made
	Behaviours []Behaviour `json:"behaviours"`         // in the order of the matrix's rows
	Results    []Result    `json:"results"`
	Made       int         `json:"made,omitempty"`        // trials that were made: more than results, as some are made twice, and those that asked nothing have none
	Directory  string      `json:"transcripts,omitempty"` // folder of the transcripts
	// Baseline compares the report with an earlier one; nil without an earlier report.
	Baseline *Baseline `json:"baseline,omitempty"`
}

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

// Problem is something that the check was to judge and could not, so that a report without
// findings says nothing about it.
type Problem struct {
	Kind      ProblemKind `json:"kind"`
	Call      string      `json:"call,omitempty"` // kind and key: "tool deploy"; "" for the whole check
	Revisions []string    `json:"revisions,omitempty"`
	Text      string      `json:"text"` // what happened, in a sentence
	Do        string      `json:"do"`   // what the user can do about it, in a sentence
}

// ProblemKind says what could not be judged. Each kind has an exit code of its own.
type ProblemKind string

// The kinds of problems, most severe first.
const (
	NoTarget     ProblemKind = "no-target"
	Unreachable  ProblemKind = "unreachable"
	NothingTried ProblemKind = "nothing-tried"
	CallBroken   ProblemKind = "call-broken"   // a call asked nothing, and ended in an error or without a response
	HonestFailed ProblemKind = "honest-failed" // a call asked, and failed after honest answers
	AskedNothing ProblemKind = "asked-nothing" // a call that the user named asked nothing in any revision
	NotSpoken    ProblemKind = "not-spoken"    // a revision that the server announces, or the user named
	WitnessBlind ProblemKind = "witness-blind"
	// DeclineProceeds: after a decline the result is that of an accepted call, and no witness looked.
	DeclineProceeds  ProblemKind = "decline-proceeds"
	MostlyUntried    ProblemKind = "mostly-untried"    // most trials of a call could not be made as they were meant
	EffectUnrepeated ProblemKind = "effect-unrepeated" // what changed during several trials, none of them changes alone
)

// Rank returns the severity of the kind, from 0 for the most severe.
func (k ProblemKind) Rank() int {
	return slices.Index([]ProblemKind{NoTarget, Unreachable, NothingTried, CallBroken, HonestFailed, AskedNothing, NotSpoken, MostlyUntried, WitnessBlind, EffectUnrepeated, DeclineProceeds}, k)
}

// Worst returns the most severe verdict of the findings; Pass without findings.
func Worst(list []Finding) Verdict {
	out := Pass
	for _, f := range list {
		if f.Verdict.Rank() < out.Rank() {
			out = f.Verdict
		}
	}
	return out
}

// State is the stage of a check.
type State string

// The states of a check.
const (
	Running  State = "running"
	Stopping State = "stopping" // the running trials are being ended
	Over     State = "over"
)

// Subject is the tool, prompt or resource that a check calls.
type Subject struct {
	Server string // id of the server
	Kind   conversation.Kind
	Key    string
}

// Live is the state of a check beside the page.
type Live struct {
	Number int // from 1
	Subject
	Arguments json.RawMessage
	State     State
	Name      string   // name that the server reports
	Revisions []string // revisions that the server speaks, newest first; nil until they are known
	Progress  Progress
	Results   []Result // in the order in which their trials ended
	Report    *Report  // nil until the check is over, or if it failed
	Err       error    // the reason why there is no report
}

// Progress is the progress of a check.
type Progress struct {
	Done, Total int           // number of trials; Total grows when further calls turn out to ask questions
	Left        time.Duration // estimated remaining time; 0 if it is unknown
	Now         string        // the trial that began last
}

// Formats are the formats of reports. None writes a character that is hidden or acts on a terminal:
// those for programs have escapes of the same value.
var Formats = export.Formats[*Report]{
	{Name: "json", Title: "JSON", Ending: ".json", Media: "application/json", Write: func(w io.Writer, r *Report) error { return WriteIndented(w, r) }},
	{Name: "junit", Title: "JUnit", Ending: ".xml", Media: "application/xml", Write: func(w io.Writer, r *Report) error { return WriteSuites(w, r.JUnit()) }},
	{Name: "markdown", Title: "Markdown", Ending: ".md", Media: "text/markdown; charset=utf-8", Write: WriteMarkdown},
	{Name: "html", Title: "HTML", Ending: ".html", Media: "text/html; charset=utf-8", Write: func(w io.Writer, r *Report) error { return WriteHTML(w, r, nil) }},
	{Name: "sarif", Title: "SARIF", Ending: ".sarif", Media: "application/sarif+json", Write: func(w io.Writer, r *Report) error { return WriteIndented(w, r.SARIF().File()) }},
}

// WriteIndented writes a value as JSON for programs and for people.
func WriteIndented(w io.Writer, value any) error {
	out := json.NewEncoder(wording.EscapingWriter{To: w})
	out.SetEscapeHTML(false)
	out.SetIndent("", "  ")
	return out.Encode(value)
}

// Read reads a report in the format json.
func Read(from io.Reader) (*Report, error) {
	var r Report
	if err := json.NewDecoder(from).Decode(&r); err != nil {
		return nil, fmt.Errorf("reading the report of a check: %w", err)
	}
	if r.Format != 1 {
		return nil, fmt.Errorf("reading the report of a check: its format is %d, and only 1 is known", r.Format)
	}
	for _, one := range r.Results {
		if one.Call < 0 || one.Call >= len(r.Calls) {
			return nil, fmt.Errorf("reading the report of a check: a result is of call %d, and there are %d", one.Call, len(r.Calls))
		}
	}
	return &r, nil
}
