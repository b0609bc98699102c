package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/client/headless"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/meaning/elicit"
	"elicitation-inspector/bridge/wire"
)

// narrator prints the events of a call as they happen: as lines, or as JSON objects.
type narrator struct {
	out    io.Writer
	quiet  bool
	events *json.Encoder // nil for lines

	told     []string // lines of standard error of a process that may be started again
	expected []string // those that the next process is expected to repeat

	ofTasks map[int]conversation.TaskKeys // of calls that are tasks, by call

	mu      sync.Mutex
	held    bool // a form is on the terminal, which lines would disturb
	waiting []string
}

// hold keeps lines back until release.
func (n *narrator) hold() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.held = true
}

func (n *narrator) release() {
	n.mu.Lock()
	lines := n.waiting
	n.held, n.waiting = false, nil
	n.mu.Unlock()
	for _, line := range lines {
		fmt.Fprintln(n.out, line)
	}
}

// keep stores a line if lines are kept back, and reports whether it did.
func (n *narrator) keep(line string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.held {
		n.waiting = append(n.waiting, line)
	}
	return n.held
}

// event is one object of --output jsonl.
type event struct {
	Event    string          `json:"event"`
	Frame    int64           `json:"frame,omitempty"` // number of the frame
	Question int             `json:"question,omitempty"`
	Key      string          `json:"key,omitempty"` // key in inputRequests
	Round    int             `json:"round,omitempty"`
	Method   string          `json:"method,omitempty"`
	Params   json.RawMessage `json:"params,omitempty"`
	By       string          `json:"by,omitempty"` // person, script, policy, fault
	Fault    string          `json:"fault,omitempty"`
	Answer   json.RawMessage `json:"answer,omitempty"`
	Error    json.RawMessage `json:"error,omitempty"`
	Text     string          `json:"text,omitempty"`
	Result   json.RawMessage `json:"result,omitempty"`
	Unmet    []string        `json:"unmet,omitempty"`
	Findings []string        `json:"findings,omitempty"`
	Exit     *int            `json:"exit,omitempty"` // exit code, in the last event
}

func (n *narrator) watch(f wire.Frame) {
	e := event{Frame: f.Seq, Question: f.Question, Round: f.Round, By: f.Actor, Fault: f.Fault, Method: f.Method}
	switch {
	case f.Dir == wire.Stderr:
		e.Event, e.Text = "stderr", string(f.Raw)
		if n.events != nil || !n.repeats(e.Text) {
			n.tell(e, "stderr: "+wording.EscapeLine(e.Text))
		}
	case f.Note != nil && f.Note.Kind == wire.NoteProbeFatal:
		n.told, n.expected = nil, n.told
	case f.Note != nil && f.Note.Kind == wire.NoteSessionGone:
		e.Event, e.Text = "session", f.Note.Words(&f)
		n.tell(e, e.Text)
	case f.Note != nil && f.Note.Kind == wire.NoteStrayResponse:
		e.Event, e.Text = "stray", f.Note.Words(&f)
		n.tell(e, e.Text)
	case f.Kind == wire.Noise && string(f.Raw) == wire.ByteOrderMark:
		e.Event, e.Text = "noise", string(f.Raw)
		n.tell(e, "noise: "+f.Summary()+", which other clients may refuse")
	case f.Kind == wire.Noise:
		e.Event, e.Text = "noise", string(f.Raw)
		where := wording.Either(f.Transport == "stdio", "on standard output", "in place of a message from the server")
		if f.Dir == wire.ClientToServer {
			where = "sent to the server"
		}
		n.tell(e, "noise "+where+": "+wording.EscapeLine(wording.Shorten(e.Text, 200)))
	case f.Dir == wire.ServerToClient && f.Kind == wire.Notification:
		e.Params = f.Message.Params
		switch f.Method {
		case mcp.NotificationProgress:
			e.Event = "progress"
			n.tell(e, "progress: "+wording.EscapeLine(f.Summary()))
		case mcp.NotificationMessage:
			e.Event = "log"
			n.tell(e, wording.EscapeLine(f.Summary()))
		}
	case f.Dir == wire.ServerToClient:
		n.asked(&f, e)
	case f.Dir == wire.ClientToServer && f.MakesTask: // the answer comes later, by tasks/result
	case f.Dir == wire.ClientToServer && f.Kind.IsResponse() && (mcp.IsInput(f.Method) || f.Method == mcp.MethodTaskResult):
		n.answered(e, f.Message.Result, f.Message.Error)
	case f.Dir == wire.ClientToServer && f.Kind == wire.Request && (mcp.AsksForInput(f.Method) || f.Method == mcp.MethodUpdateTask):
		e.Question = 0
		for key, answer := range rawjson.Members(rawjson.Member(f.Message.Params, "inputResponses")) {
			e.Key = key
			n.answered(e, answer, nil)
		}
	}
}

// toldMost bounds the lines of standard error that are compared with those of a process
// that is started again.
const toldMost = 100

