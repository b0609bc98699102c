package transport

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"elicitation-inspector/bridge/client/target"
	"elicitation-inspector/bridge/wire"
)

// serverMode is the environment variable that makes the test binary a server, and names
// its mode.
const serverMode = "ELICITATION_INSPECTOR_TEST_SERVER"

// servers maps modes of the test binary to their functions, which return the exit code.
var servers = map[string]func() int{
	"good":     serveGood,
	"noisy":    serveNoisy,
	"print":    servePrint,
	"stubborn": serveStubborn,
	"sleeper":  serveSleeper,
	"deaf":     serveDeaf,
	"environ":  serveEnviron,
	"flood":    serveFlood,
	"relay":    serveRelay,
}

// program returns the spec of a server process in a mode.
func program(mode string, args ...string) target.Spec {
	exe, err := os.Executable()
	if err != nil {
		panic(err)
	}
	env := []string{
		serverMode + "=" + mode,
		"GORACE=atexit_sleep_ms=0", // otherwise each exit takes a second under the race detector
	}
	return target.Spec{Name: mode, Command: append([]string{exe}, args...), Env: env}
}

func serveGood() int {
	if err := testServer().Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// noise is the text that the noisy server writes before each of its messages. Each of
// its lines would end a session of the SDK's own transport.
var noise = []string{
	"Server listening…",
	"",
	"   ",
	`{"jsonrpc":"1.0","id":1,"result":{}}`,
	`{"jsonrpc":"2.0","id":null,"result":{}}`,
	`[{"jsonrpc":"2.0","method":"notifications/message","params":{}}]`,
	`{"jsonrpc":"2.0","method":"notifications/message"`,
	`{"jsonrpc":"2.0","method":"notifications/progress"} trailing`,
}

// serveNoisy is the good server with noise between its messages and odd white space
// around them.
func serveNoisy() int {
	r, w := io.Pipe()
	go func() {
		out := bufio.NewWriter(os.Stdout)
		lines := bufio.NewScanner(r)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			for _, n := range noise {
				fmt.Fprintln(out, n)
			}
			fmt.Fprintf(out, " \t%s \t\r\n", lines.Text())
			if err := out.Flush(); err != nil {
				return
			}
		}
	}()
	if err := testServer().Run(context.Background(), &mcp.IOTransport{Reader: os.Stdin, Writer: w}); err != nil {
		return 1
	}
	return 0
}

// servePrint writes its first argument to standard output and its second to standard
// error, and exits with the third as its code.
func servePrint() int {
	unescape := strings.NewReplacer(`\n`, "\n", `\r`, "\r").Replace
	fmt.Print(unescape(os.Args[1]))
	fmt.Fprint(os.Stderr, unescape(os.Args[2]))
	code, err := strconv.Atoi(os.Args[3])
	if err != nil {
		return 64
	}
	return code
}

// serveStubborn ignores SIGTERM and the end of its input.
func serveStubborn() int {
	signal.Ignore(syscall.SIGTERM, syscall.SIGHUP)
	return serveSleeper()
}

// serveSleeper ignores the end of its input.
func serveSleeper() int {
	fmt.Fprintln(os.Stderr, "ready", os.Getpid())
	time.Sleep(time.Hour) // longer than any test; it is killed
	return 0
}

// serveDeaf answers initialize and then never reads again.
func serveDeaf() int {
	line, err := bufio.NewReaderSize(os.Stdin, 16).ReadString('\n')
	if err != nil {
		return 1
	}
	id := line[strings.Index(line, `"id":`)+5:]
	id = id[:strings.IndexByte(id, ',')]
	fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"deaf","version":"1"}}}`+"\n", id)
	return serveSleeper()
}

// serveEnviron prints its working directory and two environment variables.
func serveEnviron() int {
	dir, err := os.Getwd()
	if err != nil {
		return 1
	}
	fmt.Fprintf(os.Stderr, "dir %s\nadded %s\ninherited %s\n", dir, os.Getenv("ADDED"), os.Getenv("INHERITED"))
	return 0
}

// floodSize is the number of notifications in a call of the flooding server.
const floodSize = 1000

// serveFlood answers each request, and sends notifications before the result of
// tools/call.
func serveFlood() int {
	in := bufio.NewReader(os.Stdin)
	out := bufio.NewWriter(os.Stdout)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return 0
		}
		m, err := wire.ParseMessage(line)
		if err != nil || m.Kind != wire.Request {
			continue
		}
		result := `{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"flood","version":"1"}}`
		if m.Method == "tools/call" {
			for i := range floodSize {
				fmt.Fprintf(out, `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"line %d of a log that says nothing of interest"}}`+"\n", i)
			}
			result = `{"content":[]}`
		}
		fmt.Fprintf(out, `{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", m.ID, result)
		if err := out.Flush(); err != nil {
			return 1
		}
	}
}

// serveRelay answers each request with the text that ANSWERS has for its method, in
// which ID is replaced by the request's id. It prints what it receives to standard
// error.
func serveRelay() int {
	answers := map[string]string{}
	for line := range strings.Lines(os.Getenv("ANSWERS")) {
		method, answer, _ := strings.Cut(strings.TrimSpace(line), " ")
		answers[method] = answer
	}
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		fmt.Fprintf(os.Stderr, "%s\n", lines.Bytes())
		m, err := wire.ParseMessage(lines.Bytes())
		if err != nil {
			return 1
		}
		answer := answers[m.Method]
		if m.Method == "initialize" {
			answer = `{"jsonrpc":"2.0","id":ID,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"relay","version":"1"}}}`
		}
		if answer != "" {
			fmt.Println(strings.ReplaceAll(answer, "ID", string(m.ID)))
		}
	}
	return 0
}
