//lint:file-ignore SA1019 2026-07-28 deprecates logging, and servers of every revision still use it.

package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/client/transport"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/meaning/elicit"
	"elicitation-inspector/bridge/wire"
)

// Reply is a response exactly as received.
type Reply struct {
	Seq      int64
	Question int // number of the first question in the response, 0 if it asks none
	Message  wire.Message
	Inputs   []elicit.Asked // of tasks/get: the input requests that no earlier response had
}

// Requests returns the input requests of a response in a round of a call. Of several with the
// same key, only the last is answered.
func (r *Reply) Requests(asked []elicit.Asked, round int) []conversation.InputRequest {
	list := make([]conversation.InputRequest, len(asked))
	last := map[string]int{}
	for i, a := range asked {
		list[i] = conversation.InputRequest{Question: conversation.Question{
			Number: r.Question + i, Place: i + 1, Of: len(asked), Method: a.Method, Via: a.Via, Key: a.Key, Pointer: a.Pointer,
			Round: round, Params: a.Params, Asked: time.Now(), AskedSeq: r.Seq,
		}}
		if a.Via == elicit.InError {
			continue
		}
		if before, again := last[a.Key]; again {
			list[before].Lost = true
			list[before].Refusal = &conversation.RPCError{
				Code: mcp.CodeInvalidParams, Message: fmt.Sprintf("the key %q stands again among the input requests, and only the last counts", a.Key),
			}
		}
		last[a.Key] = i
	}
	return list
}

// Request is one request of a call, or of the task that a call became.
type Request struct {
	Call, Round int
	Kind        conversation.Kind
	Key         string // tool or prompt name, resource URI
	Arguments   json.RawMessage
	TaskID      string          // of the task that the request is about, in place of Kind and Key; "" for none
	Method      string          // with TaskID: mcp.MethodGetTask and the like
	Responses   []Member        // inputResponses in order; nil omits the member
	State       json.RawMessage // requestState, exact bytes; nil omits the member
	Task        json.RawMessage // member task, which makes the request a task; nil omits the member
	Actor       string          // who made the responses; "" if several actors did
	Spoilt      *Spoilt         // how a fault changes the request; nil for no fault
}

// Member is one member of a JSON object.
type Member struct {
	Name  string
	Value json.RawMessage
}

// TakenBack is the reason why a request is cancelled, as sent to the server. It is the
// cause with which the context of the request ends.
type TakenBack string

func (t TakenBack) Error() string { return string(t) }

// RoundTrip sends one request of a call and returns the response as received, be it a
// result or an error. The error says why there is no response.
func (s *Session) RoundTrip(ctx context.Context, r Request) (Reply, error) {
	out := &outgoing{Request: r, ctx: ctx}
	if out.Method, out.members = r.params(); out.Method == mcp.MethodCallTool {
		s.awaitTools(ctx)
	}
	var meta sdk.Meta
	if r.TaskID == "" {
		meta = sdk.Meta{"progressToken": fmt.Sprintf("%s%d-%d", tokenStart, r.Call, r.Round)}
		if s.modern() && !s.Settings.NoLogs {
			meta[sdk.MetaKeyLogLevel] = "debug"
		}
	}
	reply, err := s.send(out, meta)
	if reply != nil {
		return *reply, nil
	}
	if failure, ok := transport.FailureOf(err); ok {
		err = failure
	}
	return Reply{}, errors.New(conversation.PlainError(s.lost(ctx, err).Error()))
}

// Ping sends a ping and waits for its response.
func (s *Session) Ping(ctx context.Context) error { return s.sdk.Load().Ping(ctx, nil) }

