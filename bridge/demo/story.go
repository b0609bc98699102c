package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// story is what a tool does. It asks through v, and may be told several times for one call (see visit).
type story func(ctx context.Context, v *visit) (*mcp.CallToolResult, error)

// taking is a story with arguments, for which defaults are those of the tool's input schema.
func taking[A any](tell func(context.Context, *visit, A) (*mcp.CallToolResult, error)) story {
	return func(ctx context.Context, v *visit) (*mcp.CallToolResult, error) {
		var args A
		if err := v.args(&args); err != nil {
			return nil, err
		}
		return tell(ctx, v, args)
	}
}

// tool describes a tool. Schemas are constants rather than derived from Go types, which would cost the start of the program.
type tool struct {
	name, title, description string
	input                    string // properties of the arguments' JSON Schema; empty for a tool without arguments
	output                   string // JSON Schema of structuredContent; empty for none
	annotations              *mcp.ToolAnnotations
	urlOnly                  bool // of no use to a client without URL mode, and hidden from it
	tell                     story
}

func (t tool) inputSchema() string {
	return `{"type":"object","properties":{` + t.input + `},"additionalProperties":false}`
}

func object(properties string, required ...string) string {
	if required == nil {
		return `{"type":"object","properties":{` + properties + `}}`
	}
	return `{"type":"object","properties":{` + properties + `},"required":` + string(mustJSON(required)) + `}`
}

func (t tool) listed() *mcp.Tool {
	l := &mcp.Tool{
		Name: t.name, Title: t.title, Description: t.description,
		InputSchema: json.RawMessage(t.inputSchema()), Annotations: t.annotations,
	}
	if t.output != "" {
		l.OutputSchema = json.RawMessage(t.output)
	}
	return l
}

func (t tool) handler(s *Server) mcp.ToolHandler {
	return func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		ctx, v, err := welcome(ctx, s, req)
		if err != nil {
			return nil, err
		}
		defer v.leave()
		v.input = t.inputSchema()
		if err := validate(v.input, v.arguments); err != nil {
			return failed("The arguments do not fit: %v", err), nil
		}
		res, err := t.tell(ctx, v)
		if early := (*ending)(nil); errors.As(err, &early) {
			if early.failed {
				return failed("%s", early.text), nil
			}
			res, err = said("%s", early.text), nil
		}
		if err == nil && v.outcome != nil {
			res.StructuredContent = mustJSON(v.outcome)
		}
		return res, err
	}
}

// ending is an error that a story ends with early, for the person to read.
// It becomes a result, which is marked as an error if the story failed.
type ending struct {
	text   string
	failed bool
}

func (e *ending) Error() string { return e.text }

func problem(format string, a ...any) error { return &ending{fmt.Sprintf(format, a...), true} }

func said(format string, a ...any) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: fmt.Sprintf(format, a...)}}}
}

func failed(format string, a ...any) *mcp.CallToolResult {
	r := said(format, a...)
	r.IsError = true
	return r
}

// variant is one of those that a tool leaves its caller to choose from, by name.
type variant interface{ id() string }

// choice is the schema of an argument that names a variant.
func choice[V variant](title, first string, list []V) string {
	names := make([]string, len(list))
	for i, v := range list {
		names[i] = v.id()
	}
	return fmt.Sprintf(`{"type":"string","title":%q,"enum":%s,"default":%q}`, title, mustJSON(names), first)
}

// chosen is the variant with this name, which is in the list because the argument fits its schema.
func chosen[V variant](name string, list []V) V {
	return list[slices.IndexFunc(list, func(v V) bool { return v.id() == name })]
}

// readLines reads variants from a file of this package, which has one a line.
func readLines[V variant](text string) (list []V) {
	for line := range strings.Lines(text) {
		var v V
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			panic(fmt.Sprintf("reading %s: %v", line, err))
		}
		list = append(list, v)
	}
	return list
}
