//lint:file-ignore SA1019 2026-07-28 deprecates logging, and servers of every revision still use it.

package session

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"elicitation-inspector/bridge/conversation"
	"elicitation-inspector/bridge/elicit"
	"elicitation-inspector/bridge/mcp"
	"elicitation-inspector/bridge/rawjson"
	"elicitation-inspector/bridge/transport"
	"elicitation-inspector/bridge/wire"
)

// outgoing is a request to the server without a response. The context in which the SDK
// sends the request has it, and that of the request's cancellation, too.
type outgoing struct {
	id          string // exact id; "" before the request is sent
	method      string
	call, round int             // 0 if the request belongs to no call
	members     []Member        // its params, in place of those that the SDK makes; nil leaves those
	actor       string          // who made the inputResponses in the request
	inputs      []elicit.Asked  // input requests of a task that its response has for the first time
	task        string          // id of the task that the request is about; "" for other requests
	listens     bool            // it is a subscription to tasks
	ctx         context.Context // ends when the request is cancelled
	reply       *Reply          // the response; nil until it arrives
	over        bool            // nobody waits for the response any more
	unlogged    bool            // the request is about to be logged, and to be sent after that
	told        bool            // the request was cancelled at the server
	spoilt      *Spoilt         // how a fault changes the request; nil for no fault
	sdkID       json.RawMessage // the SDK's id of the request, if it was sent with another id; else nil
}

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

// Request is one request of a call, or about the task that one became.
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

// tokenStart is the prefix of the progress tokens of calls.
const tokenStart = "call-"

// RoundTrip sends one request of a call and returns the response as received, be it a
// result or an error. The error says why there is no response.
func (s *Session) RoundTrip(ctx context.Context, r Request) (Reply, error) {
	meta := sdk.Meta{"progressToken": fmt.Sprintf("%s%d-%d", tokenStart, r.Call, r.Round)}
	if s.modern() && !s.Settings.NoLogs {
		meta[sdk.MetaKeyLogLevel] = "debug"
	}
	s.mu.Lock() // progress notifications after the end of a call are still attributed to it
	if r.TaskID == "" && !slices.Contains(s.calls, r.Call) {
		s.calls = remember(s.calls, r.Call)
	}
	s.mu.Unlock()
	out := &outgoing{call: r.Call, round: r.Round, members: r.members(), actor: r.Actor, ctx: ctx, task: r.TaskID, spoilt: r.Spoilt}
	reply, err := s.send(out, func(ctx context.Context) (err error) {
		switch {
		case r.TaskID != "":
			_, err = sdk.CallCustomMethod[*rawParams, *emptyResult](ctx, s.sdk, r.Method, &rawParams{})
		case r.Kind == conversation.Tool:
			_, err = s.sdk.CallTool(ctx, &sdk.CallToolParams{Meta: meta, Name: r.Key, Arguments: r.Arguments})
		case r.Kind == conversation.Prompt:
			_, err = s.sdk.GetPrompt(ctx, &sdk.GetPromptParams{Meta: meta, Name: r.Key})
		default:
			_, err = s.sdk.ReadResource(ctx, &sdk.ReadResourceParams{Meta: meta, URI: r.Key})
		}
		return err
	})
	if reply != nil {
		return *reply, nil
	}
	if failure, ok := transport.FailureOf(err); ok {
		err = failure
	}
	return Reply{}, errors.New(conversation.PlainError(s.lost(ctx, err).Error()))
}

// Ping sends a ping and waits for its response.
func (s *Session) Ping(ctx context.Context) error { return s.sdk.Ping(ctx, nil) }

