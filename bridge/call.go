package bridge

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"elicitation-inspector/bridge/wire"
)

// CallState is where a call stands.
type CallState int

// The states of a call.
const (
	CallRunning CallState = iota
	CallDone              // a result came, be it one that says isError
	CallFailed            // an error came, or the connection was lost
	CallStopped           // by the person
)

func (s CallState) String() string {
	switch s {
	case CallRunning:
		return "running"
	case CallDone:
		return "done"
	case CallFailed:
		return "failed"
	case CallStopped:
		return "stopped"
	default:
		return fmt.Sprintf("CallState(%d)", int(s))
	}
}

// CallRequest is what the person asks for.
type CallRequest struct {
	Server    string // id
	Kind      ItemKind
	Name      string // what people call it
	Key       string // tool or prompt name, resource URI
	Arguments json.RawMessage
	// Timeout is how long the call may take, without the time that its questions
	// wait for a person. 0 means the inspection's CallTimeout, less means none.
	Timeout time.Duration
}

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

// Progress is what a progress notification says. Total is 0 where it is not known.
type Progress struct {
	Value, Total float64
	Message      string
}

// call is one request of the person's. Everything below ctx is guarded by Inspection.mu.
type call struct {
	in      *Inspection
	number  int
	session *session
	request CallRequest
	ctx     context.Context
	stop    context.CancelFunc
	woken   chan struct{} // something that the call waits for may have come
	idle    int           // rounds in a row that asked nothing; of its own goroutine
	first   retry         // what its first request carries, where it goes on with another call

	state     CallState
	started   time.Time
	ended     time.Time
	rounds    int
	steps     []Step
	dropped   int // steps left out of the middle
	logs      int // log messages that have no step of their own
	progress  *Progress
	reports   int   // progress notifications so far
	seq       int64 // frame of the last request
	reply     int64 // frame of the response that ended it
	failure   string
	explained bool          // the response that ended it is an error, which says why
	repeat    *retry        // what the person may go on with; nil for nothing
	why       string        // what the server is told when its request is taken back
	told      bool          // the server was told so
	isError   bool          // the result says so
	unsent    string        // method of a request that the server wanted to make, and that its revision does not have
	waits     bool          // between two rounds: the person can want the next one
	retry     bool          // the person wants the next attempt now
	every     time.Duration // how often to try again while a URL's outcome is open; 0: not
	paused    bool          // the person is asked whether there should be more rounds
	watch     stopwatch
}

// Call is a copy of a call's state for readers.
type Call struct {
	Number   int
	Request  CallRequest
	State    CallState
	Started  time.Time
	Duration time.Duration // so far, or in all
	Rounds   int
	Steps    []Step
	Dropped  int
	Logs     int
	Progress *Progress
	Seq      int64         // frame of the last request, 0 before it is sent
	Reply    int64         // frame of the response that ended it, 0 if there is none
	IsError  bool          // the result says that the tool failed
	Unsent   string        // method of a request that the server wanted to make, and that its revision does not have
	Failure  string        // why there is no response, or why the result is of no use
	Repeats  bool          // the person may go on without what was refused; see [Inspection.Repeat]
	Waiting  int           // its questions that wait for the person
	Yours    bool          // the person's clock runs: a question waits, a URL is being visited, or Paused
	Asked    time.Time     // when the oldest of those came
	Waited   time.Duration // how long a person was waited for, so far
	Timeout  time.Duration // 0: none
	Every    time.Duration // how often it tries again while a URL's outcome is open
	Paused   bool          // it waits for the person's word to go on after many rounds
}

func (c *call) snapshot() Call {
	out := Call{
		Number: c.number, Request: c.request, State: c.state, Started: c.started, Rounds: c.rounds,
		Steps: append([]Step(nil), c.steps...), Dropped: c.dropped, Logs: c.logs,
		Seq: c.seq, Reply: c.reply, IsError: c.isError, Unsent: c.unsent, Failure: c.failure, Repeats: c.repeat != nil,
		Waiting: c.watch.open, Waited: c.watch.waited(c.in.Now()), Timeout: c.watch.limit,
		Every: c.every, Paused: c.paused, Yours: c.watch.waits(),
	}
	if c.watch.open > 0 {
		out.Asked = c.watch.oldest
	}
	if c.progress != nil {
		p := *c.progress
		out.Progress = &p
	}
	if c.state == CallRunning {
		out.Duration = c.in.Now().Sub(c.started)
	} else {
		out.Duration = c.ended.Sub(c.started)
	}
	return out
}

