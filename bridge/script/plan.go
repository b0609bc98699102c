package script

import (
	"elicitation-inspector/bridge/rawjson"
	"encoding/json"
	"fmt"
	"strings"
)

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
	known["readOnly"] = r.flag("readOnly", &p.ReadOnly)
	for name, list := range map[string]*[]*Text{"allowDestructive": &p.AllowDestructive, "skip": &p.Skip} {
		known[name] = r.list(name, func(v *node) {
			var t *Text
			r.pattern("an element of "+name, &t)(v)
			*list = append(*list, t)
		})
	}
	known["behaviours"] = r.list("behaviours", func(v *node) {
		name := ""
		r.oneOf("a behaviour", &name, behaviours...)(v)
		p.Behaviours = append(p.Behaviours, name)
	})
	known["witness"] = r.witness(&p.Witness)
	known["reset"] = r.text("reset", &p.Reset)
	delete(known, "elicitation") // which behaviours differ in
	return p, r.parse(text, func(root *node) {
		r.object(root, "a plan", known)
		if calls := root.member("calls"); calls != nil {
			for _, call := range calls.values {
				if call.kind == rawjson.Object && call.member("expect") != nil {
					r.wrong(call.member("expect"), "a plan expects nothing: what is right is judged by the specification")
				}
			}
		}
	})
}

func (r *reader) witness(out **Witness) func(*node) {
	return func(n *node) {
		if !r.kind(n, "witness", rawjson.String) {
			return
		}
		w, err := ParseWitness(n.text)
		if err != nil {
			r.wrong(n, "%v", err)
		}
		*out = w
	}
}

// Witness is what is looked at before and after a call, to see what the call did: the
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
			return nil, fmt.Errorf("the arguments of the witness %s are no JSON object", name)
		}
	}
	if w.Key == "" || kind != "tool" && kind != "resource" && kind != "command" {
		return nil, fmt.Errorf("a witness is tool:NAME {ARGUMENTS}, resource:URI or command:LINE, not %q", source)
	}
	return w, nil
}
