package target

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"elicitation-inspector/bridge/wire"
)

// process is a server that runs as a child and speaks over its standard input
// and output. It leads a process group of its own, so that what it starts can be
// ended with it. What leaves the group, as by setsid, has been asked to outlive
// the server, and is left alone: it may be a browser that shows a sign-in page.
type process struct {
	tap   *tap
	conn  *lineConn
	cmd   *exec.Cmd
	group group
	grace time.Duration

	stdout, stderr *output

	exited  chan struct{} // closed when the leader has exited and was reaped
	waitErr error         // set before exited is closed
	drained chan struct{} // closed when both outputs have ended
	ending  chan (<-chan struct{})
	gone    chan struct{} // closed when nothing is left
	result  Exit          // set before gone is closed
}

// How long the end of a process may take beyond the grace that it is given.
const (
	lastWords  = 200 * time.Millisecond // for output that is still under way
	drainTime  = 2 * time.Second        // for output that keeps coming
	orphanTime = 300 * time.Millisecond // for children it left behind when it exited by itself: questions wait to be withdrawn
	killTime   = 5 * time.Second        // for the kernel to carry out SIGKILL
)

// maxStderrLine is how much of one line of standard error is kept.
const maxStderrLine = 1 << 20

func openProcess(s Spec, t *tap, opts Options) (way, error) {
	cmd, err := command(s)
	if err != nil {
		return nil, fmt.Errorf("starting %q: %w", s.Command[0], err)
	}
	p := &process{
		tap: t, cmd: cmd, grace: opts.Grace,
		exited: make(chan struct{}), drained: make(chan struct{}),
		ending: make(chan (<-chan struct{}), 1), gone: make(chan struct{}),
	}
	if err := p.start(); err != nil {
		return nil, fmt.Errorf("starting %q: %w", s.Command[0], explainStart(cmd, err))
	}
	return p, nil
}

// command finds the program. It is looked up in the PATH that it is going to
// have, as a shell would.
func command(s Spec) (*exec.Cmd, error) {
	if s.Dir != "" {
		switch info, err := os.Stat(s.Dir); {
		case errors.Is(err, fs.ErrNotExist):
			return nil, fmt.Errorf("its working directory %q does not exist", s.Dir)
		case err != nil:
			return nil, fmt.Errorf("its working directory: %w", err)
		case !info.IsDir():
			return nil, fmt.Errorf("its working directory %q is no directory", s.Dir)
		}
	}
	cmd := exec.Command(s.Command[0], s.Command[1:]...)
	cmd.Dir = s.Dir
	cmd.Env = append(os.Environ(), s.Env...)
	if path, ok := pathOf(s.Env); ok && filepath.Base(s.Command[0]) == s.Command[0] {
		if found := lookIn(path, s.Command[0]); found != "" {
			cmd.Path, cmd.Err = found, nil
		} else {
			cmd.Err = &exec.Error{Name: s.Command[0], Err: exec.ErrNotFound}
		}
	}
	if cmd.Err != nil {
		return nil, explainStart(cmd, cmd.Err)
	}
	return cmd, nil
}

// pathOf is the PATH that env sets, if it does.
func pathOf(env []string) (path string, ok bool) {
	for _, kv := range env {
		k, v, found := strings.Cut(kv, "=")
		if found && (k == "PATH" || runtime.GOOS == "windows" && strings.EqualFold(k, "PATH")) {
			path, ok = v, true
		}
	}
	return path, ok
}

// lookIn finds a program in the directories of path, "" if it is in none.
func lookIn(path, name string) string {
	for _, dir := range filepath.SplitList(path) {
		if dir == "" {
			continue // the current directory is not searched unasked
		}
		if found, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return found
		}
	}
	return ""
}

