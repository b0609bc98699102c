package target

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"elicitation-inspector/bridge/wire"
)

// tap is where every unit passes on its way between the server and the SDK.
type tap struct {
	observer Observer
	max      int64
	outgoing func([]byte) []byte // nil: messages go out as the SDK has written them
}

// leaving is a message of the SDK's as it is to be written.
func (t *tap) leaving(raw []byte) []byte {
	raw = restoreID(raw)
	if t.outgoing != nil {
		raw = t.outgoing(raw)
	}
	return raw
}

// sending shows the observer what is about to be written. The unit returned is
// for undelivered.
func (t *tap) sending(u Unit) (Unit, bool) {
	u.Dir, u.Size = wire.ClientToServer, int64(len(u.Raw))
	m, err := wire.ParseMessage(u.Raw)
	u.Message, u.Noise = m, err != nil
	return u, t.observer.Sent(u)
}

func (t *tap) undelivered(u Unit, err error) { t.observer.Undelivered(u, err) }

// note tells the observer of something that is no failure.
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

// none stands for no request.
var none wire.Message

// noteOf is a note of a response.
func noteOf(resp *http.Response, n wire.Note) wire.Frame {
	return wire.Frame{Note: &n, Header: resp.Header, Status: resp.StatusCode, HTTPMethod: resp.Request.Method}
}

// noise shows the observer bytes that are no message where they stand.
func (t *tap) noise(u Unit, k kept) {
	u.Raw, u.Size, u.Truncated = k.head, k.size, !k.whole()
	u.Dir, u.Noise = wire.ServerToClient, true
	t.observer.Received(u)
}

// offer shows the observer what has come, and returns what it gives for it with
// its envelope: nil for nothing. The unit is returned as it was shown.
func (t *tap) offer(u Unit, k kept) (Unit, []byte, wire.Message) {
	u.Dir, u.Raw, u.Size = wire.ServerToClient, k.head, k.size
	if !k.whole() {
		return t.offerHead(u, k)
	}
	m, err := wire.ParseMessage(u.Raw)
	if err != nil {
		u.Noise = true
		t.observer.Received(u)
		return u, nil, m
	}
	u.Message = m
	given := t.observer.Received(u)
	deliver := bytes.Trim(given, " \t\r\n")
	switch {
	case len(deliver) == 0:
		return u, nil, m
	case len(given) == len(u.Raw) && &given[0] == &u.Raw[0]:
		return u, deliver, m
	}
	if m, err = wire.ParseMessage(deliver); err != nil {
		return t.instead(u, "what is given for it is no message: "+err.Error())
	}
	return u, deliver, m
}

// offerHead handles a message that is over the limit.
func (t *tap) offerHead(u Unit, k kept) (Unit, []byte, wire.Message) {
	u.Truncated = true
	m, ok := envelope(k.head, k.end())
	u.Message, u.Noise = m, !ok
	t.observer.Received(u)
	if !ok {
		return u, nil, m
	}
	return t.instead(u, fmt.Sprintf("the message of %d bytes is over the limit of %d bytes for one message", u.Size, t.max))
}

// instead gives a fault in place of a response that the SDK cannot be given, so
// that the call ends. Requests and notifications are left out.
func (t *tap) instead(u Unit, why string) (Unit, []byte, wire.Message) {
	t.failure(none, wire.Frame{Note: &wire.Note{Kind: wire.NoteNotPassedOn, Why: why}})
	id := answers(u)
	if id == nil {
		return u, nil, wire.Message{}
	}
	raw := faultFor(id, Fault{Text: why})
	m, err := wire.ParseMessage(raw)
	if err != nil {
		return u, nil, m
	}
	return u, raw, m
}

// answers is the id of the request that a response answers, nil if it is none. A
// response to a POST may lack it.
func answers(u Unit) json.RawMessage {
	switch {
	case !u.Message.Kind.IsResponse():
		return nil
	case u.Message.ID != nil:
		return u.Message.ID
	default:
		return u.Related
	}
}

// message is offer for a connection that hands messages to the SDK. It returns
// nil where the SDK is given nothing.
func (t *tap) message(u Unit, k kept) jsonrpc.Message {
	u, deliver, m := t.offer(u, k)
	if deliver == nil {
		return nil
	}
	msg, err := messageOf(m)
	if err == nil {
		return msg
	}
	if _, deliver, m = t.instead(u, fmt.Sprintf("the message cannot be read: %v", err)); deliver == nil {
		return nil
	}
	if msg, err = messageOf(m); err != nil {
		return nil // an id that no request of ours has
	}
	return msg
}

// bytes is offer for a connection of the SDK's own, which reads them itself and
// ends the session over what it cannot read. The envelope is of what has come.
func (t *tap) bytes(u Unit, k kept) ([]byte, wire.Message) {
	u, deliver, m := t.offer(u, k)
	if deliver == nil {
		return nil, u.Message
	}
	var err error
	switch {
	case m.Kind.IsResponse() && m.ID == nil:
		m.ID = u.Related
		deliver, err = encode(m)
	case m.Kind == wire.Request && !plainID(m.ID):
		deliver, err = encode(m)
	default:
		_, err = jsonrpc.DecodeMessage(deliver)
	}
	if err != nil {
		_, deliver, _ = t.instead(u, fmt.Sprintf("the message cannot be read: %v", err))
	}
	return deliver, u.Message
}

