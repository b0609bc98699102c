package inbox

import (
	"fmt"
	"slices"
	"strings"

	"elicitation-inspector/bridge/client"
	"elicitation-inspector/bridge/conversation"
	"elicitation-inspector/bridge/elicit"
	"elicitation-inspector/bridge/mcp"
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
func (in *Inbox) SetPolicy(server string, p Policy) {
	in.update(func(n *news) {
		in.server(server).policy = p
		n.count(server)
	})
	if p == PolicyAsk {
		return
	}
	held := in.heldOf(server, HeldMost)
	if p == PolicyDefaults { // which alone has to know what is asked
		held = in.recall(held)
	}
	for _, q := range held {
		v := decide(p, &q)
		in.update(func(n *news) {
			if known, err := in.find(q.Number); err == nil && known.Held && v.state != conversation.Pending {
				in.follow(n, known, v)
			}
		})
	}
}

func (in *Inbox) policyOf(server string) Policy {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.server(server).policy
}

// blocked is why a question of a blocked server is refused.
const blocked = "elicitation from this server is blocked by the user"

// verdict is what becomes of a question by itself and its server's policy.
type verdict struct {
	state   conversation.QuestionState // Pending leaves it to the person
	answer  Answer
	refusal *client.Refusal
	reason  string
	handed  string // why the policy leaves it to the person
}

// follow settles a question as was decided.
func (in *Inbox) follow(n *news, q *question, v verdict) {
	if v.answer.Action != "" {
		q.Answered(v.answer)
	}
	if v.refusal != nil {
		q.Refusal = v.refusal
	}
	in.settle(n, q, v.state, conversation.ByPolicy, v.reason)
}

func refuse(r *client.Refusal) verdict {
	return verdict{state: conversation.Refused, refusal: r, reason: r.Message}
}

// decide applies a policy to a question.
func decide(p Policy, q *Question) verdict {
	var v verdict
	switch {
	case q.Refusal != nil:
		return refuse(q.Refusal)
	case p == PolicyAsk:
		return v
	case p == PolicyBlock:
		return refuse(&client.Refusal{Code: mcp.CodeServerError, Message: blocked})
	case q.Method != mcp.MethodElicit: // the other policies have no answer to it
		v.handed = fmt.Sprintf("a %s request is not an elicitation", q.Method)
		return v
	case p == PolicyDefaults:
		v.answer.Action = "accept"
		if v.answer.Content, v.handed = defaults(q.Request); v.handed != "" {
			return v
		}
	case p == PolicyDecline, p == PolicyCancel:
		v.answer.Action = string(p)
	default:
		return v
	}
	v.state, v.reason = conversation.Answered, fmt.Sprintf("the policy for this server is %q", p)
	return v
}

// defaults is the content of an untouched form, or why a person has to see it:
// the schema does not take it, or a default has no place in it. A URL needs a
// person's consent.
func defaults(request *elicit.Request) (content []byte, why string) {
	if request == nil || request.Mode != elicit.ModeForm {
		return nil, "a URL needs your consent"
	}
	fields := request.Fields
	for _, f := range fields {
		if f.DefaultProblem() != "" {
			return nil, fmt.Sprintf("the default of %q does not fit", f.Label)
		}
	}
	content, problems, err := elicit.CheckInputs(request.Schema, fields, elicit.Defaults(fields))
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
