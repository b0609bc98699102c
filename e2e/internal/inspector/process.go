// Package inspector starts the built binary, reads its output and its transcript, and
// ends it like a person at a terminal.
package inspector

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// Binary is the path of the inspector under test. The tests' main sets it.
var Binary string

// Patience is the time limit for the ready line, and for the end of the process.
const Patience = 30 * time.Second

// Build builds a program of the module in a folder, as the README does: without the C
// library, unless the race detector needs it.
func Build(dir, to string, args ...string) error {
	cmd := exec.Command("go", append([]string{"build", "-o", to}, args...)...)
	cmd.Dir = dir
	cgo := "0"
	if slices.Contains(args, "-race") {
		cgo = "1"
	}
	cmd.Env = append(os.Environ(), "CGO_ENABLED="+cgo)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return nil
}

// Process is one running inspector.
type Process struct {
	URL   string // the printed URL, with the token
	Base  string // scheme and address, no slash at the end
	Token string

	// Started is the time just before the process was started.
	Started time.Time

	t       testing.TB
	cmd     *exec.Cmd
	mark    string // variable in the environment of the process and its descendants
	temp    string // its TMPDIR
	stdout  lines
	stderr  lines
	exited  chan struct{}
	err     error // result of Wait; read after exited is closed
	ended   sync.Once
	stopped bool // Stop was called
	client  *http.Client
}

// Options of a start besides its arguments.
type Options struct {
	Env    []string // K=V
	Dir    string   // working folder
	Binary string   // in place of [Binary]; "" for that one
}

// readyLine is the one line on standard output.
var readyLine = regexp.MustCompile(`^Inspector ready: (http://\S+/\?token=(\S+))$`)

// Start runs `inspector --no-open --listen 127.0.0.1:0 ARGS...` and waits for its ready
// line. At the end of the test it calls Stop.
func Start(t testing.TB, args ...string) *Process {
	t.Helper()
	return StartWith(t, Options{}, append([]string{"--no-open", "--listen", "127.0.0.1:0"}, args...)...)
}

// StartWith runs the inspector with exactly these arguments.
func StartWith(t testing.TB, o Options, args ...string) *Process {
	t.Helper()
	p := launch(t, o, args...)
	t.Cleanup(func() {
		over := p.stopped // later failures are not related to it
		p.Stop()
		if t.Failed() && !over {
			t.Logf("inspector %s\nits standard error:\n%s", strings.Join(args, " "), p.Stderr())
		}
	})
	line, ok := p.stdout.first(func(s string) bool { return readyLine.MatchString(s) }, p.exited)
	if !ok {
		t.Fatalf("inspector %s: no ready line; standard output %q, standard error:\n%s", strings.Join(args, " "), p.Stdout(), p.Stderr())
	}
	m := readyLine.FindStringSubmatch(line)
	p.URL, p.Token = m[1], m[2]
	u, err := url.Parse(p.URL)
	if err != nil {
		t.Fatalf("the ready line's URL: %v", err)
	}
	p.Base = u.Scheme + "://" + u.Host
	return p
}

// Result is the outcome of a run of the inspector that ends by itself.
type Result struct {
	Code           int
	Stdout, Stderr string
}

// Run runs the inspector with exactly these arguments until it ends by itself.
func Run(t testing.TB, o Options, args ...string) Result {
	t.Helper()
	p := launch(t, o, args...)
	select {
	case <-p.exited:
	case <-time.After(Patience):
		p.kill()
		t.Fatalf("inspector %s did not end by itself; standard output %q, standard error:\n%s", strings.Join(args, " "), p.Stdout(), p.Stderr())
	}
	p.ended.Do(func() {})
	return Result{Code: p.cmd.ProcessState.ExitCode(), Stdout: p.Stdout(), Stderr: p.Stderr()}
}

func launch(t testing.TB, o Options, args ...string) *Process {
	t.Helper()
	var random [8]byte
	_, _ = rand.Read(random[:])
	p := &Process{t: t, mark: "INSPECTOR_E2E=" + hex.EncodeToString(random[:]), temp: t.TempDir(), exited: make(chan struct{})}
	p.cmd = exec.Command(cmp.Or(o.Binary, Binary), args...)
	p.cmd.Dir = o.Dir
	// DISPLAY is inherited: it only matters to tests of `--no-open`.
	p.cmd.Env = append(append(os.Environ(), p.mark, "TMPDIR="+p.temp), o.Env...)
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	stderr, err := p.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.Started = time.Now()
	if err := p.cmd.Start(); err != nil {
		t.Fatalf("starting the inspector: %v", err)
	}
	var readers sync.WaitGroup
	readers.Go(func() { p.stdout.read(stdout) })
	readers.Go(func() { p.stderr.read(stderr) })
	go func() {
		readers.Wait()
		p.err = p.cmd.Wait()
		p.stdout.close()
		p.stderr.close()
		close(p.exited)
	}()
	return p
}

// PID is the process's id.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Stdout returns the standard output so far.
func (p *Process) Stdout() string { return p.stdout.String() }

// Stderr returns the standard error so far.
func (p *Process) Stderr() string { return p.stderr.String() }

