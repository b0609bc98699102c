package live

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/client/session"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/meaning/elicit"
	"elicitation-inspector/bridge/wire"
)

// Connection is the session that a call is made on.
type Connection interface {
	// RoundTrip sends one request and returns its response.
	RoundTrip(context.Context, session.Request) (session.Reply, error)
	// ReadToolsAgain has the tools read again before the next request, since the server has
	// refused the headers of one. It returns false where that is of no use.
	ReadToolsAgain() bool
	// TaskTold receives when the server has sent a notification about a task.
	TaskTold(id string) <-chan struct{}
	// ResumeTask makes a task of an earlier session one of this session, with the keys of its
	// questions that are answered.
	ResumeTask(call, round int, id string, answered conversation.TaskKeys)
	// TaskOver records that the call of a task has ended.
	TaskOver(id string)
	// CanCancelTasks reports whether the server accepts tasks/cancel.
	CanCancelTasks() bool
	// Judge parses an input request, and refuses it if the person cannot be asked.
	Judge(*conversation.InputRequest)
	Revision() string
	ID() string // id of the session
	// Context returns a context that ends with the connection.
	Context() context.Context
	// EndedBy returns who ended the connection, and why; "", "" before its end.
	EndedBy() (by, reason string)
	// Noted logs a note of the inspector.
	Noted(wire.Frame)
	// Misbehave carries out the steps of a fault before the next request.
	Misbehave(context.Context, session.Misbehaviour) error
}

// Errors that the methods of Calls return.
var (
	ErrUnknownCall = errors.New("no such call")
	ErrForgotten   = errors.New("only the frames are left of call")
)

// Kept is the number of ended calls that are kept. The log still has the frames of
// earlier ones.
const Kept = 100

// Calls is safe for concurrent use.
type Calls struct {
	changes *Feed
	inbox   *Inbox
	spawn   func(func()) bool   // runs a call in a goroutine; false if the inspection has ended
	restart func(number int)    // is called when a call has ended and is to go on in a new session
	resume  func(server string) // is called when a call has ended whose task may go on

	mu    sync.Mutex
	last  int     // number of the latest call
	calls []*call // the calls that are kept, by ascending number
	ended []*call // those of them that have ended, in the order of their end
}

// NewCalls returns Calls without any call.
func NewCalls(feed *Feed, in *Inbox, spawn func(func()) bool, restart func(number int), resume func(server string)) *Calls {
	return &Calls{changes: feed, inbox: in, spawn: spawn, restart: restart, resume: resume}
}

func (cs *Calls) changed(numbers ...int) {
	for _, number := range numbers {
		cs.changes.Mark(Change{Kind: CallChanged, Number: number})
	}
}

// Request is the request that the person makes.
type Request struct {
	Server    string // id
	Kind      conversation.Kind
	Name      string // display name
	Key       string // tool or prompt name, resource URI
	Arguments json.RawMessage
	// Timeout limits the call, without the time in which its questions wait for a person.
	// 0 means the default, a negative value no limit.
	Timeout time.Duration
	// Whole makes the time limit include the time in which questions wait, for runs without a
	// person.
	Whole bool
	// AsTask has the tool called as a task (specification 2025-11-25, Tasks), which the
	// server keeps for TTL, or as long as it likes if that is 0.
	AsTask bool
	TTL    time.Duration
	// Each sends each answer to a question of a task as it is given, instead of all
	// together (extension tasks of 2026-07-28).
	Each bool
	// AnsweredAs is the number of an earlier call. The questions of this call get the answers of
	// that one; 0 for none.
	AnsweredAs int
}

// taskMember returns the member task of the request; nil for none.
func (r Request) taskMember() json.RawMessage {
	switch {
	case !r.AsTask:
		return nil
	case r.TTL == 0:
		return json.RawMessage("{}")
	}
	return fmt.Appendf(nil, `{"ttl":%d}`, r.TTL.Milliseconds())
}

