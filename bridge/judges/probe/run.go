package probe

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/text/unicode/norm"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/meaning/elicit"
	"elicitation-inspector/bridge/servers/server"
	"elicitation-inspector/bridge/wire"
)

// run is one run of a probe, by one call of the client. Its goroutine asks and waits; the
// session gives it what comes.
type run struct {
	*call
	probe  *Probe
	number int       // counts the runs of the server
	began  time.Time // when it began
	frames []int64   // what was asked and answered
	faults []finding // of the retries of rounds, and of messages that answer nothing
	awaits bool      // any further call of the same name goes on with it
}

// call is a request of the client that probes run in, with its retries.
type call struct {
	*server.Request // that is answered next
	session         *session
	client          Identity
	declared        *conversation.Declared
	over            bool            // it has its response
	ctx             context.Context // ends with the call: it is cancelled, or its connection is closed
	end             context.CancelCauseFunc
	params          json.RawMessage // of the first request
	kind            conversation.Kind
	name            string // of the tool or prompt, or the URI
	rounds          int
	progressed      atomic.Int64         // progress notifications so far
	retries         chan *server.Request // that go on with it; capacity 1
	stray           chan finding
	unstated        bool // the last round had no requestState
	state           string
	keys            []string
}

// answer is the client's answer to one question, with its frames.
type answer struct {
	answered int64 // its frame; 0 if nothing came
	params   json.RawMessage
	result   json.RawMessage        // nil if an error came, or nothing
	err      *conversation.RPCError // nil if a result came, or nothing
	missing  finding                // why nothing came
	took     time.Duration
}

// Reasons for which a call ends before its probes do.
var (
	errCancelled = fmt.Errorf("the client cancelled its call")
	errClosed    = fmt.Errorf("the connection ended")
)

// strayTime is how long an answer may still come after a message that may have been meant as
// one.
const strayTime = 2 * time.Second

func (r *run) saw(seqs ...int64) {
	for _, seq := range seqs {
		if seq != 0 && !slices.Contains(r.frames, seq) {
			r.frames = append(r.frames, seq)
		}
	}
	frames := slices.Clone(r.frames)
	r.session.server.change(r, func(o *outcome) { o.finding.frames = frames })
}

// ask asks one question, and waits for its answer.
func (r *run) ask(params string) answer { return r.askAll(params)[0] }

// filled asks a question, and returns what is wrong with the content that comes back, or
// good if nothing is.
func (r *run) filled(params string, good finding) finding {
	_, wrong := r.ask(params).checked()
	return or(wrong, good)
}

// fillsIn returns the function of a probe that wants one form to be filled in.
func fillsIn(properties string, required ...string) func(*run) finding {
	return func(r *run) finding {
		return r.filled(r.form(r.probe.Do, properties, required...), works(""))
	}
}

// askAll asks several questions at the same time, and waits until each is answered or cannot
// be answered any more.
func (r *run) askAll(params ...string) []answer {
	if r.Rounds() {
		keys := []string{"question", "another", "third"}[:len(params)]
		return r.round(keys, params, r.newState())
	}
	asked := make([]*server.Pending, len(params))
	for i, p := range params {
		asked[i] = r.send(r.Out, mcp.MethodElicit, p)
	}
	list := make([]answer, len(params))
	for i, q := range asked {
		list[i] = r.await(q)
	}
	return list
}

// send sends a request of the server's, such as a question.
func (r *run) send(out server.Stream, method, params string) *server.Pending {
	q := r.session.Ask(out, server.Question{Method: method, Params: json.RawMessage(params)}, r)
	r.saw(q.Seq)
	return q
}

// await waits for the response to a request of the server.
func (r *run) await(q *server.Pending) answer {
	patience := time.NewTimer(r.session.server.options.Patience)
	defer patience.Stop()
	a := answer{params: q.Params}
	var stray finding
	var enough <-chan time.Time
	for {
		select {
		case f := <-q.Response:
			r.saw(f.Seq)
			a.answered, a.took = f.Seq, f.Time.Sub(q.At)
			if f.Kind == wire.Error {
				a.err = new(conversation.ReadError(f.Message.Error))
			} else {
				a.result = f.Message.Result
			}
			return a
		case stray = <-r.stray:
			r.saw(stray.frames...)
			enough = time.After(strayTime)
			continue
		case <-enough:
			a.missing = stray
		case <-r.ctx.Done():
			a.missing = r.gaveUp(q.At)
		case <-patience.C:
			a.missing = fails("Nothing came in " + wording.Duration(r.session.server.options.Patience) + ".").because(causeSilent)
		}
		if q.Forget() && r.ctx.Err() == nil {
			r.Notify(mcp.NotificationCancelled, `{"requestId":`+q.ID+`,"reason":"The probe does not wait any longer."}`)
		}
		a.took = time.Since(q.At)
		return a
	}
}

