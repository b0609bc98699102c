// Command plainclient is a client of the Go MCP SDK that lets nobody look on:
// it starts the command that it is given, connects over stdio as the SDK does by
// itself, asks for the tools, and ends with its standard input. What the
// inspector costs is measured against it.
package main

import (
	"context"
	"io"
	"log"
	"os"
	"os/exec"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func main() {
	ctx := context.Background()
	cmd := exec.Command(os.Args[1], os.Args[2:]...)
	cmd.Stderr = os.Stderr
	client := mcp.NewClient(&mcp.Implementation{Name: "plainclient", Version: "1"}, nil)
	session, err := client.Connect(ctx, &mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		log.Fatal(err)
	}
	if _, err := session.ListTools(ctx, nil); err != nil {
		log.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, os.Stdin)
	if err := session.Close(); err != nil {
		log.Fatal(err)
	}
}
