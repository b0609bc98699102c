package script

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"elicitation-inspector/bridge/base/lazy"
	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/base/written"
	"elicitation-inspector/bridge/wire/redact"
)

// Scenario is a list of calls to one server, in order, each with its answers and its
// expected outcome.
type Scenario struct {
	Script      // rules for all calls, used after the calls' own
	Target      Target
	Protocols   []string // make the calls once in each of these revisions; if empty, in the negotiated one
	Elicitation string
	Sampling    bool
	Roots       bool
	Timeout     time.Duration // of each call; 0 for the default
	Calls       []*Call
}

// Target is how the server is reached: by exactly one of Demo, Command and URL. With
// the zero Target, the caller chooses the server.
type Target struct {
	// Missing says what has to be put into the file, or into the environment, before the
	// target can be used; nil if nothing.
	Missing   error
	Demo      bool // the built-in demo server
	Command   []string
	Env       []string // K=V
	Dir       string   // as written in the file
	URL       string
	Transport string
	Header    [][2]string
}

// Call is one call of a scenario.
type Call struct {
	Script
	Line      int
	Name      string // display name in reports
	Kind, Key string // "tool", "prompt" or "resource", and the name or URI
	Arguments json.RawMessage
	Timeout   time.Duration // 0 for the scenario's timeout
	Witness   *Witness      // of a plan's call; nil for that of all calls
}

// ParseScenario reads a scenario file. See [Parse] for env and the error.
func ParseScenario(file string, text []byte, env func(string) (string, bool)) (*Scenario, error) {
	r := &reader{file: file, env: env}
	s := new(Scenario)
	err := r.parse(text, func(root *written.Node) {
		r.object(root, "a scenario", r.scenarioKeys(s))
		if len(s.Calls) == 0 && len(r.mistakes) == 0 {
			r.wrong(root, "a scenario needs calls")
		}
	})
	s.Source, s.Renamed = r.source, r.renamed
	return s, err
}

func (r *reader) scenarioKeys(s *Scenario) keys {
	known := r.scriptKeys(&s.Script)
	delete(known, "expect")
	known["target"] = func(n *written.Node) { r.target(n, &s.Target) }
	known["protocol"] = func(n *written.Node) {
		list := n.Values
		if n.Kind != rawjson.Array {
			list = []*written.Node{n}
		}
		for _, one := range list {
			revision := ""
			if r.oneOf("protocol", &revision, append([]string{"auto"}, mcp.Revisions...)...)(one); revision != "" {
				s.Protocols = append(s.Protocols, revision)
			}
		}
	}
	known["elicitation"] = r.oneOf("elicitation", &s.Elicitation, "form,url", "form", "url", "empty", "none")
	known["sampling"], known["roots"], known["timeout"] = &s.Sampling, &s.Roots, &s.Timeout
	known["calls"] = r.list("calls", func(v *written.Node) { s.Calls = append(s.Calls, r.call(v)) })
	return known
}

func (r *reader) call(n *written.Node) *Call {
	c := &Call{Line: n.Line}
	known := r.scriptKeys(&c.Script)
	delete(known, "$schema")
	known["name"], known["timeout"] = &c.Name, &c.Timeout
	known["arguments"] = func(n *written.Node) {
		if r.kind(n, "arguments", rawjson.Object) {
			r.complete(n)
			c.Arguments = n.JSON()
		}
	}
	if r.plan {
		known["witness"] = &c.Witness
		known["expect"] = func(n *written.Node) {
			r.wrong(n, "a plan expects nothing: what is right is judged by the specification")
		}
	}
	named := 0
	for _, kind := range []string{"tool", "prompt", "resource"} {
		known[kind] = func(n *written.Node) {
			named++
			c.Kind = kind
			r.value(n, kind, &c.Key)
			r.complete(n)
		}
	}
	before := len(r.mistakes)
	if r.object(n, "a call", known); named != 1 && len(r.mistakes) == before {
		r.wrong(n, "a call needs one of tool, prompt and resource")
	}
	if c.Name == "" {
		c.Name = c.Key
	}
	return c
}

func (r *reader) target(n *written.Node, t *Target) {
	if n.Kind == rawjson.String {
		demo := ""
		r.oneOf("target", &demo, "demo")(n)
		t.Demo = demo != ""
		return
	}
	pairs := func(what string, each func(name, value string)) func(*written.Node) {
		return func(n *written.Node) {
			if !r.kind(n, what, rawjson.Object) {
				return
			}
			for i, name := range n.Names {
				if r.kind(n.Values[i], "a value of "+what, rawjson.String) {
					each(name.Text, r.expand(n.Values[i], t))
				}
			}
		}
	}
	r.object(n, "target", keys{
		"command": r.list("command", func(v *written.Node) {
			if r.kind(v, "an element of command", rawjson.String) {
				t.Command = append(t.Command, r.expand(v, t))
			}
		}),
		"cwd":       func(n *written.Node) { r.value(n, "cwd", &t.Dir); t.Dir = r.expand(n, t) },
		"url":       func(n *written.Node) { r.value(n, "url", &t.URL); t.URL = r.expand(n, t) },
		"transport": r.oneOf("transport", &t.Transport, "auto", "http", "sse"),
		"env":       pairs("env", func(name, value string) { t.Env = append(t.Env, name+"="+value) }),
		"headers":   pairs("headers", func(name, value string) { t.Header = append(t.Header, [2]string{name, value}) }),
	})
	if (len(t.Command) > 0) == (t.URL != "") && len(r.mistakes) == 0 {
		r.wrong(n, "target needs a command or a url")
	}
}

