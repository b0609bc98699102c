package bridge

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"elicitation-inspector/bridge/elicit"
	"elicitation-inspector/bridge/exchange"
	"elicitation-inspector/bridge/rawjson"
	"elicitation-inspector/bridge/wire"
)

// replayed is an exchange as an inspection shows it.
type replayed struct {
	exchange  int
	server    *server
	call      *call // nil for what a server asked outside of any call
	questions []*question
	reply     int64 // frame of the last response
	final     bool

	steps []placed
	gone  *exit // the process ended after the last frame of the exchange
	end   *end  // the call ended without a response
	over  bool  // no frame will come any more
}

// placed is a step with the frame at which it happened, last for what follows
// from there being no more.
type placed struct {
	Step
	at int64
}

const last = math.MaxInt64

// askedMost is the size in bytes of the largest question or answer that is
// shown. What is larger stands in the log.
const askedMost = 1 << 20

// replay makes calls and questions of an exchange. It returns nil for one that
// is neither.
func (r *Replay) replay(e *exchange.Exchange, over bool) *replayed {
	if len(e.Frames) == 0 {
		return nil
	}
	s := r.recorded.session(&e.Frames[0].Frame)
	one := &replayed{exchange: e.Number, server: s.server, over: over}
	if exit, ok := r.recorded.exits[e.Session]; ok && exit.seq > e.Frames[len(e.Frames)-1].Seq {
		one.gone = &exit
	}
	if end, ok := r.recorded.ends[recordedCall{e.Session, e.Call}]; ok && e.Call != 0 {
		one.end = &end
	}
	for i := range e.Questions {
		one.questions = append(one.questions, r.question(one, e, i, s))
	}
	number := r.numbers[e.Number-1]
	if number == 0 && len(one.questions) == 0 {
		return nil
	}
	if number != 0 {
		one.call = r.call(one, e, s)
		one.call.number = number
	}
	one.close(r.now())
	one.saysUnsent(e, s.revision())
	return one
}

// call makes a call of an exchange, but for the steps of its questions.
func (r *Replay) call(one *replayed, e *exchange.Exchange, s *session) *call {
	c := &call{
		in: r.in, session: s, started: e.Start, rounds: len(e.Rounds),
		request: CallRequest{Server: s.server.id, Kind: KindTool, Name: e.Name, Key: e.Name, Arguments: e.Arguments},
	}
	switch e.Method {
	case methodPrompt:
		c.request.Kind = KindPrompt
	case methodRead:
		c.request.Kind, c.request.Arguments = KindResource, nil
		r.nameOf(c, s.server)
	}
	c.watch.began = e.Start
	for i, round := range e.Rounds {
		step := Step{At: round.Began, Kind: StepCalled, Text: c.request.Key, Seq: round.Request}
		if i > 0 {
			step.Kind, step.Text = StepRetry, fmt.Sprintf("round %d", i+1)
		}
		one.steps = append(one.steps, placed{step, round.Request})
		c.seq = round.Request
	}
	r.meanwhile(one, c, e.Frames)

	ended := e.End
	if len(e.Rounds) > 0 && !e.Rounds[len(e.Rounds)-1].Ended.IsZero() {
		ended = e.Rounds[len(e.Rounds)-1].Ended
	}
	end := Step{At: ended, Kind: StepResult, Seq: e.ResultSeq}
	switch e.State {
	case exchange.Done:
		c.state = CallDone
	case exchange.Unhappy:
		c.state, c.isError, end.Text = CallDone, true, "the tool says that it failed"
	case exchange.Failed:
		if e.NoResponse != "" {
			end.Seq = e.Rounds[len(e.Rounds)-1].Response
			c.state, c.failure, end.Kind, end.Text = CallFailed, e.NoResponse, StepError, e.NoResponse
			c.ended = end.At
			one.steps = append(one.steps, placed{end, end.Seq})
			return c
		}
		failure := ReadError(e.Error)
		c.state, end.Kind, end.Text = CallFailed, StepError, fmt.Sprintf("%d %s", failure.Code, failure.Message)
	case exchange.Cancelled:
		c.state, end.Kind, end.Text, end.At, end.Seq = CallStopped, StepStopped, "stopped", e.End, 0
	default:
		c.state = CallRunning
		one.reply = e.ResultSeq // of an error that asked for more
		return c
	}
	c.ended, c.reply = end.At, end.Seq
	one.reply = end.Seq
	at := end.Seq
	if at == 0 {
		at = e.Frames[len(e.Frames)-1].Seq
	}
	one.steps = append(one.steps, placed{end, at})
	return c
}

