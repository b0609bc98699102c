package views

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"elicitation-inspector/bridge/catalog"
	"elicitation-inspector/bridge/wording"
)

// ID is the id of the call's element.
func (c Call) ID() string { return "call-" + strconv.Itoa(c.Number) }

// ResultID is the id of the element of the call's result.
func (c Call) ResultID() string { return "result-" + strconv.Itoa(c.Number) }

// ID is the id of the call's element.
func (c CallTab) ID() string { return "call-tab-" + strconv.Itoa(c.Number) }

// ready reports whether the server can be called now.
func (f CallForm) ready() bool { return f.Server.State == ServerReady }

// takesArguments reports whether there are fields, or a schema for which arguments can be
// written as JSON.
func (f CallForm) takesArguments() bool {
	return len(f.Form.Fields) > 0 || f.Form.JSON || f.Form.Trouble != "" || f.Form.Extra != "" || len(f.Form.Problems) > 0
}

// path returns the URL path of an action on a call.
func (c Call) path(what string) string { return "/calls/" + strconv.Itoa(c.Number) + "/" + what }

// verb returns the name of the button that uses an item.
func (i Item) verb() string {
	if i.Kind == catalog.Resource || i.Kind == catalog.Template {
		return "Read"
	}
	return "Call"
}

// address returns the query of the page's address while the call is on show.
func (c Call) address() string { return "?call=" + strconv.Itoa(c.Number) }

// openOf describes how many questions of a round are answered, and what happens to the
// others when the round is sent.
func openOf(open, all int) string {
	if open == all {
		return "none of " + wording.Count(all, "question", "questions") + " is answered yet. Unanswered ones are left out."
	}
	return strconv.Itoa(all-open) + " of " + wording.Count(all, "question", "questions") + " answered. Unanswered ones are left out."
}

// reaction is the longest wait that counts as a policy's answer. A person takes longer.
const reaction = 10 * time.Millisecond

// served returns the server's share of the duration of a call that has ended, or that
// waits for the person.
func (c Call) served() time.Duration {
	if c.State == CallRunning {
		return c.WaitedSince.Sub(c.Started)
	}
	return c.Duration - c.Waited
}

// FramesOf returns the filter for the frames of a call.
func FramesOf(call string) string { return "call:" + call }

// major reports whether a step belongs in the short line over a call.
func (s Step) major() bool {
	return s.Kind != "progress" && s.Kind != "log" && s.Kind != "list"
}

// word returns the kind of a step in a word; about has the rest.
func (s Step) word() string {
	switch s.Kind {
	case "retry":
		return s.Text
	case StepToolError:
		return "tool error"
	case "answered":
		word, _, _ := strings.Cut(s.Text, ": ")
		return cmp.Or(settlings[word], word, s.Kind)
	}
	return s.Kind
}

func (s Step) about() string {
	switch s.Kind {
	case "retry":
		return ""
	case "answered":
		_, rest, _ := strings.Cut(s.Text, ": ")
		return rest
	}
	return s.Text
}

// repeated is a step in the line over a call, with the number of similar steps in a row.
// The step is the last of these.
type repeated struct {
	Step
	n int
}

// short describes a step for the line over a call: "asked +41 ms", "asked ×3 +2.1 s".
func (c Call) short(s repeated) string {
	if s.Kind == "called" {
		return "called " + s.At.Format(time.TimeOnly)
	}
	return wording.Join(" ", s.word(), times(s.n), "+"+wording.Lasted(s.At.Sub(c.Started)))
}

// line returns the part of a timeline that fits over a call: the first step and the last
// few. left is the number of omitted steps.
func (c Call) line() (steps []repeated, left int) {
	const most = 6
	for _, s := range c.Steps {
		last := len(steps) - 1
		switch {
		case !s.major():
		case last > 0 && steps[last].word() == s.word():
			steps[last] = repeated{s, steps[last].n + 1}
		default:
			steps = append(steps, repeated{s, 1})
		}
	}
	if over := len(steps) - most; over > 0 {
		steps, left = append(steps[:1:1], steps[over+1:]...), over
	}
	return steps, left
}

// logged counts the log messages that are steps of the timeline.
func (c Call) logged() (n int) {
	for _, s := range c.Steps {
		if s.Kind == "log" {
			n++
		}
	}
	return n
}

// stateWord describes the state of a call.
func (c CallTab) stateWord() string {
	switch {
	case c.Waiting > 0:
		return "waiting for you"
	case c.Yours:
		return "your turn"
	case c.State == CallDone && c.IsError:
		return "tool error"
	}
	return string(c.State)
}