// explainStart puts the reason why a program cannot be started into words.
func explainStart(cmd *exec.Cmd, err error) error {
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return fmt.Errorf("there is no such program in PATH: %w", err)
	case errors.Is(err, exec.ErrDot):
		return fmt.Errorf("it was found in the current directory only; write it with a leading %q to run it: %w", "."+string(filepath.Separator), err)
	case errors.Is(err, fs.ErrNotExist):
		path := cmd.Path
		if cmd.Dir != "" && !filepath.IsAbs(path) {
			path = filepath.Join(cmd.Dir, path)
		}
		if _, statErr := os.Stat(path); statErr == nil {
			return fmt.Errorf("%s names an interpreter that does not exist: %w", path, err)
		}
		return fmt.Errorf("there is no file %s: %w", path, err)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%s may not be executed: %w", cmd.Path, err)
	default:
		return err
	}
}

// start makes the pipes, starts the program and everything that watches it.
func (p *process) start() error {
	var files []*os.File
	pipe := func() (r, w *os.File, err error) {
		r, w, err = os.Pipe()
		if err == nil {
			files = append(files, r, w)
		}
		return r, w, err
	}
	fail := func(err error) error {
		for _, f := range files {
			_ = f.Close() // a pipe that nobody has used yet
		}
		return err
	}
	inR, inW, err := pipe()
	if err != nil {
		return fail(err)
	}
	outR, outW, err := pipe()
	if err != nil {
		return fail(err)
	}
	errR, errW, err := pipe()
	if err != nil {
		return fail(err)
	}
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = inR, outW, errW
	p.cmd.SysProcAttr = groupAttr()

	started := make(chan error)
	go p.runLeader(started)
	if err := <-started; err != nil {
		return fail(err)
	}
	for _, f := range []*os.File{inR, outW, errW} {
		_ = f.Close() // the child has its own
	}
	p.stdout, p.stderr = &output{File: outR}, &output{File: errR}
	p.conn = newLineConn(p.tap, inW)
	// Whatever holds up the observer, the process can be ended from here on.
	told := make(chan struct{})
	go func() {
		defer close(told)
		p.tap.note(wire.Note{Kind: wire.NoteProcessStarted, Program: filepath.Base(p.cmd.Path), PID: p.cmd.Process.Pid})
	}()
	go func() {
		<-told
		p.conn.writeAll()
	}()
	var readers sync.WaitGroup
	readers.Go(func() {
		<-told
		p.report("standard output", p.conn.readAll(p.stdout))
	})
	readers.Go(func() {
		<-told
		p.report("standard error", p.readStderr())
	})
	go func() {
		readers.Wait()
		close(p.drained)
	}()
	go p.supervise()
	return nil
}

// runLeader starts the program and waits for its end, on one thread: Linux ends
// a child with a parent-death signal when the thread that started it ends, and
// this one ends no sooner than the child.
func (p *process) runLeader(started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := p.cmd.Start(); err != nil {
		started <- err
		return
	}
	p.group = newGroup(p.cmd.Process)
	p.born()
	started <- nil
	p.waitErr = p.cmd.Wait()
	close(p.exited)
}

func (p *process) readStderr() error {
	lines := newLineReader(p.stderr, 8<<10)
	for {
		line, err := lines.next(min(p.tap.max, maxStderrLine))
		if err != nil {
			return err
		}
		p.tap.observer.Stderr(line.head, !line.whole(), line.size)
	}
}

// report notes an output that ended in another way than by being closed.
func (p *process) report(what string, err error) {
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, os.ErrClosed):
	case errors.Is(err, os.ErrDeadlineExceeded):
		p.tap.note(wire.Note{Kind: wire.NotePipeHeld, Of: what})
	default:
		p.tap.failure(none, wire.Frame{Note: &wire.Note{Kind: wire.NoteReadFailed, Of: "the server's " + what, Why: err.Error()}})
	}
}

// output is our end of a pipe that the process writes to.
type output struct {
	*os.File
	ending atomic.Bool
}

// Read implements [io.Reader].
func (o *output) Read(b []byte) (int, error) {
	if o.ending.Load() {
		o.wait()
	}
	return o.File.Read(b)
}

// last lets reads go on for as long as there is something to read.
func (o *output) last() {
	o.ending.Store(true)
	o.wait()
}

// wait bounds reads that find nothing. Where the system cannot do that, they
// end when the file is closed.
func (o *output) wait() { _ = o.SetReadDeadline(time.Now().Add(lastWords)) }

