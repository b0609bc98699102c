package conversation

import (
	"encoding/json"
	"slices"
	"time"

	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/wire"
)

// Call is one call that a client made of a tool, prompt or resource, with everything
// that belongs to it. What a server asks outside of any call is a Call without rounds.
// Any other request with its response is a Call too; see [Conversation.CallOrExchange].
type Call struct {
	Place    int    // position among the calls of the log, from 1; 0 for a Call that only Around makes
	Number   int    // shown to people; 0 unless the client made the call
	Recorded int    // number in its frames, 0 if they have none
	Server   string // label
	// ServerName is the name of the server for people.
	ServerName string
	Session    string
	Protocol   string // revision of its session, "" if it is unknown
	Method     string // of the first request
	Name       string // the tool's or prompt's name, or the resource's URI; "" for other methods
	// Arguments are the arguments of the first request; nil if it has none.
	Arguments json.RawMessage

	Rounds    []Round
	Questions []*Question // immutable: a change replaces the element
	// Guessed: a question came while several calls were open, this one among them, and its frame does not say to
	// which of them it belongs. So Questions may have one too many, or one too few.
	Guessed bool

	Task *CallTask // that its request became, immutable; nil for none

	State State
	// Result and Error hold the response of the last round. Both are nil if no
	// response came or it is an input-required result.
	Result, Error json.RawMessage
	ResultSeq     int64 // frame of Result or Error, 0 if there is none
	// Failure says why there is no response; "" if one came or can still come.
	Failure string
	// Unsent is the method of a request that the server wanted to make but that its
	// revision does not have; "" for none.
	Unsent string

	Start, End time.Time // of the first and last frame; zero where frames have no time
	Ended      time.Time // end of the call; zero while it goes on
	Steps      []Step
	Dropped    int       // steps left out of the middle
	Logs       int       // log messages
	Progress   *Progress // latest progress notification

	ServerSpans []ServerSpan // what the server said of its own work; each behind the one that it is within
	ServerClock ServerClock  // by which their times were corrected

	// Frames are the frames of the call, in order and without their bytes. Watch
	// leaves them out.
	Frames []wire.Row
	// Omitted counts the notifications that are left out of Frames because there
	// are too many.
	Omitted int

	signIns []Span // of its connection
}

// Foreign reports whether a client other than an inspector made the call. The log then does not
// tell whether a person or a program answers its questions.
func (c *Call) Foreign() bool {
	return c.Place != 0 && c.Recorded == 0 && !slices.ContainsFunc(c.Questions, func(q *Question) bool { return q.NumberRecorded || q.By == ByPerson })
}

// Wait describes how long a call takes, and for how long and for what it waits for the person.
type Wait struct {
	Waiting int           // number of questions that wait for the person
	Asks    int           // number of all questions of the present round; 0 if the call waits for none of them
	Open    int           // those of them that wait, held back or on show
	Yours   bool          // the call waits for the person: a question is open, a URL is being visited, or Paused is set
	Asked   time.Time     // start of the wait, if questions wait
	Waited  time.Duration // total time of waiting so far
	// WaitedSince is, while Yours is set, the time at which Waited would have begun
	// without a break.
	WaitedSince time.Time
	Timeout     time.Duration // 0 for none
	Every       time.Duration // interval of retries while a URL's outcome is open, 0 for none
	Paused      bool          // after many rounds, the call waits for the person's decision to go on
	Repeats     bool          // the person may go on without the refused input

	Duration time.Duration // of the call, until now or until its end
	Served   time.Duration // part of Duration that the server took; 0 before the end
	TimedOut bool          // the limit has ended the call
	Counted  time.Duration // time that counts toward Timeout, by the inspector's own clock; 0 before the end
}

// State is the stage of a call: going on, or how it ended.
type State uint8

// The states of a call.
const (
	Running    State = iota // a request waits for its response
	Waiting                 // the server wants input, and the next round has not begun
	Done                    // a result came
	ToolFailed              // a result with isError came
	Failed                  // an error came, or no response can come any more
	Stopped                 // the client cancelled the request
)

func (s State) String() string {
	return [...]string{"running", "waiting for input", "done", "done, with isError", "failed", "cancelled"}[s]
}

// Over reports whether a call in this state has ended.
func (s State) Over() bool { return s > Waiting }

// Round is one request of a call with its response. Calls take several rounds through
// input-required results (2026-07-28) and error -32042.
type Round struct {
	Number    int   // from 1
	Request   int64 // frame
	Response  int64 // frame, 0 if there is none
	Began     time.Time
	Ended     time.Time // of the response; zero if there is none
	Questions int       // how many questions its response asks
}

// StepKind is the kind of a step in a call's timeline.
type StepKind string

// The kinds of step.
const (
	StepCalled    StepKind = "called"
	StepAsked     StepKind = "asked"
	StepAnswered  StepKind = "answered" // or settled in another way
	StepLog       StepKind = "log"
	StepProgress  StepKind = "progress"
	StepList      StepKind = "list"  // a list of tools, prompts or resources changed
	StepSpan      StepKind = "span"  // of the server
	StepStray     StepKind = "stray" // a response that matches no request
	StepRetry     StepKind = "retry"
	StepTask      StepKind = "task" // the call or a question became a task, or its status changed
	StepResult    StepKind = "result"
	StepToolError StepKind = "tool-error" // a result with isError
	StepError     StepKind = "error"
	StepStopped   StepKind = "stopped"
)

// Step is one entry in the timeline of a call.
type Step struct {
	At       time.Time
	Kind     StepKind
	Word     string // says more than Kind: how a question was settled, which round began; "" if nothing does
	Text     string
	Seq      int64 // frame, 0 if none
	Question int   // number, 0 if none
	Depth    int   // of a span
}

// Bounds on a call's timeline: it keeps the first stepsHead steps and the latest ones.
// Only the first reportStepsMost log messages and progress notifications each have a step.
const (
	stepsMost       = 200
	stepsHead       = 20
	reportStepsMost = 20
	stepMost        = 500 // characters
)

func (c *Call) step(s Step) {
	s.Text = wording.Shorten(s.Text, stepMost)
	if len(c.Steps) == stepsMost {
		c.Steps = append(c.Steps[:stepsHead], c.Steps[stepsHead+1:]...)
		c.Dropped++
	}
	c.Steps = append(c.Steps, s)
}

// Pending counts the questions that wait for an answer.
func (c *Call) Pending() (n int) {
	for _, q := range c.Questions {
		if q.State == Pending {
			n++
		}
	}
	return n
}

// edit replaces a question by a copy and returns the copy; readers may hold the
// original.
func (c *Call) edit(i int) *Question {
	q := *c.Questions[i]
	c.Questions[i] = &q
	return &q
}
