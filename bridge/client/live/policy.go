package live

import (
	"fmt"
	"strings"
	"time"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/meaning/elicit"
)

// SetPolicy sets the policy for a server's future questions, and applies it to those
// that are held back. Shown questions stay.
func (in *Inbox) SetPolicy(server string, p conversation.Policy) {
	in.update(func(n *news) {
		in.server(server).policy = p
		n.count(server)
	})
	if p == conversation.PolicyAsk {
		return
	}
	held := in.heldOf(server, in.most)
	if p == conversation.PolicyDefaults { // the only policy that needs the params
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

// blocked is the refusal's message for questions of a blocked server.
const blocked = "elicitation from this server is blocked by the user"

// verdict is the outcome of a question by its refusal and its server's policy.
type verdict struct {
	state   conversation.QuestionState // Pending: the person decides
	answer  Answer
	refusal *conversation.RPCError
	reason  string
	handed  string // why the policy leaves the question to the person
}

func (in *Inbox) follow(n *news, q *question, v verdict) {
	if v.answer.Action != "" {
		q.Answered(v.answer)
	}
	if v.refusal != nil {
		q.Refusal = v.refusal
	}
	in.settle(n, q, v.state, conversation.ByPolicy, v.reason)
}

func refuse(r *conversation.RPCError) verdict {
	return verdict{state: conversation.Refused, refusal: r, reason: r.Message}
}

// decide applies a policy to a question.
func decide(p conversation.Policy, q *Question) verdict {
	var v verdict
	switch {
	case q.Refusal != nil:
		return refuse(q.Refusal)
	case p == conversation.PolicyAsk:
		return v
	case p == conversation.PolicyBlock:
		return refuse(&conversation.RPCError{Code: mcp.CodeServerError, Message: blocked})
	case q.Method != mcp.MethodElicit: // the other policies only know answers to elicitations
		v.handed = fmt.Sprintf("a %s request is not an elicitation", q.Method)
		return v
	case p == conversation.PolicyDefaults:
		v.answer.Action = "accept"
		if v.answer.Content, v.handed = defaults(q.Request); v.handed != "" {
			return v
		}
	case p == conversation.PolicyDecline, p == conversation.PolicyCancel:
		v.answer.Action = string(p)
	default:
		return v
	}
	v.state, v.reason = conversation.Answered, fmt.Sprintf("the policy for this server is %q", p)
	return v
}

// defaults returns the content of an untouched form, or why a person has to see it: a
// URL needs consent, a default does not fit its field, or the content does not satisfy
// the schema.
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

// Source answers questions when they are put in, before the policy of their server
// applies and before a person sees them. Decide is called from several goroutines.
type Source interface {
	Decide(*Question) Decision
}

// Decision is a source's answer to a question. The zero Decision leaves the question to
// the policy and the person.
type Decision struct {
	Answer *Answer
	Delay  time.Duration // wait before Answer; the question is shown meanwhile
	Left   string        // why the question is left to the person, in words
}

// SetSource sets the source for future questions; nil removes it.
func (in *Inbox) SetSource(s Source) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.source = s
}