// gaveUp returns the finding for a call that ended while a question was open.
func (r *run) gaveUp(since time.Time) finding {
	after := wording.Duration(time.Since(since))
	if context.Cause(r.ctx) == errCancelled {
		return fails("The client cancelled its call after " + after + ", while the question was open.").because(causeSilent)
	}
	return fails("The client ended the connection after " + after + ", while the question was open.").because(causeSilent)
}

// pause returns a channel on which a value comes after the time that a probe lets pass.
func (r *run) pause() <-chan time.Time { return time.After(r.session.server.options.Pause) }

// rest lets that time pass, unless the call ends before: then it returns false.
func (r *run) rest() bool {
	select {
	case <-r.pause():
		return true
	case <-r.ctx.Done():
		return false
	}
}

// newState returns a requestState that is hard to carry: quotes, escapes, line breaks, other
// scripts, a combining accent and a line separator are in it.
func (r *run) newState() string {
	return fmt.Sprintf("{\"probe\":%q,\"run\":%d,\"round\":%d,\"odd\":\"\\u00e9é e\u0301 \\\\ / + & <b> %% 世界 \u2028\"}\n ", r.probe.Name, r.number, r.rounds+1)
}

// inputs returns questions by their keys.
func inputs(keys, params []string) (list []server.Question) {
	for i, key := range keys {
		list = append(list, server.Question{Key: key, Method: mcp.MethodElicit, Params: json.RawMessage(params[i])})
	}
	return list
}

// round answers the client's request with an input-required result, and waits for the retry.
// An empty state is left out.
func (r *run) round(keys, params []string, state string) []answer {
	r.rounds++
	r.keys, r.state, r.unstated = keys, state, state == ""
	list := make([]answer, max(len(keys), 1))
	at := time.Now()
	r.session.expect(r)
	defer r.session.unexpect(r)
	r.saw(r.Reply(server.InputRequired(inputs(keys, params), state)))
	for i := range params {
		list[i].params = json.RawMessage(params[i])
	}
	next, missing := r.awaitRetry(at)
	for i := range list {
		list[i].took, list[i].missing = time.Since(at), missing
	}
	if missing.verdict != "" {
		return list
	}
	before := r.Request
	r.Request = next
	r.saw(next.Frame.Seq)
	responses := rawjson.Member(next.Params, "inputResponses")
	r.judgeRetry(before, responses)
	if responses != nil {
		r.session.server.answers(r.client, true)
	}
	for i, key := range keys {
		list[i].answered, list[i].took = next.Frame.Seq, next.Frame.Time.Sub(at)
		switch list[i].result = next.Answer(key); {
		case list[i].result != nil:
		case rawjson.Count(responses) > 0:
			list[i].missing = fails("The retry has no answer under the key " + wording.Quoted(key) + ".").because(causeKeys)
		case responses != nil && rawjson.KindOf(responses) != rawjson.Object:
			list[i].missing = fails("The retry's inputResponses is " + conversation.ContentKind(responses) + " in place of an object.").because(causeList)
		default:
			list[i].missing = fails("The call is made again without an answer in inputResponses.").because(causeUnanswered)
		}
	}
	if len(keys) == 0 {
		list[0].answered = next.Frame.Seq
	}
	return list
}

func (r *run) awaitRetry(at time.Time) (*server.Request, finding) {
	patience := time.NewTimer(r.session.server.options.Patience)
	defer patience.Stop()
	for {
		select {
		case next := <-r.retries:
			return next, finding{}
		case stray := <-r.stray:
			r.saw(stray.frames...)
			r.faults = append(r.faults, stray)
		case <-r.ctx.Done():
			if context.Cause(r.ctx) == errClosed {
				return nil, r.unanswered(at, "The connection ended")
			}
			return nil, r.gaveUp(at)
		case <-patience.C:
			return nil, r.unanswered(at, "The probe waits no longer")
		}
	}
}

