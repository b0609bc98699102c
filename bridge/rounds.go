//lint:file-ignore SA1019 2026-07-28 deprecates sampling, roots and logging, and servers of every revision still use them.

package bridge

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"elicitation-inspector/bridge/elicit"
	"elicitation-inspector/bridge/rawjson"
	"elicitation-inspector/bridge/target"
	"elicitation-inspector/bridge/wire"
)

// codeURLRequired is URLElicitationRequiredError (specification 2025-11-25,
// Elicitation, URL Mode Elicitation Required Error).
const codeURLRequired = -32042

// retry is what a further round carries beyond the first request.
type retry struct {
	responses []member        // inputResponses, in the order of inputRequests
	state     json.RawMessage // requestState, exact; nil leaves it out
}

// roundTrip sends one request of the call and returns the response as it was on
// the wire, be it a result or an error. Its own error means that there is none.
func (s *session) roundTrip(c *call, round int, r retry) (reply, error) {
	ticket := fmt.Sprintf("call-%d-%d", c.number, round)
	meta := mcp.Meta{"progressToken": ticket}
	if s.modern() {
		meta[mcp.MetaKeyLogLevel] = "debug"
	}
	var e exact
	add := func(name string, value json.RawMessage) {
		e.members = append(e.members, member{name, value})
	}
	key, err := json.Marshal(c.request.Key)
	if err != nil {
		return reply{}, fmt.Errorf("encoding %q: %w", c.request.Key, err)
	}
	if c.request.Kind == KindResource || c.request.Kind == KindTemplate {
		add("uri", key)
	} else {
		add("name", key)
		if c.request.Arguments != nil {
			add("arguments", c.request.Arguments)
		}
	}
	if r.responses != nil {
		add("inputResponses", object(r.responses))
	}
	if r.state != nil {
		add("requestState", r.state)
	}
	ctx := withExact(c.ctx, e)
	switch c.request.Kind {
	case KindTool:
		_, err = s.sdk.CallTool(ctx, &mcp.CallToolParams{Meta: meta, Name: c.request.Key, Arguments: c.request.Arguments})
	case KindPrompt:
		_, err = s.sdk.GetPrompt(ctx, &mcp.GetPromptParams{Meta: meta, Name: c.request.Key})
	case KindResource, KindTemplate:
		_, err = s.sdk.ReadResource(ctx, &mcp.ReadResourceParams{Meta: meta, URI: c.request.Key})
	}
	if got, ok := s.take(ticket); ok {
		return got, nil
	}
	if fault, ok := target.FaultOf(err); ok {
		return reply{}, fault
	}
	if err == nil {
		err = errors.New("the response was not seen on the wire")
	}
	return reply{}, err
}

// take fetches the response that was kept under a ticket.
func (s *session) take(ticket string) (reply, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, ok := s.replies[ticket]
	delete(s.replies, ticket)
	return r, ok
}

// forget drops what is kept for a call that has ended, so that late responses
// are recognized as such.
func (s *session) forget(c *call) {
	s.dropOutgoing(func(out *outgoing) bool { return out.call == c })
}

// dropOutgoing takes requests that wait for no response any more off the list.
func (s *session) dropOutgoing(which func(*outgoing) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, out := range s.outgoing {
		if which(out) {
			s.stopped = remember(s.stopped, stopped{id, out.call})
			delete(s.outgoing, id)
			delete(s.replies, out.ticket)
		}
	}
}

// object writes members as a JSON object, in their order.
func object(members []member) json.RawMessage {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range members {
		if i > 0 {
			b.WriteByte(',')
		}
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(m.name); err != nil {
			panic("bridge: a string that JSON cannot hold: " + err.Error()) // no string is
		}
		b.Truncate(b.Len() - 1) // the encoder's newline
		b.WriteByte(':')
		b.Write(m.value)
	}
	b.WriteByte('}')
	return b.Bytes()
}

// inputRequired is an InputRequiredResult (specification 2026-07-28, Multi
// Round-Trip Requests).
type inputRequired struct {
	Requests []inputRequest  // in the order of the bytes
	Asks     bool            // inputRequests is there, though it may ask for nothing
	State    json.RawMessage // exact; nil if absent
}

// empty reports whether the result has neither inputRequests nor requestState,
// one of which it must have.
func (r *inputRequired) empty() bool { return !r.Asks && r.State == nil }

type inputRequest struct {
	key    string
	method string // "" for what is no request
	params json.RawMessage
	lost   bool // the key stands again further on, and only one of the two can be answered
}

