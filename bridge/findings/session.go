package findings

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"elicitation-inspector/bridge/elicit"
	"elicitation-inspector/bridge/elicit/lint"
	"elicitation-inspector/bridge/wire"
)

// The methods that mean something to the linter.
const (
	methodInit     = "initialize"
	methodDiscover = "server/discover"
	methodListen   = "subscriptions/listen"
	methodCall     = "tools/call"
	methodPrompt   = "prompts/get"
	methodRead     = "resources/read"
	methodElicit   = "elicitation/create"
	methodSampling = "sampling/createMessage"
	methodRoots    = "roots/list"
	noteCancelled  = "notifications/cancelled"
	noteComplete   = "notifications/elicitation/complete"
)

// The keys of a request's _meta since 2026-07-28.
const (
	metaProtocol     = "io.modelcontextprotocol/protocolVersion"
	metaCapabilities = "io.modelcontextprotocol/clientCapabilities"
)

// session is what is known of a connection after the frames so far.
type session struct {
	// greeted says that the log has the beginning of the session, so that what
	// is not known of it was not on the wire.
	greeted  bool
	revision string
	declared capabilities

	requests map[string]*request // the client's, without a response, by exact id
	calls    map[int]*call       // by the number that the inspector gave them
	asked    map[string]*asked   // the server's requests without a response, by exact id
	listens  map[string]bool     // ids of the client's subscriptions
	offers   map[string]*offer   // by elicitationId
	noise    int

	found []Found // of the frame that is judged
}

// capabilities are what the client has declared.
type capabilities struct {
	elicitation     json.RawMessage
	sampling, roots bool
}

// request is one of the client's.
type request struct {
	revision string
	declared capabilities
	call     *call // nil if it is none
}

// call is a call of the client's with all its rounds.
type call struct {
	asked map[string]string // what its last round asked: QuestionKey by key
	given []string          // its questions that were accepted, see lint.QuestionKey
}

// asked is a request of the server's.
type asked struct {
	method string
	key    string // lint.QuestionKey
	call   *call  // nil where it cannot be told
	offer  *offer // nil unless it has an elicitationId
}

// offer is an elicitation that has an id.
type offer struct {
	url   string
	state lint.IDState
}

// most bounds the sessions, and each of the lists of one.
const most = 10_000

func newSession() *session {
	return &session{
		requests: make(map[string]*request), calls: make(map[int]*call), asked: make(map[string]*asked),
		listens: make(map[string]bool), offers: make(map[string]*offer),
	}
}

// find adds findings. base is put before their pointers, and question is the
// place of the request for input that they are about, 0 if none.
func (s *session) find(f *wire.Frame, question int, base string, list []lint.Finding) {
	for _, one := range list {
		one.Pointer = base + one.Pointer
		s.found = append(s.found, Found{one, f.Seq, question})
	}
}

// sent takes in what the client says.
func (s *session) sent(f *wire.Frame) {
	switch f.Kind {
	case wire.Request:
		s.sentRequest(f)
	case wire.Result, wire.Error:
		id := wire.IDKey(f.Message.ID)
		one := s.asked[id]
		if one == nil {
			return
		}
		delete(s.asked, id)
		if one.method == methodElicit {
			one.answered(f.Message.Result)
		}
	case wire.Notification:
		if f.Method == noteCancelled {
			delete(s.requests, string(elicit.ValueAt(f.Message.Params, "requestId")))
		}
	}
}

func (s *session) sentRequest(f *wire.Frame) {
	params, id := f.Message.Params, string(f.Message.ID)
	if f.Method == methodInit {
		s.greeted = true
		s.revision, _ = elicit.StringAt(params, "protocolVersion")
		s.declared = declaredIn(elicit.ValueAt(params, "capabilities"))
	}
	// The keys cannot be written without a slash, but the slash can be escaped.
	if bytes.Contains(params, []byte("io.modelcontextprotocol")) {
		if revision, ok := elicit.StringAt(params, "_meta", metaProtocol); ok {
			s.greeted, s.revision = true, revision
		}
		if object := elicit.ValueAt(params, "_meta", metaCapabilities); object != nil {
			s.declared = declaredIn(object)
		}
	}
	if f.Method == methodListen && len(s.listens) < most {
		s.listens[id] = true
	}
	if len(s.requests) >= most {
		return
	}
	r := &request{revision: s.revision, declared: s.declared}
	if f.Method == methodCall || f.Method == methodPrompt || f.Method == methodRead {
		r.call = s.callOf(f)
		r.call.answered(elicit.ValueAt(params, "inputResponses"))
	}
	s.requests[id] = r
}

// callOf is the call that a request makes, or makes again.
func (s *session) callOf(f *wire.Frame) *call {
	if f.Call == 0 {
		return &call{}
	}
	c := s.calls[f.Call]
	if c == nil || f.Round < 2 {
		if len(s.calls) >= most {
			clear(s.calls) // most of them are over
		}
		c = &call{}
		s.calls[f.Call] = c
	}
	return c
}