// nameOf gives a resource that was read the name under which it was listed.
func (r *Replay) nameOf(c *call, s *server) {
	r.in.mu.Lock()
	defer r.in.mu.Unlock()
	for _, item := range s.catalog.Items {
		if item.Kind == KindResource && item.Key == c.request.Key {
			c.request.Name = item.Name
		}
	}
}

// meanwhile finds what a server told of a call in progress.
func (r *Replay) meanwhile(one *replayed, c *call, rows []wire.Row) {
	var progress int64
	for _, row := range rows {
		if row.Kind != wire.Notification || row.Dir != wire.ServerToClient {
			continue
		}
		step := Step{At: row.Time, Seq: row.Seq}
		switch row.Method {
		case noteMessage:
			if c.logs++; c.logs > logsShown {
				continue
			}
			step.Kind, step.Text = StepLog, r.summary(row.Seq)
		case noteProgress:
			progress = row.Seq
			if c.reports++; c.reports > logsShown {
				continue
			}
			step.Kind, step.Text = StepProgress, progressOf(r.params(row.Seq)).words()
		default:
			continue
		}
		one.steps = append(one.steps, placed{step, row.Seq})
	}
	if progress != 0 {
		p := progressOf(r.params(progress))
		c.progress = &p
	}
}

// summary is a frame in a few words, "" where it cannot be read.
func (r *Replay) summary(seq int64) string {
	f, err := r.log.Frame(seq)
	if err != nil {
		return ""
	}
	return f.Summary()
}

// params are those of a frame; nil where they cannot be read.
func (r *Replay) params(seq int64) json.RawMessage {
	f, err := r.log.Frame(seq)
	if err != nil {
		return nil
	}
	return f.Message.Params
}

var origins = map[elicit.Via]Origin{
	elicit.ByRequest: OriginRequest,
	elicit.InRound:   OriginRound,
	elicit.InError:   OriginError,
}

// question makes a question of the i-th of an exchange.
func (r *Replay) question(one *replayed, e *exchange.Exchange, i int, s *session) *question {
	asked := &e.Questions[i]
	q := &question{
		number: asked.Number, session: s, server: s.server, sure: !asked.Guessed, round: asked.Round,
		key: asked.Key, origin: origins[asked.Via], method: asked.Method,
		asked: asked.Asked, seq: asked.AskedSeq, ended: asked.Answered, answerSeq: asked.AnswerSeq, by: Actor(asked.Actor),
	}
	if len(asked.Params) <= askedMost {
		q.params = asked.Params
	}
	for _, other := range e.Questions[:i+1] {
		if other.AskedSeq == asked.AskedSeq {
			q.place++
		}
	}
	settings := s.settings
	if len(s.methods) == 0 { // what the client declared is not recorded
		settings = Settings{Elicitation: DeclareBoth}
	}
	refusal := q.judge(settings, s.revision())
	switch q.origin {
	case OriginRequest:
		q.carried, q.pointer = carriedOn(streamOf(e, asked.AskedSeq)), "/params"
	case OriginRound:
		q.carried = fmt.Sprintf("round %d, %q", q.round, q.key)
		q.pointer = rawjson.PointerTo("/result/inputRequests", q.key) + "/params"
	case OriginError:
		n, all := 0, 0
		for k, other := range e.Questions {
			if other.AskedSeq == asked.AskedSeq {
				if all++; k < i {
					n++
				}
			}
		}
		q.carried = fmt.Sprintf("error %d, elicitation %d of %d", codeURLRequired, n+1, all)
		q.pointer = fmt.Sprintf("/error/data/elicitations/%d", n)
	}
	r.settled(q, e, asked)
	end, ended := r.recorded.ends[recordedCall{e.Session, e.Call}]
	switch unanswered := q.state != Answered && (asked.State == exchange.Open || asked.State == exchange.Passed); {
	case !unanswered:
	case q.origin == OriginRequest && s.revision() >= Revision20260728:
		q.refuse(requestsAreGone)
	case q.origin == OriginError && s.revision() != Revision20251125:
		refusal = onlyNovember(s.revision())
		fallthrough
	case q.origin != OriginRequest && refusal != nil:
		if ended && e.Call != 0 && end.State == CallFailed.String() { // else the client may have asked all the same
			q.refuse(refusal.Message)
		}
	}
	if q.state == Answered && q.request != nil && q.request.Mode == elicit.ModeURL && q.answer.Action == "accept" && q.completion == CompletionNone {
		q.completion = CompletionAwaited
		if asked.CompletedSeq != 0 {
			q.completion = CompletionDone
		}
	}
	return q
}

