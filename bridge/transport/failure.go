package transport

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"elicitation-inspector/bridge/mcp"
	"elicitation-inspector/bridge/wire"
)

// Failure is an error in place of a response that the SDK cannot be given: the server
// refused the POST, or its response is too large or unreadable. It fails one call, and
// the session stays open. Get it with [FailureOf].
type Failure struct {
	Method string `json:"method,omitempty"` // method of the request without a response
	Status int    `json:"status,omitempty"` // status of the HTTP response, 0 if none
	Text   string `json:"-"`
	// Challenge is the WWW-Authenticate header of the HTTP response.
	Challenge string `json:"challenge,omitempty"`

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
	sdkID, err := idOf(wire.Message{ID: id})
	if err != nil || !sdkID.IsValid() {
		return nil
	}
	return &jsonrpc.Response{ID: sdkID, Error: &jsonrpc.Error{Code: mcp.CodeInternalError, Message: f.Text, Data: data}}
}

// droppedText is the error text for the SDK when the observer drops a response.
const droppedText = "the answer was dropped"
