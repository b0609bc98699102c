package probe

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/servers/server"
	"elicitation-inspector/bridge/wire"
)

// session is the connection of one client, with its calls, the probes that wait for its answer, and its tasks.
type session struct {
	*server.Session
	server *Server

	mu      sync.Mutex
	calls   map[string]*call      // by the keys of the ids of all their requests
	waiting []*run                // that have asked in a round
	spent   map[string]*run       // by requestState
	later   map[string]*laterTask // tasks of the client's, by id
	closed  bool
}

func (s *Server) begun(of *server.Session) server.Peer {
	return &session{
		Session: of, server: s,
		calls: map[string]*call{}, spent: map[string]*run{}, later: map[string]*laterTask{},
	}
}

// Close ends the calls of the session.
func (s *session) Close() {
	s.mu.Lock()
	s.closed = true
	calls := s.calls
	s.calls = map[string]*call{}
	s.mu.Unlock()
	for _, c := range calls {
		c.end(errClosed)
	}
}

// expect lets the next retry of the run's call go to the run.
func (s *session) expect(r *run) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waiting = append(s.waiting, r)
	if len(s.spent) >= statesMost {
		clear(s.spent)
	}
	if r.state != "" {
		s.spent[r.state] = r
	}
}

func (s *session) unexpect(r *run) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waiting = slices.DeleteFunc(s.waiting, func(one *run) bool { return one == r })
}

// done forgets a call.
func (s *session) done(c *call) {
	c.end(nil)
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, one := range s.calls {
		if one == c {
			delete(s.calls, id)
		}
	}
}

// Receive handles responses, notifications, and what is no message.
func (s *session) Receive(f wire.Frame, of *server.Pending) {
	switch {
	case f.Kind == wire.Notification && f.Message.Method == mcp.NotificationCancelled:
		s.mu.Lock()
		c := s.calls[wire.IDKey(rawjson.Member(f.Message.Params, "requestId"))]
		s.mu.Unlock()
		if c != nil {
			c.end(errCancelled)
		}
	case f.Kind == wire.Notification && f.Message.Method == mcp.NotificationTaskStatus:
		s.toldOfTask(f)
	case f.Kind.IsResponse():
		s.late(f, of)
	case f.Kind == wire.Noise:
		s.strayed(finding{verdict: Fails, how: "Bytes came that are not a JSON-RPC 2.0 message, in place of an answer.", cause: causeNoise, frames: []int64{f.Seq}})
	}
}

// left ends the call of a request whose stream the client has closed, unless the call goes on
// with a later request.
func (s *session) left(request *server.Request) {
	s.mu.Lock()
	c := s.calls[wire.IDKey(request.ID)]
	goesOn := slices.ContainsFunc(s.waiting, func(r *run) bool { return r.call == c })
	s.mu.Unlock()
	if c != nil && !goesOn {
		c.end(errCancelled)
	}
}

// late judges a response for which nothing waits.
func (s *session) late(f wire.Frame, q *server.Pending) {
	if q == nil {
		s.strayed(finding{verdict: Fails, how: fmt.Sprintf("A response came with the id %s, which no question has.", wording.Quoted(string(f.Message.ID))), cause: causeWrongID, frames: []int64{f.Seq}})
		return
	}
	of, wrong := q.Of.(*run), finding{verdict: Fails, how: "A further response came to a question that was answered, or taken back.", cause: causeTwice, frames: []int64{f.Seq}}
	if context.Cause(of.ctx) == errCancelled {
		wrong.how, wrong.cause = "The call was cancelled, and its question answered after that.", causeLate
	}
	s.server.amend(of, wrong)
}

// strayed tells all runs that wait about a message that may be meant as their answer.
func (s *session) strayed(f finding) {
	s.mu.Lock()
	runs := slices.Clone(s.waiting)
	s.mu.Unlock()
	for _, q := range s.Open() {
		runs = append(runs, q.Of.(*run))
	}
	for _, r := range runs {
		select {
		case r.stray <- f:
		default: // one is enough to name it
		}
	}
}

// Serve answers a request about a task, or starts the probes that answer a call.
func (s *session) Serve(r *server.Request) (left func()) {
	switch {
	case mcp.AsksForInput(r.Method):
		s.begin(r)
		return func() { s.left(r) }
	case mcp.IsTask(r.Method):
		s.server.tasks.Serve(r)
	default:
		r.Fail(mcp.CodeMethodNotFound, "Method not found", "")
	}
	return nil
}

const instructions = "Every tool is a probe of this client: it asks a question whose message says what to do. " + All + " runs them in order."

// identity returns the client that sent a request.
func identity(r *server.Request) Identity {
	return Identity{
		Name: wording.Shorten(rawjson.Text(rawjson.Member(r.Info, "name")), 100), Version: wording.Shorten(rawjson.Text(rawjson.Member(r.Info, "version")), 100),
		Revision: r.Revision, Transport: r.Session.Transport, Declared: wording.Shorten(string(r.Declared().Elicitation), 200),
	}
}

// emptyMost is how many calls of the same tool a client that has never answered a round may
// leave open: a further one is taken for a retry without anything in it.
const emptyMost = 3

