package wire

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// hungDisk blocks writes until it is released.
type hungDisk struct{ free chan struct{} }

func (d hungDisk) Write(b []byte) (int, error) {
	<-d.free
	return len(b), nil
}

func TestRecorderGivesUpOnADiskThatHangs(t *testing.T) {
	disk := hungDisk{make(chan struct{})}
	r := NewRecorder(disk, RecordOptions{Patience: 50 * time.Millisecond})
	defer close(disk.free)
	l := newTestLog(t, Options{})
	l.Record(r)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for i := range 10 {
				l.Append(message(Stderr, "line %d", i))
			}
			l.Append(message(ServerToClient, `{"jsonrpc":"2.0","method":"m","params":["%s"]}`, strings.Repeat("x", largeLine)))
		})
	}
	wg.Wait() // Append does not wait for the disk
	if err := r.Err(); err == nil || !strings.Contains(err.Error(), "has not taken a write for 50ms") {
		t.Errorf("the error is %v", err)
	}
	if l.Len() != 44 || l.Err() != nil {
		t.Errorf("the log suffers from it: %d frames, %v", l.Len(), l.Err())
	}
	select {
	case <-r.Failed():
	default:
		t.Error("nobody is told")
	}
	if err := r.Close(); err == nil {
		t.Error("Close does not tell of it")
	}
}

func TestRecorderSaysThatTheFileWasCut(t *testing.T) {
	path := filepath.Join(t.TempDir(), "flow.jsonl")
	r, err := OpenRecorder(path, RecordOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	l := newTestLog(t, Options{})
	l.Record(r)
	l.Append(message(Stderr, "x"))
	if err := os.Truncate(path, 3); err != nil {
		t.Fatal(err)
	}
	<-r.Failed() // the writer notices it without a new frame
	if err := r.Err(); !strings.Contains(err.Error(), "the file was cut to 3 bytes") {
		t.Errorf("the error is %v", err)
	}
}

func TestRecorderSaysThatTheFileWasReplaced(t *testing.T) {
	path := filepath.Join(t.TempDir(), "flow.jsonl")
	r, err := OpenRecorder(path, RecordOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer newTestLog(t, Options{}).Record(r)()
	if err := os.WriteFile(path+".new", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Skip("an open file cannot be replaced here")
	}
	<-r.Failed()
	if err := r.Err(); !strings.Contains(err.Error(), "replaced by another") {
		t.Errorf("the error is %v", err)
	}
}

func TestRecorderRefusesWhatIsNoFile(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if runtime.GOOS == "windows" || syscall.Mkfifo(pipe, 0o600) != nil {
		t.Skip("there are no named pipes here")
	}
	for path, want := range map[string]string{pipe: "it is a pipe", t.TempDir(): "is a directory", os.DevNull: "it is a device"} {
		if _, err := OpenRecorder(path, RecordOptions{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("recording to %s: %v", path, err)
		}
	}
	if _, err := Open(pipe); err == nil || !strings.Contains(err.Error(), "it is a pipe") {
		t.Errorf("opening a pipe: %v", err)
	}
}

// A second process gets an error that names the process that records to the file.
func TestRecorderIsAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "flow.jsonl")
	r, err := OpenRecorder(path, RecordOptions{})
	if err != nil {
		t.Fatal(err)
	}
	other := exec.Command(os.Args[0])
	other.Env = append(os.Environ(), "WIRE_TEST_RECORD="+path)
	out, err := other.CombinedOutput()
	if err != nil || !bytes.Contains(out, []byte("records to it already")) {
		t.Errorf("a second recorder ended with %v: %s", err, out)
	}
	if runtime.GOOS == "linux" && !bytes.Contains(out, fmt.Appendf(nil, "process %d", os.Getpid())) {
		t.Errorf("it does not name this process: %s", out)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := OpenRecorder(path, RecordOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Close(); err != nil {
		t.Error(err)
	}
}

// Lines stay whole when another process appends to the file, however large they are,
// because each line is one write.
func TestRecordersLinesStayWhole(t *testing.T) {
	path := filepath.Join(t.TempDir(), "flow.jsonl")
	r, err := OpenRecorder(path, RecordOptions{})
	if err != nil {
		t.Fatal(err)
	}
	l := newTestLog(t, Options{})
	l.Record(r)
	other, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	const othersLine = `{"direction":"stderr","text":"other"}` + "\n"
	var wg sync.WaitGroup
	stop := make(chan struct{})
	wg.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				if _, err := io.WriteString(other, othersLine); err != nil {
					t.Error(err)
					return
				}
			}
		}
	})
	for i := range 50 {
		l.Append(message(ServerToClient, `{"jsonrpc":"2.0","method":"m","params":[%d,"%s"]}`, i, strings.Repeat("x", largeLine)))
	}
	close(stop)
	wg.Wait()
	if err := errors.Join(r.Close(), other.Close()); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	// The other's whole lines, which may be a hundred thousand, need no parser.
	lines := slices.DeleteFunc(bytes.SplitAfter(text, []byte("\n")), func(line []byte) bool { return string(line) == othersLine })
	frames, damage := readAll(t, bytes.NewReader(bytes.Join(lines, nil)))
	if len(damage) > 0 || len(frames) < 50 {
		t.Errorf("%d frames, damaged: %v", len(frames), damage[:min(len(damage), 3)])
	}
}

