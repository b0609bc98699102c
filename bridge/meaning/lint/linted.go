package lint

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"net/url"
	"slices"
	"strings"
	"time"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/meaning/elicit"
	"elicitation-inspector/bridge/meaning/elicit/link"
	"elicitation-inspector/bridge/wire"
	"elicitation-inspector/bridge/wire/redact"
)

// session is the state of a connection after the frames so far.
type session struct {
	// greeted is true if the log has the beginning of the session and all since, so that
	// anything missing in the log was not sent.
	greeted  bool
	gaps     bool // a bound of ours has kept something of the session unread, or unremembered
	early    bool // the client has sent initialize, and not yet notifications/initialized
	named    bool // over HTTP, the server has given the session an id
	legacy   bool // over HTTP+SSE, which has no header for the revision
	revision string
	declared json.RawMessage // the client's capabilities
	offered  json.RawMessage // the server's capabilities; nil if they are unknown

	requests map[string]*request // the client's requests without a response, by exact id
	talk     *conversation.Conversation
	calls    map[int]*call       // by the place of the call
	asked    map[string]*asked   // the server's requests without a response, by wire.IDKey
	left     []*asked            // those whose call has its response
	pings    map[string]*request // the client's pings without a response, by exact id
	used     map[string]bool     // wire.IDKey of the server's requests so far
	stopped  map[string][]*asked // the questions that waited when a call was cancelled, by its exact id
	tokens   map[string]*token   // progress tokens of the client's requests
	secrets  []string            // answers to questions that ask for a secret
	personal []string            // answers that are personal data
	listens  map[string]bool     // ids of the client's subscriptions/listen requests
	offers   map[string]*offer   // by elicitationId
	tasks    map[taskKey]*task
	noise    int
	outcomes map[deed][]outcome
	signIns  signIns
	hasSpans bool            // the server has sent spans
	blamed   map[string]bool // ids of messages that a fault has sent; "" for messages without an id
	client   clientState

	frame *wire.Frame // the frame that is linted
	found []Found     // findings in frame
}

// request is a request from the client.
type request struct {
	id       string // exact
	number   int    // of its call, 0 if unknown
	method   string
	target   sum // of the name of the tool or prompt, or of the URI of the resource
	revision string
	declared json.RawMessage
	call     *call // nil if the request is no call
	seq      int64
	token    *token // nil if the request has none
	logs     bool   // the request asks for log messages
	sent     time.Time
	waited   bool // the client answered a question long after this ping
	asTask   bool
	task     string // id of the task that the request is about

	arguments sum
}

// is sets what tells the request from others: its id, call, method and what it names.
func (r *request) is(f *wire.Frame) {
	r.id, r.number, r.method = string(f.Message.ID), f.Call, f.Method
	if mcp.AsksForInput(f.Method) {
		name := "name"
		if f.Method == mcp.MethodReadResource {
			name = "uri"
		}
		r.target, r.arguments = sumOf(rawjson.Member(f.Message.Params, name)), sumOf(rawjson.Member(f.Message.Params, "arguments"))
	}
}

// token is a progress token.
type token struct {
	over bool    // its request has a response
	last float64 // the latest progress
}

// pingTime is how long a server may take to answer a ping.
const pingTime = 2 * time.Second

// call is a call with all its rounds.
type call struct {
	asked   map[string]*asked // questions of its latest round, by key
	given   []string          // lint.QuestionKey of its accepted questions
	denied  bool              // an accepted form has a false, which may be a no
	refused refusal           // the latest; the zero value for none
	open    []*asked          // requests of the server's during the call, up to its response
	effects effects
}

// asked is a request for input.
type asked struct {
	key      string   // lint.QuestionKey
	secrets  []string // fields that ask for a secret
	required bool     // the form has a field that must be filled in
	call     *call    // nil if unknown
	offer    *offer   // nil without an elicitationId
	settled  bool     // it was answered or taken back
	answered bool
	asTask   bool
	task     string // id of the task that the request is about
	left     int64  // the frame of the response that the call got before that

	// For the rules about clients, until the answer comes:
	input    string // key of the input, "" outside of rounds
	method   string
	params   json.RawMessage // nil if they are too large
	revision string
	declared json.RawMessage // the client's capabilities when it was asked
	at       time.Time
}

