package redact

import (
	"errors"
	"fmt"
	"net/textproto"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"elicitation-inspector/bridge/rawjson"
)

type path struct {
	rule  string
	steps []step
}

// step is one step of a path: to a member, to an element, or to all of them.
type step struct {
	name  string
	index int // -1: by name
	all   bool
	deep  bool // at any depth
}

// parsePath parses the part of RFC 9535 (JSONPath) that selects by name, index,
// wildcard and descendant.
func parsePath(rule string) (steps []step, err error) {
	for rest := rule[1:]; rest != ""; {
		at := len(rule) - len(rest) + 1
		st := step{index: -1}
		if after, deep := strings.CutPrefix(rest, ".."); deep {
			st.deep = true
			if rest = after; !strings.HasPrefix(rest, "[") {
				rest = "." + rest
			}
		}
		if rest, err = st.parse(rest); err != nil {
			return nil, fmt.Errorf("%w at character %d", err, at)
		}
		steps = append(steps, st)
	}
	if steps == nil {
		return nil, errors.New("it names the whole message")
	}
	return steps, nil
}

// parse parses the step at the beginning of text, and returns the rest.
func (s *step) parse(text string) (rest string, err error) {
	if name, ok := strings.CutPrefix(text, "."); ok {
		if end := strings.IndexAny(name, ".["); end >= 0 {
			name, rest = name[:end], name[end:]
		}
		if s.name, s.all = name, name == "*"; name == "" {
			return "", errors.New("a name is missing")
		}
		return rest, nil
	}
	inner, ok := strings.CutPrefix(text, "[")
	if !ok {
		return "", errors.New(`expected "." or "["`)
	}
	if inner != "" && (inner[0] == '\'' || inner[0] == '"') {
		if s.name, rest, ok = strings.Cut(inner[1:], inner[:1]+"]"); !ok {
			return "", errors.New("the quoted name does not end")
		}
		return rest, nil
	}
	if inner, rest, ok = strings.Cut(inner, "]"); !ok {
		return "", errors.New(`the "[" is not closed`)
	}
	if s.all = inner == "*"; !s.all {
		if s.index, err = strconv.Atoi(inner); err != nil || s.index < 0 {
			return "", fmt.Errorf("%q is neither an index, nor *, nor a quoted name", inner)
		}
	}
	return rest, nil
}

// members returns JSON with a placeholder for each value that a rule names, and calls
// tell with the value and the rule. raw itself is not changed; it is returned if
// nothing is redacted. Truncated JSON loses its tail if the cut is inside a secret.
// After a syntax error in raw, nothing is redacted.
func (r *Redaction) members(raw []byte, tell func(value []byte, rule string)) []byte {
	if !r.hasRules() {
		return raw
	}
	w := redactor{r: r, raw: raw, c: rawjson.NewCursor(raw), tell: tell}
	var active []progress
	for i := range r.paths {
		active = append(active, progress{&r.paths[i], 0})
	}
	w.value(active, inData, 0)
	if w.out == nil {
		return raw
	}
	return append(w.out, raw[w.from:]...)
}

// NamesIn reports whether a rule redacts a value in JSON.
func (r *Redaction) NamesIn(raw []byte) (named bool) {
	r.orDefault().members(raw, func([]byte, string) { named = true })
	return named
}

// progress is a path and its first step that is not matched yet.
type progress struct {
	path *path
	step int
}

type redactor struct {
	r    *Redaction
	raw  []byte
	c    *rawjson.Cursor // reads raw
	out  []byte          // copy of raw up to from; nil while nothing is redacted
	from int
	tell func(value []byte, rule string)
	rule string // the rule that applied last
}

func (w *redactor) value(active []progress, in place, depth int) {
	switch kind := w.c.Kind(); {
	case depth == rawjson.MaxDepth || kind == rawjson.None:
	case kind == rawjson.Object:
		for name := range w.c.Members() {
			w.child(active, in, name.String(), -1, depth)
		}
		return
	case kind == rawjson.Array:
		for n := range w.c.Elements() {
			w.child(active, in, "", n, depth)
		}
		return
	case in == inSecret:
		w.replace()
		return
	}
	w.c.Skip()
}

func (w *redactor) child(active []progress, in place, name string, index, depth int) {
	hit := false
	if index < 0 {
		lower := strings.ToLower(name)
		if hit = w.r.fields[lower]; hit {
			w.rule = lower
		}
		named := in == inSchemas || in == inSecretSchemas
		in = in.member(name)
		if kind := w.c.Kind(); hit && named && (kind == rawjson.Object || kind == rawjson.Boolean) {
			hit, in = false, inSecretSchema
		}
	}
	var next []progress
	for _, p := range active {
		st := p.path.steps[p.step]
		if st.deep {
			next = append(next, p)
		}
		switch {
		case !st.all && (st.index != index || index < 0 && st.name != name):
		case p.step+1 == len(p.path.steps):
			hit, w.rule = true, p.path.rule
		default:
			next = append(next, progress{p.path, p.step + 1})
		}
	}
	switch {
	case hit:
		w.replace()
	case len(next) == 0 && len(w.r.fields) == 0:
		w.c.Skip()
	default:
		w.value(next, in, depth+1)
	}
}

