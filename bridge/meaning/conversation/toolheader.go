package conversation

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"

	"elicitation-inspector/bridge/base/rawjson"
)

// headerKeyword marks a parameter in a tool's inputSchema that the client copies
// into an HTTP header of the call (specification 2026-07-28, Streamable HTTP,
// Custom Headers from Tool Parameters).
const headerKeyword = "x-mcp-header"

// HeaderProblem returns which of the specification's constraints on x-mcp-header a
// tool's inputSchema violates; nil if none. A client must not use such a tool over
// HTTP.
func HeaderProblem(schema json.RawMessage) error {
	_, err := mirrored(schema)
	return err
}

// mirrored returns a tool's inputSchema reduced to the parameters with x-mcp-header;
// nil if there are none. The error is that of HeaderProblem.
func mirrored(schema json.RawMessage) (json.RawMessage, error) {
	var s any
	if len(schema) > 0 {
		if err := json.Unmarshal(schema, &s); err != nil {
			return nil, fmt.Errorf("the inputSchema cannot be read: %w", err)
		}
	}
	headers := headerScan{}
	left, err := headers.scan(s, "", true)
	if err != nil {
		return nil, err
	}
	if left == nil {
		return nil, nil
	}
	return json.Marshal(left)
}

// headerScan maps each header name, in lower case, to the pointer of its schema.
type headerScan map[string]string

// scan walks the schema at a JSON pointer and returns the part with x-mcp-header, nil
// if there is none. reachable says that the path has only "properties": other schemas
// do not belong to a fixed place in the arguments.
func (h headerScan) scan(schema any, at string, reachable bool) (map[string]any, error) {
	s, ok := schema.(map[string]any)
	if !ok {
		return nil, nil
	}
	left := map[string]any{}
	if name, ok := s[headerKeyword]; ok {
		if err := h.add(name, s["type"], at, reachable); err != nil {
			return nil, fmt.Errorf("%s/%s: %w", at, headerKeyword, err)
		}
		left["type"], left[headerKeyword] = s["type"], name
	}
	for _, keyword := range slices.Sorted(maps.Keys(s)) {
		at := rawjson.PointerTo(at, keyword)
		switch sub := s[keyword]; keyword {
		case "properties":
			properties, err := h.scanEach(sub, at, reachable)
			if err != nil {
				return nil, err
			}
			if len(properties) > 0 {
				left["type"], left["properties"] = "object", properties
			}
		case "patternProperties", "dependentSchemas", "$defs", "definitions":
			if _, err := h.scanEach(sub, at, false); err != nil {
				return nil, err
			}
		case "items", "prefixItems", "additionalItems", "unevaluatedItems", "contains",
			"additionalProperties", "unevaluatedProperties", "propertyNames", "contentSchema",
			"oneOf", "anyOf", "allOf", "not", "if", "then", "else":
			list, ok := sub.([]any)
			if !ok {
				list = []any{sub}
			}
			for i, one := range list {
				at := at
				if ok {
					at = fmt.Sprintf("%s/%d", at, i)
				}
				if _, err := h.scan(one, at, false); err != nil {
					return nil, err
				}
			}
		}
	}
	if len(left) == 0 {
		return nil, nil
	}
	return left, nil
}

func (h headerScan) scanEach(schemas any, at string, reachable bool) (map[string]any, error) {
	members, _ := schemas.(map[string]any)
	left := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		one, err := h.scan(members[name], rawjson.PointerTo(at, name), reachable)
		if err != nil {
			return nil, err
		}
		if one != nil {
			left[name] = one
		}
	}
	return left, nil
}

func (h headerScan) add(name, typ any, at string, reachable bool) error {
	text, ok := name.(string)
	switch {
	case !ok || text == "":
		return errors.New("it must be a string that is not empty")
	case !httpguts.ValidHeaderFieldName(text):
		return fmt.Errorf("%q cannot be part of an HTTP header's name", text)
	case at == "" || !reachable:
		return errors.New(`it may only stand on what can be reached from the root through "properties" alone`)
	case typ != "string" && typ != "integer" && typ != "boolean":
		return errors.New("only a parameter whose type is string, integer or boolean goes into a header")
	}
	lower := strings.ToLower(text)
	if first, again := h[lower]; again {
		return fmt.Errorf("%q is also the header of %s; upper and lower case make no difference", text, first)
	}
	h[lower] = at
	return nil
}

// WithHeaders reduces a tools/list result to the tools with x-mcp-header, and to the
// parts of their schemas that a client needs to send the headers. The SDK gets this
// result: it would reject a whole list over one entry with a wrong type, and would send
// no header for a tool with a parameter of several types.
func WithHeaders(result json.RawMessage) string {
	var tools rawjson.ArrayWriter                                           // an empty one is never null, which would make the SDK keep an old list
	for _, raw := range rawjson.Elements(rawjson.Member(result, "tools")) { // Reader.Page reports what is no list
		name := rawjson.Text(rawjson.Member(raw, "name"))
		schema, err := mirrored(rawjson.Member(raw, "inputSchema"))
		if name == "" || err != nil || schema == nil {
			continue
		}
		var tool rawjson.ObjectWriter
		tool.Add("name", rawjson.Quoted(name))
		tool.Add("inputSchema", schema)
		tools.Add(tool.JSON())
	}
	return `{"tools":` + string(tools.JSON()) + `}`
}
