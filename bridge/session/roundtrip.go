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
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"elicitation-inspector/bridge/conversation"
	"elicitation-inspector/bridge/elicit"
	"elicitation-inspector/bridge/mcp"
	"elicitation-inspector/bridge/rawjson"
	"elicitation-inspector/bridge/transport"
	"elicitation-inspector/bridge/wire"
)

// outgoing is a request to the server without a response.
type outgoing struct {
	id          string // exact id; "" before the request is sent
	method      string
	call, round int             // 0 if the request belongs to no call
	actor       string          // who made the inputResponses in the request
	inputs      []elicit.Asked  // input requests of a task that its response has for the first time
	task        string          // id of the task that the request is about; "" for other requests
	listens     bool            // it is a subscription to tasks
	ctx         context.Context // ends when the request is cancelled
	reply       *Reply          // the response; nil until it arrives
	unsent      bool            // the request was given up before it was sent
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

// Request is one request of a call.
type Request struct {
	Call, Round int
	Kind        conversation.Kind
	Key         string // tool or prompt name, resource URI
	Arguments   json.RawMessage
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

// tokenStart is the prefix of the progress tokens of calls. The tap identifies a call's
// request by its token.
const tokenStart = "call-"

// RoundTrip sends one request of a call and returns the response as received, be it a
// result or an error. The error says why there is no response.
func (s *Session) RoundTrip(ctx context.Context, r Request) (Reply, error) {
	ticket := fmt.Sprintf("%s%d-%d", tokenStart, r.Call, r.Round)
	meta := sdk.Meta{"progressToken": ticket}
	if s.modern() && !s.Settings.NoLogs {
		meta[sdk.MetaKeyLogLevel] = "debug"
	}
	s.mu.Lock() // progress notifications after the end of a call are still attributed to it
	if !slices.Contains(s.calls, r.Call) {
		s.calls = remember(s.calls, r.Call)
	}
	s.mu.Unlock()
	out := &outgoing{call: r.Call, round: r.Round, actor: r.Actor, ctx: ctx, spoilt: r.Spoilt}
	reply, err := s.send(ticket, out, func() (err error) {
		ctx := context.WithValue(ctx, membersKey{}, r.members())
		switch r.Kind {
		case conversation.Tool:
			_, err = s.sdk.CallTool(ctx, &sdk.CallToolParams{Meta: meta, Name: r.Key, Arguments: r.Arguments})
		case conversation.Prompt:
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
	key := rawjson.AppendQuoted(nil, r.Key)
	var list []Member
	if r.Kind == conversation.Resource || r.Kind == conversation.Template {
		list = append(list, Member{"uri", key})
	} else {
		list = append(list, Member{"name", key})
		if r.Arguments != nil {
			list = append(list, Member{"arguments", r.Arguments})
		}
	}
	if r.Responses != nil {
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

func object(members []Member) json.RawMessage {
	var out rawjson.ObjectWriter
	for _, m := range members {
		out.Add(m.Name, m.Value)
	}
	return out.JSON()
}

// send calls do, which makes the SDK send a request, and returns the response that the
// tap saw; nil with an error if there is none. The tap finds out by the ticket, see
// ticketOf.
func (s *Session) send(ticket string, out *outgoing, do func() error) (*Reply, error) {
	s.mu.Lock()
	s.tickets[ticket] = out
	if out.spoilt != nil {
		s.spoilt[ticket] = out
	}
	s.mu.Unlock()
	err := do()
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.tickets, ticket)
	delete(s.spoilt, ticket)
	s.stop(out)
	if out.reply == nil && err == nil {
		err = errors.New("the response was not seen on the wire")
	}
	return out.reply, err
}

// stop moves a request without a response from s.outgoing to s.stopped. The caller
// holds the mutex.
func (s *Session) stop(out *outgoing) {
	if s.outgoing[out.id] == out {
		delete(s.outgoing, out.id)
		s.stopped = remember(s.stopped, out)
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

// takenBack returns the request that a cancellation from the SDK names; nil if there is
// none. The SDK sends the cancellation after it has given the request up, so takenBack
// also looks in s.stopped.
func (s *Session) takenBack(m wire.Message) *outgoing {
	if m.Method != mcp.NotificationCancelled {
		return nil
	}
	id := string(cancelledID(m.Params))
	s.mu.Lock()
	defer s.mu.Unlock()
	if out := s.outgoing[id]; out != nil {
		return out
	}
	for i := len(s.stopped) - 1; i >= 0; i-- {
		if s.stopped[i].id == id {
			return s.stopped[i]
		}
	}
	return nil
}

// reworded returns a message of the SDK as it is sent. In a cancellation it replaces
// the reason, which the SDK takes from a context's error, with one that people can read
// in a server's log.
func (s *Session) reworded(raw []byte) []byte {
	if !bytes.Contains(raw, []byte(`"`+mcp.NotificationCancelled+`"`)) {
		return raw
	}
	m, err := wire.ParseMessage(raw)
	if err != nil || m.Kind != wire.Notification || m.Method != mcp.NotificationCancelled {
		return raw
	}
	out, id := s.takenBack(m), cancelledID(m.Params)
	var why TakenBack
	if out == nil || out.ctx == nil || !errors.As(context.Cause(out.ctx), &why) {
		s.mu.Lock()
		if s.closing || s.ctx.Err() != nil {
			why = "the client disconnects"
		}
		s.mu.Unlock()
	}
	if why == "" && out != nil && out.listens {
		why = "the client listens to other tasks now, or to none"
	}
	if why == "" || id == nil {
		return raw
	}
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","method":%q,"params":{"requestId":%s,"reason":%q}}`, mcp.NotificationCancelled, id, why)
}

type membersKey struct{}

// exactParams is sending middleware: it replaces the params of a call's request,
// because the SDK's types lose the order of members and drop an empty requestState, and
// those of a subscription to tasks, because they have no place for tasks.
func exactParams(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		members, ok := ctx.Value(membersKey{}).([]Member)
		if !ok || !mcp.AsksForInput(method) && !mcp.IsTask(method) {
			if members = listening(req); members == nil {
				return next(ctx, method, req)
			}
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

// ticketOf returns the key under which s.tickets holds one of our requests: the
// progress token for a call and for what a fault sends about a task, the method for a
// list, that and the task for other requests about a task; "" for other messages.
func ticketOf(m wire.Message) string {
	token := rawjson.Text(rawjson.Member(m.Params, "_meta", "progressToken"))
	if mcp.AsksForInput(m.Method) || mcp.IsTask(m.Method) && token != "" {
		return token // a message without a token is no request of a call
	}
	if mcp.IsList(m.Method) {
		return m.Method
	}
	if mcp.IsTask(m.Method) {
		return taskTicket(m.Method, rawjson.Text(rawjson.Member(m.Params, "taskId")))
	}
	return ""
}

// callOf returns the call and round in the progress token of a notification; 0, 0 if
// this session has sent no such token.
func (s *Session) callOf(params json.RawMessage) (call, round int) {
	var p struct {
		Token string `json:"progressToken"`
	}
	if json.Unmarshal(params, &p) != nil || !strings.HasPrefix(p.Token, tokenStart) {
		return 0, 0
	}
	if n, err := fmt.Sscanf(p.Token, tokenStart+"%d-%d", &call, &round); n != 2 || err != nil {
		return 0, 0
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Contains(s.calls, call) {
		return 0, 0
	}
	return call, round
}