// refuse settles a question of a transcript that has no answer because it was not
// put to the person, and of which no frame says so.
func (q *question) refuse(why string) {
	q.state, q.by, q.reason, q.ended, q.settledAt = Refused, ByPolicy, why, q.asked, q.seq
}

func streamOf(e *exchange.Exchange, seq int64) wire.Stream {
	for _, row := range e.Frames {
		if row.Seq == seq {
			return row.Stream
		}
	}
	return wire.StreamNone
}

// unheard is why it is not known what a person said to a URL in an error.
const unheard = "the call was made again; what was said to this is not on the wire"

// settled says what became of a question.
func (r *Replay) settled(q *question, e *exchange.Exchange, asked *exchange.Question) {
	if q.origin == OriginError {
		q.answerSeq = 0
	}
	a, ok := r.recorded.answers[place{recordedCall{e.Session, e.Call}, q.round, q.pointer}]
	if ok && e.Call != 0 && q.answerSeq == 0 {
		q.state, q.by, q.ended, q.settledAt = Answered, a.actor, a.At, a.seq
		q.answer = answerOf(q.method, a.Answer)
		q.answer.Actor = a.actor
		switch a.Completion {
		case CompletionDone.word():
			q.completion = CompletionDone
		case CompletionMarked.word():
			q.completion = CompletionMarked
		}
		return
	}
	q.settledAt = asked.AnswerSeq
	switch asked.State {
	case exchange.Open:
		q.state, q.settledAt = Pending, last
	case exchange.Answered:
		q.state, q.answer = Answered, answerOf(q.method, asked.Answer)
		q.answer.Actor = q.by
	case exchange.Refused:
		failure := ReadError(asked.Error)
		q.state, q.reason = Refused, failure.Message
	case exchange.Withdrawn:
		q.state, q.by, q.reason, q.settledAt = Withdrawn, ByServer, "cancelled by the server", cancelledAt(e, asked)
		if asked.Reason != "" {
			q.reason += ": " + asked.Reason
		}
	case exchange.Retried:
		q.state, q.answer.Action, q.reason = Answered, "accept", unheard
	case exchange.Passed:
		q.state, q.reason = Withdrawn, "the call went on without an answer"
	}
}

// cancelledAt finds the frame that withdrew a question.
func cancelledAt(e *exchange.Exchange, asked *exchange.Question) int64 {
	for _, row := range e.Frames {
		if row.Seq > asked.AskedSeq && row.Method == noteCancelled && row.Dir == wire.ServerToClient && !row.Time.Before(asked.Answered) {
			return row.Seq
		}
	}
	return last
}

// answerOf takes a result apart, if its bytes are exactly those of the answer
// that it amounts to.
func answerOf(method string, result json.RawMessage) Answer {
	if len(result) > askedMost {
		result = nil
	}
	if method != MethodElicit {
		return Answer{Result: result}
	}
	var p struct {
		Action  string          `json:"action"`
		Content json.RawMessage `json:"content"`
	}
	if json.Unmarshal(result, &p) != nil {
		return Answer{Result: result}
	}
	a := Answer{Action: p.Action, Content: p.Content}
	if !bytes.Equal(a.JSON(), result) {
		a.Result = result
	}
	return a
}

// Why something has not ended as it should.
const (
	noResponse = "the transcript has no response"
	noAnswer   = "the transcript has no answer"
)