// stepsKept bounds a call's timeline: the first few and the latest are kept.
const (
	stepsKept     = 200
	stepsKeptHead = 20
)

// step adds to the timeline. The caller holds in.mu.
func (c *call) step(s Step) {
	c.keep(s)
	c.in.changed(Change{Kind: CallChanged, Number: c.number})
}

func (c *call) keep(s Step) {
	s.Text = shortened(s.Text)
	if len(c.steps) == stepsKept {
		c.steps = append(c.steps[:stepsKeptHead], c.steps[stepsKeptHead+1:]...)
		c.dropped++
	}
	c.steps = append(c.steps, s)
}

// logsShown is how many log messages, and how many progress notifications, of a
// call get a step each; the rest is counted.
const logsShown = 20

// logged notes a log message. The caller holds in.mu.
func (c *call) logged(text string, seq int64) {
	c.logs++
	if c.logs <= logsShown {
		c.step(Step{At: now(), Kind: StepLog, Text: text, Seq: seq})
		return
	}
	c.in.changed(Change{Kind: CallChanged, Number: c.number})
}

// progressed notes progress: where it stands, and, for the first few
// notifications, a step. The caller holds in.mu.
func (c *call) progressed(p Progress, seq int64) {
	c.progress = &p
	c.reports++
	if c.reports <= logsShown {
		c.step(Step{At: now(), Kind: StepProgress, Text: p.words(), Seq: seq})
		return
	}
	c.in.changed(Change{Kind: CallChanged, Number: c.number})
}

func (p Progress) words() string {
	text := strconv.FormatFloat(p.Value, 'g', -1, 64)
	if p.Total > 0 {
		text += " of " + strconv.FormatFloat(p.Total, 'g', -1, 64)
	}
	return strings.TrimSpace(text + " " + p.Message)
}

// sent notes that a request of the call is on the wire. The caller holds in.mu.
func (c *call) sent(round int, seq int64) {
	c.seq, c.rounds = seq, round
	step := Step{At: now(), Kind: StepCalled, Seq: seq, Text: c.request.Key}
	if round > 1 {
		step.Kind, step.Text = StepRetry, fmt.Sprintf("round %d", round)
		c.carried(round-1, seq)
	}
	c.step(step)
}

// wake makes the call look again at what it waits for. It never blocks.
func (c *call) wake() {
	select {
	case c.woken <- struct{}{}:
	default:
	}
}

