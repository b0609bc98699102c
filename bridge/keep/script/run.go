package script

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/meaning/elicit"
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
	missed   map[*Rule]string // why the latest question that no rule matched, and that fits this one best, did not match it
	unmet    []string
}

// NewRun begins a run of scripts. Rules of earlier scripts come first.
func NewRun(scripts ...*Script) *Run {
	return &Run{scripts: scripts, fits: map[*Rule]int{}, answered: map[*Rule]int{}, missed: map[*Rule]string{}}
}

// Decide returns the answer to a question.
func (r *Run) Decide(q Question) Decision {
	rule := r.choose(&q)
	if rule == nil {
		why := r.nearest(&q)
		for _, s := range r.scripts {
			if s.Default != nil {
				return s.Default.decide(&q, Decision{})
			}
		}
		return Decision{Why: "no rule matches it" + why}
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
			if chosen != nil && !counts || rule.Times > 0 && r.answered[rule] >= rule.Times || rule.Match.misfits(q) != nil {
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

// misfit is a condition of a match that a question does not meet.
type misfit struct{ what, want, got string }

func (m misfit) String() string {
	whose := "it"
	if m.what == "fields" {
		whose = "the form"
	}
	return fmt.Sprintf("wants the %s %s; %s has %s", m.what, wording.Shorten(m.want, shown), whose, cmp.Or(wording.Shorten(m.got, shown), "none"))
}

// weight says how far a misfit keeps a question from a rule: what is called, and how, tells
// questions apart before what they say does.
func (m misfit) weight() int {
	switch m.what {
	case "tool", "prompt", "resource", "server", "mode":
		return 10
	}
	return 1
}

// misfits returns the conditions of a match, except Nth, that a question does not meet.
func (m *Match) misfits(q *Question) (out []misfit) {
	text := func(what string, want *Text, got string) {
		if want != nil && !want.Matches(got) || want != nil && got == "" && what != "server" && what != "message" {
			out = append(out, misfit{what, want.source, got})
		}
	}
	text("tool", m.Tool, q.Tool)
	text("prompt", m.Prompt, q.Prompt)
	text("resource", m.Resource, q.Resource)
	text("server", m.Server, q.Server)
	request := q.Request
	mode := modes[q.Method]
	if request != nil {
		mode = string(request.Mode)
	} else if request = new(elicit.Request); m.Message != nil || m.WithFields != nil {
		out = append(out, misfit{"mode", string(elicit.ModeForm), cmp.Or(mode, q.Method)})
	}
	if m.Mode != "" && m.Mode != mode {
		out = append(out, misfit{"mode", m.Mode, mode})
	}
	text("message", m.Message, request.Message)
	var lacks, names []string
	for _, f := range request.Fields {
		names = append(names, f.Name)
	}
	for _, name := range m.WithFields {
		if !slices.Contains(names, name) {
			lacks = append(lacks, name)
		}
	}
	if lacks != nil {
		out = append(out, misfit{"fields", strings.Join(lacks, ", "), strings.Join(names, ", ")})
	}
	text("key", m.Key, q.Key)
	if round := max(q.Round, 1); m.Round > 0 && m.Round != round {
		out = append(out, misfit{"round", strconv.Itoa(m.Round), strconv.Itoa(round)})
	}
	return out
}

// nearest says which rule is nearest to a question that none answers, and why that one does
// not; "" if there are no rules.
func (r *Run) nearest(q *Question) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var nearest *Rule
	var misfits []misfit
	best := 0
	for _, s := range r.scripts {
		for _, rule := range s.Rules {
			found, weight := rule.Match.misfits(q), 0
			for _, m := range found {
				weight += m.weight()
			}
			if nearest == nil || weight < best {
				nearest, misfits, best = rule, found, weight
			}
		}
	}
	switch {
	case nearest == nil:
		return ""
	case misfits == nil && nearest.Match.Nth > 0:
		return fmt.Sprintf("; line %d is for question %d of its kind, and this is question %d", nearest.Line, nearest.Match.Nth, r.fits[nearest])
	case misfits == nil:
		return fmt.Sprintf("; line %d has answered %s, as its times say", nearest.Line, wording.Plural(r.answered[nearest], "question"))
	}
	wants := make([]string, len(misfits))
	for i, m := range misfits {
		wants[i] = m.String()
	}
	why := strings.Join(wants, ", and ")
	r.missed[nearest] = fmt.Sprintf("; it did not match %s, since it %s", wording.Quoted(q.title()), why)
	return fmt.Sprintf("; line %d %s", nearest.Line, why)
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
			if e := rule.Expect; over && e != nil && !e.isMet(r.answered[rule]) {
				out = append(out, fmt.Sprintf("line %d: the rule was to answer %s%s, and answered %d%s", rule.Line, wording.Either(e.more, "at least ", ""), wording.Plural(e.Asked, "question"), r.answered[rule], r.missed[rule]))
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
