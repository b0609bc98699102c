// Package torture attacks the built binary in four ways, as often as the time
// allows: it is killed while it records, its page's socket is stormed, its
// servers are hostile, and its transcripts are damaged. Each group of attacks
// prints how many were tried, held and lost. Nothing leaves loopback.
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

// full is the time in which a group is tried to its full count.
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

// prepared runs the tests with the binaries built.
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

// group counts what attacks of one kind come to.
type group struct {
	*testing.T
	*rand.Rand
	most, begun int       // attacks
	end         time.Time // of the group
	tried, held atomic.Int64
}

// begin starts a group that is tried so often in ten minutes, and has a share of
// the time that there is. What it came to is printed when the test ends.
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

// more reports whether the group goes on with another attack, if they are made
// one at a time: once at least, and never too long.
func (g *group) more() bool {
	if g.begun > 0 && (g.begun >= g.most || time.Now().After(g.end) || g.Failed()) {
		return false
	}
	g.begun++
	return true
}

// judge counts an attack that was tried: it held if there is no error.
func (g *group) judge(attack string, err error) {
	g.Helper()
	g.tried.Add(1)
	if err != nil {
		g.Errorf("%s: %v", attack, err)
		return
	}
	g.held.Add(1)
}

// post does on the page what a person does there.
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

// get is what the page's server answers with 200.
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

// line is a line of a transcript, as far as it matters here.
type line struct {
	Direction   string          `json:"direction"`
	Elicitation int             `json:"elicitation"`
	Raw         json.RawMessage `json:"raw"`
	Text        string          `json:"text"`
	Bytes       string          `json:"bytes"`
}

// says is what the frame says, whatever else the line has.
func (l line) says() string { return l.Direction + " " + string(l.Raw) + l.Text + l.Bytes }

// readLines reads a transcript. The rest is what stands behind the last line's end.
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
