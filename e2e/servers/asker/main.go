// Command asker is an MCP server over stdio with one tool, which asks a given number of
// questions one after the other, and reports how long the client took to answer them.
package main

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type arguments struct {
	Count int `json:"count"`
}

func main() {
	server := mcp.NewServer(&mcp.Implementation{Name: "asker", Version: "1"}, nil)
	mcp.AddTool(server, &mcp.Tool{Name: "ask"}, ask)
	if err := server.Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		log.Fatal(err)
	}
}

func ask(ctx context.Context, r *mcp.CallToolRequest, a arguments) (*mcp.CallToolResult, any, error) {
	began := time.Now()
	for i := range a.Count {
		answer, err := r.Session.Elicit(ctx, &mcp.ElicitParams{
			Message: fmt.Sprintf("Question %d of %d?", i+1, a.Count),
			RequestedSchema: map[string]any{"type": "object", "required": []string{"name"}, "properties": map[string]any{
				"name": map[string]any{"type": "string", "title": "Name"},
				"size": map[string]any{"type": "string", "enum": []string{"s", "m", "l"}},
			}},
		})
		if err != nil {
			return nil, nil, err
		}
		if answer.Action != "accept" || answer.Content["name"] != "Ada" {
			return nil, nil, fmt.Errorf("answer %d is %+v", i+1, answer)
		}
	}
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: time.Since(began).String()}}}, nil, nil
}
