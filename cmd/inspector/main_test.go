package main

import (
	"context"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/zalando/go-keyring"
)

// asInspector is the environment variable that makes the test binary the inspector.
const asInspector = "INSPECTOR_TEST_RUN"

// inKeyring is the environment variable with the account and the secret of the only entry in the
// keyring of such an inspector.
const inKeyring = "INSPECTOR_TEST_KEYRING"

func TestMain(m *testing.M) {
	if os.Getenv(asHostile) != "" {
		beHostile(os.Stdin, os.Stdout, os.Getenv(asHostile))
		return
	}
	if which := os.Getenv(asDeep); which != "" {
		beDeep(os.Stdin, os.Stdout, which)
		return
	}
	if how := os.Getenv(asBooking); how != "" {
		beBooking(how)
		return
	}
	if os.Getenv(asInspector) != "" {
		if account, secret, ok := strings.Cut(os.Getenv(inKeyring), " "); ok {
			keyring.MockInit()
			_ = keyring.Set("elicitation-inspector", account, secret) // never fails in a mock
		}
		main()
		return
	}
	_ = os.Setenv("GORACE", "atexit_sleep_ms=0") // or each inspector built with -race takes a second to exit
	os.Exit(m.Run())
}

// ended is the outcome of an inspector that has ended by itself.
type ended struct {
	code     int
	out, err string
}

func inspectorRun(t *testing.T, args ...string) ended {
	t.Helper()
	return inspectorRunWith(t, nil, args...)
}

// inspectorRunWith is inspectorRun with a standard input.
func inspectorRunWith(t *testing.T, in io.Reader, args ...string) ended {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var out, errOut strings.Builder
	cmd := exec.CommandContext(ctx, self, args...)
	cmd.Env = append(os.Environ(), asInspector+"=1")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, &out, &errOut
	_ = cmd.Run() // the exit code is checked
	return ended{cmd.ProcessState.ExitCode(), out.String(), errOut.String()}
}
