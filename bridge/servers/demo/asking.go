//lint:file-ignore SA1019 2026-07-28 deprecates sampling, roots and logging, and servers of every revision still use them.

package demo

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"golang.org/x/sync/errgroup"

	protocol "elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/servers/server"
)

// ask asks one or several questions at once. When all answers are there, it calls read on each question.
func (v *visit) ask(ctx context.Context, questions ...question) error {
	answers, err := v.answers(ctx, questions)
	if err != nil {
		return err
	}
	for _, q := range questions {
		if err := q.read(answers[q.key]); err != nil {
			return err
		}
	}
	return nil
}

func (v *visit) answer(ctx context.Context, q question) (answer, error) {
	answers, err := v.answers(ctx, []question{q})
	if err != nil {
		return answer{}, err
	}
	return answers[q.key], nil
}

// answers asks the questions and returns all answers by key. An accepted form satisfies its schema.
func (v *visit) answers(ctx context.Context, questions []question) (map[string]answer, error) {
	asked := make([]question, len(questions))
	for i, q := range questions {
		if err := v.may(q); err != nil {
			return nil, err
		}
		asked[i] = q.written(v.Revision)
	}
	get := v.request
	switch {
	case v.Rounds() && v.task != nil:
		get = v.task.input
	case v.Rounds():
		get = v.collect
	}
	answers, err := get(ctx, asked)
	if err != nil {
		return nil, err
	}
	for i, q := range asked {
		a := answers[q.key]
		if err := q.check(a); err != nil {
			return nil, err
		}
		if a.accepted() && q.schema != questions[i].schema {
			a.Content = questions[i].gathered(a.Content)
			answers[q.key] = a
		}
	}
	return answers, nil
}

// request sends all questions as requests to the client at the same time. The first failure cancels the others.
func (v *visit) request(ctx context.Context, questions []question) (map[string]answer, error) {
	if v.task != nil {
		v.task.Set(conversation.TaskInputRequired, "", nil, nil)
		defer v.task.Set(conversation.TaskWorking, "", nil, nil)
		if err := v.task.Await(ctx, func() bool { return v.task.Stream() != nil }); err != nil {
			return nil, err
		}
	}
	group, asking := errgroup.WithContext(ctx)
	results := make([]json.RawMessage, len(questions))
	for i, q := range questions {
		group.Go(func() (err error) {
			params := q.encode(v.Revision)
			if v.task != nil {
				params = rawjson.WithMember(params, "_meta", v.task.Related())
			}
			results[i], err = v.session.request(asking, v.stream(), q.requestMethod(), params)
			return err
		})
	}
	if group.Wait() != nil {
		return nil, refusal(context.Cause(asking))
	}
	answers := map[string]answer{}
	for i, q := range questions {
		var err error
		if answers[q.key], err = q.answerOf(results[i]); err != nil {
			return nil, problem("The answer could not be read: %v", err)
		}
	}
	return answers, nil
}

func refusal(err error) error {
	if e := (*jsonrpc.Error)(nil); errors.As(err, &e) {
		return problem("The client would not ask: %s (%d)", e.Message, e.Code)
	}
	return err
}

// collect returns the answers of earlier rounds and of this one. If one is missing, it ends the round. A question
// that was asked with a requestState needs its answer together with that state: otherwise a client could change the
// outcome by leaving the state out.
func (v *visit) collect(_ context.Context, questions []question) (map[string]answer, error) {
	var missing []question
	stateful := len(v.notes.Answers)+len(v.notes.Memos) > 0
	for _, q := range questions {
		if _, known := v.notes.Answers[q.key]; known {
			continue
		}
		r := v.Answer(q.key)
		if r == nil {
			missing = append(missing, q)
			continue
		}
		if stateful && v.stateless {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "requestState is missing"}
		}
		a, err := q.answerOf(r)
		if err != nil {
			return nil, err
		}
		v.notes.Answers[q.key] = a
		v.retold = false
	}
	if len(missing) > 0 {
		return nil, v.inputRequired(missing...)
	}
	return v.notes.Answers, nil
}

