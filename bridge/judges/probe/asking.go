package probe

import (
	"fmt"
	"sync"
	"time"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/meaning/elicit"
)

// quick is less time than a person needs to read and answer a question.
const quick = 300 * time.Millisecond

// text is a form with one text field.
const text = `"value":{"type":"string","title":"Text"}`

// only is a form with a field that takes one value, which tells answers apart.
func only(value string) string { return fmt.Sprintf(`"value":{"type":"string","enum":[%q]}`, value) }

func answerProbes() []*Probe {
	return []*Probe{
		{Name: "accept", Group: Answers, Title: "Accept", Do: "Enter any text, and accept.", Mode: elicit.ModeForm, run: func(r *run) finding {
			a := r.ask(r.form(r.probe.Do, text, "value"))
			_, wrong := a.checked()
			if a.took >= quick {
				return or(wrong, works(""))
			}
			soon := "The answer came " + wording.Duration(a.took) + " after the question, sooner than any person answers"
			if wrong.cause == causeDeclined {
				return fails(soon + ", and is not an accept.").because(causeDeclined)
			}
			return or(wrong, works(soon+"."))
		}},
		{Name: "decline", Group: Answers, Title: "Decline", Do: "Decline this question.", Mode: elicit.ModeForm, enter: `{"action":"decline"}`, run: refusal("decline")},
		{Name: "cancel", Group: Answers, Title: "Cancel", Do: "Close this question without answering it.", Mode: elicit.ModeForm, enter: `{"action":"cancel"}`, run: refusal("cancel")},
	}
}

// refusal returns the function of a probe that asks for an answer with this action.
func refusal(want string) func(r *run) finding {
	return func(r *run) finding {
		a := r.ask(r.form(r.probe.Do, text))
		action, wrong := a.action()
		switch {
		case wrong.verdict != "":
			return wrong
		case action == "accept":
			return a.unread()
		case rawjson.Member(a.result, "content") != nil:
			return partly("The answer is " + action + ", and has content, which only an accept has.").because(causeUnwanted)
		case action != want:
			return partly("The answer is " + action + " in place of " + want + ".")
		}
		return works("")
	}
}

// unread is the finding for an accept of a question that says to decline it.
func (a answer) unread() finding {
	if a.took < quick {
		return fails("It was accepted " + wording.Duration(a.took) + " after the question, sooner than any person reads that it is to be declined: the client answers by itself.").because(causeUnread)
	}
	return otherwise("It was accepted, so nobody did what the message asks for.")
}

func timeProbes() []*Probe {
	return []*Probe{
		{Name: "two-at-once", Group: Time, Title: "Two questions at the same time", Do: "Two questions come at the same time. Accept both.", Mode: elicit.ModeForm, run: func(r *run) finding {
			first, second := r.form("The first of two questions. Choose the only value, and accept.", only("first"), "value"), r.form("The second of two questions. Choose the only value, and accept.", only("second"), "value")
			list := r.askAll(first, second)
			for i, a := range list {
				other := list[1-i]
				if value := rawjson.Text(rawjson.Member(a.result, "content", "value")); value != "" && value == []string{"second", "first"}[i] && rawjson.Text(rawjson.Member(other.result, "content", "value")) != value {
					return fails("The answers are exchanged: each came for the other question.").because(causeInvalid)
				}
				if _, wrong := a.checked(); wrong.verdict != "" {
					return wrong
				}
			}
			return works("")
		}},
		{Name: "twenty", Group: Time, Title: "Twenty questions in a row", Do: "Accept twenty questions, one after the other.", Until: november, Mode: elicit.ModeForm, run: series(20)},
		{Name: "progress", Group: Time, Title: "Progress while a question waits", Do: "Wait until three progress messages have come, then enter any text, and accept.", Mode: elicit.ModeForm, Looks: []string{"Was the progress shown while the question was open?"}, Until: november, run: func(r *run) finding {
			if rawjson.Member(r.Params, "_meta", "progressToken") == nil {
				return notSeen("The call has no progressToken, so no progress is sent.")
			}
			q := r.send(r.Out, mcp.MethodElicit, r.form(r.probe.Do, text))
			var sending sync.WaitGroup
			ended := make(chan struct{})
			sending.Go(func() {
				for i := range 3 {
					r.reportProgress(fmt.Sprintf("Step %d of 3", i+1))
					select {
					case <-ended:
						return
					case <-r.ctx.Done():
						return
					case <-time.After(r.session.server.options.Pause / 3):
					}
				}
			})
			a := r.await(q)
			close(ended)
			sending.Wait()
			_, wrong := a.checked()
			return or(wrong, works(""))
		}},
		{Name: "withdrawn", Group: Time, Title: "A question that is taken back", Do: "Do nothing: the question is taken back after a moment.", Until: november, Mode: elicit.ModeForm, Apart: true, Looks: []string{"Did the dialog close by itself?"}, run: func(r *run) finding {
			q := r.send(r.Out, mcp.MethodElicit, r.form(r.probe.Do, text))
			select {
			case f := <-q.Response:
				r.saw(f.Seq)
				return notSeen("It was answered before it was taken back.")
			case <-r.pause():
			case <-r.ctx.Done():
				return r.gaveUp(q.At)
			}
			r.saw(r.Notify(mcp.NotificationCancelled, `{"requestId":`+q.ID+`,"reason":"The question is taken back."}`))
			select {
			case f := <-q.Response:
				r.saw(f.Seq)
				if action := rawjson.Text(rawjson.Member(f.Message.Result, "action")); action == "accept" || action == "decline" {
					return partly("It was answered with " + action + " after it had been taken back.")
				}
				return works("It was answered " + wording.Duration(f.Time.Sub(q.At)) + " after it was asked, once it had been taken back.")
			case <-r.pause():
			case <-r.ctx.Done():
				return r.gaveUp(q.At)
			}
			return works("No answer came any more.")
		}},
		{Name: "outside-call", Group: Time, Title: "A question outside of a call", Do: "The call ends at once, and a question follows. Enter any text, and accept.", Until: november, Mode: elicit.ModeForm, Apart: true, run: func(r *run) finding {
			out := r.session.Outside()
			r.finish("A question follows.")
			if out == nil {
				return notSeen("The client has no event stream open (GET) on which a question could come.")
			}
			_, wrong := r.await(r.send(out, mcp.MethodElicit, r.form(r.probe.Do, text))).checked()
			return or(wrong, works(""))
		}},
		{Name: "patience", Group: Time, Title: "How long the client waits", Do: "Leave this question open, and do nothing, until it goes away or the probe ends.", Until: november, Mode: elicit.ModeForm, Apart: true, run: func(r *run) finding {
			a := r.ask(r.form(r.probe.Do, text))
			waited := wording.Duration(a.took)
			switch action, _ := a.action(); {
			case a.missing.verdict != "" && r.ctx.Err() == nil:
				return works("It waited for " + waited + ", and would have gone on.")
			case a.missing.verdict != "":
				return partly("It gave up after " + waited + ". " + a.missing.how)
			case a.err != nil:
				return partly(fmt.Sprintf("It gave up after %s, with error %d.", waited, a.err.Code))
			default:
				return notSeen("It was answered with " + action + " after " + waited + ": somebody, or a time limit of the client, has answered.")
			}
		}},
	}
}

