package transport

import (
	"context"
	"errors"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"elicitation-inspector/bridge/client/target"
	"elicitation-inspector/bridge/testdata/logtest"
	"elicitation-inspector/bridge/wire"
)

// short is the grace for servers that will use all of it, and long for those that must need less.
const short, long = 100 * time.Millisecond, 2 * time.Second

func TestProcessSession(t *testing.T) {
	noLeaks(t)
	r := &recorder{}
	l := mustOpen(t, program("good"), r, Options{})
	s := connect(t, l, answering())
	if got := mustCall(t, s, "echo", map[string]any{"text": "<é & 2^53+1>"}); got != "<é & 2^53+1>" {
		t.Errorf("echo: %q", got)
	}
	if got := mustCall(t, s, "ask", nil); got != "accept window" {
		t.Errorf("ask: %q", got)
	}
	if _, ok := l.Exit(); ok {
		t.Error("an exit before the end")
	}
	mustClose(t, l)
	if exit, ok := l.Exit(); !ok || exit != (Exit{}) || exit.String() != "exited with code 0" {
		t.Errorf("exit: %v %v", exit, ok)
	}
	if err := s.Wait(); err != nil {
		t.Errorf("the session ended with %v", err)
	}
	if l.How() != "stdio" {
		t.Errorf("how: %q", l.How())
	}
	r.checkUnits(t)

	// The exact bytes of the answer.
	asked := r.await(t, "received", func(s seen) bool { return s.unit.Message.Method == "elicitation/create" })
	r.await(t, "sent", raw(`{"jsonrpc":"2.0","id":`+string(asked.unit.Message.ID)+`,"result":{"action":"accept","content":{"seat":"window"}}}`))
}

func TestProcessNoise(t *testing.T) {
	r := &recorder{}
	l := mustOpen(t, program("noisy"), r, Options{})
	s := connect(t, l, answering())
	if got := mustCall(t, s, "ask", nil); got != "accept window" {
		t.Errorf("ask: %q", got)
	}
	var noisy, messages []string
	for _, s := range r.soFar("received") {
		if s.unit.Kind == wire.Noise {
			noisy = append(noisy, string(s.unit.Raw))
			continue
		}
		messages = append(messages, string(s.unit.Raw))
		if raw := string(s.unit.Raw); !strings.HasPrefix(raw, " \t{") || !strings.HasSuffix(raw, "} \t") {
			t.Errorf("a message without its whitespace: %q", raw)
		}
	}
	if len(messages) < 3 { // initialize, elicitation/create, tools/call
		t.Fatalf("messages: %q", messages)
	}
	var want []string
	for range messages {
		want = append(want, noise...)
	}
	if !slices.Equal(noisy, want) {
		t.Errorf("noise:\n%q\nwant\n%q", noisy, want)
	}
}

// A valid JSON-RPC message can still be one that the SDK cannot parse.
func TestProcessWhatTheSDKCannotTake(t *testing.T) {
	deep := strings.Repeat("[", 2000) + strings.Repeat("]", 2000)
	tests := []struct {
		name, answer, want string
	}{
		{"an error with a code in words", `"error":{"code":"bad","message":"no"}`, "the message cannot be read"},
		{"an error without words", `"error":{"code":1.5}`, "the message cannot be read"},
		{"no message at all", `"error":"no"`, "what is given for it is not a message"},
		{"a result nested too deep", `"result":{"content":` + deep + `}`, "what is given for it: " + wire.TooDeep},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := &recorder{deliver: func(u Tapped) []byte {
				if u.Message.Kind == wire.Result && strings.Contains(string(u.Raw), "replace me") {
					return []byte(`{"jsonrpc":"2.0","id":` + string(u.Message.ID) + `,` + test.answer + `}`)
				}
				return u.Raw
			}}
			l := mustOpen(t, target.Spec{Builtin: logtest.Serving(testServer().Connect)}, r, Options{})
			s := connect(t, l, nil)
			_, err := call(t, s, "echo", map[string]any{"text": "replace me"})
			if failure, ok := FailureOf(err); !ok || !strings.Contains(failure.Text, test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
			r.await(t, "note", text("not passed on"))
			if got := mustCall(t, s, "echo", map[string]any{"text": "on"}); got != "on" {
				t.Errorf("afterwards: %q", got)
			}
		})
	}
}