// Call holds what is known of a call besides its frames: the request as the person made it, and
// how long the call has waited for the person.
type Call struct {
	Number  int
	Request Request
	Started time.Time
	Ended   bool       // the log says how, and its questions are settled
	End     *wire.Note // how it has ended; the log has this note, unless a response says so
	conversation.Wait
}

func (c *call) view(now time.Time) Call {
	out := c.Call
	out.Repeats = c.repeat != nil
	if (c.round.via == elicit.InRound || c.round.via == elicit.InTask) && c.round.open > 0 {
		out.Asks, out.Open = len(c.round.asked), c.round.open
	}
	w := &c.clock
	out.Waiting, out.Yours, out.Waited, out.Timeout = w.open, w.waits(), w.waited(now), w.limit
	if w.waits() {
		out.WaitedSince = w.oldest.Add(-w.paused)
	}
	if w.open > 0 {
		out.Wait.Asked = w.oldest
	}
	return out
}

// All returns the calls that are kept, oldest first: all running calls, and the latest
// [Kept] of the ended ones.
func (cs *Calls) All() []Call {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	out := make([]Call, len(cs.calls))
	for i, c := range cs.calls {
		out[i] = c.view(time.Now())
	}
	return out
}

// Call returns one call by its number.
func (cs *Calls) Call(number int) (out Call, err error) {
	err = cs.update(number, func(c *call) bool {
		out = c.view(time.Now())
		return false
	})
	return out, err
}

func (cs *Calls) find(number int) (*call, error) {
	if number < 1 || number > cs.last {
		return nil, fmt.Errorf("%w: %d", ErrUnknownCall, number)
	}
	i, kept := cs.place(number)
	if !kept {
		return nil, fmt.Errorf("%w %d", ErrForgotten, number)
	}
	return cs.calls[i], nil
}

// place returns the index of a call in calls, and whether it is kept.
func (cs *Calls) place(number int) (int, bool) {
	return slices.BinarySearchFunc(cs.calls, number, func(c *call, number int) int { return c.Number - number })
}

// update calls change for a call that is kept, with the mutex held, and marks the call as
// changed if change returns true.
func (cs *Calls) update(number int, change func(*call) bool) error {
	cs.mu.Lock()
	c, err := cs.find(number)
	changed := err == nil && change(c)
	cs.mu.Unlock()
	if changed {
		cs.changed(number)
	}
	return err
}

// Begin starts a call and returns at once. Unless the call has a time limit, it runs
// until the server answers, the connection is lost, or the call is stopped.
func (cs *Calls) Begin(conn Connection, r Request) Call {
	return cs.begin(conn, r, next{})
}

// Repeat continues a call that ended because an input request of its last round was
// refused: it starts a new call with the requestState of that round and without an answer
// to the refused request. Clients do not do so by themselves, but servers have to cope
// with it.
func (cs *Calls) Repeat(conn Connection, number int) (Call, error) {
	var r Request
	var with *next
	err := cs.update(number, func(c *call) bool {
		r, with = c.Request, c.repeat
		return false
	})
	if with == nil {
		return Call{}, cmp.Or(err, fmt.Errorf("call %d has nothing to go on with", number))
	}
	return cs.begin(conn, r, *with), nil
}

func (cs *Calls) begin(conn Connection, r Request, first next) Call {
	c := cs.newCall(conn, Call{Request: r, Started: time.Now()})
	cs.mu.Lock()
	cs.last++
	c.Number = cs.last
	cs.calls = append(cs.calls, c)
	c.clock.start(r, c.Started, c.timedOut)
	out := c.view(c.Started)
	cs.mu.Unlock()
	cs.start(c, func() *ending { return c.converse(first) })
	return out
}

func (cs *Calls) newCall(conn Connection, of Call) *call {
	ctx, stop := context.WithCancelCause(conn.Context())
	return &call{
		Call: of, calls: cs, conn: conn, session: conn.ID(),
		ctx: ctx, stop: stop, woken: make(chan struct{}, 1), noting: make(chan struct{}, 1), consents: map[consent]string{}, clocked: map[int]bool{}, updated: map[int]bool{},
	}
}