func TestFileCutWhileItIsOpen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "flow.jsonl")
	line := `{"direction":"stderr","text":"line"}` + "\n"
	if err := os.WriteFile(path, []byte(strings.Repeat(line, 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	l := open(t, path)
	if err := os.Truncate(path, int64(50*len(line))); err != nil {
		t.Fatal(err)
	}
	frames, err := l.Frames(1, 100)
	if err != nil || len(frames) != 100 {
		t.Fatalf("%d frames, %v", len(frames), err)
	}
	if frames[49].Lost || !frames[50].Lost {
		t.Errorf("of the frames before and after the cut, lost are %v and %v", frames[49].Lost, frames[50].Lost)
	}
	if err := l.Err(); err == nil || !strings.Contains(err.Error(), "has changed since it was opened") {
		t.Errorf("the error is %v", err)
	}
	var out bytes.Buffer
	if err := WriteFrames(&out, l, nil, nil); err != nil || bytes.Count(out.Bytes(), []byte("\n")) != 100 {
		t.Errorf("the transcript has %d lines, %v", bytes.Count(out.Bytes(), []byte("\n")), err)
	}
}

// slowRedactor removes nothing, and takes until it is told to go on.
type slowRedactor struct{ at, on chan struct{} }

func (slowRedactor) Learn(context.Context, *Log) error { return nil }

func (slowRedactor) Passes(Entry) bool { return false }

func (r slowRedactor) Frame(f *Frame) *Frame {
	r.at <- struct{}{}
	<-r.on
	return f
}

// While secrets are removed for a recording, the log can be read, and takes frames.
func TestRedactionDoesNotLockTheLog(t *testing.T) {
	redactor := slowRedactor{make(chan struct{}), make(chan struct{})}
	var out bytes.Buffer
	r := NewRecorder(&out, RecordOptions{Redact: redactor})
	l := newTestLog(t, Options{})
	stop := l.Record(r)
	var appends sync.WaitGroup
	appends.Go(func() { l.Append(message(Stderr, "one")) })
	<-redactor.at
	grown := l.Grown()
	if l.Stats().Frames == 1 { // it takes the log's lock
		appends.Go(func() { l.Append(message(Stderr, "two")) })
	}
	for l.Len() < 2 {
		runtime.Gosched()
	}
	redactor.on <- struct{}{}
	<-redactor.at
	redactor.on <- struct{}{}
	appends.Wait()
	<-grown
	stop()
	if err := r.Close(); err != nil || r.Lines() != 2 || bytes.Count(out.Bytes(), []byte("\n")) != 2 {
		t.Errorf("%d lines: %s, %v", r.Lines(), out.Bytes(), err)
	}
}
