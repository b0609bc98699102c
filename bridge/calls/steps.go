package calls

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"elicitation-inspector/bridge/client"
	"elicitation-inspector/bridge/inbox"
	"elicitation-inspector/bridge/mcp"
	"elicitation-inspector/bridge/response"
	"elicitation-inspector/bridge/session"
	"elicitation-inspector/bridge/wire"
)

// StepKind tells what happened in a call.
type StepKind string

// The kinds of step.
const (
	StepCalled   StepKind = "called"
	StepAsked    StepKind = "asked"
	StepAnswered StepKind = "answered"
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
	Seq      int64 // frame in the log, 0 if none
	Question int   // 0 if none
}

// stepsKept bounds a call's timeline: the first few and the latest are kept.
const (
	stepsKept     = 200
	stepsKeptHead = 20
)

// step adds to the timeline.
func (c *Call) step(s Step) {
	s.Text = response.Shortened(s.Text)
	if len(c.Steps) == stepsKept {
		c.Steps = slices.Delete(c.Steps, stepsKeptHead, stepsKeptHead+1)
		c.Dropped++
	}
	c.Steps = append(c.Steps, s)
}

// Progress is what a progress notification says. Total is 0 where it is not known.
type Progress struct {
	Value, Total float64
	Message      string
}

// ReadProgress reads the params of a progress notification.
func ReadProgress(params json.RawMessage) Progress {
	var p struct {
		Progress float64 `json:"progress"`
		Total    float64 `json:"total"`
		Message  string  `json:"message"`
	}
	if err := response.Decode(params, &p); err != nil {
		return Progress{Message: "the progress cannot be read: " + err.Error()}
	}
	return Progress{Value: p.Progress, Total: p.Total, Message: response.Shortened(p.Message)}
}

func (p Progress) String() string {
	text := strconv.FormatFloat(p.Value, 'g', -1, 64)
	if p.Total > 0 {
		text += " of " + strconv.FormatFloat(p.Total, 'g', -1, 64)
	}
	return strings.TrimSpace(text + " " + p.Message)
}

// LogsShown is how many log messages, and how many progress notifications, of a
// call get a step each; the rest is counted.
const LogsShown = 20

// Saw adds what a frame says to the timeline of the call that it belongs to.
func (cs *Calls) Saw(number int, f wire.Frame) {
	var carried []int
	said := ""
	if f.Method == mcp.NotificationMessage {
		said = f.Summary()
	}
	err := cs.update(number, func(c *call) bool {
		step := Step{At: f.Time, Seq: f.Seq}
		switch {
		case f.Dir == wire.ClientToServer:
			carried, c.carries = c.carries, nil
			c.sent(step, f.Round)
			return true
		case f.Kind == wire.Request && !mcp.IsInput(f.Method):
			step.Kind, step.Text = StepAsked, f.Method+", which is not answered: "+client.RequestsAreGone
		case f.Method == mcp.NotificationMessage:
			if c.Logs++; c.Logs <= LogsShown {
				step.Kind, step.Text = StepLog, said
			}
		case f.Method == mcp.NotificationProgress:
			progress := ReadProgress(f.Message.Params)
			c.Progress = &progress
			if c.reports++; c.reports <= LogsShown {
				step.Kind, step.Text = StepProgress, progress.String()
			}
		case f.Kind == wire.Notification:
			step.Kind, step.Text = StepList, f.Method
		default:
			if note, is := session.Stray(f); is {
				step.Kind, step.Text = StepStray, note.Words(&f)
			}
		}
		if step.Text != "" {
			c.step(step)
		}
		return true
	})
	for _, question := range carried {
		cs.inbox.Sent(question, f.Seq)
	}
	if err == nil && f.Dir == wire.ServerToClient {
		cs.sawUnsent(number, f)
	}
}

// sent notes that a request of the call is on the wire.
func (c *call) sent(step Step, round int) {
	c.Seq, c.Rounds = step.Seq, round
	step.Kind, step.Text = StepCalled, c.Request.Key
	if round > 1 {
		step.Kind, step.Text = StepRetry, fmt.Sprintf("round %d", round)
	}
	c.Call.step(step)
}

// sawUnsent notes what a frame says of a request that the server wanted to make, and
// that its revision does not have.
func (cs *Calls) sawUnsent(number int, f wire.Frame) {
	cs.mu.Lock()
	c, err := cs.find(number)
	cs.mu.Unlock()
	if err != nil {
		return
	}
	if method := session.Unsent(f, c.conn.Revision()); method != "" {
		// That it is forgotten meanwhile is no matter.
		_ = cs.update(number, func(c *call) bool { c.Unsent = method; return true })
	}
}

// Asked notes that a question is about to be put into the inbox. It returns what
// people call the call.
func (cs *Calls) Asked(q inbox.Question) (name string) {
	// Whoever asks outside of any call, or of one that is forgotten, has no timeline.
	_ = cs.update(q.Call, func(c *call) bool {
		name = c.Request.Name
		if c.over == Running {
			c.clocked[q.Number] = true
			c.clock.set(q.Asked, c.clock.open+1, c.clock.held)
		}
		c.step(Step{At: q.Asked, Kind: StepAsked, Text: q.Title(), Question: q.Number})
		return true
	})
	return name
}

// Settled notes that a question is settled.
func (cs *Calls) Settled(q inbox.Question) {
	_ = cs.update(q.Call, func(c *call) bool {
		if c.clocked[q.Number] && c.over == Running {
			c.clock.set(q.Ended, max(c.clock.open-1, 0), c.clock.held)
		}
		delete(c.clocked, q.Number)
		if known := c.round.questions[q.Number]; known != nil {
			completion := max(q.Completion, known.Completion)
			*known = q
			if known.Completion, known.Params = completion, nil; !q.IsURL() {
				known.Request = nil // a round can ask very much
			}
			c.round.open--
		}
		c.step(Step{At: q.Ended, Kind: StepAnswered, Text: q.Outcome(), Question: q.Number})
		c.wake()
		return true
	})
}

// Changed notes what else is known of a question: that its URL is done, or why it
// was withdrawn.
func (cs *Calls) Changed(q inbox.Question) {
	_ = cs.update(q.Call, func(c *call) bool {
		if known := c.round.questions[q.Number]; known != nil && q.Completion > known.Completion {
			known.Completion = q.Completion
			c.wake()
		}
		if q.State != inbox.Withdrawn || q.By != inbox.ByServer {
			return false
		}
		for i, step := range c.Steps {
			if step.Kind == StepAnswered && step.Question == q.Number && step.Text != q.Outcome() {
				c.Steps[i].Text = q.Outcome()
				return true
			}
		}
		return false
	})
}

// Over reports whether the call of a question has ended, so that nobody waits for
// the answer any more. Of a call that was only guessed it is not known as long as
// another runs on the connection.
func (cs *Calls) Over(q inbox.Question) bool {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	if q.Guessed {
		return !cs.runs(q.Session)
	}
	c, err := cs.find(q.Call)
	return err == nil && c.over != Running
}
