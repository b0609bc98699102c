package bridge

import (
	"time"

	"elicitation-inspector/bridge/catalog"
	"elicitation-inspector/bridge/changes"
	"elicitation-inspector/bridge/conversation"
	"elicitation-inspector/bridge/fault"
	"elicitation-inspector/bridge/inbox"
	"elicitation-inspector/bridge/script"
)

// RetryScripted is how often a call that waits for the outcome of a URL is made again
// where a script accepted the URL and does not say.
const RetryScripted = time.Second

// Scripted answers the questions of an inspection by a run of scripts.
type Scripted struct {
	Name  string
	Rules int
	Run   *script.Run
	// Left is told of a question that the script leaves to a person, and why. It
	// reports whether to cancel it instead. nil leaves all of them to the person.
	Left func(q inbox.Question, why string) (cancel bool)

	in *Inspection
}

// NewScripted begins a run of a script.
func NewScripted(name string, s *script.Script) *Scripted {
	return &Scripted{Name: name, Rules: len(s.Rules), Run: script.NewRun(s)}
}

// Scripted is the script that answers; nil for none.
func (in *Inspection) Scripted() *Scripted { return in.script.Load() }

// AnswerBy has further questions answered by a script; nil ends that.
func (in *Inspection) AnswerBy(s *Scripted) {
	defer in.changes.Mark(changes.Change{Kind: changes.Script})
	in.script.Store(s)
	if s == nil {
		in.inbox.SetSource(nil)
		return
	}
	s.in = in
	in.inbox.SetSource(s)
}

// Decide implements [inbox.Source].
func (s *Scripted) Decide(q *inbox.Question) inbox.Decision {
	d := s.Run.Decide(s.told(q))
	if d.Answer == nil {
		return s.left(q, d.Why)
	}
	answer := inbox.Answer{Action: string(d.Answer.Action), Content: d.Content, Actor: conversation.ByScript}
	switch d.Answer.Action {
	case script.Fault:
		plan, err := fault.Build(s.in.Facts(*q), d.Answer.Fault, d.Answer.Params)
		if err != nil {
			return s.left(q, err.Error())
		}
		answer = inbox.Misbehave(plan)
	case script.Result:
		answer.Action, answer.Result = "", d.Answer.Result
	case script.Accept:
		if q.IsURL() && q.Call != 0 {
			if d.Retry == 0 {
				d.Retry = RetryScripted
			}
			_ = s.in.calls.RetryEvery(q.Call, d.Retry) // unless the call is over
		}
	}
	return inbox.Decision{Answer: &answer, Delay: d.Delay}
}

// left is what becomes of a question that the script does not answer.
func (s *Scripted) left(q *inbox.Question, why string) inbox.Decision {
	if s.Left != nil && s.Left(*q, why) {
		return inbox.Decision{Answer: &inbox.Answer{Action: "cancel", Actor: conversation.ByPolicy}}
	}
	return inbox.Decision{Left: why}
}

// told is what a script is told of a question.
func (s *Scripted) told(q *inbox.Question) script.Question {
	out := script.Question{Method: q.Method, Key: q.Key, Round: q.Round, Request: q.Request}
	if server, err := s.in.servers.Server(q.Server); err == nil {
		out.Server = server.Label
	}
	call, _ := s.in.calls.Call(q.Call) // none for a question outside of any call
	switch r := call.Request; r.Kind {
	case catalog.Tool:
		out.Tool = r.Key
	case catalog.Prompt:
		out.Prompt = r.Key
	default:
		out.Resource = r.Key
	}
	return out
}
