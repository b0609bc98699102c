package bridge

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"elicitation-inspector/bridge/target"
)

// undeclared is receiving middleware: it turns down the requests that the client
// has not declared, some of which the SDK would answer (specification 2025-11-25,
// Roots, Error Handling). Questions never get here; see session.ask.
func (s *session) undeclared(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		if capability := s.settings.undeclares(method); capability != "" {
			refusal := notDeclared(capability)
			return nil, &jsonrpc.Error{Code: refusal.Code, Message: refusal.Message}
		}
		return next(ctx, method, req)
	}
}

// outbox holds the settled questions whose responses wait to be sent. Its list is
// guarded by Inspection.mu.
type outbox struct {
	list  []*question
	ready chan struct{} // there is something on the list; capacity 1
}

// respond has the response to a settled question sent. The caller holds in.mu.
func (s *session) respond(q *question) {
	s.outbox.list = append(s.outbox.list, q)
	select {
	case s.outbox.ready <- struct{}{}:
	default:
	}
}

// responsesMost is how many responses of one connection are on their way at a
// time. A server may take its time with each.
const responsesMost = 64

// sendResponses sends what is put into the outbox until the session ends or its
// link has failed, and then what is still in it. It returns once all of that is
// under way.
func (s *session) sendResponses(link *target.Link, failed <-chan struct{}) {
	slots := make(chan struct{}, responsesMost)
	for ended := false; ; {
		s.in.mu.Lock()
		list := s.outbox.list
		s.outbox.list = nil
		s.in.mu.Unlock()
		for _, q := range list {
			slots <- struct{}{}
			s.in.running.Go(func() {
				defer func() { <-slots }()
				s.sendResponse(link, q)
			})
		}
		if ended {
			return
		}
		select {
		case <-s.outbox.ready:
		case <-failed:
			ended = true
		case <-s.ctx.Done():
			ended = true
		}
	}
}

// sendResponse sends the response to one question. That it fails is what the
// tap notes.
func (s *session) sendResponse(link *target.Link, q *question) {
	s.in.mu.Lock()
	result, failure := q.response()
	s.in.mu.Unlock()
	if err := link.Respond(s.in.life, json.RawMessage(q.id), result, failure); err != nil {
		s.in.logger.Debug("sending a response", "server", s.server.label(), "question", q.number, "error", err)
	}
	s.in.mu.Lock()
	defer s.in.mu.Unlock()
	s.in.noteEnd(q) // for what was not sent after all
}

// response is what is sent for a settled question: a result, or else an error.
// The caller holds in.mu.
func (q *question) response() (json.RawMessage, *jsonrpc.Error) {
	switch q.state {
	case Answered, Undelivered:
		if q.turnedDown() {
			return nil, &jsonrpc.Error{Code: codeRejected, Message: "User rejected " + q.method}
		}
		return q.answer.JSON(), nil
	case Refused:
		if q.refusal != nil {
			return nil, &jsonrpc.Error{Code: q.refusal.Code, Message: q.refusal.Message}
		}
	case Withdrawn:
		if q.answer.Action != "" { // its call ended, so the server is told that nobody will answer
			return q.answer.JSON(), nil
		}
	case Pending:
	}
	return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: fmt.Sprintf("question %s: %s", q.state, q.reason)}
}

// codeMethodNotFound is JSON-RPC 2.0's error for a method that is not there.
const codeMethodNotFound = -32601

// codeRejected is what a client answers where the person turned down a request
// that is no elicitation (specification 2025-11-25, Sampling, Error Handling).
const codeRejected = -1

// turnedDown reports whether a request that is no elicitation was declined or
// cancelled, which no result can say.
func (q *question) turnedDown() bool {
	return q.method != MethodElicit && q.answer.Result == nil
}

// exact is what a call's params hold, beyond what the SDK adds to _meta.
type exact struct {
	members []member // in order, after _meta
}

type member struct {
	name  string
	value json.RawMessage
}

type exactKey struct{}

// withExact makes the SDK send exactly these members in the params of the one
// request made with the context.
func withExact(ctx context.Context, e exact) context.Context {
	return context.WithValue(ctx, exactKey{}, e)
}

// exactParams is sending middleware: it replaces the params of a request made
// under withExact, because the SDK's own types lose the order of members, and
// an empty requestState.
func exactParams(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		e, ok := ctx.Value(exactKey{}).(exact)
		if !ok || (method != methodCall && method != methodPrompt && method != methodRead) {
			return next(ctx, method, req)
		}
		meta := req.GetParams().GetMeta()
		metaJSON, err := json.Marshal(meta)
		if err != nil {
			return nil, fmt.Errorf("encoding _meta: %w", err)
		}
		raw := fmt.Appendf(nil, `{"_meta":%s`, metaJSON)
		for _, m := range e.members {
			raw = fmt.Appendf(raw, `,%q:%s`, m.name, m.value)
		}
		raw = append(raw, '}')
		session, ok := req.GetSession().(*mcp.ClientSession)
		if !ok {
			return nil, fmt.Errorf("%s: not a client's session", method)
		}
		return next(ctx, method, &mcp.ClientRequest[*rawParams]{
			Session: session,
			Params:  &rawParams{ParamsBase: mcp.ParamsBase{Meta: meta}, raw: raw},
		})
	}
}

// rawParams are params whose JSON is given byte for byte.
type rawParams struct {
	mcp.ParamsBase
	raw json.RawMessage
}

// MarshalJSON returns the exact bytes.
func (p *rawParams) MarshalJSON() ([]byte, error) { return p.raw, nil }
