package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"
)

// typist is a person at the inspector's terminal.
type typist struct {
	*testing.T
	cmd   *exec.Cmd
	races string // path of data race reports, by process
	tty   *os.File
	out   bytes.Buffer // standard output, which is no terminal
	mu    sync.Mutex
	seen  strings.Builder // terminal output without control sequences
	from  int             // position of the next search
}

// control matches the sequences that move the cursor, set colours and query the terminal.
var control = regexp.MustCompile(`\x1b\[[0-9;:?<>=$]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(\x07|\x1b\\)|\x1b[()][A-Z0-9]|\x1bP[^\x1b]*\x1b\\|\x1b[=>78cDEHMNOZ]|\r`)

func atTerminal(t *testing.T, environment []string, args ...string) *typist {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := &typist{T: t, cmd: exec.Command(self, args...), races: filepath.Join(t.TempDir(), "race")}
	p.cmd.Env = append(append(os.Environ(), asInspector+"=1", "TERM=xterm-256color", "GORACE=atexit_sleep_ms=0 exitcode=0 log_path="+p.races), environment...)
	p.cmd.Stdout = &p.out
	p.tty, err = pty.StartWithSize(p.cmd, &pty.Winsize{Rows: 50, Cols: 100})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.cmd.Process.Kill(); p.tty.Close() })
	go func() {
		buffer := make([]byte, 1<<16)
		for {
			n, err := p.tty.Read(buffer)
			p.mu.Lock()
			p.seen.Write(control.ReplaceAll(buffer[:n], nil))
			p.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	return p
}

// sees waits until a text is on the terminal, after the text of the previous call.
func (p *typist) sees(text string) {
	p.Helper()
	if rest, ok := p.saw(text, 90*time.Second); !ok {
		p.Fatalf("%q is not on the terminal, but\n%s", text, rest)
	}
}

// saw reports whether a text appears in time.
func (p *typist) saw(text string, within time.Duration) (rest string, ok bool) {
	for deadline := time.Now().Add(within); ; time.Sleep(5 * time.Millisecond) {
		p.mu.Lock()
		all := p.seen.String()
		p.mu.Unlock()
		rest = all[min(p.from, len(all)):]
		if i := strings.Index(rest, text); i >= 0 {
			p.from += i + len(text)
			return rest, true
		}
		if time.Now().After(deadline) {
			return rest, false
		}
	}
}

// enters types a key until a text appears: a form ignores keys before it has the focus, which the
// terminal does not show.
func (p *typist) enters(keys, text string) {
	p.Helper()
	rest, ok := "", false
	for range 6 {
		p.types(keys)
		if rest, ok = p.saw(text, 5*time.Second); ok {
			return
		}
	}
	p.Fatalf("after %q, %q is not on the terminal, but\n%s", keys, text, rest)
}

func (p *typist) types(keys string) {
	p.Helper()
	if _, err := p.tty.WriteString(keys); err != nil {
		p.Fatal(err)
	}
}

// ends waits for the end and returns the exit code. Data races are failures, except one in the
// terminal library between reading and closing the terminal.
func (p *typist) ends() int {
	_ = p.cmd.Wait()
	reports, _ := filepath.Glob(p.races + ".*")
	for _, path := range reports {
		text, err := os.ReadFile(path)
		if err != nil {
			p.Error(err)
		}
		for race := range strings.SplitSeq(string(text), "WARNING: DATA RACE") {
			if strings.Contains(race, "goroutine") && !strings.Contains(race, "muesli/cancelreader") {
				p.Error(race)
			}
		}
	}
	return p.cmd.ProcessState.ExitCode()
}

const (
	enter = "\r"
	down  = "\x1b[B"
	ctrlC = "\x03"
	ctrlU = "\x15" // Ctrl-U deletes what a text field has
)

func TestTerminalForm(t *testing.T) {
	t.Parallel()
	p := atTerminal(t, nil, "call", "deploy", "--output", "json")
	p.sees("Question 1 in the call of deploy:")
	p.sees("Which build should go out?")
	p.sees("Build")
	p.enters(down, "> 2288")
	p.enters(enter, "Send this answer?")
	p.sees(`{"build":"2288"}`)
	p.enters(enter, "Question 2")
	p.sees("Environment")
	p.enters(enter, "Change ticket")
	p.sees("pattern ^CHG-[0-9]{5}$")
	p.enters(ctrlU+"CHG-1"+enter, "Does not match the pattern")
	p.enters(ctrlU+"CHG-12345"+enter, "Share of traffic")
	p.sees("default 0.25")
	p.enters(enter, "Notify")
	p.enters(enter, "Run smoke tests after")
	p.enters(enter, "Send this answer?")
	p.sees(`"ticket":"CHG-12345","share":0.25,"notify":["oncall","me"]}`)
	p.enters(enter, "Question 3")
	p.sees("Keep the new build")
	p.enters(enter, "Send this answer?")
	p.enters(enter, "Done")
	if code := p.ends(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	var result struct {
		StructuredContent struct{ Outcome, Build, Ticket string }
	}
	if err := json.Unmarshal(p.out.Bytes(), &result); err != nil || result.StructuredContent.Outcome != "deployed" || result.StructuredContent.Build != "2288" || result.StructuredContent.Ticket != "CHG-12345" {
		t.Errorf("%v: standard output has %s", err, p.out.String())
	}
}

func TestTerminalCtrlC(t *testing.T) {
	t.Parallel()
	for keys, want := range map[string]string{enter: "Nothing was deployed", down + enter: "was put off", ctrlC: "was put off"} {
		p := atTerminal(t, nil, "call", "deploy")
		p.sees("Build")
		p.enters(ctrlC, "Decline or cancel?")
		if p.sees("Back"); keys == down+enter {
			p.enters(down, "> Cancel")
			keys = enter
		}
		p.enters(keys, "Answer sent")
		if code := p.ends(); code != 0 || !strings.Contains(p.out.String(), want) {
			t.Errorf("%q: exit code %d, %s, want %s", keys, code, p.out.String(), want)
		}
	}
}

// TestTerminalLineByLine tests the form for screen readers.
func TestTerminalLineByLine(t *testing.T) {
	t.Parallel()
	p := atTerminal(t, []string{"ACCESSIBLE=1"}, "call", "deploy")
	p.sees("Which build should go out?")
	p.enters("2\n", "Send this answer?")
	p.enters("2\n", "Answer sent: decline")
	if code := p.ends(); code != 0 || !strings.Contains(p.out.String(), "Nothing was deployed") {
		t.Errorf("exit code %d, %s", code, p.out.String())
	}
}

// TestTerminalIsNotAsked checks that --no-input cancels questions.
func TestTerminalIsNotAsked(t *testing.T) {
	t.Parallel()
	p := atTerminal(t, nil, "call", "deploy", "--no-input")
	if code := p.ends(); code != exitUnanswered {
		t.Errorf("exit code %d, want %d", code, exitUnanswered)
	}
}