func (r Request) params() (method string, list []Member) {
	method, name, key := mcp.MethodCallTool, "name", r.Key
	switch {
	case r.TaskID != "":
		method, name, key = r.Method, "taskId", r.TaskID
	case r.Kind == conversation.Resource || r.Kind == conversation.Template:
		method, name = mcp.MethodReadResource, "uri"
	case r.Kind == conversation.Prompt:
		method = mcp.MethodGetPrompt
	}
	list = []Member{{name, rawjson.Quoted(key)}}
	if r.Arguments != nil && name == "name" {
		list = append(list, Member{"arguments", r.Arguments})
	}
	if r.Responses != nil || r.Method == mcp.MethodUpdateTask {
		list = append(list, Member{"inputResponses", object(r.Responses)})
	}
	if r.State != nil {
		list = append(list, Member{"requestState", r.State})
	}
	if r.Task != nil {
		list = append(list, Member{"task", r.Task})
	}
	return method, list
}

func membersOf(object json.RawMessage) (list []Member) {
	for name, value := range rawjson.Members(object) {
		list = append(list, Member{name, value})
	}
	return list
}

func object(members []Member) json.RawMessage {
	var out rawjson.ObjectWriter
	for _, m := range members {
		out.Add(m.Name, m.Value)
	}
	return out.JSON()
}

// requestOfOurs stands for the method of a request of our own, where the SDK need not know the real
// one. exactParams puts the real one in its place.
const requestOfOurs = "inspector/request"

// request has the SDK send the request that a context carries, with exact params.
func request(ctx context.Context, own *sdk.ClientSession, meta sdk.Meta) error {
	_, err := sdk.CallCustomMethod[*rawParams, *emptyResult](ctx, own, requestOfOurs, &rawParams{ParamsBase: sdk.ParamsBase{Meta: meta}})
	return err
}

// emptyResult is the SDK's type of results that only the tap reads.
type emptyResult struct{ sdk.ResultBase }

// send has the SDK send a request, and returns the response that the tap saw. If there is none,
// the error says why.
func (s *Session) send(out *outgoing, meta sdk.Meta) (*Reply, error) {
	var err error
	ctx, own := out.with(out.ctx), s.sdk.Load()
	switch out.Method {
	case mcp.MethodListTools: // the SDK must know which headers the tools want; it keeps them by the page
		_, err = own.ListTools(ctx, &sdk.ListToolsParams{Cursor: out.Key})
	case mcp.MethodCallTool:
		_, err = own.CallTool(ctx, &sdk.CallToolParams{Meta: meta, Name: out.Key, Arguments: out.Arguments})
	default:
		err = request(ctx, own, meta)
	}
	reply := s.requests.end(out)
	if reply == nil && err == nil {
		err = errors.New("the response was not seen on the wire")
	}
	return reply, err
}

// exactParams is sending middleware. It makes the context of every request carry an outgoing.
// In a request of our own it replaces the method and the params, because the SDK's types lose the
// order of members, drop an empty requestState, and have no place for tasks.
func exactParams(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		out := outgoingOf(ctx)
		if ctx = out.with(ctx); out.members == nil {
			return next(ctx, method, req)
		}
		members := out.members
		meta := req.GetParams().GetMeta()
		if meta != nil {
			metaJSON, err := json.Marshal(meta)
			if err != nil {
				return nil, fmt.Errorf("encoding _meta: %w", err)
			}
			members = append([]Member{{"_meta", metaJSON}}, members...)
		}
		session, ok := req.GetSession().(*sdk.ClientSession)
		if !ok {
			return nil, fmt.Errorf("%s: not a client's session", method)
		}
		res, err := next(ctx, out.Method, &sdk.ClientRequest[*rawParams]{
			Session: session,
			Params:  &rawParams{ParamsBase: sdk.ParamsBase{Meta: meta}, raw: object(members)},
		})
		if err == nil && method == requestOfOurs { // a subscription, whose response the SDK does not wait for
			res = &emptyResult{}
		}
		return res, err
	}
}

// rawParams holds params as exact JSON bytes.
type rawParams struct {
	sdk.ParamsBase
	raw json.RawMessage
}

// MarshalJSON returns the exact bytes.
func (p *rawParams) MarshalJSON() ([]byte, error) { return p.raw, nil }
