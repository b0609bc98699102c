// Package e2e tests the built binary as users run it: it starts it from a command line,
// uses its page in a real browser by role and name, and connects it to real servers.
package e2e

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"elicitation-inspector/e2e/internal/inspector"
	"elicitation-inspector/e2e/internal/page"
	"elicitation-inspector/e2e/internal/servers"
)

// browser is the one Chromium of the run; every test has its own context in it.
var browser *page.Browser

// binaries is the folder with the programs built by this run.
var binaries string

// The tests of the packages run with the race detector already, and a program with it is
// several times slower.
var races = flag.Bool("races", false, "test an inspector that is built with the race detector")

func TestMain(m *testing.M) {
	if path := os.Getenv(clientEnv); path != "" {
		if err := runConformanceClient(path, os.Args); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	flag.Parse()
	_ = os.Setenv("GORACE", "atexit_sleep_ms=0") // a program built with -race would otherwise take a second to exit
	code, err := prepared(m.Run)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(code)
}

// prepared runs the tests with the binaries built and the browser started.
func prepared(run func() int) (code int, err error) {
	if binaries, err = os.MkdirTemp("", "inspector-e2e-bin-"); err != nil {
		return 0, err
	}
	defer os.RemoveAll(binaries)
	servers.RudeBinary = filepath.Join(binaries, "rude")
	if err := inspector.Build(".", servers.RudeBinary, "./servers/rude"); err != nil {
		return 0, err
	}
	inspector.Binary = filepath.Join(binaries, "inspector")
	build := []string{"-trimpath", "./cmd/inspector"}
	if *races {
		build = append([]string{"-race"}, build...)
	}
	if err := inspector.Build("..", inspector.Binary, build...); err != nil {
		return 0, err
	}
	if browser, err = page.Launch(); err != nil {
		return 0, err
	}
	defer browser.Close()
	return run(), nil
}
