package headless

import (
	"context"

	"elicitation-inspector/bridge/meaning/conversation"
)

// answerTogether gives the first answers of calls that run at the same time, which their delay holds
// back, as soon as none of the calls can still bring a question to wait beside the others:
// each has asked, or is over. The last question is answered first, and the others together
// once that has ended a call. A question whose delay passes is answered without regard to the
// rest, so that a server that handles one call at a time goes on.
func (s *Session) answerTogether(calls []int) {
	changes := s.in.Subscribe()
	defer changes.Close()
	met := map[int]bool{} // the questions with a delay, at most one for each call
	before := 0           // the number of calls that were over when the first of them was answered
	// Every call ends, so that there is no other end to this.
	_ = await(context.Background(), changes, func() bool {
		over := 0
		for _, number := range calls {
			if call, err := s.in.Call(number); err != nil || call.State.Over() {
				over++
			}
		}
		var held []int
		for _, q := range s.in.OnShow(0) {
			if q.State == conversation.Pending && q.Delay > 0 && (met[q.Number] || len(met) < len(calls)) {
				met[q.Number] = true
				held = append(held, q.Number)
			}
		}
		switch answered := len(met) > len(held); {
		case answered && over > before:
			for _, number := range held {
				s.in.Hasten(number)
			}
		case !answered:
			if before = over; len(held) > 0 && len(held)+over >= len(calls) {
				s.in.Hasten(held[len(held)-1])
			}
		}
		return over == len(calls)
	})
}
