package conversation

import (
	"cmp"
	"encoding/json"
	"fmt"
	"hash/maphash"
	"regexp"
	"slices"
	"strings"
	"time"

	"elicitation-inspector/bridge/base/lazy"
	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/wire"
)

// Effect is a span that says that the server wrote, sent, deleted or called out, and when it began by the
// questions of its call.
type Effect struct {
	ServerSpan
	When  EffectTime
	About *Question     // the question that When is about
	Gap   time.Duration // between the beginning of the span and what When names
	Late  time.Duration // how long after the response to the call it began; 0 if it did not
	// Again is how long the same effect began earlier in the call, where one question was accepted; 0 unless
	// this is the second time.
	Again time.Duration
}

// EffectTime says when an effect began.
type EffectTime uint8

// The times of an effect.
const (
	EffectUnclear EffectTime = iota // nothing was asked, or the clocks do not tell what came first
	EffectUnasked                   // before the first question was asked
	EffectWaiting                   // while a question waited, which has no answer
	EffectEarly                     // while a question waited, before its answer
	EffectRefused                   // after a decline or a cancel, and no accept
	EffectAgreed                    // after an accept
	EffectAfter                     // after another answer, or a question that was withdrawn
)

// effectSlack is the time between two events from which it is known which came first, even if the
// clock of the server is that of the inspector.
const effectSlack = 3 * time.Millisecond

// Effects lists the effects of the call, as far as the server's clock is known. Of effects that are within
// each other it has the innermost. It has none if a question may be another call's, whose answer says nothing here,
// and none if the question of another call may be this one's.
func (c *Call) Effects() (list []Effect) {
	var asked []*Question
	accepted := 0
	for _, q := range c.Questions {
		if q.Method == mcp.MethodElicit && !q.Asked.IsZero() {
			asked = append(asked, q)
		}
		if q.Action == "accept" {
			accepted++
		}
	}
	if len(asked) == 0 || c.Guessed || !c.ServerClock.Known {
		return nil
	}
	doubt := max(c.ServerClock.Doubt, effectSlack)
	outer := 0 // spans before, with less depth than this, hold an effect already
	for _, s := range slices.Backward(c.ServerSpans) {
		within := s.Depth < outer
		if within || s.Effect != "" {
			outer = s.Depth
		}
		if s.Effect != "" && !within {
			list = append(list, c.effect(s, asked, doubt))
		}
	}
	slices.SortStableFunc(list, func(a, b Effect) int { return cmp.Or(a.Start.Compare(b.Start), cmp.Compare(a.Seq, b.Seq)) })
	for i := range list {
		same := func(other Effect) bool { return !other.Failed && other.alike == list[i].alike }
		if first := slices.IndexFunc(list, same); accepted == 1 && list[i].When == EffectAgreed && first < i && !slices.ContainsFunc(list[first+1:i], same) {
			list[i].Again = list[i].Start.Sub(list[first].Start)
		}
	}
	return list
}

// effect says when a span began by the questions that were asked in its call.
func (c *Call) effect(s ServerSpan, asked []*Question, doubt time.Duration) Effect {
	best := Effect{ServerSpan: s}
	set := func(when EffectTime, q *Question, from, to time.Time) {
		best.When, best.About, best.Gap = when, q, to.Sub(from)
	}
	unclear := false
	if s.Start.Before(asked[0].Asked.Add(-doubt)) {
		set(EffectUnasked, asked[0], s.Start, asked[0].Asked)
	}
	rank := map[EffectTime]int{EffectAfter: 1, EffectRefused: 2, EffectWaiting: 3, EffectEarly: 4, EffectAgreed: 5}
	for _, q := range asked {
		when, from, to := EffectAfter, q.waited, s.Start
		switch {
		case s.Start.Before(q.Asked.Add(doubt)):
			unclear = unclear || !s.Start.Before(q.Asked.Add(-doubt))
			continue
		case from.IsZero():
			when, from = EffectWaiting, q.Asked
		case s.Start.Before(from.Add(-doubt)):
			when, from, to = EffectEarly, s.Start, from
		case s.Start.Before(from.Add(doubt)) && q.Action != "accept":
			unclear = true
			continue
		case q.Action == "accept":
			when = EffectAgreed
		case q.Fault == "" && (q.Action == "decline" || q.Action == "cancel"):
			when = EffectRefused
		}
		if rank[when] >= rank[best.When] {
			set(when, q, from, to)
		}
	}
	if unclear && best.When != EffectAgreed {
		set(EffectUnclear, nil, s.Start, s.Start)
	}
	if !c.Ended.IsZero() && c.Task == nil && s.Start.After(c.Ended.Add(doubt)) {
		best.Late = s.Start.Sub(c.Ended)
	}
	return best
}

// waitedUntil notes when the answer was on the wire, or the server withdrew the question: whichever came first.
func (q *Question) waitedUntil(at time.Time) {
	if q.waited.IsZero() {
		q.waited = at
	}
}