// unanswered returns the finding for a call that is not made again: a fault only of a client
// that has never made one again.
func (r *run) unanswered(since time.Time, end string) finding {
	how := end + " " + wording.Duration(time.Since(since)) + " after the question, and the call was not made again"
	if r.session.server.answers(r.client, false) {
		return notSeen(how + ".")
	}
	return fails(how + ", as no call of this client was, though it declares elicitation.").because(causeUnanswered)
}

// judgeRetry finds what is wrong with the retry of a round apart from its answers.
func (r *run) judgeRetry(before *server.Request, responses json.RawMessage) {
	fault := func(c *cause, v Verdict, how string, args ...any) {
		r.faults = append(r.faults, finding{verdict: v, how: fmt.Sprintf(how, args...), cause: c, frames: []int64{r.Frame.Seq}})
	}
	params := r.Params
	switch state := rawjson.Member(params, "requestState"); {
	case r.unstated && state != nil:
		fault(causeNewState, Fails, "The retry has a requestState, and the round had none.")
	case !r.unstated && state == nil:
		fault(causeNoState, Fails, "The retry has no requestState.")
	case !r.unstated && rawjson.Text(state) != r.state:
		how := "The retry's requestState is not the one that was sent"
		if rawjson.Text(state) == norm.NFC.String(r.state) {
			how += " but its form in NFC, which puts letters and accents together"
		}
		fault(causeState, Fails, "%s: %s.", how, wording.Quoted(string(state)))
	}
	for key := range rawjson.Members(responses) {
		if !slices.Contains(r.keys, key) {
			fault(causeOwnKeys, Fails, "The retry has an answer under the key %s, which this round did not ask for.", wording.Quoted(key))
			break
		}
	}
	if wire.IDKey(before.ID) == wire.IDKey(r.ID) {
		fault(causeSameID, Fails, "The retry has the id of the request before, %s.", before.ID)
	}
	if name := r.Target(); name != r.name {
		fault(causeOther, Fails, "The retry calls %s, and the call was of %s.", wording.Quoted(name), wording.Quoted(r.name))
	} else if !rawjson.Same(orObject(rawjson.Member(params, "arguments")), orObject(rawjson.Member(r.params, "arguments"))) {
		fault(causeOther, Fails, "The retry has other arguments than the call.")
	}
}

func orObject(raw json.RawMessage) json.RawMessage {
	if raw == nil {
		return json.RawMessage("{}")
	}
	return raw
}

// reportProgress sends a progress notification, if the request asks for them.
func (c *call) reportProgress(message string) {
	c.Progress(c.Out, fmt.Sprintf(`"progress":%d,"message":%s`, c.progressed.Add(1), rawjson.Quoted(message)))
}

// invalid is the finding for content with problems. A value that breaks a limit was sent
// unchecked only where the message asks to try one.
func (a answer) invalid(content json.RawMessage, problems []elicit.Problem) finding {
	p := problems[max(0, slices.IndexFunc(problems, func(p elicit.Problem) bool { return !p.Limit() }))]
	f := fails(fmt.Sprintf("The content %s is not valid: %s", wording.Shorten(string(content), 200), p.Text)).because(causeInvalid)
	f.blank = blank(content, rawjson.Member(a.params, "requestedSchema", "properties"))
	enter := rawjson.Member(a.params, "_meta", Enter)
	switch {
	case !p.Limit():
	case rawjson.Member(enter, "try") != nil && altered(rawjson.Member(content, "value"), rawjson.Member(enter, "content", "value")) == "":
		f.how += " It was sent unchecked."
		return f.because(causeUnchecked)
	default:
		f.how += " What the message asks for is valid: the client sends it in another form."
		return f.because(causeAltered)
	}
	return f
}

// blank reports whether content has nothing that anybody entered: each value is the default,
// the first choice, or empty.
func blank(content, properties json.RawMessage) bool {
	for name, value := range rawjson.Members(content) {
		field := rawjson.Member(properties, name)
		if !empty(value) && !rawjson.Same(value, rawjson.Member(field, "default")) && !rawjson.Same(value, rawjson.At(field, "/enum/0")) {
			return false
		}
	}
	return true
}

// empty reports whether a client may send this value for a control that nobody touched.
func empty(value json.RawMessage) bool {
	return slices.Contains([]string{`""`, "0", "0.0", "false", "null", "[]"}, string(value))
}

