package main

import (
	"bufio"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

// asNeighbour is the environment variable that makes the test binary a program of another user,
// which listens at the address that it holds.
const asNeighbour = "INSPECTOR_TEST_NEIGHBOUR"

func init() {
	if address := os.Getenv(asNeighbour); address != "" {
		beNeighbour(address)
		os.Exit(0)
	}
}

// nobody is the user that neighbours are of where the tests run as root; elsewhere it is the
// user of the tests, for whom ports are no more and no less free.
const nobody = 65534

// beNeighbour prints what became of listening, answers every request, and ends with its input.
func beNeighbour(address string) {
	if os.Geteuid() == 0 {
		if err := syscall.Setuid(nobody); err != nil {
			fmt.Println(err)
			return
		}
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("listens")
	go func() {
		_ = http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Access-Control-Allow-Origin", "*")
			_, _ = io.WriteString(w, "next door")
		}))
	}()
	_, _ = io.Copy(io.Discard, os.Stdin)
}

// neighbour starts a program of another user that listens at an address, and returns what
// became of that.
func neighbour(t *testing.T, address string) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), asNeighbour+"="+address)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(line)
}

// served starts a command that serves HTTP, and returns when it has printed its address.
func served(t *testing.T, args ...string) *running {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	r := &running{T: t, Cmd: exec.Command(self, args...), stderr: new(strings.Builder)}
	r.Env, r.Stderr = append(os.Environ(), asInspector+"=1"), r.stderr
	out, err := r.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Process.Kill(); _ = r.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	m := regexp.MustCompile(`(http://[^/]+)/(?:\?token=(\S+))?`).FindStringSubmatch(line)
	if err != nil || m == nil {
		t.Fatalf("it said %q: %v", line, err)
	}
	r.base, r.token = m[1], m[2]
	return r
}

// freePort returns a port that is free at 127.0.0.1.
func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// asBrowser gets a page of the inspector as a browser navigates to it.
func asBrowser(t *testing.T, address, host string) (status int, body string) {
	t.Helper()
	r, err := http.NewRequest(http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Host = host
	r.Header.Set("Sec-Fetch-Mode", "navigate")
	r.Header.Set("Sec-Fetch-Site", "none")
	got, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer got.Body.Close()
	text, err := io.ReadAll(got.Body)
	if err != nil {
		t.Fatal(err)
	}
	return got.StatusCode, string(text)
}

// ownHost matches a host that a page has alone; the page's script names its domain, without a host.
var ownHost = regexp.MustCompile(`\w\.inspector\.localhost`)

// TestNobodyElseAtLoopback checks that no program of another user can listen, while the page, the
// demo or the probe is served, at the loopback address that names below localhost lead to first.
func TestNobodyElseAtLoopback(t *testing.T) {
	t.Parallel()
	if l, err := net.Listen("tcp", "[::1]:0"); err != nil {
		t.Log("this computer has no ::1, where nobody can listen then")
		return
	} else if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	for name, args := range map[string][]string{
		"the page":  {"--no-open", "--listen", "127.0.0.1:0"},
		"at ::1":    {"--no-open", "--listen", "[::1]:0"},
		"the demo":  {"demo", "--http", "127.0.0.1:0"},
		"the probe": {"probe", "--no-open", "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0"},
	} {
		address := strings.TrimPrefix(served(t, args...).base, "http://")
		host, port, err := net.SplitHostPort(address)
		if err != nil {
			t.Fatal(err)
		}
		other := "::1"
		if host == other {
			other = "127.0.0.1"
		}
		if got := neighbour(t, net.JoinHostPort(other, port)); !strings.Contains(got, "address already in use") {
			t.Errorf("%s is at %s, and a neighbour at %s %s", name, address, other, got)
		}
		if status, body := asBrowser(t, "http://"+net.JoinHostPort(other, port)+"/", "localhost:"+port); strings.Contains(body, "next door") {
			t.Errorf("%s: %d %s", name, status, body)
		}
	}
}

// TestSomebodyElseAtLoopback checks what becomes of the page where a program of another user
// listens at ::1 already: on a port that was asked for it has no host of its own, so that no
// browser takes the token or the cookie there, and says so; any other port is another one.
func TestSomebodyElseAtLoopback(t *testing.T) {
	t.Parallel()
	port := freePort(t)
	if got := neighbour(t, "[::1]:"+port); got != "listens" {
		t.Log("this computer has no ::1 to listen at: ", got)
		return
	}
	r := served(t, "--no-open", "--listen", "127.0.0.1:"+port)
	token := r.token
	status, body := asBrowser(t, "http://127.0.0.1:"+port+"/?token="+token, "")
	if status != http.StatusOK || ownHost.MatchString(body) {
		t.Errorf("%d, leads to a host that the neighbour answers to: %v", status, ownHost.MatchString(body))
	}
	if status, _ := asBrowser(t, "http://127.0.0.1:"+port+"/?token="+token, "localhost:"+port); status != http.StatusForbidden {
		t.Errorf("it answers to localhost: %d", status)
	}
	r.stop()
	if !strings.Contains(r.stderr.String(), "another program listens at the other loopback address") {
		t.Errorf("it does not say why: %s", r.stderr)
	}
	l, err := listen("127.0.0.1:"+port, false, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if _, other, _ := net.SplitHostPort(l.Addr().String()); other == port {
		t.Error("the default port is kept though a neighbour has it at ::1")
	}
}
