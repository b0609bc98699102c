package views

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/meaning/elicit"
	"elicitation-inspector/bridge/meaning/elicit/link"
	"elicitation-inspector/bridge/meaning/fault"
	"elicitation-inspector/bridge/meaning/lint"
	"elicitation-inspector/views/markup"
)

func (q Question) stateWord() string {
	switch {
	case q.State == conversation.Pending:
		return "waiting"
	case q.State == conversation.Undelivered:
		return "not delivered"
	case q.State != conversation.Answered:
		return q.State.String()
	case q.Wrong != "":
		return "misbehaved"
	case q.Completion == conversation.CompletionDone:
		return "completed"
	case q.Completion == conversation.CompletionMarked:
		return "marked as done"
	}
	return cmp.Or(settlings[q.Action], "answered")
}

// settlings describes the ends of questions, by action or by the text of a step.
var settlings = map[string]string{
	"accept": "accepted", "decline": "declined", "cancel": "cancelled", "undelivered": "not delivered",
}

func (q Question) by() string {
	if q.By == "policy" && q.State == conversation.Refused && q.Server.Policy == conversation.PolicyAsk {
		return "by the inspector"
	}
	words := map[string]string{
		"person": wording.Either(q.ReadOnly, "by a person", "by you"), "script": "by a script", "policy": "by policy", "fault": "on purpose", "server": "by the server",
	}
	return cmp.Or(words[q.By], markup.Brief(q.By))
}

func (q Question) ofCall() string {
	return wording.Either(q.Call > 0, "call "+strconv.Itoa(q.Call), "")
}

func (q Question) completion() string {
	switch q.Completion {
	case conversation.CompletionAwaited:
		return wording.Either(q.Round > 0, "a retry shows the outcome", "the server never said that it was done")
	case conversation.CompletionDone:
		return "the server says it is done"
	case conversation.CompletionMarked:
		return wording.Either(q.ReadOnly, "it was marked as done", "you marked it as done")
	}
	return ""
}

func (q Question) digest() string {
	if q.Completion == conversation.CompletionAwaited {
		return wording.Join(" · ", q.Digest, q.completion())
	}
	if q.Wrong != "" {
		return wording.Join(" · ", "deliberate: "+q.Wrong, cmp.Or(wording.After("then: ", markup.Brief(q.Next.Text)), "then nothing so far"))
	}
	return wording.Join(" · ", q.Digest, q.neverSent())
}

func (q Question) neverSent() string {
	return wording.Either(q.NeverSent, "never sent, since the call ended first", "")
}

func (q Question) outcome() string {
	switch {
	case q.State == conversation.Answered && q.Wrong != "":
		return "bad"
	case q.State == conversation.Answered && q.Action == "accept":
		return "good"
	case q.State == conversation.Answered, q.State == conversation.Withdrawn:
		return "plain"
	}
	return "bad"
}

// title returns the message of a question, or a word if there is none.
func (q Question) title() string {
	if strings.TrimSpace(wording.Head(q.request().Message, wording.TextMost)) != "" {
		return q.request().Message
	}
	switch q.Method {
	case mcp.MethodSample:
		return "Write a message, as a model would"
	case mcp.MethodListRoots:
		return "List the folders that may be used"
	}
	return "(no message)"
}

// elicits reports whether a question is an elicitation, and not another request that a
// person answers.
func (q Question) elicits() bool { return q.Method == "" || q.Method == mcp.MethodElicit }

// found splits the findings, the gravest first: those at fields, those that a warning about the URL says, and the others.
func (q Question) found() (here, atFields, atURL []lint.Finding) {
	for _, f := range lint.GravestFirst(q.Findings) {
		switch {
		case q.Form.Shows(f):
			atFields = append(atFields, f)
		case q.Address != nil && q.State == conversation.Pending && warned(f, q.Address) != "":
			atURL = append(atURL, f)
		default:
			here = append(here, f)
		}
	}
	return here, atFields, atURL
}

func (q Question) circumstances() string {
	round := wording.Either(q.Round > 0, "round "+strconv.Itoa(q.Round), "")
	if q.Via == elicit.InError {
		round = "error " + strconv.Itoa(mcp.CodeURLElicitationRequired)
	}
	return wording.Join(" · ", q.ofCall(), round, wording.Join(" ", wording.Either(q.Key != "", "key", ""), markup.Brief(q.Key)), markup.Brief(q.mode()))
}

// hasForm reports whether to show the form as the person saw it.
func (q Question) hasForm() bool {
	return q.ReadOnly && q.elicits() && q.Address == nil && (len(q.Form.Fields) > 0 || q.Form.Trouble != "")
}

// awaits reports whether the outcome of an accepted URL can still arrive, so that the
// card stays open.
func (q Question) awaits() bool {
	return q.State == conversation.Answered && q.Completion == conversation.CompletionAwaited && (q.ServerMayReport || q.CallWaits)
}

func (q Question) awaitedWhat() string {
	if q.ServerMayReport {
		return "Waiting for " + mcp.NotificationElicitComplete
	}
	return "Waiting for you to try again"
}

func (q Question) awaitedHow() string {
	call := "Call " + strconv.Itoa(q.Call)
	switch {
	case q.ServerMayReport && q.request().ElicitationID == "":
		return "It came without an elicitationId, so the server has no way to say that it is done: only you can."
	case q.ServerMayReport && q.CallWaits:
		return call + " is made again once every page that it needs is done, or when you say so."
	case q.ServerMayReport:
		return "If the server never says that it is done, you can."
	case q.Every > 0:
		return call + " is tried again every " + seconds(q.Every) + " s, until it has a result."
	}
	return "In this revision servers do not say when a page is done: to learn the outcome, try call " + strconv.Itoa(q.Call) + " again."
}

