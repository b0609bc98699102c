package transport

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
	"syscall"
	"time"

	"elicitation-inspector/bridge/client/target"
	"elicitation-inspector/bridge/wire"
	"elicitation-inspector/bridge/wire/lines"
)

// process is a server that runs as a child and speaks over its standard input and
// output. It leads a process group of its own, so that its children can be ended with
// it. A child that leaves the group, as by setsid, is meant to outlive the server and
// is left alone: it may be a browser that shows a sign-in page.
type process struct {
	*lineConn
	ending
	*Child
	grace time.Duration

	asked   chan context.Context // receives the request to end; the context bounds the waiting
	drained chan struct{}        // closed when both outputs have ended
}

// Time limits for the end of a process, besides Options.Grace.
const (
	lastWords  = 200 * time.Millisecond // for output that is still in the pipes
	drainTime  = 2 * time.Second        // for output that keeps coming
	orphanTime = 300 * time.Millisecond // for children of a process that exited by itself; short, because questions wait to be withdrawn
	killTime   = 5 * time.Second        // for the kernel to carry out SIGKILL
)

// maxStderrLine is how many bytes of one line of standard error are kept.
const maxStderrLine = 1 << 20

func openProcess(s target.Spec, t *tap, opts Options) (connection, error) {
	started, err := launch(s)
	if err != nil {
		return nil, err
	}
	p := &process{
		lineConn: newLineConn(t, started.Stdin), ending: ending{gone: make(chan struct{})}, Child: started, grace: opts.Grace,
		asked: make(chan context.Context, 1), drained: make(chan struct{}),
	}
	// The process can be ended from here on, even while the observer blocks.
	told := make(chan struct{})
	go func() {
		defer close(told)
		p.tap.note(p.Started)
	}()
	go func() {
		<-told
		p.writeAll()
	}()
	var readers sync.WaitGroup
	readers.Go(func() {
		<-told
		p.report("standard output", p.readAll(p.Stdout))
	})
	readers.Go(func() {
		<-told
		p.report("standard error", lines.Read(p.Stderr, min(p.tap.max, maxStderrLine), func(line lines.Clipped) {
			p.tap.observer.Stderr(line.Head, !line.Whole(), line.Size)
		}))
	})
	go func() {
		readers.Wait()
		close(p.drained)
	}()
	go p.supervise()
	return p, nil
}

// launch starts the process of a spec in a group of its own. The error says in words what is
// wrong with its command.
func launch(s target.Spec) (*Child, error) {
	cmd, err := command(s)
	if err != nil {
		return nil, fmt.Errorf("starting %q: %w", s.Command[0], err)
	}
	cmd.SysProcAttr = groupAttr()
	stdin, inErr := cmd.StdinPipe()
	stdout, outErr := cmd.StdoutPipe()
	stderr, errErr := cmd.StderrPipe()
	if err := errors.Join(inErr, outErr, errErr); err != nil {
		return nil, err
	}
	p := &Child{
		cmd: cmd, Stdin: stdin, Stdout: &output{ReadCloser: stdout}, Stderr: &output{ReadCloser: stderr}, Exited: make(chan struct{}),
		Started: wire.Note{Kind: wire.NoteProcessStarted, Program: filepath.Base(cmd.Path), Command: s.Command, Dir: s.Dir, Derived: s.Derived},
	}
	for _, pair := range s.Env {
		name, _, _ := strings.Cut(pair, "=")
		p.Started.Env = append(p.Started.Env, name)
	}
	outcome := make(chan error)
	go p.run(outcome)
	if err := <-outcome; err != nil {
		return nil, fmt.Errorf("starting %q: %w", s.Command[0], explainStart(cmd, err))
	}
	p.Started.PID = cmd.Process.Pid
	return p, nil
}

// run starts the program and waits for its end, on one thread: Linux sends the
// parent-death signal when the thread that started the child ends, so this thread must
// live as long as the child.
func (p *Child) run(outcome chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := p.cmd.Start(); err != nil {
		outcome <- err
		return
	}
	p.group = newGroup(p.cmd.Process)
	started.Store(p.group, nil)
	p.group.guard()
	outcome <- nil
	// Cmd.Wait would close the pipes before they are read to the end.
	p.State, p.waitErr = p.cmd.Process.Wait()
	close(p.Exited)
}

// report notes why reading an output ended, unless the output was closed.
func (p *process) report(what string, err error) {
	switch {
	case err == nil, errors.Is(err, os.ErrClosed):
	case errors.Is(err, os.ErrDeadlineExceeded):
		p.tap.note(wire.Note{Kind: wire.NotePipeHeld, Of: what})
	default:
		p.tap.failure(noRequest, wire.Frame{Note: &wire.Note{Kind: wire.NoteReadFailed, Of: "the server's " + what, Why: err.Error()}})
	}
}

// output is the reading end of a pipe that the process writes to.
type output struct {
	io.ReadCloser
	ending atomic.Bool
}

func (o *output) Read(b []byte) (int, error) {
	if o.ending.Load() {
		o.bound()
	}
	return o.ReadCloser.Read(b)
}

// SyscallConn implements [syscall.Conn], if the pipe is one of the system.
func (o *output) SyscallConn() (syscall.RawConn, error) {
	if pipe, ok := o.ReadCloser.(syscall.Conn); ok {
		return pipe.SyscallConn()
	}
	return nil, errors.ErrUnsupported
}

// last makes reads end once the pipe stays empty for lastWords.
func (o *output) last() {
	o.ending.Store(true)
	o.bound()
}

// bound sets the deadline of reads on an empty pipe. Where the system has no such
// deadlines, reads end when the pipe is closed.
func (o *output) bound() {
	if pipe, ok := o.ReadCloser.(interface{ SetReadDeadline(time.Time) error }); ok {
		_ = pipe.SetReadDeadline(time.Now().Add(lastWords))
	}
}

