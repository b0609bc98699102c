package bridge

import (
	"encoding/json"
	"errors"
	"slices"

	"elicitation-inspector/bridge/conversation"
	"elicitation-inspector/bridge/fault"
	"elicitation-inspector/bridge/inbox"
	"elicitation-inspector/bridge/mcp"
)

// ErrNoAnswer is for an answer that cannot be given again.
var ErrNoAnswer = errors.New("the answer cannot be given again: it is not kept any more, or there was none")

// Repeatable reports whether [Inspection.Again] can give the answer to a question once
// more: it was answered, and is kept.
func (q *Question) Repeatable() bool {
	return q.State == conversation.Answered && (q.Params != nil || q.Method != mcp.MethodElicit)
}

// Again gives an earlier answer once more: to a question that waits and asks the same,
// or else to the same question of a call that is made again, whose other questions are
// answered as they were then, too. It returns the number of that call, 0 for none.
func (in *Inspection) Again(number int) (call int, err error) {
	q, err := in.Question(number)
	switch {
	case err != nil:
		return 0, err
	case !q.Repeatable():
		return 0, ErrNoAnswer
	}
	for _, waiting := range in.inbox.Questions() {
		if waits(&waiting) && asksSame(&q, &waiting) {
			return 0, in.answerAs(&q, &waiting)
		}
	}
	first, err := in.calls.Call(q.Call)
	if err != nil {
		return 0, err
	}
	then := slices.DeleteFunc(in.Questions(), func(one Question) bool { return one.Call != q.Call || !one.Repeatable() })
	c, err := in.Begin(first.Request)
	if err != nil {
		return 0, err
	}
	in.mu.Lock()
	in.repeats[c.Number] = then
	in.mu.Unlock()
	for _, waiting := range in.inbox.Questions() { // those that came before that
		in.repeat(&waiting)
	}
	return c.Number, nil
}

// endRepeat forgets what a call that is made again was to be answered with, once the
// call is over.
func (in *Inspection) endRepeat(number int) {
	in.mu.Lock()
	_, repeats := in.repeats[number]
	in.mu.Unlock()
	if !repeats {
		return
	}
	if c, err := in.calls.Call(number); err == nil && !c.State.Over() {
		return
	}
	in.mu.Lock()
	delete(in.repeats, number)
	in.mu.Unlock()
}

func waits(q *inbox.Question) bool { return q.State == conversation.Pending && !q.Held }

// asksSame reports whether a question that waits asks what another one did.
func asksSame(q *Question, waiting *inbox.Question) bool {
	return q.Server == waiting.Server && q.Method == waiting.Method && q.Key == waiting.Key && (q.URL() != "") == waiting.IsURL() && q.Title() == waiting.Title()
}

// answerAs answers a question as another one was answered.
func (in *Inspection) answerAs(q *Question, waiting *inbox.Question) error {
	answer := inbox.Answer{Action: q.Action, Content: q.Content(), Actor: conversation.ByPerson}
	switch {
	case q.Fault != "":
		var params fault.Params
		if err := json.Unmarshal(q.FaultParams, &params); err != nil {
			return ErrNoAnswer // a transcript's, or an older one's
		}
		plan, err := fault.Build(in.Facts(*waiting), q.Fault, params)
		if err != nil {
			return err
		}
		answer = inbox.Misbehave(plan)
	case q.Method != mcp.MethodElicit:
		answer.Result = q.Answer
	}
	_, err := in.inbox.Answer(waiting.Number, answer)
	return err
}

// repeat answers a question of a call that is made again as it was answered then.
func (in *Inspection) repeat(q *inbox.Question) {
	if !waits(q) {
		return
	}
	in.mu.Lock()
	list := in.repeats[q.Call]
	i := slices.IndexFunc(list, func(one Question) bool { return asksSame(&one, q) })
	var was Question
	if i >= 0 {
		was = list[i]
		if in.repeats[q.Call] = slices.Delete(list, i, i+1); len(list) == 1 {
			delete(in.repeats, q.Call)
		}
	}
	in.mu.Unlock()
	if i >= 0 {
		_ = in.answerAs(&was, q) // unless somebody was faster, or it does not fit any more: the person is asked
	}
}
