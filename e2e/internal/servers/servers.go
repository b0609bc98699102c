// Package servers provides the MCP servers of the tests: those of other authors, which
// the test command installs into a cache, and those of this repository.
package servers

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"elicitation-inspector/e2e/servers/tmcp"
	"elicitation-inspector/e2e/servers/tracednode"
)

// patience is the time limit for the start of a server.
const patience = 60 * time.Second

// Cache returns the folder into which the test command installs servers of other authors:
// $INSPECTOR_E2E_CACHE, else .cache in the module's folder.
func Cache() string {
	if dir := os.Getenv("INSPECTOR_E2E_CACHE"); dir != "" {
		return dir
	}
	dir, err := os.Getwd()
	for ; err == nil && dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "servers", "package.json")); err == nil {
			return filepath.Join(dir, ".cache")
		}
	}
	return ".cache"
}

// Installed returns a path in the cache, which may not exist.
func Installed(elem ...string) string {
	return filepath.Join(append([]string{Cache()}, elem...)...)
}

// installed returns a path in the cache. If it does not exist, the test fails with
// instructions.
func installed(t testing.TB, elem ...string) string {
	t.Helper()
	path := Installed(elem...)
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("%v\nThe tests' servers are not installed: run the task `servers` (see Taskfile.yml).", err)
	}
	return path
}

// Node returns the command for a script of an npm package, with the Node.js from npm.
func Node(t testing.TB, script ...string) []string {
	t.Helper()
	return []string{
		installed(t, "npm", "node_modules", "node", "bin", "node"),
		installed(t, append([]string{"npm", "node_modules"}, script...)...),
	}
}

// Everything returns the command of npm's server-everything in one of its modes: stdio,
// sse or streamableHttp.
func Everything(t testing.TB, mode string) []string {
	t.Helper()
	return append(Node(t, "@modelcontextprotocol", "server-everything", "dist", "index.js"), mode)
}

// EverythingHTTP starts server-everything and returns its Streamable HTTP address.
func EverythingHTTP(t testing.TB) string {
	t.Helper()
	port := FreePort(t)
	listen(t, "listening on port", []string{"PORT=" + port}, Everything(t, "streamableHttp")...)
	return "http://127.0.0.1:" + port + "/mcp"
}

// EverythingSSE starts server-everything and returns its legacy HTTP+SSE address.
func EverythingSSE(t testing.TB) string {
	t.Helper()
	port := FreePort(t)
	listen(t, "running on port", []string{"PORT=" + port}, Everything(t, "sse")...)
	return "http://127.0.0.1:" + port + "/sse"
}

// SDKExample starts one of the examples of npm's SDK over Streamable HTTP and returns its
// address. env is added to its environment.
func SDKExample(t testing.TB, name string, env ...string) string {
	t.Helper()
	port := FreePort(t)
	script := Node(t, "@modelcontextprotocol", "sdk", "dist", "esm", "examples", "server", name+".js")
	listen(t, port, append(env, "PORT="+port, "MCP_PORT="+port), script...)
	return "http://localhost:" + port + "/mcp"
}

// GoSDK returns the command of go-sdk's conformance server, over stdio.
func GoSDK(t testing.TB) []string {
	t.Helper()
	return []string{installed(t, "bin", "everything-server")}
}

// GoSDKHTTP starts go-sdk's conformance server, stateful or not, and returns its
// Streamable HTTP address.
func GoSDKHTTP(t testing.TB, stateless bool) string {
	t.Helper()
	address := "127.0.0.1:" + FreePort(t)
	listen(t, "listening at", nil, append(GoSDK(t), "-http", address, fmt.Sprintf("-stateless=%v", stateless))...)
	return "http://" + address + "/"
}

// GoSDKExample returns the command of go-sdk's example server, over stdio. This is a
// different server from [GoSDK].
func GoSDKExample(t testing.TB) []string {
	t.Helper()
	return []string{installed(t, "bin", "everything")}
}

// MCPGo returns the command of mcp-go's elicitation example, over stdio.
func MCPGo(t testing.TB) []string {
	t.Helper()
	return []string{installed(t, "bin", "elicitation")}
}

// TMCP returns the command of a server written with npm's tmcp, over stdio.
func TMCP(t testing.TB) []string {
	t.Helper()
	return nodeScript(t, tmcp.Script)
}

// TracedNode returns the command of a server that is instrumented with npm's SDK of OpenTelemetry, over stdio.
func TracedNode(t testing.TB) []string {
	t.Helper()
	return nodeScript(t, tracednode.Script)
}

// Ports from which FreePort draws. The kernel gives none of them to a socket that asks for
// any: Linux's start at 32768, others' at 49152.
const firstPort, lastPort = 20_000, 32_000

// given are the ports that FreePort has returned.
var given sync.Map

// FreePort returns a port for a server that is started later, or again. No server of
// another test takes it in between.
func FreePort(t testing.TB) string {
	t.Helper()
	for range 1000 {
		port := strconv.Itoa(firstPort + rand.IntN(lastPort-firstPort))
		if _, taken := given.LoadOrStore(port, true); taken {
			continue
		}
		if l, err := net.Listen("tcp", "127.0.0.1:"+port); err == nil {
			l.Close()
			return port
		}
	}
	t.Fatalf("no port from %d to %d is free", firstPort, lastPort)
	return ""
}

// listen starts a server and waits until it has printed a line with the given part, and
// accepts connections. It stops the server at the end of the test, or with the returned
// function.
func listen(t testing.TB, ready string, env []string, command ...string) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Env = append(os.Environ(), env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = w, w
	if err := cmd.Start(); err != nil {
		t.Fatalf("starting %s: %v", strings.Join(command, " "), err)
	}
	w.Close()

	var mu sync.Mutex
	var log strings.Builder
	up := make(chan struct{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		seen := false
		for in := bufio.NewScanner(r); in.Scan(); {
			mu.Lock()
			log.WriteString(in.Text() + "\n")
			mu.Unlock()
			if !seen && strings.Contains(in.Text(), ready) {
				seen = true
				close(up)
			}
		}
	}()
	stop = sync.OnceFunc(func() {
		cancel()
		<-done
		_ = cmd.Wait()
		r.Close()
		if t.Failed() {
			mu.Lock()
			defer mu.Unlock()
			t.Logf("%s printed:\n%s", strings.Join(command, " "), log.String())
		}
	})
	t.Cleanup(stop)
	select {
	case <-up:
	case <-done:
		t.Fatalf("%s ended before it was ready", strings.Join(command, " "))
	case <-time.After(patience):
		t.Fatalf("%s was not ready after %v", strings.Join(command, " "), patience)
	}
	return stop
}

// nodeScript returns the command for a script of this repository that uses npm packages.
func nodeScript(t testing.TB, script []byte) []string {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "server.mjs")
	err := os.WriteFile(path, script, 0o600)
	if err == nil {
		err = os.Symlink(installed(t, "npm", "node_modules"), filepath.Join(dir, "node_modules"))
	}
	if err != nil {
		t.Fatal(err)
	}
	return []string{installed(t, "npm", "node_modules", "node", "bin", "node"), path}
}
