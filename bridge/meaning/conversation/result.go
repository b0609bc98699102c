package conversation

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"elicitation-inspector/bridge/base/lazy"
	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/base/wording"
)

// Content is one content block of a result (specification, Tools, Tool Result; Prompts;
// Resources). Bytes holds the decoded data of images, audio and blobs.
type Content struct {
	Type        string // text, image, audio, resource, resource_link, or another type from the server
	Role        string // role of a prompt's message
	Text        string
	Bytes       []byte
	MIME        string
	Name        string
	URI         string
	Description string
	Problem     string // what is wrong with the block
	Raw         json.RawMessage
}

// Result is the result of a call, as received.
type Result struct {
	IsError    bool
	Content    []Content
	Structured json.RawMessage // nil if absent
	Raw        json.RawMessage
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
	if err := DecodeResult(raw, &r); err != nil {
		return out, fmt.Errorf("the result cannot be read: %w", err)
	}
	out.IsError, out.Structured = r.IsError, r.Structured
	if r.Type == inputRequiredType {
		why := "in this protocol revision no call has further rounds"
		if required, err := ReadInputRequired(raw); err != nil {
			why = err.Error()
		} else if required.Empty() {
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
	if err := DecodeResult(raw, &b); err != nil {
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

// readContents reads the contents of a resource, embedded or from resources/read.
func readContents(raw json.RawMessage) Content {
	var r struct {
		URI  string `json:"uri"`
		MIME string `json:"mimeType"`
		Text string `json:"text"`
		Blob string `json:"blob"`
	}
	if err := DecodeResult(raw, &r); err != nil {
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
		if at, ok := errors.AsType[base64.CorruptInputError](err); ok {
			c.Problem += fmt.Sprintf(", from character %d on", int64(at)+1)
		}
		return
	}
	c.Bytes = decoded
}

// RPCError is the JSON-RPC error of a response, of the server or of the client.
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

// DecodeResult unmarshals valid JSON. Its error names the member of the wrong type, without
// names of Go types.
func DecodeResult(raw json.RawMessage, into any) error {
	err := json.Unmarshal(raw, into)
	wrong, ok := errors.AsType[*json.UnmarshalTypeError](err)
	if !ok {
		return err
	}
	what, field := "it", wrong.Field
	var members map[string]json.RawMessage
	if first, rest, ok := strings.Cut(field, "."); ok && json.Unmarshal(raw, &members) == nil && members[first] == nil {
		field = rest // the first part is an embedded struct
	}
	if field != "" {
		what = fmt.Sprintf("%q", field)
	}
	return fmt.Errorf("%s is %s, not %s", what, article(wrong.Value), wanted(wrong.Type))
}

func article(kind string) string {
	switch name, value, _ := strings.Cut(kind, " "); {
	case value != "":
		return value // "number 1.5"
	case name == "array" || name == "object":
		return "an " + name
	case name == "bool":
		return "true or false"
	default:
		return "a " + name
	}
}

func wanted(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice, reflect.Array:
		return "an array"
	case reflect.Struct, reflect.Map:
		return "an object"
	case reflect.Float32, reflect.Float64:
		return "a number"
	default:
		return "a whole number of a usual size"
	}
}

// ContentKind names the type of a JSON value, for use in a sentence.
func ContentKind(raw json.RawMessage) string { return wording.WithArticle(rawjson.KindOf(raw)) }

// The SDK reads some results itself, and returns errors of its JSON package.
var goErrors = lazy.Regexp(`(?:unmarshaling result: )?json: cannot unmarshal .* into Go (?:struct field (?:\S*mcp\.\w+\.)?(\S+)|value) of type [^\s)]+`)

// PlainError replaces the names of Go types in an error of the SDK.
func PlainError(text string) string {
	return goErrors().ReplaceAllStringFunc(text, func(match string) string {
		if member := goErrors().FindStringSubmatch(match)[1]; member != "" {
			return fmt.Sprintf("%q of the result is of the wrong type", member)
		}
		return "the result is of the wrong type"
	})
}

// textMost is the maximum length, in code points, of a server's text in a message. The
// log has the whole text.
const textMost = 500

// ShortError cuts a text to textMost.
func ShortError(text string) string { return wording.Shorten(text, textMost) }
