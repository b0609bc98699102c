package diff

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/keep/script"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/meaning/elicit"
	"elicitation-inspector/bridge/wire/redact"
)

// Unknown says what happens to a question that the recording does not have.
type Unknown string

// What happens to such a question: it is cancelled and the replay fails, a person is asked, or it is
// cancelled or declined.
const (
	UnknownFail    Unknown = "fail"
	UnknownAsk     Unknown = "ask"
	UnknownCancel  Unknown = "cancel"
	UnknownDecline Unknown = "decline"
)

// Unknowns are all of them.
var Unknowns = []string{string(UnknownFail), string(UnknownAsk), string(UnknownCancel), string(UnknownDecline)}

// Answers gives the answers of a recorded call again, each to the question that means the same. It is
// safe for concurrent use.
type Answers struct {
	Unknown Unknown
	Paced   bool // answers wait as long as the person did

	mu      sync.Mutex
	call    *conversation.Call
	left    []*asked // what was not asked again so far
	carrier *Carrier
	notes   []string
}

// NewAnswers returns the answers of a recorded call. Values of the recording are carried.
func NewAnswers(call *conversation.Call, carrier *Carrier) *Answers {
	a := &Answers{Unknown: UnknownFail, call: call, carrier: carrier}
	for _, q := range call.Questions {
		a.left = append(a.left, newAsked(q))
	}
	return a
}

// Notes says in sentences what was not as recorded.
func (a *Answers) Notes() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.notes)
}

// forever is longer than any call takes.
const forever = 1000 * time.Hour

// Decide answers a question as the one of the recording that means the same.
func (a *Answers) Decide(q script.Question) script.Decision {
	live := newAsked(&conversation.Question{Method: q.Method, Key: q.Key})
	if q.Request != nil {
		live = newAsked(&conversation.Question{Method: q.Method, Key: q.Key, Params: q.Request.Params})
	}
	recorded, content, missing := a.take(live)
	switch {
	case recorded == nil:
		return a.unknown(live, "the recording has no question that means the same"+missing)
	case recorded.State == conversation.Pending || recorded.State == conversation.Withdrawn && recorded.AnswerSeq == 0:
		return script.Decision{Answer: &script.Answer{Action: script.Cancel}, Delay: forever} // nobody answered it
	}
	given, why := a.given(recorded, live, content)
	if given == nil {
		return a.unknown(live, why)
	}
	d := script.NewRun(&script.Script{Default: given}).Decide(q)
	if d.Answer == nil {
		return a.unknown(live, d.Why)
	}
	if a.Paced && recorded.Personal() {
		d.Delay = recorded.Ended.Sub(recorded.Asked)
	}
	if recorded.early {
		d.Delay = max(d.Delay, earlyWait)
	}
	return d
}

// earlyWait is how long a question that is asked before one that came first in the recording waits for
// that one: the server may ask both at once.
const earlyWait = 250 * time.Millisecond

// take returns the recorded question that means the same as a live one, which it is not for another
// one from then on, and the content that was accepted, with the values of this session; nil for none.
// missing describes what is left if there is no such question.
func (a *Answers) take(live *asked) (recorded *asked, content json.RawMessage, missing string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	recorded, by := a.find(live)
	if recorded == nil {
		return nil, nil, a.nearest(live)
	}
	a.left = slices.DeleteFunc(a.left, func(other *asked) bool { return other == recorded })
	recorded.early = slices.ContainsFunc(a.left, func(other *asked) bool { return other.before(recorded) && other.Via != elicit.InRound })
	if by != "" {
		a.notes = append(a.notes, fmt.Sprintf("the question %s is answered as %s was, which it is like by %s", wording.Quoted(live.title()), wording.Quoted(recorded.title()), by))
	}
	a.carrier.Learn(recorded.Params, live.Params)
	if given := rawjson.Member(recorded.Answer, "content"); given != nil {
		content = a.carrier.Live(given)
	}
	return recorded, content, ""
}

func (a *Answers) note(format string, args ...any) {
	a.notes = append(a.notes, fmt.Sprintf(format, args...))
}

// find returns the recorded question that means the same as a live one, and by what it was found; ""
// if by all of it.
func (a *Answers) find(live *asked) (recorded *asked, by string) {
	for _, l := range likenesses {
		for _, old := range a.left {
			old.words = masked(a.carrier.live(old.Message()))
			if old.Method == live.Method && l.alike(old, live) {
				return old, l.by
			}
		}
	}
	return nil, ""
}

