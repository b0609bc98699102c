package headless

import (
	"context"
	"time"

	"elicitation-inspector/bridge/fault"
)

// lateGrace is how long an answer may take to go out after its call has ended.
const lateGrace = 5 * time.Second

// awaitLateAnswers waits for the deliberate answers that the client sends only after their
// call has ended. Without it the connection could end before they are on the wire.
func (s *Session) awaitLateAnswers(ctx context.Context, call int) {
	ctx, done := context.WithTimeout(context.WithoutCancel(ctx), lateGrace)
	defer done()
	for {
		grown := s.log.Grown()
		if !s.owesAnswer(call) {
			return
		}
		select {
		case <-grown:
		case <-ctx.Done():
			return
		}
	}
}

// owesAnswer reports whether the log of a call has the note that a question is answered by
// a fault which answers late, and no later frame of that fault: neither the answer nor a
// note that it could not be sent.
func (s *Session) owesAnswer(call int) bool {
	frames := map[int]int{} // of such a fault, by the question's number
	for seq := int64(1); seq <= s.log.Len(); seq++ {
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
