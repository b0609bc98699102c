// Package script answers questions by rules in a file, and compares a server's
// behaviour with the file's expectations. It does no I/O: the caller passes the
// questions and carries out the decisions.
package script

import (
	"embed"
	"encoding/json"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/base/written"
	"elicitation-inspector/bridge/meaning/fault"
)

// Script is an answers file: an ordered list of rules, a default answer, and the
// expected outcome.
type Script struct {
	Rules []*Rule
	// Default answers questions that no rule matches. If it is nil, they are left to
	// the person.
	Default *Answer
	Expect  *Outcome
	// Renamed says where the file has a key by its former name, and what it is called now. It
	// is empty if the file has no such key.
	Renamed string

	Source   json.RawMessage     // JSON of the file
	comments map[string][]string // of a file made from calls, by pointers into Source: what they stand before; "/" for its end
}

// Rule is how the questions that match are answered.
type Rule struct {
	Line   int             // line in its file
	Source json.RawMessage // JSON of the rule
	Match  Match
	Answer *Answer
	Delay  time.Duration // time before the answer is sent
	Retry  time.Duration // interval at which a call that waits for an accepted URL is repeated
	Times  int           // how many questions the rule answers; 0 for any number
	Expect *Asked
}

// Match selects the questions of a rule. All of its conditions must hold.
type Match struct {
	Server, Tool, Prompt, Resource, Message, Key *Text
	WithFields                                   []string // fields that the question must have, among others; nil for any question
	Mode                                         string   // "form", "url", "sampling" or "roots"
	Round                                        int
	// Nth selects only the nth question that satisfies the other conditions.
	Nth int
}

// Action is the kind of an answer.
type Action string

// The actions.
const (
	Accept  Action = "accept"
	Decline Action = "decline"
	Cancel  Action = "cancel"
	Ask     Action = "ask"    // leave the question to a person
	Result  Action = "result" // the result of a request other than an elicitation
	Fault   Action = "fault"
)

// Content is the source of an accepted form's content.
type Content string

// The sources of content.
const (
	Values   Content = "values"   // the values in the file
	Defaults Content = "defaults" // the schema's defaults
	Valid    Content = "valid"    // the schema's defaults, and valid values for other fields that need one
)

// Answer is the answer of a rule.
type Answer struct {
	Line    int
	Source  json.RawMessage // JSON of the answer
	Action  Action
	Content Content
	values  *written.Node // values for Content Values
	rest    Content
	Anyway  bool // send the content even if it does not satisfy the schema
	Result  json.RawMessage
	Fault   string // name of the fault
	Params  fault.Params
	env     func(string) (string, bool)
	checked atomic.Pointer[checked] // the latest valid content; nil for none
}

// Parse reads an answers file. env looks up environment variables. If the file has
// mistakes, the error is a [*Mistakes].
func Parse(file string, text []byte, env func(string) (string, bool)) (*Script, error) {
	r := &reader{file: file, env: env}
	s := new(Script)
	err := r.parse(text, func(root *written.Node) { r.object(root, "an answers file", r.scriptKeys(s)) })
	s.Source, s.Renamed = r.source, r.renamed
	return s, err
}

func (r *reader) scriptKeys(s *Script) keys {
	return keys{
		"$schema": func(*written.Node) {},
		"answers": r.list("answers", func(v *written.Node) { s.Rules = append(s.Rules, r.rule(v)) }),
		"default": func(n *written.Node) { s.Default = r.answer(n) },
		"expect":  func(n *written.Node) { s.Expect = r.outcome(n) },
	}
}

func (r *reader) rule(n *written.Node) *Rule {
	rule := &Rule{Line: n.Line, Source: n.JSON()}
	r.object(n, "a rule", keys{
		"match": func(n *written.Node) {
			m := &rule.Match
			r.object(n, "match", keys{
				"server": &m.Server, "tool": &m.Tool, "prompt": &m.Prompt, "resource": &m.Resource, "message": &m.Message, "key": &m.Key,
				"withFields": &m.WithFields, "round": &m.Round, "nth": &m.Nth,
				"fields": func(n *written.Node) {
					r.formerName(n, "match.fields", "match.withFields")
					r.value(n, "fields", &m.WithFields)
				},
				"mode": r.oneOf("mode", &m.Mode, "form", "url", "sampling", "roots"),
			})
		},
		"answer": func(n *written.Node) { rule.Answer = r.answer(n) },
		"delay":  &rule.Delay,
		"retry":  &rule.Retry,
		"times":  &rule.Times,
		"expect": func(n *written.Node) { rule.Expect = r.asked(n) },
	})
	if rule.Answer == nil && n.Kind == rawjson.Object && n.Member("answer") == nil {
		r.wrong(n, "a rule needs an answer")
	}
	return rule
}

