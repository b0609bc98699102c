//lint:file-ignore SA1019 2026-07-28 deprecates logging, and servers of every revision still use it.

package session

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"elicitation-inspector/bridge/catalog"
	"elicitation-inspector/bridge/mcp"
	"elicitation-inspector/bridge/rawjson"
	"elicitation-inspector/bridge/target"
	"elicitation-inspector/bridge/wire"
)

// outgoing is a request of ours that the server has not answered.
type outgoing struct {
	id          string // exact; "" before it is sent
	method      string
	call, round int             // 0 if it belongs to none
	actor       string          // who made the answers that it carries
	ctx         context.Context // ends where the request is taken back
	reply       *Reply          // the response, once it came
	told        bool            // the server was told that it is taken back
	spoilt      *Spoilt         // nil where it goes out as it should
	sdkID       json.RawMessage // the id that the SDK knows it by, where it went out under another one
}

// Reply is a response as it was on the wire.
type Reply struct {
	Seq      int64
	Question int // number of the first question that it asks, 0 for none
	Message  wire.Message
}

// Request is one request of a call.
type Request struct {
	Call, Round int
	Kind        catalog.Kind
	Key         string // tool or prompt name, resource URI
	Arguments   json.RawMessage
	Responses   []Member        // inputResponses, in their order; nil leaves them out
	State       json.RawMessage // requestState, exact; nil leaves it out
	Actor       string          // who made the responses; "" if not one alone
	Spoilt      *Spoilt         // how it is wrong on purpose; nil if it is not
}

// Member is one member of an object.
type Member struct {
	Name  string
	Value json.RawMessage
}

// TakenBack is why the context of a request ends, in words for the server.
type TakenBack string

func (t TakenBack) Error() string { return string(t) }

// tokenStart begins the progress tokens of calls, under which their requests are
// known when they go out.
const tokenStart = "call-"

// RoundTrip sends one request of a call and returns the response as it was on
// the wire, be it a result or an error. Its own error means that there is none.
func (s *Session) RoundTrip(ctx context.Context, r Request) (Reply, error) {
	ticket := fmt.Sprintf("%s%d-%d", tokenStart, r.Call, r.Round)
	meta := sdk.Meta{"progressToken": ticket}
	if s.modern() {
		meta[sdk.MetaKeyLogLevel] = "debug"
	}
	s.knows(r.Call)
	out := &outgoing{call: r.Call, round: r.Round, actor: r.Actor, ctx: ctx, spoilt: r.Spoilt}
	reply, err := s.send(ticket, out, func() (err error) {
		ctx := context.WithValue(ctx, membersKey{}, r.members())
		switch r.Kind {
		case catalog.Tool:
			_, err = s.sdk.CallTool(ctx, &sdk.CallToolParams{Meta: meta, Name: r.Key, Arguments: r.Arguments})
		case catalog.Prompt:
			_, err = s.sdk.GetPrompt(ctx, &sdk.GetPromptParams{Meta: meta, Name: r.Key})
		default:
			_, err = s.sdk.ReadResource(ctx, &sdk.ReadResourceParams{Meta: meta, URI: r.Key})
		}
		return err
	})
	if reply != nil {
		return *reply, nil
	}
	if fault, ok := target.FaultOf(err); ok {
		err = fault
	}
	return Reply{}, s.explainLoss(ctx, err)
}

// knows remembers that a call makes requests here, so that its late progress is
// recognized.
func (s *Session) knows(call int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Contains(s.calls, call) {
		s.calls = remember(s.calls, call)
	}
}