// supervise waits until the process exits or end is called. Then it stops the process and its
// children if they still run, and logs the exit.
func (p *process) supervise() {
	defer p.group.release()
	patience, grace, asked := context.Background(), p.grace, false
	select {
	case <-p.Exited:
		// The process exited by itself. Read what it has written, but do not wait for
		// children that keep the pipes open.
		await(patience, p.drained, lastWords)
		grace = min(grace, orphanTime)
	case patience = <-p.asked:
		asked = true
		_ = p.Close() // an error means that the pipe is broken, which is as good as closed
		await(patience, p.Exited, grace)
	}
	// End the group right after the leader was reaped, because the system may reuse the
	// id of an empty group.
	problem := p.endGroup(patience, grace)
	started.Delete(p.group)
	p.group.unguard()
	problem = errors.Join(problem, p.endOutput())

	exit := Exit{Code: -1}
	select {
	case <-p.Exited:
		exit = exitOf(p.State)
		problem = errors.Join(problem, p.waitErr)
	default:
	}
	exit.Err = problem
	note := exit.note()
	note.PID = p.cmd.Process.Pid
	if asked {
		note.By = wire.ByInspector
	}
	// To end by a signal is no failure if the process was asked to end.
	if exit.Code > 0 || exit.Err != nil || exit.Signal != "" && !asked {
		p.tap.failure(noRequest, wire.Frame{Note: &note})
	} else {
		p.tap.note(note)
	}
	p.exit = &exit
	close(p.gone)
}

// endGroup ends the processes left in the group: with SIGTERM, and with SIGKILL after
// the grace.
func (p *process) endGroup(patience context.Context, grace time.Duration) error {
	if !p.running() {
		return nil
	}
	p.group.terminate()
	if p.awaitStopped(patience, grace) {
		return nil
	}
	p.group.kill()
	if p.awaitStopped(context.Background(), killTime) {
		return nil
	}
	return fmt.Errorf("process group %d could not be killed", p.cmd.Process.Pid)
}

// endOutput reads the rest of the output. Only a process outside of the group can still
// hold the pipes; when it is silent, the output counts as ended.
func (p *process) endOutput() error {
	p.LastWords()
	var err error
	if !await(context.Background(), p.drained, drainTime) {
		err = errors.New("its output did not end")
	}
	_ = p.Close()
	_ = p.Stdout.Close()
	_ = p.Stderr.Close()
	await(context.Background(), p.drained, lastWords)
	await(context.Background(), p.stopped, lastWords)
	return err
}

func (p *process) running() bool {
	select {
	case <-p.Exited:
		return p.group.alive()
	default:
		return true
	}
}

// awaitStopped waits until no process of the group is left, and reports whether it
// succeeded. It polls, because the system only reports the end of direct children.
func (p *process) awaitStopped(patience context.Context, limit time.Duration) bool {
	patience, cancel := context.WithTimeout(patience, limit)
	defer cancel()
	for pause := time.Millisecond; p.running(); pause = min(2*pause, 50*time.Millisecond) {
		select {
		case <-time.After(pause):
		case <-patience.Done():
			return false
		}
	}
	return true
}

// await waits for done, at most for limit and until patience ends. It reports whether
// done was closed.
func await(patience context.Context, done <-chan struct{}, limit time.Duration) bool {
	patience, cancel := context.WithTimeout(patience, limit)
	defer cancel()
	select {
	case <-done:
		return true
	case <-patience.Done():
	}
	select {
	case <-done:
		return true
	default:
		return false
	}
}

func (p *process) end(patience context.Context) error {
	p.asked <- patience
	<-p.gone
	return p.exit.Err
}

// command prepares the process of a spec. Like a shell, it looks a program without a
// folder up in the PATH that the process will have.
func command(s target.Spec) (*exec.Cmd, error) {
	if s.Dir != "" {
		switch info, err := os.Stat(s.Dir); {
		case errors.Is(err, fs.ErrNotExist):
			return nil, fmt.Errorf("its working directory %q does not exist", s.Dir)
		case err != nil:
			return nil, fmt.Errorf("its working directory: %w", err)
		case !info.IsDir():
			return nil, fmt.Errorf("its working directory %q is not a directory", s.Dir)
		}
	}
	cmd := exec.Command(s.Command[0], s.Command[1:]...)
	cmd.Dir = s.Dir
	cmd.Env = append(os.Environ(), s.Env...)
	path, ok := "", false
	for _, kv := range s.Env {
		k, v, found := strings.Cut(kv, "=")
		if found && (k == "PATH" || runtime.GOOS == "windows" && strings.EqualFold(k, "PATH")) {
			path, ok = v, true
		}
	}
	if ok && filepath.Base(s.Command[0]) == s.Command[0] {
		cmd.Err = &exec.Error{Name: s.Command[0], Err: exec.ErrNotFound}
		for _, dir := range filepath.SplitList(path) {
			// An empty entry would mean the current directory.
			if found, err := exec.LookPath(filepath.Join(dir, s.Command[0])); dir != "" && err == nil {
				cmd.Path, cmd.Err = found, nil
				break
			}
		}
	}
	if cmd.Err != nil {
		return nil, explainStart(cmd, cmd.Err)
	}
	return cmd, nil
}

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

// started holds the groups of all processes that this program has started and that have
// not ended, so that KillAll can reach them.
var started sync.Map

// KillAll kills every started process that has not ended, with its group, and does not
// wait. It is for a program that must exit at once.
func KillAll() {
	for g := range started.Range {
		g.(group).kill()
	}
}