func (r *reader) answer(n *written.Node) *Answer {
	a := &Answer{Line: n.Line, Source: n.JSON(), env: r.env}
	if n.Kind != rawjson.Object {
		action := ""
		if r.oneOf("answer", &action, "accept", "decline", "cancel", "ask")(n); action == "" {
			return nil
		}
		a.Action, a.Content = Action(action), Defaults
		return a
	}
	before := len(r.mistakes)
	known := keys{
		"accept": func(n *written.Node) {
			if a.Action = Accept; n.Kind != rawjson.Object {
				r.oneOf("accept", (*string)(&a.Content), string(Defaults), string(Valid))(n)
				return
			}
			a.Content, a.values = Values, n
			r.complete(n)
			for _, value := range n.Values {
				r.checkValue(value)
			}
		},
		"rest":   r.oneOf("rest", (*string)(&a.rest), string(Defaults), string(Valid)),
		"anyway": &a.Anyway,
		"result": func(n *written.Node) {
			if a.Action = Result; r.kind(n, "result", rawjson.Object) {
				r.complete(n)
				a.Result = n.JSON()
			}
		},
		"fault": func(n *written.Node) { a.Action = Fault; r.value(n, "fault", &a.Fault) },
	}
	if n.Member("fault") != nil {
		r.faultKeys(n, a, known)
	}
	r.object(n, "answer", known)
	several := slices.DeleteFunc([]string{"accept", "result", "fault"}, func(name string) bool { return n.Member(name) == nil })
	switch {
	case len(several) == 0 && len(r.mistakes) == before:
		r.wrong(n, "answer says neither accept, result nor fault; decline, cancel and ask are words by themselves")
	case len(several) > 1:
		r.wrong(n, "answer can only say one of %s", wording.Series(several))
	case a.rest != "" && a.Content != Values:
		r.wrong(n.Member("rest"), "rest goes with an accept that names values")
	}
	return a
}

// faultKeys adds the parameters of the named fault to known.
func (r *reader) faultKeys(n *written.Node, a *Answer, known keys) {
	named := n.Member("fault")
	f, err := fault.Find(named.Text)
	if err != nil {
		var names []string
		for _, each := range fault.All() {
			names = append(names, each.Name)
		}
		if named.Kind == rawjson.String {
			r.wrong(named, "there is no fault %q%s", named.Text, suggest(named.Text, names))
		}
	}
	for _, param := range []string{"field", "seconds", "code", "message", "data", "json", "tool", "answer"} {
		if err == nil && !f.Takes(param) {
			continue
		}
		known[param] = func(v *written.Node) {
			r.complete(v)
			raw, merr := json.Marshal(map[string]json.RawMessage{param: v.JSON()})
			if merr == nil {
				merr = json.Unmarshal(raw, &a.Params)
			}
			if merr != nil {
				r.wrong(v, "%s cannot be %s", param, wording.Shorten(string(v.JSON()), 60))
			}
		}
	}
}

//go:embed schema/*.json
var schemas embed.FS

// Schema returns the JSON Schema of the files of a kind: answers, scenario or plan. Those of
// scenarios and plans have copies of the definitions that they share with the kinds before.
func Schema(kind string) ([]byte, error) {
	defs := map[string]json.RawMessage{}
	for _, one := range []string{"answers", "scenario", "plan"} {
		text, err := schemas.ReadFile("schema/" + one + ".json")
		if err != nil || kind == "answers" {
			return text, err
		}
		var own map[string]json.RawMessage
		if err := json.Unmarshal(text, &own); err != nil {
			return nil, err
		}
		if err := json.Unmarshal(own["$defs"], &defs); err != nil {
			return nil, err
		}
		if one != kind {
			continue
		}
		if own["$defs"], err = json.Marshal(defs); err != nil {
			return nil, err
		}
		text, err = json.MarshalIndent(own, "", "  ")
		return append(text, '\n'), err
	}
	return nil, fmt.Errorf("there is no schema of %q", kind)
}
