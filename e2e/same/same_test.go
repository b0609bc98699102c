// Package same compares what two builds of the inspector say of the same sessions: every
// export, every finding, the opened page, and the verdicts of a check. It is the net
// under a change that is to change nothing: `task same BASE=revision`.
package same

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"elicitation-inspector/bridge/testdata/protectedtest"
	"elicitation-inspector/e2e/internal/inspector"
)

var (
	base   = flag.String("base", "", "the binary to compare with")
	step   = flag.Int("step", 1, "compares each transcript of so many only")
	corpus = flag.String("corpus", "", "the folder of transcripts; one that is empty is filled with the binary of -base")
)

// limit is the time that one command may take.
const limit = time.Minute

// output runs a binary and returns what it prints, and how it ends.
func output(binary string, args ...string) []byte {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.WaitDelay = time.Second
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	fmt.Fprintf(&out, "\n%v\n", err)
	return out.Bytes()
}

// each calls do for every element, a few at the same time.
func each[T any](all []T, do func(T)) {
	var wg sync.WaitGroup
	slots := make(chan struct{}, 4)
	for _, one := range all {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			do(one)
		})
	}
	wg.Wait()
}

// behaviours are the answers files with which the corpus is recorded.
var behaviours = map[string]string{
	"accept":   "default: {accept: valid}",
	"decline":  "default: decline",
	"cancel":   "default: cancel",
	"noobject": "default: {fault: null-result}",
	"error":    "default: {fault: any-error}",
	"wrong":    "answers: [{match: {mode: form}, answer: {fault: extra-field}}, {match: {mode: url}, answer: {fault: accept-with-content}}]\ndefault: cancel",
	"state":    "answers: [{answer: {fault: changed-state}, times: 1}]\ndefault: {accept: valid}",
	"broken":   "answers: [{answer: {fault: invalid-json}, times: 1}]\ndefault: {accept: valid}",
	"killed":   "answers: [{answer: {fault: kill-process}, times: 1}]\ndefault: {accept: valid}",
}

// session is a command that records one transcript.
type session struct {
	name string
	args []string
}

// faultyServer builds the faulty server and returns its path.
func faultyServer(t *testing.T) string {
	path := filepath.Join(t.TempDir(), "faulty")
	if err := inspector.Build("..", path, "-trimpath", "./servers/faulty"); err != nil {
		t.Fatal(err)
	}
	return path
}

