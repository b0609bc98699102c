package lint

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"elicitation-inspector/bridge/base/lazy"
	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/wire"
)

// refusal is a decline or a cancel of a call's question.
type refusal struct {
	seq      int64 // its frame
	at       time.Time
	action   string // "decline" or "cancel"
	question string // QuestionKey
	required bool   // the form has a field that must be filled in
}

// deed identifies calls that come to the same if their questions are answered alike.
type deed struct{ target, arguments sum }

// outcome is the successful result of a call.
type outcome struct {
	seq     int64
	agreed  []string // QuestionKey of the questions that were accepted
	refused refusal
	result  sum // without what differs from call to call
}

// outcomesMost bounds the outcomes that are kept of calls with the same deed.
const outcomesMost = 20

var (
	// printed matches what programs print for a missing value and no language has as a word.
	printed = lazy.Regexp(`(?:^|[^\w.$])(undefined|<nil>|%![a-z]\(<nil>\)|<no value>|NaN)(?:$|[^\w.$])`)
	// volatile matches what differs between results of the same call: ids, times, long numbers.
	volatile = lazy.Regexp(`[0-9a-fA-F]{8}-[0-9a-fA-F-]{27}|\d[\d:.,TZ+-]{3,}\d|\d{4,}|\b\d+(?:\.\d+)? ?m?s\b`)
)

// followed judges what the last response to a call shows of how the server took a refusal.
func (s *session) followed(f *wire.Frame, r *request) {
	no, found := r.call.refused, len(s.found)
	var texts []string
	collect(&texts, f.Message.Result)
	collect(&texts, f.Message.Error)
	text := wording.Head(strings.Join(texts, "\n"), wording.TextMost)
	failed := f.Kind == wire.Error || string(rawjson.Member(f.Message.Result, "isError")) == "true"
	crash, missing := wording.RuntimeWords().FindString(text), printed().FindStringSubmatch(text)
	switch {
	case no.seq == 0:
	case failed && crash != "":
		s.broken(0, "reads-declined-content", wording.Either(f.Kind == wire.Error, "/error", "/result"),
			"The call failed %s after the %s, with the words of a runtime (%s): the server seems to read content that a %s does not have.",
			wording.Duration(f.Time.Sub(no.at)), no.action, wording.Quoted(strings.TrimSpace(crash)), no.action)
	case !failed && missing != nil:
		s.broken(0, "undefined-after-decline", "/result", "After the %s the result contains %s: it seems to be made of content that a %s does not have.", no.action, wording.Quoted(missing[1]), no.action)
	}
	if !failed && strings.TrimSpace(text) != "" && (no.seq != 0 || r.call.given != nil && !r.call.denied) {
		s.compareOutcome(f, r)
	}
	for i := range s.found[found:] {
		s.found[found+i].Answer = no.seq
	}
}

// compareOutcome finds that a call whose question was refused came to the same as one in which
// the question was accepted. Where nothing in the form is required, a refusal may mean the defaults.
func (s *session) compareOutcome(f *wire.Frame, r *request) {
	var kept []byte
	for name, value := range rawjson.Members(f.Message.Result) {
		if name != "_meta" && name != "resultType" {
			kept = fmt.Appendf(kept, "%q:%s,", name, rawjson.AppendCompact(nil, value))
		}
	}
	if len(kept) > wording.TextMost {
		return
	}
	now := outcome{seq: f.Seq, agreed: r.call.given, refused: r.call.refused, result: sumOf(rawjson.Quoted(volatile().ReplaceAllString(string(kept), "#")))}
	key := deed{r.target, r.arguments}
	for _, before := range s.outcomes[key] {
		yes, no := &before, &now
		if before.refused.seq != 0 {
			yes, no = no, yes
		}
		if yes.refused.seq == 0 && no.refused.required && slices.Contains(yes.agreed, no.refused.question) && yes.result == no.result {
			s.broken(0, "declined-as-accepted", "/result", "The same call came to the same result in frame %d, where its question was %s: either the %s is not heeded, or both mean the same here.",
				before.seq, wording.Either(yes == &before, "accepted", map[string]string{"decline": "declined", "cancel": "cancelled"}[no.refused.action]), no.refused.action)
			break
		}
	}
	if len(s.outcomes) < most && len(s.outcomes[key]) < outcomesMost {
		s.outcomes[key] = append(s.outcomes[key], now)
	}
}

// collect adds the texts in a value to a list, except those in _meta.
func collect(texts *[]string, value json.RawMessage) {
	if text := rawjson.Text(value); text != "" {
		*texts = append(*texts, text)
	}
	for _, element := range rawjson.Elements(value) {
		collect(texts, element)
	}
	for name, member := range rawjson.Members(value) {
		if name != "_meta" {
			collect(texts, member)
		}
	}
}

// Aftermath returns the programming mistake that explains a finding of a rule about what follows a
// refused question; "" for other rules.
func Aftermath(rule string) string {
	return map[string]string{
		"reads-declined-content":  "Reads content after a decline",
		"undefined-after-decline": "Prints content that a decline does not have",
		"declined-as-accepted":    "Comes to the same after a decline",
	}[rule]
}
