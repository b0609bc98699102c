package script

import (
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"elicitation-inspector/bridge/elicit"
	"elicitation-inspector/bridge/mcp"
	"elicitation-inspector/bridge/wording"
)

// Question is the part of a question that scripts decide by.
type Question struct {
	Server                 string
	Tool, Prompt, Resource string // the called item; "" for the others
	Method                 string
	Key                    string // key in inputRequests
	Round                  int    // round of the call; 0 for a request from the server
	Request                *elicit.Request
}

// modes maps the methods of questions other than elicitations to their modes.
var modes = map[string]string{mcp.MethodSample: "sampling", mcp.MethodListRoots: "roots"}

// Decision is a script's answer to a question.
type Decision struct {
	// Answer is nil if the script leaves the question to a person.
	Answer  *Answer
	Content json.RawMessage // content of an accepted form
	Delay   time.Duration
	Retry   time.Duration // 0 for the default
	// Why is the reason if Answer is nil.
	Why string
}

// Run answers questions by scripts, and counts the answers of each rule. It is safe for
// concurrent use.
type Run struct {
	scripts []*Script

	mu       sync.Mutex
	fits     map[*Rule]int // for rules with nth: how many questions fit the rest of the match
	answered map[*Rule]int
	unmet    []string
}

// NewRun begins a run of scripts. Rules of earlier scripts come first.
func NewRun(scripts ...*Script) *Run {
	return &Run{scripts: scripts, fits: map[*Rule]int{}, answered: map[*Rule]int{}}
}

// Decide returns the answer to a question.
func (r *Run) Decide(q Question) Decision {
	rule := r.choose(&q)
	if rule == nil {
		for _, s := range r.scripts {
			if s.Default != nil {
				return s.Default.decide(&q, Decision{})
			}
		}
		return Decision{Why: "no rule matches it"}
	}
	if rule.Expect != nil {
		unmet := rule.Expect.check(&q)
		r.mu.Lock()
		for _, text := range unmet {
			r.unmet = append(r.unmet, fmt.Sprintf("line %d: question %s: %s", rule.Line, wording.Quoted(q.title()), text))
		}
		r.mu.Unlock()
	}
	return rule.Answer.decide(&q, Decision{Delay: rule.Delay, Retry: rule.Retry})
}

func (q *Question) title() string {
	if q.Request != nil && q.Request.Message != "" {
		return q.Request.Message
	}
	return q.Method
}

// choose returns the first rule that matches and has answered fewer questions than its
// times; nil if there is none.
func (r *Run) choose(q *Question) (chosen *Rule) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range r.scripts {
		for _, rule := range s.Rules {
			counts := rule.Match.Nth > 0 // nth also counts questions that an earlier rule answers
			if chosen != nil && !counts || rule.Times > 0 && r.answered[rule] >= rule.Times || !rule.Match.fits(q) {
				continue
			}
			if counts {
				if r.fits[rule]++; r.fits[rule] != rule.Match.Nth {
					continue
				}
			}
			if chosen == nil {
				chosen = rule
				r.answered[rule]++
			}
		}
	}
	return chosen
}

// fits reports whether a question satisfies the whole match except Nth.
func (m *Match) fits(q *Question) bool {
	mode := modes[q.Method]
	if q.Request != nil {
		mode = string(q.Request.Mode)
	}
	switch {
	case m.Mode != "" && m.Mode != mode,
		m.Round > 0 && m.Round != max(q.Round, 1),
		m.Tool != nil && (q.Tool == "" || !m.Tool.Matches(q.Tool)),
		m.Prompt != nil && (q.Prompt == "" || !m.Prompt.Matches(q.Prompt)),
		m.Resource != nil && (q.Resource == "" || !m.Resource.Matches(q.Resource)),
		m.Key != nil && (q.Key == "" || !m.Key.Matches(q.Key)),
		!m.Server.Matches(q.Server):
		return false
	case m.Message == nil && m.Fields == nil:
		return true
	case q.Request == nil || !m.Message.Matches(q.Request.Message):
		return false
	}
	for _, name := range m.Fields {
		if !slices.ContainsFunc(q.Request.Fields, func(f elicit.Field) bool { return f.Name == name }) {
			return false
		}
	}
	return true
}

// decide returns the decision by an answer: d with the answer, or with the reason why
// it cannot be given.
func (a *Answer) decide(q *Question, d Decision) Decision {
	where := fmt.Sprintf("the answer in line %d", a.Line)
	elicitation := q.Method == mcp.MethodElicit
	switch {
	case a.Action == Ask:
		d.Why = where + " leaves it to you"
	case a.Action == Result && elicitation, a.Action == Accept && !elicitation:
		d.Why = fmt.Sprintf("%s is not an answer to %s", where, q.Method)
	case a.Action == Accept && q.Request != nil && q.Request.Mode == elicit.ModeForm:
		content, err := a.content(q.Request)
		if err != nil {
			d.Why = fmt.Sprintf("%s cannot be given: %v", where, err)
			break
		}
		d.Answer, d.Content = a, content
	case a.Action == Accept && a.Content == Values:
		d.Why = where + " has content, and a URL takes none"
	default:
		d.Answer = a
	}
	return d
}

// Unmet lists the expectations that the questions so far have not met. When the run is
// over, it includes rules that have answered another number of questions than expected.
func (r *Run) Unmet(over bool) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := slices.Clone(r.unmet)
	for _, s := range r.scripts {
		for _, rule := range s.Rules {
			if e := rule.Expect; over && e != nil && e.Asked >= 0 && e.Asked != r.answered[rule] {
				out = append(out, fmt.Sprintf("line %d: the rule was to answer %s, and answered %d", rule.Line, wording.Plural(e.Asked, "question"), r.answered[rule]))
			}
		}
	}
	return out
}

// Idle lists the rules that have answered no question so far, without those that are
// expected to answer none.
func (r *Run) Idle() (idle []*Rule) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range r.scripts {
		for _, rule := range s.Rules {
			if r.answered[rule] == 0 && (rule.Expect == nil || rule.Expect.Asked != 0) {
				idle = append(idle, rule)
			}
		}
	}
	return idle
}
