package bridge

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
)

// Content is one block of what came back (specification, Tools, Tool Result;
// Prompts; Resources). Bytes are decoded for images, audio and blobs.
type Content struct {
	Type        string // text, image, audio, resource, resource_link; others as the server says
	Role        string // in a prompt's messages
	Text        string
	Bytes       []byte
	MIME        string
	Name        string
	URI         string
	Description string
	Problem     string // what is wrong with the block
	Raw         json.RawMessage
}

// Result is what came back from a call, as it was on the wire.
type Result struct {
	IsError    bool
	Content    []Content
	Structured json.RawMessage // nil if absent
	Raw        json.RawMessage
}

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
	case -32700:
		return "Parse error: the server could not read the JSON"
	case -32600:
		return "Invalid request"
	case -32601:
		return "Method not found"
	case -32602:
		return "Invalid params"
	case -32603:
		return "Internal error"
	case -32002:
		return "Resource not found"
	case -32020:
		return "Header mismatch: HTTP headers and body disagree"
	case codeMissingCapability:
		return "Missing required client capability"
	case -32022:
		return "Unsupported protocol version"
	case codeURLRequired:
		return "URL elicitation required"
	}
	if e.Code <= -32000 && e.Code >= -32099 {
		return "Server error (reserved for implementations)"
	}
	return ""
}

// Advice says what a person can do about an error; "" where nothing is known.
func (e RPCError) Advice() string {
	if e.Code != codeMissingCapability {
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

// codeMissingCapability is MissingRequiredClientCapabilityError (specification 2026-07-28).
const codeMissingCapability = -32021

// ReadError reads a JSON-RPC error object. It never fails: what is wrong with
// it is part of what is shown.
func ReadError(raw json.RawMessage) RPCError {
	code, message, data, err := rpcErrorOf(raw)
	e := RPCError{Code: code, Message: message, Data: data, Raw: raw}
	if err == nil && code == codeURLRequired {
		_, err = requiredURLs(data)
	}
	if err != nil {
		e.Problem = err.Error()
	}
	return e
}

// ReadResult reads the result of tools/call, prompts/get or resources/read.
func ReadResult(raw json.RawMessage) (Result, error) {
	var r struct {
		Type       string            `json:"resultType"`
		IsError    bool              `json:"isError"`
		Content    []json.RawMessage `json:"content"`
		Structured json.RawMessage   `json:"structuredContent"`
		Messages   []struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
		Contents []json.RawMessage `json:"contents"`
	}
	out := Result{Raw: raw}
	if err := decode(raw, &r); err != nil {
		return out, fmt.Errorf("the result cannot be read: %w", err)
	}
	out.IsError, out.Structured = r.IsError, r.Structured
	if r.Type == inputRequiredType {
		why := "in this protocol revision no call has further rounds"
		if required, err := readInputRequired(raw); err != nil {
			why = err.Error()
		} else if required.empty() {
			why = "it asks for nothing, and has no state to come back with"
		}
		out.Content = append(out.Content, Content{Problem: "The result says that input is required, and cannot be answered: " + why + ".", Raw: raw})
	}
	for _, c := range r.Content {
		out.Content = append(out.Content, readContent(c, ""))
	}
	for _, m := range r.Messages {
		out.Content = append(out.Content, readContent(m.Content, m.Role))
	}
	for _, c := range r.Contents {
		out.Content = append(out.Content, readContents(c))
	}
	return out, nil
}

func readContent(raw json.RawMessage, role string) Content {
	var b struct {
		Type        string          `json:"type"`
		Text        string          `json:"text"`
		Data        string          `json:"data"`
		MIME        string          `json:"mimeType"`
		Name        string          `json:"name"`
		URI         string          `json:"uri"`
		Description string          `json:"description"`
		Resource    json.RawMessage `json:"resource"`
	}
	if err := decode(raw, &b); err != nil {
		return Content{Role: role, Problem: "the block cannot be read: " + err.Error(), Raw: raw}
	}
	if b.Type == "resource" && b.Resource != nil {
		c := readContents(b.Resource)
		c.Role, c.Raw = role, raw
		return c
	}
	c := Content{
		Type: b.Type, Role: role, Text: b.Text, MIME: b.MIME, Name: b.Name, URI: b.URI,
		Description: b.Description, Raw: raw,
	}
	c.decode(b.Data)
	return c
}

// readContents reads a resource's contents, embedded or from resources/read.
func readContents(raw json.RawMessage) Content {
	var r struct {
		URI  string `json:"uri"`
		MIME string `json:"mimeType"`
		Text string `json:"text"`
		Blob string `json:"blob"`
	}
	if err := decode(raw, &r); err != nil {
		return Content{Type: "resource", Problem: "the contents cannot be read: " + err.Error(), Raw: raw}
	}
	c := Content{Type: "resource", URI: r.URI, MIME: r.MIME, Text: r.Text, Raw: raw}
	c.decode(r.Blob)
	return c
}

func (c *Content) decode(data string) {
	if data == "" {
		return
	}
	decoded, err := base64.StdEncoding.DecodeString(data)
	if err != nil {
		c.Problem = "the data is not Base64"
		var at base64.CorruptInputError
		if errors.As(err, &at) {
			c.Problem += fmt.Sprintf(", from character %d on", int64(at)+1)
		}
		return
	}
	c.Bytes = decoded
}
