package probe

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"elicitation-inspector/bridge/conversation"
	"elicitation-inspector/bridge/mcp"
	"elicitation-inspector/bridge/rawjson"
	"elicitation-inspector/bridge/wire"
	"elicitation-inspector/bridge/wording"
)

// stream carries messages to the client. send appends the frame to the log, writes it, and
// returns its number; last says that nothing follows on this stream.
type stream interface {
	send(f wire.Frame, last bool) int64
}

// session is one connection of a client, or in revisions without sessions all requests of a
// client over HTTP.
type session struct {
	server    *Server
	id        string
	label     string // of its frames
	transport string

	mu       sync.Mutex
	main     stream // for what belongs to no call; nil if there is none
	client   Identity
	declared *conversation.Declared
	asked    map[string]*question  // by the keys of their ids
	calls    map[string]*call      // by the keys of the ids of all their requests
	waiting  []*run                // that have asked in a round
	spent    map[string]*run       // by requestState
	tasks    map[string]*task      // by id
	later    map[string]*laterTask // tasks of the client's, by id
	closed   bool
}

// question is a request of the server.
type question struct {
	run      *run
	id       string
	params   json.RawMessage
	seq      int64
	at       time.Time
	response chan wire.Frame // capacity 1
	over     bool            // it is answered, or given up; the session's mutex guards it
}

// connect begins a session, whose first message decides its label, and returns it; nil if the
// server is closed or has too many. An id for a session that is there already returns that one;
// "" makes up a new id.
func (s *Server) connect(transport, id string, first []byte) *session {
	name := wire.ClientName(rawjson.Member(first, "params"))
	s.mu.Lock()
	defer s.mu.Unlock()
	if one := s.sessions[id]; one != nil {
		return one
	}
	if s.closed || len(s.sessions) >= sessionsMost {
		return nil
	}
	s.count++
	one := &session{
		server: s, id: cmp.Or(id, "probe-"+strconv.Itoa(s.count)), label: wording.Shorten(wording.Join(" ", "probe of", name), 80), transport: transport,
		asked: map[string]*question{}, calls: map[string]*call{}, spent: map[string]*run{}, tasks: map[string]*task{}, later: map[string]*laterTask{},
	}
	s.sessions[one.id] = one
	return one
}

// close ends the session and its calls.
func (s *session) close() {
	s.mu.Lock()
	s.closed = true
	calls := s.calls
	s.calls = map[string]*call{}
	s.mu.Unlock()
	for _, c := range calls {
		c.end(errClosed)
	}
	s.server.mu.Lock()
	defer s.server.mu.Unlock()
	delete(s.server.sessions, s.id)
}

// frame returns a frame of this session.
func (s *session) frame(dir wire.Direction, raw []byte) wire.Frame {
	return wire.Frame{Server: s.label, Session: s.id, Transport: s.transport, Dir: dir, Raw: raw}
}

// send sends a message, and returns its frame's number; 0 if there is nowhere to send it.
func (s *session) send(out stream, message string, last bool) int64 {
	if out == nil {
		return 0
	}
	return out.send(s.frame(wire.ServerToClient, []byte(message)), last)
}