// members are those of the params, after _meta.
func (r Request) members() []Member {
	key := rawjson.AppendQuoted(nil, r.Key)
	var list []Member
	if r.Kind == catalog.Resource || r.Kind == catalog.Template {
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
	return list
}

// object writes members as a JSON object, in their order.
func object(members []Member) json.RawMessage {
	out := []byte("{")
	for i, m := range members {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(rawjson.AppendQuoted(out, m.Name), ':')
		out = append(out, m.Value...)
	}
	return append(out, '}')
}

// send makes the SDK send a request, which the tap knows by its ticket, and returns
// the response that the tap saw; nil if there is none.
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

// stop ends that a request without a response waits for one. The mutex is held.
func (s *Session) stop(out *outgoing) {
	if s.outgoing[out.id] == out {
		delete(s.outgoing, out.id)
		s.stopped = remember(s.stopped, out)
	}
}

// running are the requests of calls that wait for a response.
func (s *Session) running() []*outgoing {
	s.mu.Lock()
	defer s.mu.Unlock()
	var running []*outgoing
	for _, out := range s.outgoing {
		if out.call != 0 {
			running = append(running, out)
		}
	}
	return running
}

// takenBack finds the request that a cancellation of ours names; nil if there is
// none. The SDK sends the cancellation once the request is over for us.
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

// reworded is a message of the SDK's as it goes out. The SDK says why it cancels
// a request in the words of a context; people who read a server's log want ours.
func (s *Session) reworded(raw []byte) []byte {
	if !bytes.Contains(raw, []byte(`"`+mcp.NotificationCancelled+`"`)) {
		return raw
	}
	m, err := wire.ParseMessage(raw)
	if err != nil || m.Kind != wire.Notification || m.Method != mcp.NotificationCancelled {
		return raw
	}
	reason, id := s.cancelReason(s.takenBack(m)), cancelledID(m.Params)
	if reason == "" || id == nil {
		return raw
	}
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","method":%q,"params":{"requestId":%s,"reason":%q}}`, mcp.NotificationCancelled, id, reason)
}

// cancelReason says why we take a request back, "" where nothing is known.
func (s *Session) cancelReason(out *outgoing) string {
	var why TakenBack
	if out != nil && out.ctx != nil && errors.As(context.Cause(out.ctx), &why) {
		return string(why)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing || s.ctx.Err() != nil {
		return "the client disconnects"
	}
	return ""
}

type membersKey struct{}

// exactParams is sending middleware: it replaces the params of a call's request,
// because the SDK's own types lose the order of members, and an empty requestState.
func exactParams(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		members, ok := ctx.Value(membersKey{}).([]Member)
		if !ok || !mcp.AsksForInput(method) {
			return next(ctx, method, req)
		}
		meta := req.GetParams().GetMeta()
		metaJSON, err := json.Marshal(meta)
		if err != nil {
			return nil, fmt.Errorf("encoding _meta: %w", err)
		}
		session, ok := req.GetSession().(*sdk.ClientSession)
		if !ok {
			return nil, fmt.Errorf("%s: not a client's session", method)
		}
		raw := object(append([]Member{{"_meta", metaJSON}}, members...))
		return next(ctx, method, &sdk.ClientRequest[*rawParams]{
			Session: session,
			Params:  &rawParams{ParamsBase: sdk.ParamsBase{Meta: meta}, raw: raw},
		})
	}
}

// rawParams are params whose JSON is given byte for byte.
type rawParams struct {
	sdk.ParamsBase
	raw json.RawMessage
}

// MarshalJSON returns the exact bytes.
func (p *rawParams) MarshalJSON() ([]byte, error) { return p.raw, nil }

// ticketOf is what tells one of our requests when it goes out: the progress token
// of a call's, the method of a list's.
func ticketOf(m wire.Message) string {
	if mcp.AsksForInput(m.Method) {
		var p struct {
			Meta struct {
				Token string `json:"progressToken"`
			} `json:"_meta"`
		}
		// What has no token is none of ours.
		_ = json.Unmarshal(m.Params, &p)
		return p.Meta.Token
	}
	if _, ok := catalog.ListOf(m.Method); ok {
		return m.Method
	}
	return ""
}

// callOf finds the call and round that the progress token of a notification names.
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
