package target

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"elicitation-inspector/bridge/wire"
)

// Unit is one thing that the tap saw: a message, or bytes that are none. Its
// bytes are the observer's to keep, and nobody may change them.
type Unit struct {
	Raw       []byte // exact bytes, without the line's or event's framing
	Dir       wire.Direction
	Noise     bool  // these bytes are no JSON-RPC 2.0 message
	Truncated bool  // Raw is only the head of what is over Options.MaxFrame
	Size      int64 // full size in bytes

	Stream wire.Stream
	// Header are the HTTP headers of the request that carried it, or of the
	// response whose first message it is; nil otherwise.
	Header http.Header
	Status int // status of the HTTP response that carried it, 0 if none
	// Related is the JSON-RPC id of the request whose POST was answered with
	// this; nil for what comes on other streams.
	Related json.RawMessage

	// Message is the parsed envelope: zero for noise, and no more than the head
	// tells where the unit is truncated.
	Message wire.Message
}

// Observer sees every unit before the SDK does. Its methods are called
// concurrently, and hold up the connection until they return.
type Observer interface {
	// Sent is called before the bytes are written. If it returns false they are
	// not: a response or notification then vanishes, a request fails.
	Sent(Unit) bool
	// Received returns what the SDK is given in place of u.Raw: the same bytes,
	// another message, or nil for nothing at all. What it returns for noise and
	// truncated units does not count. The answer to a POST must be something:
	// where a JSON answer is dropped, the SDK is given an error instead.
	Received(u Unit) (deliver []byte)
	// Undelivered follows Sent where the bytes did not reach the server, or the
	// server refused them (HTTP status 400 and above). A request that the server
	// answers with a JSON-RPC error of its own was delivered.
	Undelivered(u Unit, err error)
	// Stderr has one line of the process's standard error, without its end, and
	// its full size in bytes where only its head is kept.
	Stderr(line []byte, truncated bool, size int64)
	// Note has a fact of the transport in words, with the headers and status of
	// the HTTP response if there is one.
	Note(text string, header http.Header, status int)
}

// Fault is an error that stands in for an answer which the SDK cannot be given:
// the server refused the POST, or its answer is too large or cannot be read.
// It ends the one call, and leaves the session alone. Get it with [FaultOf].
type Fault struct {
	Method string `json:"method,omitempty"` // of the request that has no answer
	Status int    `json:"status,omitempty"` // of the HTTP response, 0 if none
	Text   string `json:"-"`

	cause error
}

func (f *Fault) Error() string { return f.Text }

// Unwrap returns what went wrong below, if anything did.
func (f *Fault) Unwrap() error { return f.cause }

// Is makes a fault an error that the SDK does not end the session over: its
// internal ErrRejected, "rejected by transport".
func (f *Fault) Is(target error) bool {
	rpc, ok := target.(*jsonrpc.Error)
	return ok && rpc.Code == codeRejected
}

const codeRejected = -32005

// FaultOf finds the fault in an error that the SDK returned.
func FaultOf(err error) (*Fault, bool) {
	var fault *Fault
	if errors.As(err, &fault) {
		return fault, true
	}
	var rpc *jsonrpc.Error
	if !errors.As(err, &rpc) || !bytes.HasPrefix(rpc.Data, faultPrefix) {
		return nil, false
	}
	var data faultData
	if json.Unmarshal(rpc.Data, &data) != nil {
		return nil, false
	}
	data.Fault.Text = rpc.Message
	return &data.Fault, true
}

// faultData marks a JSON-RPC error as ours on its way through the SDK.
type faultData struct {
	Fault Fault `json:"elicitation-inspector/fault"`
}

var faultPrefix = []byte(`{"elicitation-inspector/fault":`)

// faultFor is a fault as a JSON-RPC error that answers the request with this id.
func faultFor(id json.RawMessage, f Fault) []byte {
	if len(id) == 0 {
		id = json.RawMessage(`"none"`) // the SDK reads no error without an id
	}
	raw, err := json.Marshal(struct {
		JSONRPC string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   any             `json:"error"`
	}{"2.0", id, struct {
		Code    int       `json:"code"`
		Message string    `json:"message"`
		Data    faultData `json:"data"`
	}{jsonrpc.CodeInternalError, f.Text, faultData{f}}})
	if err != nil {
		panic(fmt.Sprintf("encoding a fault: %v", err)) // id is valid JSON, the rest cannot fail
	}
	return raw
}