// answered notes what the inputResponses of a round answer.
func (c *call) answered(responses json.RawMessage) {
	if responses == nil {
		return
	}
	for _, key := range elicit.NamesAt(responses) {
		if action, _ := elicit.StringAt(responses, key, "action"); action == "accept" {
			c.gave(c.asked[key])
		}
	}
}

// givenMost bounds how many questions of one call are remembered.
const givenMost = 200

// gave notes that a question was accepted.
func (c *call) gave(key string) {
	if key != "" && len(c.given) < givenMost && !slices.Contains(c.given, key) {
		c.given = append(c.given, key)
	}
}

// answered notes the client's answer to an elicitation.
func (a *asked) answered(result json.RawMessage) {
	action, _ := elicit.StringAt(result, "action")
	if action == "accept" && a.call != nil {
		a.call.gave(a.key)
	}
	if (action == "decline" || action == "cancel") && a.offer != nil && a.offer.state == lint.IDOpen {
		a.offer.state = lint.IDTurnedDown
	}
}

func declaredIn(object json.RawMessage) capabilities {
	return capabilities{
		elicitation: elicit.ValueAt(object, "elicitation"),
		sampling:    elicit.ValueAt(object, "sampling") != nil,
		roots:       elicit.ValueAt(object, "roots") != nil,
	}
}

// undeclared names the capability that a method needs and that is not declared,
// "" where there is none. What elicitation needs depends on its mode.
func (c capabilities) undeclared(method string) string {
	switch {
	case method == methodSampling && !c.sampling:
		return "sampling"
	case method == methodRoots && !c.roots:
		return "roots"
	}
	return ""
}

// received judges what the server says.
func (s *session) received(ctx context.Context, f *wire.Frame) {
	switch f.Kind {
	case wire.Request:
		s.receivedRequest(f)
	case wire.Result, wire.Error:
		s.receivedResponse(ctx, f)
	case wire.Notification:
		s.receivedNotification(f)
	case wire.Noise:
		s.receivedNoise(f)
	}
}

// noiseMost bounds how many lines of noise on standard output are judged in one
// session: whoever logs there writes many.
const noiseMost = 100

func (s *session) receivedNoise(f *wire.Frame) {
	if s.noise++; s.noise > noiseMost || f.Truncated {
		return
	}
	if elicit.ValueAt(f.Raw, "result") != nil || elicit.ValueAt(f.Raw, "error") != nil {
		if id := elicit.ValueAt(f.Raw, "id"); id == nil || string(id) == "null" {
			s.find(f, 0, "", lint.NamelessResponse(f.Raw, s.revision))
			return
		}
	}
	if f.Transport != "stdio" {
		return
	}
	why := ""
	if _, err := wire.ParseMessage(f.Raw); err != nil {
		why = err.Error()
	}
	s.find(f, 0, "", lint.Output(f.Raw, why, s.revision))
}

func (s *session) receivedRequest(f *wire.Frame) {
	id := wire.IDKey(f.Message.ID)
	one := &asked{method: f.Method}
	question := 0
	if f.Method == methodElicit || f.Method == methodSampling || f.Method == methodRoots {
		question = 1
	}
	s.find(f, question, "", lint.ServerRequest(f.Method, s.revision))
	if s.asked[id] != nil && s.greeted { // else its answer may be left out of the log
		s.find(f, question, "", lint.TakenID(f.Message.ID, s.revision))
	}
	if question == 1 && !f.Truncated {
		one.call, one.key = s.callBehind(f), lint.QuestionKey(f.Message.Params)
		r := request{revision: s.revision, declared: s.declared, call: one.call}
		one.offer = s.judge(f, 1, r, elicit.Asked{
			Method: f.Method, Params: f.Message.Params, Pointer: "/params", MethodPointer: "/method", Via: elicit.ByRequest,
		})
	}
	if s.asked[id] == nil && len(s.asked) < most {
		s.asked[id] = one
	}
}

// callBehind is the call that a request of the server's belongs to, nil where
// that cannot be told: several run, and the connection does not say.
func (s *session) callBehind(f *wire.Frame) *call {
	if f.Stream == wire.StreamPostSSE && f.Call != 0 {
		return s.calls[f.Call] // the stream is that of the call's own request
	}
	var only *call
	for _, r := range s.requests {
		if r.call == nil {
			continue
		}
		if only != nil && only != r.call {
			return nil
		}
		only = r.call
	}
	return only
}