// LogLine waits for a line on standard error that satisfies a condition.
func (p *Process) LogLine(what string, ok func(line string) bool) string {
	p.t.Helper()
	line, found := p.stderr.first(ok, p.exited)
	if !found {
		p.t.Fatalf("no line on standard error that is %s; it has:\n%s", what, p.Stderr())
	}
	return line
}

// Stop interrupts the process like Ctrl-C. It fails the test unless the process ends in
// time with exit code 0, leaves neither a process nor a temporary file, and has reported
// no data race. Further calls do nothing.
func (p *Process) Stop() {
	p.t.Helper()
	p.ended.Do(func() {
		p.stopped = true
		select {
		case <-p.exited:
			p.t.Errorf("the inspector ended by itself: %v", p.err)
		default:
			if err := p.cmd.Process.Signal(os.Interrupt); err != nil {
				p.t.Errorf("interrupting the inspector: %v", err)
			}
			select {
			case <-p.exited:
				if p.err != nil {
					log := p.Stderr()
					p.t.Errorf("after an interrupt the inspector ended with: %v, want exit code 0; its standard error ends with\n%s", p.err, log[max(0, len(log)-4000):])
				}
			case <-time.After(Patience):
				p.t.Errorf("the inspector did not end within %v of an interrupt", Patience)
				_ = p.cmd.Process.Signal(syscall.SIGQUIT) // prints its goroutines on stderr
				select {
				case <-p.exited:
				case <-time.After(time.Second):
				}
			}
		}
		p.kill()
		if left := p.Survivors(2 * time.Second); len(left) > 0 {
			p.t.Errorf("processes outlived the inspector: %s", strings.Join(left, "; "))
			killAll(p.mark)
		}
		if log := p.Stderr(); strings.Contains(log, "DATA RACE") {
			p.t.Errorf("the inspector reported a data race:\n%s", log)
		}
		if left, _ := filepath.Glob(filepath.Join(p.temp, "*")); len(left) > 0 {
			p.t.Errorf("temporary files outlived the inspector: %q", left)
		}
	})
}

// kill ends the process at once if it still runs.
func (p *Process) kill() {
	_ = p.cmd.Process.Kill()
	<-p.exited
}

// Kill ends the process and its descendants with SIGKILL, without checks.
func (p *Process) Kill() {
	p.ended.Do(p.kill)
	killAll(p.mark)
}

// Crash kills the process but not its descendants, without checks.
func (p *Process) Crash() { p.ended.Do(p.kill) }

// Survivors returns the descendants of the inspector that still live after patience.
func (p *Process) Survivors(patience time.Duration) []string {
	var left []string
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if left = marked(p.mark, p.PID()); len(left) == 0 {
			return nil
		}
	}
	return left
}

// Children returns the living descendants of the inspector.
func (p *Process) Children() []string { return marked(p.mark, p.PID()) }

// Client returns an HTTP client that has sent the token once and has the cookie.
func (p *Process) Client() *http.Client {
	p.t.Helper()
	if p.client != nil {
		return p.client
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		p.t.Fatal(err)
	}
	p.client = &http.Client{Jar: jar, Timeout: Patience}
	res, err := p.client.Get(p.URL)
	if err != nil {
		p.t.Fatalf("GET %s: %v", p.URL, err)
	}
	defer res.Body.Close()
	if body, _ := io.ReadAll(res.Body); res.StatusCode != http.StatusOK {
		p.t.Fatalf("GET %s: %s\n%s", p.URL, res.Status, body)
	}
	return p.client
}

// lines collects the output of a pipe, and lets others wait for a line.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
	all  []string
	more chan struct{} // closed at the next line
	done bool
}

func (l *lines) read(r io.Reader) {
	in := bufio.NewReader(r)
	for {
		line, err := in.ReadString('\n')
		if line != "" {
			l.mu.Lock()
			l.text.WriteString(line)
			l.all = append(l.all, strings.TrimRight(line, "\r\n"))
			l.wake()
			l.mu.Unlock()
		}
		if err != nil {
			return
		}
	}
}

func (l *lines) wake() {
	if l.more != nil {
		close(l.more)
		l.more = nil
	}
}

func (l *lines) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.done = true
	l.wake()
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func (l *lines) first(ok func(string) bool, exited <-chan struct{}) (string, bool) {
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	for seen := 0; ; {
		l.mu.Lock()
		fresh := l.all[seen:]
		seen = len(l.all)
		if l.more == nil {
			l.more = make(chan struct{})
		}
		more, done := l.more, l.done
		l.mu.Unlock()
		for _, s := range fresh {
			if ok(s) {
				return s, true
			}
		}
		if done {
			return "", false
		}
		select {
		case <-more:
		case <-exited:
		case <-ctx.Done():
			return "", false
		}
	}
}

// ErrNoProc is the error if the list of processes cannot be read.
var ErrNoProc = errors.New("processes cannot be listed here")

// RSS returns the resident memory of the process in bytes.
func (p *Process) RSS() (int64, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.PID()))
	if err != nil {
		return 0, ErrNoProc
	}
	for line := range strings.Lines(string(status)) {
		var kb int64
		if n, _ := fmt.Sscanf(line, "VmRSS: %d kB", &kb); n == 1 {
			return kb << 10, nil
		}
	}
	return 0, ErrNoProc
}
