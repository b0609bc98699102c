// Package torture attacks the built binary in four ways, as often as the time allows:
// it kills the binary while it records, storms its page with sockets, connects it to
// hostile servers, and damages its transcripts. Each group of attacks prints how many
// were tried, held and lost. Only loopback addresses are used.
package torture

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"elicitation-inspector/e2e/internal/inspector"
	"elicitation-inspector/e2e/internal/servers"
)

var (
	span = flag.Duration("time", time.Minute, "how long the attacks may take, all groups together; with 10m each group is tried to its full count")
	seed = flag.Uint64("seed", uint64(time.Now().UnixNano()), "repeats the random choices of a run that printed it")
)

// full is the time in which each group makes all of its attacks.
const full = 10 * time.Minute

var torrentBinary string

func TestMain(m *testing.M) {
	flag.Parse()
	code, err := prepared(m.Run)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(code)
}

// prepared builds the binaries and runs the tests.
func prepared(run func() int) (int, error) {
	dir, err := os.MkdirTemp("", "inspector-torture-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	inspector.Binary = filepath.Join(dir, "inspector")
	servers.RudeBinary = filepath.Join(dir, "rude")
	torrentBinary = filepath.Join(dir, "torrent")
	for _, b := range []struct{ dir, to, source string }{
		{"../..", inspector.Binary, "./cmd/inspector"},
		{"..", servers.RudeBinary, "./servers/rude"},
		{"..", torrentBinary, "./servers/torrent"},
	} {
		if err := inspector.Build(b.dir, b.to, "-trimpath", b.source); err != nil {
			return 0, err
		}
	}
	fmt.Printf("torture: at most %s, seed %d\n", *span, *seed)
	return run(), nil
}

// group counts the attacks of one kind and their outcomes.
type group struct {
	*testing.T
	*rand.Rand
	most, begun int       // numbers of attacks
	end         time.Time // when the group must end
	tried, held atomic.Int64
}

// begin starts a group that makes often attacks in ten minutes, and fewer in less time.
// share is its part of the time. The counts are printed at the end of the test.
func begin(t *testing.T, name string, often int, share float64) *group {
	t.Helper()
	begun := time.Now()
	g := &group{
		T: t, Rand: rand.New(rand.NewPCG(*seed, uint64(len(name)))),
		most: max(1, int(float64(often)*min(1, span.Seconds()/full.Seconds()))),
		end:  begun.Add(time.Duration(share * float64(*span))),
	}
	t.Cleanup(func() {
		tried, held := g.tried.Load(), g.held.Load()
		fmt.Printf("%s: tried %d, held %d, lost %d\n", name, tried, held, tried-held)
		t.Logf("%d were meant to be tried; it took %s", g.most, time.Since(begun).Round(time.Millisecond))
	})
	return g
}

// more reports whether the group makes another attack, for groups that make one at a
// time. It allows at least one, and none after the group's end.
func (g *group) more() bool {
	if g.begun > 0 && (g.begun >= g.most || time.Now().After(g.end) || g.Failed()) {
		return false
	}
	g.begun++
	return true
}

// judge counts an attack. The inspector has held if err is nil.
func (g *group) judge(attack string, err error) {
	g.Helper()
	g.tried.Add(1)
	if err != nil {
		g.Errorf("%s: %v", attack, err)
		return
	}
	g.held.Add(1)
}

// post sends a form to the page's server, like the page.
func post(p *inspector.Process, path string, form url.Values) error {
	res, err := p.Client().PostForm(p.Base+path, form)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode >= 400 {
		err = fmt.Errorf("POST %s: %s %.300s", path, res.Status, body)
	}
	return err
}

// call calls a tool with arguments in JSON.
func call(p *inspector.Process, server, tool, args string) error {
	return post(p, "/calls", url.Values{"server": {server}, "kind": {"tool"}, "key": {tool}, "tab": {"json"}, "content": {args}, "force": {"1"}})
}

// get returns the body of a response of the page's server; an error unless its status
// is 200.
func get(p *inspector.Process, path string) (string, error) {
	res, err := p.Client().Get(p.Base + path)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode != http.StatusOK {
		err = fmt.Errorf("GET %s: %s %.300s", path, res.Status, body)
	}
	return string(body), err
}

// until waits until a condition holds.
func until(what string, holds func() bool) error {
	for deadline := time.Now().Add(inspector.Patience); !holds(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			return fmt.Errorf("after %s still not: %s", inspector.Patience, what)
		}
	}
	return nil
}

// untilOffered waits until the page offers a tool.
func untilOffered(p *inspector.Process, tool string) error {
	return until("the page offers "+tool, func() bool {
		page, err := get(p, "/")
		return err == nil && strings.Contains(page, `data-key="`+tool+`"`)
	})
}

// line holds the fields of a transcript's line that the tests read.
type line struct {
	Direction   string          `json:"direction"`
	Elicitation int             `json:"elicitation"`
	Raw         json.RawMessage `json:"raw"`
	Text        string          `json:"text"`
	Bytes       string          `json:"bytes"`
}

// says returns the direction and the content of the frame.
func (l line) says() string { return l.Direction + " " + string(l.Raw) + l.Text + l.Bytes }

// readLines reads a transcript. rest is an incomplete last line.
func readLines(r io.Reader) (all []line, rest []byte, err error) {
	in := bufio.NewReaderSize(r, 1<<20)
	for n := 1; ; n++ {
		text, err := in.ReadBytes('\n')
		if err == io.EOF {
			return all, text, nil
		}
		if err != nil {
			return all, nil, err
		}
		var l line
		if err := json.Unmarshal(text, &l); err != nil {
			return all, nil, fmt.Errorf("line %d: %w: %.200q", n, err, text)
		}
		all = append(all, l)
	}
}
