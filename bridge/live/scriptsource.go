package live

import (
	"sync/atomic"
	"time"

	"elicitation-inspector/bridge/conversation"
	"elicitation-inspector/bridge/fault"

	"elicitation-inspector/bridge/script"
)

// retryEvery is the interval at which a call waiting for the outcome of a URL is
// repeated, if a script accepted the URL without an interval of its own.
const retryEvery = time.Second

// ScriptOwner provides what a Source needs to know about questions.
type ScriptOwner interface {
	// Label returns the name of a server in frames.
	Label(server string) string
	// Request returns the request of a call; the zero Request if the call is not kept.
	Request(call int) Request
	Facts(Question) fault.Facts
	RetryEvery(call int, every time.Duration) error
}

// ScriptSource answers questions with a run of scripts. It implements [Source].
type ScriptSource struct {
	Name   string
	Script *script.Script // nil where Run has several
	Run    *script.Run
	// Left is called for each question that the script leaves to a person, with the
	// reason. It reports whether to cancel the question instead. If it is nil, all such
	// questions go to the person.
	Left func(q Question, why string) (cancel bool)
	// Before is called before each question is decided, with its place among the questions,
	// from 1; nil for none.
	Before func(place int)
	// ScriptOwner is the inspection that asks the questions.
	Inspection ScriptOwner

	asked atomic.Int64
}

// NewScriptSource begins a run of a script.
func NewScriptSource(name string, s *script.Script) *ScriptSource {
	return &ScriptSource{Name: name, Script: s, Run: script.NewRun(s)}
}

// Decide implements [Source].
func (s *ScriptSource) Decide(q *Question) Decision {
	if place := s.asked.Add(1); s.Before != nil {
		s.Before(int(place))
	}
	d := s.Run.Decide(s.told(q))
	if d.Answer == nil {
		return s.left(q, d.Why)
	}
	answer := Answer{Action: string(d.Answer.Action), Content: d.Content, Actor: conversation.ByScript}
	switch d.Answer.Action {
	case script.Fault:
		plan, err := fault.Build(s.Inspection.Facts(*q), d.Answer.Fault, d.Answer.Params)
		if err != nil {
			return s.left(q, err.Error())
		}
		answer = Misbehave(plan)
	case script.Result:
		answer.Action, answer.Result = "", d.Answer.Result
	case script.Accept:
		if q.IsURL() && q.Call != 0 {
			if d.Retry == 0 {
				d.Retry = retryEvery
			}
			_ = s.Inspection.RetryEvery(q.Call, d.Retry) // fails only if the call is over
		}
	}
	return Decision{Answer: &answer, Delay: d.Delay}
}

// left decides a question that the script does not answer: it is cancelled, or left to
// the person.
func (s *ScriptSource) left(q *Question, why string) Decision {
	if s.Left != nil && s.Left(*q, why) {
		return Decision{Answer: &Answer{Action: "cancel", Actor: conversation.ByPolicy}}
	}
	return Decision{Left: why}
}

// told converts a question for scripts.
func (s *ScriptSource) told(q *Question) script.Question {
	out := script.Question{Server: s.Inspection.Label(q.Server), Method: q.Method, Key: q.Key, Round: q.Round, Request: q.Request}
	switch r := s.Inspection.Request(q.Call); r.Kind {
	case conversation.Tool:
		out.Tool = r.Key
	case conversation.Prompt:
		out.Prompt = r.Key
	default:
		out.Resource = r.Key
	}
	return out
}