// nearest describes the recorded question that is most like a live one, and what did not fit, to
// follow a sentence; "" if none is left.
func (a *Answers) nearest(live *asked) string {
	for _, same := range []func(*asked) bool{
		func(old *asked) bool { return old.Method == live.Method && old.mode() == live.mode() },
		func(old *asked) bool { return old.Method == live.Method },
		func(*asked) bool { return true },
	} {
		if i := slices.IndexFunc(a.left, same); i >= 0 {
			return fmt.Sprintf("; the next one that is left is %s, which has %s", wording.Quoted(a.left[i].title()), misfit(a.left[i], live))
		}
	}
	return fmt.Sprintf("; %s", wording.Either(len(a.call.Questions) == 0, "nothing was asked in this call", "all of its questions were asked already"))
}

func misfit(old, live *asked) string {
	var parts []string
	add := func(what, before, after string) {
		if before != after {
			parts = append(parts, fmt.Sprintf("the %s %s, not %s", what, wording.Quoted(before), wording.Quoted(after)))
		}
	}
	add("method", old.Method, live.Method)
	add("mode", string(old.mode()), string(live.mode()))
	add("message", old.Message(), live.Message())
	add("fields", strings.ReplaceAll(old.names, "\x00", ", "), strings.ReplaceAll(live.names, "\x00", ", "))
	add("host", old.host, live.host)
	return wording.Series(parts)
}

func (a *Answers) unknown(live *asked, why string) script.Decision {
	if a.Unknown == UnknownCancel || a.Unknown == UnknownDecline {
		a.note("the question %s got %s: %s", wording.Quoted(live.title()), a.Unknown, why)
		return script.Decision{Answer: &script.Answer{Action: script.Action(a.Unknown)}}
	}
	return script.Decision{Why: why}
}

// given returns the recorded answer for a live question, with its content in this session; nil, and why,
// if it cannot be given again.
func (a *Answers) given(recorded, live *asked, content json.RawMessage) (*script.Answer, string) {
	again := *recorded.Question
	if again.State == conversation.AnswerUnknown && again.URL() != "" { // the call was made again, so the visit was accepted
		again.State, again.Action, again.Answer = conversation.Answered, "accept", json.RawMessage(`{"action":"accept"}`)
	}
	if content != nil && again.Method == mcp.MethodElicit && again.Fault == "" {
		content, why := a.content(recorded, live, content)
		if why != "" {
			return nil, why
		}
		var answer rawjson.ObjectWriter
		answer.Add("action", rawjson.Quoted(again.Action))
		answer.Add("content", content)
		again.Answer, again.Params = answer.JSON(), live.Params
	}
	answer, err := script.AnswerOf(&again)
	switch {
	case err != nil:
		return nil, "the recording leaves out what was answered"
	case answer == nil:
		return nil, "the recording does not have what was answered"
	}
	return answer, ""
}

// content returns an accepted content for a live question: with the names that its fields have now, and
// without those that are gone.
func (a *Answers) content(recorded, live *asked, content json.RawMessage) (moved json.RawMessage, why string) {
	if recorded.request == nil || live.request == nil || live.request.Schema == nil {
		return content, ""
	}
	before, now := byName(recorded.request.Fields), byName(live.request.Fields)
	names := map[string]string{}
	taken := map[string]bool{}
	for i := range recorded.request.Fields {
		gone := &recorded.request.Fields[i]
		if now[gone.Name] != nil {
			continue
		}
		if heir := heirOf(gone, before, live.request.Fields, taken); heir != nil {
			names[gone.Name], taken[heir.Name] = heir.Name, true
		}
	}
	var kept rawjson.ObjectWriter
	for name, value := range rawjson.Members(content) {
		switch heir := names[name]; {
		case heir != "":
			a.note("the answer to %s has its %s as %s, as the field is called now", wording.Quoted(live.title()), wording.Quoted(name), wording.Quoted(heir))
			kept.Add(heir, value)
		case before[name] != nil && now[name] == nil:
			a.note("the answer to %s goes without %s, whose field is gone", wording.Quoted(live.title()), wording.Quoted(name))
		default:
			kept.Add(name, value)
		}
	}
	moved = kept.JSON()
	given := rawjson.Member(recorded.Answer, "content")
	if bytes.Equal(recorded.request.Schema, live.request.Schema) && bytes.Equal(moved, given) {
		return moved, "" // it is as valid as it was
	}
	valid := func(request *elicit.Request, content json.RawMessage) (bool, string) {
		problems, err := elicit.Check(request.Schema, content)
		if err != nil || len(problems) == 0 {
			return true, ""
		}
		return false, problems[0].Named(request.Fields)
	}
	if was, _ := valid(recorded.request, given); was && !strings.Contains(string(moved), redact.Placeholder) {
		if is, problem := valid(live.request, moved); !is {
			return nil, "its schema does not allow the recorded answer: " + problem
		}
	}
	return moved, ""
}
