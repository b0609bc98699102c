package servers

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// RudeBinary is the path of the built rude server. The tests' main sets it.
var RudeBinary string

// Rude controls a rude server of this repository: its command, its input and output, and
// orders to it.
type Rude struct {
	Command []string

	t       testing.TB
	log     string
	control string
}

// Question is a tool of the rude server that asks with exactly these params.
type Question struct {
	Name   string
	Params string // JSON, sent byte for byte
}

// NewRude prepares a rude server that asks the given questions besides its own. The
// inspector starts its command.
func NewRude(t testing.TB, questions []Question, flags ...string) *Rude {
	t.Helper()
	dir := t.TempDir()
	r := &Rude{t: t, log: filepath.Join(dir, "log"), control: filepath.Join(dir, "control")}
	r.Command = append([]string{RudeBinary, "-log", r.log, "-control", r.control}, flags...)
	if len(questions) > 0 {
		var b bytes.Buffer
		b.WriteByte('[')
		for i, q := range questions {
			if i > 0 {
				b.WriteByte(',')
			}
			name, _ := json.Marshal(q.Name)
			b.WriteString(`{"name":` + string(name) + `,"params":` + q.Params + `}`)
		}
		b.WriteByte(']')
		path := filepath.Join(dir, "questions.json")
		if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		r.Command = append(r.Command, "-questions", path)
	}
	return r
}

// Order gives the server an order; its control.go lists them.
func (r *Rude) Order(what string) { r.t.Helper(); r.OrderWith(what, "") }

// OrderWith gives the server an order with a text.
func (r *Rude) OrderWith(what, body string) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for {
		err := r.order(ctx, what, body)
		if err == nil || strings.HasPrefix(what, "exit") && !errors.Is(err, os.ErrNotExist) {
			return // the server exits without a response
		}
		if !errors.Is(err, os.ErrNotExist) || ctx.Err() != nil {
			r.t.Fatalf("ordering the rude server to %s: %v", what, err)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// Try gives the server an order, which fails if the server has ended.
func (r *Rude) Try(what, body string) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	_ = r.order(ctx, what, body)
}

func (r *Rude) order(ctx context.Context, what, body string) error {
	address, err := os.ReadFile(r.control)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+string(address)+"/"+what, strings.NewReader(body))
	if err != nil {
		return err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if text, _ := io.ReadAll(res.Body); res.StatusCode != http.StatusOK {
		return errors.New(string(text))
	}
	return nil
}

// Line is one line that the server has read or written.
type Line struct {
	At  time.Time
	Dir string // "in" or "out"
	Raw []byte
}

// Lines returns the lines that the server has read and written so far, in its order.
func (r *Rude) Lines() []Line {
	r.t.Helper()
	raw, err := os.ReadFile(r.log)
	if err != nil {
		r.t.Fatalf("reading the rude server's log: %v", err)
	}
	var all []Line
	for in := json.NewDecoder(bytes.NewReader(raw)); ; {
		var l struct {
			At   int64  `json:"at"`
			Dir  string `json:"dir"`
			Line []byte `json:"line"`
		}
		err := in.Decode(&l)
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			return all // the last line is still being written
		}
		if err != nil {
			r.t.Fatalf("reading the rude server's log: %v", err)
		}
		all = append(all, Line{At: time.Unix(0, l.At), Dir: l.Dir, Raw: l.Line})
	}
}

// Received returns the lines that the server has read, as text.
func (r *Rude) Received() []string {
	r.t.Helper()
	var found []string
	for _, l := range r.Lines() {
		if l.Dir == "in" {
			found = append(found, string(l.Raw))
		}
	}
	return found
}

// Until waits until the server has read a line that satisfies a condition, and returns
// the line.
func (r *Rude) Until(what string, ok func(line string) bool) string {
	r.t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
		for _, l := range r.Received() {
			if ok(l) {
				return l
			}
		}
		if time.Now().After(deadline) {
			r.t.Fatalf("the rude server has not read %s; it has read:\n%s", what, strings.Join(r.Received(), "\n"))
		}
	}
}

// Answers returns the received lines that are responses.
func (r *Rude) Answers() []string {
	r.t.Helper()
	var found []string
	for _, l := range r.Received() {
		var m struct {
			Method string          `json:"method"`
			ID     json.RawMessage `json:"id"`
		}
		if json.Unmarshal([]byte(l), &m) == nil && m.Method == "" && m.ID != nil {
			found = append(found, l)
		}
	}
	return found
}
