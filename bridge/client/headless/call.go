package headless

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
	"elicitation-inspector/bridge/client/inspection"
	"elicitation-inspector/bridge/client/live"
	"elicitation-inspector/bridge/keep/script"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/meaning/elicit"
	"elicitation-inspector/bridge/meaning/fault"
	"elicitation-inspector/bridge/meaning/lint"
)

// Call is a call to make.
type Call struct {
	Kind      conversation.Kind
	Key       string // a tool's or prompt's name, a resource's URI
	Arguments json.RawMessage
	Timeout   time.Duration // limit of the server's own time; 0 for the session's
	AsTask    bool          // call a tool as a task, which it may be (live.Request)
	TTL       time.Duration // of the task; 0 to leave it to the server
	Each      bool          // send each answer to a question of a task as it is given (live.Request)
	Scripts   []*script.Script
	Decider   inspection.Decider // answers in place of the scripts; nil for none
	Expect    *script.Outcome
	Judge     bool // return findings
	// Asked is called before each question is answered, with its place among the questions,
	// from 1. The answer waits until it returns; nil for none.
	Asked func(place int)
}

// Outcome is the outcome of a call.
type Outcome struct {
	Number int // number of the call
	script.Came
	IsError    bool
	TimedOut   bool
	Lost       bool // the connection ended, or the call was stopped
	Unanswered []Unanswered
	Findings   []inspection.Found
	Unmet      []string // expectations that the outcome does not meet, in words
	Misfit     string   // after a call that failed: how it does not fit what the server lists; "" if it does
	// Unsent is the method of a request that the server could not make because its
	// revision does not have it; "" for none.
	Unsent string
	Idle   []*script.Rule // the rules that answered no question
	Took   time.Duration
}

// Unanswered is a question that neither a rule nor a person answered.
type Unanswered struct {
	Question live.Question
	Why      string
}

// Call makes a call, and waits for its end. If ctx ends, the call is stopped.
func (s *Session) Call(ctx context.Context, c Call) (Outcome, error) {
	all, err := s.CallTogether(ctx, c, 1)
	if err != nil {
		return Outcome{}, err
	}
	return all[0], nil
}

// CallTogether makes a call several times at once, and returns when all of these calls
// have ended. One run of the scripts answers the questions of all. Answers with a delay wait
// no longer than until the calls have met.
func (s *Session) CallTogether(ctx context.Context, c Call, times int) ([]Outcome, error) {
	var mu sync.Mutex
	var unanswered []Unanswered // questions that are cancelled because nothing answers them
	run := script.NewRun(c.Scripts...)
	source := &inspection.ScriptSource{Run: run, Before: c.Asked}
	if c.Decider != nil {
		source.Run = c.Decider
	}
	if s.config.Ask == nil {
		source.Left = func(q live.Question, why string) (cancel bool) {
			mu.Lock()
			defer mu.Unlock()
			unanswered = append(unanswered, Unanswered{q, why})
			return true
		}
	}
	s.in.AnswerBy(source)
	c.Timeout = cmp.Or(c.Timeout, s.config.Timeout)
	if server, err := s.Server(); err == nil && server.Info.Tasks.Calls && c.Kind == conversation.Tool && !s.config.NoLists {
		_, _ = s.Catalog(ctx) // says whether the tool is called as a task; an error is said by the call
	}
	out, problems := make([]Outcome, times), make([]error, times)
	before := s.log.Len()
	var making sync.WaitGroup
	var begun []int // the numbers of the calls
	for i := range out {
		var number int
		if number, problems[i] = s.begin(ctx, c); problems[i] != nil {
			break
		}
		begun = append(begun, number)
		making.Go(func() {
			out[i], problems[i] = s.outcome(ctx, number, before)
			if call, err := s.in.Call(number); err == nil && times == 1 && out[i].Lost && call.LastRequest() == 0 { // its session had ended
				if again, err := s.begin(ctx, c); err == nil {
					out[i], problems[i] = s.outcome(ctx, again, before)
				}
			}
		})
	}
	if times > 1 {
		making.Go(func() { s.answerTogether(begun) })
	}
	making.Wait()
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	mu.Lock()
	left := unanswered
	mu.Unlock()
	for i := range out {
		for _, u := range left {
			out[i].Unanswered = append(out[i].Unanswered, Unanswered{u.Question, u.Why})
		}
	}
	if c.Judge || c.Expect != nil && c.Expect.Findings != nil {
		if err := s.judge(context.WithoutCancel(ctx), &out[0]); err != nil {
			return nil, err
		}
	}
	if first := &out[0]; (first.Error != nil || first.IsError) && !s.config.NoLists {
		first.Misfit = s.misfit(ctx, c)
	}
	for i := range out {
		out[i].Idle = run.Idle()
		out[i].Unmet = append(run.Unmet(true), c.Expect.Check(out[i].Came)...)
	}
	return out, nil
}

