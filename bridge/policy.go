package bridge

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"elicitation-inspector/bridge/elicit"
)

// Policy says what becomes of a server's questions before a person sees them.
// It is kept for the run, and set for each server by itself.
type Policy string

// The policies.
const (
	PolicyAsk      Policy = "ask"      // put them to the person
	PolicyDefaults Policy = "defaults" // accept forms as their schema fills them in, where that is valid; ask otherwise
	PolicyDecline  Policy = "decline"
	PolicyCancel   Policy = "cancel"
	PolicyBlock    Policy = "block" // refuse them with an error
)

// Policies lists the policies, the default first.
func Policies() []Policy {
	return []Policy{PolicyAsk, PolicyDefaults, PolicyDecline, PolicyCancel, PolicyBlock}
}

// ParsePolicy checks a policy's name.
func ParsePolicy(name string) (Policy, error) {
	if !slices.Contains(Policies(), Policy(name)) {
		return "", fmt.Errorf("unknown policy %q: want ask, defaults, decline, cancel or block", name)
	}
	return Policy(name), nil
}

// SetPolicy changes what becomes of a server's further questions, and of those
// that are held back. Questions that are on show stay.
func (in *Inspection) SetPolicy(id string, p Policy) error {
	s, err := in.server(id)
	if err != nil {
		return err
	}
	in.mu.Lock()
	s.policy = p
	in.changed(Change{Kind: ServerChanged, Server: s.id})
	in.mu.Unlock()
	if p != PolicyAsk {
		in.settleHeld(s)
	}
	return nil
}

// blocked is why a question of a blocked server is refused.
const blocked = "elicitation from this server is blocked by the user"

// codeBlocked answers a blocked request. JSON-RPC 2.0 leaves -32000 to -32099
// to implementations.
const codeBlocked = -32000

// applyPolicy settles a question by its server's policy, where there is one.
// It reports whether it did. The caller holds in.mu.
func (in *Inspection) applyPolicy(q *question) bool {
	policy := q.server.policy
	if q.method != MethodElicit && (policy == PolicyDefaults || policy == PolicyCancel || policy == PolicyDecline) {
		q.handed = fmt.Sprintf("a %s request is not an elicitation", q.method)
		return false // these requests cannot be answered so
	}
	switch policy {
	case PolicyDefaults:
		content, why := q.defaults()
		if why != "" {
			q.handed = why
			return false
		}
		q.answer = Answer{Action: "accept", Content: content, Actor: ByPolicy}
	case PolicyDecline, PolicyCancel:
		q.answer = Answer{Action: string(policy), Actor: ByPolicy}
	case PolicyBlock:
		q.refusal = &rpcError{codeBlocked, blocked}
		return in.settle(q, Refused, ByPolicy, blocked)
	default:
		return false
	}
	return in.settle(q, Answered, ByPolicy, fmt.Sprintf("the policy for this server is %q", policy))
}

// defaults is the content of an untouched form, or why a person has to see it:
// the schema does not take it, or a default has no place in it. A URL needs a
// person's consent.
func (q *question) defaults() (content []byte, why string) {
	if q.request == nil || q.request.Mode != elicit.ModeForm {
		return nil, "a URL needs your consent"
	}
	fields := q.request.Fields
	for _, f := range fields {
		if f.DefaultProblem() != "" {
			return nil, fmt.Sprintf("the default of %q does not fit", f.Label)
		}
	}
	content, problems, err := elicit.CheckInputs(q.request.Schema, fields, elicit.Defaults(fields))
	switch {
	case err != nil:
		return nil, err.Error()
	case len(problems) == 0:
		return content, ""
	}
	p := problems[0]
	text := strings.TrimSuffix(strings.ReplaceAll(p.Text, "You entered", "It is"), ".")
	switch {
	case p.Field < 0:
		return nil, text
	case p.Keyword == "required":
		return nil, fmt.Sprintf("%q is required and has no default", fields[p.Field].Label)
	}
	return nil, fmt.Sprintf("the default of %q is not valid: %s", fields[p.Field].Label, text)
}

// DefaultRate is how many questions a minute one server may put on show, not
// counting those that are settled by our side: who keeps up with a server is
// not flooded by it.
const DefaultRate = 10

// keptUp notes that our side settled a question. The caller holds in.mu.
func (s *server) keptUp(q *question) {
	if i := slices.Index(s.shown, q.asked); i >= 0 {
		s.shown = slices.Delete(s.shown, i, i+1)
	}
}

// overRate notes a question of s that is to be shown, and reports whether it is
// one too many within a minute. The caller holds in.mu.
func (in *Inspection) overRate(s *server, at time.Time) bool {
	rate := in.config.Rate
	if rate <= 0 {
		return false
	}
	s.shown = slices.DeleteFunc(s.shown, func(t time.Time) bool { return at.Sub(t) >= time.Minute })
	if len(s.shown) >= rate {
		return true
	}
	s.shown = append(s.shown, at)
	return false
}