// encode writes an envelope as the SDK does.
func encode(m wire.Message) ([]byte, error) {
	msg, err := messageOf(m)
	if err != nil {
		return nil, err
	}
	return jsonrpc.EncodeMessage(msg)
}

// fault is a fault as the SDK reads it, nil if the id is none of its own.
func (t *tap) fault(id json.RawMessage, f Fault) jsonrpc.Message {
	msg, err := jsonrpc.DecodeMessage(faultFor(id, f))
	if err != nil {
		return nil
	}
	return msg
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
// server which counts in nanoseconds gets its answers under another id, and it
// escapes texts in its own way. To a request whose id it would not send back as
// it is it is given a text that stands for it, and restoreID puts the exact
// bytes back into the response.
const idPrefix = "elicitation-inspector-id:"

var responseWithID = []byte(`{"jsonrpc":"2.0","id":"` + idPrefix)

// idOf is the SDK's id for the one of the envelope.
func idOf(m wire.Message) (jsonrpc.ID, error) {
	switch {
	case m.ID == nil:
		return jsonrpc.ID{}, nil
	case m.Kind == wire.Request && !plainID(m.ID):
		return jsonrpc.MakeID(idPrefix + string(m.ID))
	case m.ID[0] == '"':
		var s string
		if err := json.Unmarshal(m.ID, &s); err != nil {
			return jsonrpc.ID{}, fmt.Errorf("its id: %w", err)
		}
		return jsonrpc.MakeID(s)
	}
	n, err := strconv.ParseFloat(string(m.ID), 64)
	if err != nil {
		return jsonrpc.ID{}, fmt.Errorf("its id: %w", err)
	}
	return jsonrpc.MakeID(n)
}

// plainID reports whether the SDK would send an id back as it is.
func plainID(id json.RawMessage) bool {
	if id[0] == '"' {
		var text string
		if json.Unmarshal(id, &text) != nil || strings.HasPrefix(text, idPrefix) {
			return false
		}
		again, err := json.Marshal(text) // as the SDK writes it
		return err == nil && bytes.Equal(again, id)
	}
	n, err := strconv.ParseInt(string(id), 10, 64)
	return err == nil && int64(float64(n)) == n && strconv.FormatInt(n, 10) == string(id)
}

// restoreID puts the server's own id into a response that the SDK has encoded.
func restoreID(raw []byte) []byte {
	if !bytes.HasPrefix(raw, responseWithID) {
		return raw
	}
	const start = len(`{"jsonrpc":"2.0","id":`)
	dec := json.NewDecoder(bytes.NewReader(raw[start:]))
	var text string
	if dec.Decode(&text) != nil {
		return raw
	}
	id := text[len(idPrefix):]
	if !json.Valid([]byte(id)) {
		return raw
	}
	out := append(append(make([]byte, 0, len(raw)), raw[:start]...), id...)
	return append(out, raw[start+int(dec.InputOffset()):]...)
}

// The members that stand last in a message, as many servers write it. They are
// the message's own, since the last brace of all closes that.
var (
	idAtEnd      = regexp.MustCompile(`[,{]\s*"id"\s*:\s*(-?\d+|"[^"\\]*")\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$`)
	versionAtEnd = regexp.MustCompile(`[,{]\s*"jsonrpc"\s*:\s*"2\.0"\s*(?:,\s*"id"\s*:\s*(?:-?\d+|"[^"\\]*")\s*)?\}\s*$`)
)

// maxEnvelope is how far into a large message its envelope is looked for.
const maxEnvelope = 64 << 10

// envelope reads as much of a large message's envelope as its two ends tell. It
// reports false if they are not those of a JSON-RPC 2.0 message.
func envelope(head, tail []byte) (wire.Message, bool) {
	var m wire.Message
	is := versionAtEnd.Match(tail)
	if id := idAtEnd.FindSubmatch(tail); id != nil {
		m.ID = id[1]
	}
	dec := json.NewDecoder(bytes.NewReader(head[:min(len(head), maxEnvelope)]))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return wire.Message{}, false
	}
	for {
		key, err := dec.Token()
		if err != nil {
			break
		}
		var value json.RawMessage
		cut := dec.Decode(&value) != nil
		switch key {
		case "jsonrpc":
			is = is || !cut && string(value) == `"2.0"`
		case "id":
			if !cut {
				m.ID = value
			}
		case "method":
			if !cut && json.Unmarshal(value, &m.Method) == nil {
				m.Kind = wire.Notification
			}
		case "result":
			m.Kind = wire.Result
		case "error":
			m.Kind = wire.Error
		}
		if cut {
			break
		}
	}
	if m.Kind == wire.Notification && m.ID != nil {
		m.Kind = wire.Request
	}
	if !is || m.Kind == 0 {
		return wire.Message{}, false
	}
	return m, true
}