// begin begins a call, and returns its number. If the server ends the session before, the call
// is made in the next one.
func (s *Session) begin(ctx context.Context, c Call) (number int, err error) {
	if err := s.Connected(ctx); err != nil {
		return 0, err
	}
	began, err := s.in.Begin(live.Request{
		Server: s.server, Kind: c.Kind, Name: c.Key, Key: c.Key, Arguments: c.Arguments, Timeout: c.Timeout, Whole: s.config.Ask == nil,
		AsTask: c.AsTask, TTL: c.TTL, Each: c.Each,
	})
	switch {
	case errors.Is(err, live.ErrNotReady):
		return s.begin(ctx, c)
	case err != nil:
		return 0, fmt.Errorf("%w: %w", ErrConnect, err)
	}
	return began.Number, nil
}

// listsMost is how long a call that failed waits for the lists of what the server offers.
const listsMost = 5 * time.Second

// misfit says which server was asked, and what it offers, if that is not what was called, or
// what is wrong with the arguments of a tool by its inputSchema; "" if it is a call that the
// server offers, or if nobody knows.
func (s *Session) misfit(ctx context.Context, c Call) string {
	ctx, done := context.WithTimeout(ctx, listsMost)
	defer done()
	offers, err := s.Catalog(ctx)
	if err != nil || len(offers.Errors) > 0 || c.Kind == conversation.Resource { // a template can stand for a resource that no list has
		return ""
	}
	var names []string
	for _, item := range offers.Items {
		if item.Kind != c.Kind {
			continue
		}
		if names = append(names, item.Key); item.Key == c.Key {
			return wrongArguments(item, c.Arguments)
		}
	}
	server, err := s.Server()
	if err != nil {
		return ""
	}
	return fmt.Sprintf("%s (%s) lists no %s %s%s", server.DisplayName(), server.Address, c.Kind, wording.Quoted(c.Key), conversation.Instead(c.Key, names))
}

// wrongArguments says where the arguments of a tool do not satisfy its inputSchema.
func wrongArguments(item conversation.Item, arguments json.RawMessage) string {
	if item.Kind != conversation.Tool || item.Schema == nil {
		return ""
	}
	if arguments == nil {
		arguments = json.RawMessage("{}")
	}
	fields, err := elicit.FieldsOf(item.Schema)
	if err != nil {
		return ""
	}
	problems, err := elicit.Check(item.Schema, arguments)
	if err != nil || len(problems) == 0 { // a schema that cannot be checked by is the linter's to judge
		return ""
	}
	const most = 5
	var words []string
	for _, p := range problems[:min(len(problems), most)] {
		words = append(words, p.Named(fields))
	}
	return fmt.Sprintf("the arguments do not satisfy the inputSchema of %s: %s", item.Key, wording.Shorten(strings.Join(words, " "), 500))
}

// outcome waits for the end of a call, whose frames come after a frame of the log.
func (s *Session) outcome(ctx context.Context, number int, after int64) (out Outcome, err error) {
	call, err := s.converse(ctx, number)
	if err != nil {
		return out, err
	}
	// Answers that are late on purpose go out only now, and the connection must not end before.
	late, done := context.WithTimeout(context.WithoutCancel(ctx), lateGrace)
	defer done()
	_ = s.log.Await(late, func() bool { return !s.owesAnswer(number, after) })
	out.Number, out.IsError, out.Failure, out.Took, out.Unsent = number, call.State == conversation.ToolFailed, call.Failure, call.Duration, call.Unsent
	switch {
	case call.ResultSeq != 0:
		f, err := s.log.Frame(call.ResultSeq)
		if err != nil {
			return out, fmt.Errorf("reading the response: %w", err)
		}
		final := conversation.Final(&f)
		if out.Error = final.Error; call.Failure == "" {
			out.Result = final.Result
		}
	case call.TimedOut:
		out.TimedOut = true
	default:
		out.Lost = true
	}
	return out, nil
}

