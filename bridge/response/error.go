package response

import (
	"encoding/json"
	"errors"
	"fmt"

	"elicitation-inspector/bridge/mcp"
)

// RPCError is a JSON-RPC error that came back from a call.
type RPCError struct {
	Code    int64
	Message string
	Data    json.RawMessage // nil if absent
	Problem string          // what is wrong with the error object
	Raw     json.RawMessage
}

// Meaning says what a JSON-RPC error code stands for; "" where nothing is known.
// Sources: JSON-RPC 2.0, section 5.1; MCP specification 2025-11-25 and 2026-07-28.
func (e RPCError) Meaning() string {
	switch e.Code {
	case mcp.CodeParseError:
		return "Parse error: the server could not read the JSON"
	case mcp.CodeInvalidRequest:
		return "Invalid request"
	case mcp.CodeMethodNotFound:
		return "Method not found"
	case mcp.CodeInvalidParams:
		return "Invalid params"
	case mcp.CodeInternalError:
		return "Internal error"
	case mcp.CodeResourceNotFound:
		return "Resource not found"
	case mcp.CodeHeaderMismatch:
		return "Header mismatch: HTTP headers and body disagree"
	case mcp.CodeMissingCapability:
		return "Missing required client capability"
	case mcp.CodeUnsupportedVersion:
		return "Unsupported protocol version"
	case mcp.CodeURLElicitationRequired:
		return "URL elicitation required"
	}
	if e.Code <= -32000 && e.Code >= -32099 {
		return "Server error (reserved for implementations)"
	}
	return ""
}

// Advice says what a person can do about an error; "" where nothing is known.
func (e RPCError) Advice() string {
	if e.Code != mcp.CodeMissingCapability {
		return ""
	}
	var d struct {
		Required json.RawMessage `json:"requiredCapabilities"`
	}
	if json.Unmarshal(e.Data, &d) == nil && len(d.Required) > 0 {
		return "The server wants the client to declare " + string(d.Required) + ". Change what is declared in the server's settings; it connects anew."
	}
	return "The server wants the client to declare another capability. Change what is declared in the server's settings; it connects anew."
}

// ReadError reads a JSON-RPC error object. It never fails: what is wrong with
// it is part of what is shown.
func ReadError(raw json.RawMessage) RPCError {
	e, err := ErrorOf(raw)
	if err == nil && e.Code == mcp.CodeURLElicitationRequired {
		err = e.URLProblem()
	}
	if err != nil {
		e.Problem = err.Error()
	}
	return e
}

// ErrorOf reads a JSON-RPC error object that must have a code and a message.
func ErrorOf(raw json.RawMessage) (RPCError, error) {
	var e struct {
		Code    *int64          `json:"code"`
		Message *string         `json:"message"`
		Data    json.RawMessage `json:"data"`
	}
	if err := Decode(raw, &e); err != nil {
		return RPCError{Raw: raw}, fmt.Errorf("the error object cannot be read: %w", err)
	}
	if e.Code == nil || e.Message == nil {
		return RPCError{Data: e.Data, Raw: raw}, errors.New("the error object lacks its code or message")
	}
	return RPCError{Code: *e.Code, Message: *e.Message, Data: e.Data, Raw: raw}, nil
}