func askedBy(params json.RawMessage, c *call) *asked {
	required := rawjson.Member(params, "requestedSchema", "required")
	return &asked{key: QuestionKey(params), secrets: Secrets(params), call: c, required: len(rawjson.AppendCompact(nil, required)) > len("[]")}
}

// offer is an elicitation with an elicitationId.
type offer struct {
	url   string
	state offerState
}

type offerState int

const (
	open       offerState = iota // in URL mode, not complete
	ofForm                       // in another mode
	completed                    // a completion was received
	turnedDown                   // in URL mode, declined or cancelled
)

// most bounds the number of sessions, and the size of each map of a session.
const most = 10_000

func newSession(talk *conversation.Conversation) *session {
	s := &session{
		talk:     talk,
		requests: make(map[string]*request), calls: make(map[int]*call), asked: make(map[string]*asked),
		listens: make(map[string]bool), blamed: make(map[string]bool), offers: make(map[string]*offer), tasks: make(map[taskKey]*task),
		used: make(map[string]bool), outcomes: make(map[deed][]outcome), stopped: make(map[string][]*asked), tokens: make(map[string]*token), pings: make(map[string]*request),
		client: clientState{sent: make(map[string]bool), takenBack: make(map[string]time.Time), once: make(map[string]bool)},
	}
	s.signIns.broken = func(rule, format string, args ...any) { s.broken(0, rule, "", format, args...) }
	return s
}

func (s *session) judge(ctx context.Context, f *wire.Frame) []Found {
	s.frame, s.found = f, nil
	if f.Unread() && f.Kind.IsMessage() {
		s.forget()
	}
	switch {
	case f.Kind == wire.SpanFrame:
	case f.Kind == wire.NoteFrame:
		s.signIns.noted(f)
	case f.Dir == wire.ClientToServer:
		s.sent(f)
	case f.Kind == wire.Request:
		s.receivedRequest(f)
	case f.Kind == wire.Result || f.Kind == wire.Error:
		s.receivedResponse(ctx, f)
	case f.Kind == wire.Notification:
		s.receivedNotification(f)
	case f.Kind == wire.Noise:
		s.receivedNoise(f)
	}
	s.judgeEffects(ctx, f)
	return s.found
}

// forget notes that something of the session is not known, so that no rule may rest on what is
// missing.
func (s *session) forget() { s.gaps, s.greeted, s.client.whole = true, false, false }

// find adds findings. base is prepended to their pointers. place is the position of the
// request for input that they are about, 0 for none.
func (s *session) find(place int, base string, list []Finding) {
	for _, one := range list {
		one.Pointer = base + one.Pointer
		s.found = append(s.found, Found{Finding: one, Seq: s.frame.Seq, Label: s.frame.Server, Place: place})
	}
}

// broken adds a finding that the frame breaks a rule, if the session's revision has the
// rule.
func (s *session) broken(place int, rule, pointer, format string, args ...any) {
	s.find(place, "", Broken(s.revision, rule, pointer, format, args...))
}

