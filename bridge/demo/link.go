package demo

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"elicitation-inspector/bridge/conversation"
	protocol "elicitation-inspector/bridge/mcp"
	"elicitation-inspector/bridge/rawjson"
)

// carriedTask is the key in _meta under which a request has what the SDK's types of its params lack: the member task of
// a tools/call, the capability tasks of an initialize, and the tasks of a subscription with its id.
const carriedTask = "demo/task"

// carry puts into _meta what the SDK would drop, and reports whether there was anything.
func carry(m jsonrpc.Message) bool {
	r, ok := m.(*jsonrpc.Request)
	if !ok {
		return false
	}
	var found json.RawMessage
	switch r.Method {
	case protocol.MethodCallTool:
		found = rawjson.Member(r.Params, "task")
	case protocol.MethodInitialize:
		found = rawjson.Member(r.Params, "capabilities", "tasks")
	case protocol.MethodListen:
		if ids := rawjson.Member(r.Params, "notifications", "taskIds"); ids != nil {
			found = fmt.Appendf(nil, `{"id":%s,"tasks":%s}`, mustJSON(r.ID.Raw()), ids)
		}
	}
	params, meta := map[string]json.RawMessage{}, map[string]json.RawMessage{}
	if found == nil || json.Unmarshal(r.Params, &params) != nil || params["_meta"] != nil && json.Unmarshal(params["_meta"], &meta) != nil {
		return false
	}
	meta[carriedTask] = found
	params["_meta"] = mustJSON(meta)
	r.Params = mustJSON(params)
	return true
}

// asksLater reports whether a question can be a task of the client's: in 2025-11-25, if the client has declared it, over
// a connection that can carry the requests about it.
func (s *Server) asksLater(ss *mcp.ServerSession) bool {
	p := ss.InitializeParams()
	if p == nil || s.linkOf(ss) == nil || p.Capabilities == nil || p.Capabilities.Elicitation == nil {
		return false
	}
	if modes := p.Capabilities.Elicitation; modes.Form == nil && modes.URL != nil {
		return false // the question has a form
	}
	return p.ProtocolVersion == protocol.Revision20251125 && rawjson.Member(mustJSON(p.Meta), carriedTask, "requests", "elicitation", "create") != nil
}

// Connect serves one client over a transport with a single connection. See [mcp.Server.Connect].
func (s *Server) Connect(ctx context.Context, t mcp.Transport, o *mcp.ServerSessionOptions) (*mcp.ServerSession, error) {
	return s.mcp.Connect(ctx, &linking{s, t}, o)
}

// Run serves one client until it ends the connection, or the context ends. See [mcp.Server.Run].
func (s *Server) Run(ctx context.Context, t mcp.Transport) error {
	return s.mcp.Run(ctx, &linking{s, t})
}

// linking is a transport whose connection is a taskLink.
type linking struct {
	server *Server
	mcp.Transport
}

func (l *linking) Connect(ctx context.Context) (mcp.Connection, error) {
	conn, err := l.Transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	link := &taskLink{Connection: conn, server: l.server, id: rand.Text(), waiting: map[string]chan *jsonrpc.Response{}, telling: make(chan struct{}, 1), gone: make(chan struct{})}
	l.server.mu.Lock()
	defer l.server.mu.Unlock()
	l.server.links[link.id] = link
	return link, nil
}

// taskLink is a connection on which the server can send requests and notifications that the SDK does not know. The
// server's mutex guards it.
type taskLink struct {
	mcp.Connection
	server  *Server
	id      string
	sent    int
	waiting map[string]chan *jsonrpc.Response // by id of the request
	telling chan struct{}                     // holds whoever is about to write the status of a task
	gone    chan struct{}                     // closed when the connection is
}

var errGone = errors.New("the connection has ended")

// hold is called before the status of a task is read that the client is told, so that it is told no older one after
// that. The caller releases the link after its notification, and Write after a response with a status. Without a link,
// it does nothing.
func (l *taskLink) hold(ctx context.Context) error {
	if l == nil {
		return nil
	}
	select {
	case l.telling <- struct{}{}:
		return nil
	case <-l.gone:
		return errGone
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (l *taskLink) release() {
	if l == nil {
		return
	}
	select {
	case <-l.telling:
	case <-l.gone: // a request that came in before may not have found the link to hold
	}
}

func (l *taskLink) Write(ctx context.Context, m jsonrpc.Message) error {
	if r, ok := m.(*jsonrpc.Response); ok && (rawjson.Member(r.Result, "taskId") != nil || rawjson.Member(r.Result, "task") != nil || rawjson.Member(r.Result, "tasks") != nil) {
		defer l.release()
	}
	return l.Connection.Write(ctx, m)
}

func (s *Server) linkOf(ss *mcp.ServerSession) *taskLink {
	id := ss.ID()
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.links[id]
}

// SessionID returns the name by which linkOf finds the link. The SDK sends it nowhere.
func (l *taskLink) SessionID() string { return l.id }

func (l *taskLink) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		m, err := l.Connection.Read(ctx)
		if err != nil {
			return nil, err
		}
		r, ok := m.(*jsonrpc.Response)
		if !ok {
			carry(m)
			return m, nil
		}
		id, _ := r.ID.Raw().(string)
		l.server.mu.Lock()
		answered := l.waiting[id]
		delete(l.waiting, id)
		l.server.mu.Unlock()
		if answered == nil {
			return m, nil
		}
		answered <- r
	}
}