// Calls returns the calls that are kept, oldest first: those that run, and of those
// that have ended the latest [CallsKept].
func (in *Inspection) Calls() []Call {
	if in.replay != nil {
		return in.replay.shown.Load().calls()
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	out := []Call{}
	for _, c := range in.calls {
		if c != nil {
			out = append(out, c.snapshot())
		}
	}
	return out
}

// Call returns one call by its number.
func (in *Inspection) Call(number int) (Call, error) {
	if in.replay != nil {
		return in.replay.call(number)
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	c, err := in.call(number)
	if err != nil {
		return Call{}, err
	}
	return c.snapshot(), nil
}

func (in *Inspection) call(number int) (*call, error) {
	if number < 1 || number > len(in.calls) {
		return nil, fmt.Errorf("%w: %d", ErrUnknownCall, number)
	}
	if in.calls[number-1] == nil {
		return nil, fmt.Errorf("%w %d", ErrForgottenCall, number)
	}
	return in.calls[number-1], nil
}

// callOf finds the call and round that a progress token of ours names.
func (in *Inspection) callOf(token string) (*call, int) {
	rest, ok := strings.CutPrefix(token, "call-")
	if !ok {
		return nil, 0
	}
	a, b, ok := strings.Cut(rest, "-")
	number, err1 := strconv.Atoi(a)
	round, err2 := strconv.Atoi(b)
	if !ok || err1 != nil || err2 != nil {
		return nil, 0
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	c, err := in.call(number)
	if err != nil {
		return nil, 0
	}
	return c, round
}

// Begin makes a call and returns at once. There is no time limit: the call runs
// until the server answers, the connection is lost, or it is stopped.
func (in *Inspection) Begin(r CallRequest) (Call, error) { return in.begin(r, retry{}) }

// Repeat goes on with a call that ended because something in its last round was
// refused: another call is made, with the state of that round and no answer to
// what was refused. Clients do not do so by themselves, but servers have to cope.
func (in *Inspection) Repeat(number int) (Call, error) {
	in.mu.Lock()
	c, err := in.call(number)
	if err != nil || c.repeat == nil {
		in.mu.Unlock()
		return Call{}, cmp.Or(err, fmt.Errorf("call %d has nothing to go on with", number))
	}
	r, with := c.request, *c.repeat
	in.mu.Unlock()
	return in.begin(r, with)
}

func (in *Inspection) begin(r CallRequest, first retry) (Call, error) {
	s, err := in.server(r.Server)
	if err != nil {
		return Call{}, err
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.closed {
		return Call{}, ErrClosed
	}
	if s.state != Ready || s.session == nil {
		return Call{}, fmt.Errorf("%w: %s is %s", ErrNotReady, s.label(), s.state)
	}
	ctx, stop := context.WithCancel(s.session.ctx)
	c := &call{
		in: in, number: len(in.calls) + 1, session: s.session, request: r,
		ctx: ctx, stop: stop, woken: make(chan struct{}, 1), started: now(), first: first,
	}
	if r.Timeout == 0 {
		r.Timeout = in.config.CallTimeout
	}
	c.watch.start(r.Timeout, c.timedOut)
	in.calls = append(in.calls, c)
	in.changed(Change{Kind: CallChanged, Number: c.number})
	in.running.Go(c.run)
	return c.snapshot(), nil
}

// Stop cancels a running call; the server is told. Its questions are withdrawn.
func (in *Inspection) Stop(number int) error {
	in.mu.Lock()
	defer in.mu.Unlock()
	c, err := in.call(number)
	if err != nil {
		return err
	}
	if c.state == CallRunning {
		c.why = "stopped by the user"
		c.finish(CallStopped, Step{Kind: StepStopped, Text: "stopped by you"})
	}
	return nil
}

// CallsKept is how many of the calls that have ended are kept. Of earlier ones the
// frames in the log are left.
const CallsKept = 100

// forgetCalls lets go of the call that ended first, if there is one too many.
// Questions that know it still have its number and name. The caller holds in.mu.
func (in *Inspection) forgetCalls() {
	if len(in.ended) <= CallsKept {
		return
	}
	c := in.ended[0]
	in.ended = slices.Delete(in.ended, 0, 1)
	in.calls[c.number-1] = nil
	c.steps, c.progress, c.repeat, c.first, c.request.Arguments = nil, nil, nil, retry{}, nil
	in.changed(Change{Kind: CallChanged, Number: c.number})
}

// finish ends the call, once: what comes second changes nothing. Questions that
// are still open because of it are withdrawn, and the server is told that
// nobody will answer them. The caller holds in.mu.
func (c *call) finish(state CallState, step Step) {
	if c.state != CallRunning {
		return
	}
	c.state, c.ended = state, now()
	c.watch.stop(c.ended)
	step.At = c.ended
	c.step(step)
	c.stop()
	reason, by := fmt.Sprintf("call %d ended", c.number), ByPolicy
	if state == CallStopped {
		reason, by = fmt.Sprintf("you stopped call %d", c.number), ByPerson
	}
	if c.reply == 0 && c.seq != 0 {
		c.in.over[c.seq] = true
	}
	alone := !c.company()
	for _, q := range slices.Clone(c.in.pending) {
		mine := q.call == c && q.sure
		left := q.call != nil && q.session == c.session && !q.sure && alone // of a call that was guessed, and none is left
		if mine || left {
			q.answer = Answer{Action: "cancel", Actor: ByPolicy}
			c.in.settle(q, Withdrawn, by, reason)
		}
	}
	c.in.ended = append(c.in.ended, c)
	c.in.forgetCalls()
}

// company reports whether another call runs on the same connection, so that a
// question of which the call was only guessed may be that one's. The caller
// holds in.mu.
func (c *call) company() bool {
	return slices.ContainsFunc(c.in.calls, func(other *call) bool {
		return other != nil && other != c && other.session == c.session && other.state == CallRunning
	})
}

// run makes the request, and makes it again for as long as the server wants
// more of the person.
func (c *call) run() {
	defer c.stop()
	defer c.session.forget(c)
	defer c.keepEnd()
	state, step := c.converse()
	c.in.mu.Lock()
	defer c.in.mu.Unlock()
	if c.state == CallRunning && step.Kind == StepError && !c.explained {
		c.failure = step.Text
	}
	c.finish(state, step)
}

func (c *call) converse() (CallState, Step) {
	next := c.first
	for round := 1; ; round++ {
		reply, err := c.session.roundTrip(c, round, next)
		if err != nil {
			return CallFailed, Step{Kind: StepError, Text: plainly(c.session.lost(c.ctx, err).Error())}
		}
		c.waiting(true)
		open, more, end := c.wanted(reply, round)
		if end != nil {
			state := CallDone
			if end.Kind == StepError {
				state = CallFailed
			}
			return c.replied(reply, state, *end)
		}
		next = *more
		answers, err := c.await(open)
		if err == nil {
			err = c.mayGoOn(round)
		}
		c.waiting(false)
		c.keepAnswers(open)
		if err != nil {
			if cause := context.Cause(c.session.ctx); cause != nil {
				err = cause // which says more
			}
			return CallFailed, Step{Kind: StepError, Text: err.Error()}
		}
		if c.turnedDown(open) {
			return c.replied(reply, CallFailed, Step{Kind: StepError, Text: "the URL was not accepted"})
		}
		if next.responses != nil {
			next.responses = append(next.responses, answers...)
		}
		if end := c.cannotAnswer(open, round, next); end != nil { // refused since, while it was held back
			return c.replied(reply, CallFailed, *end)
		}
	}
}

// wanted reads what a response wants before the call is made again: questions,
// and what the next request carries beside their answers. end is set where the
// call is over.
func (c *call) wanted(r reply, round int) (open []*question, more *retry, end *Step) {
	failed := func(format string, args ...any) ([]*question, *retry, *Step) {
		return nil, nil, &Step{Kind: StepError, Text: fmt.Sprintf(format, args...)}
	}
	if r.message.Kind == wire.Error {
		code, message, data, err := rpcErrorOf(r.message.Error)
		if err != nil {
			return failed("%v", err)
		}
		if code != codeURLRequired || c.session.revision() < Revision20251125 { // which does not know this error
			return failed("%d %s", code, message)
		}
		if open, err = c.urlQuestions(data, round, r.seq); err != nil {
			return failed("%d: %v", code, err)
		}
		if c.allRefused(open) {
			why := fmt.Sprintf("%d: the call was not made again: %s", code, c.refusal(open))
			c.in.mu.Lock()
			c.failure = why // which the error itself does not say
			c.in.mu.Unlock()
			return failed("%s", why)
		}
		return open, &retry{}, nil
	}
	if !c.session.modern() { // no call has further rounds; ReadResult says so
		return nil, nil, c.resultStep(r.message.Result)
	}
	kind, err := typeOfResult(r.message.Result)
	switch {
	case err != nil:
		return failed("%v", err)
	case kind == completeType:
		return nil, nil, c.resultStep(r.message.Result)
	}
	required, err := readInputRequired(r.message.Result)
	switch {
	case err != nil:
		return failed("%v", err)
	case required.empty():
		return failed("an input-required result that asks for nothing and has no state to come back with")
	}
	open = c.roundQuestions(required, round, r.seq)
	more = &retry{state: required.State}
	if required.Asks {
		more.responses = []member{} // present, though there may be nothing in it
	}
	return open, more, c.cannotAnswer(open, round, *more)
}

// cannotAnswer is the end of a call of whose last round something was refused, nil
// where nothing was. The person may go on without it.
func (c *call) cannotAnswer(open []*question, round int, without retry) *Step {
	why := c.unanswerable(open)
	if why == "" {
		return nil
	}
	c.in.mu.Lock()
	defer c.in.mu.Unlock()
	c.repeat = &without
	return &Step{Kind: StepError, Text: fmt.Sprintf("round %d cannot be answered, so the call was not made again: %s", round, why)}
}

// resultStep is the end of a call that has a result. A tool that failed says so
// in its result (specification, Tools, Error Handling).
func (c *call) resultStep(result json.RawMessage) *Step {
	if len(result) > 0 && result[0] != '{' {
		return &Step{Kind: StepError, Text: fmt.Sprintf("the result cannot be read: it is %s, not an object", jsonKind(result))}
	}
	var r struct {
		IsError bool `json:"isError"`
	}
	if json.Unmarshal(result, &r) == nil && r.IsError {
		c.in.mu.Lock()
		c.isError = true
		c.in.mu.Unlock()
		return &Step{Kind: StepResult, Text: "the tool says that it failed"}
	}
	return &Step{Kind: StepResult}
}

func (c *call) replied(r reply, state CallState, step Step) (CallState, Step) {
	c.in.mu.Lock()
	if c.state == CallRunning { // else it was stopped at the same moment
		c.reply = r.seq
		c.explained = r.message.Kind == wire.Error
	}
	c.in.mu.Unlock()
	step.Seq = r.seq
	return state, step
}

// errStopped is why an await ends when the call does.
var errStopped = errors.New("the call has ended")
