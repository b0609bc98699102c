package views

import (
	"cmp"
	"strconv"
	"time"

	"github.com/a-h/templ"

	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/views/markup"
)

// ID is the id of the call's element.
func (c Call) ID() string { return "call-" + strconv.Itoa(c.Number) }

// ResultID is the id of the element of the call's result.
func (c Call) ResultID() string { return "result-" + strconv.Itoa(c.Number) }

// ID is the id of the call's element.
func (c CallTab) ID() string { return "call-tab-" + strconv.Itoa(c.Number) }

func (f CallForm) ready() bool { return f.Server.State == conversation.ServerReady }

// takesArguments reports whether there are fields, or a schema for which arguments can be
// written as JSON.
func (f CallForm) takesArguments() bool {
	return len(f.Form.Fields) > 0 || f.Form.JSON || f.Form.Trouble != "" || f.Form.Extra != "" || len(f.Form.Problems) > 0
}

func (c Call) path(what string) string { return "/calls/" + strconv.Itoa(c.Number) + "/" + what }

func (i Item) verb() string {
	if i.Kind == conversation.Resource || i.Kind == conversation.Template {
		return "Read"
	}
	return "Call"
}

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
	if !c.State.Over() {
		return c.WaitedSince.Sub(c.Start)
	}
	return c.Served
}

// FramesOf returns the filter for the frames of a call.
func FramesOf(call string) string { return "call:" + call }

func stepWord(s conversation.Step) string {
	if s.Kind == conversation.StepToolError {
		return "tool error"
	}
	return cmp.Or(settlings[s.Word], s.Word, string(s.Kind))
}

// taskLines says how the task of the call stands, and those of its questions.
func (c Call) taskLines() (lines []string) {
	if t := c.Task; t != nil {
		line := wording.Join(" · ", "Task "+markup.Brief(t.ID), string(t.Status), markup.Brief(t.Message))
		if at, ends := t.Expires(); ends {
			kept := "kept for " + wording.Duration(t.TTL) + ", until " + at.Format(time.TimeOnly)
			if !c.State.Over() && time.Now().After(at) {
				kept = "its ttl of " + wording.Duration(t.TTL) + " has passed"
			}
			line = wording.Join(" · ", line, kept)
		}
		if t.Polls > 0 {
			line = wording.Join(" · ", line, "asked "+wording.Count(t.Polls, "time", "times")+t.Polled())
		}
		if lines = append(lines, line); t.Problem != "" {
			lines = append(lines, "The task: "+markup.Brief(t.Problem)+".")
		}
	}
	for _, q := range c.Questions {
		if q.Task != nil && len(lines) < tasksMost {
			lines = append(lines, "Question "+strconv.Itoa(q.Number)+" "+taskWords(q.Task))
		}
	}
	return lines
}

// tasksMost is how many tasks of a call are shown.
const tasksMost = 20

// taskWords says how a question stands that is a task, as part of a sentence.
func taskWords(t *conversation.QuestionTask) string {
	often := func(n int) string {
		return wording.Either(n == 1, "once", wording.Count(n, "time", "times"))
	}
	text := "is a task that the server asks about: " + string(t.Status) + "; its status was asked for " + often(t.Polls)
	if t.Fetches > 0 {
		text += ", its answer " + often(t.Fetches)
	}
	return text + "."
}

func (c Call) logged() (n int) {
	for _, s := range c.Steps {
		if s.Kind == conversation.StepLog {
			n++
		}
	}
	return n
}

func (c Call) tab() CallTab {
	return CallTab{State: c.State, Waiting: c.Waiting, Yours: !c.State.Over() && c.Yours, Doubted: len(c.After) > 0}
}

// look returns the classes of a call's state, on its tab as in its head.
func (c CallTab) look() templ.CSSClasses {
	failed := c.State == conversation.ToolFailed || c.State == conversation.Failed
	return templ.Classes(stage(c.State), templ.KV("toolerror", failed), templ.KV("waits", c.Waiting > 0 || c.Yours), templ.KV("doubted", c.Doubted))
}

// stage returns the class of a call's state.
func stage(s conversation.State) string {
	switch s {
	case conversation.Done, conversation.ToolFailed:
		return "done"
	case conversation.Failed:
		return "failed"
	case conversation.Stopped:
		return "stopped"
	}
	return "running"
}

func (c CallTab) stateWord() string {
	switch {
	case c.Waiting > 0:
		return "waiting for you"
	case c.Yours:
		return "your turn"
	case c.Doubted:
		return "declined?"
	case c.State == conversation.ToolFailed:
		return "tool error"
	}
	return stage(c.State)
}
