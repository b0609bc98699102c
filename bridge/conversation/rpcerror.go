package conversation

import (
	"encoding/json"
	"errors"
	"fmt"

	"elicitation-inspector/bridge/mcp"
	"elicitation-inspector/bridge/rawjson"
)

// RPCError is the JSON-RPC error of a response.
type RPCError struct {
	Code    int64
	Message string
	Data    json.RawMessage // nil if absent
	Problem string          // what is wrong with the error object
	Raw     json.RawMessage
}

// Meaning describes a JSON-RPC error code; "" if the code is unknown. Sources: JSON-RPC
// 2.0, section 5.1; MCP specification 2025-11-25 and 2026-07-28.
func (e RPCError) Meaning() string {
	meaning := meanings[e.Code]
	if meaning == "" && e.Code <= -32000 && e.Code >= -32099 {
		return "Server error (reserved for implementations)"
	}
	return meaning
}

var meanings = map[int64]string{
	mcp.CodeParseError:             "Parse error: the server could not read the JSON",
	mcp.CodeInvalidRequest:         "Invalid request",
	mcp.CodeMethodNotFound:         "Method not found",
	mcp.CodeInvalidParams:          "Invalid params",
	mcp.CodeInternalError:          "Internal error",
	mcp.CodeResourceNotFound:       "Resource not found",
	mcp.CodeHeaderMismatch:         "Header mismatch: HTTP headers and body disagree",
	mcp.CodeMissingCapability:      "Missing required client capability",
	mcp.CodeUnsupportedVersion:     "Unsupported protocol version",
	mcp.CodeURLElicitationRequired: "URL elicitation required",
}

// Advice tells a person what to do about an error; "" for no advice.
func (e RPCError) Advice() string {
	if e.Code != mcp.CodeMissingCapability {
		return ""
	}
	wanted := "another capability"
	if required := rawjson.Member(e.Data, "requiredCapabilities"); required != nil {
		wanted = string(required)
	}
	return "The server wants the client to declare " + wanted + ". Change what is declared in the server's settings; it connects anew."
}

// ReadError reads a JSON-RPC error object. It never fails: it stores what is wrong in
// Problem.
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
	if err := DecodeResult(raw, &e); err != nil {
		return RPCError{Raw: raw}, fmt.Errorf("the error object cannot be read: %w", err)
	}
	if e.Code == nil || e.Message == nil {
		return RPCError{Data: e.Data, Raw: raw}, errors.New("the error object lacks its code or message")
	}
	return RPCError{Code: *e.Code, Message: *e.Message, Data: e.Data, Raw: raw}, nil
}
