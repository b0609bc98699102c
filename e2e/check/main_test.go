// Package check tests `inspector check` on servers with known faults: the faulty
// server, the demo server, and servers without faults.
package check

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"elicitation-inspector/e2e/internal/inspector"
)

func TestMain(m *testing.M) {
	if file := os.Getenv(selling); file != "" {
		if err := shop(file, tenTools...).Run(context.Background(), &mcp.StdioTransport{}); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		return
	}
	code, err := prepared(m.Run)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(code)
}

// prepared builds the binary that users get, and runs the tests.
func prepared(run func() int) (code int, err error) {
	dir, err := os.MkdirTemp("", "inspector-e2e-bin-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	inspector.Binary = filepath.Join(dir, "inspector")
	if err := inspector.Build("../..", inspector.Binary, "-trimpath", "./cmd/inspector"); err != nil {
		return 0, err
	}
	return run(), nil
}
