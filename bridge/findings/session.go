package findings

import (
	"bytes"
	"context"
	"encoding/json"
	"net/url"
	"slices"

	"elicitation-inspector/bridge/elicit/lint"
	"elicitation-inspector/bridge/mcp"
	"elicitation-inspector/bridge/rawjson"
	"elicitation-inspector/bridge/wire"
)

// Keys in the _meta of requests since 2026-07-28.
const (
	metaProtocol     = "io.modelcontextprotocol/protocolVersion"
	metaCapabilities = "io.modelcontextprotocol/clientCapabilities"
)

// session is the state of a connection after the frames so far.
type session struct {
	// greeted is true if the log has the beginning of the session, so that anything
	// missing in the log was not sent.
	greeted  bool
	revision string
	declared json.RawMessage // the client's capabilities

	requests map[string]*request // the client's requests without a response, by exact id
	calls    map[int]*call       // calls by the number that the inspector has given them
	asked    map[string]*asked   // the server's requests without a response, by wire.IDKey
	listens  map[string]bool     // ids of the client's subscriptions/listen requests
	offers   map[string]*offer   // by elicitationId
	noise    int
	server   *url.URL // of the first request over Streamable HTTP, nil before
	metadata string   // URL of the server's metadata in the latest challenge
	signIn   signIn
	blamed   map[string]bool // ids of messages that a fault has sent; "" for messages without an id

	frame *wire.Frame // the frame that is linted
	found []Found     // findings in frame
}

// request is a request from the client.
type request struct {
	revision string
	declared json.RawMessage
	call     *call // nil if the request is no call
}

// call is a call with all its rounds.
type call struct {
	asked map[string]string // questions of its latest round: lint.QuestionKey by key
	given []string          // lint.QuestionKey of its accepted questions
}

// asked is a request from the server.
type asked struct {
	key   string // lint.QuestionKey
	call  *call  // nil if unknown
	offer *offer // nil without an elicitationId
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

func newSession() *session {
	return &session{
		requests: make(map[string]*request), calls: make(map[int]*call), asked: make(map[string]*asked),
		listens: make(map[string]bool), blamed: make(map[string]bool), offers: make(map[string]*offer),
	}
}

func (s *session) judge(ctx context.Context, f *wire.Frame) []Found {
	s.frame, s.found = f, nil
	switch {
	case f.Kind == wire.NoteFrame:
		s.noted(f)
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
	return s.found
}

// find adds findings. base is prepended to their pointers. place is the position of the
// request for input that they are about, 0 for none.
func (s *session) find(place int, base string, list []lint.Finding) {
	for _, one := range list {
		one.Pointer = base + one.Pointer
		s.found = append(s.found, Found{one, s.frame.Seq, s.frame.Server, place})
	}
}

// broken adds a finding that the frame breaks a rule, if the session's revision has the
// rule.
func (s *session) broken(place int, rule, pointer, format string, args ...any) {
	s.find(place, "", lint.Broken(s.revision, rule, pointer, format, args...))
}

func (s *session) sent(f *wire.Frame) {
	if s.server == nil && f.URL != "" && f.Transport == "http" {
		s.server, _ = url.Parse(f.URL)
	}
	if f.Fault != "" && len(s.blamed) < most {
		s.blamed[string(f.Message.ID)] = true // the server's reaction to a fault is not its own mistake
	}
	switch f.Kind {
	case wire.Request:
		s.sentRequest(f)
	case wire.Result, wire.Error:
		id := wire.IDKey(f.Message.ID)
		one := s.asked[id]
		delete(s.asked, id)
		if one != nil && f.Fault == "" {
			one.answered(f.Message.Result)
		}
	case wire.Notification:
		if f.Method == mcp.NotificationCancelled {
			delete(s.requests, string(rawjson.Member(f.Message.Params, "requestId")))
		}
	}
}

func (s *session) sentRequest(f *wire.Frame) {
	params, id := f.Message.Params, string(f.Message.ID)
	if f.Method == mcp.MethodInitialize {
		s.greeted = true
		s.revision = rawjson.Text(rawjson.Member(params, "protocolVersion"))
		s.declared = rawjson.Member(params, "capabilities")
	}
	// Look for the part of the keys before the slash, because encoders may escape the
	// slash.
	if bytes.Contains(params, []byte("io.modelcontextprotocol")) {
		if revision := rawjson.Text(rawjson.Member(params, "_meta", metaProtocol)); revision != "" {
			s.greeted, s.revision = true, revision
		}
		if object := rawjson.Member(params, "_meta", metaCapabilities); object != nil {
			s.declared = object
		}
	}
	if f.Method == mcp.MethodListen && len(s.listens) < most {
		s.listens[id] = true
	}
	if len(s.requests) >= most {
		return
	}
	r := s.request()
	if mcp.AsksForInput(f.Method) {
		r.call = s.callOf(f)
		if f.Fault == "" {
			r.call.answered(rawjson.Member(params, "inputResponses"))
		}
	}
	s.requests[id] = r
}

// request returns a request with the session's current revision and capabilities.
func (s *session) request() *request {
	return &request{revision: s.revision, declared: s.declared}
}

// callOf returns the call that a request starts or continues.
func (s *session) callOf(f *wire.Frame) *call {
	if f.Call == 0 {
		return &call{}
	}
	c := s.calls[f.Call]
	if c == nil || f.Round < 2 {
		if len(s.calls) >= most {
			clear(s.calls) // most calls are over
		}
		c = &call{}
		s.calls[f.Call] = c
	}
	return c
}

// answered records the questions that inputResponses accept.
func (c *call) answered(responses json.RawMessage) {
	for key, response := range rawjson.Members(responses) {
		if action := rawjson.Text(rawjson.Member(response, "action")); action == "accept" {
			c.gave(c.asked[key])
		}
	}
}

// givenMost bounds how many accepted questions of one call are kept.
const givenMost = 200

func (c *call) gave(key string) {
	if key != "" && len(c.given) < givenMost && !slices.Contains(c.given, key) {
		c.given = append(c.given, key)
	}
}

// answered records the client's answer to an elicitation. For other requests, key and
// offer are empty.
func (a *asked) answered(result json.RawMessage) {
	action := rawjson.Text(rawjson.Member(result, "action"))
	if action == "accept" && a.call != nil {
		a.call.gave(a.key)
	}
	if (action == "decline" || action == "cancel") && a.offer != nil && a.offer.state == open {
		a.offer.state = turnedDown
	}
}
