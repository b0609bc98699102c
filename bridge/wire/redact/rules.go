package redact

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"elicitation-inspector/bridge/base/lazy"
	"elicitation-inspector/bridge/base/rawjson"
)

// Step is a step in JSON from an object to a member, or from an array to an element.
type Step struct {
	Name  string
	Index int // -1 for a member
}

type path struct {
	rule  string
	steps []pathStep
}

type pathStep struct {
	Step
	all  bool // to all members and elements
	deep bool // at any depth
}

// pathSteps matches a step with a name, a quoted name, or an index.
var pathSteps = lazy.Regexp(`^(?s:\.\.?([^.\[]+)|(?:\.\.)?\[(?:'(.*?)'|"(.*?)"|([0-9]+|\*))\])`)

// parsePath parses the part of RFC 9535 (JSONPath) that selects by name, index,
// wildcard and descendant.
func parsePath(rule string) (steps []pathStep, err error) {
	for rest := rule[1:]; rest != ""; {
		m := pathSteps().FindStringSubmatch(rest)
		st := pathStep{deep: strings.HasPrefix(rest, "..")}
		if m != nil {
			st.Step, st.all = Step{cmp.Or(m[1], m[2], m[3]), -1}, m[1] == "*" || m[4] == "*"
			if m[4] != "" && !st.all {
				st.Index, err = strconv.Atoi(m[4])
			}
		}
		if m == nil || err != nil {
			return nil, fmt.Errorf("%s at character %d", wrongStep(rest), len(rule)-len(rest)+1)
		}
		steps, rest = append(steps, st), rest[len(m[0]):]
	}
	if steps == nil {
		return nil, errors.New("it names the whole message")
	}
	return steps, nil
}

// wrongStep says what is wrong with the step at the beginning of text.
func wrongStep(text string) string {
	inner, bracket := strings.CutPrefix(strings.TrimPrefix(text, ".."), "[")
	index, _, closed := strings.Cut(inner, "]")
	switch {
	case bracket && strings.IndexAny(inner, `'"`) == 0:
		return "the quoted name does not end"
	case bracket && !closed:
		return `the "[" is not closed`
	case bracket:
		return fmt.Sprintf("%q is neither an index, nor *, nor a quoted name", index)
	case text[0] == '.':
		return "a name is missing"
	}
	return `expected "." or "["`
}

// leads reports whether a path leads to the value at the end of these steps.
func leads(path []pathStep, to []Step) bool {
	switch {
	case len(path) == 0 || len(to) == 0:
		return len(path) == len(to)
	case path[0].deep && leads(path, to[1:]):
		return true
	}
	return (path[0].all || path[0].Step == to[0]) && leads(path[1:], to[1:])
}

// Walk returns JSON with a placeholder for each value that visit chooses by returning a
// function, which is called with the value. visit gets what it has returned for the object
// or array around the value, at first root, and the step from there. Walk goes depth
// steps deep.
//
// raw itself is not changed; it is returned if nothing is replaced. Truncated JSON loses
// its tail if the cut is inside a chosen value. After a syntax error in raw, nothing is
// replaced.
func Walk[T any](raw []byte, depth int, root T, visit func(around T, to Step, kind rawjson.Kind) (T, func(value []byte))) []byte {
	c := rawjson.NewCursor(raw)
	var edits []edit
	var inside func(in T, depth int)
	child := func(in T, to Step, depth int) {
		at, chosen := visit(in, to, c.Kind())
		if chosen == nil {
			inside(at, depth-1)
			return
		}
		from, value := c.Offset(), c.Rest()
		if c.Skip() {
			value = raw[from:c.Offset()]
		} else if !c.Cut() {
			return
		}
		if len(value) > 0 {
			chosen(value)
		}
		edits = append(edits, edit{from, from + len(value), quotedPlaceholder})
	}
	inside = func(in T, depth int) {
		switch kind := c.Kind(); {
		case depth == 0:
		case kind == rawjson.Object:
			for name := range c.Members() {
				child(in, Step{name.String(), -1}, depth)
			}
		case kind == rawjson.Array:
			for n := range c.Elements() {
				child(in, Step{Index: n}, depth)
			}
		}
	}
	inside(root, depth)
	return apply(raw, edits)
}

// members returns JSON with a placeholder for each value that a rule names, and calls
// tell with the value and the rule.
func (r *Redaction) members(raw []byte, tell func(value []byte, rule string)) []byte {
	return Walk(raw, r.depth, place{at: make([]Step, 0, 16)}, func(in place, to Step, kind rawjson.Kind) (place, func([]byte)) {
		rule, named := "", in.role == inSchemas
		if in.at = append(in.at, to); to.Index < 0 {
			if lower := strings.ToLower(to.Name); r.fields[lower] {
				rule = lower
			}
			in = in.member(to.Name)
			if rule != "" && named && (kind == rawjson.Object || kind == rawjson.Boolean) {
				in.role, in.rule, rule = inSchema, rule, ""
			}
		}
		if i := slices.IndexFunc(r.paths, func(p path) bool { return leads(p.steps, in.at) }); i >= 0 {
			rule = r.paths[i].rule
		}
		if rule == "" && in.role == inData && kind != rawjson.Object && kind != rawjson.Array && kind != rawjson.None {
			rule = in.rule
		}
		if rule == "" {
			return in, nil
		}
		return in, func(value []byte) { tell(value, rule) }
	})
}

// NamesIn reports whether a rule redacts a value in JSON.
func (r *Redaction) NamesIn(raw []byte) (named bool) {
	r.orDefault().members(raw, func([]byte, string) { named = true })
	return named
}

// place is where a value stands: in data, or in a JSON Schema. Elements of an array are
// in the same place as the array.
type place struct {
	at   []Step
	role role
	rule string // the rule that names the value which the schema is of; "" if none does
}

type role int

const (
	inData    role = iota // in a schema of a value that a rule names, all scalars in it are redacted
	inSchema              // a schema
	inSchemas             // an object with schemas as its members
	inKeyword             // a keyword that reveals no values
)

// schemaMembers are the members of messages that contain a schema.
var schemaMembers = map[string]bool{"requestedSchema": true, "inputSchema": true, "outputSchema": true}

// keywords has the keywords of JSON Schema (2020-12, and those of draft 7 that it has
// replaced) that contain schemas, or no values. All others are assumed to contain values.
var keywords = map[string]role{}

func init() {
	for role, names := range map[role]string{
		inSchemas: "properties patternProperties $defs definitions dependentSchemas",
		inSchema: `items prefixItems additionalItems unevaluatedItems contains additionalProperties
			unevaluatedProperties propertyNames contentSchema allOf anyOf oneOf not if then else`,
		inKeyword: `type title description format required pattern minLength maxLength minimum maximum
			exclusiveMinimum exclusiveMaximum multipleOf minItems maxItems uniqueItems minContains maxContains minProperties
			maxProperties readOnly writeOnly deprecated contentEncoding contentMediaType x-mcp-header $schema $id $ref
			$anchor $dynamicRef $dynamicAnchor $comment enumNames`,
	} {
		for name := range strings.FieldsSeq(names) {
			keywords[name] = role
		}
	}
}

// member returns the place of a member of the value in p.
func (p place) member(name string) place {
	switch {
	case p.role == inSchemas, p.role == inData && p.rule == "" && schemaMembers[name]:
		p.role = inSchema
	case p.role == inSchema:
		p.role = keywords[name]
	default:
		p.role = inData
	}
	return p
}