func TestProcessDelivers(t *testing.T) {
	// The observer drops one answer and changes another.
	r := &recorder{deliver: func(u Tapped) []byte {
		switch {
		case strings.Contains(string(u.Raw), "drop me"):
			return nil
		case strings.Contains(string(u.Raw), "change me"):
			return []byte("\n" + strings.ReplaceAll(string(u.Raw), "change me", "changed") + "\n")
		}
		return u.Raw
	}}
	l := mustOpen(t, program("good"), r, Options{})
	s := connect(t, l, nil)
	if got := mustCall(t, s, "echo", map[string]any{"text": "change me"}); got != "changed" {
		t.Errorf("changed: %q", got)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() {
		_, err := s.CallTool(ctx, &mcp.CallToolParams{Name: "echo", Arguments: map[string]any{"text": "drop me"}})
		ended <- err
	}()
	r.await(t, "received", func(s seen) bool { return strings.Contains(string(s.unit.Raw), "drop me") })
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("a dropped answer: %v", err)
	}
}

func TestProcessKeepsBack(t *testing.T) {
	r := &recorder{send: func(u Tapped) bool { return !strings.Contains(string(u.Raw), "secret") }}
	l := mustOpen(t, program("good"), r, Options{})
	s := connect(t, l, nil)
	_, err := call(t, s, "echo", map[string]any{"text": "secret"})
	if failure, ok := FailureOf(err); !ok || failure.Method != "tools/call" {
		t.Errorf("kept back: %v", err)
	}
	if got := mustCall(t, s, "echo", map[string]any{"text": "open"}); got != "open" {
		t.Errorf("afterwards: %q", got)
	}
	for _, s := range r.received() {
		if strings.Contains(s, "secret") {
			t.Errorf("the server has got it: %s", s)
		}
	}
}

func TestProcessOutput(t *testing.T) {
	const hello = `{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"hello"}}`
	big := `{"jsonrpc":"2.0","id":7,"result":{"text":"` + strings.Repeat("x", 2000) + `"}}`
	tests := []struct {
		name, stdout, stderr string
		code                 int
		max                  int64
		want, wantErr        []string
		sizes                []int // sizes of received messages, where only a part is kept
	}{
		{"nothing", "", "", 0, 0, nil, nil, nil},
		{"a last line without end", hello, "oh", 3, 0, []string{hello}, []string{"oh"}, nil},
		{"CRLF", hello + `\r\n` + hello + `\r\n`, `a\r\nb\n\nc`, 0, 0, []string{hello, hello}, []string{"a", "b", "", "c"}, nil},
		{"a traceback", "Traceback:\\n  File\\n", "x", 1, 0, []string{"noise: Traceback:", "noise:   File"}, []string{"x"}, nil},
		{"an escape sequence and bad UTF-8", "\x1b[31mred\xff\\n", "\xfe", 0, 0, []string{"noise: \x1b[31mred\xff"}, []string{"\xfe"}, nil},
		{"over the limit", big + `\n` + hello + `\n`, "", 0, 100, []string{big[:100], hello}, nil, []int{len(big), len(hello)}},
		{"noise over the limit", strings.Repeat("y", 150) + `\n` + hello + `\n`, strings.Repeat("z", 150), 0, 100, []string{"noise: " + strings.Repeat("y", 100), hello}, []string{strings.Repeat("z", 100)}, []int{150, len(hello)}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r := &recorder{}
			l := mustOpen(t, program("print", test.stdout, test.stderr, string(rune('0'+test.code))), r, Options{MaxFrame: test.max})
			wait(t, l.Done())
			if got := r.received(); !slices.Equal(got, test.want) {
				t.Errorf("received %q, want %q", got, test.want)
			}
			var lines []string
			for _, s := range r.soFar("stderr") {
				lines = append(lines, s.text)
				if s.cut != (s.size > int64(len(s.text))) {
					t.Errorf("stderr: truncated %v, size %d of %d bytes", s.cut, s.size, len(s.text))
				}
			}
			if !slices.Equal(lines, test.wantErr) {
				t.Errorf("stderr %q, want %q", lines, test.wantErr)
			}
			if exit, ok := l.Exit(); !ok || exit.Code != test.code || exit.Signal != "" || exit.Err != nil {
				t.Errorf("exit %+v %v, want code %d", exit, ok, test.code)
			}
			for i, s := range r.soFar("received") {
				size := len(s.unit.Raw)
				if test.sizes != nil {
					size = test.sizes[i]
				}
				if s.unit.Size != int64(size) || s.unit.Truncated != (size > len(s.unit.Raw)) {
					t.Errorf("size %d, truncated %v, want %d", s.unit.Size, s.unit.Truncated, size)
				}
				if s.unit.Truncated && s.unit.Kind != wire.Noise && (string(s.unit.Message.ID) != "7" || s.unit.Message.Kind != wire.Result) {
					t.Errorf("the head's envelope: %+v", s.unit.Message)
				}
			}
		})
	}
}

