package headless

import (
	"context"

	"elicitation-inspector/bridge"
	"elicitation-inspector/bridge/conversation"
	"elicitation-inspector/bridge/live"
)

// waiting returns the oldest question that waits for the person.
func (s *Session) waiting() (bridge.Question, bool) {
	if s.config.Ask == nil {
		return bridge.Question{}, false
	}
	for _, q := range s.in.OnShow(0) {
		if q.State == conversation.Pending && q.Delay == 0 {
			return q, true
		}
	}
	if server, err := s.in.Server(s.server); err == nil && server.Held > 0 {
		_ = s.in.Release(s.server, "show") // fails only for unknown servers
	}
	return bridge.Question{}, false
}

// ask asks the person a question, unless it is settled meanwhile.
func (s *Session) ask(ctx context.Context, q bridge.Question) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	over := make(chan struct{})
	go func() {
		defer close(over)
		defer cancel()
		changes := s.in.Subscribe()
		defer changes.Close()
		for {
			if now, err := s.in.Question(q.Number); err != nil || now.State != conversation.Pending {
				return
			}
			select {
			case <-changes.Ready():
				changes.Take()
			case <-ctx.Done():
				return
			}
		}
	}()
	answer, err := s.config.Ask(ctx, q)
	cancel()
	<-over
	if err != nil { // there is no person any more, or the question is settled
		answer = live.Answer{Action: "cancel", Actor: conversation.ByPolicy}
	}
	_, _ = s.in.Answer(q.Number, answer) // fails if the question is settled
}
