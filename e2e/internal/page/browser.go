// Package page drives one page of the inspector like a person: it finds controls by role
// and accessible name, as the browser's accessibility tree has them, and uses them with real
// mouse and key events.
package page

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/chromedp"
)

// Browser is one headless Chromium with an empty profile. Every page that Open
// makes has its own cookies and storage.
type Browser struct {
	ctx   context.Context
	close []func()
}

// Find names the Chromium to run: $CHROME, else the first that is installed. The headless
// shell comes first: it draws the same pages without a window around them, which costs
// Chromium three times the processor time of the pages themselves. The error says what to
// install.
func Find() (string, error) {
	if path := os.Getenv("CHROME"); path != "" {
		found, err := exec.LookPath(path)
		if err != nil {
			return "", fmt.Errorf("$CHROME names no browser: %w", err)
		}
		return found, nil
	}
	names := []string{debianShell, "chromium", "chromium-browser", "google-chrome", "google-chrome-stable"}
	if runtime.GOOS == "darwin" {
		names = append(names,
			"/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
			"/Applications/Chromium.app/Contents/MacOS/Chromium")
	}
	for _, name := range names {
		if found, err := exec.LookPath(name); err == nil {
			return found, nil
		}
	}
	return "", errors.New("these tests need Chromium: `sudo apt-get install chromium` on Debian, " +
		"`brew install --cask chromium` on macOS, or set CHROME to the path of Chrome or Chromium")
}

// debianShell is the program of the package chromium-headless-shell. What that package puts
// into the path is a script, which would be ended without its browser.
const debianShell = "/usr/lib/chromium/chromium-headless-shell"

// Launch starts the browser. Close ends it and removes its profile.
func Launch() (*Browser, error) {
	path, err := Find()
	if err != nil {
		return nil, err
	}
	profile, err := os.MkdirTemp("", "inspector-e2e-profile-")
	if err != nil {
		return nil, err
	}
	b := &Browser{close: []func(){func() { os.RemoveAll(profile) }}}
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path),
		chromedp.UserDataDir(profile),
		chromedp.NoSandbox,
		chromedp.Flag("disable-gpu", true),
		chromedp.Flag("disable-quic", true),
		chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-domain-reliability", true),
		chromedp.Flag("force-prefers-reduced-motion", true), // no frames are drawn while nothing changes
		chromedp.Flag("lang", "en-US"),
		chromedp.Env("LANG=en_US.UTF-8", "LANGUAGE=en_US"),
		chromedp.WindowSize(1440, 900),
		chromedp.WSURLReadTimeout(60*time.Second),
	)
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), options...)
	b.close = append(b.close, cancel)
	// Messages about frames of detached targets do not matter for tests.
	quiet := func(string, ...any) {}
	ctx, cancel = chromedp.NewContext(ctx, chromedp.WithErrorf(quiet), chromedp.WithLogf(quiet))
	b.close = append(b.close, cancel)
	if err := chromedp.Do(ctx); err != nil {
		b.Close()
		return nil, fmt.Errorf("starting %s: %w", filepath.Base(path), err)
	}
	b.ctx = ctx
	return b, nil
}

// Close ends the browser and everything in it.
func (b *Browser) Close() {
	for i := len(b.close) - 1; i >= 0; i-- {
		b.close[i]()
	}
	b.close = nil
}

// Open shows a URL in a new browser context, which is closed at the end of the test. If
// the test has failed, it keeps a picture and the text of the page, and logs where they
// are.
func (b *Browser) Open(t testing.TB, url string) *Page {
	t.Helper()
	p := b.Blank(t)
	p.Goto(url)
	return p
}

// Blank is Open without a URL, for tests that prepare the page first.
func (b *Browser) Blank(t testing.TB) *Page {
	t.Helper()
	ctx, cancel := chromedp.NewContext(b.ctx, chromedp.WithNewBrowserContext())
	return newPage(t, ctx, cancel)
}

// call sends a CDP command to the page, with a time limit.
func call[P, R any](p *Page, cmd cdp.Command[P, R], params P) (R, error) {
	ctx, cancel := context.WithTimeout(p.ctx, commandTimeout)
	defer cancel()
	return chromedp.Call(ctx, cmd, params)
}

// commandTimeout limits one command to the browser. A page whose main thread is blocked
// for this long is broken.
const commandTimeout = 30 * time.Second
