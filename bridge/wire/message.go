package wire

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"elicitation-inspector/bridge/base/lazy"
	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/base/rawjson"
)

// Message is the envelope of one JSON-RPC 2.0 message. Its parts are
// sub-slices of the bytes that it was parsed from.
type Message struct {
	Kind   Kind            // Request, Notification, Result or Error
	ID     json.RawMessage // exact bytes of "id"; nil if absent
	Method string          // decoded; "" for a response
	Params json.RawMessage // of any JSON type; nil if absent
	Result json.RawMessage // of any JSON type; nil if absent
	Error  json.RawMessage // an object; nil if absent

	// TooDeep marks a message with a value that is nested deeper than rawjson.MaxDepth.
	// Params, Result and Error are nil then, and what is so deep may not be JSON.
	TooDeep bool
}

// ClientName returns the name of the client in the params of a request: of initialize, or
// since 2026-07-28 of any.
func ClientName(params json.RawMessage) string {
	return cmp.Or(rawjson.Text(rawjson.Member(params, "clientInfo", "name")), rawjson.Text(rawjson.Member(params, "_meta", mcp.MetaClient, "name")))
}

// ParseMessage finds the envelope of the one JSON-RPC 2.0 message in raw, in
// one pass and without decoding what is inside. White space may stand around
// the message.
//
// The error says why the bytes are no such message: they are not one whole JSON
// value in UTF-8, "jsonrpc" is not "2.0", "id" is neither a string nor an
// integer (MCP forbids null), a member of the envelope appears twice, or the
// members make neither a request, a notification, a result nor an error. An
// error without an id is a message (MCP 2025-11-25, "Responses"); an array of
// messages is not (MCP dropped batches with 2025-06-18).
func ParseMessage(raw []byte) (Message, error) {
	c := rawjson.NewCursor(raw)
	if c.Offset() == len(raw) {
		return Message{}, errors.New("empty")
	}
	m, err := parseEnvelope(c)
	if err != nil {
		return Message{}, err
	}
	if !c.End() {
		return Message{}, c.Err()
	}
	return m, nil
}

// IDKey returns a key that two ids share if they are the same JSON value,
// however they are escaped: "\u0061" and "a" have the same key.
func IDKey(id json.RawMessage) string {
	if rawjson.KindOf(id) == rawjson.String {
		return `"` + rawjson.Text(id) + `"`
	}
	return string(id)
}

// The members of an envelope, as bits of a set.
const (
	hasJSONRPC = 1 << iota
	hasID
	hasMethod
	hasParams
	hasResult
	hasError
)

var envelopeNames = [...]string{"jsonrpc", "id", "method", "params", "result", "error"}

// ByteOrderMark is U+FEFF in UTF-8, which some programs write before a text.
const ByteOrderMark = "\ufeff"

// parseEnvelope parses the message at the cursor. If there is no object, the
// cursor does not move. For text that is cut off (c.Cut), it returns the
// members found so far with the likeliest Kind, and an error.
func parseEnvelope(c *rawjson.Cursor) (m Message, err error) {
	switch kind := c.Kind(); {
	case kind == rawjson.Object:
	case kind == rawjson.Array:
		return m, errors.New("an array: MCP has no JSON-RPC batches since 2025-06-18")
	case bytes.HasPrefix(c.Rest(), []byte(ByteOrderMark)):
		return m, errors.New("begins with a byte order mark")
	default:
		return m, errors.New("not a JSON object")
	}
	c.PassDeep()
	seen, wrong := m.read(c)
	if m.TooDeep = c.Deep(); m.TooDeep {
		m.Params, m.Result, m.Error = nil, nil, nil
	}
	if err := c.Err(); err != nil {
		if !c.Cut() || wrong != "" {
			return Message{}, err
		}
		m.Kind = likelyKind(seen, m.Method)
		return m, err
	}
	if wrong == "" {
		m.Kind, wrong = kindOf(seen)
	}
	if wrong != "" {
		return Message{}, errors.New(wrong)
	}
	return m, nil
}

const maxEnds = 64 << 10

// lastMembers matches "id" and "jsonrpc" at the very end of a message, where
// many servers write them. They belong to the envelope, since the last brace
// closes the message.
var lastMembers = lazy.Regexp(`[,{](` + lastMember + `(?:,` + lastMember + `)?)\}\s*$`)

const lastMember = `\s*"(?:id|jsonrpc)"\s*:\s*(?:-?\d+|"[^"\\]*")\s*`