// inputRequired returns the error that ends a round; it is sent as an input-required result.
func (v *visit) inputRequired(questions ...question) error {
	state := ""
	if len(v.notes.Answers)+len(v.notes.Memos) > 0 {
		state = v.state()
	}
	return raw(server.InputRequired(inputs(v.Revision, questions), state))
}

// inputs returns the questions as they are sent.
func inputs(revision string, questions []question) []server.Question {
	list := make([]server.Question, len(questions))
	for i, q := range questions {
		list[i] = server.Question{Key: q.key, Method: q.requestMethod(), Params: q.encode(revision)}
	}
	return list
}

func (v *visit) state() string { return v.server.seal.Close(mustJSON(v.notes), v.identity()) }

// comeBack makes the client repeat the request this many times before the story continues. Before 2026-07-28, when a
// request can simply take long, it waits.
func (v *visit) comeBack(ctx context.Context, key string, times int) error {
	if !v.Rounds() {
		for i := range times {
			v.progress(i, times, "Not yet")
			if err := v.pause(ctx, time.Second); err != nil {
				return err
			}
		}
		return nil
	}
	been, err := strconv.Atoi(v.memo(key, func() string { return "0" }))
	if err != nil {
		return fmt.Errorf("reading %s from requestState: %w", key, err)
	}
	v.notes.Memos[key] = strconv.Itoa(min(been, times) + 1)
	if been < times {
		return v.inputRequired()
	}
	if been == times {
		v.retold = false
	}
	return nil
}

var errTooLate = errors.New("too late")

// askWithin asks a question and returns errTooLate if the answer takes longer than d. The question is then cancelled if
// takeBack is set, else left waiting. Since 2026-07-28 it can only be left waiting; an answer is too late after the
// deadline set in the first round.
func (v *visit) askWithin(ctx context.Context, d time.Duration, takeBack bool, q question) error {
	if v.Rounds() {
		now := v.server.options.Now()
		until, err := time.Parse(time.RFC3339Nano, v.memo("until", func() string { return now.Add(d).Format(time.RFC3339Nano) }))
		if err != nil {
			return fmt.Errorf("reading the deadline from requestState: %w", err)
		}
		a, err := v.answer(ctx, q)
		switch {
		case err != nil:
			return err
		case now.After(until):
			return errTooLate
		}
		return q.read(a)
	}

	// A question that is left waiting outlives the call, until it is answered or the session ends.
	replied, withdraw := v.begin(v.session.Life, q)
	ctx, end := context.WithCancel(ctx)
	defer end()
	select {
	case err := <-replied:
		return cmp.Or(ctx.Err(), err) // an answer that comes after the cancellation does not count
	case err := <-v.clock(ctx, d):
		if err == nil {
			err = errTooLate
		}
		if takeBack || err != errTooLate {
			withdraw()
			<-replied
		}
		return err
	}
}

// askDuring asks a question while work runs, and returns the result of work. Without wait, the question is cancelled
// when work is done, and there may be no answer. Since 2026-07-28 work runs before the question, and without wait
// nothing is asked.
func (v *visit) askDuring(ctx context.Context, q question, wait bool, work func() string) (string, error) {
	if err := v.may(q); err != nil {
		return "", err
	}
	if v.Rounds() {
		done := v.memo("work", work)
		if !wait {
			return done, nil
		}
		return done, v.ask(ctx, q)
	}
	replied, withdraw := v.begin(ctx, q)
	done := work()
	if !wait {
		withdraw()
	}
	err := <-replied
	if !wait && ctx.Err() == nil {
		err = nil
	}
	return done, err
}

// begin asks a question by a request in the background. replied receives the outcome when the question has read its
// answer, or withdraw has cancelled it.
func (v *visit) begin(ctx context.Context, q question) (replied <-chan error, withdraw func()) {
	ctx, cancel := context.WithCancel(ctx)
	c := make(chan error, 1)
	v.server.work.Go(func() {
		defer cancel()
		c <- v.ask(ctx, q)
	})
	return c, cancel
}

