package playback

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"elicitation-inspector/bridge/conversation"
	"elicitation-inspector/bridge/wire"
	"elicitation-inspector/bridge/wording"
)

// Giving is how long a playback shows an answer being given, before it shows the frame of
// the answer. Speeds above 1 shorten it.
const Giving = 1600 * time.Millisecond

// Question is a question of the transcript: a mark on the slider, and the answer that a
// playback shows being given.
type Question struct {
	Number   int    // shown to people
	Title    string // the beginning of its message
	Place    int    // position among the questions of its frame, from 1
	Asked    int64  // frame of the question
	Answered int64  // frame of the answer, 0 if no answer with an action went back
	Action   string // of the answer
	Answer   json.RawMessage
}

// Bounds of the questions that a Player knows.
const (
	questionsMost = 500
	titleMost     = 80      // characters
	answerMost    = 1 << 16 // bytes; a larger answer is not shown being given
)

// questionsOf reads the questions of a log, in the order in which they were asked.
func questionsOf(ctx context.Context, log *wire.Log) (out []Question, err error) {
	c := conversation.New(log)
	if err := c.Update(ctx); err != nil {
		return nil, err
	}
	read := map[int]bool{}
	for seq := int64(1); seq <= log.Len() && len(out) < questionsMost; seq++ {
		if c.QuestionAt(seq, 1) == 0 || read[c.Of(seq)] {
			continue
		}
		read[c.Of(seq)] = true
		call, err := c.Call(ctx, c.Of(seq), conversation.Reading{})
		if err != nil {
			return nil, err
		}
		for _, q := range call.Questions {
			if !q.TurnedAway {
				out = append(out, questionOf(q))
			}
		}
	}
	slices.SortStableFunc(out, func(a, b Question) int { return a.Number - b.Number })
	return out[:min(len(out), questionsMost)], nil
}

func questionOf(q *conversation.Question) Question {
	out := Question{Number: q.Number, Title: wording.Shorten(q.Title(), titleMost), Place: q.Place, Asked: q.AskedSeq}
	if q.State == conversation.Answered && q.Action != "" && len(q.Answer) <= answerMost {
		out.Answered, out.Action, out.Answer = q.AnswerSeq, q.Action, q.Answer
	}
	return out
}
