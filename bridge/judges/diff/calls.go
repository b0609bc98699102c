package diff

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"elicitation-inspector/bridge/base/lazy"
	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/meaning/elicit"
	"elicitation-inspector/bridge/wire"
	"elicitation-inspector/bridge/wire/redact"
)

// parts returns what a request calls, as "tool deploy", and the arguments.
func parts(method string, params json.RawMessage) (name string, arguments json.RawMessage) {
	switch method {
	case mcp.MethodCallTool, mcp.MethodGetPrompt:
		return string(conversation.KindOf(method)) + " " + rawjson.Text(rawjson.Member(params, "name")), rawjson.Member(params, "arguments")
	case mcp.MethodReadResource:
		return "resource " + rawjson.Text(rawjson.Member(params, "uri")), nil
	}
	return method, params
}

// calls compares the calls that both conversations have, and returns how many that are.
func (c *comparison) calls() (both int, err error) {
	servers, _ := c.pairedServers()
	pairs := c.aligned(servers)
	several := map[string]int{}
	for _, p := range pairs {
		if p.old != nil {
			several[p.old.name]++
		}
	}
	nth := map[string]int{}
	ctx, stop := context.WithCancel(c.ctx)
	old := c.old.ahead(ctx, pairs, func(p pair) *outline { return p.old })
	now := c.now.ahead(ctx, pairs, func(p pair) *outline { return p.now })
	defer func() {
		stop()
		for range old { // until it is closed
		}
		for range now {
		}
	}()
	for _, p := range pairs {
		o := p.old
		if o == nil {
			o = p.now
		}
		name := o.name
		if p.old != nil && several[name] > 1 {
			nth[name]++
			name = fmt.Sprintf("%s (%d of %d)", name, nth[name], several[name])
		}
		c.at = Difference{Server: c.old.conversation.NameOf(o.server), Call: wording.EscapeLine(name), pair: len(c.pairs) + 1}
		if _, c.at.tool, _ = strings.Cut(o.name, " "); !o.made {
			c.at.Call = "outside of any call"
		}
		if p.old != nil && p.now != nil {
			both++
		}
		before := len(c.list)
		if err := c.pair(p, <-old, <-now); err != nil {
			return both, err
		}
		if len(c.list) > before {
			c.pairs = append(c.pairs, p)
		}
	}
	return both, nil
}

func (c *comparison) pair(p pair, a, b *reading) error {
	switch {
	case c.ctx.Err() != nil:
		return c.ctx.Err()
	case a != nil && a.err != nil:
		return a.err
	case b != nil && b.err != nil:
		return b.err
	}
	c.at.OldFrame, c.at.NewFrame = first(a), first(b)
	switch {
	case b == nil && p.old.made:
		c.found(callMissing, nil, nil, "the call was not made again, so that nothing is known of it")
	case a == nil && p.now.made:
		c.found(callNew, nil, nil, "this call was not made before")
	case b == nil:
		old, _ := questionsOf(a, &reading{Call: new(conversation.Call)})
		c.lost(old, "the server asks it no more, outside of any call")
	case a == nil:
		_, now := questionsOf(&reading{Call: new(conversation.Call)}, b)
		c.added(now)
	default:
		c.call(a, b)
	}
	return nil
}

// first returns the first frame of a call; 0 for none.
func first(call *reading) int64 {
	if call == nil || len(call.Frames) == 0 {
		return 0
	}
	return call.Frames[0].Seq
}

// call compares the same call in both conversations.
func (c *comparison) call(a, b *reading) {
	before := len(c.list)
	if c.values(arguments, "arguments", orEmpty(a.Arguments), orEmpty(b.Arguments), "the argument"); len(c.list) > before {
		return // whoever is told something else may ask and do something else
	}
	declined, same := c.questions(a, b)
	if asked := len(c.list) == before; asked && len(a.Rounds) != len(b.Rounds) && a.State == b.State && a.Protocol == b.Protocol {
		c.found(rounds, nil, nil, "it takes %s, not %d", wording.Plural(len(b.Rounds), "round"), len(a.Rounds))
	}
	c.at.OldFrame, c.at.NewFrame = cmp.Or(a.ResultSeq, first(a)), cmp.Or(b.ResultSeq, first(b))
	if same {
		c.ends(a, b, declined)
		c.notifications(a, b)
		c.slow(a, b)
	}
}

func orEmpty(object json.RawMessage) json.RawMessage {
	if object == nil {
		return json.RawMessage("{}")
	}
	return object
}

// ending says how a call ended.
func ending(call *reading) string {
	switch call.State {
	case conversation.Done:
		return "a result"
	case conversation.ToolFailed:
		return "a result with isError"
	case conversation.Running, conversation.Waiting:
		return "no response"
	}
	if call.Error != nil {
		return "error " + string(rawjson.Member(call.Error, "code"))
	}
	return "no response: " + wording.Shorten(call.Failure, 200)
}

