//lint:file-ignore SA1019 2026-07-28 deprecates sampling, roots and logging, and servers of every revision still use them.

package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	protocol "elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/servers/server"
)

// session is one client's connection, or since 2026-07-28 over HTTP the requests of a client.
type session struct {
	*server.Session
	*server.Calls
	server *Server
	level  string // set by logging/setLevel, before 2026-07-28, "" for none; the server's mutex guards it
}

func (s *Server) begin(of *server.Session) server.Peer {
	return &session{Session: of, Calls: server.NewCalls(s.life, &s.work), server: s}
}

// Close ends the calls of the session.
func (s *session) Close() { s.Calls.Close() }

// Serve starts to answer a request. The function that it returns cancels the request.
func (s *session) Serve(r *server.Request) (left func()) {
	one := served{r, s.server, s}
	return s.Go(r.ID, func(ctx context.Context) {
		result, err := one.handle(ctx)
		one.respond(ctx, result, err)
	})
}

// served is a request that is served.
type served struct {
	*server.Request
	server  *Server
	session *session
}

// List returns the tools in the order of their stories, and the library.
func (s *session) List(r *server.Request) string {
	switch l := s.server.library; r.Method {
	case protocol.MethodListTools:
		return `"tools":` + string(mustJSON(served{r, s.server, s}.tools()))
	case protocol.MethodListPrompts:
		return `"prompts":` + string(mustJSON(l.prompts))
	case protocol.MethodListResources:
		return `"resources":` + string(mustJSON(l.resources))
	default:
		return `"resourceTemplates":` + string(mustJSON(l.templates))
	}
}

// handle returns the result of a request: an [mcp.Result], or the exact one as a raw.
func (r served) handle(ctx context.Context) (any, error) {
	if err := r.routed(); err != nil {
		return nil, err
	}
	switch {
	case r.Method == protocol.MethodSetLevel && !r.Rounds():
		r.server.mu.Lock()
		r.session.level = rawjson.Text(rawjson.Member(r.Params, "level"))
		r.server.mu.Unlock()
		return exactly(`{}`), nil
	case r.Method == protocol.MethodListen && r.Rounds():
		r.server.tasks.Listen(ctx, r.Request)
		return nil, raw(nil)
	case protocol.AsksForInput(r.Method):
		v := &visit{served: r, input: `{}`, notes: notes{Answers: map[string]answer{}, Memos: map[string]string{}}}
		return v.tell(ctx)
	case protocol.IsTask(r.Method):
		r.server.tasks.Serve(r.Request)
		return nil, raw(nil)
	}
	return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "Method not found: " + r.Method}
}

// routed returns an error if a request of 2026-07-28 does not say what its client can do, or if the headers of one over
// HTTP do not say what its body does (Streamable HTTP; extension tasks: Routing Headers).
func (r served) routed() error {
	if !r.Rounds() {
		return nil
	}
	if rawjson.KindOf(r.Capabilities) != rawjson.Object {
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: fmt.Sprintf("missing or invalid _meta field %q", protocol.MetaCapabilities)}
	}
	name := r.Target()
	if r.Method == protocol.MethodTaskResult {
		name = "" // the revision does not have it
	}
	for _, h := range [][2]string{{"Mcp-Protocol-Version", r.Revision}, {"Mcp-Method", r.Method}, {"Mcp-Name", name}} {
		if got := r.Frame.Header.Get(h[0]); r.Frame.Header != nil && h[1] != "" && got != h[1] {
			return &jsonrpc.Error{Code: protocol.CodeHeaderMismatch, Message: fmt.Sprintf("the header %s is %q, and the body says %q", h[0], got, h[1])}
		}
	}
	return nil
}

// raw is a result as exact JSON, which a story returns in place of an error. A nil raw says that there is nothing to
// send: the request has its response already, or never gets one.
type raw json.RawMessage

func exactly(format string, a ...any) raw { return fmt.Appendf(nil, format, a...) }

func (r raw) Error() string { return "the answer is a raw result" }

// respond answers the request, unless it was cancelled.
func (r served) respond(ctx context.Context, result any, err error) {
	exact, is := result.(raw)
	switch is = errors.As(err, &exact) || is; {
	case ctx.Err() != nil, is && exact == nil:
	case is && r.Rounds():
		r.Reply(rawjson.WithMember(string(exact), "_meta", r.server.core.Meta()))
	case is:
		r.Reply(string(exact))
	case err != nil:
		e := responseError(err)
		r.Fail(e.Code, e.Message, string(e.Data))
	default:
		if r.Rounds() {
			result.(mcp.Result).SetMeta(mcp.Meta{mcp.MetaKeyServerInfo: implementation})
		}
		r.Reply(string(r.complete(mustJSON(result))))
	}
}

// complete returns a result with its type, which it has since 2026-07-28.
func (r served) complete(result json.RawMessage) json.RawMessage {
	if !r.Rounds() {
		return result
	}
	return rawjson.WithMember(result, "resultType", `"complete"`)
}

// responseError returns the error of a response.
func responseError(err error) *jsonrpc.Error {
	e := (*jsonrpc.Error)(nil)
	if !errors.As(err, &e) {
		e = &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: err.Error()}
	}
	return e
}

var errGone = errors.New("the connection has ended")

// request sends a request, without params if they are null, and waits for its result. If ctx ends first, it takes the
// request back.
func (s *session) request(ctx context.Context, out server.Stream, method string, params json.RawMessage) (json.RawMessage, error) {
	if out == nil {
		return nil, errors.New("the client has no event stream open (GET) on which to ask")
	}
	p := s.Ask(out, server.Question{Method: method, Params: params}, nil)
	defer p.Forget()
	select {
	case f := <-p.Response:
		if f.Message.Error == nil {
			return f.Message.Result, nil
		}
		e := &jsonrpc.Error{}
		if err := json.Unmarshal(f.Message.Error, e); err != nil {
			return nil, fmt.Errorf("reading the error of %s: %w", method, err)
		}
		return nil, e
	case <-s.Done():
		return nil, errGone
	case <-ctx.Done():
		s.Notify(out, protocol.NotificationCancelled, fmt.Appendf(nil, `{"reason":%q,"requestId":%s}`, ctx.Err(), p.ID))
		return nil, context.Cause(ctx)
	}
}

// stream returns the stream for messages that belong to the visit. It is that of the request, unless the visit is a
// task: then the request has its response, and the stream has ended.
func (v *visit) stream() (out server.Stream) {
	if v.task == nil {
		return v.Out
	}
	v.task.Look(func() { out = v.task.Stream() })
	return out
}
