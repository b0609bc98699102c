// Package calls makes calls of tools, prompts and resources, round after round for
// as long as the server wants more of the person, and keeps what happened in each.
package calls

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"sync"
	"time"

	"elicitation-inspector/bridge/catalog"
	"elicitation-inspector/bridge/client"
	"elicitation-inspector/bridge/conversation"
	"elicitation-inspector/bridge/elicit"
	"elicitation-inspector/bridge/inbox"
	"elicitation-inspector/bridge/session"
	"elicitation-inspector/bridge/wire"
)

// Connection is what a call is made on: a session.
type Connection interface {
	// RoundTrip sends one request and returns its response.
	RoundTrip(context.Context, session.Request) (session.Reply, error)
	// Judge reads what a response asks, and refuses what the person cannot be asked.
	Judge(*client.InputRequest)
	// Overtaken reports whether the server has said already that a URL is done.
	Overtaken(*elicit.Request) bool
	Revision() string
	ID() string // of the session
	// Context ends with the connection.
	Context() context.Context
	// Noted logs what the inspector itself has to say.
	Noted(wire.Frame)
	// Misbehave carries out what comes before a request that is wrong on purpose.
	Misbehave(context.Context, session.Misbehaviour) error
}

// Owner is told what happens to calls, without the mutex.
type Owner interface {
	// CallChanged is called where anything of a call has changed.
	CallChanged(number int)
	// StartSession has a call that has ended and is to go on in a new session.
	StartSession(number int)
}

// Errors that the methods of Calls return.
var (
	ErrUnknown   = errors.New("no such call")
	ErrForgotten = errors.New("only the frames are left of call")
)

// Kept is how many of the calls that have ended are kept. Of earlier ones the
// frames in the log are left.
const Kept = 100

// Calls is safe for concurrent use.
type Calls struct {
	owner Owner
	inbox *inbox.Inbox
	spawn func(func()) bool // runs a call, unless it is too late

	mu    sync.Mutex
	calls []*call // by number; nil for those that are not kept
	ended []*call // those that have ended, in the order of their end
}

// New has no calls yet.
func New(owner Owner, in *inbox.Inbox, spawn func(func()) bool) *Calls {
	return &Calls{owner: owner, inbox: in, spawn: spawn}
}

// Request is what the person asks for.
type Request struct {
	Server    string // id
	Kind      catalog.Kind
	Name      string // what people call it
	Key       string // tool or prompt name, resource URI
	Arguments json.RawMessage
	// Timeout is how long the call may take, without the time that its questions
	// wait for a person. 0 means what is usual, less means no limit.
	Timeout time.Duration
	// AnsweredAs is the call whose answers the questions of this one get; 0 for none.
	AnsweredAs int
}

// Call is what only who makes a call knows of it, and what stands in the log a
// moment later. The log has everything else; see [conversation.Call].
type Call struct {
	Number  int
	Request Request
	State   conversation.State // Running, Done, Failed or Stopped
	Started time.Time
	Ended   time.Time // while it runs zero
	Reply   int64     // frame of the response that ended it, 0 if there is none
	Failure string    // why there is no response, or why the result is of no use
	Wait
}

// Wait is how a call stands with its person.
type Wait struct {
	Waiting int           // its questions that wait for the person
	Yours   bool          // the person's clock runs: a question waits, a URL is being visited, or Paused
	Asked   time.Time     // when the oldest of those came
	Waited  time.Duration // how long a person was waited for, so far
	Timeout time.Duration // 0: none
	Every   time.Duration // how often it tries again while a URL's outcome is open
	Paused  bool          // it waits for the person's word to go on after many rounds
	Repeats bool          // the person may go on without what was refused; see [Calls.Repeat]
}

// view is a copy for readers.
func (c *call) view(now time.Time) Call {
	out := c.Call
	out.Repeats = c.repeat != nil
	c.clock.tell(&out.Wait, now)
	return out
}

