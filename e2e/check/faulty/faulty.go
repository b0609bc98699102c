// Package faulty is an MCP server whose tools each have exactly one defect, for testing
// programs that look for defects in servers. It writes JSON-RPC by hand, because libraries
// do not allow such defects.
package faulty

import (
	"bufio"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"sync"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/base/rawjson"
)

// Name is the name that the server reports.
const Name = "faulty"

// Options configures a server.
type Options struct {
	In  io.Reader
	Out io.Writer
	Err io.Writer // gets the error messages of tools that crash
	// Ledger is the file in which tools with effects write what they do; "" keeps it in
	// memory.
	Ledger string
	// Exit ends the process, as os.Exit does. If it returns, Serve does too.
	Exit func(code int)
}

// Serve serves one client over stdio until its input or ctx ends, or a tool crashes. A
// read of In may continue after it returns.
func Serve(ctx context.Context, o Options) {
	ctx, end := context.WithCancel(ctx)
	s := &server{
		Options: o, ctx: ctx, end: end, out: make(chan []byte), key: make([]byte, 32),
		pending: map[string]*pending{}, over: map[string]fate{}, askers: map[string]*call{}, calls: map[string]*call{},
		kept: map[string]json.RawMessage{}, tasks: map[string]*task{}, spoilt: map[string]bool{}, refused: map[string]bool{}, done: map[string]bool{},
	}
	s.inherit()
	rand.Read(s.key)
	written := make(chan struct{})
	go func() {
		defer close(written)
		for line := range s.out {
			_, _ = o.Out.Write(line) // a client that no longer reads closes the input, too
		}
	}()
	lines := make(chan []byte)
	go read(ctx, o.In, lines)
	for ctx.Err() == nil {
		select {
		case line, ok := <-lines:
			if !ok {
				end()
				break
			}
			s.receive(line)
		case <-ctx.Done():
		}
	}
	s.work.Wait()
	close(s.out)
	<-written
}

// read sends the lines of the input to the channel.
func read(ctx context.Context, in io.Reader, lines chan<- []byte) {
	defer close(lines)
	for r := bufio.NewReader(in); ; {
		line, err := r.ReadBytes('\n')
		if len(line) > 1 {
			select {
			case lines <- line:
			case <-ctx.Done():
			}
		}
		if err != nil {
			return
		}
	}
}

// server serves one client.
type server struct {
	Options
	ctx  context.Context // ends all waiting
	end  context.CancelFunc
	out  chan []byte
	key  []byte // key of the signatures in requestState
	work sync.WaitGroup

	mu           sync.Mutex
	revision     string          // negotiated revision, up to 2025-11-25
	capabilities json.RawMessage // declared by the client, up to 2025-11-25
	questions    int             // number of questions so far
	pending      map[string]*pending
	over         map[string]fate  // settled questions, by id
	askers       map[string]*call // the calls of questions, by id
	calls        map[string]*call // running calls, by the id of their request
	tasks        map[string]*task // by id
	last         *tool            // the tool that asked last
	kept         map[string]json.RawMessage
	spoilt       map[string]bool // names of tools that are unusable
	refused      map[string]bool // names of tools that were declined or cancelled
	done         map[string]bool // requestStates for which a tool has done what it does
	inMemory     []string        // lines of the ledger without a file
}

// message is any JSON-RPC message. Its members keep their exact bytes.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
}

func (s *server) receive(line []byte) {
	var m message
	switch err := json.Unmarshal(line, &m); {
	case err != nil:
		if s.lastAsked().breaksOn == garbled {
			s.crash(unreadable, 1)
			return
		}
		s.send(`{"jsonrpc":"2.0","id":null,"error":{"code":%d,"message":"Parse error"}}`, mcp.CodeParseError)
	case m.Method == "":
		s.settle(m)
	case m.Method == mcp.NotificationCancelled:
		s.cancel(string(rawjson.Member(m.Params, "requestId")))
	case m.ID != nil && !s.deaf():
		s.serve(m)
	}
}

func (s *server) serve(m message) {
	r := s.revisionOf(m)
	switch {
	case m.Method == mcp.MethodCallTool:
		s.call(m, r)
	case m.Method == mcp.MethodInitialize:
		s.initialize(m)
	case m.Method == mcp.MethodDiscover:
		s.answer(m.ID, r, `"supportedVersions":%s,"capabilities":%s,"serverInfo":%s%s`, encode(mcp.Revisions), capabilities, serverInfo, uncached(r))
	case m.Method == mcp.MethodListTools:
		s.answer(m.ID, r, `"tools":%s%s`, listed(r), uncached(r))
	case m.Method == mcp.MethodListResources:
		s.answer(m.ID, r, `"resources":[]%s`, uncached(r))
	case m.Method == mcp.MethodListTemplates:
		s.answer(m.ID, r, `"resourceTemplates":[%s]%s`, ledgerTemplate, uncached(r))
	case m.Method == mcp.MethodReadResource:
		s.readLedger(m, r)
	case slices.Contains([]string{mcp.MethodGetTask, mcp.MethodTaskResult, mcp.MethodCancelTask}, m.Method) && r == mcp.Revision20251125:
		s.aboutTask(m)
	case m.Method == mcp.MethodPing && r < mcp.Revision20260728:
		s.answer(m.ID, r, "")
	default:
		s.refuse(m.ID, mcp.CodeMethodNotFound, "Method not found: "+m.Method)
	}
}

const capabilities = `{"tools":{},"resources":{}}`