// writes matches operations of databases, and methods of remote procedures, that change something.
var writes = lazy.Regexp(`(?i)^(?:insert|update|upsert|delete|merge|replace|truncate|drop|create|alter|remove|put|write|bulk_?write|batch_?write|` +
	`find_?(?:and|one_?and)_?(?:modify|update|replace|delete|remove)|(?:m|get)?set|del|unlink|rename|append|incr|decr|h(?:set|mset|del|incr)|[lr](?:push|pop|rem|trim)|` +
	`s(?:add|rem|pop|move)\b|z(?:add|rem|incr)|x(?:add|del)\b|publish|send|add|patch|submit|cancel|transfer|charge|pay|refund|order|book)`)

// setting matches the statement of SQL that sets something of the connection.
var setting = lazy.Regexp(`(?i)^set\b`)

// writesLater matches a statement that begins with a common table expression, and changes something.
var writesLater = lazy.Regexp(`(?is)^with\b.*\b(?:insert\s+into|update\s+\S+\s+set|delete\s+from|merge\s+into)\b`)

// comment matches what can stand before the first word of a statement.
var comment = lazy.Regexp(`^(?:\s|\(|--[^\n]*(?:\n|$)|/\*(?s:.*?)\*/)+`)

// fileWrites matches the name of a span about a file that changes it.
var fileWrites = lazy.Regexp(`(?i)\b(?:write|append|delete|remove|rename|unlink|create|truncate|mkdir|rmdir|copy)`)

// EffectOf returns what in a span says that something was written, sent, deleted or called out, by the semantic
// conventions of OpenTelemetry and by what --effect adds; "" if nothing does. Reading is no effect.
func EffectOf(s *wire.Span) string {
	has := func(names ...string) (name, value string) {
		for _, name := range names {
			if value := rawjson.Text(s.Attributes[name]); value != "" {
				return name, value
			}
		}
		return "", ""
	}
	said := func(name, value string) string { return name + " " + wording.Shorten(value, 60) }
	if s.Effect != "" {
		return wording.Either(strings.HasPrefix(s.Effect, wire.NoEffect), "", "--effect "+s.Effect)
	}
	if protocol, _ := has("mcp.method.name", "gen_ai.operation.name", "gen_ai.system", "gen_ai.provider.name"); protocol != "" {
		return "" // what carries the question itself, or asks a model
	}
	if name, value := has("db.operation.name", "db.operation", "db.query.summary", "db.query.text", "db.statement"); name != "" {
		value = comment().ReplaceAllString(value, "")
		if _, of := has("db.system.name", "db.system"); setting().MatchString(value) && !slices.Contains([]string{"redis", "valkey", "memcached"}, of) {
			return ""
		}
		if writes().MatchString(value) || writesLater().MatchString(value) {
			return said(name, value)
		}
		return ""
	}
	if name, value := has("messaging.operation.type", "messaging.operation"); value == "send" || value == "publish" {
		return said(name, value)
	}
	if name, value := has("rpc.method"); name != "" && s.Kind == wire.SpanClient {
		if writes().MatchString(value[strings.LastIndex(value, "/")+1:]) {
			return said(name, value)
		}
		return ""
	}
	if name, value := has("http.request.method", "http.method"); s.Kind == wire.SpanClient && slices.Contains([]string{"POST", "PUT", "PATCH", "DELETE"}, value) {
		return said(name, value)
	}
	if name, value := has("file.path"); name != "" && fileWrites().MatchString(s.Name) {
		return said(name, value)
	}
	return ""
}

var alikeSeed = maphash.MakeSeed()

// alikeOf returns equal numbers for spans that say the same of what they did.
func alikeOf(s *wire.Span) uint64 {
	attributes, _ := json.Marshal(s.Attributes) // by their names; they are valid JSON
	return maphash.String(alikeSeed, s.Name+"\x00"+string(attributes))
}

// ParseEffect reads a value of --effect, KEY:TEXT or KEY:~REGEXP, where KEY is name, kind, service, scope or an
// attribute. matches reports whether a span says so. A value that begins with NoEffect is about what is no effect.
func ParseEffect(value string) (matches func(*wire.Span) bool, err error) {
	key, text, ok := strings.Cut(strings.TrimPrefix(value, wire.NoEffect), ":")
	if !ok || key == "" || text == "" || text == "~" {
		return nil, fmt.Errorf("%q is not of the form KEY:TEXT or KEY:~REGEXP", value)
	}
	pattern := "(?i)" + regexp.QuoteMeta(text)
	if expression, is := strings.CutPrefix(text, "~"); is {
		pattern = expression
	}
	find, err := regexp.Compile(pattern)
	if err != nil {
		return nil, fmt.Errorf("%q: %w", value, err)
	}
	return func(s *wire.Span) bool {
		own, is := map[string]string{"name": s.Name, "kind": s.Kind, "service": s.Service, "scope": s.Scope}[key]
		if attribute, has := s.Attributes[key]; !is && has {
			own, is = cmp.Or(rawjson.Text(attribute), string(attribute)), true
		}
		return is && find.MatchString(own)
	}, nil
}
