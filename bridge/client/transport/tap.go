package transport

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/wire"
	"elicitation-inspector/bridge/wire/lines"
)

// tap passes every unit between the server and the SDK through the observer.
type tap struct {
	observer Observer
	max      int64
	outgoing func(context.Context, []byte) Outgoing // nil: messages are sent as the SDK encoded them
}

// replacement returns the message to write for a message that the SDK has encoded.
func (t *tap) replacement(ctx context.Context, raw []byte) Outgoing {
	if sent, is := ctx.Value(sentKey{}).(Outgoing); is {
		return sent
	}
	if t.outgoing != nil {
		return t.outgoing(ctx, raw)
	}
	return Outgoing{Frame: wire.Frame{Raw: raw}}
}

// sending shows the observer a unit before it is written, unless again is set because
// the observer has seen it, and reports whether it is to be written. If the observer
// keeps back a request, the error is a [Failure]. The returned unit is for Undelivered.
func (t *tap) sending(ctx context.Context, u Tapped, again bool) (Tapped, bool, error) {
	u.Raw = slices.Clip(u.Raw) // so that an append to it elsewhere copies it
	u.Dir, u.Size = wire.ClientToServer, int64(len(u.Raw))
	m, _ := wire.ParseMessage(u.Raw)
	u.Message, u.Kind = m, cmp.Or(m.Kind, wire.Noise)
	switch {
	case again || t.observer.Sending(ctx, u):
		return u, true, nil
	case m.Kind == wire.Request:
		return u, false, &Failure{Method: m.Method, Text: "the request was kept back"}
	default:
		return u, false, nil
	}
}

func (t *tap) note(n wire.Note) { t.observer.Noted(wire.Frame{Note: &n}) }

// failure passes a note about a failure to the observer. If request is a request, it
// gets no response because of the failure.
func (t *tap) failure(request wire.Message, f wire.Frame) {
	f.Failed = true
	if request.Kind == wire.Request {
		f.Answers = request.ID
	}
	t.observer.Noted(f)
}

// noRequest is the zero message, for a failure that leaves no request without a
// response.
var noRequest wire.Message

func noteOf(resp *http.Response, n wire.Note) wire.Frame {
	return wire.Frame{Note: &n, Header: resp.Header, Status: resp.StatusCode, HTTPMethod: resp.Request.Method}
}

// show passes received bytes to the observer as they are, with the message parsed from
// them, zero for noise. It returns the unit, and the bytes that the observer gives for
// the SDK.
func (t *tap) show(u Tapped, k lines.Clipped, m wire.Message) (Tapped, []byte) {
	k.Into(&u.Frame)
	u.Dir = wire.ServerToClient
	u.Message, u.Kind = m, cmp.Or(m.Kind, wire.Noise)
	// Unless it is the JSON-RPC response, the body of the HTTP response to a POST ends
	// the request as well: if it is not a message, has no id, or is a refusal with another
	// id.
	refused := u.Status >= 300 && !bytes.Equal(m.ID, u.Related)
	if u.Stream == wire.StreamPost && (u.Kind == wire.Noise || refused || m.Kind.IsResponse() && m.ID == nil) {
		u.Answers = u.Related
	}
	return u, t.observer.Received(u)
}

// receive passes received bytes to the observer. It returns the message parsed from
// them, and the message for the SDK, nil for none.
func (t *tap) receive(u Tapped, k lines.Clipped) (wire.Message, jsonrpc.Message) {
	if mark := len(wire.ByteOrderMark); bytes.HasPrefix(k.Head, []byte(wire.ByteOrderMark)) && len(k.Head) > mark {
		t.show(Tapped{Frame: wire.Frame{Stream: u.Stream}}, lines.Clipped{Head: k.Head[:mark:mark], Size: int64(mark)}, noRequest) // noise before the message
		k.Head, k.Size = k.Head[mark:], k.Size-int64(mark)
	}
	parse := wire.ParseMessage
	if !k.Whole() {
		parse = func(head []byte) (wire.Message, error) { return wire.ParseEnds(head, k.End()) }
	}
	came, err := parse(k.Head)
	u, given := t.show(u, k, came)
	m := came
	switch {
	case err != nil:
		return noRequest, nil
	case u.Unread():
		return came, t.notPassedOn(u, t.notTaken(&u.Frame))
	case len(given) == 0:
		return came, nil
	case len(given) != len(u.Raw) || &given[0] != &u.Raw[0]:
		if m, err = wire.ParseMessage(given); err != nil {
			return came, t.notPassedOn(u, "what is given for it is not a message: "+err.Error())
		}
		if m.TooDeep {
			return came, t.notPassedOn(u, "what is given for it: "+wire.TooDeep)
		}
	}
	if m.Kind.IsResponse() && m.ID == nil {
		m.ID = u.Related // the response to a POST may omit its id
	}
	msg, err := messageOf(m)
	if err != nil {
		msg = t.notPassedOn(u, fmt.Sprintf("the message cannot be read: %v", err))
	}
	return came, msg
}

// notTaken says that a bound of the inspector's keeps it from taking a message.
func (t *tap) notTaken(f *wire.Frame) string {
	if f.Truncated {
		return fmt.Sprintf("the inspector does not take the message: its %d bytes are over the limit of %d bytes for one message (--max-frame)", f.Size, t.max)
	}
	return "the inspector does not take the message: " + f.Bound()
}