// ends compares how a call ended, where both were given the same. declined is the action of an
// answer that turned a question down, "" for none.
func (c *comparison) ends(a, b *reading, declined string) {
	kind := func(k *Kind) *Kind {
		if declined != "" && b.State == conversation.Done {
			return afterDecline
		}
		return k
	}
	after := ""
	if declined != "" && b.State == conversation.Done {
		after = "after the same " + declined + ", "
	}
	code := func(call *reading) string { return string(rawjson.Member(call.Error, "code")) }
	switch {
	case a.State != b.State && (a.State == conversation.Failed && a.Error == nil) && (b.State == conversation.Stopped || !b.State.Over()),
		a.State == conversation.Stopped && b.State == conversation.Stopped, // without a response either way
		!a.State.Over(): // the recording ends before the call does
	case a.State == b.State && a.Error != nil && b.Error != nil:
		if code(a) != code(b) {
			c.found(errorCode, rawjson.Member(a.Error, "code"), rawjson.Member(b.Error, "code"), "the error's code is %s, not %s", code(b), code(a))
		}
		c.values(errorText, "error", rawjson.Without(a.Error, "code"), rawjson.Without(b.Error, "code"), "the error")
	case a.State != b.State, (a.Error == nil) != (b.Error == nil):
		c.found(kind(outcome), outcomeOf(a), outcomeOf(b), "%sit ends with %s, not with %s", after, ending(b), ending(a))
	case a.Result != nil && b.Result != nil:
		c.values(kind(result), "result", content(a.Result), content(b.Result), after+"the result")
	}
}

func outcomeOf(call *reading) json.RawMessage {
	if call.Error != nil {
		return call.Error
	}
	return call.Result
}

// content returns a result without the members that only say what kind of result it is and how long
// it may be kept.
func content(result json.RawMessage) json.RawMessage {
	return rawjson.Without(result, "resultType", "ttlMs", "cacheScope")
}

// told is a notification that tells of work: a log message, progress, or a change of a list.
type told struct {
	words  string // what tells it from others, without what varies; "" for progress without a text
	seq    int64
	stream wire.Stream
	says   string
}

func reportsOf(call *conversation.Call) (out []told) {
	for i := range call.Frames {
		row := &call.Frames[i]
		if row.Kind != wire.Notification || row.Dir != wire.ServerToClient {
			continue
		}
		switch row.Method {
		case mcp.NotificationProgress, mcp.NotificationMessage, mcp.NotificationToolsChanged, mcp.NotificationPromptsChanged, mcp.NotificationResourcesChanged, mcp.NotificationResourceUpdated:
		default:
			continue
		}
		out = append(out, told{row.Method + " " + undated(row.Summary), row.Seq, row.Stream, row.Summary})
	}
	return out
}

// moved returns reports of the old conversation with the values that the new one has.
func (c *comparison) moved(reports []told) []told {
	for i := range reports {
		r := &reports[i]
		if live := c.live(r.says); live != r.says {
			r.words = firstWord(r.words) + " " + undated(live)
		}
	}
	return reports
}

// undated returns a text without what is made anew in each run, and without durations.
func undated(text string) string {
	text = masked(text)
	for i := range len(text) {
		if c := text[i]; c >= utf8.RuneSelf || '0' <= c && c <= '9' && strings.ContainsAny(text[i+1:min(i+3, len(text))], "nµumsh") {
			return durations().ReplaceAllString(text, mask)
		}
	}
	return text
}

func byWords(list []told) map[string][]told {
	out := map[string][]told{}
	for _, one := range list {
		out[one.words] = append(out[one.words], one)
	}
	return out
}

// durations matches numbers with a unit of time.
var durations = lazy.Regexp(`\pN+(?:[.,]\pN+)*\s?(?:ns|µs|us|ms|s|sec|seconds?|min|minutes?|h|hours?)\b`)

// telling reports whether a report says more than a number that grows.
func (r *told) telling() bool {
	return !strings.HasPrefix(r.words, mcp.NotificationProgress) || strings.ContainsFunc(r.says, func(c rune) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c > 127 })
}