// close ends what can have no end any more.
func (one *replayed) close(now time.Time) {
	c := one.call
	if c != nil && one.end != nil {
		one.noted()
	}
	endless := c == nil // nothing in the log ends the call
	if c != nil && c.state == CallRunning {
		switch turned := one.turnedDown(); {
		case turned != nil:
			one.fail(Step{At: turned.ended, Kind: StepError, Text: "the URL was not accepted", Seq: one.reply})
		case one.gone != nil:
			c.failure = one.gone.text
			one.fail(Step{At: one.gone.at, Kind: StepError, Text: one.gone.text})
		case one.over:
			endless = true
			c.failure = strings.ToUpper(noResponse[:1]) + noResponse[1:] + "."
			one.fail(Step{At: now, Kind: StepError, Text: noResponse, Seq: one.reply})
		}
	}
	one.final = c == nil || c.state != CallRunning
	// What the log says of the call's end stands, whatever the server did later.
	told := c != nil && one.end != nil && (one.gone == nil || !c.ended.After(one.gone.at))
	for _, q := range one.questions {
		if q.state == Pending {
			switch {
			case one.gone != nil && !told:
				q.state, q.by, q.reason, q.ended = Withdrawn, ByServer, one.gone.text, one.gone.at
			case one.over && !told && (endless || c.reply == 0 && c.state != CallStopped):
				q.state, q.reason, q.ended = Withdrawn, noAnswer, now
			case c != nil && c.state != CallRunning:
				q.state, q.by, q.reason, q.ended = Withdrawn, ByPolicy, fmt.Sprintf("call %d ended", c.number), c.ended
				if c.state == CallStopped {
					q.reason = fmt.Sprintf("call %d was stopped", c.number)
				}
			}
		}
		if q.state == Pending || q.completion == CompletionAwaited && !one.over {
			one.final = false
		}
	}
}

// noted ends the call as its note says, whatever came afterwards.
func (one *replayed) noted() {
	c := one.call
	one.steps = slices.DeleteFunc(one.steps, func(s placed) bool {
		return s.Kind == StepStopped || s.Kind == StepResult || s.Kind == StepError
	})
	c.failure, c.ended, c.reply, c.isError = one.end.Why, one.end.At, 0, false
	step := Step{At: one.end.At, Kind: StepError, Text: one.end.Why}
	if c.state = CallFailed; one.end.State == CallStopped.String() {
		c.state, step.Kind, step.Text = CallStopped, StepStopped, "stopped"
	}
	one.steps = append(one.steps, placed{step, one.end.seq})
}

// turnedDown is a question of the last error that was not accepted, so that
// the call was not made again.
func (one *replayed) turnedDown() *question {
	for _, q := range one.questions {
		if q.origin == OriginError && q.round == one.call.rounds && q.state == Answered && q.answer.Action != "accept" {
			return q
		}
	}
	return nil
}

func (one *replayed) fail(end Step) {
	c := one.call
	c.state, c.ended, c.reply = CallFailed, end.At, end.Seq
	one.steps = append(one.steps, placed{end, last})
}

// finish tells the timeline and the clocks of the call, once its questions have
// their numbers.
func (one *replayed) finish() {
	c := one.call
	type moment struct {
		at    time.Time
		asked bool
	}
	var moments []moment
	note := func(at time.Time, asked bool) {
		if c.state != CallRunning && at.After(c.ended) {
			at = c.ended // the clocks of a call stop with it
		}
		moments = append(moments, moment{at, asked})
	}
	for _, q := range one.questions {
		one.steps = append(one.steps, placed{Step{At: q.asked, Kind: StepAsked, Text: q.title(), Question: q.number}, q.seq})
		note(q.asked, true)
		if q.state == Pending {
			continue
		}
		text := q.state.String()
		if q.state == Answered && q.answer.Action != "" {
			text = q.answer.Action
		}
		if q.reason != "" {
			text += ": " + q.reason
		}
		one.steps = append(one.steps, placed{Step{At: q.ended, Kind: StepAnswered, Text: text, Question: q.number}, q.settledAt})
		note(q.ended, false)
	}
	slices.SortStableFunc(one.steps, func(a, b placed) int {
		return cmp.Or(cmp.Compare(a.at, b.at), rank(a.Kind)-rank(b.Kind))
	})
	for _, s := range one.steps {
		c.keep(s.Step)
	}
	slices.SortStableFunc(moments, func(a, b moment) int { return a.at.Compare(b.at) })
	for _, m := range moments {
		if m.asked {
			c.watch.pause(m.at)
		} else {
			c.watch.resume(m.at)
		}
	}
	if c.state != CallRunning {
		c.watch.stop(c.ended)
	}
}

// rank orders what happened at the same frame: a retry carries answers.
func rank(k StepKind) int {
	switch k {
	case StepAnswered:
		return 0
	case StepRetry:
		return 1
	case StepResult, StepError, StepStopped:
		return 3
	}
	return 2
}
