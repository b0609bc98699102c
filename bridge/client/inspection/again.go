package inspection

import (
	"encoding/json"
	"errors"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/client/live"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/meaning/fault"
)

// ErrNoAnswer is the error of [Inspection.Again] for a question whose answer cannot be
// repeated.
var ErrNoAnswer = errors.New("the answer cannot be given again: it is no longer kept, or there was none")

// Repeatable reports whether [Inspection.Again] can repeat the answer to a question: the
// question was answered, and its params are kept.
func (q *Question) Repeatable() bool {
	return q.State == conversation.Answered && (q.Params != nil || q.Method != mcp.MethodElicit)
}

// Again repeats an earlier answer. If a pending question asks the same, it gets the
// answer. Otherwise Again repeats the call: its questions then get the answers of the
// earlier call. It returns the number of the new call, 0 if it made none.
func (in *questions) Again(number int) (call int, err error) {
	q, err := in.Question(number)
	switch {
	case err != nil:
		return 0, err
	case !q.Repeatable():
		return 0, ErrNoAnswer
	}
	for _, waiting := range in.inbox.Questions(false) {
		if waits(&waiting) && asksSame(&q, &waiting) {
			return 0, in.answerAs(&q, &waiting)
		}
	}
	first, err := in.calls.live.Call(q.Call)
	if err != nil {
		return 0, err
	}
	first.Request.AnsweredAs = q.Call
	c, err := in.calls.Begin(first.Request)
	return c.Number, err
}

func waits(q *live.Question) bool { return q.State == conversation.Pending && !q.Held }

// asksSame reports whether a pending question asks the same as an earlier one: same
// server, method, key, title and mode.
func asksSame(q *Question, waiting *live.Question) bool {
	return q.Server == waiting.Server && q.Method == waiting.Method && q.Key == waiting.Key && (q.URL() != "") == waiting.IsURL() && q.Title() == waiting.Title()
}

// answerAs gives a pending question the answer of the earlier question q.
func (in *questions) answerAs(q *Question, waiting *live.Question) error {
	answer := live.Answer{Action: q.Action, Content: q.Content(), Actor: conversation.ByPerson}
	switch {
	case q.Fault != "":
		var params fault.Params
		if err := json.Unmarshal(q.FaultParams, &params); err != nil {
			return ErrNoAnswer // the params come from a transcript or from another version
		}
		plan, err := fault.Build(in.Facts(*waiting), q.Fault, params)
		if err != nil {
			return err
		}
		answer = live.Misbehave(plan)
	case q.Method != mcp.MethodElicit:
		answer.Result = q.Answer
	}
	return in.inbox.Answer(waiting.Number, answer)
}

// repeat answers a question of a repeated call. The n-th question that asks the same gets
// the n-th such answer of the earlier call.
func (in *questions) repeat(q *live.Question) {
	c, err := in.calls.live.Call(q.Call)
	if err != nil || c.Request.AnsweredAs == 0 || !waits(q) {
		return
	}
	var earlier []Question
	before := 0 // earlier questions of this call that ask the same
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
		_ = in.answerAs(&earlier[before], q) // on errors, such as an answer from elsewhere or one that no longer fits, the question stays with the person
	}
}