func (s *session) receivedResponse(ctx context.Context, f *wire.Frame) {
	id := string(f.Message.ID)
	if f.Pair == 0 {
		if s.greeted { // else the request may be left out of the log
			s.unasked(f)
		}
		return
	}
	r := s.requests[id]
	delete(s.requests, id)
	if r == nil { // taken back, or answered before
		r = &request{revision: s.revision, declared: s.declared}
	}
	if f.Truncated {
		return
	}
	if f.Kind == wire.Result && (f.Method == methodInit || f.Method == methodDiscover) {
		if revision, ok := elicit.StringAt(f.Message.Result, "protocolVersion"); ok {
			s.revision, r.revision = revision, revision
		}
	}
	var questions []elicit.Asked
	if f.Kind == wire.Error {
		s.find(f, 0, "/error", lint.Error(f.Message.Error, r.revision))
		questions = elicit.AskedInError(f.Message.Error)
	} else if f.Method != methodInit {
		if _, typed := elicit.StringAt(f.Message.Result, "resultType"); r.revision == "" && typed {
			r.revision = "2026-07-28" // no earlier revision has it
		}
		if r.revision != "" {
			s.find(f, 0, "/result", lint.Result(f.Message.Result, f.Method, r.revision))
		}
		if r.revision >= "2026-07-28" {
			questions = elicit.AskedInResult(f.Message.Result)
		}
	}
	for i, q := range questions {
		if ctx.Err() != nil {
			break // patterns can make each of them take half a second
		}
		s.judge(f, i+1, *r, q)
	}
	if r.call != nil {
		r.call.asked = make(map[string]string)
		for _, q := range questions {
			r.call.asked[q.Key] = lint.QuestionKey(q.Params)
		}
	}
}

// unasked judges a response that answers nothing.
func (s *session) unasked(f *wire.Frame) {
	switch {
	case f.Message.ID != nil:
		s.find(f, 0, "", lint.Unasked(f.Message.ID, s.alike(string(f.Message.ID)), s.revision))
	case !f.Truncated:
		s.find(f, 0, "", lint.NamelessResponse(f.Raw, s.revision))
	}
}

// alike is the id of an open request that differs from id in its type only.
func (s *session) alike(id string) json.RawMessage {
	other := `"` + id + `"`
	if strings.HasPrefix(id, `"`) {
		other = strings.Trim(id, `"`)
	}
	if s.requests[other] == nil {
		return nil
	}
	return json.RawMessage(other)
}

func (s *session) receivedNotification(f *wire.Frame) {
	if f.Truncated {
		return
	}
	switch f.Method {
	case noteComplete:
		s.find(f, 0, "", lint.Completion(f.Message.Params, s.revision, s.complete))
	case noteCancelled:
		delete(s.asked, wire.IDKey(elicit.ValueAt(f.Message.Params, "requestId")))
		s.find(f, 0, "", lint.ServerCancelled(f.Message.Params, s.revision, func(id string) bool {
			return s.listens[id] || !s.greeted
		}))
	default:
		s.find(f, 0, "", lint.Notification(f.Method, s.revision))
	}
}

// complete notes that an elicitation is said to be complete, and says what was
// known of it.
func (s *session) complete(id string) lint.IDState {
	one := s.offers[id]
	if one == nil {
		if !s.greeted || len(s.offers) >= most {
			return lint.IDOpen // it may have been, before what is known
		}
		return lint.IDUnknown
	}
	state := one.state
	if state == lint.IDOpen || state == lint.IDTurnedDown {
		one.state = lint.IDCompleted
	}
	return state
}

// judge says what is to be found in a request for input, and returns its
// elicitation if that has an id.
func (s *session) judge(f *wire.Frame, question int, r request, q elicit.Asked) *offer {
	if capability := r.declared.undeclared(q.Method); capability != "" && s.greeted {
		s.find(f, question, "", lint.Undeclared(q.Method, capability, q.MethodPointer, r.revision))
	}
	if q.Method != methodElicit {
		return nil
	}
	input := lint.Input{Params: q.Params, Revision: r.revision, Via: q.Via, Declared: []elicit.Mode{elicit.ModeForm, elicit.ModeURL}}
	if s.greeted {
		input.Declared = lint.DeclaredModes(r.declared.elicitation, r.revision)
	}
	if r.call != nil {
		input.Answered = r.call.given
	}
	if q.Params == nil {
		q.Pointer = strings.TrimSuffix(q.Pointer, "/params")
	}
	id, _ := elicit.StringAt(q.Params, "elicitationId")
	known := s.offers[id]
	if known != nil && known.state == lint.IDCompleted {
		s.find(f, question, q.Pointer, lint.CompletedID(id, r.revision))
		known = nil
	}
	if known != nil {
		input.Offered = []lint.Offered{{ID: id, URL: known.url}}
	}
	list := lint.Elicitation(input)
	s.find(f, question, q.Pointer, list)
	reused := slices.ContainsFunc(list, func(one lint.Finding) bool { return one.Rule == "id-reused" })
	if known == nil || reused {
		known = s.offer(id, q.Params)
	} else if known.state == lint.IDTurnedDown {
		known.state = lint.IDOpen // it is offered once more
	}
	return known
}

// offer notes an elicitation under its id; it returns nil for one without.
func (s *session) offer(id string, params json.RawMessage) *offer {
	if id == "" {
		return nil
	}
	one := &offer{state: lint.IDOfForm}
	if mode, _ := elicit.StringAt(params, "mode"); mode == string(elicit.ModeURL) {
		one.state = lint.IDOpen
	}
	one.url, _ = elicit.StringAt(params, "url")
	if s.offers[id] != nil || len(s.offers) < most {
		s.offers[id] = one
	}
	return one
}