// Await waits until the call with this number has begun and ended: a call that continues
// an earlier one, for example in a session that a fault started. It fails if the call
// does not begin before begun ends.
func (s *Session) Await(ctx, begun context.Context, number int) (Outcome, error) {
	changes := s.in.Subscribe()
	defer changes.Close()
	if err := await(begun, changes, func() bool {
		_, err := s.in.Call(number)
		return !errors.Is(err, live.ErrUnknownCall)
	}); err != nil {
		return Outcome{}, err
	}
	return s.outcome(ctx, number, 0)
}

// judge adds the linter's findings since the previous judge.
func (s *Session) judge(ctx context.Context, out *Outcome) error {
	if err := s.in.Judge(ctx); err != nil {
		return err
	}
	all := s.in.Findings("")
	out.Findings, s.judged = slices.Clone(all[s.judged:]), len(all)
	// The client is the inspector, which does as it is told.
	out.Findings = slices.DeleteFunc(out.Findings, func(f inspection.Found) bool { return f.Judges == lint.ClientParty })
	for _, f := range out.Findings {
		if f.Severity <= lint.Should && !slices.Contains(out.Came.Findings, f.Rule) {
			out.Came.Findings = append(out.Came.Findings, f.Rule)
		}
	}
	return nil
}

// roundsPause is how long a call waits where a person would be asked whether to go on after
// many rounds. It keeps a server that asks for ever from being asked as fast as it can.
const roundsPause = 500 * time.Millisecond

// converse waits for the end of a call. Meanwhile it asks the person the questions that
// the script leaves.
func (s *Session) converse(ctx context.Context, number int) (inspection.Call, error) {
	changes := s.in.Subscribe()
	defer changes.Close()
	var asking sync.WaitGroup
	defer asking.Wait()
	life, end := context.WithCancel(ctx)
	defer end()
	var answered chan struct{} // closed when the person has answered; nil while no question is with the person
	stop := ctx.Done()
	var goOn <-chan time.Time // receives when the call may go on after many rounds; nil while it does
	for {
		call, err := s.in.Call(number)
		if err != nil || call.State.Over() {
			return call, err
		}
		switch {
		case !call.Paused:
			goOn = nil
		case goOn == nil:
			goOn = time.After(roundsPause)
		}
		if q, ok := s.waiting(); ok && answered == nil {
			done := make(chan struct{})
			answered = done
			asking.Go(func() {
				defer close(done)
				s.ask(life, q)
			})
		}
		select {
		case <-changes.Ready():
			changes.Take()
		case <-answered:
			answered = nil
		case <-goOn:
			if err := s.in.Retry(number); err != nil {
				return call, err
			}
			goOn = nil
		case <-stop:
			stop = nil
			if err := s.in.Stop(number); err != nil {
				return call, err
			}
		}
	}
}

// lateGrace is how long an answer may take to go out after its call has ended.
const lateGrace = 5 * time.Second

// owesAnswer reports whether the log of a call, after a frame, has the note that a question is answered by
// a fault which answers late, and no later frame of that fault: neither the answer nor a
// note that it could not be sent.
func (s *Session) owesAnswer(call int, after int64) bool {
	frames := map[int]int{} // of such a fault, by the question's number
	for seq := after + 1; seq <= s.log.Len(); seq++ {
		if f := s.log.Head(seq); f.Call == call && f.Fault != "" && fault.AnswersLate(f.Fault) {
			frames[f.Question]++
		}
	}
	for _, n := range frames {
		if n == 1 {
			return true
		}
	}
	return false
}

// waiting returns the oldest question that waits for the person.
func (s *Session) waiting() (inspection.Question, bool) {
	if s.config.Ask == nil {
		return inspection.Question{}, false
	}
	for _, q := range s.in.OnShow(0) {
		if q.State == conversation.Pending && q.Delay == 0 {
			return q, true
		}
	}
	if server, err := s.in.Server(s.server); err == nil && server.Held > 0 {
		_ = s.in.Release(s.server, "show") // fails only for unknown servers
	}
	return inspection.Question{}, false
}

// ask asks the person a question, unless it is settled meanwhile.
func (s *Session) ask(ctx context.Context, q inspection.Question) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	over := make(chan struct{})
	go func() {
		defer close(over)
		defer cancel()
		changes := s.in.Subscribe()
		defer changes.Close()
		_ = await(ctx, changes, func() bool {
			now, err := s.in.Question(q.Number)
			return err != nil || now.State != conversation.Pending
		})
	}()
	answer, err := s.config.Ask(ctx, q)
	cancel()
	<-over
	if err != nil { // there is no person any more, or the question is settled
		answer = live.Answer{Action: "cancel", Actor: conversation.ByPolicy}
	}
	_ = s.in.Answer(q.Number, answer) // fails if the question is settled
}