// series returns the function of a probe that asks n questions one after the other.
func series(n int) func(r *run) finding {
	return func(r *run) finding {
		for i := 1; i <= n; i++ {
			value := fmt.Sprintf("question %d", i)
			a := r.ask(r.form(fmt.Sprintf("Question %d of %d. Accept.", i, n), only(value), "value"))
			switch _, wrong := a.checked(); {
			case r.Rounds() && i > 1 && wrong.cause == nil && wrong.verdict == NotSeen:
				return may(fmt.Sprintf("It made %d rounds and no more. No rule says how many a client has to make; servers that need more get no answer.", i-1))
			case wrong.verdict != "" && i > 1 && wrong.cause != causeDeclined:
				wrong.how = fmt.Sprintf("Question %d of %d: %s", i, n, wrong.how)
				return wrong
			case wrong.verdict != "":
				return wrong
			}
		}
		return works(fmt.Sprintf("All %d were answered, each with its own answer.", n))
	}
}

func modeProbes() []*Probe {
	return []*Probe{
		{Name: "declared", Group: Modes, Title: "What the client declares", Do: "Nothing is asked.", run: func(r *run) finding {
			switch {
			case r.declared == nil || r.declared.Elicitation == nil:
				return undeclared("The client does not declare elicitation: no server may ask it anything.")
			case rawjson.KindOf(r.declared.Elicitation) != rawjson.Object:
				return fails("The capability elicitation is " + conversation.ContentKind(r.declared.Elicitation) + " in place of an object.")
			}
			for _, mode := range []string{"form", "url"} {
				if value := rawjson.Member(r.declared.Elicitation, mode); value != nil && rawjson.KindOf(value) != rawjson.Object {
					return fails("The mode " + mode + " is declared as " + conversation.ContentKind(value) + " in place of an object.")
				}
			}
			return works("It declares elicitation as " + wording.Shorten(string(r.declared.Elicitation), 200) + ".")
		}},
		{Name: "mode-undeclared", Group: Modes, Title: "A mode that is not declared", Do: "Nothing should appear: the client refuses a mode that it has not declared, or that does not exist.", Since: november, Until: november, run: func(r *run) finding {
			if r.declared == nil || r.declared.Elicitation == nil {
				return undeclared("The client does not declare elicitation; see elicitation-undeclared.")
			}
			params, mode := `{"mode":"telepathy","message":`+string(rawjson.Quoted(r.probe.Do))+`,"requestedSchema":{"type":"object","properties":{}}}`, "telepathy"
			if !conversation.ClientSettingsOf(r.declared).Allows("url", r.Revision) {
				params, mode = `{"mode":"url","message":`+string(rawjson.Quoted(r.probe.Do))+`,"url":`+string(rawjson.Quoted(r.session.server.page(r).url))+`,"elicitationId":"undeclared"}`, "url"
			}
			return refused(r.ask(params), "mode "+mode, mcp.CodeInvalidParams)
		}},
		{Name: "elicitation-undeclared", Group: Modes, Title: "Elicitation that is not declared", Do: "Nothing should appear: the client refuses what it has not declared.", Until: november, run: func(r *run) finding {
			if r.declared != nil && r.declared.Elicitation != nil {
				return undeclared("The client declares elicitation.")
			}
			return refused(r.ask(r.form(r.probe.Do, text)), "elicitation", mcp.CodeMethodNotFound, mcp.CodeInvalidParams)
		}},
	}
}

// refused judges the answer to a question that the client must refuse with one of the codes.
func refused(a answer, what string, codes ...int64) finding {
	action, wrong := a.action()
	if a.err == nil {
		return or(wrong, fails("The "+what+" is answered with "+action+", and was not declared.").because(causeUndeclared))
	}
	for _, code := range codes {
		if a.err.Code == code {
			return works(fmt.Sprintf("It is refused with error %d.", code))
		}
	}
	return partly(fmt.Sprintf("It is refused with error %d, and the specification has %d.", a.err.Code, codes[0])).because(causeWrongCode)
}
