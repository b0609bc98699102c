package lint

import (
	"context"

	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/wire"
	"elicitation-inspector/bridge/wire/redact"
)

// effects is what was found in a call of the spans that say that the server wrote, sent, deleted or called out.
type effects struct {
	waiting bool            // there is one that could not be judged yet
	looks   int             // how often the call was read
	judged  map[string]bool // by the id of the span
	unasked bool            // one before the question was named
}

// looksMost bounds how often one call is read for its effects.
const looksMost = 200

// judgeEffects judges the effects in the call of a frame by the frames up to it: when a span comes,
// and when a later frame can settle what an earlier span left open.
func (s *session) judgeEffects(ctx context.Context, f *wire.Frame) {
	isSpan := f.Kind == wire.SpanFrame
	s.hasSpans = s.hasSpans || isSpan
	if !s.hasSpans {
		return
	}
	place, guessed := s.talk.CallOf(f.Seq)
	if place == 0 || guessed || !isSpan && s.calls[place] == nil {
		return
	}
	c := s.callOf(f)
	e := &c.effects
	if isSpan && conversation.EffectOf(f.Note.Span) != "" {
		e.waiting = true
	}
	if !e.waiting || e.looks == looksMost {
		return
	}
	e.looks++
	now, err := s.talk.Call(ctx, place, conversation.Reading{Redact: redact.Nothing(), Bare: true, Until: f.Seq})
	if err != nil { // the context has ended
		return
	}
	e.waiting = !now.ServerClock.Known || len(now.Questions) == 0 && !now.State.Over()
	if e.judged == nil {
		e.judged = map[string]bool{}
	}
	for _, one := range now.Effects() {
		if open := one.When == conversation.EffectWaiting && !now.State.Over(); open || e.judged[one.ID] {
			e.waiting = e.waiting || open
			continue
		}
		e.judged[one.ID] = true
		s.judgeEffect(e, one, now.ServerClock)
	}
}

// judgeEffect says of one effect when it began.
func (s *session) judgeEffect(e *effects, one conversation.Effect, clock conversation.ServerClock) {
	found := len(s.found)
	said := "The span " + wording.Quoted(one.Name) + " (" + one.Effect + ") began "
	gap, why := wording.Duration(one.Gap), wording.After(" ", clock.String())
	late := ""
	if one.Late > 0 {
		late = ", and " + wording.Duration(one.Late) + " after the response to the call"
	}
	switch one.When {
	case conversation.EffectEarly:
		end := map[string]string{"accept": "the accept", "decline": "the decline", "cancel": "the cancel"}[one.About.Action]
		if end == "" {
			end = wording.Either(one.About.AnswerSeq == 0, "the question was withdrawn", "the answer")
		}
		s.broken(0, "effect-before-answer", "", "%s%s before %s, while the question waited.%s", said, gap, end, why)
	case conversation.EffectWaiting:
		s.broken(0, "effect-before-answer", "", "%s%s after the question was asked, which got no answer%s.%s", said, gap, late, why)
	case conversation.EffectRefused:
		s.broken(0, "effect-after-refusal", "", "%s%s after the %s%s.%s", said, gap, one.About.Action, late, why)
	case conversation.EffectUnasked:
		if !e.unasked {
			e.unasked = true
			s.broken(0, "effect-before-question", "", "%s%s before the question was asked. A server may well write a log or a session first: whether this is what the question is about is a guess.%s", said, gap, why)
		}
	case conversation.EffectAgreed:
		if one.Again > 0 {
			s.broken(0, "effect-repeated", "", "%s%s after the accept, and another one that says the same began %s earlier, though one question was accepted. Whether that is once too often is a guess.%s", said, gap, wording.Duration(one.Again), why)
		}
		if one.Late > 0 {
			s.broken(0, "effect-after-result", "", "%s%s after the response to the call, which so could not say what came of it.%s", said, wording.Duration(one.Late), why)
		}
	}
	for i := range s.found[found:] {
		if one.When == conversation.EffectRefused {
			s.found[found+i].Answer = one.About.AnswerSeq
		}
	}
}