const serverInfo = `{"name":"` + Name + `","title":"Faulty server","version":"1.0.0"}`

func (s *server) initialize(m message) {
	revision := rawjson.Text(rawjson.Member(m.Params, "protocolVersion"))
	if revision != mcp.Revision20250618 {
		revision = mcp.Revision20251125
	}
	s.mu.Lock()
	s.revision, s.capabilities = revision, rawjson.Member(m.Params, "capabilities")
	s.mu.Unlock()
	own := capabilities
	if revision == mcp.Revision20251125 {
		own = `{"tools":{},"resources":{},"tasks":{"cancel":{},"requests":{"tools":{"call":{}}}}}`
	}
	s.answer(m.ID, revision, `"protocolVersion":%q,"capabilities":%s,"serverInfo":%s`, revision, own, serverInfo)
}

// meta returns a member of the request's _meta, which since 2026-07-28 replaces the
// members of initialize.
func meta(m message, name string) json.RawMessage {
	return rawjson.Member(rawjson.Member(m.Params, "_meta"), "io.modelcontextprotocol/"+name)
}

func (s *server) revisionOf(m message) string {
	if v := rawjson.Text(meta(m, "protocolVersion")); slices.Contains(mcp.Revisions, v) {
		return v
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.revision
}

// answer sends a result with these members.
func (s *server) answer(id json.RawMessage, revision, format string, a ...any) {
	members := fmt.Sprintf(format, a...)
	if revision >= mcp.Revision20260728 {
		members = `"resultType":"complete",` + members
	}
	s.send(`{"jsonrpc":"2.0","id":%s,"result":{%s}}`, id, members)
}

func (s *server) refuse(id json.RawMessage, code int, why string) {
	s.send(`{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%s}}`, id, code, encode(why))
}

func (s *server) send(format string, a ...any) {
	s.out <- append(fmt.Appendf(nil, format, a...), '\n')
}

// crash ends the process. Unless code is 0, it writes words to standard error before.
func (s *server) crash(words string, code int) {
	if code != 0 {
		fmt.Fprintln(s.Err, words)
	}
	s.Exit(code)
	s.end()
}

// pending is a question that waits for its answer.
type pending struct {
	call   *call
	number int
	answer chan answer // has room for the answer
}

// fate is the state of the question that a message is about, at the time when the message
// is read.
type fate int

const (
	unknown   fate = iota + 1 // there is no such question
	answered                  // the question has an answer already
	withdrawn                 // the tool no longer waits for the answer
	garbled                   // the message is not JSON
)

// expect adds a pending question and returns its id.
func (s *server) expect(c *call) (id string, p *pending) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.questions++
	s.last = c.tool
	id, p = strconv.Itoa(s.questions), &pending{call: c, number: s.questions, answer: make(chan answer, 1)}
	s.pending[id], s.askers[id] = p, c
	c.asks()
	return id, p
}

// withdraw stops waiting for the answer to a question, unless that answer has come.
func (s *server) withdraw(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pending[id] != nil {
		delete(s.pending, id)
		s.over[id] = withdrawn
	}
}

// cancel ends the call of a request that the client has cancelled. It withdraws the
// call's questions itself, because the call may notice its end only after the next line
// of the input is read, and that line may hold the answer to one of them.
func (s *server) cancel(request string) {
	s.mu.Lock()
	c := s.calls[request]
	if c == nil {
		s.mu.Unlock()
		return
	}
	if c.tool.spoiltByCancel {
		s.spoilt[c.tool.name] = true
	}
	for id, p := range s.pending {
		if p.call == c {
			delete(s.pending, id)
			s.over[id] = withdrawn
		}
	}
	s.mu.Unlock()
	c.end()
	if c.tool.stubborn {
		c.do(nil)
	}
}

// settle handles a response of the client.
func (s *server) settle(m message) {
	s.mu.Lock()
	id := string(m.ID)
	p, was, asker := s.pending[id], cmp.Or(s.over[id], unknown), s.askers[id]
	if p != nil {
		if p.call.tool.inOrder {
			id, p = s.oldest(p.call.tool)
		}
		delete(s.pending, id)
		s.over[id] = answered
	}
	s.mu.Unlock()
	switch {
	case p != nil:
		p.answer <- answerOf(m.Result, m.Error)
	case asker != nil && (was == answered && asker.tool.repeats || was == withdrawn && asker.tool.belated):
		if a := answerOf(m.Result, m.Error); a.action == "accept" {
			asker.do(a.content)
		}
	case s.lastAsked().breaksOn == was:
		s.crash("KeyError: no request has the id "+id, 1)
	}
}

// oldest returns the first pending question of a tool. The caller holds the mutex.
func (s *server) oldest(t *tool) (id string, first *pending) {
	for i, p := range s.pending {
		if p.call.tool == t && p.call.ctx.Err() == nil && (first == nil || p.number < first.number) {
			id, first = i, p
		}
	}
	return id, first
}

// lastAsked returns the tool that asked last; an empty tool if none did.
func (s *server) lastAsked() *tool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.last == nil {
		return &tool{}
	}
	return s.last
}

// deaf reports whether a tool is waiting that stops the server from handling requests.
func (s *server) deaf() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.pending {
		if p.call.tool.deaf && p.call.ctx.Err() == nil {
			return true
		}
	}
	return false
}

// encode returns the JSON of a value that always has one.
func encode(v any) json.RawMessage {
	raw, err := rawjson.Encode(v)
	if err != nil {
		panic(fmt.Sprintf("encoding %T: %v", v, err))
	}
	return raw
}