// notPassedOn notes why a message is not passed on. For a response, it returns a failure in
// its place, so that the call ends; for requests and notifications it returns nil.
func (t *tap) notPassedOn(u Tapped, why string) jsonrpc.Message {
	t.failure(noRequest, wire.Frame{Note: &wire.Note{Kind: wire.NoteNotPassedOn, Why: why}})
	if !u.Message.Kind.IsResponse() {
		return nil
	}
	id := u.Message.ID
	if id == nil {
		id = u.Related
	}
	return (&Failure{Text: why}).response(id)
}

// bytes is like receive, for those connections of the SDK that parse messages
// themselves.
func (t *tap) bytes(u Tapped, k lines.Clipped) (wire.Message, []byte) {
	m, msg := t.receive(u, k)
	return m, encoded(msg)
}

// encoded returns the JSON of a message; nil for nil.
func encoded(msg jsonrpc.Message) []byte {
	if msg == nil {
		return nil
	}
	raw, err := jsonrpc.EncodeMessage(msg)
	if err != nil {
		panic(fmt.Sprintf("encoding a message: %v", err)) // all parts are valid JSON
	}
	return raw
}

// messageOf converts a parsed message to the SDK's type, without parsing it again.
func messageOf(m wire.Message) (jsonrpc.Message, error) {
	id, err := idOf(m.ID)
	if err != nil {
		return nil, err
	}
	switch m.Kind {
	case wire.Request, wire.Notification:
		return &jsonrpc.Request{ID: id, Method: m.Method, Params: m.Params}, nil
	case wire.Result:
		return &jsonrpc.Response{ID: id, Result: m.Result}, nil
	case wire.Error:
		if !id.IsValid() {
			return nil, errors.New("it answers no request")
		}
		var e jsonrpc.Error
		if err := json.Unmarshal(m.Error, &e); err != nil {
			return nil, fmt.Errorf("its error: %w", err)
		}
		return &jsonrpc.Response{ID: id, Error: &e}, nil
	default:
		return nil, fmt.Errorf("it is a %v", m.Kind)
	}
}

// idOf returns the SDK's id for the id of a message.
func idOf(raw json.RawMessage) (jsonrpc.ID, error) {
	var id any
	if raw == nil {
		return jsonrpc.ID{}, nil
	}
	if err := json.Unmarshal(raw, &id); err != nil {
		return jsonrpc.ID{}, fmt.Errorf("its id: %w", err)
	}
	return jsonrpc.MakeID(id)
}

// Failure is an error in place of a response that the SDK cannot be given: the server
// refused the POST, or its response is too large or unreadable. It fails one call, and
// the session stays open. Get it with [FailureOf].
type Failure struct {
	Method string `json:"method,omitempty"` // method of the request without a response
	Status int    `json:"status,omitempty"` // status of the HTTP response, 0 if none
	Text   string `json:"-"`
	// Address is the URL of the POST that was refused, "" for none.
	Address string `json:"address,omitempty"`
	// Challenge is the WWW-Authenticate header of the HTTP response.
	Challenge string `json:"challenge,omitempty"`
	// Elsewhere is the host of another origin that answered after a redirect, and which gets
	// none of the headers that are set for the server; "" if the server itself answered.
	Elsewhere string `json:"elsewhere,omitempty"`

	cause error
}

func (f *Failure) Error() string { return f.Text }

// Unwrap returns the underlying error, nil if there is none.
func (f *Failure) Unwrap() error { return f.cause }

// Is makes the SDK keep the session open after a failure: it then takes the failure for its
// internal ErrRejected, "rejected by transport".
func (f *Failure) Is(target error) bool {
	rpc, ok := target.(*jsonrpc.Error)
	return ok && rpc.Code == codeRejected
}

const codeRejected = -32005

// FailureOf returns the failure inside an error from the SDK; false if there is none.
func FailureOf(err error) (*Failure, bool) {
	var failure *Failure
	if errors.As(err, &failure) {
		return failure, true
	}
	var rpc *jsonrpc.Error
	if !errors.As(err, &rpc) || !bytes.HasPrefix(rpc.Data, failurePrefix) {
		return nil, false
	}
	var data failureData
	if json.Unmarshal(rpc.Data, &data) != nil {
		return nil, false
	}
	data.Failure.Text = rpc.Message
	return &data.Failure, true
}

// failureData is the data of a JSON-RPC error that carries a failure through the SDK.
type failureData struct {
	Failure Failure `json:"elicitation-inspector/failure"`
}

var failurePrefix = []byte(`{"elicitation-inspector/failure":`)

// response returns the failure as a JSON-RPC error in response to the request with this
// id; nil if the SDK cannot have such a request.
func (f *Failure) response(id json.RawMessage) jsonrpc.Message {
	data, err := json.Marshal(failureData{*f})
	if err != nil {
		panic(fmt.Sprintf("encoding a failure: %v", err)) // strings and numbers always encode
	}
	sdkID, err := idOf(id)
	if err != nil || !sdkID.IsValid() {
		return nil
	}
	return &jsonrpc.Response{ID: sdkID, Error: &jsonrpc.Error{Code: mcp.CodeInternalError, Message: f.Text, Data: data}}
}

// droppedText is the error text for the SDK when the observer drops a response.
const droppedText = "the answer was dropped"
