// Package faulty is an MCP server whose tools each do exactly one thing wrong, so that
// whoever looks for defects in servers can be tested. It speaks JSON-RPC by hand, since
// no library lets a server do all of that.
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

	"elicitation-inspector/bridge/mcp"
	"elicitation-inspector/bridge/rawjson"
)

// Name is how the server introduces itself.
const Name = "faulty"

// Options are what a server has of its process.
type Options struct {
	In  io.Reader
	Out io.Writer
	Err io.Writer // takes the last words of tools that crash
	// Exit ends the process, as os.Exit does. If it returns, Serve does too.
	Exit func(code int)
}

// Serve serves one client over stdio until its input or ctx ends, or a tool crashes.
// After that a read of In may still be waiting.
func Serve(ctx context.Context, o Options) {
	ctx, end := context.WithCancel(ctx)
	s := &server{
		Options: o, ctx: ctx, end: end, out: make(chan []byte), key: make([]byte, 32),
		pending: map[string]*pending{}, over: map[string]fate{}, calls: map[string]*call{},
		kept: map[string]json.RawMessage{}, spoilt: map[string]bool{},
	}
	rand.Read(s.key)
	written := make(chan struct{})
	go func() {
		defer close(written)
		for line := range s.out {
			_, _ = o.Out.Write(line) // a client that does not read ends the input, too
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

// read passes the lines of a client on.
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
	ctx  context.Context // of everything that waits
	end  context.CancelFunc
	out  chan []byte
	key  []byte // of the seals of requestState
	work sync.WaitGroup

	mu           sync.Mutex
	revision     string          // that was agreed on, up to 2025-11-25
	capabilities json.RawMessage // of the client, up to 2025-11-25
	questions    int             // asked so far
	pending      map[string]*pending
	over         map[string]fate  // questions that are not pending any more
	calls        map[string]*call // that are being served, by the id of their request
	last         *tool            // that asked
	kept         map[string]json.RawMessage
	spoilt       map[string]bool // tools that are of no use any more
}

// message is any JSON-RPC message. Its parts are as they came.
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
		s.answer(m.ID, r, `"supportedVersions":%s,"capabilities":{"tools":{}},"serverInfo":%s,"ttlMs":0,"cacheScope":"private"`, encode(mcp.Revisions), serverInfo)
	case m.Method == mcp.MethodListTools && r < mcp.Revision20260728:
		s.answer(m.ID, r, `"tools":%s`, listed(r))
	case m.Method == mcp.MethodListTools:
		s.answer(m.ID, r, `"tools":%s,"ttlMs":0,"cacheScope":"private"`, listed(r))
	case m.Method == mcp.MethodPing && r < mcp.Revision20260728:
		s.answer(m.ID, r, "")
	default:
		s.refuse(m.ID, mcp.CodeMethodNotFound, "Method not found: "+m.Method)
	}
}

const serverInfo = `{"name":"` + Name + `","title":"Faulty server","version":"1.0.0"}`

func (s *server) initialize(m message) {
	revision := rawjson.Text(rawjson.Member(m.Params, "protocolVersion"))
	if revision != mcp.Revision20250618 {
		revision = mcp.Revision20251125
	}
	s.mu.Lock()
	s.revision, s.capabilities = revision, rawjson.Member(m.Params, "capabilities")
	s.mu.Unlock()
	s.answer(m.ID, revision, `"protocolVersion":%q,"capabilities":{"tools":{}},"serverInfo":%s`, revision, serverInfo)
}

// meta is a member of a request's _meta, which says since 2026-07-28 what initialize
// said before.
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

// answer answers a request with a result of these members.
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

// crash ends the process, which says why on its way out.
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
	answer chan answer // has room for it
}

// fate is what became of a question before a message for it came.
type fate int

const (
	unknown   fate = iota + 1 // it was never asked
	answered                  // it has an answer already
	withdrawn                 // nobody waits for it any more
	garbled                   // no question can be told from the message
)

// expect makes a question that waits, and its id.
func (s *server) expect(c *call) (id string, p *pending) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.questions++
	s.last = c.tool
	id, p = strconv.Itoa(s.questions), &pending{call: c, number: s.questions, answer: make(chan answer, 1)}
	s.pending[id] = p
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
	defer s.mu.Unlock()
	c := s.calls[request]
	if c == nil {
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
	c.end()
}

// settle takes a response of the client's.
func (s *server) settle(m message) {
	s.mu.Lock()
	id := string(m.ID)
	p, was := s.pending[id], cmp.Or(s.over[id], unknown)
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
	case s.lastAsked().breaksOn == was:
		s.crash("KeyError: no request has the id "+id, 1)
	}
}

// oldest is the first question of a tool that still waits. The caller holds the mutex.
func (s *server) oldest(t *tool) (id string, first *pending) {
	for i, p := range s.pending {
		if p.call.tool == t && p.call.ctx.Err() == nil && (first == nil || p.number < first.number) {
			id, first = i, p
		}
	}
	return id, first
}

// lastAsked is the tool that asked last.
func (s *server) lastAsked() *tool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.last == nil {
		return &tool{}
	}
	return s.last
}

// deaf reports whether a tool waits that lets the server do nothing else.
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

// encode writes what can always be written: strings, numbers and what is made of them.
func encode(v any) json.RawMessage {
	raw, err := rawjson.Encode(v)
	if err != nil {
		panic(fmt.Sprintf("encoding %T: %v", v, err))
	}
	return raw
}
