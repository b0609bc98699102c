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

	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/meaning/elicit"
)

// Verdict says whether a client does what a probe asks of it.
type Verdict string

// The verdicts. Running is that of a probe that has not ended.
const (
	Works   Verdict = "works"
	Partly  Verdict = "partly"
	Fails   Verdict = "fails"
	Refuses Verdict = "refuses openly" // the client answered with a JSON-RPC error
	May     Verdict = "may"            // no rule is behind what servers can stumble over
	NotSeen Verdict = "not seen"       // no frame shows it either way
	Running Verdict = "running"
)

// Verdicts lists the verdicts of probes that have ended, the worst first.
func Verdicts() []Verdict { return []Verdict{Fails, Partly, Refuses, May, Works, NotSeen} }

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

	// enter is a JSON object for clients without a person, who cannot read the message. It has the answer that the
	// message asks for and, if a wrong one is to be tried first, that one as "try"; "" if any valid answer will do.
	enter  string
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