func (w *redactor) replace() {
	from, value := w.c.Offset(), w.c.Rest()
	if w.c.Skip() {
		value = w.raw[from:w.c.Offset()]
	} else if !w.c.Cut() {
		return
	}
	if len(value) > 0 {
		w.tell(value, w.rule)
	}
	w.out = append(append(w.out, w.raw[w.from:from]...), `"`+Placeholder+`"`...)
	w.from = from + len(value)
}

// place is the role of a value: data, or a part of a JSON Schema. Elements of an array
// have the role of the array.
type place int

const (
	inData          place = iota
	inSchema              // a schema
	inSchemas             // an object with schemas as its members
	inSecretSchema        // the schema of a value that a rule names
	inSecretSchemas       // an object with such schemas as its members
	inKeyword             // a keyword of such a schema that reveals no values
	inSecret              // a keyword that may reveal values: all scalars in it are redacted
)

// schemaMembers are the members of messages that contain a schema.
var schemaMembers = places(inSchema, "requestedSchema inputSchema outputSchema")

// The keywords of JSON Schema (2020-12, and those of draft 7 that it has replaced)
// whose value is an object of schemas, is a schema or schemas, or contains neither
// schemas nor values. All other keywords are assumed to contain values.
var (
	schemasKeywords = places(inSchemas, "properties patternProperties $defs definitions dependentSchemas")
	schemaKeywords  = places(inSchema, `items prefixItems additionalItems unevaluatedItems contains additionalProperties
		unevaluatedProperties propertyNames contentSchema allOf anyOf oneOf not if then else`)
	otherKeywords = places(inKeyword, `type title description format required pattern minLength maxLength minimum maximum
		exclusiveMinimum exclusiveMaximum multipleOf minItems maxItems uniqueItems minContains maxContains minProperties
		maxProperties readOnly writeOnly deprecated contentEncoding contentMediaType x-mcp-header $schema $id $ref
		$anchor $dynamicRef $dynamicAnchor $comment enumNames`)
)

func places(p place, names string) map[string]place {
	m := make(map[string]place)
	for name := range strings.FieldsSeq(names) {
		m[name] = p
	}
	return m
}

func (p place) member(name string) place {
	schema, schemas, other := schemaKeywords[name], schemasKeywords[name], otherKeywords[name]
	switch {
	case p == inData:
		return schemaMembers[name]
	case p == inSchema:
		return max(schema, schemas)
	case p == inSchemas:
		return inSchema
	case p == inSecretSchemas, p == inSecretSchema && schema != 0:
		return inSecretSchema
	case p == inSecretSchema && schemas != 0:
		return inSecretSchemas
	case p == inSecretSchema && other != 0:
		return inKeyword
	}
	return inSecret
}

// secretWords are the words of which one in the name of a flag or a variable says that its
// value is a secret.
var secretWords = []string{"token", "secret", "password", "passwd", "passphrase", "key", "apikey", "auth", "authorization", "credential", "credentials"}

// named finds a name and its value in a word of a command line: --token=abc, KEY=abc,
// "Authorization: Bearer abc". userInfo finds the password in an address.
var (
	named    = regexp.MustCompile(`(?s)^-{0,2}([\w.-]+)(?:=|:\s+)(.*)$`)
	userInfo = regexp.MustCompile(`://[^\s/?#@:]*:([^\s/?#@]+)@`)
)

// arguments returns a command with its secrets redacted: the values of flags, variables
// and headers whose names are redacted elsewhere or say that they are secret, and the
// passwords in addresses. It tells each of them.
func (r *Redaction) arguments(command []string, tell func(value string)) []string {
	out := slices.Clone(command)
	for i, word := range command {
		cut := func(from, to int) {
			if from < to {
				tell(word[from:to])
				out[i] = word[:from] + Placeholder + word[to:]
			}
		}
		if at := userInfo.FindStringSubmatchIndex(word); at != nil {
			cut(at[2], at[3])
		}
		if at := named.FindStringSubmatchIndex(word); at != nil && r.secretName(word[at[2]:at[3]]) {
			cut(at[4], at[5])
		}
		if i == 0 || strings.HasPrefix(word, "-") {
			continue
		}
		if flag := command[i-1]; strings.HasPrefix(flag, "-") && !strings.Contains(flag, "=") && r.secretName(strings.TrimLeft(flag, "-")) {
			cut(0, len(word))
		}
	}
	return out
}

func (r *Redaction) secretName(name string) bool {
	words := strings.FieldsFunc(strings.ToLower(name), func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsDigit(c) })
	return r.fields[strings.ToLower(name)] || r.headers[textproto.CanonicalMIMEHeaderKey(name)] ||
		slices.ContainsFunc(words, func(word string) bool { return slices.Contains(secretWords, word) }) &&
			!slices.ContainsFunc([]string{"file", "path", "dir"}, func(word string) bool { return slices.Contains(words, word) })
}