// A call ends if its answer exceeds the limit, and the session continues.
func TestProcessAnswerOverTheLimit(t *testing.T) {
	r := &recorder{}
	l := mustOpen(t, program("good"), r, Options{MaxFrame: 64 << 10})
	s := connect(t, l, nil)
	_, err := call(t, s, "echo", map[string]any{"text": strings.Repeat("x", 128<<10)})
	if failure, ok := FailureOf(err); !ok || !strings.Contains(failure.Text, "over the limit of 65536 bytes") {
		t.Errorf("got %v", err)
	}
	head := r.await(t, "received", func(s seen) bool { return s.unit.Truncated })
	if len(head.unit.Raw) != 64<<10 || head.unit.Size < 128<<10 {
		t.Errorf("kept %d of %d bytes", len(head.unit.Raw), head.unit.Size)
	}
	if got := mustCall(t, s, "echo", map[string]any{"text": "on"}); got != "on" {
		t.Errorf("afterwards: %q", got)
	}
}

func TestProcessEnvironment(t *testing.T) {
	t.Setenv("INHERITED", "yes")
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := program("environ")
	s.Dir = dir
	s.Env = append(s.Env, "ADDED=too", "ADDED=last")
	r := &recorder{}
	wait(t, mustOpen(t, s, r, Options{}).Done())
	var got []string
	for _, s := range r.soFar("stderr") {
		got = append(got, s.text)
	}
	if want := []string{"dir " + dir, "added last", "inherited yes"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestProcessLookedUpInItsOwnPath(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s := program("print", "", "found", "0")
	s.Command[0] = filepath.Base(exe)
	r := &recorder{}
	if _, err := Open(t.Context(), s, r, Options{}); !errors.Is(err, exec.ErrNotFound) {
		t.Fatalf("without its PATH: %v", err)
	}
	s.Env = append(s.Env, "PATH="+filepath.Dir(exe))
	wait(t, mustOpen(t, s, r, Options{}).Done())
	r.await(t, "stderr", text("found"))
	s.Env = append(s.Env, "PATH="+t.TempDir())
	if _, err := Open(t.Context(), s, r, Options{}); !errors.Is(err, exec.ErrNotFound) {
		t.Fatalf("with another PATH: %v", err)
	}
}

func TestProcessThatCannotStart(t *testing.T) {
	noLeaks(t)
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, []byte("#!/no/such/interpreter\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	plain := filepath.Join(dir, "plain")
	if err := os.WriteFile(plain, []byte("hello"), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name string
		spec target.Spec
		want string
		is   error
	}{
		{"not in PATH", target.Spec{Command: []string{"no-such-program-anywhere"}}, `starting "no-such-program-anywhere": there is no such program in PATH`, exec.ErrNotFound},
		{"no such file", target.Spec{Command: []string{"./no-such-file"}, Dir: dir}, "there is no file " + filepath.Join(dir, "no-such-file"), fs.ErrNotExist},
		{"no such directory", target.Spec{Command: []string{file}, Dir: filepath.Join(dir, "gone")}, `its working directory "` + filepath.Join(dir, "gone") + `" does not exist`, nil},
		{"a file for a directory", target.Spec{Command: []string{file}, Dir: file}, "is not a directory", nil},
		{"nothing", target.Spec{Name: "empty"}, `server "empty": want exactly one of`, nil},
		{"too much", target.Spec{Command: []string{"x"}, URL: "http://x"}, "want exactly one of", nil},
	}
	if runtime.GOOS != "windows" {
		tests = append(tests, []struct {
			name string
			spec target.Spec
			want string
			is   error
		}{
			{"not executable", target.Spec{Command: []string{plain}}, plain + " may not be executed", fs.ErrPermission},
			{"no interpreter", target.Spec{Command: []string{file}}, "names an interpreter that does not exist", fs.ErrNotExist},
		}...)
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := &recorder{}
			_, err := Open(t.Context(), test.spec, r, Options{})
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("got %v, want %q", err, test.want)
			}
			if test.is != nil && !errors.Is(err, test.is) {
				t.Errorf("%v is no %v", err, test.is)
			}
			if got := r.soFar(""); len(got) > 0 {
				t.Errorf("seen: %s", r)
			}
		})
	}
}