// clock sends on the channel when d of story time has passed, or the error why it has not.
func (v *visit) clock(ctx context.Context, d time.Duration) <-chan error {
	c := make(chan error, 1)
	v.server.work.Go(func() { c <- v.server.options.Pause(ctx, d) })
	return c
}

// patience is how long a request of 2026-07-28 waits for a sign-in before the client is asked to repeat it.
const patience = time.Second

// signIn sends the person to a service and returns their decision there. Before 2026-07-28 the client is notified when
// the sign-in is over; if it never ends, the story continues without it.
func (v *visit) signIn(ctx context.Context, s service) (verdict, error) {
	unfinished := s.never && !v.Rounds()
	var then func(*card)
	if unfinished {
		then = (*card).complete
	}
	c, err := v.server.desk.card(v.memo(s.key, rand.Text), s, v.session, then)
	if err != nil {
		return waiting, err
	}
	if err := v.ask(ctx, c.question()); err != nil || unfinished {
		return waiting, err
	}
	v.log("info", "waiting for you at "+s.name)

	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var over <-chan error
	if v.Rounds() {
		over = v.clock(ctx, patience)
	}
	select {
	case <-c.settled:
	case err := <-over:
		if err != nil {
			return waiting, err
		}
	case <-ctx.Done():
		return waiting, ctx.Err()
	}
	got := c.decided()
	switch {
	case !v.Rounds():
		v.session.Notify(v.stream(), protocol.NotificationElicitComplete, c.completion())
	case got == waiting: // ask the same question again
		delete(v.notes.Answers, s.key)
		return waiting, v.inputRequired(c.question())
	}
	return got, nil
}

// signInFirst makes the person sign in to these services before the story continues. In 2025-11-25 the request fails
// with error -32042 until they have.
func (v *visit) signInFirst(ctx context.Context, needs ...service) error {
	if v.Rounds() {
		for _, s := range needs {
			if got, err := v.signIn(ctx, s); err != nil {
				return err
			} else if got != allowed {
				return problem("%s did not let you in.", s.name)
			}
		}
		return nil
	}
	if err := v.may(question{url: "https://ledger.example/"}); err != nil {
		return err
	}
	var open []json.RawMessage
	for _, s := range needs {
		c := v.server.desk.find(func(c *card) bool { return c.session == v.session && c.service.name == s.name })
		if c != nil && c.decided() == allowed {
			continue
		}
		if c == nil || c.decided() == refused {
			var err error
			if c, err = v.server.desk.card(rand.Text(), s, v.session, (*card).complete); err != nil {
				return err
			}
		}
		open = append(open, c.question().encode(v.Revision))
	}
	if open == nil {
		return nil
	}
	return urlRequired("You have to sign in before you can read this report.", mustJSON(open))
}

func urlRequired(message string, elicitations json.RawMessage) error {
	return &jsonrpc.Error{
		Code: protocol.CodeURLElicitationRequired, Message: message, Data: fmt.Appendf(nil, `{"elicitations":%s}`, elicitations),
	}
}

// completion returns the params that say that a sign-in is over, whatever its outcome (2025-11-25).
func (c *card) completion() json.RawMessage {
	return fmt.Appendf(nil, `{"elicitationId":%q}`, c.elicitation)
}

// complete tells the client, outside of a call, that the sign-in is over.
func (c *card) complete() {
	c.session.Notify(c.session.Outside(), protocol.NotificationElicitComplete, c.completion())
}

// wants reports whether the client wants log messages of this level.
func (r served) wants(level mcp.LoggingLevel) bool {
	r.server.mu.Lock()
	defer r.server.mu.Unlock()
	return r.WantsLog(string(level), cmp.Or(r.session.level, "info")) // the server may choose
}
