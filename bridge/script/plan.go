package script

import "elicitation-inspector/bridge/rawjson"

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
	root := r.begin(text)
	if root == nil {
		return p, r.problem()
	}
	known := r.scenarioKeys(&p.Scenario)
	known["readOnly"] = r.flag("readOnly", &p.ReadOnly)
	for name, list := range map[string]*[]*Text{"allowDestructive": &p.AllowDestructive, "skip": &p.Skip} {
		known[name] = r.each(name, func(v *node) {
			var t *Text
			r.pattern("an element of "+name, &t)(v)
			*list = append(*list, t)
		})
	}
	known["behaviours"] = r.each("behaviours", func(v *node) {
		name := ""
		r.oneOf("a behaviour", &name, behaviours...)(v)
		p.Behaviours = append(p.Behaviours, name)
	})
	known["witness"] = r.witness(&p.Witness)
	known["reset"] = r.text("reset", &p.Reset)
	delete(known, "elicitation") // which behaviours differ in
	r.object(root, "a plan", known)
	if calls := root.member("calls"); calls != nil {
		for _, call := range calls.values {
			if call.kind == rawjson.Object && call.member("expect") != nil {
				r.wrong(call.member("expect"), "a plan expects nothing: what is right is judged by the specification")
			}
		}
	}
	return p, r.problem()
}

// each reads a list.
func (r *reader) each(what string, one func(*node)) func(*node) {
	return func(n *node) { r.list(n, what, one) }
}

// witness reads a witness.
func (r *reader) witness(out **Witness) func(*node) {
	return func(n *node) {
		if !r.kind(n, "witness", rawjson.String) {
			return
		}
		w, err := ParseWitness(n.text)
		if err != nil {
			r.wrong(n, "%v", err)
			return
		}
		*out = w
	}
}