// request sends a request of the server's, such as a question.
func (s *session) request(r *run, out stream, method string, params json.RawMessage) *question {
	s.mu.Lock()
	q := &question{run: r, id: strconv.Itoa(len(s.asked) + 1), params: params, at: time.Now(), response: make(chan wire.Frame, 1)}
	s.asked[wire.IDKey(json.RawMessage(q.id))] = q
	s.mu.Unlock()
	q.seq = s.send(out, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":%s}`, q.id, method, params), false)
	return q
}

// forget gives up waiting for the response to a question, and tells the client unless its call
// is over.
func (s *session) forget(q *question, out stream) {
	s.mu.Lock()
	open := !q.over
	q.over = true
	s.mu.Unlock()
	if open && q.run.ctx.Err() == nil {
		s.send(out, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":`+q.id+`,"reason":"The probe does not wait any longer."}}`, false)
	}
}

// expect lets the next retry of the run's call go to the run.
func (s *session) expect(r *run) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waiting = append(s.waiting, r)
	if len(s.spent) >= sessionsMost {
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

// receive handles a message of the client, whose frame is appended. It never waits for an
// answer. out carries what belongs to the message.
func (s *session) receive(f wire.Frame, out stream) {
	switch {
	case f.Kind == wire.Request:
		s.serve(f, out)
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
		s.respond(f)
	case f.Kind == wire.Noise:
		s.strayed(finding{verdict: Fails, how: "Bytes came that are not a JSON-RPC 2.0 message, in place of an answer.", cause: causeNoise, frames: []int64{f.Seq}})
	}
}

// respond gives a response to the question that it answers.
func (s *session) respond(f wire.Frame) {
	s.mu.Lock()
	q := s.asked[wire.IDKey(f.Message.ID)]
	open := q != nil && !q.over
	if open {
		q.over = true
	}
	s.mu.Unlock()
	switch {
	case open:
		q.response <- f
	case q != nil && context.Cause(q.run.ctx) == errCancelled:
		s.server.amend(q.run, finding{verdict: Fails, how: "The call was cancelled, and its question answered after that.", cause: causeTwice, frames: []int64{f.Seq}})
	case q != nil:
		s.server.amend(q.run, finding{verdict: Fails, how: "A further response came to a question that was answered, or taken back.", cause: causeTwice, frames: []int64{f.Seq}})
	default:
		s.strayed(finding{verdict: Fails, how: fmt.Sprintf("A response came with the id %s, which no question has.", wording.Quoted(string(f.Message.ID))), cause: causeWrongID, frames: []int64{f.Seq}})
	}
}

// strayed tells all runs that wait about a message that may be meant as their answer.
func (s *session) strayed(f finding) {
	s.mu.Lock()
	runs := slices.Clone(s.waiting)
	for _, q := range s.asked {
		if !q.over {
			runs = append(runs, q.run)
		}
	}
	s.mu.Unlock()
	for _, r := range runs {
		select {
		case r.stray <- f:
		default: // one is enough to name it
		}
	}
}

// serve answers a request, or starts the probes that do.
func (s *session) serve(f wire.Frame, out stream) {
	m := f.Message
	c := &call{session: s, params: m.Params, request: f, out: out, retries: make(chan retry, 1), stray: make(chan finding, 4)}
	revision := rawjson.Text(rawjson.Member(m.Params, "_meta", mcp.MetaProtocol))
	c.client, c.declared = s.present(m, revision)
	modern := hasRounds(revision)
	if modern && !slices.Contains(s.server.options.Revisions, revision) || m.Method == mcp.MethodDiscover && !modern {
		supported, _ := rawjson.Encode(s.server.options.Revisions) // strings always encode
		c.fail(mcp.CodeUnsupportedVersion, "Unsupported protocol version", `{"supported":`+string(supported)+`,"requested":`+string(rawjson.Quoted(revision))+`}`)
		return
	}
	more := ""
	if modern {
		more = `"resultType":"complete","ttlMs":0,"cacheScope":"private",`
	} else {
		revision = c.client.Revision
	}
	c.revision = revision
	info := `{"name":"elicitation-inspector probe","version":` + string(rawjson.Quoted(s.server.options.Version)) + `}`
	switch m.Method {
	case mcp.MethodInitialize:
		tasks := ""
		if revision == november {
			tasks = `"tasks":{"list":{},"cancel":{},"requests":{"tools":{"call":{}}}},`
		}
		c.reply(`{"protocolVersion":"` + revision + `","capabilities":{` + tasks + `"tools":{},"prompts":{},"resources":{}},"serverInfo":` + info + `,"instructions":` + string(rawjson.Quoted(instructions)) + `}`)
	case mcp.MethodDiscover:
		c.reply(`{` + more + `"supportedVersions":["` + mcp.Revision20260728 + `"],"capabilities":{"tools":{},"prompts":{},"resources":{},"extensions":{"` + mcp.TasksExtension + `":{}}},"serverInfo":` + info + `,"instructions":` + string(rawjson.Quoted(instructions)) + `}`)
	case mcp.MethodPing:
		c.reply(`{}`)
	case mcp.MethodListTools:
		c.reply(`{` + more + `"tools":[` + strings.Join(s.server.listed(revision, conversation.Tool), ",") + `]}`)
	case mcp.MethodListPrompts:
		c.reply(`{` + more + `"prompts":[` + strings.Join(s.server.listed(revision, conversation.Prompt), ",") + `]}`)
	case mcp.MethodListResources:
		c.reply(`{` + more + `"resources":[` + strings.Join(s.server.listed(revision, conversation.Resource), ",") + `]}`)
	case mcp.MethodListTemplates:
		c.reply(`{` + more + `"resourceTemplates":[]}`)
	case mcp.MethodCallTool, mcp.MethodGetPrompt, mcp.MethodReadResource:
		s.begin(c)
	default:
		if mcp.IsTask(m.Method) {
			s.aboutTask(f, out, revision)
			return
		}
		c.fail(mcp.CodeMethodNotFound, "Method not found", "")
	}
}

const instructions = "Every tool is a probe of this client: it asks a question whose message says what to do. " + All + " runs them in order."

// present returns who sends a request: what initialize said, or since 2026-07-28 the request
// itself.
func (s *session) present(m wire.Message, revision string) (Identity, *conversation.Declared) {
	info, capabilities := rawjson.Member(m.Params, "_meta", mcp.MetaClient), rawjson.Member(m.Params, "_meta", mcp.MetaCapabilities)
	if m.Method == mcp.MethodInitialize {
		info, capabilities = rawjson.Member(m.Params, "clientInfo"), rawjson.Member(m.Params, "capabilities")
		if revision = rawjson.Text(rawjson.Member(m.Params, "protocolVersion")); hasRounds(revision) || !slices.Contains(s.server.options.Revisions, revision) {
			revision = mcp.Revision20251125
			if i := slices.IndexFunc(s.server.options.Revisions, func(r string) bool { return !hasRounds(r) }); i >= 0 {
				revision = s.server.options.Revisions[i] // the newest with initialize
			}
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if m.Method != mcp.MethodInitialize && !hasRounds(revision) {
		return s.client, s.declared
	}
	d := &conversation.Declared{Elicitation: rawjson.Member(capabilities, "elicitation"), Sampling: rawjson.Member(capabilities, "sampling"), Roots: rawjson.Member(capabilities, "roots"), Tasks: rawjson.Member(capabilities, "tasks"), Extensions: rawjson.Member(capabilities, "extensions")}
	id := Identity{
		Name: wording.Shorten(rawjson.Text(rawjson.Member(info, "name")), 100), Version: wording.Shorten(rawjson.Text(rawjson.Member(info, "version")), 100),
		Revision: revision, Transport: s.transport, Declared: wording.Shorten(string(d.Elicitation), 200),
	}
	if m.Method == mcp.MethodInitialize {
		s.client, s.declared = id, d
	}
	return id, d
}

// begin starts the probes that a call is of, or gives its request to the run that waits for it.
func (s *session) begin(c *call) {
	f, revision := c.request, c.revision
	name, kind := target(f.Message)
	state, responses := rawjson.Member(f.Message.Params, "requestState"), rawjson.Member(f.Message.Params, "inputResponses")
	s.mu.Lock()
	awaited := slices.ContainsFunc(s.waiting, func(r *run) bool { return r.awaits && r.name == name }) // as after error -32042
	s.mu.Unlock()
	if state != nil || responses != nil || awaited {
		r, spent := s.retried(f, name, rawjson.Text(state))
		if r != nil {
			r.retries <- retry{f, c.out}
			return
		}
		if spent != nil {
			s.server.amend(spent, finding{verdict: Fails, how: "The same round was answered by two requests.", cause: causeTwice, frames: []int64{f.Seq}})
		}
		c.fail(mcp.CodeInvalidParams, "No call waits for this requestState", "")
		return
	}
	var probes []*Probe
	for _, p := range table {
		switch {
		case !p.In(revision) || !s.server.serves(p):
		case name == All && kind == conversation.Tool && !p.Apart && p.Kind == conversation.Tool, kind == p.Kind && kind != conversation.Resource && name == p.Name, kind == conversation.Resource && name == p.URI():
			probes = append(probes, p)
		}
	}
	if len(probes) == 0 {
		c.fail(mcp.CodeInvalidParams, "Unknown "+string(kind)+" in revision "+revision, "")
		return
	}
	if revision == november && conversation.IsAskedAsTask(f.Message.Params) && (name == All || !probes[0].asTask) {
		c.fail(mcp.CodeMethodNotFound, name+" cannot be called as a task", "")
		return
	}
	c.kind, c.name = kind, name
	c.ctx, c.end = context.WithCancelCause(context.Background())
	s.mu.Lock()
	free := !s.closed && len(s.calls) < callsMost
	if free {
		s.calls[wire.IDKey(f.Message.ID)] = c
	}
	s.mu.Unlock()
	if !free || !s.server.spawn(func() { s.server.perform(c, probes) }) {
		c.end(nil)
		c.fail(mcp.CodeServerError, "Too many calls at the same time", "")
	}
}

// retried returns the run that a retry goes on with: that of its state, else one of the same
// call, else the latest. If none waits, it returns the run that had the state before.
func (s *session) retried(f wire.Frame, name, state string) (r, spent *run) {
	s.mu.Lock()
	defer s.mu.Unlock()
	again := s.spent[state] != nil && s.calls[wire.IDKey(f.Message.ID)] != nil // the same retry once more
	for _, fits := range []func(*run) bool{
		func(r *run) bool { return state != "" && r.state == state },
		func(r *run) bool { return r.name == name && !again },
		func(*run) bool { return !again },
	} {
		for i, one := range slices.Backward(s.waiting) {
			if fits(one) {
				s.waiting = slices.Delete(s.waiting, i, i+1)
				s.calls[wire.IDKey(f.Message.ID)] = one.call
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

// listed returns the entries of a list of the server, as JSON.
func (s *Server) listed(revision string, kind conversation.Kind) (list []string) {
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
		if hasRounds(revision) {
			input = `"rounds":{"type":"integer","minimum":1,"description":"The most rounds of one call; the next call goes on."}`
		}
		list = append(list, entry(All, "All probes", "Runs all probes in order, except those that stand apart."))
		input = ""
	}
	for _, p := range table {
		if p.Kind == kind && p.In(revision) && s.serves(p) {
			if task = ""; p.asTask && revision == november {
				task = `"execution":{"taskSupport":"required"},`
			}
			list = append(list, entry(p.Name, p.Title, p.Do))
		}
	}
	return list
}
