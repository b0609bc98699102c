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

// Fault is an error in place of a response that the SDK cannot be given: the server
// refused the POST, or its response is too large or unreadable. It fails one call, and
// the session stays open. Get it with [FaultOf].
type Fault struct {
	Method string `json:"method,omitempty"` // method of the request without a response
	Status int    `json:"status,omitempty"` // status of the HTTP response, 0 if none
	Text   string `json:"-"`
	// Challenge is the WWW-Authenticate header of the HTTP response.
	Challenge string `json:"challenge,omitempty"`

	cause error
}

func (f *Fault) Error() string { return f.Text }

// Unwrap returns the underlying error, nil if there is none.
func (f *Fault) Unwrap() error { return f.cause }

// Is makes the SDK keep the session open after a fault: it then takes the fault for its
// internal ErrRejected, "rejected by transport".
func (f *Fault) Is(target error) bool {
	rpc, ok := target.(*jsonrpc.Error)
	return ok && rpc.Code == codeRejected
}

const codeRejected = -32005

// FaultOf returns the fault inside an error from the SDK; false if there is none.
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

// faultData is the data of a JSON-RPC error that carries a fault through the SDK.
type faultData struct {
	Fault Fault `json:"elicitation-inspector/fault"`
}

var faultPrefix = []byte(`{"elicitation-inspector/fault":`)

// response returns the fault as a JSON-RPC error in response to the request with this
// id; nil if the SDK cannot have such a request.
func (f *Fault) response(id json.RawMessage) jsonrpc.Message {
	data, err := json.Marshal(faultData{*f})
	if err != nil {
		panic(fmt.Sprintf("encoding a fault: %v", err)) // strings and numbers always encode
	}
	sdkID, err := idOf(wire.Message{ID: id})
	if err != nil || !sdkID.IsValid() {
		return nil
	}
	return &jsonrpc.Response{ID: sdkID, Error: &jsonrpc.Error{Code: mcp.CodeInternalError, Message: f.Text, Data: data}}
}

// droppedText is the error text for the SDK when the observer drops a response.
const droppedText = "the answer was dropped"