// ParseEnds is ParseMessage for a message that is too large to be kept whole:
// it finds the kind, the id and the method from the message's head and tail.
func ParseEnds(head, tail []byte) (m Message, err error) {
	c := rawjson.NewCursor(head[:min(len(head), maxEnds)])
	seen, wrong := m.read(c)
	if last := lastMembers().FindSubmatch(tail); last != nil {
		more, _ := m.read(rawjson.NewCursor(slices.Concat([]byte("{"), last[1], []byte("}"))))
		seen |= more
	}
	switch {
	case wrong != "":
		return Message{}, errors.New(wrong)
	case seen&hasJSONRPC == 0:
		return Message{}, errors.New("no message of JSON-RPC 2.0")
	case seen&hasResult != 0:
		m.Kind = Result
	case seen&hasError != 0:
		m.Kind = Error
	case m.Method == "":
		return Message{}, errors.New("no message")
	case seen&hasID != 0:
		m.Kind = Request
	default:
		m.Kind = Notification
	}
	return Message{Kind: m.Kind, ID: m.ID, Method: m.Method}, nil
}

// read sets the members of the object at the cursor. It returns the set of
// their names, and the first thing wrong with them; "" if nothing is.
func (m *Message) read(c *rawjson.Cursor) (seen int, wrong string) {
	for name := range c.Members() {
		member := 0
		for i, known := range envelopeNames {
			if name.Is(known) {
				member = 1 << i
			}
		}
		if seen&member != 0 && wrong == "" {
			wrong = fmt.Sprintf("%q appears twice", name.String())
		}
		seen |= member
		if value := c.Value(); value != nil {
			if unfit := m.set(member, value); wrong == "" {
				wrong = unfit
			}
		}
	}
	return seen, wrong
}

func (m *Message) set(member int, value json.RawMessage) (wrong string) {
	switch member {
	case hasJSONRPC:
		if string(value) != `"2.0"` && rawjson.Text(value) != "2.0" {
			return fmt.Sprintf(`"jsonrpc" is %s, not "2.0"`, brief(value))
		}
	case hasID:
		m.ID = value
		return checkID(value)
	case hasMethod:
		if value[0] != '"' {
			return fmt.Sprintf(`"method" is %s, not a string`, brief(value))
		}
		m.Method = rawjson.Text(value)
	case hasParams:
		m.Params = value
	case hasResult:
		m.Result = value
	case hasError:
		m.Error = value
		if value[0] != '{' {
			return fmt.Sprintf(`"error" is %s, not an object`, brief(value))
		}
	}
	return ""
}

// kindOf returns the kind of message that the members of a whole envelope make,
// or what is wrong with them.
func kindOf(seen int) (k Kind, wrong string) {
	const answer = hasResult | hasError
	switch {
	case seen&hasJSONRPC == 0:
		return 0, `"jsonrpc" is missing`
	case seen&hasMethod != 0 && seen&answer != 0:
		return 0, `"method" together with "result" or "error"`
	case seen&answer == answer:
		return 0, `both "result" and "error"`
	case seen&(hasMethod|hasID) == hasMethod|hasID:
		return Request, ""
	case seen&hasMethod != 0:
		return Notification, ""
	case seen&(hasResult|hasID) == hasResult|hasID:
		return Result, ""
	case seen&hasResult != 0:
		return 0, `"result" without "id"`
	case seen&hasError != 0:
		return Error, ""
	}
	return 0, `none of "method", "result" and "error"`
}

func likelyKind(seen int, method string) Kind {
	switch {
	case seen&hasResult != 0:
		return Result
	case seen&hasError != 0:
		return Error
	case seen&hasMethod == 0 || method == "":
		return Noise
	case seen&hasID == 0 && strings.HasPrefix(method, "notifications/"):
		return Notification
	}
	return Request
}

// checkID says what is wrong with the value of "id", "" if nothing is.
func checkID(value []byte) string {
	switch c := value[0]; {
	case c == '"':
		return ""
	case c == 'n':
		return `"id" is null; it must be a string or an integer`
	case c == '-' || c-'0' <= 9:
		if whole, err := strconv.ParseFloat(string(value), 64); err == nil && whole != math.Trunc(whole) { // to JSON Schema 1.0 is an integer
			return fmt.Sprintf(`"id" is %s, a number with a fractional part; it must be a string or an integer`, brief(value))
		}
		return ""
	}
	return fmt.Sprintf(`"id" is %s; it must be a string or an integer`, brief(value))
}

// brief returns a JSON value for use in an error: its text if short, else its
// type.
func brief(value []byte) string {
	if len(value) <= 40 {
		return string(value)
	}
	switch value[0] {
	case '{':
		return "an object"
	case '[':
		return "an array"
	case '"':
		return "a long string"
	}
	return "a long number"
}
