//go:build unix

package transport

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"elicitation-inspector/bridge/client/target"
)

func init() {
	servers["family"] = serveFamily
	servers["keeper"] = serveKeeper
}

// serveFamily starts a child that ignores SIGTERM and inherits its pipes, and prints
// the child's process id. With "runaway" the child leaves the process group. The parent
// then runs until its input ends, exits ("leave"), or ignores the end of its input and
// SIGTERM ("stubborn").
func serveFamily() int {
	exe, err := os.Executable()
	if err != nil {
		return 1
	}
	child := exec.Command(exe)
	child.Env = append(os.Environ(), serverMode+"=stubborn")
	child.Stdin, child.Stdout = os.Stdin, os.Stdout
	child.SysProcAttr = &syscall.SysProcAttr{Setpgid: strings.Contains(os.Args[1], "runaway")}
	out, err := child.StderrPipe()
	if err != nil {
		return 1
	}
	if err := child.Start(); err != nil {
		return 1
	}
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil { // until it ignores signals
		return 1
	}
	if strings.Contains(os.Args[1], "stubborn") {
		signal.Ignore(syscall.SIGTERM)
	}
	fmt.Fprintln(os.Stderr, "child", child.Process.Pid)
	if strings.Contains(os.Args[1], "leave") {
		return 3
	}
	for b := make([]byte, 1); err == nil; {
		_, err = os.Stdin.Read(b)
	}
	if strings.Contains(os.Args[1], "stubborn") {
		time.Sleep(time.Hour)
	}
	return 0
}

// running reports whether a process runs. A zombie does not.
func running(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return runtime.GOOS != "linux"
	}
	return !bytes.Contains(stat, []byte(") Z "))
}

// pid reads a process id from standard error.
func pid(t *testing.T, r *recorder, word string) int {
	t.Helper()
	line := r.await(t, "stderr", text(word+" ")).text
	n, err := strconv.Atoi(line[len(word)+1:])
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestProcessLeavesNoSurvivor(t *testing.T) {
	tests := []struct {
		name string
		spec target.Spec
		word string // precedes the id of the process that must not survive
		self bool   // the server ends by itself
		hurt bool   // the context of Close has already ended
		want Exit
		in   time.Duration // the grace: long where something must end within it, and short where nothing does
	}{
		{"ignores its input's end", program("sleeper"), "ready", false, false, Exit{Code: -1, Signal: "terminated"}, long},
		{"ignores SIGTERM", program("stubborn"), "ready", false, false, Exit{Code: -1, Signal: "killed"}, short},
		{"ignores SIGTERM, in a hurry", program("stubborn"), "ready", false, true, Exit{Code: -1, Signal: "killed"}, time.Hour},
		{"its child ignores SIGTERM", program("family", "stay"), "child", false, false, Exit{}, long},
		{"both ignore SIGTERM", program("family", "stubborn"), "child", false, false, Exit{Code: -1, Signal: "killed"}, short},
		{"it has left its child behind", program("family", "leave"), "child", true, false, Exit{Code: 3}, short},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			noLeaks(t)
			r := &recorder{}
			l := mustOpen(t, test.spec, r, Options{Grace: test.in})
			n := pid(t, r, test.word)
			ctx, cancel := context.WithCancel(t.Context())
			if test.hurt {
				cancel()
			}
			if test.self {
				wait(t, l.Done())
			}
			if err := l.Close(ctx); err != nil {
				t.Error(err)
			}
			cancel()
			if running(n) {
				t.Errorf("process %d has survived", n)
			}
			if exit, ok := l.Exit(); !ok || exit != test.want {
				t.Errorf("exit %+v %v, want %+v", exit, ok, test.want)
			}
		})
	}
}

// A process that has left the group is not ended. The link must not wait for it.
func TestProcessWithARunaway(t *testing.T) {
	for _, how := range []string{"runaway", "runaway, leave"} {
		t.Run(how, func(t *testing.T) {
			noLeaks(t)
			r := &recorder{}
			l := mustOpen(t, program("family", how), r, Options{Grace: short})
			n := pid(t, r, "child")
			defer func() {
				if err := syscall.Kill(n, syscall.SIGKILL); err != nil {
					t.Errorf("the runaway: %v", err)
				}
			}()
			if strings.Contains(how, "leave") {
				wait(t, l.Done())
			}
			mustClose(t, l)
			r.await(t, "note", text("held open by a process outside of its group"))
		})
	}
}

// firstNumber waits for the first line of standard error and returns the number in it.
func (r *recorder) firstNumber() string {
	for ; ; time.Sleep(time.Millisecond) {
		r.mu.Lock()
		all := r.all
		r.mu.Unlock()
		for _, e := range all {
			if _, number, ok := strings.Cut(e.text, " "); ok && e.what == "stderr" {
				return number
			}
		}
	}
}

// serveKeeper opens a link to a server in the mode of its argument, and prints the ids
// of the server's process and of its child.
func serveKeeper() int {
	r := &recorder{}
	mode, argument, _ := strings.Cut(os.Args[1], " ")
	l, err := Open(context.Background(), program(mode, argument), r, Options{})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	for range 100 { // start and end threads: the child's life must not depend on one of them
		go func() {
			runtime.LockOSThread()
			runtime.Gosched()
		}()
	}
	fmt.Println(l.way.(*process).cmd.Process.Pid, r.firstNumber())
	time.Sleep(time.Hour)
	return 0
}

func TestProcessEndsWithAKilledInspector(t *testing.T) {
	for _, mode := range []string{"sleeper", "stubborn", "family stay", "family stubborn"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel() // the guardian waits for two seconds
			testKilledInspector(t, mode)
		})
	}
}

// testKilledInspector kills a program whose server runs in a mode, and checks that no
// process of the server survives.
func testKilledInspector(t *testing.T, mode string) {
	keeper := program("keeper", mode)
	cmd := exec.Command(keeper.Command[0], keeper.Command[1:]...)
	cmd.Env = append(os.Environ(), keeper.Env...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	var family []int
	for word := range strings.FieldsSeq(line) {
		n, err := strconv.Atoi(word)
		if err != nil {
			t.Fatal(err)
		}
		if !running(n) {
			t.Error("the server has ended before the inspector")
		}
		family = append(family, n)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	for _, n := range family {
		for deadline := time.Now().Add(patience); running(n); time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				_ = syscall.Kill(n, syscall.SIGKILL)
				t.Fatalf("process %d has survived", n)
			}
		}
	}
}

// The end of a thread must not end the server.
func TestProcessOutlivesTheThreadThatOpenedIt(t *testing.T) {
	r := &recorder{}
	opened := make(chan *Link)
	go func() {
		runtime.LockOSThread() // and never unlock: the thread ends with the goroutine
		l, err := Open(t.Context(), program("good"), r, Options{})
		if err != nil {
			t.Error(err)
		}
		opened <- l
	}()
	l := <-opened
	s := connect(t, l, nil)
	for range 20 {
		ended := make(chan struct{})
		go func() {
			runtime.LockOSThread()
			close(ended)
		}()
		<-ended
		if got := mustCall(t, s, "echo", map[string]any{"text": "x"}); got != "x" {
			t.Fatal(got)
		}
	}
	mustClose(t, l)
	if exit, _ := l.Exit(); exit != (Exit{}) {
		t.Errorf("exit %v", exit)
	}
}
