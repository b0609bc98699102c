package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"elicitation-inspector/e2e/internal/inspector"
	"elicitation-inspector/e2e/internal/servers"
)

// counts is a package that is added to the inspector: at SIGUSR1 it writes how often each counted
// function has run into a new file.
const counts = `package counts

import (
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"syscall"
)

var (
	mu  sync.Mutex
	ran = map[string]int{}
)

func Ran(name string) {
	mu.Lock()
	defer mu.Unlock()
	ran[name]++
}

func init() {
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGUSR1)
	go func() {
		for n := 1; ; n++ {
			<-asked
			mu.Lock()
			text, _ := json.Marshal(ran)
			mu.Unlock()
			name := fmt.Sprint(os.Getenv("COUNTS"), "/", n)
			_ = os.WriteFile(name+".part", text, 0o600)
			_ = os.Rename(name+".part", name)
		}
	}()
}
`

// counted are the functions that read and draw a question, by their files, and how often each may
// run for one question, and for one answer.
var counted = map[string]map[string]int{
	"bridge/wire/message.go":           {"ParseMessage": 2},
	"bridge/meaning/elicit/request.go": {"Parse": 2},
	"views/question_templ.go":          {"QuestionCard": 1},
}

// measureOnce counts how often the inspector parses the message that asks a question and the one
// that answers it, and how often it draws the card for each.
func measureOnce(b *testing.B) []figure {
	folder, ask, end := b.TempDir(), make(chan bool), make(chan bool)
	defer close(end)
	s := servers.NewScripted(b, "2026-07-28", map[string]servers.Script{"book": func(n int, _ servers.Call) string {
		if n == 1 {
			<-ask
			return `"result":{"resultType":"input_required","inputRequests":{"table":{"method":"elicitation/create","params":{"mode":"form","message":"Which table?","requestedSchema":{"type":"object","properties":{"guests":{"type":"integer","minimum":1},"name":{"type":"string"},"terrace":{"type":"boolean"}},"required":["guests"]}}}}}`
		}
		<-end
		return servers.Done("booked")
	}})
	p := inspector.StartWith(b, inspector.Options{Binary: buildCounting(b), Env: []string{"COUNTS=" + folder}}, "--no-open", "--listen", "127.0.0.1:0", s.URL)
	defer p.Stop()
	post := func(path string, form url.Values) {
		b.Helper()
		res, err := p.Client().PostForm(p.Base+path, form)
		if err != nil {
			b.Fatal(err)
		}
		if res.Body.Close(); res.StatusCode >= 400 {
			b.Fatalf("%s: %s", path, res.Status)
		}
	}
	asked := 0
	// settled counts when nothing that is counted has run for half a second: drawing follows moments
	// after a change.
	settled := func() (now map[string]int) {
		b.Helper()
		for quiet := 0; quiet < 5; quiet++ {
			time.Sleep(100 * time.Millisecond)
			asked++
			next := countsOf(b, p, filepath.Join(folder, fmt.Sprint(asked)))
			if !maps.Equal(now, next) {
				now, quiet = next, 0
			}
		}
		return now
	}
	settled()
	post("/calls", url.Values{"server": {"s1"}, "kind": {"tool"}, "key": {"book"}})
	before := settled()
	close(ask)
	question := settled()
	post("/questions/1/answer", url.Values{"action": {"accept"}, "f0": {"4"}})
	answer := settled()
	var list []figure
	for _, file := range slices.Sorted(maps.Keys(counted)) {
		for name, most := range counted[file] {
			list = append(list,
				figure{what: "one question: runs of " + name, values: []float64{float64(question[name] - before[name])}, bound: float64(most), noise: 1},
				figure{what: "one answer: runs of " + name, values: []float64{float64(answer[name] - question[name])}, bound: float64(most), noise: 1})
		}
	}
	return list
}

// buildCounting builds the inspector with the counts in it.
func buildCounting(b *testing.B) (binary string) {
	b.Helper()
	dir := b.TempDir()
	replaced := map[string]string{}
	replace := func(file, by string) {
		b.Helper()
		place, err := filepath.Abs(filepath.Join("..", file))
		if err != nil {
			b.Fatal(err)
		}
		copied := filepath.Join(dir, strings.ReplaceAll(file, "/", "_"))
		if err := os.WriteFile(copied, []byte(by), 0o600); err != nil {
			b.Fatal(err)
		}
		replaced[place] = copied
	}
	replace("bridge/counts/counts.go", counts)
	for file, names := range counted {
		raw, err := os.ReadFile(filepath.Join("..", file))
		if err != nil {
			b.Fatal(err)
		}
		source := strings.Replace(string(raw), "\nimport ", "\nimport \"elicitation-inspector/bridge/counts\"\nimport ", 1)
		for name := range names {
			before, after, found := strings.Cut(source, "\nfunc "+name+"(")
			signature, body, begun := strings.Cut(after, "{\n")
			if !found || !begun {
				b.Fatalf("%s has no function %s", file, name)
			}
			source = before + "\nfunc " + name + "(" + signature + "{\n\tcounts.Ran(\"" + name + "\")\n" + body
		}
		replace(file, source)
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replaced})
	if err != nil {
		b.Fatal(err)
	}
	list := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(list, overlay, 0o600); err != nil {
		b.Fatal(err)
	}
	binary = filepath.Join(dir, "inspector")
	if err := inspector.Build("..", binary, "-overlay", list, "./cmd/inspector"); err != nil {
		b.Fatal(err)
	}
	return binary
}

// countsOf asks the process for its counts, which it writes into a file.
func countsOf(b *testing.B, p *inspector.Process, file string) (list map[string]int) {
	b.Helper()
	process, err := os.FindProcess(p.PID())
	if err != nil {
		b.Fatal(err)
	}
	if err := process.Signal(syscall.SIGUSR1); err != nil {
		b.Fatal(err)
	}
	for deadline := time.Now().Add(inspector.Patience); ; time.Sleep(10 * time.Millisecond) {
		if text, err := os.ReadFile(file); err == nil {
			if err := json.Unmarshal(text, &list); err != nil {
				b.Fatal(err)
			}
			return list
		}
		if time.Now().After(deadline) {
			b.Fatal("the inspector does not write its counts")
		}
	}
}