// notifications compares what calls reported, in any order.
func (c *comparison) notifications(a, b *reading) {
	old, now := c.moved(a.reports), b.reports
	if slices.EqualFunc(old, now, func(a, b told) bool { return a.words == b.words }) {
		return
	}
	before, after := byWords(old), byWords(now)
	at := c.at
	once := map[string]bool{}
	for _, one := range old {
		if !once[one.words] && one.telling() && after[one.words] == nil {
			c.at.OldFrame = one.seq
			c.part(notification, "notification", "", rawjson.Quoted(one.says), nil, "%s is not sent any more: %s", firstWord(one.words), wording.Quoted(one.says))
		}
		once[one.words] = true
	}
	c.at = at
	clear(once)
	for _, one := range now {
		if !once[one.words] && one.telling() && before[one.words] == nil {
			c.at.NewFrame = one.seq
			c.part(notification, "notification", "", nil, rawjson.Quoted(one.says), "%s is new: %s", firstWord(one.words), wording.Quoted(one.says))
		}
		once[one.words] = true
	}
	c.at = at
}

func firstWord(text string) string {
	word, _, _ := strings.Cut(text, " ")
	return word
}

// slow compares how long the server took.
func (c *comparison) slow(a, b *reading) {
	old, now := a.With(conversation.ServerParty), b.With(conversation.ServerParty)
	if a.State == b.State && now-old >= slowerLeast && float64(now) >= c.Slower*float64(old) {
		ms := func(d time.Duration) json.RawMessage { return fmt.Appendf(nil, "%d", d.Milliseconds()) }
		c.found(slower, ms(old), ms(now), "the server takes %s, not %s", wording.Duration(now), wording.Duration(old))
	}
}

// questions compares the questions of a call, up to the first one that was given another answer. It
// returns how one of them was turned down the same way in both, "" for none, and whether all were
// given the same answers.
func (c *comparison) questions(a, b *reading) (declined string, same bool) {
	old, now := questionsOf(a, b)
	with, added := twins(old, now)
	c.order(old, with)
	before, after := byWords(c.moved(a.reports)), byWords(b.reports)
	at, same := c.at, true
	var parted, partedNow int64 // frames of the first question that was given another answer
	var lost []*asked
	for _, q := range old {
		twin := with[q]
		switch {
		case parted != 0 && q.AskedSeq > parted:
			continue
		case twin == nil:
			lost = append(lost, q)
			continue
		}
		c.at.Question, c.at.OldFrame, c.at.NewFrame = q.title(), q.AskedSeq, twin.AskedSeq
		c.early(q, twin, before, after)
		c.question(q, twin)
		if alike := c.answers(q, twin); !alike && parted == 0 {
			same, parted, partedNow = false, q.AskedSeq, twin.AskedSeq
		} else if q.Action == "decline" || q.Action == "cancel" {
			declined = q.Action
		}
	}
	added = slices.DeleteFunc(added, func(q *asked) bool { return parted != 0 && q.AskedSeq > partedNow })
	if a.Result == nil && a.Error == nil && b.Result == nil && b.Error == nil { // how often a question was repeated is a matter of time
		in := func(list []*asked) func(*asked) bool {
			return func(q *asked) bool {
				return slices.ContainsFunc(list, func(other *asked) bool { return repeats(q, other) })
			}
		}
		lost, added = slices.DeleteFunc(lost, in(now)), slices.DeleteFunc(added, in(old))
	}
	c.at = at
	if len(lost) > 0 {
		c.at.NewFrame = cmp.Or(b.ResultSeq, first(b))
		succeeds := ""
		if b.State == conversation.Done {
			succeeds = "the question is gone, and the call still succeeds"
		}
		c.lost(lost, succeeds)
	}
	c.at = at
	c.added(added)
	c.at = at
	return declined, same && len(lost)+len(added) == 0
}

// lost finds questions that are not asked any more. succeeds says what that means where the call
// still succeeds.
func (c *comparison) lost(list []*asked, succeeds string) {
	for q, times := range repeated(list) {
		c.at.Question, c.at.OldFrame = q.title(), q.AskedSeq
		switch {
		case succeeds != "" && q.Method == mcp.MethodElicit:
			c.found(questionGone, q.Params, nil, "%s%s", succeeds, times)
		case q.Method == mcp.MethodElicit:
			c.found(questionLost, q.Params, nil, "the question is missing%s; the call does not succeed any more, or did not go on", times)
		default:
			c.found(questionLost, q.Params, nil, "the request %s is missing%s", q.Method, times)
		}
	}
}

func (c *comparison) added(list []*asked) {
	for q, times := range repeated(list) {
		c.at.Question, c.at.NewFrame = q.title(), q.AskedSeq
		c.found(questionNew, nil, q.Params, "this question is new%s", times)
	}
}

// repeated returns the questions of a list without those that repeat one before, and in words how often
// each one is there.
func repeated(list []*asked) iter.Seq2[*asked, string] {
	return func(yield func(*asked, string) bool) {
		for len(list) > 0 {
			q, before := list[0], len(list)
			list = slices.DeleteFunc(slices.Clone(list), func(other *asked) bool { return repeats(q, other) })
			if !yield(q, wording.Either(before-len(list) > 1, fmt.Sprintf(", %d times", before-len(list)), "")) {
				return
			}
		}
	}
}