// The resultTypes that the protocol defines (specification 2026-07-28, Overview,
// ResultType).
const (
	completeType      = "complete"
	inputRequiredType = "input_required"
)

// typeOfResult is what a result of 2026-07-28 says that it is. An absent
// resultType means that it is complete; the error says why a client must take
// the result as invalid.
func typeOfResult(result json.RawMessage) (string, error) {
	var r struct {
		Type json.RawMessage `json:"resultType"`
	}
	if err := decode(result, &r); err != nil {
		return "", fmt.Errorf("the result cannot be read: it is %s, not an object", jsonKind(result))
	}
	if r.Type == nil {
		return completeType, nil
	}
	var name string
	if r.Type[0] != '"' || json.Unmarshal(r.Type, &name) != nil {
		return "", fmt.Errorf("the result is invalid: its resultType is %s, not a string", jsonKind(r.Type))
	}
	if name != completeType && name != inputRequiredType {
		return "", fmt.Errorf("the result is invalid: there is no resultType %q, and a client must take one that it does not know as invalid", shortened(name))
	}
	return name, nil
}

// complete says why a result of 2026-07-28 is of no use to a request that cannot
// require input.
func complete(method string, result json.RawMessage) error {
	kind, err := typeOfResult(result)
	if kind == inputRequiredType {
		return fmt.Errorf("the result of %s cannot require input", method)
	}
	return err
}

// readInputRequired reads a result that asks for more.
func readInputRequired(result json.RawMessage) (*inputRequired, error) {
	var r struct {
		Requests json.RawMessage `json:"inputRequests"`
		State    json.RawMessage `json:"requestState"`
	}
	if err := decode(result, &r); err != nil {
		return nil, fmt.Errorf("the result cannot be read: %w", err)
	}
	out := &inputRequired{State: r.State, Asks: r.Requests != nil}
	if r.Requests == nil {
		return out, nil
	}
	if rawjson.KindOf(r.Requests) != rawjson.Object {
		return nil, fmt.Errorf("inputRequests is %s, not an object", jsonKind(r.Requests))
	}
	for key, raw := range rawjson.Members(r.Requests) {
		var request struct {
			Method string          `json:"method"`
			Params json.RawMessage `json:"params"`
		}
		one := inputRequest{key: key}
		if json.Unmarshal(raw, &request) == nil {
			one.method, one.params = request.Method, request.Params
		}
		for i := range out.Requests {
			out.Requests[i].lost = out.Requests[i].lost || out.Requests[i].key == key
		}
		out.Requests = append(out.Requests, one)
	}
	return out, nil
}

// roundQuestions puts the requests of one round into the inbox.
func (c *call) roundQuestions(r *inputRequired, round int, seq int64) []*question {
	var open []*question
	for i, request := range r.Requests {
		open = append(open, &question{
			session: c.session, server: c.session.server, call: c, sure: true, round: round, key: request.key,
			origin: OriginRound, carried: fmt.Sprintf("round %d, %q", round, request.key),
			method: request.method, params: request.params, asked: now(), seq: seq,
			pointer: rawjson.PointerTo("/result/inputRequests", request.key) + "/params", place: i + 1,
		})
		if request.lost {
			open[len(open)-1].lost = true
			open[len(open)-1].refusal = &rpcError{codeInvalidParams, fmt.Sprintf("the key %q stands again among the input requests, and only the last counts", request.key)}
		}
	}
	c.put(open)
	return open
}

// urlQuestions puts the elicitations of error -32042 into the inbox.
func (c *call) urlQuestions(data json.RawMessage, round int, seq int64) ([]*question, error) {
	list, err := requiredURLs(data)
	if err != nil {
		return nil, err
	}
	var refusal *rpcError
	if revision := c.session.revision(); revision != Revision20251125 {
		refusal = onlyNovember(revision)
	}
	var open []*question
	for i, params := range list {
		open = append(open, &question{
			session: c.session, server: c.session.server, call: c, sure: true, round: round,
			origin: OriginError, carried: fmt.Sprintf("error %d, elicitation %d of %d", codeURLRequired, i+1, len(list)),
			method: MethodElicit, params: params, asked: now(), seq: seq, refusal: refusal,
			pointer: fmt.Sprintf("/error/data/elicitations/%d", i), place: i + 1,
		})
	}
	c.put(open)
	return open, nil
}

// onlyNovember refuses what error -32042 asks for in a revision that has no such error.
func onlyNovember(revision string) *rpcError {
	return &rpcError{codeInvalidRequest, fmt.Sprintf("error %d asks for URLs in revision %s alone, and this session speaks %s", codeURLRequired, Revision20251125, revision)}
}