// All returns the calls that are kept, oldest first: those that run, and of those
// that have ended the latest [Kept].
func (cs *Calls) All() []Call {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	out := []Call{} // not with room for all numbers: few of very many may be kept
	for _, c := range cs.calls {
		if c != nil {
			out = append(out, c.view(time.Now()))
		}
	}
	return out
}

// Call returns one call by its number.
func (cs *Calls) Call(number int) (Call, error) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	c, err := cs.find(number)
	if err != nil {
		return Call{}, err
	}
	return c.view(time.Now()), nil
}

// Known reports whether a call is kept.
func (cs *Calls) Known(number int) bool {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	_, err := cs.find(number)
	return err == nil
}

func (cs *Calls) find(number int) (*call, error) {
	if number < 1 || number > len(cs.calls) {
		return nil, fmt.Errorf("%w: %d", ErrUnknown, number)
	}
	if cs.calls[number-1] == nil {
		return nil, fmt.Errorf("%w %d", ErrForgotten, number)
	}
	return cs.calls[number-1], nil
}

// update changes a call that is kept, with the mutex held, and tells the owner if
// change reports that it did.
func (cs *Calls) update(number int, change func(*call) bool) error {
	cs.mu.Lock()
	c, err := cs.find(number)
	changed := err == nil && change(c)
	cs.mu.Unlock()
	if changed {
		cs.owner.CallChanged(number)
	}
	return err
}

// Begin makes a call and returns at once. Unless it has a limit, it runs until the
// server answers, the connection is lost, or it is stopped.
func (cs *Calls) Begin(conn Connection, r Request) Call {
	return cs.begin(conn, r, next{})
}

// Repeat goes on with a call that ended because something in its last round was
// refused: another call is made, with the state of that round and no answer to
// what was refused. Clients do not do so by themselves, but servers have to cope.
func (cs *Calls) Repeat(conn Connection, number int) (Call, error) {
	cs.mu.Lock()
	c, err := cs.find(number)
	if err != nil || c.repeat == nil {
		cs.mu.Unlock()
		return Call{}, cmp.Or(err, fmt.Errorf("call %d has nothing to go on with", number))
	}
	r, with := c.Request, *c.repeat
	cs.mu.Unlock()
	return cs.begin(conn, r, with), nil
}

func (cs *Calls) begin(conn Connection, r Request, first next) Call {
	ctx, stop := context.WithCancelCause(conn.Context())
	c := &call{
		Call: Call{Request: r, Started: time.Now()}, calls: cs, conn: conn, session: conn.ID(),
		ctx: ctx, stop: stop, woken: make(chan struct{}, 1), consents: map[consent]string{}, clocked: map[int]bool{},
	}
	cs.mu.Lock()
	cs.calls = append(cs.calls, c)
	c.Number = len(cs.calls)
	c.clock.start(r.Timeout, c.timedOut)
	out := c.view(c.Started)
	cs.mu.Unlock()
	cs.owner.CallChanged(out.Number)
	if !cs.spawn(func() { c.run(first) }) {
		c.finish(*failed("the inspection has ended"))
	}
	return out
}

// Stop cancels a running call; the server is told. Its questions are withdrawn.
func (cs *Calls) Stop(number int) error {
	cs.mu.Lock()
	c, err := cs.find(number)
	cs.mu.Unlock()
	if err == nil {
		c.finish(ending{state: conversation.Stopped, told: "stopped by the user"})
	}
	return err
}

// RetryEvery makes a call that waits for a URL's outcome try again every so
// often. 0 ends that.
func (cs *Calls) RetryEvery(number int, every time.Duration) error {
	return cs.update(number, func(c *call) bool {
		c.Every = max(every, 0)
		c.wake()
		return true
	})
}

// Retry makes a call that waits for questions or a URL's outcome go on now,
// with the answers that there are.
func (cs *Calls) Retry(number int) error {
	return cs.update(number, func(c *call) bool {
		if c.waits { // else it is on its way already
			c.retry = true
			c.wake()
		}
		return false
	})
}
