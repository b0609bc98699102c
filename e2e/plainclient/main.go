// Command plainclient is a client of the Go MCP SDK without a tap. It starts the given
// command, connects over stdio with the SDK's own transport, lists the tools, calls one
// if told to, and ends with its standard input. The cost of the inspector is measured
// against it.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

var (
	tool      = flag.String("call", "", "call the tool `NAME`, and say so when it has answered")
	arguments = flag.String("arguments", "{}", "with these arguments, as `JSON`")
	times     = flag.Int("times", 1, "call it `N` times, one after the other")
	accept    = flag.String("accept", "", "accept each question with this content, as `JSON`")
	revision  = flag.String("protocol", "", "ask for this `REVISION`")
)

func main() {
	flag.Parse()
	ctx := context.Background()
	cmd := exec.Command(flag.Arg(0), flag.Args()[1:]...)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		log.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		log.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		log.Fatal(err)
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "plainclient", Version: "1"}, options())
	// Unlike the SDK's CommandTransport, this one has no limit of 16 MiB for a line.
	session, err := client.Connect(ctx, &mcp.IOTransport{Reader: out, Writer: in, MaxLineLength: -1}, &mcp.ClientSessionOptions{ProtocolVersion: *revision})
	if err != nil {
		log.Fatal(err)
	}
	if _, err := session.ListTools(ctx, nil); err != nil {
		log.Fatal(err)
	}
	if *tool != "" {
		var result *mcp.CallToolResult
		for range *times {
			if result, err = session.CallTool(ctx, &mcp.CallToolParams{Name: *tool, Arguments: json.RawMessage(*arguments)}); err != nil {
				log.Fatal(err)
			}
		}
		for _, c := range result.Content {
			if text, ok := c.(*mcp.TextContent); ok && *accept != "" {
				fmt.Println(text.Text)
			}
		}
		fmt.Println("answered")
	}
	_, _ = io.Copy(io.Discard, os.Stdin)
	_ = session.Close() // its error only says that the pipe is closed
	if err := cmd.Wait(); err != nil {
		log.Fatal(err)
	}
}

// options returns the client's options, with a handler that answers questions if the
// flags ask for one.
func options() *mcp.ClientOptions {
	if *accept == "" {
		return nil
	}
	var content map[string]any
	if err := json.Unmarshal([]byte(*accept), &content); err != nil {
		log.Fatal(err)
	}
	return &mcp.ClientOptions{ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
		return &mcp.ElicitResult{Action: "accept", Content: content}, nil
	}}
}