func (cs *Calls) start(c *call, until func() *ending) {
	cs.changed(c.Number)
	if !cs.spawn(func() { c.run(until) }) {
		c.finish(*failed("the inspection has ended"))
	}
}

// sessionsMost bounds in how many further sessions a call goes on.
const sessionsMost = 20

// Resume continues, in a new session of the same revision, the calls that were lost with an earlier
// session and whose tasks the server may still run. It sends the answers that were not sent, and
// asks again what was not answered.
func (cs *Calls) Resume(conn Connection, server string) {
	var resumed []*call
	revision := conn.Revision()
	cs.mu.Lock()
	for i, c := range cs.calls {
		if c.lost != revision || c.Request.Server != server || c.session == conn.ID() || c.sessions == sessionsMost {
			continue
		}
		again := cs.newCall(conn, Call{Number: c.Number, Request: c.Request, Started: c.Started})
		again.round, again.task, again.taskOf, again.updated, again.sessions = c.round, c.task, c.taskOf, c.updated, c.sessions+1
		again.clock.start(c.Request, time.Now(), again.timedOut)
		cs.calls[i] = again
		cs.ended = slices.DeleteFunc(cs.ended, func(one *call) bool { return one == c })
		resumed = append(resumed, again)
	}
	cs.mu.Unlock()
	for _, c := range resumed {
		answered := conversation.TaskKeys{}
		for q := range c.round.settled {
			if q.State == conversation.Answered {
				answered[q.Key] = true
			}
		}
		conn.ResumeTask(c.Number, c.taskOf, c.task, answered)
		cs.start(c, func() *ending {
			return c.follow(conversation.TaskState{ID: c.task, Status: conversation.TaskWorking}, session.Reply{}, c.taskOf)
		})
	}
}

// Stop cancels a running call: the server gets a cancellation, and the call's questions
// are withdrawn.
func (cs *Calls) Stop(number int) error {
	return cs.end(number, ending{state: conversation.Stopped, told: "stopped by the user"})
}

// Leave ends a running call whose task has not ended, because a fault wants it, or because
// the server has refused an answer: then the call has failed, and its task is cancelled.
func (cs *Calls) Leave(number int, why string, refused bool) error {
	if refused {
		return cs.end(number, ending{state: conversation.Failed, why: why, cancels: true})
	}
	return cs.end(number, *stoppedShort(why))
}

func (cs *Calls) end(number int, how ending) error {
	cs.mu.Lock()
	c, err := cs.find(number)
	cs.mu.Unlock()
	if err == nil {
		c.finish(how)
	}
	return err
}

// RetryEvery makes a call that waits for the outcome of a URL send its next request at
// this interval. 0 ends the retries.
func (cs *Calls) RetryEvery(number int, every time.Duration) error {
	return cs.update(number, func(c *call) bool {
		c.Every = max(every, 0)
		c.wake()
		return true
	})
}

// Retry makes a call that waits for questions or the outcome of a URL send its next
// request now, with the answers given so far.
func (cs *Calls) Retry(number int) error {
	return cs.update(number, func(c *call) bool {
		if c.waits { // otherwise the next request is already on its way
			c.retry = true
			c.wake()
		}
		return false
	})
}

// CommandLine returns the command line of the inspector that makes the call. server names
// the server in it; see [target.Spec.CommandLine].
func (r Request) CommandLine(server string) string {
	words := []string{"inspector", "call"}
	switch r.Kind {
	case conversation.Tool:
	case conversation.Prompt:
		words = append(words, "--prompt")
	default:
		words = append(words, "--resource")
	}
	words = append(words, wording.ShellWord(r.Key))
	if args := string(r.Arguments); args != "" && args != "{}" {
		words = append(words, "--args", wording.ShellWord(args))
	}
	if r.AsTask {
		words = append(words, "--task")
	}
	if r.Each {
		words = append(words, "--each")
	}
	if r.TTL > 0 {
		words = append(words, "--ttl", r.TTL.String())
	}
	if server != "" {
		words = append(words, server)
	}
	return strings.Join(words, " ")
}
