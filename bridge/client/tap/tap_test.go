package tap_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"elicitation-inspector/bridge/client/tap"
	"elicitation-inspector/bridge/client/target"
	"elicitation-inspector/bridge/client/transport"
	"elicitation-inspector/bridge/judges/probe"
	"elicitation-inspector/bridge/testdata/logtest"
	"elicitation-inspector/bridge/wire"
	"elicitation-inspector/bridge/wire/redact"
)

// patience is how long a test waits for what must come.
const patience = 2 * time.Minute

// serverMode makes the test binary a server: what it names says how it answers.
const serverMode = "TAP_TEST_SERVER"

func TestMain(m *testing.M) {
	switch os.Getenv(serverMode) {
	case "":
		os.Exit(m.Run())
	case "echo": // every line comes back; the end of its input is its end
		_, _ = io.Copy(os.Stdout, os.Stdin)
		os.Exit(7)
	case "answers":
		answers()
	case "tap":
		tapped()
	case "speaks": // writes to both outputs, and ends
		fmt.Fprint(os.Stderr, "warning\n")
		fmt.Print("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\"}\r\nnot json\n\xff\n\nrest")
		os.Exit(3)
	case "deaf": // closes its input
		_ = os.Stdin.Close()
		fmt.Println("closed")
		time.Sleep(time.Hour) // select {} is a deadlock, at which a program without the race detector ends
	case "writes": // writes until its output breaks
		for {
			if _, err := fmt.Println("x"); err != nil {
				fmt.Fprintln(os.Stderr, "broken")
				os.Exit(5)
			}
		}
	}
}

func observer(t *testing.T, c tap.Config) *tap.Observer {
	t.Helper()
	if c.Name == "" {
		c.Name = "files"
	}
	c.Dir = t.TempDir()
	o, err := tap.NewObserver(c)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// settle waits until everything was looked at, and returns the frames.
func settle(t *testing.T, o *tap.Observer) []wire.Frame {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := o.Settle(ctx); err != nil {
		t.Fatal(err)
	}
	frames, err := logtest.Frames(o.Log())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := o.Close(); err != nil {
			t.Error(err)
		}
	})
	return frames
}

// relay starts a server behind a tap. done is closed when the tap has nothing left to pass.
func relay(t *testing.T, mode string, o *tap.Observer) (in io.WriteCloser, out, errOut io.ReadCloser, child *transport.Child, done chan struct{}) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	child, err = transport.StartChild(target.Spec{Command: []string{exe}, Env: []string{serverMode + "=" + mode}})
	if err != nil {
		t.Fatal(err)
	}
	pipe := func() (*os.File, *os.File) {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		return r, w
	}
	inRead, inWrite := pipe()
	outRead, outWrite := pipe()
	errRead, errWrite := pipe()
	done = make(chan struct{})
	go func() {
		defer close(done)
		tap.Relay(child, inRead, outWrite, errWrite, o)
	}()
	return inWrite, outRead, errRead, child, done
}

func wait(t *testing.T, done <-chan struct{}) {
	t.Helper()
	select {
	case <-done:
	case <-time.After(patience):
		t.Fatal("it did not end")
	}
}

