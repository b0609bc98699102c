package check

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

	"elicitation-inspector/bridge/base/lazy"
	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/client/headless"
	"elicitation-inspector/bridge/judges/check/report"
	"elicitation-inspector/bridge/keep/script"
	"elicitation-inspector/bridge/meaning/conversation"
)

// watcher looks at a witness for the trials of a call. Its methods are safe for concurrent
// use.
type watcher struct {
	*script.Witness
	r      *runner
	honest honest
	turn   chan struct{} // holds the look under way
	failed error         // why the witness cannot be used; nil if it can

	mu       sync.Mutex
	next     *sight           // the look that begins after the one under way; nil for none
	volatile []*regexp.Regexp // of lines that differ though nothing happens; they capture what differs
}

type sight struct {
	done  chan struct{} // closed when the look is over
	lines []string
	err   error
}

func (r *runner) newWatcher(c *chosen) *watcher {
	return &watcher{Witness: c.witness, r: r, honest: c.honest, turn: make(chan struct{}, 1)}
}

// look returns what the witness says now, line by line and without its volatile parts. One
// look answers all that ask while another is under way.
func (w *watcher) look(ctx context.Context) ([]string, error) {
	w.mu.Lock()
	s, first := w.next, w.next == nil
	if first {
		s = &sight{done: make(chan struct{})}
		w.next = s
	}
	w.mu.Unlock()
	if first {
		w.turn <- struct{}{}
		w.mu.Lock()
		w.next = nil
		w.mu.Unlock()
		s.lines, s.err = w.take(ctx)
		<-w.turn
		close(s.done)
	}
	<-s.done
	if s.err != nil {
		return nil, s.err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	lines := slices.Clone(s.lines)
	for i, line := range lines {
		for _, pattern := range w.volatile {
			lines[i] = without(line, pattern)
			if lines[i] != line {
				break
			}
		}
	}
	return lines, nil
}

func (w *watcher) take(ctx context.Context) ([]string, error) {
	ctx, done := context.WithTimeout(ctx, honestLimit)
	defer done()
	text, err := "", error(nil)
	if w.Kind == "command" {
		text, err = w.r.shell(ctx, w.Key)
		if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && ctx.Err() == nil { // a status can be what a command has to say
			text, err = text+"\n"+exit.Error(), nil
		}
	} else {
		text, err = w.ask(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("asking the witness %s: %w", w.Source, err)
	}
	return strings.Split(strings.TrimSpace(rawjson.Pretty([]byte(text))), "\n"), nil
}

// ask makes the call of the witness in a session of its own, with honest answers.
func (w *watcher) ask(ctx context.Context) (text string, err error) {
	s, err := headless.Open(ctx, w.r.config(&trial{Trial: report.Trial{Revision: w.r.revisions[0]}}))
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	noVariables := func(string) (string, bool) { return "", false } // they are replaced already
	rules, err := script.Parse("answers", []byte(w.honest.file()), noVariables)
	if err != nil {
		return "", fmt.Errorf("reading the honest answers: %w", err)
	}
	out, err := s.Call(ctx, headless.Call{Kind: conversation.Kind(w.Kind), Key: w.Key, Arguments: w.Arguments, Scripts: []*script.Script{rules}})
	switch {
	case err != nil:
		return "", err
	case out.Result == nil || out.IsError:
		return "", fmt.Errorf("it failed: %s", wording.Shorten(wording.Join(" ", out.Failure, string(out.Error), string(out.Result)), 300))
	}
	if text = script.TextOf(out.Result); text == "" {
		text = string(out.Result)
	}
	return text, nil
}

// shell runs a command line where the server's process runs, and returns its output.
func (r *runner) shell(ctx context.Context, line string) (string, error) {
	shell := []string{"sh", "-c", line}
	if runtime.GOOS == "windows" {
		shell = []string{"cmd", "/C", line}
	}
	cmd := exec.CommandContext(ctx, shell[0], shell[1:]...)
	cmd.Dir, cmd.WaitDelay = r.Server.Target.Dir, time.Second
	cmd.Env = append(cmd.Environ(), r.Server.Target.Env...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// between is the time between two looks that show which parts change by themselves, such
// as a clock with seconds.
const between = 1100 * time.Millisecond

// learn looks twice with nothing in between, and notes the parts that differ.
func (w *watcher) learn(ctx context.Context) error {
	first, err := w.look(ctx)
	if err != nil {
		return err
	}
	select {
	case <-time.After(between):
	case <-ctx.Done():
		return ctx.Err()
	}
	second, err := w.look(ctx)
	if err != nil {
		return err
	}
	if len(first) != len(second) {
		return fmt.Errorf("the witness %s says different things though nothing happens", w.Source)
	}
	for i := range first {
		if first[i] != second[i] {
			pattern := varying(first[i], second[i])
			w.mu.Lock()
			w.volatile = append(w.volatile, pattern)
			w.mu.Unlock()
		}
	}
	return nil
}

// words finds the parts of a line that can differ from look to look.
var words = lazy.Regexp(`[\pL\pN_.:+-]+`)

// varying returns a pattern that matches both lines, and captures the words that differ.
// Other words with a digit may change later: they can be what the call does.
func varying(a, b string) *regexp.Regexp {
	at, bt := words().FindAllStringIndex(a, -1), words().FindAllString(b, -1)
	aligned := len(at) == len(bt) && words().ReplaceAllLiteralString(a, "") == words().ReplaceAllLiteralString(b, "")
	expression, end := `\A`, 0
	for i, span := range at {
		word := a[span[0]:span[1]]
		if !aligned && (i >= len(bt) || word != bt[i]) {
			break
		}
		expression += regexp.QuoteMeta(a[end:span[0]])
		switch end = span[1]; {
		case word != bt[i]:
			expression += "(" + words().String() + ")"
		case strings.ContainsFunc(word, unicode.IsNumber):
			expression += words().String()
		default:
			expression += regexp.QuoteMeta(word)
		}
	}
	if !aligned {
		return regexp.MustCompile(expression + `(.*)\z`)
	}
	return regexp.MustCompile(expression + regexp.QuoteMeta(a[end:]) + `\z`)
}

// without returns a line without what a pattern captures in it.
func without(line string, pattern *regexp.Regexp) string {
	spans := pattern.FindStringSubmatchIndex(line)
	for i := len(spans) - 2; i > 0; i -= 2 {
		line = line[:spans[i]] + "…" + line[spans[i+1]:]
	}
	return line
}

// saw describes in a sentence's part how two looks differ; "" if they do not.
func (w *watcher) saw(before, after []string, when string) string {
	only := func(a, b []string) string {
		i := slices.IndexFunc(a, func(line string) bool { return !slices.Contains(b, line) })
		if i < 0 {
			return ""
		}
		return wording.Quoted(wording.Shorten(strings.TrimSpace(a[i]), 160))
	}
	was, is := only(before, after), only(after, before)
	switch {
	case slices.Equal(before, after):
		return ""
	case was == "" && is == "":
		return fmt.Sprintf("%s said %s before %s, and %s after it, in part the same again", w.Source, wording.Plural(len(before), "line"), when, wording.Plural(len(after), "line"))
	case was == "":
		return fmt.Sprintf("%s said only after %s: %s", w.Source, when, is)
	case is == "":
		return fmt.Sprintf("%s said only before %s: %s", w.Source, when, was)
	}
	return fmt.Sprintf("%s said before %s: %s, and after it: %s", w.Source, when, was, is)
}

// amount measures the change between two looks: how many words it adds, or else by how much
// each number grows.
func amount(before, after []string) (list []float64) {
	a, b := words().FindAllString(strings.Join(before, " "), -1), words().FindAllString(strings.Join(after, " "), -1)
	if len(a) != len(b) {
		return []float64{float64(len(b) - len(a))}
	}
	for i := range a {
		x, errX := strconv.ParseFloat(a[i], 64)
		y, errY := strconv.ParseFloat(b[i], 64)
		if errX == nil && errY == nil && x != y {
			list = append(list, y-x)
		}
	}
	return list
}

func isTwice(one, two []float64) bool {
	return len(one) > 0 && slices.EqualFunc(one, two, func(x, y float64) bool { return y == 2*x })
}