// record fills the folder with sessions of the demo and the faulty server in each
// revision, sign-ins, and damaged copies of them.
func record(t *testing.T, dir string) {
	scratch := t.TempDir()
	for name, text := range behaviours {
		if err := os.WriteFile(filepath.Join(scratch, name+".yaml"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var sessions []session
	for server, command := range map[string][]string{"demo": {"--", *base, "demo"}, "faulty": {"--", faultyServer(t)}} {
		for _, revision := range []string{"2025-06-18", "2025-11-25", "2026-07-28"} {
			var items []struct{ Kind, Name string }
			listed, err := exec.Command(*base, append([]string{"list", "--format", "json", "--protocol", revision}, command...)...).Output()
			if err != nil {
				t.Fatalf("listing %s in %s: %v", server, revision, err)
			}
			if err := json.Unmarshal(listed, &items); err != nil {
				t.Fatal(err)
			}
			for i, item := range items {
				if item.Kind != "tool" {
					continue
				}
				for j, behaviour := range slices.Sorted(maps.Keys(behaviours)) {
					if server == "faulty" && (i+j)%4 != 0 || server == "demo" && behaviour != "accept" && (i+j)%3 != 0 {
						continue
					}
					name := strings.Join([]string{server, item.Name, revision, behaviour}, "-") + ".jsonl"
					sessions = append(sessions, session{name, append([]string{"call", item.Name, "--protocol", revision, "--no-input", "--timeout", "4s",
						"--answers", filepath.Join(scratch, behaviour+".yaml"), "--record", filepath.Join(dir, name)}, command...)})
				}
			}
		}
	}
	sessions = append(sessions, signIns(t, scratch, dir)...)
	each(sessions, func(s session) { output(*base, s.args...) })

	files, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 1))
	for i, file := range files {
		if i%8 != 0 {
			continue
		}
		data, err := os.ReadFile(file)
		if err != nil || len(data) < 100 {
			continue
		}
		lines := bytes.SplitAfter(data, []byte("\n"))
		switch i / 8 % 4 {
		case 0: // cut in the middle of a line
			data = data[:random.IntN(len(data))]
		case 1: // a line is gone
			data = slices.Concat(slices.Delete(lines, len(lines)/2, len(lines)/2+1)...)
		case 2: // two lines have changed places
			k := len(lines) / 2
			lines[k], lines[k-1] = lines[k-1], lines[k]
			data = slices.Concat(lines...)
		case 3: // bytes are others
			for range 20 {
				data[random.IntN(len(data))] = byte(random.IntN(256))
			}
		}
		if err := os.WriteFile(strings.TrimSuffix(file, ".jsonl")+"-damaged.jsonl", data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// signIns starts the protected demo and returns a session with each of its servers.
func signIns(t *testing.T, scratch, dir string) (sessions []session) {
	secret := filepath.Join(scratch, "secret")
	if err := os.WriteFile(secret, []byte("demo-service-not-a-secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	address := protectedtest.New(t).URL
	text, err := os.ReadFile("../../bridge/testdata/protected/README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range regexp.MustCompile("`(/(?:good|bad)/[a-z0-9-]+/mcp)`").FindAllSubmatch(text, -1) {
		name := strings.ReplaceAll(strings.Trim(string(path[1]), "/"), "/", "-") + ".jsonl"
		sessions = append(sessions, session{name, []string{"call", "deploy", "--no-input", "--timeout", "6s",
			"--oauth-client-id", "demo-service", "--oauth-client-secret-file", secret, "--record", filepath.Join(dir, name), address + string(path[1])}})
	}
	return sessions
}

// unstable are the parts of an output that differ from run to run.
var unstable = regexp.MustCompile(`(?s)<style>.*?</style>|<script.*?</script>|<link[^>]*>|127\.0\.0\.1:\d+|inspector-[0-9a-z]+\.localhost:\d+|v\d+\.\d+\.\d+-[0-9]{14}-[0-9a-z]+((\+|&#43;)dirty)?|data-(since|token|seq|now|version|text|item)="[^"]*"`)

// said returns everything that a build says of a transcript, by name.
func said(t *testing.T, binary, file string) map[string][]byte {
	all := map[string][]byte{}
	for _, format := range []string{"jsonl", "json", "har", "markdown", "mermaid", "html"} {
		all["export "+format] = output(binary, "export", "--format", format, file)
	}
	for _, format := range []string{"text", "json", "sarif"} {
		all["lint "+format] = output(binary, "lint", "--format", format, file)
	}
	all["answers"] = output(binary, "answers", "--scenario", file)
	maps.Copy(all, opened(t, binary, file))
	for name, text := range all {
		all[name] = unstable.ReplaceAll(text, []byte("…"))
	}
	return all
}

// opened returns the page of an opened transcript, its calls, its ledger and its log.
func opened(t *testing.T, binary, file string) map[string][]byte {
	all := map[string][]byte{}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, "open", "--no-open", "--listen", "127.0.0.1:0", file)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 5 * time.Second
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { cancel(); _, _ = io.Copy(io.Discard, out); _ = cmd.Wait() }()
	var line string
	if _, err := fmt.Fscanf(out, "Inspector ready: %s\n", &line); err != nil {
		all["page"] = []byte("no page")
		return all
	}
	ready, err := url.Parse(line)
	if err != nil {
		t.Fatal(err)
	}
	token := ready.Query().Get("token")
	get := func(path string) []byte {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://127.0.0.1:"+ready.Port()+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+token)
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			return []byte(err.Error())
		}
		defer res.Body.Close()
		body, err := io.ReadAll(res.Body)
		if err != nil {
			return []byte(err.Error())
		}
		return fmt.Appendf(body, "\n%d\n", res.StatusCode)
	}
	paths := []string{"/", "/ledger", "/findings.json", "/wire/rows?count=200", "/calls/1", "/calls/1/steps", "/calls/1/ladder", "/calls/1/ladder?as=svg", "/calls/2", "/wire/frames/5"}
	// A transcript is read and judged while its page is open already, and no part of it tells
	// when all of them are done: they are, once none has changed in three looks at all.
	for same := 0; same < 3; same++ {
		for _, path := range paths {
			if now := get(path); !bytes.Equal(now, all["page "+path]) {
				all["page "+path], same = now, -1
			}
		}
		time.Sleep(50 * time.Millisecond)
	}
	return all
}

func TestSame(t *testing.T) {
	if *base == "" {
		t.Fatal("name the binary to compare with: -base FILE; `task same BASE=revision` builds it")
	}
	now := filepath.Join(t.TempDir(), "inspector")
	if err := inspector.Build("../..", now, "-trimpath", "./cmd/inspector"); err != nil {
		t.Fatal(err)
	}
	dir := *corpus
	if dir == "" {
		dir = t.TempDir()
	}
	files, _ := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	if len(files) == 0 {
		record(t, dir)
		files, _ = filepath.Glob(filepath.Join(dir, "*.jsonl"))
	}
	if len(files) < 400 {
		t.Errorf("the corpus has %d transcripts; 400 or more are meant", len(files))
	}
	var chosen []string
	for i := 0; i < len(files); i += *step {
		chosen = append(chosen, files[i])
	}
	keep := filepath.Join(os.TempDir(), "inspector-same")
	_ = os.RemoveAll(keep)
	var mutex sync.Mutex
	differ, compared := map[string][]string{}, 0
	each(chosen, func(file string) {
		before, after := said(t, *base, file), said(t, now, file)
		mutex.Lock()
		defer mutex.Unlock()
		for name, text := range before {
			compared++
			if bytes.Equal(text, after[name]) {
				continue
			}
			differ[name] = append(differ[name], filepath.Base(file))
			for side, text := range map[string][]byte{"before": text, "after": after[name]} {
				to := filepath.Join(keep, strings.NewReplacer("/", "_", " ", "_", "?", "_").Replace(name), filepath.Base(file)+"."+side)
				if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(to, text, 0o600); err != nil {
					t.Fatal(err)
				}
			}
		}
	})
	fmt.Printf("same: %d transcripts, %d outputs compared\n", len(chosen), compared)
	for _, name := range slices.Sorted(maps.Keys(differ)) {
		slices.Sort(differ[name])
		t.Errorf("%s differs for %d transcripts, such as %s; both are in %s", name, len(differ[name]), strings.Join(differ[name][:min(3, len(differ[name]))], ", "), keep)
	}
}

// TestSameVerdicts compares the fails and warnings of a check of the faulty server by their
// trials. What differs is checked once more by itself: a busy machine makes trials
// inconclusive.
func TestSameVerdicts(t *testing.T) {
	now := filepath.Join(t.TempDir(), "inspector")
	if err := inspector.Build("../..", now, "-trimpath", "./cmd/inspector"); err != nil {
		t.Fatal(err)
	}
	server := faultyServer(t)
	verdicts := func(binary string, tools []string) map[string]string { // the tool, by the finding
		arguments := append([]string{"check", "--format", "json", "--jobs", "4", "--timeout", "3s"}, tools...)
		out, err := exec.Command(binary, append(arguments, "--", server)...).Output()
		var report struct {
			Calls   []struct{ Key string }
			Results []struct {
				Call                int
				Behaviour, Revision string
				Findings            []struct{ Rule, Verdict string }
			}
		}
		if wrong := json.Unmarshal(out, &report); wrong != nil {
			t.Fatalf("check: %v, %v", err, wrong)
		}
		lines := map[string]string{}
		for _, r := range report.Results {
			for _, f := range r.Findings {
				if f.Verdict == "fail" || f.Verdict == "warn" {
					tool := report.Calls[r.Call].Key
					lines[fmt.Sprint(f.Rule, " ", tool, " ", r.Revision, " ", r.Behaviour, " ", f.Verdict)] = tool
				}
			}
		}
		if len(lines) == 0 {
			t.Fatal("the check found nothing in the faulty server")
		}
		return lines
	}
	var tools []string // all
	for range 2 {
		before, after := verdicts(*base, tools), verdicts(now, tools)
		fmt.Printf("same: %d findings before, %d after\n", len(before), len(after))
		var differ []string
		differs := map[string]bool{}
		note := func(what string, a, b map[string]string) {
			for line, tool := range a {
				if b[line] == "" {
					differ, differs[tool] = append(differ, what+line), true
				}
			}
		}
		note("gone: ", before, after)
		note("new: ", after, before)
		if len(differ) == 0 {
			return
		}
		if tools != nil {
			slices.Sort(differ)
			t.Fatal(strings.Join(differ, "\n"))
		}
		tools = slices.Sorted(maps.Keys(differs))
	}
}