func all(t *testing.T, r io.Reader) string {
	t.Helper()
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestRelayPassesBytesOn(t *testing.T) {
	t.Parallel()
	o := observer(t, tap.Config{})
	in, out, errOut, child, done := relay(t, "speaks", o)
	if got := all(t, out); got != "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\"}\r\nnot json\n\xff\n\nrest" {
		t.Errorf("the client got %q", got)
	}
	if got := all(t, errOut); got != "warning\n" {
		t.Errorf("on standard error it got %q", got)
	}
	wait(t, done)
	if code := child.State.ExitCode(); code != 3 {
		t.Errorf("exit code %d", code)
	}
	_ = in.Close()
	var kinds []string
	for _, f := range settle(t, o) {
		if f.Kind == wire.NoteFrame {
			kinds = append(kinds, string(f.Note.Kind))
		} else if f.Dir == wire.ServerToClient {
			kinds = append(kinds, f.Kind.String()+" "+string(f.Raw))
		}
	}
	want := []string{"process-started", `notification {"jsonrpc":"2.0","method":"notifications/message"}`, "noise not json", "noise \xff", "noise ", "noise rest", "process-exited"}
	if fmt.Sprintf("%q", kinds) != fmt.Sprintf("%q", want) {
		t.Errorf("seen %q, want %q", kinds, want)
	}
}

// Everything passes, in order, and all of it is seen.
func TestRelayLosesNothing(t *testing.T) {
	t.Parallel()
	const messages = 30_000
	o := observer(t, tap.Config{})
	in, out, _, child, done := relay(t, "echo", o)
	go func() {
		w := bufio.NewWriterSize(in, 4<<10)
		for i := range messages {
			fmt.Fprintf(w, "{\"jsonrpc\":\"2.0\",\"method\":\"m\",\"params\":{\"n\":%d}}\n", i)
		}
		if err := w.Flush(); err != nil {
			t.Error(err)
		}
		_ = in.Close()
	}()
	lines := bufio.NewScanner(out)
	n := 0
	for ; lines.Scan(); n++ {
		if want := fmt.Sprintf(`{"jsonrpc":"2.0","method":"m","params":{"n":%d}}`, n); lines.Text() != want {
			t.Fatalf("line %d is %s", n, lines.Text())
		}
	}
	wait(t, done)
	if n != messages || child.State.ExitCode() != 7 {
		t.Errorf("%d lines came back, exit code %d", n, child.State.ExitCode())
	}
	sent, got := 0, 0
	for _, f := range settle(t, o) {
		next := &sent
		if f.Dir == wire.ServerToClient {
			next = &got
		}
		if f.Kind != wire.Notification {
			continue
		}
		if want := fmt.Sprintf(`{"jsonrpc":"2.0","method":"m","params":{"n":%d}}`, *next); string(f.Raw) != want {
			t.Fatalf("frame %d is %s, want %s", f.Seq, f.Raw, want)
		}
		*next++
	}
	if sent != messages || got != messages {
		t.Errorf("%d were seen one way, and %d the other", sent, got)
	}
}

// A tap whose file is full keeps the latest frames, says so, and passes everything on.
func TestEldestFramesGiveWay(t *testing.T) {
	t.Parallel()
	const messages = 20_000
	o := observer(t, tap.Config{Disk: 256 << 10})
	in, out, _, _, done := relay(t, "echo", o)
	line := func(n int) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","method":"m","params":{"n":%d}}`, n)
	}
	go func() {
		for n := range messages {
			fmt.Fprintln(in, line(n))
		}
		_ = in.Close()
	}()
	if lines := strings.Count(all(t, out), "\n"); lines != messages {
		t.Errorf("%d lines came back", lines)
	}
	wait(t, done)
	lost, said, latest := 0, 0, ""
	for _, f := range settle(t, o) {
		switch {
		case f.Lost:
			lost++
		case f.Note != nil && f.Failed:
			said++
		case f.Dir == wire.ServerToClient && f.Kind == wire.Notification:
			latest = string(f.Raw)
		}
	}
	if lost < messages || said > 1 || latest != line(messages-1) { // the note itself gives way in time
		t.Errorf("%d frames are lost, said %d times, and the latest is %s", lost, said, latest)
	}
	if _, err := probe.Seen(t.Context(), o.Log(), "test", redact.Nothing()); err != nil {
		t.Errorf("the report on what is left: %v", err)
	}
}

// The server sees that its client is gone, and the client that the server listens no more.
func TestRelayPassesBrokenPipesOn(t *testing.T) {
	t.Parallel()
	t.Run("the client is gone", func(t *testing.T) {
		t.Parallel()
		o := observer(t, tap.Config{})
		in, out, errOut, child, done := relay(t, "writes", o)
		if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
			t.Fatal(err)
		}
		_ = out.Close()
		_ = in.Close()
		_, _ = io.Copy(io.Discard, errOut)
		wait(t, done)
		if child.State.Success() {
			t.Error("the server has not seen it")
		}
		settle(t, o)
	})
	t.Run("the server is deaf", func(t *testing.T) {
		t.Parallel()
		o := observer(t, tap.Config{})
		in, out, _, child, done := relay(t, "deaf", o)
		if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
			t.Fatal(err)
		}
		var broken error
		for end := time.Now().Add(patience); broken == nil && time.Now().Before(end); {
			_, broken = in.Write(bytes.Repeat([]byte("y"), 4096))
		}
		if broken == nil {
			t.Error("the client has not seen it")
		}
		if p, err := os.FindProcess(child.Started.PID); err != nil || p.Kill() != nil {
			t.Fatal(err)
		}
		wait(t, done)
		settle(t, o)
	})
}

