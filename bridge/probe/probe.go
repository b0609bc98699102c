// Package probe judges MCP clients. It is a server of which every tool is a probe: a
// question that says in its message what the person in front of the client has to do, so
// that the frames that come back show what the client did.
//
// The server reads and writes raw messages, in all revisions with elicitation, and appends
// every frame to a log.
package probe

import (
	"cmp"
	"slices"

	"elicitation-inspector/bridge/conversation"
	"elicitation-inspector/bridge/elicit"
)

// Verdict says whether a client does what a probe asks of it.
type Verdict string

// The verdicts. Running is that of a probe that has not ended.
const (
	Works   Verdict = "works"
	Partly  Verdict = "partly"
	Fails   Verdict = "fails"
	Refuses Verdict = "refuses openly" // the client answered with a JSON-RPC error
	NotSeen Verdict = "not seen"       // no frame shows it either way
	Running Verdict = "running"
)

// Verdicts lists the verdicts of probes that have ended, the worst first.
func Verdicts() []Verdict { return []Verdict{Fails, Partly, Refuses, Works, NotSeen} }

// Group is a part of the table of probes.
type Group string

// The groups, in the order of the report.
const (
	Answers Group = "Answers"
	Fields  Group = "Fields"
	Texts   Group = "Texts"
	Time    Group = "Time and order"
	URLs    Group = "URLs"
	Rounds  Group = "Rounds"
	Tasks   Group = "Tasks"
	Modes   Group = "Declared and done"
)

// Probe is one entry of the table: what is asked of the client, and how its answer is judged.
type Probe struct {
	Name  string // of its tool, prompt or resource; it never changes
	Group Group
	Title string
	Do    string // what the person in front of the client does
	// Since and Until are the first and last revision that has what is asked; "" for no bound.
	Since, Until string
	Mode         elicit.Mode       // what the client must have declared; "" for nothing
	Kind         conversation.Kind // how a client starts it
	Apart        bool              // not part of probe_all: its call ends in an unusual way, or takes minutes
	Looks        []string          // what only a person can see, as questions to which yes is the good answer
	OnlyLooks    bool              // no frame shows anything else than that the question was answered

	asTask bool // the tool is called as a task in 2025-11-25
	rounds int  // that it takes in revisions with rounds; 0 means one
	run    func(*run) finding
}

// URI returns the address of a probe that is a resource.
func (p *Probe) URI() string { return "probe://" + p.Name }

// In reports whether the revision has what the probe asks.
func (p *Probe) In(revision string) bool {
	return revision >= p.Since && (p.Until == "" || revision <= p.Until)
}

// All is the name of the tool that runs all probes of a revision in order, except those that
// stand Apart.
const All = "probe_all"

// Table returns all probes, in the order of the report.
func Table() []*Probe { return table }

// Find returns the probe of a name, nil if there is none.
func Find(name string) *Probe { return byName[name] }

var (
	table  []*Probe
	byName = map[string]*Probe{}
)

func init() { // the probes' functions refer to the table
	table = slices.Concat(answerProbes(), fieldProbes(), textProbes(), timeProbes(), urlProbes(), roundProbes(), callTaskProbes(), questionTaskProbes(), modeProbes())
	for _, p := range table {
		p.Kind = cmp.Or(p.Kind, conversation.Tool)
		byName[p.Name] = p
	}
}

// cause is a fault that can show in every probe. The one that is made for it names it, and
// the others only refer to that one.
type cause string

const (
	causeShape      cause = "shape"       // the answer is no valid result
	causeNoContent  cause = "no-content"  // an accepted form has no content
	causeNoEmpty    cause = "no-empty"    // the same, of a form that requires nothing
	causeExtra      cause = "extra"       // content has members that the schema does not have
	causeDeclined   cause = "declined"    // the answer is not the accept that the message asks for
	causeRefused    cause = "refused"     // a JSON-RPC error
	causeTwice      cause = "twice"       // a second response to one request
	causeWrongID    cause = "wrong-id"    // a response under an id that nobody used
	causeNoise      cause = "noise"       // bytes that are not a message
	causeSilent     cause = "silent"      // nothing came in time
	causeURLContent cause = "url-content" // an accepted URL has content
	causeState      cause = "state"       // requestState changed, or missing
	causeNewState   cause = "new-state"   // a requestState that the server has not sent
	causeKeys       cause = "keys"        // keys in inputResponses that nobody asked for, or missing ones
	causeSameID     cause = "same-id"     // a retry under the id of the request before
	causeOther      cause = "other-call"  // a retry with another name or other arguments
	causeTaskLeft   cause = "task-left"   // a task that the client asks nothing about, or whose result it leaves
	causeTaskHeader cause = "task-header" // a request about a task without its header
	causeTaskKeys   cause = "task-keys"   // keys in tasks/update that the task has not asked for, or again
	causeTaskStorm  cause = "task-storm"  // many requests tasks/get within a pollInterval
	causeNoTask     cause = "no-task"     // a question that should be a task is none
	causeTaskTold   cause = "task-told"   // what the client tells of its task is wrong
)

// owners maps each cause to the probe that names it.
var owners = map[cause]string{
	causeShape: "accept", causeNoContent: "accept", causeNoEmpty: "fields-none", causeExtra: "accept", causeDeclined: "accept", causeRefused: "accept", causeTwice: "accept",
	causeWrongID: "accept", causeNoise: "accept", causeSilent: "accept", causeURLContent: "url-consent", causeState: "round-state",
	causeNewState: "round-no-state", causeKeys: "round-keys", causeSameID: "round-id", causeOther: "round-arguments",
	causeTaskLeft: "task-call", causeTaskHeader: "task-call", causeTaskKeys: "task-keys", causeTaskStorm: "task-poll", causeNoTask: "task-question", causeTaskTold: "task-question",
}

// finding is the outcome of one run of a probe.
type finding struct {
	verdict Verdict
	how     string // a sentence; "" where the verdict says all
	cause   cause
	frames  []int64
}

func works(how string) finding   { return finding{verdict: Works, how: how} }
func partly(how string) finding  { return finding{verdict: Partly, how: how} }
func fails(how string) finding   { return finding{verdict: Fails, how: how} }
func notSeen(how string) finding { return finding{verdict: NotSeen, how: how} }

func (f finding) because(c cause) finding {
	f.cause = c
	return f
}

// grave orders verdicts, the worst first.
func grave(v Verdict) int { return slices.Index(Verdicts(), v) }

// worst returns the gravest of the findings, the first of several.
func worst(list ...finding) finding {
	return slices.MinFunc(list, func(a, b finding) int { return cmp.Compare(grave(a.verdict), grave(b.verdict)) })
}
