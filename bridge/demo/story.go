package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// story is what a tool does. It asks through v, and may be told several times for one call (see visit).
type story func(ctx context.Context, v *visit) (*mcp.CallToolResult, error)

// tool describes a tool. Schemas are constants rather than derived from Go types, which would cost the start of the program.
type tool struct {
	name, title, description string
	input                    string // JSON Schema; empty for a tool without arguments
	output                   string // JSON Schema of structuredContent; empty for none
	annotations              *mcp.ToolAnnotations
	tell                     story
}

const noArguments = `{"type":"object","properties":{},"additionalProperties":false}`

func (s *Server) addTool(t tool) {
	if t.input == "" {
		t.input = noArguments
	}
	d := &mcp.Tool{
		Name: t.name, Title: t.title, Description: t.description,
		InputSchema: json.RawMessage(t.input), Annotations: t.annotations,
	}
	if t.output != "" {
		d.OutputSchema = json.RawMessage(t.output)
	}
	s.order[t.name] = len(s.order)
	s.mcp.AddTool(d, func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		ctx, v, err := welcome(ctx, s, req, methodCallTool, t.name)
		if err != nil {
			return nil, err
		}
		defer v.leave()
		if err := validate(t.input, v.arguments); err != nil {
			return failed("The arguments do not fit: %v", err), nil
		}
		res, err := t.tell(ctx, v)
		var (
			again *inputRequired
			why   problem
		)
		switch {
		case errors.As(err, &again):
			raw, err := again.result(v)
			if err != nil {
				return nil, err
			}
			replyRaw(ctx, raw)
			return &mcp.CallToolResult{}, nil
		case errors.As(err, &why):
			return failed("%s", string(why)), nil
		case err != nil:
			return nil, err
		}
		return res, nil
	})
}

// args decodes the arguments over their defaults.
func (v *visit) args(defaults any) error {
	if err := json.Unmarshal(v.arguments, defaults); err != nil {
		return problem("The arguments could not be read: " + err.Error())
	}
	return nil
}

// said is a result of text alone.
func said(format string, a ...any) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: fmt.Sprintf(format, a...)}}}
}

// failed is a result that is marked as an error.
func failed(format string, a ...any) *mcp.CallToolResult {
	r := said(format, a...)
	r.IsError = true
	return r
}

// with adds structured content to a result.
func with(r *mcp.CallToolResult, structured any) *mcp.CallToolResult {
	r.StructuredContent = mustJSON(structured)
	return r
}

// instead returns what became of a thing that the person would not go through with.
func instead(a answer, declined, cancelled string) *mcp.CallToolResult {
	if a.Action == "decline" {
		return said("%s", declined)
	}
	return said("%s", cancelled)
}