func (s *session) sent(f *wire.Frame) {
	if s.signIns.server == nil && f.URL != "" && f.Transport == "http" {
		s.signIns.server, _ = url.Parse(f.URL)
	}
	s.named = s.named || f.Header.Get("Mcp-Session-Id") != ""
	if f.Fault != "" && len(s.blamed) < most {
		s.blamed[string(f.Message.ID)] = true // the server's reaction to a fault is not its own mistake
	}
	if f.Kind.IsMessage() && !s.client.seen {
		s.client.seen, s.client.whole = true, !s.gaps && (f.Method == mcp.MethodInitialize || f.Method == mcp.MethodDiscover)
	}
	taken := s.requests[string(f.Message.ID)] != nil
	var one *asked
	switch f.Kind {
	case wire.Notification: // before it changes what it is about
		s.judgeSent(f, false, nil)
	case wire.Request:
		s.sentRequest(f)
	case wire.Result, wire.Error:
		one = s.settle(wire.IDKey(f.Message.ID))
	}
	if f.Kind != wire.Notification {
		s.judgeSent(f, taken, one)
	}
	switch f.Kind {
	case wire.Result, wire.Error:
		if one != nil {
			one.answered = true
		}
		if one != nil && f.Fault == "" {
			s.answered(one, f.Message.Result)
		}
		for _, ping := range s.pings {
			ping.waited = ping.waited || f.Time.Sub(ping.sent) > pingTime
		}
	case wire.Notification:
		switch f.Method {
		case mcp.NotificationInitialized:
			s.early = false
		case mcp.NotificationCancelled:
			id := string(rawjson.Member(f.Message.Params, "requestId"))
			r := s.requests[id]
			if r == nil {
				return
			}
			delete(s.requests, id)
			if f.Time.Sub(r.sent) <= pingTime {
				delete(s.pings, id)
			}
			if r.call != nil && len(s.stopped) < most {
				s.stopped[id] = slices.DeleteFunc(slices.Clone(r.call.open), func(one *asked) bool { return one.settled })
			}
		}
	}
}

// settle forgets a request of the server's that was answered or taken back, and returns it;
// nil if there is none.
func (s *session) settle(id string) *asked {
	one := s.asked[id]
	if one != nil {
		one.settled = true
	}
	delete(s.asked, id)
	return one
}

func (s *session) sentRequest(f *wire.Frame) {
	params, id := f.Message.Params, string(f.Message.ID)
	if f.Method == mcp.MethodInitialize {
		s.greeted, s.early, s.client.answered = !s.gaps, true, false
		s.revision = rawjson.Text(rawjson.Member(params, "protocolVersion"))
		s.declared = rawjson.Member(params, "capabilities")
	}
	// Look for the part of the keys before the slash, because encoders may escape the
	// slash.
	if bytes.Contains(params, []byte("io.modelcontextprotocol")) {
		if revision := rawjson.Text(rawjson.Member(params, "_meta", mcp.MetaProtocol)); revision != "" {
			s.greeted, s.revision = !s.gaps, revision
		}
		if object := rawjson.Member(params, "_meta", mcp.MetaCapabilities); object != nil {
			s.declared = object
		}
	}
	if f.Method == mcp.MethodListen && len(s.listens) < most {
		s.listens[id] = true
	}
	if len(s.requests) >= most {
		s.forget()
		return
	}
	r := s.request()
	r.seq, r.sent = f.Seq, f.Time
	r.is(f)
	if len(s.client.sent) < most {
		s.client.sent[id] = true
	}
	if f.Method == mcp.MethodPing {
		s.pings[id] = r
	}
	r.asTask = conversation.IsAskedAsTask(params)
	if mcp.IsTask(f.Method) {
		r.task = rawjson.Text(rawjson.Member(params, "taskId"))
		s.taskOf(false, r.task) // a task of an earlier session may live on
	}
	r.logs = rawjson.Member(params, "_meta", mcp.MetaLogs) != nil
	if t := rawjson.Member(params, "_meta", "progressToken"); t != nil && len(s.tokens) < most && rawjson.Member(params, "task") == nil {
		r.token = &token{last: math.Inf(-1)}
		s.tokens[wire.IDKey(t)] = r.token
	}
	if mcp.AsksForInput(f.Method) {
		if r.call = s.callOf(f); r.call != nil && f.Fault == "" {
			for key, response := range rawjson.Members(rawjson.Member(params, "inputResponses")) {
				if one := r.call.asked[key]; one != nil {
					s.answered(one, response)
				}
			}
		}
	}
	s.requests[id] = r
}

func (s *session) request() *request {
	return &request{revision: s.revision, declared: s.declared}
}

// callOf returns the call that a frame belongs to; nil if it belongs to none, or if
// several calls run and the connection does not tell.
func (s *session) callOf(f *wire.Frame) *call {
	place, guessed := s.talk.CallOf(f.Seq)
	if place == 0 || guessed {
		return nil
	}
	c := s.calls[place]
	if c == nil {
		if len(s.calls) >= most {
			clear(s.calls) // most calls are over
		}
		c = &call{}
		s.calls[place] = c
	}
	return c
}

