package bridge

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"elicitation-inspector/bridge/elicit"
	"elicitation-inspector/bridge/elicit/lint"
)

// State is where a question stands. It is in exactly one.
type State int

// The states of a question.
const (
	Pending     State = iota
	Answered          // an answer was given; see Question.AnswerSeq for its frame
	Withdrawn         // the server cancelled it or died, or its call ended
	Refused           // the person was never asked
	Undelivered       // answered, but the answer could not be written
)

func (s State) String() string {
	switch s {
	case Pending:
		return "pending"
	case Answered:
		return "answered"
	case Withdrawn:
		return "withdrawn"
	case Refused:
		return "refused"
	case Undelivered:
		return "undelivered"
	default:
		return fmt.Sprintf("State(%d)", int(s))
	}
}

// Actor is who settled a question.
type Actor string

// Who can settle a question.
const (
	ByPerson Actor = "person"
	ByScript Actor = "script"
	ByPolicy Actor = "policy" // a rule that the person set, or the end of the inspection
	ByFault  Actor = "fault"  // something broke
	ByServer Actor = "server"
)

// Origin is how a question travelled.
type Origin int

// The ways in which a question can come.
const (
	OriginRequest Origin = iota // a request of the server's own
	OriginRound                 // a key of inputRequests in an InputRequiredResult
	OriginError                 // an element of data.elicitations in error -32042
)

// Completion says what is known of an accepted URL's outcome.
type Completion int

// The outcomes of an accepted URL.
const (
	CompletionNone    Completion = iota // no URL, or not accepted
	CompletionAwaited                   // the server has not said that it is done
	CompletionDone                      // notifications/elicitation/complete came
	CompletionMarked                    // the person says that it is done
)

// Methods of questions. Sampling and roots requests travel the same ways as
// elicitations and are answered by the person in the same place.
const (
	MethodElicit   = "elicitation/create"
	MethodSampling = "sampling/createMessage"
	MethodRoots    = "roots/list"
)

// ErrSettled is returned to whoever comes second with an answer.
var ErrSettled = errors.New("the question is settled already")

// Answer is what goes back to the server.
type Answer struct {
	Action  string          // "accept", "decline" or "cancel"
	Content json.RawMessage // with accept of a form: the exact bytes; nil leaves it out
	// Result, where set, is the whole result, for questions that are no
	// elicitation and for answers that are wrong on purpose.
	Result json.RawMessage
	Actor  Actor
}

// JSON is the exact result that the answer amounts to.
func (a Answer) JSON() json.RawMessage {
	if a.Result != nil {
		return a.Result
	}
	if a.Content == nil {
		return fmt.Appendf(nil, `{"action":%q}`, a.Action)
	}
	return fmt.Appendf(nil, `{"action":%q,"content":%s}`, a.Action, a.Content)
}

// rpcError is an error response that a question is refused with.
type rpcError struct {
	Code    int64
	Message string
}

// question is one elicitation (or sampling or roots request). Everything from
// state on, params and request are guarded by Inspection.mu once it is announced;
// what else stands above never changes.
type question struct {
	number  int
	session *session
	server  *server
	call    *call // nil if it cannot be told
	sure    bool  // false where call is only a guess
	round   int
	key     string // in inputRequests
	list    string // the method of the list that requires it; "" for none
	lost    bool   // the key stands again further on, and its last request counts
	origin  Origin
	carried string // in words: on what it came
	method  string
	params  json.RawMessage // nil if absent
	request *elicit.Request // nil if the params could not be understood, or for other methods
	asked   time.Time
	id      string // JSON-RPC id of the request, exact; "" if it is none
	pointer string // JSON pointer to the params in the frame that asked
	place   int    // among what that frame asks, from 1
	mute    bool   // nothing can answer it

	state      State
	answer     Answer
	refusal    *rpcError
	by         Actor
	reason     string
	ended      time.Time
	seq        int64 // frame that asked
	clocked    bool  // the clock of its call stands still for it
	answerSeq  int64 // frame of the answer
	completion Completion
	seen       visibility
	turnedAway bool   // refused, because too many of its server's wait
	handed     string // why its server's policy left it to the person, "" if it did not
	noted      string // what a note in the log says of the answer, "" if there is none
	told       bool   // a frame of the log says how it ended
}

// Question is a copy of a question's state for readers.
type Question struct {
	Number   int
	Place    int // among what the frame asks, from 1
	State    State
	Server   string // id
	Call     int    // 0 if it cannot be told
	CallName string
	Guessed  bool // Call is a guess: several run, and the connection does not tell
	Round    int  // of the call; 0 for a request of the server's own
	Key      string
	Origin   Origin
	Carried  string // on what it came, in words
	Method   string
	Params   json.RawMessage
	Request  *elicit.Request // nil where Method is no elicitation or the params cannot be read
	// Suggestion is a valid minimal result for a question that is no elicitation.
	Suggestion json.RawMessage
	Asked      time.Time
	Seq        int64

	Answer     Answer
	By         Actor
	Reason     string
	Waited     time.Duration // from asked to settled
	AnswerSeq  int64
	Completion Completion
	Awaited    bool           // the outcome of its URL can still come
	Own        bool           // refused by the inspector for what it is, not by a policy that the person set
	Handed     string         // why its server's policy left it to the person, "" if it did not
	Held       bool           // not on show, because its server asks too often
	Findings   []lint.Finding // their pointers lead into the frame that asked
}