// supervise sees the process to its end, asked for or not.
func (p *process) supervise() {
	defer p.group.release()
	var hurry <-chan struct{}
	asked := false
	select {
	case <-p.exited:
	case hurry = <-p.ending:
		asked = true
		_ = p.conn.Close() // a pipe that is broken already is just as closed
		await(p.exited, p.grace, hurry)
	}
	grace := p.grace
	if !asked {
		// It exited by itself. What it has written is on its way; children that
		// hold on to the pipes are not waited for.
		await(p.drained, lastWords, nil)
		grace = min(grace, orphanTime)
	}
	problem := p.endGroup(grace, hurry)
	p.buried()

	// From here on only a process outside of the group can hold the pipes. Its
	// silence is taken for the end.
	p.stdout.last()
	p.stderr.last()
	if !await(p.drained, drainTime, nil) {
		problem = errors.Join(problem, errors.New("its output did not end"))
	}
	_ = p.conn.Close()
	_ = p.stdout.Close()
	_ = p.stderr.Close()
	await(p.drained, lastWords, nil)
	await(p.conn.stopped, lastWords, nil)

	select {
	case <-p.exited:
		p.result = exitOf(p.cmd.ProcessState)
	default:
		p.result = Exit{Code: -1}
	}
	var status *exec.ExitError
	if p.waitErr != nil && !errors.As(p.waitErr, &status) {
		problem = errors.Join(problem, p.waitErr)
	}
	p.result.Err = problem
	note := p.result.note()
	note.PID = p.cmd.Process.Pid
	if asked {
		note.By = wire.ByInspector
	}
	if p.result.failed(asked) {
		p.tap.failure(none, wire.Frame{Note: &note})
	} else {
		p.tap.note(note)
	}
	close(p.gone)
}

// endGroup ends what is left of the process group: SIGTERM, and after the grace
// SIGKILL. This comes right after the leader was reaped and not later, because
// the number of a group that is empty may be given to another one.
func (p *process) endGroup(grace time.Duration, hurry <-chan struct{}) error {
	if p.left() {
		p.group.terminate()
		if !p.awaitLeft(grace, hurry) {
			p.group.kill()
			if !p.awaitLeft(killTime, nil) {
				return fmt.Errorf("process group %d could not be killed", p.cmd.Process.Pid)
			}
		}
	}
	return nil
}

// left reports whether the leader or another process of the group runs.
func (p *process) left() bool {
	select {
	case <-p.exited:
		return p.group.alive()
	default:
		return true
	}
}

// awaitLeft waits until nothing is left, and reports whether that is so. The
// system tells the end of children only, so the rest of the group is polled.
func (p *process) awaitLeft(limit time.Duration, hurry <-chan struct{}) bool {
	deadline := time.NewTimer(limit)
	defer deadline.Stop()
	exited := p.exited
	pause := time.Millisecond
	for p.left() {
		tick := time.NewTimer(pause)
		select {
		case <-exited:
			exited = nil
		case <-tick.C:
			pause = min(2*pause, 50*time.Millisecond)
		case <-deadline.C:
			tick.Stop()
			return false
		case <-hurry:
			tick.Stop()
			return false
		}
		tick.Stop()
	}
	return true
}

// await waits for done, but no longer than limit, or until hurry is closed. It
// reports whether done came.
func await(done <-chan struct{}, limit time.Duration, hurry <-chan struct{}) bool {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-done:
		return true
	case <-timer.C:
	case <-hurry:
	}
	select {
	case <-done:
		return true
	default:
		return false
	}
}

// Connect implements [mcp.Transport].
func (p *process) Connect(ctx context.Context) (mcp.Connection, error) { return p.conn.Connect(ctx) }

func (p *process) how() string           { return viaStdio }
func (p *process) done() <-chan struct{} { return p.gone }

func (p *process) exit() (Exit, bool) {
	select {
	case <-p.gone:
		return p.result, true
	default:
		return Exit{}, false
	}
}

func (p *process) end(hurry <-chan struct{}) error {
	p.ending <- hurry
	<-p.gone
	return p.result.Err
}
