// Package check tests `inspector check` on servers of which it is known what is wrong
// with them: the faulty one, the demo, and those that are right.
package check

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"elicitation-inspector/e2e/internal/inspector"
)

func TestMain(m *testing.M) {
	code, err := prepared(m.Run)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(code)
}

// prepared runs the tests with the binary built as users build it.
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