// A disk that takes nothing ends the recording, and nothing else.
func TestRelayWithAFullDisk(t *testing.T) {
	t.Parallel()
	o, err := tap.NewObserver(tap.Config{Name: "files", Dir: filepath.Join(t.TempDir(), "missing"), Record: "/dev/full"})
	if err == nil || o == nil {
		t.Fatalf("recording to a device: %v", err)
	}
	in, out, _, child, done := relay(t, "echo", o)
	if _, err := io.WriteString(in, "hello\n"); err != nil {
		t.Fatal(err)
	}
	_ = in.Close()
	if got := all(t, out); got != "hello\n" {
		t.Errorf("%q came back", got)
	}
	wait(t, done)
	if code := child.State.ExitCode(); code != 7 {
		t.Errorf("exit code %d", code)
	}
	settle(t, o)
}

// joined waits until a log has a frame with this text.
func joined(t *testing.T, log *wire.Log, text string) wire.Frame {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for {
		grown := log.Grown()
		frames, err := logtest.Frames(log)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range frames {
			if strings.Contains(string(f.Raw), text) {
				return f
			}
		}
		select {
		case <-grown:
		case <-ctx.Done():
			t.Fatalf("no frame has %q", text)
		}
	}
}

func newLog(t *testing.T) *wire.Log {
	t.Helper()
	log, err := wire.NewLog(wire.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := log.Close(); err != nil {
			t.Error(err)
		}
	})
	return log
}

// A tap finds the inspector in whichever order they start, and another one after it, which
// gets everything from the beginning.
func TestSend(t *testing.T) {
	t.Parallel()
	folder, err := os.MkdirTemp("", "tap") // a short path, as sockets need
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	path := filepath.Join(folder, "s")
	o := observer(t, tap.Config{})
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		o.Send(t.Context(), path)
	}()
	in, out, _, _, done := relay(t, "echo", o)
	say := func(text string) {
		t.Helper()
		if _, err := io.WriteString(in, text+"\n"); err != nil {
			t.Fatal(err)
		}
	}
	go func() { _, _ = io.Copy(io.Discard, out) }()
	say("before")
	for _, name := range []string{"first", "second"} {
		log := newLog(t)
		l, err := tap.Listen(path, log, nil, func() {})
		if err != nil {
			t.Fatal(err)
		}
		if f := joined(t, log, "before"); f.Server != "files" || f.Dir != wire.ClientToServer {
			t.Errorf("%+v", f)
		}
		if n, this := l.Connected("files"); n != 1 || !this {
			t.Errorf("%d taps are connected, this one: %t", n, this)
		}
		if _, err := tap.Listen(path, log, nil, func() {}); err == nil {
			t.Error("two inspectors wait at one socket")
		}
		say(name)
		joined(t, log, name)
		if name == "second" {
			_ = in.Close()
			wait(t, done)
			settle(t, o)
			wait(t, sent)
			joined(t, log, "exited with code 7")
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}
}

// An inspector that takes nothing holds up neither the traffic nor the end.
func TestSendToAHungInspector(t *testing.T) {
	t.Parallel()
	folder, err := os.MkdirTemp("", "tap")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	path := filepath.Join(folder, "s")
	hung, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer hung.Close()
	o := observer(t, tap.Config{})
	sending, stop := context.WithCancel(t.Context())
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		o.Send(sending, path)
	}()
	in, out, _, _, done := relay(t, "echo", o)
	big := strings.Repeat("z", 1<<20) + "\n"
	go func() {
		_, _ = io.WriteString(in, big)
		_ = in.Close()
	}()
	if got := all(t, out); got != big {
		t.Errorf("%d bytes came back", len(got))
	}
	wait(t, done)
	settle(t, o)
	stop()
	wait(t, sent)
}

