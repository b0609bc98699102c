package judge

import (
	"fmt"
	"slices"
	"strings"

	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/meaning/conversation"
)

// bySpans takes the server's own spans for a witness, unless another one has seen something. They count if
// they say what an accepted call does, and does only after it has asked. That they say nothing proves nothing.
func (o *Observation) bySpans() {
	if o.Effect.State == Changed || o.Early+o.Twice != "" {
		return
	}
	name := func(e conversation.Effect) string { return e.Name + "\n" + e.ServerSpan.Effect }
	before := func(e conversation.Effect) bool { return e.When == conversation.EffectUnasked }
	does, asks := map[string]int{}, map[string]bool{} // how often an accepted call does it; what it does before it asks
	for _, m := range o.Honest {
		counts := map[string]int{}
		for _, e := range m.Effects() {
			counts[name(e)]++
			asks[name(e)] = asks[name(e)] || before(e)
		}
		for what, n := range counts {
			does[what] = max(does[what], n)
		}
	}
	for _, m := range o.Calls {
		list := slices.DeleteFunc(m.Effects(), func(e conversation.Effect) bool { return before(e) || does[name(e)] == 0 || asks[name(e)] })
		counts := map[string]int{}
		for _, e := range list {
			says := "the server's span " + wording.Quoted(e.Name) + " (" + e.ServerSpan.Effect + ") began " + wording.Duration(e.Gap)
			switch counts[name(e)]++; e.When {
			case conversation.EffectEarly:
				o.Early = says + " before " + wording.Either(e.About.AnswerSeq == 0, "the question was withdrawn", "the answer")
			case conversation.EffectWaiting:
				o.Early = says + " after the question was asked"
			case conversation.EffectRefused, conversation.EffectAfter, conversation.EffectAgreed:
				o.Effect = Effect{Changed, says + " after the answer"}
			}
			if n := does[name(e)]; TraitsOf(o.Behaviour).Twice && len(o.Calls) == 1 && !TraitsOf(o.Behaviour).Borrows && counts[name(e)] == 2*n {
				o.Twice = fmt.Sprintf("its spans say %s (%s) %d times, and %d in a call that is accepted once", wording.Quoted(e.Name), e.ServerSpan.Effect, 2*n, n)
			}
		}
	}
}

// toldBySpans reports whether a rule of the linter judges what bySpans has judged.
func (o *Observation) toldBySpans(rule string) bool {
	return strings.HasPrefix(rule, "effect-") && (o.Early+o.Twice != "" || o.Effect.State == Changed)
}
