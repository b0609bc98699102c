package conversation

import (
	"encoding/json"
	"fmt"
	"time"

	"elicitation-inspector/bridge/wire"
	"elicitation-inspector/bridge/wording"
)

// Call is one call of a client, a tool's, a prompt's or a resource's, with
// everything that belongs to it. What a server asks outside of any call is a Call
// of its own, without rounds, and so is any other request with its response; see
// [Conversation.Around].
type Call struct {
	Place    int // among the calls of the log, from 1; 0 for one that Around made up
	Number   int // what people know it by; 0 for what is no call of a client's
	Recorded int // Number as its frames have it, 0 if they have none
	Server   string
	Session  string
	Method   string // of the first request
	Name     string // the tool's or prompt's name, or the resource's URI; "" for other methods
	// Arguments are those of the first request; nil if there are none.
	Arguments json.RawMessage

	Rounds    []Round
	Questions []*Question // which do not change any more

	State State
	// Result or Error is what the last round brought; both are nil where nothing
	// came, or where it only asks for input.
	Result, Error json.RawMessage
	ResultSeq     int64 // frame of Result or Error, 0 if there is none
	// Failure says why there is no response: "" where one came, or may yet.
	Failure string
	// Unsent is the method of a request that the server wanted to make, and that
	// its revision does not have; "" for none.
	Unsent string

	Start, End time.Time // of the first and last frame; zero where frames have no time
	Ended      time.Time // when it was over; zero while it is not
	Steps      []Step
	Dropped    int       // steps left out of the middle
	Logs       int       // log messages
	Progress   *Progress // where it stood last

	// Frames are those of the call, in order and without their bytes. A call that
	// is watched has none.
	Frames []wire.Row
	// Omitted counts the notifications that are left out of Frames because there
	// are too many.
	Omitted int
}

// State is where a call stands.
type State int

// The states of a call.
const (
	Running    State = iota // a request waits for its response
	Waiting                 // the server wants input, and no retry has come
	Done                    // a result came
	ToolFailed              // a result came that says isError
	Failed                  // an error came, or nothing will
	Stopped                 // the client took the request back
)

func (s State) String() string {
	switch s {
	case Running:
		return "running"
	case Waiting:
		return "waiting for input"
	case Done:
		return "done"
	case ToolFailed:
		return "done, with isError"
	case Failed:
		return "failed"
	case Stopped:
		return "cancelled"
	}
	return fmt.Sprintf("State(%d)", int(s))
}

// Over reports whether a call in this state has ended.
func (s State) Over() bool { return s > Waiting }

// Round is one request of a call with its response. Revision 2026-07-28 asks by
// input-required results, which take several; so does error -32042.
type Round struct {
	Number    int   // from 1
	Request   int64 // frame
	Response  int64 // frame, 0 if there is none
	Began     time.Time
	Ended     time.Time // of the response; zero if there is none
	Questions int       // how many its response asks
}

// StepKind tells what happened in a call.
type StepKind string

// The kinds of step.
const (
	StepCalled   StepKind = "called"
	StepAsked    StepKind = "asked"
	StepAnswered StepKind = "answered" // or settled in another way
	StepLog      StepKind = "log"
	StepProgress StepKind = "progress"
	StepList     StepKind = "list"  // what the server offers has changed
	StepStray    StepKind = "stray" // a response that answers nothing
	StepRetry    StepKind = "retry"
	StepResult   StepKind = "result"
	StepError    StepKind = "error"
	StepStopped  StepKind = "stopped"
)

// Step is one thing that happened in a call.
type Step struct {
	At       time.Time
	Kind     StepKind
	Text     string
	Seq      int64 // frame, 0 if none
	Question int   // number, 0 if none
}

// Bounds on a call's timeline: the first few steps and the latest are kept, and
// log messages and progress have a step each for the first of them.
const (
	stepsMost = 200
	stepsHead = 20
	toldMost  = 20
	stepMost  = 500 // characters
)

// step adds to the timeline.
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

// edit replaces a question by a copy that may be changed: others hold the one
// before.
func (c *Call) edit(i int) *Question {
	q := *c.Questions[i]
	c.Questions[i] = &q
	return &q
}