func TestProxy(t *testing.T) {
	t.Parallel()
	const question = `{"jsonrpc":"2.0","id":5,"method":"elicitation/create","params":{"message":"Who?"}}`
	release := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		said, _ := io.ReadAll(r.Body)
		switch {
		case r.Method == http.MethodGet:
			w.WriteHeader(http.StatusMethodNotAllowed)
		case strings.Contains(string(said), "initialize"):
			w.Header().Set("Mcp-Session-Id", "secret-session")
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25"}}`)
		case strings.Contains(string(said), "tools/call"):
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, ": hello\r\nevent: message\r\ndata: "+question+"\r\n\r\n")
			w.(http.Flusher).Flush()
			<-release
			_, _ = io.WriteString(w, "data: {\"jsonrpc\":\"2.0\",\ndata: \"id\":2,\"result\":{}}\n\n")
		default:
			w.WriteHeader(http.StatusAccepted)
		}
	}))
	defer server.Close()
	target, err := url.Parse(server.URL + "/mcp")
	if err != nil {
		t.Fatal(err)
	}
	o := observer(t, tap.Config{Name: "remote"})
	proxy := tap.NewProxy(target, o)
	front := httptest.NewServer(proxy)
	defer front.Close()
	post := func(body, session string) *http.Response {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, proxy.Address(front.Listener.Addr()), strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer open-sesame")
		if session != "" {
			req.Header.Set("Mcp-Session-Id", session)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		return resp
	}
	resp := post(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"clientInfo":{"name":"c"}}}`, "")
	if got := all(t, resp.Body); got != `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25"}}` || resp.Header.Get("Mcp-Session-Id") != "secret-session" {
		t.Errorf("%s, %v", got, resp.Header)
	}
	resp = post(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"ask"}}`, "secret-session")
	lines := bufio.NewReader(resp.Body)
	head, err := lines.ReadString('}') // comes before the stream goes on
	if err != nil || !strings.HasPrefix(head, ": hello\r\nevent: message\r\ndata: ") {
		t.Fatalf("%q, %v", head, err)
	}
	joined(t, o.Log(), "elicitation/create")
	if resp := post(`{"jsonrpc":"2.0","id":5,"result":{"action":"decline"}}`, "secret-session"); resp.StatusCode != http.StatusAccepted {
		t.Errorf("status %d", resp.StatusCode)
	}
	close(release)
	if rest := all(t, lines); !strings.HasSuffix(rest, "data: \"id\":2,\"result\":{}}\n\n") {
		t.Errorf("%q", rest)
	}
	joined(t, o.Log(), `"id":2,"result"`)
	var seen []string
	session := ""
	for _, f := range settle(t, o) {
		seen = append(seen, strings.TrimSpace(f.Dir.String()+" "+f.Kind.String()+" "+f.Stream.String()))
		if session == "" {
			session = f.Session
		}
		if f.Session != session || f.Server != "remote" {
			t.Errorf("frame %d is of %s, %s", f.Seq, f.Server, f.Session)
		}
		if text := fmt.Sprint(f.Header); strings.Contains(text, "open-sesame") || strings.Contains(text, "secret-session") {
			t.Errorf("frame %d has %s", f.Seq, text)
		}
	}
	want := "[c2s request post s2c result post c2s request post s2c request post-sse c2s result post s2c result post-sse]"
	if fmt.Sprint(seen) != want {
		t.Errorf("seen %v, want %v", seen, want)
	}
	for _, host := range []string{"evil.example:80", "evil.example"} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, front.URL, strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		req.Host = host
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		if _ = resp.Body.Close(); resp.StatusCode != http.StatusForbidden {
			t.Errorf("as %s it is reached: %d", host, resp.StatusCode)
		}
	}
}

// TestProxyChangesNothing sends what the standard library would parse, clean or distrust, byte for
// byte, and looks at what the server gets, and what the log has.
func TestProxyChangesNothing(t *testing.T) {
	t.Parallel()
	type got struct {
		uri    string
		header http.Header
	}
	came := make(chan got, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		came <- got{r.RequestURI, r.Header.Clone()}
		w.WriteHeader(http.StatusAccepted)
	}))
	defer server.Close()
	target, err := url.Parse(server.URL + "/mcp")
	if err != nil {
		t.Fatal(err)
	}
	o := observer(t, tap.Config{Name: "remote"})
	front := httptest.NewServer(tap.NewProxy(target, o))
	defer front.Close()
	for _, uri := range []string{"/mcp?a=1;b=2", "/mcp?x=%zz", "/mcp?", "/mcp?a=1&a=2&&b", "/a%2Fb//c?q=%2f+%20", "/mcp/../x", "/mcp"} {
		conn, err := net.Dial("tcp", front.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		body := `{"jsonrpc":"2.0","method":"notifications/x"}`
		fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nForwarded: for=192.0.2.1\r\nX-Forwarded-For: 192.0.2.1\r\nX-Forwarded-Host: a.example\r\nX-Api-Key: open-sesame\r\nUpgrade-Insecure-Requests: 1\r\nTe: gzip\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s",
			uri, front.Listener.Addr(), len(body), body)
		_, _ = io.Copy(io.Discard, conn)
		_ = conn.Close()
		server := <-came
		if server.uri != uri {
			t.Errorf("%s arrives as %s", uri, server.uri)
		}
		for name, want := range map[string]string{"Forwarded": "for=192.0.2.1", "X-Forwarded-For": "192.0.2.1", "X-Forwarded-Host": "a.example", "X-Api-Key": "open-sesame", "User-Agent": "", "Accept-Encoding": ""} {
			if got := server.header.Get(name); got != want {
				t.Errorf("%s: %s is %q, want %q", uri, name, got, want)
			}
		}
	}
	said := ""
	for _, f := range settle(t, o) {
		said += fmt.Sprint(f.URL, f.Header, string(f.Raw)) + "\n"
	}
	if strings.Contains(said, "open-sesame") || !strings.Contains(said, "192.0.2.1") || !strings.Contains(said, "did not go on: Te") {
		t.Errorf("the log has\n%s", said)
	}
}

// A server may respond before it has read the request: both go on.
func TestProxyPassesAnEarlyResponseOn(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := http.NewResponseController(w)
		if err := errors.Join(c.EnableFullDuplex(), c.Flush()); err != nil {
			t.Error(err)
		}
		if _, err := io.Copy(w, r.Body); err != nil {
			t.Error(err)
		}
	}))
	defer server.Close()
	target, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	front := httptest.NewServer(tap.NewProxy(target, observer(t, tap.Config{Name: "remote"})))
	defer front.Close()
	const text = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	body, rest := io.Pipe()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, front.URL, body)
	if err != nil {
		t.Fatal(err)
	}
	req.ContentLength = int64(len(text))
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(rest, text); err != nil {
		t.Fatal(err)
	}
	if got := all(t, resp.Body); got != text {
		t.Errorf("the response is %q", got)
	}
}

// A client of a server that is not reached gets a response each time, which says so, however
// long its request is; and the log has its requests.
func TestProxyWithoutServer(t *testing.T) {
	t.Parallel()
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	target, err := url.Parse(gone.URL + "/mcp")
	if err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	o := observer(t, tap.Config{Name: "remote", Logger: slog.New(slog.NewTextHandler(&said, nil))})
	front := httptest.NewServer(tap.NewProxy(target, o))
	const times = 20
	for i := range times {
		text := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/list","params":{"a":%q}}`, i, strings.Repeat("a", i*100_000))
		resp, err := http.Post(front.URL+"/mcp", "application/json", strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if got := all(t, resp.Body); resp.StatusCode != http.StatusBadGateway || !strings.Contains(got, "refused") {
			t.Errorf("status %d: %s", resp.StatusCode, got)
		}
	}
	resp, err := http.Get(front.URL + "/mcp")
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	front.Close()
	var notes []wire.NoteKind
	sent := 0
	for _, f := range settle(t, o) {
		switch {
		case f.Note != nil:
			notes = append(notes, f.Note.Kind)
			if f.Note.Kind == wire.NoteNotDelivered && string(f.Answers) != strconv.Itoa(sent-1) {
				t.Errorf("frame %d is about request %s", f.Seq, f.Answers)
			}
		case f.Dir == wire.ClientToServer && f.Method == "tools/list":
			sent++
		}
	}
	want := append(slices.Repeat([]wire.NoteKind{wire.NoteNotDelivered}, times), wire.NoteStreamRequested, wire.NoteRequestFailed)
	if sent != times || !slices.Equal(notes, want) {
		t.Errorf("%d requests, and %v", sent, notes)
	}
	if n := strings.Count(said.String(), "refused"); n != times+1 {
		t.Errorf("it says %d times: %s", n, said.String())
	}
}