// A server's death ends the waiting call.
func TestProcessDies(t *testing.T) {
	r := &recorder{}
	l := mustOpen(t, program("good"), r, Options{})
	s := connect(t, l, nil)
	ended := make(chan error)
	go func() {
		_, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "wait"})
		ended <- err
	}()
	r.await(t, "sent", func(s seen) bool { return s.unit.Message.Method == "tools/call" })
	if err := l.way.(*process).cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err == nil {
		t.Error("the call has succeeded")
	}
	wait(t, l.Done())
	if exit, ok := l.Exit(); !ok || runtime.GOOS != "windows" && exit != (Exit{Code: -1, Signal: "killed"}) {
		t.Errorf("exit %+v %v", exit, ok)
	}
	r.await(t, "note", text("ended by signal: killed"))
	if _, err := call(t, s, "echo", map[string]any{"text": "x"}); err == nil {
		t.Error("a call to a dead server has succeeded")
	}
}

// A server that does not read its input blocks writes to it, but neither a caller that
// gives up nor the end of the link.
func TestProcessThatDoesNotRead(t *testing.T) {
	noLeaks(t)
	r := &recorder{}
	l := mustOpen(t, program("deaf"), r, Options{Grace: short})
	s := connect(t, l, nil)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	big := map[string]any{"text": strings.Repeat("x", 1<<20)}
	go func() {
		_, err := s.CallTool(ctx, &mcp.CallToolParams{Name: "echo", Arguments: big})
		ended <- err
	}()
	r.await(t, "sent", func(s seen) bool { return s.unit.Message.Method == "tools/call" })
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("the call: %v", err)
	}
	mustClose(t, l)
	undelivered := r.soFar("undelivered")
	if len(undelivered) != 1 || undelivered[0].unit.Message.Method != "tools/call" || undelivered[0].err == nil {
		t.Errorf("undelivered: %v", undelivered)
	}
}

func TestProcessEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	r := &recorder{}
	l, err := Open(ctx, program("good"), r, Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := connect(t, l, nil)
	cancel()
	wait(t, l.Done())
	if err := s.Wait(); err != nil {
		t.Error(err)
	}
	mustClose(t, l)
	if _, err := Open(ctx, program("good"), r, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("opened under an ended context: %v", err)
	}
}

func TestCloseFromManySides(t *testing.T) {
	l := mustOpen(t, program("good"), &recorder{}, Options{})
	connect(t, l, nil)
	ended := make(chan error)
	for range 4 {
		go func() { ended <- l.Close(t.Context()) }()
	}
	for range 4 {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

func wait(t testing.TB, done <-chan struct{}) {
	t.Helper()
	select {
	case <-done:
	case <-time.After(patience):
		t.Fatal("it has not ended")
	}
}

// TestEverySystem checks that the files for other systems belong to this package.
func TestEverySystem(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.PackageClauseOnly)
		if err != nil || parsed.Name.Name != "transport" {
			t.Errorf("%s: package %v, %v", file, parsed.Name, err)
		}
	}
}