func (q Question) callPath(what string) string {
	return "/calls/" + strconv.Itoa(q.Call) + "/" + what
}

const everyUsual = 5 * time.Second

func (q Question) everySeconds() string {
	if q.Every > 0 {
		return seconds(q.Every)
	}
	return seconds(everyUsual)
}

func seconds(d time.Duration) string { return number(d.Seconds()) }

// inOrder splits questions into those of a call, and the waiting and settled ones of
// other calls. In each part questions that wait for the person come first, then those
// that wait for an outcome, both oldest first, and then settled ones, latest first. With
// call 0, all questions count as the call's own.
func inOrder(questions []Question, call int) (own, waiting, earlier []Question) {
	sorted := slices.Clone(questions)
	slices.SortStableFunc(sorted, func(a, b Question) int { return a.rank() - b.rank() })
	for _, q := range sorted {
		other := call != 0 && q.Call > 0 && q.Call != call // the call of some questions is unknown
		switch {
		case !other:
			own = append(own, q)
		case q.rank() < 0:
			waiting = append(waiting, q)
		default:
			earlier = append(earlier, q)
		}
	}
	return own, waiting, earlier
}

// rank is the place of a question among others, least first; below zero while it waits for
// the person or for its outcome. The page's script sorts cards by it as well.
func (q Question) rank() int {
	const most = 1_000_000_000 // more than all numbers
	switch {
	case q.State == conversation.Pending:
		return q.Number - 2*most
	case q.awaits():
		return q.Number - most
	}
	return most - q.Number
}

// request returns what the elicitation asks, which is empty if that cannot be read.
func (q Question) request() elicit.Request {
	if q.Request == nil {
		return elicit.Request{}
	}
	return *q.Request
}

// metaMost bounds how many members of a question's _meta are named.
const metaMost = 10

// metaLines says what the _meta of the question has that the inspector does not act on: the app with which the server
// would rather draw the question (draft SEP-3118), and members of unknown extensions.
func (q Question) metaLines() (lines []string) {
	request := q.request()
	var unknown []string
	for name := range rawjson.Members(rawjson.Member(request.Params, "_meta")) {
		if uri := request.App(); name == "ui" && uri != "" {
			lines = append(lines, "The server would rather draw this question itself, by its resource "+markup.Brief(uri)+". The inspector does not run apps, and asks with its own form.")
		} else if name != "progressToken" && name != mcp.RelatedTask {
			unknown = append(unknown, wording.Quoted(markup.Brief(name)))
		}
	}
	if more := len(unknown) - metaMost; more > 0 {
		unknown = append(unknown[:metaMost], strconv.Itoa(more)+" more")
	}
	if unknown != nil {
		lines = append(lines, "Its _meta also has "+strings.Join(unknown, ", ")+", which means nothing to the inspector.")
	}
	return lines
}

func (q Question) mode() string {
	if q.Request == nil {
		return q.Method
	}
	return string(q.Request.Mode)
}

func (q Question) sent() json.RawMessage {
	switch {
	case q.Action == "":
		return nil
	case q.Answer == nil:
		return q.Error
	}
	return q.Answer
}

func (q Question) id() string { return "q" + strconv.Itoa(q.Number) }

func waiting(questions []Question) int {
	n := 0
	for _, q := range questions {
		if q.State == conversation.Pending {
			n++
		}
	}
	return n
}

func dangerous(a *link.Verdict) bool {
	return slices.ContainsFunc(a.Warnings, func(w link.Warning) bool { return w.Weight == link.Danger })
}

// consent explains that opening an address means accepting, or why it cannot be opened.
func consent(a *link.Verdict) string {
	if a.Openable {
		return "Opening it (in a new tab) counts as accepting."
	}
	if len(a.Raw) > elicit.FormatCheckedMost {
		return "It is too long to be opened."
	}
	return "It cannot be opened from here, but you can copy it as it is shown."
}

// copies reports whether the page contains the whole address, so that it can be copied.
func copies(a *link.Verdict) bool {
	return a.Openable || len(a.Raw) <= elicit.FormatCheckedMost && !markup.CutOff(wholeAddress(a.Parts), markup.ProseMost)
}

type parameter struct{ name, label, kind, placeholder string }

var parameters = []parameter{
	{"seconds", "Seconds", "number", ""},
	{"code", "Code", "number", "-32000"},
	{"message", "Message", "text", "Deliberate error"},
	{"data", "Data (JSON)", "text", ""},
	{"tool", "Tool", "text", ""},
}

func parametersOf(f fault.Fault) (list []parameter) {
	for _, p := range parameters {
		if f.Takes(p.name) {
			list = append(list, p)
		}
	}
	return list
}

// expects describes how a good server reacts, with the section of the specification.
func expects(f fault.Fault, revision string) string {
	if section := f.Section[revision]; section != "" {
		return f.Good + " (" + section + ")"
	}
	return f.Good
}

func lowerFirst(s string) string {
	if len(s) > 2 && s[1] == ' ' || len(s) > 1 && s[1] >= 'A' && s[1] <= 'Z' {
		return s
	}
	return string(s[0]|0x20) + s[1:]
}