func (l *taskLink) Close() error {
	l.server.mu.Lock()
	if l.server.links[l.id] != nil {
		delete(l.server.links, l.id)
		close(l.gone)
	}
	l.server.mu.Unlock()
	return l.Connection.Close()
}

// notify sends a notification.
func (l *taskLink) notify(ctx context.Context, method string, params json.RawMessage) error {
	return l.Write(ctx, &jsonrpc.Request{Method: method, Params: params})
}

// call sends a request and waits for its result.
func (l *taskLink) call(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	answered := make(chan *jsonrpc.Response, 1)
	l.server.mu.Lock()
	l.sent++
	name := fmt.Sprintf("task-%d", l.sent)
	l.waiting[name] = answered
	l.server.mu.Unlock()
	defer func() {
		l.server.mu.Lock()
		delete(l.waiting, name)
		l.server.mu.Unlock()
	}()
	id, err := jsonrpc.MakeID(name)
	if err == nil {
		err = l.Write(ctx, &jsonrpc.Request{ID: id, Method: method, Params: params})
	}
	if err != nil {
		return nil, err
	}
	select {
	case r := <-answered:
		return r.Result, r.Error
	case <-l.gone:
		return nil, errGone
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// bodyMost bounds the body of a request over HTTP.
const bodyMost = 16 << 20

// carrying passes on requests over HTTP with what the SDK would drop, and refuses requests about a task whose Mcp-Name
// header does not name it (extension tasks of 2026-07-28, Streamable HTTP: Routing Headers).
func carrying(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			next.ServeHTTP(w, r)
			return
		}
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, bodyMost))
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		m, err := jsonrpc.DecodeMessage(body)
		if err == nil && carry(m) {
			if body, err = jsonrpc.EncodeMessage(m); err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
				return
			}
		}
		call, ok := m.(*jsonrpc.Request)
		if ok && slices.Contains([]string{protocol.MethodGetTask, protocol.MethodUpdateTask, protocol.MethodCancelTask}, call.Method) &&
			r.Header.Get("Mcp-Protocol-Version") >= protocol.Revision20260728 {
			if id := rawjson.Text(rawjson.Member(call.Params, "taskId")); id != "" && r.Header.Get("Mcp-Name") != id {
				refused, err := jsonrpc.EncodeMessage(&jsonrpc.Response{ID: call.ID, Error: &jsonrpc.Error{
					Code: protocol.CodeHeaderMismatch, Message: "the Mcp-Name header is not params.taskId",
				}})
				if err != nil {
					http.Error(w, err.Error(), http.StatusInternalServerError)
					return
				}
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(http.StatusBadRequest)
				w.Write(refused)
				return
			}
		}
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		next.ServeHTTP(w, r)
	})
}

// withTasks returns the result of initialize with the capability that 2025-11-25 has and the SDK's type lacks.
func withTasks(r *mcp.InitializeResult) mcp.Result {
	caps := *r.Capabilities
	caps.Extensions = nil
	r.Capabilities = &caps
	if r.ProtocolVersion != protocol.Revision20251125 {
		return r
	}
	return &rawResult{json: bytes.Replace(mustJSON(r), []byte(`"capabilities":{`), []byte(`"capabilities":{"tasks":{"list":{},"cancel":{},"requests":{"tools":{"call":{}}}},`), 1)}
}

// askLater asks a question as a task of the client's, and asks for the answer once the client says that there is one
// (2025-11-25). The client must have declared that it takes elicitations as tasks.
func (v *visit) askLater(ctx context.Context, q question) (answer, error) {
	l := v.server.linkOf(v.session)
	created, err := l.call(ctx, q.requestMethod(), rawjson.WithMember(q.encode(v.revision), "task", `{"ttl":600000}`))
	if err != nil {
		return answer{}, refusal(err)
	}
	told := rawjson.Member(created, "task")
	params := json.RawMessage(`{"taskId":` + string(mustJSON(rawjson.Text(rawjson.Member(told, "taskId")))) + `}`)
	for ended := false; !ended; {
		if status := conversation.TaskStatus(rawjson.Text(rawjson.Member(told, "status"))); status == conversation.TaskInputRequired || status.Terminal() {
			ended = true
			continue
		}
		err := v.pause(ctx, taskPoll)
		if err == nil {
			told, err = l.call(ctx, protocol.MethodGetTask, params)
		}
		if err != nil {
			return answer{}, refusal(err)
		}
	}
	result, err := l.call(ctx, protocol.MethodTaskResult, params)
	if err != nil {
		if ctx.Err() != nil {
			// An error means that the question has ended, or the connection: nobody waits for either.
			_, _ = l.call(v.server.life, protocol.MethodCancelTask, params)
		}
		return answer{}, refusal(err)
	}
	var got mcp.ElicitResult
	if err := json.Unmarshal(result, &got); err != nil {
		return answer{}, problem("The answer could not be read: %v", err)
	}
	a := answerOf(&got)
	return a, q.check(a)
}