// tap is where every unit passes on its way between the server and the SDK.
type tap struct {
	observer Observer
	max      int64
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

func (t *tap) note(header http.Header, status int, format string, args ...any) {
	t.observer.Note(fmt.Sprintf(format, args...), header, status)
}

const keptBackText = "the request was kept back"

// keptBack is what the SDK is given where the observer kept a request back.
func (t *tap) keptBack(u Unit) ([]byte, jsonrpc.Message) {
	if u.Message.Kind != wire.Request {
		return nil, nil
	}
	return t.fault(u.Message, Fault{Text: keptBackText})
}

// received shows the observer what has come, and returns what the SDK is to be
// given for it, as bytes and as the SDK reads them: nil if nothing. It is nothing
// that the SDK would end the session over.
func (t *tap) received(u Unit) ([]byte, jsonrpc.Message) {
	u.Dir = wire.ServerToClient
	if u.Truncated = u.Size > int64(len(u.Raw)); u.Truncated {
		return t.receivedHead(u)
	}
	m, err := wire.ParseMessage(u.Raw)
	if err != nil {
		u.Noise = true
		t.observer.Received(u)
		return nil, nil
	}
	u.Message = m
	deliver := bytes.Trim(t.observer.Received(u), " \t\r\n")
	if len(deliver) == 0 {
		return nil, nil
	}
	msg, err := jsonrpc.DecodeMessage(deliver)
	if err == nil {
		return deliver, msg
	}
	return t.substitute(m, fmt.Sprintf("the message cannot be read: %v", err))
}

// broken shows the observer bytes that are no message where they stand.
func (t *tap) broken(u Unit) {
	u.Dir, u.Noise, u.Truncated = wire.ServerToClient, true, u.Size > int64(len(u.Raw))
	t.observer.Received(u)
}

// receivedHead handles a unit that is over the limit.
func (t *tap) receivedHead(u Unit) ([]byte, jsonrpc.Message) {
	m, ok := envelope(u.Raw)
	u.Message, u.Noise = m, !ok
	t.observer.Received(u)
	if !ok {
		return nil, nil
	}
	if m.ID == nil && m.Kind.IsResponse() {
		m.ID = u.Related
	}
	return t.substitute(m, fmt.Sprintf("the message of %d bytes is over the limit of %d bytes for one message", u.Size, t.max))
}

// substitute gives the SDK a fault in place of a response that it cannot be
// given, so that the call ends. Requests and notifications are left out.
func (t *tap) substitute(m wire.Message, why string) ([]byte, jsonrpc.Message) {
	t.note(nil, 0, "not passed on: %s", why)
	if !m.Kind.IsResponse() || m.ID == nil {
		return nil, nil
	}
	return t.fault(m, Fault{Text: why})
}

// fault is an answer with the id of m.
func (t *tap) fault(m wire.Message, f Fault) ([]byte, jsonrpc.Message) {
	f.Method = m.Method
	raw := faultFor(m.ID, f)
	msg, err := jsonrpc.DecodeMessage(raw)
	if err != nil {
		return nil, nil // an id that no request of ours can have
	}
	return raw, msg
}

// envelope reads as much of a message's envelope as its head tells. It reports
// false if the head does not begin a JSON-RPC 2.0 message.
func envelope(head []byte) (wire.Message, bool) {
	var m wire.Message
	dec := json.NewDecoder(bytes.NewReader(head))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return m, false
	}
	is := false
	for {
		key, err := dec.Token()
		if err != nil {
			break
		}
		var value json.RawMessage
		cut := dec.Decode(&value) != nil
		switch key {
		case "jsonrpc":
			if cut || string(value) != `"2.0"` {
				return m, false
			}
			is = true
		case "id":
			if !cut {
				m.ID = value
			}
		case "method":
			if !cut && json.Unmarshal(value, &m.Method) != nil {
				return m, false
			}
			if m.Kind = wire.Notification; m.ID != nil {
				m.Kind = wire.Request
			}
		case "result":
			m.Kind = wire.Result
		case "error":
			m.Kind = wire.Error
		}
		if m.Kind == wire.Notification && m.ID != nil {
			m.Kind = wire.Request
		}
		if cut {
			break
		}
	}
	return m, is
}
