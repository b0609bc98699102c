package export

import (
	"fmt"
	"strings"

	"elicitation-inspector/bridge/conversation"
	"elicitation-inspector/bridge/elicit"
	"elicitation-inspector/bridge/elicit/link"
	"elicitation-inspector/bridge/mcp"
)

// Sentence says in words what became of a call, and whose time it took.
func Sentence(c *conversation.Call) string {
	var b strings.Builder
	b.WriteString(capital(c.State.String()))
	if took := c.Took(); took > 0 {
		fmt.Fprintf(&b, " after %s", duration(took))
		var shares []string
		for _, p := range []conversation.Party{conversation.PersonParty, conversation.ServerParty, conversation.ClientParty} {
			if d := c.With(p); d > 0 {
				shares = append(shares, fmt.Sprintf("%s with the %s", duration(d), p))
			}
		}
		if len(shares) > 1 {
			b.WriteString(": " + strings.Join(shares, ", "))
		}
	}
	var counts []string
	if n := len(c.Rounds); n > 1 {
		counts = append(counts, counted(n, "round"))
	}
	if n := len(c.Questions); n > 0 {
		counts = append(counts, counted(n, "question"))
	}
	counts = append(counts, counted(len(c.Frames)+c.Omitted, "frame"))
	b.WriteString("; " + strings.Join(counts, ", ") + ".")
	if c.Failure != "" {
		b.WriteString(" " + capital(strings.TrimSuffix(line(c.Failure, 200), ".")) + ".")
	}
	return b.String()
}

func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// title names a call.
func title(c *conversation.Call) string {
	return line(strings.TrimSpace(c.Method+" "+c.Name), 120)
}

// story says in sentences how a question came and what became of it. quote marks
// what was said on the wire.
func story(q *conversation.Question, quote func(string) string) []string {
	how := "Asked by " + quote(q.Method)
	switch q.Via {
	case elicit.InRound:
		how += fmt.Sprintf(", in round %d as %s", q.Round, quote(q.Key))
	case elicit.InError:
		how += fmt.Sprintf(", in error %d", mcp.CodeURLElicitationRequired)
	}
	if q.Guessed {
		how += "; that it belongs to this call is a guess"
	}
	end := q.State.String()
	if q.State == conversation.Pending {
		end = "not answered"
	}
	if q.Action != "" {
		end += " with " + quote(q.Action)
	}
	if q.By != "" && q.By != conversation.ByServer { // else the reason says so
		end += " by " + quote(q.By)
	}
	if !q.Asked.IsZero() && q.Ended.After(q.Asked) {
		end += " after " + duration(q.Ended.Sub(q.Asked))
	}
	if q.Reason != "" {
		end += ": " + quote(q.Reason)
	}
	return []string{how + ".", capital(end) + "."}
}

// followed says what the frame in AnswerSeq is to the question.
func followed(q *conversation.Question) string {
	if q.State == conversation.Unheard || q.State == conversation.Withdrawn && q.Via != elicit.ByRequest {
		return "followed by"
	}
	return "answered by"
}

// unseen marks the number of a frame that is not among those chosen.
func unseen(is bool) string {
	if is {
		return " (not exported)"
	}
	return ""
}

// prompt is what a person is asked, in one line.
func prompt(q *conversation.Question) string {
	if url := q.URL(); url != "" {
		if v := link.Judge(url); v.ASCII != "" {
			return v.ASCII + " · " + q.Message()
		}
	}
	return q.Title()
}

// reply is what the person said, in a word or two.
func reply(q *conversation.Question) string {
	if q.Action != "" {
		return q.Action
	}
	return q.State.String()
}
