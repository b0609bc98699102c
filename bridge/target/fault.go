package target

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"elicitation-inspector/bridge/mcp"
	"elicitation-inspector/bridge/wire"
)

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

// response is the fault as a JSON-RPC error that answers the request with this
// id; nil if the SDK has no such request.
func (f *Fault) response(id json.RawMessage) jsonrpc.Message {
	data, err := json.Marshal(faultData{*f})
	if err != nil {
		panic(fmt.Sprintf("encoding a fault: %v", err)) // it has texts and numbers only
	}
	sdkID, err := idOf(wire.Message{ID: id})
	if err != nil || !sdkID.IsValid() {
		return nil
	}
	return &jsonrpc.Response{ID: sdkID, Error: &jsonrpc.Error{Code: mcp.CodeInternalError, Message: f.Text, Data: data}}
}

// droppedText is what the SDK is told where the observer drops an answer.
const droppedText = "the answer was dropped"