// requiredURLs lists the elicitations in the data of error -32042, or says what
// is wrong with it.
func requiredURLs(data json.RawMessage) ([]json.RawMessage, error) {
	var d struct {
		Elicitations []json.RawMessage `json:"elicitations"`
	}
	if len(data) == 0 {
		return nil, errors.New("the error has no data, so there is nothing to visit")
	}
	if data[0] != '{' {
		return nil, fmt.Errorf("data.elicitations cannot be read: the data is %s, not an object", jsonKind(data))
	}
	if err := decode(data, &d); err != nil {
		return nil, fmt.Errorf("data.elicitations cannot be read: %w", err)
	}
	if len(d.Elicitations) == 0 {
		return nil, errors.New("data.elicitations is empty or missing, so there is nothing to visit")
	}
	return d.Elicitations, nil
}

// askForList puts the URLs that a list requires into the inbox. No call waits for
// them: the list is read again once they are visited. Those that wait already
// are not put there again.
func (s *session) askForList(method string, data json.RawMessage, seq int64) {
	list, err := requiredURLs(data)
	if revision := s.revision(); err != nil || revision != Revision20251125 {
		return // the error stands at the list
	}
	for i, params := range list {
		q := &question{
			session: s, server: s.server, list: method, origin: OriginError,
			carried: fmt.Sprintf("error %d to %s, elicitation %d of %d", codeURLRequired, method, i+1, len(list)),
			method:  MethodElicit, params: params, asked: now(), seq: seq,
			pointer: fmt.Sprintf("/error/data/elicitations/%d", i), place: i + 1,
		}
		refusal := q.read(s.settings, Revision20251125)
		s.in.mu.Lock()
		if !s.in.waitsFor(q) {
			s.in.add(q)
			s.in.keepQuestion(q)
			s.in.announce(q, refusal)
		}
		s.in.mu.Unlock()
	}
}

// waitsFor reports whether an elicitation like q is open. The caller holds in.mu.
func (in *Inspection) waitsFor(q *question) bool {
	alike := func(other *question) bool {
		return other.server == q.server && other.list != "" && (other.state == Pending || other.awaited()) &&
			q.request != nil && other.request != nil && q.request.ElicitationID == other.request.ElicitationID
	}
	return slices.ContainsFunc(in.pending, alike) || slices.ContainsFunc(in.settled, alike)
}

// visited reads a list again if nothing that it required is open any more. The
// caller holds in.mu.
func (in *Inspection) visited(q *question) {
	open := func(other *question) bool {
		return other.session == q.session && other.list == q.list && (other.state == Pending || other.awaited())
	}
	if !slices.ContainsFunc(in.pending, open) && !slices.ContainsFunc(in.settled, open) {
		q.session.readAgain(q.list)
	}
}

// judge reads a question that came in a response, and says why the person cannot
// be asked; nil if they can.
func (q *question) judge(settings Settings, revision string) *rpcError {
	unread := q.read(settings, revision)
	switch {
	case q.refusal != nil: // it does not depend on what is asked
		return q.refusal
	case unread != nil:
		return unread
	case q.method == "":
		return &rpcError{codeInvalidParams, "it is no request: it has no method"}
	case !isQuestion(q.method):
		return &rpcError{codeInvalidParams, fmt.Sprintf("%q cannot be asked of a client", q.method)}
	}
	return nil
}

// put reads questions and adds them to the inbox. What cannot be put to a
// person is refused at once.
func (c *call) put(questions []*question) {
	refusals := make([]*rpcError, len(questions))
	for i, q := range questions {
		refusals[i] = q.judge(c.session.settings, c.session.revision())
	}
	c.in.mu.Lock()
	defer c.in.mu.Unlock()
	for i, q := range questions {
		c.in.add(q)
		c.in.keepQuestion(q)
		if c.state != CallRunning {
			c.in.settle(q, Withdrawn, ByPolicy, fmt.Sprintf("call %d ended", c.number))
			continue
		}
		if refusals[i] == nil && c.consented(q) {
			q.answer = Answer{Action: "accept", Actor: ByPerson}
			c.in.settle(q, Answered, ByPerson, "the same URL was accepted in an earlier round, and is tried again by the clock")
			continue
		}
		c.in.announce(q, refusals[i])
	}
}

