package bridge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// answering is receiving middleware: it holds the SDK's handler of a question
// until the question is settled, and never lets the SDK judge or fill in.
func (s *session) answering(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		if capability := s.settings.undeclares(method); capability != "" {
			// The SDK would answer some of them (specification 2025-11-25, Roots, Error Handling).
			return nil, wireError(rpcError{codeMethodNotFound, fmt.Sprintf("Method not found: the client has not declared the capability %q", capability)})
		}
		if !asksPerson(method, s.settings) {
			return next(ctx, method, req)
		}
		q, err := s.questionOf(req)
		if err != nil {
			return nil, err
		}
		select {
		case <-q.settled:
		case <-ctx.Done():
			// Whatever ended it is about to say why.
			select {
			case <-q.settled:
			case <-time.After(2 * exitGrace):
			}
			s.in.mu.Lock()
			s.in.settle(q, Withdrawn, ByServer, "the connection that carried it ended")
			s.in.mu.Unlock()
		}
		return s.response(q)
	}
}

// questionOf finds the question that a stand-in names.
func (s *session) questionOf(req mcp.Request) (*question, error) {
	params := req.GetParams()
	number, ok := params.GetMeta()[metaQuestion].(float64)
	if !ok {
		return nil, errors.New("the request was not seen on the wire")
	}
	s.in.mu.Lock()
	defer s.in.mu.Unlock()
	return s.in.question(int(number))
}

// response is what the SDK is to send for a settled question.
func (s *session) response(q *question) (mcp.Result, error) {
	s.in.mu.Lock()
	defer s.in.mu.Unlock()
	switch q.state {
	case Answered, Undelivered:
		if q.turnedDown() {
			return nil, wireError(rpcError{codeRejected, "User rejected " + q.method})
		}
		return exactResult{raw: q.answer.JSON()}, nil
	case Refused:
		if q.refusal != nil {
			return nil, wireError(*q.refusal)
		}
	case Withdrawn:
		if q.answer.Action != "" { // its call ended, so the server is told that nobody will answer
			return exactResult{raw: q.answer.JSON()}, nil
		}
	case Pending:
	}
	return nil, fmt.Errorf("question %s: %s", q.state, q.reason)
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

// exactResult is a result whose JSON is given byte for byte. The embedded
// result only lends the SDK's unexported method.
type exactResult struct {
	*mcp.ElicitResult
	raw json.RawMessage
}

// MarshalJSON returns the exact bytes.
func (r exactResult) MarshalJSON() ([]byte, error) { return r.raw, nil }

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
