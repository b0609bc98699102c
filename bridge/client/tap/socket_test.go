//go:build unix

package tap_test

import (
	"testing"

	"elicitation-inspector/bridge/client/tap"
)

// A tap whose client gives it neither XDG_RUNTIME_DIR nor TMPDIR finds the inspector of the
// same user.
func TestSocketPath(t *testing.T) {
	t.Setenv("XDG_RUNTIME_DIR", "")
	path := func() string {
		t.Helper()
		path, err := tap.SocketPath()
		if err != nil {
			t.Fatal(err)
		}
		return path
	}
	bare := path()
	t.Setenv("TMPDIR", t.TempDir())
	if inspector := path(); inspector != bare {
		t.Errorf("the inspector waits at %s, and the tap looks at %s", inspector, bare)
	}
}