// consented reports whether a question asks for a URL that the person has
// accepted in an earlier round of the call, and lets the call try again by the
// clock: that is one consent, however often the server asks for it. The caller
// holds in.mu.
func (c *call) consented(q *question) bool {
	if c.every == 0 || q.origin != OriginRound || q.request == nil || q.request.Mode != elicit.ModeURL {
		return false
	}
	return slices.ContainsFunc(c.in.settled, func(old *question) bool {
		return old.call == c && old.key == q.key && old.answer.Action == "accept" && old.by == ByPerson &&
			old.request != nil && old.request.Mode == elicit.ModeURL && old.request.URL == q.request.URL
	})
}

// Pauses before a round that nothing but requestState asks for.
const (
	firstPause = 250 * time.Millisecond
	lastPause  = 30 * time.Second
)

// await waits until nothing of a round is open any more, or until the person
// wants the next round now, and returns the answers that there are. A round
// that asks nothing is followed by the next after a pause, which grows with the
// number of such rounds in a row.
func (c *call) await(open []*question) ([]member, error) {
	pause := min(firstPause<<min(c.idle, 10), lastPause)
	c.idle++
	if len(open) > 0 {
		pause, c.idle = 0, 0
		// Who has accepted a URL is busy there: that is their time, not the server's.
		c.hold(true)
		defer c.hold(false)
	}
	for {
		next, every := c.look(open)
		c.keepAnswers(open)
		if next {
			return c.answers(open), nil
		}
		var tick <-chan time.Time
		if every == 0 {
			every = pause
		}
		if every > 0 {
			timer := time.NewTimer(every)
			defer timer.Stop()
			tick = timer.C
		}
		select {
		case <-tick:
			return c.answers(open), nil
		case <-c.woken:
		case <-c.ctx.Done():
			return nil, errStopped
		}
	}
}

// allRefused reports whether a round asked nothing that could be put to a person.
func (c *call) allRefused(open []*question) bool {
	c.in.mu.Lock()
	defer c.in.mu.Unlock()
	return !slices.ContainsFunc(open, func(q *question) bool { return q.state != Refused })
}

// unanswerable says which requests of a round were refused and why, so that the
// call cannot be made again: a client must construct the requested inputs before
// it does (specification 2026-07-28, Multi Round-Trip Requests, Client
// Requirements). It is "" where nothing was refused.
func (c *call) unanswerable(open []*question) string {
	c.in.mu.Lock()
	defer c.in.mu.Unlock()
	var why []string
	for _, q := range open {
		if q.origin == OriginRound && q.state == Refused && !q.lost {
			why = append(why, fmt.Sprintf("%q: %s", shortened(q.key), q.reason))
		}
	}
	return strings.Join(why, "; ")
}

// refusal is why the first of the questions was refused.
func (c *call) refusal(open []*question) string {
	c.in.mu.Lock()
	defer c.in.mu.Unlock()
	return open[0].reason
}

// look reports whether the next round can go out: the person wants it, or every
// question is settled and every URL's outcome is known. Where only outcomes are
// waited for, every is how often the person wants to try anyway, 0 for not.
func (c *call) look(open []*question) (next bool, every time.Duration) {
	c.in.mu.Lock()
	defer c.in.mu.Unlock()
	if c.session.released {
		return false, 0 // what is settled is so because of that
	}
	if c.retry {
		c.retry = false
		return true, 0
	}
	done := len(open) > 0
	for _, q := range open {
		if q.state == Pending {
			return false, 0
		}
		// Accepting a URL only means consent: what holds up the call must also
		// be completed.
		if q.completion == CompletionAwaited {
			done = false
		}
	}
	return done, c.every
}

// roundsUnasked is after how many rounds the person is asked whether to go on.
// The specification sets no limit.
const roundsUnasked = 10

// mayGoOn asks the person, after every so many rounds, whether there should be
// more of them.
func (c *call) mayGoOn(round int) error {
	if round%roundsUnasked != 0 {
		return nil
	}
	c.pausing(true)
	defer c.pausing(false)
	for {
		select {
		case <-c.woken:
			if next, _ := c.look(nil); next {
				return nil
			}
		case <-c.ctx.Done():
			return errStopped
		}
	}
}

func (c *call) pausing(is bool) {
	c.in.mu.Lock()
	defer c.in.mu.Unlock()
	c.paused = is
	if c.state == CallRunning {
		c.watch.hold(now(), is)
	}
	c.in.changed(Change{Kind: CallChanged, Number: c.number})
}

