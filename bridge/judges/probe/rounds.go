package probe

import (
	"fmt"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/meaning/elicit"
)

const july = mcp.Revision20260728

func roundProbes() []*Probe {
	once := fillsIn(text)
	one := func(name, title string, run func(r *run) finding) *Probe {
		return &Probe{Name: name, Group: Rounds, Title: title, Do: "Enter any text, and accept.", Since: july, Mode: elicit.ModeForm, run: run}
	}
	return []*Probe{
		one("round-state", "requestState goes back as it came", once),
		one("round-no-state", "A round without requestState", func(r *run) finding {
			_, wrong := r.round([]string{"question"}, []string{r.form(r.probe.Do, text)}, "")[0].checked()
			return or(wrong, works(""))
		}),
		one("round-id", "Each retry has a new id", once),
		one("round-arguments", "A retry repeats the call", once),
		one("round-keys", "Keys of several requests", func(r *run) finding {
			keys := []string{"a b", "größe/0", "__proto__"}
			params := make([]string, len(keys))
			for i := range keys {
				params[i] = r.form(fmt.Sprintf("Question %d of three. Choose the only value, and accept.", i+1), only(fmt.Sprint("answer ", i+1)), "value")
			}
			for _, a := range r.round(keys, params, r.newState()) {
				if _, wrong := a.checked(); wrong.verdict != "" {
					return wrong
				}
			}
			return works("")
		}),
		{Name: "round-state-only", Group: Rounds, Title: "A round without questions", Do: "Nothing is asked: the client makes the call again by itself.", Since: july, run: func(r *run) finding {
			a := r.round(nil, nil, r.newState())[0]
			if a.missing.verdict != "" {
				return a.missing
			}
			if responses := rawjson.Member(r.Params, "inputResponses"); rawjson.Count(responses) > 0 {
				return partly("The retry has inputResponses, and nothing was asked.")
			}
			return works("The call was made again after " + wording.Duration(a.took) + ".")
		}},
		{Name: "round-ten", Group: Rounds, Title: "Ten rounds", rounds: 10, Do: "Accept ten questions, one after the other.", Since: july, Mode: elicit.ModeForm, run: series(10)},
		{Name: "round-unknown-type", Group: Rounds, Title: "A resultType that does not exist", Do: "The call ends with a result that the client cannot understand: it says so.", Since: july, Apart: true, OnlyLooks: true, Looks: []string{"Did the client say that the result is invalid?"}, run: func(r *run) finding {
			r.awaits = true
			r.session.expect(r)
			defer r.session.unexpect(r)
			r.over = true
			r.saw(r.Reply(`{"resultType":"telepathy","content":[{"type":"text","text":"The client takes this for a complete result."}],"requestState":"unknown"}`))
			select {
			case next := <-r.retries:
				r.Request, r.over = next, false
				r.saw(next.Frame.Seq)
				return fails("The call was made again, as if the unknown result were one that asks for input.")
			case <-r.ctx.Done():
			case <-r.pause():
			}
			return notSeen("No frame shows what the client made of it.")
		}},
		{Name: "round-prompt", Group: Rounds, Title: "A prompt that asks", Do: "Get this prompt. Enter any text, and accept.", Since: july, Kind: conversation.Prompt, Mode: elicit.ModeForm, run: once},
		{Name: "round-resource", Group: Rounds, Title: "A resource that asks", Do: "Read this resource. Enter any text, and accept.", Since: july, Kind: conversation.Resource, Mode: elicit.ModeForm, run: once},
	}
}