func (q *question) snapshot() Question {
	out := Question{
		Number: q.number, Place: q.place, State: q.state, Server: q.server.id, Key: q.key,
		Origin: q.origin, Carried: q.carried, Method: q.method, Params: q.params, Request: q.request,
		Asked: q.asked, Seq: q.seq, Answer: q.answer, By: q.by, Reason: q.reason,
		AnswerSeq: q.answerSeq, Completion: q.completion, Awaited: q.awaited(), Handed: q.handed, Held: q.seen == heldBack,
		Own:      q.state == Refused && q.reason != blocked && q.reason != tooMany,
		Findings: q.server.in.findingsOf(q),
	}
	if q.origin != OriginRequest {
		out.Round = q.round
	}
	if q.request == nil {
		out.Suggestion = suggestions[q.method]
	}
	if q.call != nil {
		out.Call, out.CallName, out.Guessed = q.call.number, q.call.request.Name, !q.sure
	}
	if q.state != Pending {
		out.Waited = q.ended.Sub(q.asked)
	}
	return out
}

// suggestions are valid minimal results of the methods that are no elicitation.
var suggestions = map[string]json.RawMessage{
	MethodSampling: json.RawMessage(`{"role":"assistant","content":{"type":"text","text":"Yes."},"model":"a-person","stopReason":"endTurn"}`),
	MethodRoots:    json.RawMessage(`{"roots":[{"uri":"file:///tmp","name":"tmp"}]}`),
}

// add numbers q and lets it be withdrawn. Until it is kept nobody sees it or
// answers it. The caller holds in.mu.
func (in *Inspection) add(q *question) {
	q.number = len(in.questions) + 1
	in.questions = append(in.questions, nil)
	in.pending = append(in.pending, q)
	in.understood(q, q.request)
}

// understood notes what a question asks, nil if that cannot be read. The caller
// holds in.mu.
func (in *Inspection) understood(q *question, request *elicit.Request) {
	q.request = request
	if request == nil {
		return
	}
	if request.Mode == elicit.ModeURL && q.session.early[request.ElicitationID] {
		q.completion = CompletionDone
	}
	delete(q.session.early, request.ElicitationID)
}

// announce decides what becomes of a new question: it is refused for the given
// reason, settled by policy, held back, or put on show. The caller holds in.mu.
func (in *Inspection) announce(q *question, refusal *rpcError) {
	if q.call != nil {
		q.call.asked(q)
	}
	switch {
	case q.state != Pending: // its call ended, or the server cancelled it, at the same moment
		if q.state == Withdrawn {
			in.over[q.seq] = true
		}
		in.changed(Change{Kind: QuestionChanged, Number: q.number})
	case q.session.released:
		in.settle(q, Withdrawn, ByPolicy, "the connection was about to end")
	case refusal != nil:
		q.refusal = refusal
		in.settle(q, Refused, ByPolicy, refusal.Message)
	case in.applyPolicy(q):
	case in.holdBack(q):
	default:
		q.see(onShow)
		in.changed(Change{Kind: QuestionChanged, Number: q.number})
	}
}

// settledKept is how many settled questions keep what was asked and answered.
// Of older ones the frames in the wire log are left.
const settledKept = 300

// fadedKept is about how many of the older ones are known at all.
const fadedKept = 5000

// title is what a question is called where there is room for a few words.
func (q *question) title() string {
	if q.request != nil && q.request.Message != "" {
		return q.request.Message
	}
	return q.method
}

// settle moves q out of pending, exactly once. It reports whether it was the
// one that did. The caller holds in.mu.
func (in *Inspection) settle(q *question, state State, by Actor, reason string) bool {
	if q.state != Pending {
		return false
	}
	q.state, q.by, q.reason, q.ended = state, by, reason, now()
	if state == Withdrawn && q.seq != 0 {
		in.over[q.seq] = true
	}
	if state == Answered && q.request != nil && q.request.Mode == elicit.ModeURL && q.answer.Action == "accept" &&
		q.completion == CompletionNone { // it may have been completed before the consent
		q.completion = CompletionAwaited
	}
	if q.seen == heldBack || q.server.heldNow > 0 { // there is one less, or room for one more
		in.changed(Change{Kind: ServerChanged, Server: q.server.id})
	}
	q.see(unseen)
	if by != ByServer {
		q.server.keptUp(q)
	}
	switch {
	case q.origin == OriginRequest && !q.mute:
		q.session.respond(q)
	case state != Answered, q.list != "": // which no call waits for
		in.noteEnd(q)
	}
	if i := slices.Index(in.pending, q); i >= 0 {
		in.pending = slices.Delete(in.pending, i, i+1)
	}
	if q.turnedAway {
		in.dropQuestion(q.number) // there may be any number of them
	} else {
		in.settled = append(in.settled, q)
		in.forgetSettled()
		in.changed(Change{Kind: QuestionChanged, Number: q.number})
	}
	if q.call != nil {
		q.call.resumed(q)
		text := state.String()
		if state == Answered && q.answer.Action != "" {
			text = q.answer.Action
		}
		if reason != "" {
			text += ": " + reason
		}
		q.call.step(Step{At: q.ended, Kind: StepAnswered, Text: text, Question: q.number})
	}
	return true
}