// turnedDown reports whether a question that came with error -32042 was not
// accepted, so that there is no sense in trying again.
func (c *call) turnedDown(open []*question) bool {
	c.in.mu.Lock()
	defer c.in.mu.Unlock()
	for _, q := range open {
		if q.origin == OriginError && (q.state == Refused || q.state == Answered && q.answer.Action != "accept") {
			return true
		}
	}
	return false
}

// answers collects what a round's questions were answered with. Questions that
// came with error -32042 have no answer on the wire. What is still open can no
// longer be answered: the round goes out without it.
func (c *call) answers(open []*question) []member {
	c.in.mu.Lock()
	defer c.in.mu.Unlock()
	var out []member
	for _, q := range open {
		if q.origin == OriginRound && q.state == Answered && !q.turnedDown() {
			out = append(out, member{q.key, q.answer.JSON()})
		}
		c.in.settle(q, Withdrawn, ByPerson, fmt.Sprintf("you went on with call %d without it", c.number))
	}
	return out
}

// RetryEvery makes a call that waits for a URL's outcome try again every so
// often. 0 ends that.
func (in *Inspection) RetryEvery(number int, every time.Duration) error {
	in.mu.Lock()
	defer in.mu.Unlock()
	c, err := in.call(number)
	if err != nil {
		return err
	}
	c.every = max(every, 0)
	in.changed(Change{Kind: CallChanged, Number: c.number})
	c.wake()
	return nil
}

// Retry makes a call that waits for questions or a URL's outcome go on now,
// with the answers that there are.
func (in *Inspection) Retry(number int) error {
	in.mu.Lock()
	defer in.mu.Unlock()
	c, err := in.call(number)
	if err != nil {
		return err
	}
	if c.waits { // else it is on its way already
		c.retry = true
		c.wake()
	}
	return nil
}

// waiting notes whether the call waits for the person, so that it can be told to
// go on: what was told before belongs to an earlier round.
func (c *call) waiting(is bool) {
	c.in.mu.Lock()
	defer c.in.mu.Unlock()
	c.waits, c.retry = is, false
}

// carried notes the frame that carries the answers of a round. The caller holds
// in.mu.
func (c *call) carried(round int, seq int64) {
	for _, q := range slices.Backward(c.in.settled) {
		if q.call == c && q.origin == OriginRound && q.round == round && q.state == Answered && q.answerSeq == 0 {
			q.answerSeq = seq
			c.in.changed(Change{Kind: QuestionChanged, Number: q.number})
		}
	}
}

// answeredBy is who answered the questions of a round; "" if it was not one
// alone.
func (c *call) answeredBy(round int) Actor {
	c.in.mu.Lock()
	defer c.in.mu.Unlock()
	var by Actor
	for _, q := range slices.Backward(c.in.settled) {
		if q.call != c || q.origin != OriginRound || q.round != round || q.state != Answered {
			continue
		}
		if by != "" && by != q.by {
			return ""
		}
		by = q.by
	}
	return by
}

// keepAnswers notes in the log how questions were answered whose answers are not
// on the wire: all of them when the call has ended, else those that travel by no
// other way, or wait for what happens at a URL.
func (c *call) keepAnswers(open []*question) {
	var frames []wire.Frame
	c.in.mu.Lock()
	for _, q := range open {
		noted := "noted " + q.completion.word()
		waits := q.origin == OriginError || q.completion != CompletionNone || c.ctx.Err() != nil
		if q.state != Answered || q.origin == OriginRequest || q.answerSeq != 0 || q.noted == noted || !waits {
			continue
		}
		q.noted = noted
		f := c.session.frame(wire.Meta)
		f.Note, f.Call = q.answerNote(), c.number
		f.Round, f.Question, f.Actor = q.round, q.number, string(q.by)
		frames = append(frames, f)
	}
	c.in.mu.Unlock()
	for _, f := range frames {
		c.in.log.Append(f)
	}
}

// keepEnd notes in the log how the call ended, if no response says so.
func (c *call) keepEnd() {
	f := c.session.frame(wire.Meta)
	c.in.mu.Lock()
	defer c.in.mu.Unlock()
	if c.reply != 0 && c.failure == "" { // what came is no end by itself otherwise
		return
	}
	f.Call, f.Note = c.number, &wire.Note{Kind: wire.NoteEnded, State: c.state.String(), Why: c.failure, At: c.ended}
	c.in.note(f)
}

// word names an outcome that is known.
func (c Completion) word() string {
	switch c {
	case CompletionDone:
		return "completed"
	case CompletionMarked:
		return "marked"
	}
	return ""
}