// givenMost bounds how many accepted questions of one call are kept.
const givenMost = 200

// answered records the client's answer to an elicitation. For other requests, key and
// offer are empty.
func (s *session) answered(a *asked, result json.RawMessage) {
	action := rawjson.Text(rawjson.Member(result, "action"))
	if (action == "decline" || action == "cancel") && a.call != nil {
		a.call.refused = refusal{s.frame.Seq, s.frame.Time, action, a.key, a.required}
	}
	if action == "accept" && a.call != nil {
		for _, value := range rawjson.Members(rawjson.Member(result, "content")) {
			a.call.denied = a.call.denied || string(value) == "false"
		}
		if a.key != "" && len(a.call.given) < givenMost && !slices.Contains(a.call.given, a.key) {
			a.call.given = append(a.call.given, a.key)
		}
	}
	if (action == "decline" || action == "cancel") && a.offer != nil && a.offer.state == open {
		a.offer.state = turnedDown
	}
	for name, value := range rawjson.Members(rawjson.Member(result, "content")) {
		text := rawjson.Text(value)
		switch list := &s.personal; {
		case len(text) < secretLeast || strings.Contains(text, redact.Placeholder):
		case slices.Contains(a.secrets, name):
			list = &s.secrets
			fallthrough
		case link.IsPersonal(name, text):
			if len(*list) < givenMost {
				*list = append(*list, text)
			}
		}
	}
}

// secretLeast is the length in bytes from which a secret is not in a text by chance.
const secretLeast = 6

// judgeInput lints a request for input at a place in a frame. r is the request in whose
// response it came, or the state of the session. It returns the elicitation if it has
// an id.
func (s *session) judgeInput(asked elicit.Asked, place int, r *request) *offer {
	capability := map[string]string{mcp.MethodSample: "sampling", mcp.MethodListRoots: "roots"}[asked.Method]
	if s.greeted && capability != "" && rawjson.Member(r.declared, capability) == nil {
		s.find(place, "", Broken(r.revision, capability+"-undeclared", asked.MethodPointer,
			"%s needs the client capability %q, which this client has not declared; servers must not send it.", asked.Method, capability))
	}
	if asked.Method != mcp.MethodElicit {
		return nil
	}
	question := Input{Params: asked.Params, Revision: r.revision, Via: asked.Via, Declared: []elicit.Mode{elicit.ModeForm, elicit.ModeURL}}
	if s.greeted {
		question.Declared = DeclaredModes(rawjson.Member(r.declared, "elicitation"), r.revision)
	}
	if r.call != nil {
		question.Answered = r.call.given
	}
	if asked.Params == nil {
		asked.Pointer = strings.TrimSuffix(asked.Pointer, "/params")
	}
	id := rawjson.Text(rawjson.Member(asked.Params, "elicitationId"))
	known := s.offers[id]
	if known != nil && known.state == completed {
		s.find(place, asked.Pointer, Broken(r.revision, "id-reused", "/elicitationId", "The elicitation %s is complete; another one needs an id of its own.", wording.Quoted(id)))
		known = nil
	}
	if known != nil {
		question.Offered = known.url
	}
	list := Elicitation(question)
	s.find(place, asked.Pointer, list)
	if known == nil || slices.ContainsFunc(list, func(one Finding) bool { return one.Rule == "id-reused" }) {
		if id == "" {
			return nil
		}
		one := &offer{state: ofForm, url: rawjson.Text(rawjson.Member(asked.Params, "url"))}
		if mode := rawjson.Text(rawjson.Member(asked.Params, "mode")); mode == string(elicit.ModeURL) {
			one.state = open
		}
		if s.offers[id] != nil || len(s.offers) < most {
			s.offers[id] = one
		}
		return one
	}
	if known.state == turnedDown {
		known.state = open // the server asks for it again
	}
	return known
}
