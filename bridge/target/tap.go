package target

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"elicitation-inspector/bridge/wire"
)

// tap is where every unit passes on its way between the server and the SDK.
type tap struct {
	observer Observer
	max      int64
	outgoing func([]byte) Outgoing // nil: messages go out as the SDK has written them
}

// leaving is a message of the SDK's as it is to be written.
func (t *tap) leaving(raw []byte) Outgoing {
	raw = restoreID(raw)
	if t.outgoing != nil {
		return t.outgoing(raw)
	}
	return Outgoing{Frame: wire.Frame{Raw: raw}}
}

// sending shows the observer what is about to be written, unless it was shown
// before, and reports whether it is to be. Where a request is kept back, the error
// is what it fails with. The unit returned is for Undelivered.
func (t *tap) sending(u Unit, again bool) (Unit, bool, error) {
	u.Dir, u.Size = wire.ClientToServer, int64(len(u.Raw))
	m, _ := wire.ParseMessage(u.Raw)
	u.Message, u.Kind = m, cmp.Or(m.Kind, wire.Noise)
	switch {
	case again || t.observer.Sent(u):
		return u, true, nil
	case m.Kind == wire.Request:
		return u, false, &Fault{Method: m.Method, Text: "the request was kept back"}
	default:
		return u, false, nil
	}
}

func (t *tap) note(n wire.Note) { t.observer.Noted(wire.Frame{Note: &n}) }

// failure tells the observer of what went wrong. request is the one that gets no
// response because of it; anything else than a request stands for none.
func (t *tap) failure(request wire.Message, f wire.Frame) {
	f.Failed = true
	if request.Kind == wire.Request {
		f.Answers = request.ID
	}
	t.observer.Noted(f)
}

// noRequest stands for no request.
var noRequest wire.Message

// noteOf is a note of a response.
func noteOf(resp *http.Response, n wire.Note) wire.Frame {
	return wire.Frame{Note: &n, Header: resp.Header, Status: resp.StatusCode, HTTPMethod: resp.Request.Method}
}

// show shows the observer what has come, as it is and with the envelope that was
// found in it, zero for noise. It returns what the observer gives for it.
func (t *tap) show(u Unit, k kept, m wire.Message) (Unit, []byte) {
	u.Dir, u.Raw, u.Size, u.Truncated = wire.ServerToClient, k.head, k.size, !k.whole()
	u.Message, u.Kind = m, cmp.Or(m.Kind, wire.Noise)
	// The answer to a POST ends its request without being a response to it where it
	// is no message, has no id, or is a refusal with another id.
	refused := u.Status >= 300 && !bytes.Equal(m.ID, u.Related)
	if u.Stream == wire.StreamPost && (u.Kind == wire.Noise || refused || m.Kind.IsResponse() && m.ID == nil) {
		u.Answers = u.Related
	}
	return u, t.observer.Received(u)
}

// receive shows the observer what has come. It returns the envelope of that, and
// what the SDK is given for it: nil for nothing.
func (t *tap) receive(u Unit, k kept) (wire.Message, jsonrpc.Message) {
	parse := wire.ParseMessage
	if !k.whole() {
		parse = func(head []byte) (wire.Message, error) { return wire.ParseEnds(head, k.end()) }
	}
	came, err := parse(k.head)
	u, given := t.show(u, k, came)
	m := came
	switch {
	case err != nil:
		return noRequest, nil
	case u.Truncated:
		return came, t.instead(u, fmt.Sprintf("the message of %d bytes is over the limit of %d bytes for one message", u.Size, t.max))
	case len(given) == 0:
		return came, nil
	case len(given) != len(u.Raw) || &given[0] != &u.Raw[0]:
		if m, err = wire.ParseMessage(given); err != nil {
			return came, t.instead(u, "what is given for it is no message: "+err.Error())
		}
	}
	if m.Kind.IsResponse() && m.ID == nil {
		m.ID = u.Related // the response to a POST may lack it
	}
	msg, err := messageOf(m)
	if err != nil {
		msg = t.instead(u, fmt.Sprintf("the message cannot be read: %v", err))
	}
	return came, msg
}

// instead gives a fault in place of a response that the SDK cannot be given, so
// that the call ends. Requests and notifications are left out.
func (t *tap) instead(u Unit, why string) jsonrpc.Message {
	t.failure(noRequest, wire.Frame{Note: &wire.Note{Kind: wire.NoteNotPassedOn, Why: why}})
	if !u.Message.Kind.IsResponse() {
		return nil
	}
	id := u.Message.ID
	if id == nil {
		id = u.Related
	}
	return (&Fault{Text: why}).response(id)
}

// bytes is receive for a connection of the SDK's own, which reads messages itself.
func (t *tap) bytes(u Unit, k kept) (wire.Message, []byte) {
	m, msg := t.receive(u, k)
	return m, encoded(msg)
}

// encoded is a message as the SDK reads it; nil for none.
func encoded(msg jsonrpc.Message) []byte {
	if msg == nil {
		return nil
	}
	raw, err := jsonrpc.EncodeMessage(msg)
	if err != nil {
		panic(fmt.Sprintf("encoding a message: %v", err)) // its parts are valid JSON
	}
	return raw
}

// messageOf makes the SDK's message of an envelope, without the work that
// reading it anew would be.
func messageOf(m wire.Message) (jsonrpc.Message, error) {
	id, err := idOf(m)
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

// The SDK keeps a number as an int64 that it has read as a float64, so that a
// server which counts in nanoseconds would get its answers under another id, and
// it escapes texts in its own way. So it is given a text in place of the id of a
// server's request, and restoreID puts the exact bytes back into the response.
const idPrefix = "elicitation-inspector-id:"

// idOf is the SDK's id for the one of the envelope.
func idOf(m wire.Message) (jsonrpc.ID, error) {
	switch {
	case m.ID == nil:
		return jsonrpc.ID{}, nil
	case m.Kind == wire.Request:
		return jsonrpc.MakeID(idPrefix + string(m.ID))
	}
	var id any
	if err := json.Unmarshal(m.ID, &id); err != nil {
		return jsonrpc.ID{}, fmt.Errorf("its id: %w", err)
	}
	return jsonrpc.MakeID(id)
}

// restoreID puts the server's own id into a response that the SDK has encoded.
func restoreID(raw []byte) []byte {
	const start = `{"jsonrpc":"2.0","id":`
	if !bytes.HasPrefix(raw, []byte(start+`"`+idPrefix)) {
		return raw
	}
	dec := json.NewDecoder(bytes.NewReader(raw[len(start):]))
	var text string
	if dec.Decode(&text) != nil {
		return raw
	}
	id := text[len(idPrefix):]
	if !json.Valid([]byte(id)) {
		return raw
	}
	return slices.Concat([]byte(start), []byte(id), raw[len(start)+int(dec.InputOffset()):])
}