// forgetSettled lets go of the oldest settled questions of which nothing is
// expected any more. The caller holds in.mu.
func (in *Inspection) forgetSettled() {
	for over := len(in.settled) - settledKept; over > 0; over-- {
		i := slices.IndexFunc(in.settled, func(q *question) bool { return !q.awaited() })
		if i < 0 || len(in.settled)-i < settledKept/2 {
			i = 0 // that many URLs are not being visited
		}
		in.settled[i].fade()
		in.faded = append(in.faded, in.settled[i].number)
		in.settled = slices.Delete(in.settled, i, i+1)
	}
	if over := len(in.faded) - fadedKept; over >= fadedKept { // not each time
		for _, number := range in.faded[:over] {
			in.dropQuestion(number)
		}
		in.faded = slices.Clone(in.faded[over:])
	}
}

// awaited reports whether the outcome of an accepted URL is still open.
func (q *question) awaited() bool {
	switch {
	case q.completion != CompletionAwaited || q.session.ctx != nil && q.session.ctx.Err() != nil:
		return false // nobody is left to tell
	case q.request != nil && q.request.ElicitationID != "":
		return true // a notification can come long after the call
	default:
		return q.call != nil && q.call.state == CallRunning
	}
}

// fade drops what was asked and answered.
func (q *question) fade() {
	q.request, q.params, q.answer.Content, q.answer.Result = nil, nil, nil, nil
}

// Questions returns every question of the inspection, oldest first.
func (in *Inspection) Questions() []Question {
	if in.replay != nil {
		return in.replay.shown.Load().questions()
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	out := []Question{}
	for _, q := range in.questions {
		if q != nil {
			out = append(out, q.snapshot())
		}
	}
	return out
}

// OnShow returns the questions that a page shows, oldest first: those that wait
// and are not held back, the latest of those that are settled, and of the earlier
// ones those with a URL whose outcome is awaited.
func (in *Inspection) OnShow(settled int) []Question {
	if in.replay != nil {
		return in.replay.shown.Load().onShow(settled)
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	var list []*question
	for i, q := range in.settled {
		if i >= len(in.settled)-settled || settled > 0 && q.awaited() {
			list = append(list, q)
		}
	}
	for _, q := range in.pending {
		if q.seen != heldBack && in.questions[q.number-1] != nil {
			list = append(list, q)
		}
	}
	slices.SortFunc(list, func(a, b *question) int { return a.number - b.number })
	out := make([]Question, len(list))
	for i, q := range list {
		out[i] = q.snapshot()
	}
	return out
}

// Question returns one question by its number.
func (in *Inspection) Question(number int) (Question, error) {
	if in.replay != nil {
		return in.replay.question(number)
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	q, err := in.question(number)
	if err != nil {
		return Question{}, err
	}
	return q.snapshot(), nil
}

func (in *Inspection) question(number int) (*question, error) {
	if number < 1 || number > len(in.questions) || in.questions[number-1] == nil {
		return nil, fmt.Errorf("%w: %d", ErrUnknownQuestion, number)
	}
	return in.questions[number-1], nil
}

// Answer settles a question with a. The first answer wins: for any later one
// the error is [ErrSettled], and the question that is returned says who won.
func (in *Inspection) Answer(number int, a Answer) (Question, error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	q, err := in.question(number)
	if err != nil {
		return Question{}, err
	}
	if q.state != Pending {
		return q.snapshot(), ErrSettled
	}
	q.answer = a
	reason := ""
	if q.origin == OriginRound && q.turnedDown() {
		reason = "nothing is sent for it, since no result of " + q.method + " can say so"
	}
	in.settle(q, Answered, a.Actor, reason)
	return q.snapshot(), nil
}

// MarkCompleted records the person's word that an accepted URL is done.
func (in *Inspection) MarkCompleted(number int) (Question, error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	q, err := in.question(number)
	if err != nil {
		return Question{}, err
	}
	if q.completion == CompletionAwaited {
		in.complete(q, CompletionMarked)
	}
	return q.snapshot(), nil
}

// complete notes the outcome of an accepted URL. The caller holds in.mu.
func (in *Inspection) complete(q *question, c Completion) {
	q.completion = c
	in.changed(Change{Kind: QuestionChanged, Number: q.number})
	if q.call != nil {
		q.call.wake()
	}
	if q.list != "" {
		q.told = false
		in.noteEnd(q)
		in.visited(q)
	}
}

// withdraw ends every pending question that matches, because of something that
// the server or its connection did. The caller holds in.mu.
func (in *Inspection) withdraw(by Actor, reason string, matches func(*question) bool) {
	for _, q := range slices.Clone(in.pending) {
		if matches(q) {
			in.settle(q, Withdrawn, by, reason)
		}
	}
}
