package inspection

import (
	"sync/atomic"
	"time"

	"elicitation-inspector/bridge/client/live"
	"elicitation-inspector/bridge/keep/script"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/meaning/fault"
)

// retryEvery is the interval at which a call waiting for the outcome of a URL is
// repeated, if a script accepted the URL without an interval of its own.
const retryEvery = time.Second

// ScriptSource answers questions with a run of scripts. It implements [live.Source].
type ScriptSource struct {
	Name   string
	Script *script.Script // nil where Run has several
	Run    Decider
	// Left is called for each question that the script leaves to a person, with the
	// reason. It reports whether to cancel the question instead. If it is nil, all such
	// questions go to the person.
	Left func(q live.Question, why string) (cancel bool)
	// Before is called before each question is decided, with its place among the questions,
	// from 1; nil for none.
	Before func(place int)

	in    *Inspection // that asks the questions; AnswerBy sets it
	asked atomic.Int64
}

// Decider decides how questions are answered, as a [script.Run] does.
type Decider interface {
	Decide(script.Question) script.Decision
}

// NewScriptSource begins a run of a script.
func NewScriptSource(name string, s *script.Script) *ScriptSource {
	return &ScriptSource{Name: name, Script: s, Run: script.NewRun(s)}
}

// Decide implements [live.Source].
func (s *ScriptSource) Decide(q *live.Question) live.Decision {
	if place := s.asked.Add(1); s.Before != nil {
		s.Before(int(place))
	}
	d := s.Run.Decide(s.told(q))
	if d.Answer == nil {
		return s.left(q, d.Why)
	}
	answer := live.Answer{Action: string(d.Answer.Action), Content: d.Content, Actor: conversation.ByScript}
	switch d.Answer.Action {
	case script.Fault:
		plan, err := fault.Build(s.in.Facts(*q), d.Answer.Fault, d.Answer.Params)
		if err != nil {
			return s.left(q, err.Error())
		}
		answer = live.Misbehave(plan)
	case script.Result:
		answer.Action, answer.Result = "", d.Answer.Result
	case script.Accept:
		if q.IsURL() && q.Call != 0 {
			if d.Retry == 0 {
				d.Retry = retryEvery
			}
			_ = s.in.calls.live.RetryEvery(q.Call, d.Retry) // fails only if the call is over
		}
	}
	return live.Decision{Answer: &answer, Delay: d.Delay}
}

// left decides a question that the script does not answer: it is cancelled, or left to
// the person.
func (s *ScriptSource) left(q *live.Question, why string) live.Decision {
	if s.Left != nil && s.Left(*q, why) {
		return live.Decision{Answer: &live.Answer{Action: "cancel", Actor: conversation.ByPolicy}}
	}
	return live.Decision{Left: why}
}

// told converts a question for scripts.
func (s *ScriptSource) told(q *live.Question) script.Question {
	server, _ := s.in.known.Server(q.Server)
	out := script.Question{Server: server.Label, Method: q.Method, Key: q.Key, Round: q.Round, Request: q.Request}
	call, _ := s.in.calls.live.Call(q.Call) // a question may belong to none that is kept
	switch r := call.Request; r.Kind {
	case conversation.Tool:
		out.Tool = r.Key
	case conversation.Prompt:
		out.Prompt = r.Key
	default:
		out.Resource = r.Key
	}
	return out
}

// Scripted returns the script of a person that answers questions; nil for none.
func (in *Inspection) Scripted() *ScriptSource {
	if s := in.script.Load(); s != nil && s.Script != nil {
		return s
	}
	return nil
}

// AnswerBy makes a script answer further questions; nil ends that.
func (in *Inspection) AnswerBy(s *ScriptSource) {
	if in.script.Store(s); s == nil {
		in.inbox.SetSource(nil)
	} else {
		s.in = in
		in.inbox.SetSource(s)
	}
	in.changes.Mark(live.Change{Kind: live.ScriptChanged})
}
