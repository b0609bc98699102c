// Command gosdk is a client of the go-sdk without a person, for the reports in
// docs/reports/clients: it calls all probes of a server, and those of them apart that need
// no person. It accepts each form with valid values for its required fields, and leaves the
// others to the SDK, which fills in defaults. It declines, cancels, or leaves open what the
// message asks it to.
package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"elicitation-inspector/e2e/clients/values"
)

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: gosdk COMMAND [ARG...]")
		os.Exit(2)
	}
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "gosdk:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	client := mcp.NewClient(&mcp.Implementation{Name: "go-sdk-client", Version: "1.8.0"}, &mcp.ClientOptions{
		Capabilities:       &mcp.ClientCapabilities{Elicitation: &mcp.ElicitationCapabilities{Form: &mcp.FormElicitationCapabilities{}, URL: &mcp.URLElicitationCapabilities{}}},
		ElicitationHandler: answer,
	})
	session, err := client.Connect(ctx, &mcp.CommandTransport{Command: exec.Command(os.Args[1], os.Args[2:]...)}, nil)
	if err != nil {
		return fmt.Errorf("connecting: %w", err)
	}
	defer session.Close()
	for more := true; more; { // in 2026-07-28 a call takes only some of the probes
		result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "probe_all"})
		switch {
		case err != nil && strings.Contains(err.Error(), "exceeded maximum retries"):
			fmt.Println(err) // a probe has more rounds than the SDK takes; the next call goes on
			continue
		case err != nil:
			return fmt.Errorf("calling probe_all: %w", err)
		case len(result.Content) == 0: // a round without questions ends the call
			continue
		}
		more = false
		for _, content := range result.Content {
			if text, ok := content.(*mcp.TextContent); ok {
				fmt.Println(text.Text)
				more = strings.Contains(text.Text, "Call probe_all again")
			}
		}
	}
	for tool, err := range session.Tools(ctx, nil) {
		if err != nil {
			return fmt.Errorf("listing tools: %w", err)
		}
		if tool.Name == "withdrawn" { // not in 2026-07-28
			if _, err := session.CallTool(ctx, &mcp.CallToolParams{Name: tool.Name}); err != nil {
				return fmt.Errorf("calling %s: %w", tool.Name, err)
			}
		}
	}
	return nil
}

func answer(ctx context.Context, request *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
	if strings.HasPrefix(request.Params.Message, values.TakenBack) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	result := &mcp.ElicitResult{Action: values.Action(request.Params.Message)}
	if result.Action == "accept" && request.Params.Mode != "url" {
		result.Content = values.Content(request.Params.RequestedSchema, false)
	}
	return result, nil
}