// Enter is the member of a question's _meta that has what the message asks for.
const Enter = "elicitation-inspector/enter"

// form returns the params of a question in form mode. properties is the inside of the
// schema's properties.
func (r *run) form(message, properties string, required ...string) string {
	mode, list := "", ""
	if r.Revision >= mcp.Revision20251125 {
		mode = `"mode":"form",`
	}
	for i, name := range required {
		list += map[bool]string{true: `,"required":[`, false: ","}[i == 0] + string(rawjson.Quoted(name))
	}
	if list != "" {
		list += "]"
	}
	if r.probe.enter != "" {
		mode += `"_meta":{"` + Enter + `":` + r.probe.enter + `},`
	}
	return `{` + mode + `"message":` + string(rawjson.Quoted(message)) + `,"requestedSchema":{"type":"object","properties":{` + properties + `}` + list + `}}`
}

// accepted judges what every accepted form must have. The finding is zero if it is all there.
func (a answer) accepted() (content json.RawMessage, wrong finding) {
	action, wrong := a.action()
	switch {
	case wrong.verdict != "":
		return nil, wrong
	case action == "decline" || action == "cancel":
		return nil, otherwise("The answer is " + action + ", " + wording.Duration(a.took) + " after the question, and the message asks to accept.").because(causeDeclined)
	}
	content = rawjson.Member(a.result, "content")
	switch {
	case content == nil && len(rawjson.Strings(rawjson.Member(a.params, "requestedSchema", "required"))) == 0:
		return json.RawMessage(`{}`), finding{} // content is optional in the protocol's schema
	case content == nil:
		return nil, fails("The form is accepted without content.").because(causeNoContent)
	case rawjson.KindOf(content) != rawjson.Object:
		return nil, fails("The content is " + conversation.ContentKind(content) + " in place of an object.").because(causeShape)
	case rawjson.Count(content) == 1:
		for name, value := range rawjson.Members(content) {
			if rawjson.KindOf(value) == rawjson.Object {
				return nil, fails("All content is in an object under the member " + wording.Quoted(name) + ".").because(causeWrapped)
			}
		}
	}
	return content, finding{}
}

// action returns the action of an answer; the finding says why there is none.
func (a answer) action() (string, finding) {
	switch {
	case a.missing.verdict != "":
		return "", a.missing
	case a.err != nil && (a.err.Code == mcp.CodeMethodNotFound || a.err.Code == mcp.CodeInvalidParams):
		return "", fails(fmt.Sprintf("It is answered with error %d, as if the mode were not declared: %s.", a.err.Code, wording.Quoted(a.err.Message))).because(causeDenied)
	case a.err != nil:
		return "", finding{verdict: Refuses, how: fmt.Sprintf("It is answered with error %d: %s.", a.err.Code, wording.Quoted(a.err.Message)), cause: causeRefused}
	}
	if rawjson.KindOf(a.result) != rawjson.Object {
		return "", fails("The result is " + conversation.ContentKind(a.result) + " in place of an object.").because(causeShape)
	}
	raw := rawjson.Member(a.result, "action")
	switch action := rawjson.Text(raw); {
	case raw == nil:
		return "", fails("The result has no action.").because(causeAction)
	case action != "accept" && action != "decline" && action != "cancel":
		return "", fails("The action is " + wording.Quoted(string(raw)) + ", and there is none of that name.").because(causeAction)
	default:
		return action, finding{}
	}
}

// checked judges accepted content by the question's schema. The finding is zero if it is
// valid.
func (a answer) checked() (content json.RawMessage, wrong finding) {
	content, wrong = a.accepted()
	if wrong.verdict != "" {
		return nil, wrong
	}
	schema := rawjson.Member(a.params, "requestedSchema")
	problems, err := elicit.Check(schema, content)
	switch {
	case err != nil:
		return content, notSeen("The content could not be checked: " + err.Error() + ".")
	case len(problems) > 0:
		return content, a.invalid(content, problems)
	}
	properties := rawjson.Member(schema, "properties")
	for name := range rawjson.Members(content) {
		if rawjson.Member(properties, name) == nil {
			return content, partly("The content has a member that the schema does not have: " + wording.Quoted(name) + ".").because(causeExtra)
		}
	}
	return content, finding{}
}