// order finds questions that were asked one after the other, and are asked in the other order now.
// The order of those that wait at once is open.
func (c *comparison) order(old []*asked, with map[*asked]*asked) {
	at := c.at
	for i, first := range old {
		for _, second := range old[i+1:] {
			a, b := with[first], with[second]
			if a != nil && b != nil && first.before(second) && b.before(a) {
				c.at.Question, c.at.OldFrame, c.at.NewFrame = second.title(), second.AskedSeq, b.AskedSeq
				c.found(questionOrder, nil, nil, "it is asked before %s now, and was asked after it", wording.Quoted(first.title()))
			}
		}
	}
	c.at = at
}

// early finds what the server reported after a question, and reports before it now. Only what comes
// on the question's own stream has an order.
func (c *comparison) early(q, twin *asked, before, after map[string][]told) {
	at := c.at
	count := func(list []told, asked *asked) (earlier, later int, seq int64) {
		for _, r := range list {
			switch {
			case r.stream != asked.Stream:
			case r.seq < asked.AskedSeq:
				earlier++
				seq = r.seq
			default:
				later++
			}
		}
		return earlier, later, seq
	}
	for _, words := range slices.Sorted(maps.Keys(after)) {
		earlier, later, _ := count(before[words], q)
		if now, _, seq := count(after[words], twin); later > 0 && now > earlier {
			c.at.NewFrame = seq
			says := after[words][0].says
			c.found(actsFirst, nil, rawjson.Quoted(says), "%s comes before the question now, and came after it: %s", firstWord(words), wording.Quoted(says))
		}
	}
	c.at = at
}

// answers compares the answers of the same question, and reports whether they are the same.
func (c *comparison) answers(a, b *asked) bool {
	at := c.at
	defer func() { c.at = at }()
	c.at.OldFrame, c.at.NewFrame = cmp.Or(a.AnswerSeq, a.AskedSeq), cmp.Or(b.AnswerSeq, b.AskedSeq)
	if a.CancelledSeq == 0 && b.CancelledSeq != 0 {
		c.at.NewFrame = b.CancelledSeq
		c.found(withdrawn, nil, nil, "the server withdraws the question")
		return false
	}
	given := rawjson.Member(a.Answer, "content")
	if given != nil && a.Method == mcp.MethodElicit && c.refuses(a, b, given) {
		return false
	}
	how := func(q *asked) string {
		if q.Action != "" {
			return q.Action
		}
		return q.State.String()
	}
	if a.State == conversation.Pending || a.State == conversation.AnswerUnknown { // the recording does not have the answer
		return a.State != conversation.Pending && (b.State == a.State || b.Action == "accept")
	}
	if how(a) != how(b) {
		c.found(answer, rawjson.Quoted(how(a)), rawjson.Quoted(how(b)), "the question was answered with %s, not with %s; what follows is not compared", how(b), how(a))
		return false
	}
	before := len(c.list)
	given, now := orEmpty(given), orEmpty(rawjson.Member(b.Answer, "content"))
	if a.Method != mcp.MethodElicit {
		given, now = orEmpty(a.Answer), orEmpty(b.Answer)
	}
	c.values(answer, "answer", c.shared(given, b), c.shared(now, a), "the answer")
	return len(c.list) == before
}

// shared returns content without the members that have no field in another question.
func (c *comparison) shared(content json.RawMessage, other *asked) json.RawMessage {
	if other.request == nil || len(other.request.Fields) == 0 {
		return content
	}
	var kept rawjson.ObjectWriter
	for name, value := range rawjson.Members(content) {
		if slices.ContainsFunc(other.request.Fields, func(f elicit.Field) bool { return f.Name == name }) {
			kept.Add(name, value)
		}
	}
	return kept.JSON()
}

// refuses reports whether the new schema no longer allows the answer that was given before.
func (c *comparison) refuses(a, b *asked, given json.RawMessage) bool {
	if a.request == nil || b.request == nil || b.request.Schema == nil || a.request.Schema == nil ||
		bytes.Equal(a.request.Schema, b.request.Schema) || strings.Contains(string(given), redact.Placeholder) {
		return false
	}
	before, err := elicit.Check(a.request.Schema, given)
	if err != nil || len(before) > 0 {
		return false
	}
	problems, err := elicit.Check(b.request.Schema, given)
	if err != nil || len(problems) == 0 {
		return false
	}
	c.found(answerRefused, given, b.request.Schema, "the schema no longer allows the recorded answer: %s", problems[0].Named(b.request.Fields))
	return true
}
