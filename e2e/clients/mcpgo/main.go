// Command mcpgo is a client of mcp-go without a person, for the reports in
// docs/reports/clients: it calls all probes of a server, and accepts each form with the
// defaults of all fields and valid values for the required ones. It declines or cancels
// what the message asks it to.
package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"elicitation-inspector/e2e/clients/values"
)

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: mcpgo COMMAND [ARG...]")
		os.Exit(2)
	}
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "mcpgo:", err)
		os.Exit(1)
	}
}

type person struct{}

func (person) Elicit(_ context.Context, request mcp.ElicitationRequest) (*mcp.ElicitationResult, error) {
	answer := mcp.ElicitationResponse{Action: mcp.ElicitationResponseAction(values.Action(request.Params.Message))}
	if answer.Action == mcp.ElicitationResponseActionAccept && request.Params.Mode != "url" {
		answer.Content = values.Content(request.Params.RequestedSchema, true)
	}
	return &mcp.ElicitationResult{ElicitationResponse: answer}, nil
}

func run(ctx context.Context) error {
	c := client.NewClient(transport.NewStdio(os.Args[1], nil, os.Args[2:]...), client.WithElicitationHandler(person{}))
	if err := c.Start(ctx); err != nil {
		return fmt.Errorf("starting: %w", err)
	}
	defer c.Close()
	hello := mcp.InitializeRequest{}
	hello.Params.ClientInfo = mcp.Implementation{Name: "mcp-go-client", Version: "1.2.1"}
	if _, err := c.Initialize(ctx, hello); err != nil {
		return fmt.Errorf("connecting: %w", err)
	}
	for more := true; more; { // in 2026-07-28 a call takes only some of the probes
		call := mcp.CallToolRequest{}
		call.Params.Name = "probe_all"
		result, err := c.CallTool(ctx, call)
		if err != nil && strings.Contains(err.Error(), "maximum retries") {
			fmt.Println(err) // a probe has more rounds than the SDK takes; the next call goes on
			continue
		}
		if err != nil {
			return fmt.Errorf("calling probe_all: %w", err)
		}
		more = false
		for _, content := range result.Content {
			if text, ok := content.(mcp.TextContent); ok {
				fmt.Println(text.Text)
				more = strings.Contains(text.Text, "Call probe_all again")
			}
		}
	}
	return nil
}