var variable = lazy.Regexp(`\$\{([A-Za-z_][A-Za-z0-9_]*)(:-[^}]*)?\}`)

// commandHere stands in a written scenario in place of a command that its transcript does
// not have.
const commandHere = "put the command here"

// expand replaces ${NAME} and ${NAME:-default} in a text by their values. What is missing
// is recorded in t, whose place a target on the command line can take.
func (r *reader) expand(n *written.Node, t *Target) string {
	missing := func(what string) {
		t.Missing = errors.Join(t.Missing, &Mistakes{r.file, []written.Mistake{{Line: n.Line, Column: n.Column, Text: what}}})
	}
	switch {
	case n.Text == commandHere:
		missing(commandHere)
	case strings.Contains(n.Text, redact.Placeholder):
		missing(leftOut)
	}
	return variable().ReplaceAllStringFunc(n.Text, func(found string) string {
		parts := variable().FindStringSubmatch(found)
		value, set := r.env(parts[1])
		switch {
		case set && value != "" || set && parts[2] == "":
			return value
		case parts[2] == "":
			missing("the environment has no variable " + parts[1])
		}
		return strings.TrimPrefix(parts[2], ":-")
	})
}

// Plan is a plan file: what a check calls, how it answers honestly, and what it may do.
// It is a scenario without expectations, whose calls may be left out.
type Plan struct {
	Scenario
	ReadOnly         bool     // only tools that are annotated with readOnlyHint are called
	AllowDestructive []*Text  // tools that are called although they are annotated with destructiveHint
	Skip             []*Text  // what is not called
	Behaviours       []string // by name; empty for all
	Witness          *Witness // of the calls without one of their own; nil for none
	Reset            string   // the command line that puts the world back before each trial
}

// ParsePlan reads a plan file, as [Parse] reads answers. behaviours are the names of
// those that there are.
func ParsePlan(file string, text []byte, env func(string) (string, bool), behaviours []string) (*Plan, error) {
	r := &reader{file: file, env: env, plan: true}
	p := new(Plan)
	known := r.scenarioKeys(&p.Scenario)
	known["readOnly"], known["reset"], known["witness"] = &p.ReadOnly, &p.Reset, &p.Witness
	for name, list := range map[string]*[]*Text{"allowDestructive": &p.AllowDestructive, "skip": &p.Skip} {
		known[name] = r.list(name, func(v *written.Node) {
			var t *Text
			r.value(v, "an element of "+name, &t)
			*list = append(*list, t)
		})
	}
	known["behaviours"] = r.list("behaviours", func(v *written.Node) {
		name := ""
		r.oneOf("a behaviour", &name, behaviours...)(v)
		p.Behaviours = append(p.Behaviours, name)
	})
	delete(known, "elicitation") // which behaviours differ in
	err := r.parse(text, func(root *written.Node) { r.object(root, "a plan", known) })
	p.Source, p.Renamed = r.source, r.renamed
	return p, err
}

// Witness is read before and after a call, to see the effect of the call: the
// result of a tool, the contents of a resource, or the output of a command.
type Witness struct {
	Source    string // as written
	Kind      string // "tool", "resource" or "command"
	Key       string // a tool's name, a resource's URI, or a command line
	Arguments json.RawMessage
}

// ParseWitness reads "tool:NAME {ARGUMENTS}", "resource:URI" or "command:LINE".
func ParseWitness(source string) (*Witness, error) {
	kind, key, _ := strings.Cut(source, ":")
	w := &Witness{Source: source, Kind: kind, Key: strings.TrimSpace(key)}
	if kind == "tool" {
		name, arguments, _ := strings.Cut(w.Key, " ")
		w.Key, w.Arguments = name, json.RawMessage(strings.TrimSpace(arguments))
		if len(w.Arguments) == 0 {
			w.Arguments = json.RawMessage(`{}`)
		}
		if err := rawjson.Check(w.Arguments); err != nil || rawjson.KindOf(w.Arguments) != rawjson.Object {
			return nil, fmt.Errorf("the arguments of the witness %s are not a JSON object", name)
		}
	}
	if w.Key == "" || kind != "tool" && kind != "resource" && kind != "command" {
		return nil, fmt.Errorf("a witness is tool:NAME {ARGUMENTS}, resource:URI or command:LINE, not %q", source)
	}
	return w, nil
}
