// Command gosdk is a client of the go-sdk without a person, for the reports in
// docs/reports/clients: it calls all probes of a server, and accepts each form with
// valid values for its required fields. It leaves the others to the SDK, which fills in
// defaults.
package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
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
		ElicitationHandler: accept,
	})
	session, err := client.Connect(ctx, &mcp.CommandTransport{Command: exec.Command(os.Args[1], os.Args[2:]...)}, nil)
	if err != nil {
		return fmt.Errorf("connecting: %w", err)
	}
	defer session.Close()
	for more := true; more; { // in 2026-07-28 a call takes only some of the probes
		result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "probe_all"})
		if err != nil {
			return fmt.Errorf("calling probe_all: %w", err)
		}
		more = false
		for _, content := range result.Content {
			if text, ok := content.(*mcp.TextContent); ok {
				fmt.Println(text.Text)
				more = strings.Contains(text.Text, "Call probe_all again")
			}
		}
	}
	return nil
}

// values has valid values for the formats and limits of the probes' strings, by the keyword.
var values = map[string]any{"email": "ada@example.com", "uri": "https://example.com/", "date": "2028-02-29", "date-time": "2028-02-29T12:00:00Z"}

func accept(_ context.Context, request *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
	if request.Params.Mode == "url" {
		return &mcp.ElicitResult{Action: "accept"}, nil
	}
	schema, _ := request.Params.RequestedSchema.(map[string]any)
	properties, _ := schema["properties"].(map[string]any)
	required, _ := schema["required"].([]any)
	content := map[string]any{}
	for _, name := range required {
		name := name.(string)
		content[name] = value(properties[name].(map[string]any))
	}
	return &mcp.ElicitResult{Action: "accept", Content: content}, nil
}

// value returns a value that a field takes: its default, or one for its type.
func value(field map[string]any) any {
	if v, ok := field["default"]; ok {
		return v
	}
	choices := func(schema map[string]any) (list []any) {
		list, _ = schema["enum"].([]any)
		for _, key := range []string{"oneOf", "anyOf"} {
			titled, _ := schema[key].([]any)
			for _, one := range titled {
				list = append(list, one.(map[string]any)["const"])
			}
		}
		return list
	}
	switch field["type"] {
	case "boolean":
		return true
	case "integer":
		return 7
	case "number":
		return 0.5
	case "array":
		return choices(field["items"].(map[string]any))[:2]
	}
	if list := choices(field); len(list) > 0 {
		return list[0]
	}
	if v, ok := values[fmt.Sprint(field["format"])]; ok {
		return v
	}
	if field["pattern"] != nil {
		return "AB-1234"
	}
	return "text"
}
