package bridge

import (
	"encoding/json"
	"errors"

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
	first.Request.AnsweredAs = q.Call
	c, err := in.Begin(first.Request)
	return c.Number, err
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

// repeat answers a question of a call that is made again: the first that asks the same
// is answered as the first was in the earlier call, the second as the second, and so on.
func (in *Inspection) repeat(q *inbox.Question) {
	c, err := in.calls.Call(q.Call)
	if err != nil || c.Request.AnsweredAs == 0 || !waits(q) {
		return
	}
	var earlier []Question
	before := 0 // questions of this call that asked the same
	for _, one := range in.Questions() {
		switch {
		case !asksSame(&one, q):
		case one.Call == c.Request.AnsweredAs && one.Repeatable():
			earlier = append(earlier, one)
		case one.Call == q.Call && one.Number < q.Number:
			before++
		}
	}
	if before < len(earlier) {
		_ = in.answerAs(&earlier[before], q) // unless somebody was faster, or it does not fit any more: the person is asked
	}
}
