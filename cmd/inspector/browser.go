package main

import (
	"elicitation-inspector/bridge/client/transport"
	"errors"
	"fmt"
	"html"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"sync/atomic"
	"time"
)

// browser opens the page in the system's browser. The address contains the token of the
// run, and every user of a machine can read the arguments of all processes. So it opens a
// file that only its owner can read, and which redirects to the address. If that fails,
// the person can use the printed address.
type browser struct {
	logger *slog.Logger
	file   atomic.Pointer[string]
}

// leadTime is how long a browser has to read the file before it is removed.
const leadTime = 2 * time.Minute

// openers maps systems to the command that opens a file in a browser.
var openers = map[string][]string{
	"darwin":  {"open"},
	"windows": {"rundll32", "url.dll,FileProtocolHandler"},
}

// open opens an address. Call close when the page has been requested, or is no longer
// served.
func (b *browser) open(address string) {
	if !canOpen(runtime.GOOS, os.Getenv) {
		return
	}
	file, err := lead(address)
	if err != nil {
		b.logger.Debug("opening the browser", "error", err)
		return
	}
	b.file.Store(&file)
	transport.GuardFile(file)
	opener := openers[runtime.GOOS]
	if opener == nil {
		opener = []string{"xdg-open"}
	}
	cmd := exec.Command(opener[0], slices.Concat(opener[1:], []string{file})...)
	if err := cmd.Start(); err != nil {
		b.logger.Debug("opening the browser", "error", err)
		b.close()
		return
	}
	time.AfterFunc(leadTime, b.close)
	go func() {
		if err := cmd.Wait(); err != nil {
			b.logger.Debug("opening the browser", "error", err)
		}
	}()
}

// close removes the file. It may be called more than once.
func (b *browser) close() {
	if file := b.file.Swap(nil); file != nil {
		if err := os.Remove(*file); err != nil {
			b.logger.Warn("the file that leads a browser to the page is not removed", "error", err)
		}
		transport.GuardFile("")
	}
}

// lead writes a page that redirects to an address, readable only by its owner.
func lead(address string) (string, error) {
	file, err := os.CreateTemp("", "inspector-*.html") // mode 0600
	if err != nil {
		return "", err
	}
	to := html.EscapeString(address)
	_, err = fmt.Fprintf(file, `<!doctype html>
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url=%s">
<title>Inspector</title>
<p><a href="%s">Open the inspector</a>
`, to, to)
	if err = errors.Join(err, file.Close()); err != nil {
		return "", errors.Join(err, os.Remove(file.Name()))
	}
	return filepath.Abs(file.Name())
}

// canOpen reports whether a person is probably in front of a screen.
func canOpen(system string, env func(string) string) bool {
	if env("CI") != "" {
		return false
	}
	if system == "darwin" || system == "windows" {
		return env("SSH_CONNECTION") == ""
	}
	return env("DISPLAY") != "" || env("WAYLAND_DISPLAY") != ""
}