// begin starts the probes that a call is of, or gives its request to the run that waits for it.
func (s *session) begin(request *server.Request) {
	revision := request.Revision
	name, kind := request.Target(), conversation.KindOf(request.Method)
	state, responses := rawjson.Member(request.Params, "requestState"), rawjson.Member(request.Params, "inputResponses")
	s.mu.Lock()
	awaited, waits := false, 0
	for _, r := range s.waiting {
		if r.name == name {
			awaited = awaited || r.awaits // as after error -32042
			waits++
		}
	}
	s.mu.Unlock()
	awaited = awaited || waits >= emptyMost && !s.server.answers(identity(request), false)
	if state != nil || responses != nil || awaited {
		r, spent := s.retried(request, name, rawjson.Text(state))
		if r != nil {
			r.retries <- request
			return
		}
		if spent != nil {
			s.server.amend(spent, finding{verdict: Fails, how: "The same round was answered by two requests.", cause: causeTwice, frames: []int64{request.Frame.Seq}})
		}
		request.Fail(mcp.CodeInvalidParams, "No call waits for this requestState", "")
		return
	}
	var probes []*Probe
	for _, p := range Table() {
		switch {
		case !p.In(revision) || !s.server.serves(p):
		case name == All && kind == conversation.Tool && !p.Apart && p.Kind == conversation.Tool, kind == p.Kind && kind != conversation.Resource && name == p.Name, kind == conversation.Resource && name == p.URI():
			probes = append(probes, p)
		}
	}
	if len(probes) == 0 {
		request.Fail(mcp.CodeInvalidParams, "Unknown "+string(kind)+" in revision "+revision, "")
		return
	}
	if revision == november && conversation.IsAskedAsTask(request.Params) && (name == All || !probes[0].asTask) {
		request.Fail(mcp.CodeMethodNotFound, name+" cannot be called as a task", "")
		return
	}
	c := &call{Request: request, session: s, params: request.Params, kind: kind, name: name, retries: make(chan *server.Request, 1), stray: make(chan finding, 4)}
	c.client, c.declared = identity(request), request.Declared()
	c.ctx, c.end = context.WithCancelCause(context.Background())
	s.mu.Lock()
	free := !s.closed && len(s.calls) < callsMost
	if free {
		s.calls[wire.IDKey(request.ID)] = c
	}
	s.mu.Unlock()
	if !free || !s.server.spawn(func() { s.server.perform(c, probes) }) {
		c.end(nil)
		request.Fail(mcp.CodeServerError, "Too many calls at the same time", "")
	}
}

// retried returns the run that a retry goes on with: that of its state, else one of the same
// call, else the latest. If none waits, it returns the run that had the state before.
func (s *session) retried(request *server.Request, name, state string) (r, spent *run) {
	s.mu.Lock()
	defer s.mu.Unlock()
	again := s.spent[state] != nil && s.calls[wire.IDKey(request.ID)] != nil // the same retry once more
	for _, fits := range []func(*run) bool{
		func(r *run) bool { return state != "" && r.state == state },
		func(r *run) bool { return r.name == name && !again },
		func(*run) bool { return !again },
	} {
		for i, one := range slices.Backward(s.waiting) {
			if fits(one) {
				s.waiting = slices.Delete(s.waiting, i, i+1)
				s.calls[wire.IDKey(request.ID)] = one.call
				return one, nil
			}
		}
	}
	return nil, s.spent[state]
}

// spawn runs f in a goroutine that Close waits for. It returns false, without running f, after
// the server is closed.
func (s *Server) spawn(f func()) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.running.Go(f)
	return true
}

// serves reports whether the server can run the probe: those of URLs need pages of its own.
func (s *Server) serves(p *Probe) bool { return p.Group != URLs || s.options.Base != "" }

// List returns a list of the server.
func (s *session) List(r *server.Request) string {
	switch r.Method {
	case mcp.MethodListTools:
		return `"tools":[` + s.server.listed(r.Revision, conversation.Tool) + `]`
	case mcp.MethodListPrompts:
		return `"prompts":[` + s.server.listed(r.Revision, conversation.Prompt) + `]`
	case mcp.MethodListResources:
		return `"resources":[` + s.server.listed(r.Revision, conversation.Resource) + `]`
	default:
		return `"resourceTemplates":[]`
	}
}

// listed returns the entries of a list, as JSON.
func (s *Server) listed(revision string, kind conversation.Kind) string {
	var list []string
	input, task := "", ""
	entry := func(name, title, does string) string {
		switch text := string(rawjson.Quoted(does)); kind {
		case conversation.Prompt:
			return fmt.Sprintf(`{"name":%q,"title":%s,"description":%s}`, name, rawjson.Quoted(title), text)
		case conversation.Resource:
			return fmt.Sprintf(`{"uri":"probe://%s","name":%q,"title":%s,"description":%s,"mimeType":"text/plain"}`, name, name, rawjson.Quoted(title), text)
		default:
			return fmt.Sprintf(`{"name":%q,"title":%s,"description":%s,"inputSchema":{"type":"object","properties":{%s}},%s"annotations":{"readOnlyHint":true}}`, name, rawjson.Quoted(title), text, input, task)
		}
	}
	if kind == conversation.Tool {
		if mcp.HasRounds(revision) {
			input = `"rounds":{"type":"integer","minimum":1,"description":"The most rounds of one call; the next call goes on."}`
		}
		list = append(list, entry(All, "All probes", "Runs all probes in order, except those that stand apart."))
		input = ""
	}
	for _, p := range Table() {
		if p.Kind == kind && p.In(revision) && s.serves(p) {
			if task = ""; p.asTask && revision == november {
				task = `"execution":{"taskSupport":"required"},`
			}
			list = append(list, entry(p.Name, p.Title, p.Do))
		}
	}
	return strings.Join(list, ",")
}