func (r Request) members() []Member {
	var list []Member
	switch {
	case r.TaskID != "":
		list = []Member{{"taskId", rawjson.Quoted(r.TaskID)}}
	case r.Kind == conversation.Resource || r.Kind == conversation.Template:
		list = []Member{{"uri", rawjson.Quoted(r.Key)}}
	default:
		list = []Member{{"name", rawjson.Quoted(r.Key)}}
		if r.Arguments != nil {
			list = append(list, Member{"arguments", r.Arguments})
		}
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
	return list
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

type outgoingKey struct{}

// with returns the context that has a request of ours.
func (out *outgoing) with(ctx context.Context) context.Context {
	return context.WithValue(ctx, outgoingKey{}, out)
}

// outgoingOf returns the request of a context for the SDK, an empty one if it has none.
func outgoingOf(ctx context.Context) *outgoing {
	if out, is := ctx.Value(outgoingKey{}).(*outgoing); is {
		return out
	}
	return &outgoing{}
}

// send calls do, which makes the SDK send a request in the context that it is given, and
// returns the response that the tap saw; nil with an error if there is none.
func (s *Session) send(out *outgoing, do func(context.Context) error) (*Reply, error) {
	err := do(out.with(out.ctx))
	s.mu.Lock()
	defer s.mu.Unlock()
	out.over = true
	s.stop(out)
	if out.reply == nil && err == nil {
		err = errors.New("the response was not seen on the wire")
	}
	return out.reply, err
}

// stop removes a request from s.outgoing. The caller holds the mutex.
func (s *Session) stop(out *outgoing) {
	if s.outgoing[out.id] == out {
		delete(s.outgoing, out.id)
	}
}

// running returns the requests of calls that wait for a response, in the order of the
// calls. The caller holds the mutex.
func (s *Session) running() []*outgoing {
	var running []*outgoing
	for _, out := range s.outgoing {
		if out.call != 0 {
			running = append(running, out)
		}
	}
	slices.SortFunc(running, func(a, b *outgoing) int { return cmp.Compare(a.call, b.call) })
	return running
}

// reworded returns a message of the SDK as it is sent. In a cancellation it replaces
// the reason, which the SDK takes from a context's error, with one that people can read
// in a server's log.
func (s *Session) reworded(out *outgoing, raw []byte) []byte {
	if !bytes.Contains(raw, []byte(`"`+mcp.NotificationCancelled+`"`)) {
		return raw
	}
	m, err := wire.ParseMessage(raw)
	if err != nil || m.Kind != wire.Notification || m.Method != mcp.NotificationCancelled {
		return raw
	}
	id := rawjson.Member(m.Params, "requestId")
	var why TakenBack
	if out.ctx == nil || !errors.As(context.Cause(out.ctx), &why) {
		s.mu.Lock()
		if s.closing || s.ctx.Err() != nil {
			why = "the client disconnects"
		}
		s.mu.Unlock()
	}
	if why == "" && out.listens {
		why = "the client listens to other tasks now, or to none"
	}
	if why == "" || id == nil {
		return raw
	}
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","method":%q,"params":{"requestId":%s,"reason":%q}}`, mcp.NotificationCancelled, id, why)
}

// exactParams is sending middleware: it has the context of every request carry an outgoing,
// and replaces the params of a call's request, because the SDK's types lose the order of
// members and drop an empty requestState, and those of a subscription to tasks, because they
// have no place for tasks.
func exactParams(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		out := outgoingOf(ctx)
		if tasks := listening(req); tasks != nil {
			out.members, out.listens = tasks, true
		}
		members := out.members
		if ctx = out.with(ctx); members == nil {
			return next(ctx, method, req)
		}
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
		raw := object(members)
		return next(ctx, method, &sdk.ClientRequest[*rawParams]{
			Session: session,
			Params:  &rawParams{ParamsBase: sdk.ParamsBase{Meta: meta}, raw: raw},
		})
	}
}

// rawParams holds params as exact JSON bytes.
type rawParams struct {
	sdk.ParamsBase
	raw json.RawMessage
}

// MarshalJSON returns the exact bytes.
func (p *rawParams) MarshalJSON() ([]byte, error) { return p.raw, nil }

// callOf returns the call and round in the progress token of a notification; 0, 0 if
// this session has sent no such token.
func (s *Session) callOf(params json.RawMessage) (call, round int) {
	token := rawjson.Text(rawjson.Member(params, "progressToken"))
	if n, err := fmt.Sscanf(token, tokenStart+"%d-%d", &call, &round); n != 2 || err != nil {
		return 0, 0
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Contains(s.calls, call) {
		return 0, 0
	}
	return call, round
}
