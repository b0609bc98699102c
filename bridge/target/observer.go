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
	// HTTPMethod and URL are those of the request, where Header is a request's or
	// that of the response to a GET; else "". The URL has no user information.
	HTTPMethod, URL string
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
	// Noted has what the inspector notes of the transport: a frame with Note, and
	// as far as they are known Header, Status and HTTPMethod of the HTTP exchange,
	// Failed for what went wrong, and Answers, the id of the request that gets no
	// response because of it.
	Noted(wire.Frame)
}

// Fault is an error that stands in for an answer which the SDK cannot be given:
// the server refused the POST, or its answer is too large or cannot be read.
// It ends the one call, and leaves the session alone. Get it with [FaultOf].
type Fault struct {
	Method string `json:"method,omitempty"` // of the request that has no answer
	Status int    `json:"status,omitempty"` // of the HTTP response, 0 if none
	Text   string `json:"-"`
	// Challenge is the WWW-Authenticate header of the HTTP response.
	Challenge string `json:"challenge,omitempty"`

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

// keptBackText and droppedText are what the SDK is told where the observer keeps
// a request back or drops an answer.
const (
	keptBackText = "the request was kept back"
	droppedText  = "the answer was dropped"
)
