package e2e

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"elicitation-inspector/e2e/internal/inspector"
	"elicitation-inspector/e2e/internal/page"
)

// ownAddress matches the page's address on the host that only it has.
var ownAddress = regexp.MustCompile(`^http://\w{26}\.inspector\.localhost:\d+/$`)

// The browser gets the path of a private file that leads to the page. The token is not in
// any process's arguments, and in the address bar only until the page is loaded. Then the
// file is removed.
func TestTheTokenIsSeenByNobodyElse(t *testing.T) {
	t.Parallel()
	stand := t.TempDir()
	told := filepath.Join(stand, "told")
	script := "#!/bin/sh\n{ tr '\\0' '\\n' < /proc/$$/cmdline; tr '\\0' '\\n' < /proc/$PPID/cmdline; stat -c 'mode %a' \"$1\"; echo \"file $1\"; } > " + told + ".new && mv " + told + ".new " + told + "\n"
	if err := os.WriteFile(filepath.Join(stand, "xdg-open"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	p := inspector.StartWith(t, inspector.Options{Env: []string{"PATH=" + stand + ":" + os.Getenv("PATH"), "DISPLAY=:99", "CI="}}, "--listen", "127.0.0.1:0")
	said := wait(t, "the browser is asked for", func() (string, bool) {
		text, err := os.ReadFile(told)
		return string(text), err == nil
	})
	if strings.Contains(said, p.Token) {
		t.Errorf("a process has the token among its arguments:\n%s", said)
	}
	if !strings.Contains(said, "mode 600\n") {
		t.Errorf("others can read the file:\n%s", said)
	}
	_, file, _ := strings.Cut(strings.TrimSpace(said), "\nfile ")
	if text, err := os.ReadFile(file); err != nil || !strings.Contains(string(text), p.Token) {
		t.Fatalf("the file does not lead to the page: %v\n%s", err, text)
	}

	tab := browser.Open(t, "file://"+file)
	base := ""
	wait(t, "the page has replaced its address", func() (string, bool) {
		here := page.Eval[string](tab, "location.href")
		base = strings.TrimSuffix(here, "/")
		return here, ownAddress.MatchString(here)
	})
	wait(t, "it is the page", func() (string, bool) {
		n := page.Eval[int](tab, "document.querySelectorAll('#call').length")
		return strconv.Itoa(n), n == 1
	})
	wait(t, "the file is removed", func() (string, bool) {
		_, err := os.Stat(file)
		return file, os.IsNotExist(err)
	})
	tab.Reload() // with the cookie alone
	if here := page.Eval[string](tab, "location.href + document.querySelectorAll('#call').length"); here != base+"/1" {
		t.Errorf("loaded again it is %s", here)
	}
	tab.Goto(p.URL + "&filter=dir:c2s")
	wait(t, "the printed address is replaced, and the rest of it stays", func() (string, bool) {
		here := page.Eval[string](tab, "location.href")
		return here, here == base+"/?filter=dir%3Ac2s"
	})
}

// A file that no browser has read is removed at the end of the inspector, also if it is
// killed.
func TestTheFileForTheBrowserDoesNotStay(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(p *inspector.Process){"ended": (*inspector.Process).Stop, "killed": (*inspector.Process).Crash} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stand := t.TempDir()
			told := filepath.Join(stand, "told")
			if err := os.WriteFile(filepath.Join(stand, "xdg-open"), []byte("#!/bin/sh\nprintf %s \"$1\" > "+told+".new && mv "+told+".new "+told+"\n"), 0o755); err != nil {
				t.Fatal(err)
			}
			p := inspector.StartWith(t, inspector.Options{Env: []string{"PATH=" + stand + ":" + os.Getenv("PATH"), "DISPLAY=:99", "CI="}}, "--listen", "127.0.0.1:0")
			file := wait(t, "the browser is asked for", func() (string, bool) {
				text, err := os.ReadFile(told)
				return string(text), err == nil
			})
			end(p)
			wait(t, "the file is removed", func() (string, bool) {
				_, err := os.Stat(file)
				return file, os.IsNotExist(err)
			})
		})
	}
}

// wait waits until look returns true, and returns its text.
func wait(t *testing.T, what string, look func() (string, bool)) string {
	t.Helper()
	last := ""
	for end := time.Now().Add(inspector.Patience); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		text, ok := look()
		if ok {
			return text
		}
		last = text
	}
	t.Fatalf("it never came to be that %s; it is %s", what, last)
	return ""
}
