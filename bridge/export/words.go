package export

import (
	"fmt"
	"strings"
	"time"

	"elicitation-inspector/bridge/conversation"
	"elicitation-inspector/bridge/elicit"
	"elicitation-inspector/bridge/mcp"
	"elicitation-inspector/bridge/wire"
	"elicitation-inspector/bridge/wording"
)

func clockOf(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("15:04:05.000")
}

func wayOf(d wire.Direction) string {
	switch d {
	case wire.ClientToServer:
		return "client → server"
	case wire.ServerToClient:
		return "server → client"
	}
	return d.String()
}

func sentence(c *conversation.Call) string {
	words := c.State.String()
	if took := c.Took(); took > 0 {
		words += " after " + wording.Duration(took)
		var shares []string
		for _, p := range []conversation.Party{conversation.PersonParty, conversation.ServerParty, conversation.ClientParty} {
			if d := c.With(p); d > 0 {
				shares = append(shares, fmt.Sprintf("%s with the %s", wording.Duration(d), p))
			}
		}
		if len(shares) > 1 {
			words += ": " + strings.Join(shares, ", ")
		}
	}
	var counts []string
	if n := len(c.Rounds); n > 1 {
		counts = append(counts, wording.Plural(n, "round"))
	}
	if n := len(c.Questions); n > 0 {
		counts = append(counts, wording.Plural(n, "question"))
	}
	counts = append(counts, wording.Plural(len(c.Frames)+c.Omitted, "frame"))
	words = wording.Sentence(words + "; " + strings.Join(counts, ", "))
	if c.Failure != "" {
		words += " " + wording.Sentence(Line(c.Failure, 200))
	}
	return words
}

// story describes in two sentences how a question arrived and how it ended. quote
// formats text from the wire.
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
	if q.By != "" && q.By != conversation.ByServer { // ByServer is part of the reason
		end += " by " + quote(q.By)
	}
	if !q.Asked.IsZero() && q.Ended.After(q.Asked) {
		end += " after " + wording.Duration(q.Ended.Sub(q.Asked))
	}
	if q.Reason != "" {
		end += ": " + quote(q.Reason)
	}
	return []string{how + ".", wording.Sentence(end)}
}

// Followed returns the words that link a question to the frame in AnswerSeq.
func (q *question) Followed() string {
	if q.State == conversation.Unheard || q.State == conversation.Withdrawn && q.Via != elicit.ByRequest {
		return "followed by"
	}
	return "answered by"
}