// repeats reports whether a line of standard error is the same as at this place before the
// process was started again.
func (n *narrator) repeats(line string) bool {
	if len(n.told) < toldMost {
		n.told = append(n.told, line)
	}
	if len(n.expected) == 0 || n.expected[0] != line {
		n.expected = nil
		return false
	}
	n.expected = n.expected[1:]
	return true
}

func (n *narrator) asked(f *wire.Frame, e event) {
	e.Event = "question"
	if f.Kind == wire.Request && !mcp.IsInput(f.Method) {
		return
	}
	list := elicit.AskedIn(f.Message)
	if f.Method == mcp.MethodGetTask { // it repeats what was asked before
		if n.ofTasks == nil {
			n.ofTasks = map[int]conversation.TaskKeys{}
		}
		if n.ofTasks[f.Call] == nil {
			n.ofTasks[f.Call] = conversation.TaskKeys{}
		}
		list = n.ofTasks[f.Call].Inputs(f.Message)
	}
	for i, asked := range list {
		one := e
		one.Key, one.Method, one.Params = asked.Key, asked.Method, asked.Params
		if i > 0 && one.Question != 0 {
			one.Question = e.Question + i
		}
		text := asked.Method
		if message := rawjson.Text(rawjson.Member(asked.Params, "message")); message != "" {
			text = message
		}
		if url := rawjson.Text(rawjson.Member(asked.Params, "url")); url != "" {
			text += " " + url
		}
		n.tell(one, "? "+wording.EscapeLine(wording.Shorten(text, 2000)))
	}
}

func (n *narrator) answered(e event, result, problem json.RawMessage) {
	e.Event, e.Answer, e.Error = "answer", result, problem
	said := result
	if said == nil {
		said = problem
	}
	text := wording.Shorten(string(rawjson.AppendCompact(nil, said)), 400)
	switch {
	case e.Fault != "":
		text += " (deliberate: " + e.Fault + ")"
	case e.By != "":
		text += " (" + e.By + ")"
	}
	n.tell(e, "→ "+wording.EscapeLine(text))
}

func (n *narrator) tell(e event, line string) {
	if n.events != nil {
		_ = n.events.Encode(e) // a closed pipe is reported with the result
		return
	}
	if !n.quiet && !n.keep(line) {
		fmt.Fprintln(n.out, line)
	}
}

func endEvent(out headless.Outcome, code int) event {
	e := event{Event: "result", Result: out.Result, Error: out.Error, Text: out.Failure, Unmet: out.Unmet, Exit: &code}
	for _, f := range out.Findings {
		e.Findings = append(e.Findings, fmt.Sprintf("%s: %s", f.Severity, f.Rule))
	}
	switch {
	case out.Error != nil:
		e.Event = "error"
	case out.Result == nil:
		e.Event = "failure"
	}
	return e
}

// tellUnanswered prints all details of a question that nobody has answered.
func tellUnanswered(w io.Writer, u headless.Unanswered) {
	q := &u.Question
	var b strings.Builder
	fmt.Fprintf(&b, "inspector: question %d was cancelled, since nothing answers it: %s\n", q.Number, wording.EscapeLine(u.Why))
	if q.CallName != "" {
		fmt.Fprintf(&b, "  asked in the call of %s", wording.EscapeLine(q.CallName))
		if q.Key != "" {
			fmt.Fprintf(&b, ", round %d, key %s", q.Round, wording.EscapeLine(q.Key))
		}
		b.WriteString("\n")
	}
	if q.Request != nil {
		fmt.Fprintf(&b, "  message: %s\n", strings.ReplaceAll(q.Request.Message, "\n", "\n           "))
		if q.Request.URL != "" {
			fmt.Fprintf(&b, "  url: %s\n", wording.EscapeLine(q.Request.URL))
		}
		for _, f := range q.Request.Fields {
			fmt.Fprintf(&b, "  field %s: %s\n", wording.EscapeLine(f.Name), wording.EscapeLine(describe(f)))
		}
	}
	fmt.Fprintf(&b, "  %s %s\n", wording.EscapeLine(q.Method), strings.ReplaceAll(rawjson.Pretty(q.Params), "\n", "\n  "))
	_, _ = io.WriteString(w, b.String())
}

// describe returns one line on the values that a field takes.
func describe(f elicit.Field) string {
	parts := []string{f.Kind.String()}
	if f.Kind.Entry() == elicit.Written {
		parts = []string{"JSON by the schema " + wording.Shorten(string(rawjson.AppendCompact(nil, f.Schema)), 200)}
	}
	if f.Required {
		parts = append(parts, "required")
	}
	text := strings.Join(append(parts, f.Limits()...), ", ")
	var choices []string
	for _, c := range f.Choices {
		if c.Title != c.Value {
			choices = append(choices, fmt.Sprintf("%s (%s)", c.Value, c.Title))
		} else {
			choices = append(choices, c.Value)
		}
	}
	if choices != nil {
		text += ": " + wording.Shorten(strings.Join(choices, ", "), 400)
	}
	if f.Default != nil {
		text += "; default " + wording.Shorten(string(rawjson.AppendCompact(nil, f.Default)), 100)
	}
	return text
}
