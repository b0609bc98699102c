package wire

import (
	"fmt"
	"maps"
	"net/http"
	"net/textproto"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"elicitation-inspector/bridge/rawjson"
)

// redacted stands in place of what was left out. It is what mcpsnoop writes.
const redacted = RedactedValue

// RedactedValue stands in the place of a value that was left out.
const RedactedValue = "[REDACTED]"

// redactedHeaders are left out of transcripts unless told otherwise.
var redactedHeaders = []string{"Authorization", "Proxy-Authorization", "Cookie", "Set-Cookie", "Mcp-Session-Id"}

// Redaction says what is left out of a transcript: values of HTTP headers and
// of JSON members, of the query in URLs, and values that were given. What is left
// out becomes "[REDACTED]" and the frame is marked; everything else stays as it
// was, byte for byte.
//
// A value that a rule leaves out in one place is left out wherever else it
// stands: in headers, URLs, notes, standard error and strings. How far it is
// looked for depends on its length; docs/transcript.md tells the rule. So a
// Redaction remembers the values of the frames that it was shown. Learn shows it
// all frames of a log.
//
// A nil *Redaction is the default: the headers Authorization,
// Proxy-Authorization, Cookie, Set-Cookie and Mcp-Session-Id, and all values in
// queries, which are mostly keys and ids of sessions.
type Redaction struct {
	queries bool
	headers map[string]bool // canonical names
	fields  map[string]bool // lower case
	paths   [][]step
	names   []string    // the paths, as they were given
	sent    http.Header // what the person adds to requests
	values  *vault      // nil where nothing is left out
	shown   atomic.Pointer[shown]
}

// NewRedaction adds rules to the default. A rule that begins with "$" is a
// path in the JSON of a message: "$.params.arguments.password",
// "$.result.content[0]", "$['params'].accounts[*].pin", "$..token" (at any
// depth). Any other rule is a name, and stands for the HTTP header and for
// every JSON member of that name, upper and lower case being the same.
//
// Where a name is that of a property in a JSON Schema, its schema is no secret:
// it stays, but for the values that it gives, such as its default. A path means
// what it says in schemas too.
func NewRedaction(rules ...string) (*Redaction, error) {
	r := &Redaction{queries: true, headers: make(map[string]bool), fields: make(map[string]bool), values: new(vault)}
	for _, name := range redactedHeaders {
		r.headers[name] = true
	}
	for _, rule := range rules {
		rule = strings.TrimSpace(rule)
		switch {
		case rule == "":
			return nil, fmt.Errorf("a redaction rule is empty")
		case rule[0] == '$':
			path, err := parsePath(rule)
			if err != nil {
				return nil, fmt.Errorf("redaction path %q: %w", rule, err)
			}
			r.paths, r.names = append(r.paths, path), append(r.names, rule)
		default:
			r.headers[textproto.CanonicalMIMEHeaderKey(rule)] = true
			r.fields[strings.ToLower(rule)] = true
		}
	}
	return r, nil
}

// NoRedaction leaves nothing out.
func NoRedaction() *Redaction { return &Redaction{} }

// orDefault is r, or a default that has not seen any frame yet.
func (r *Redaction) orDefault() *Redaction {
	if r != nil {
		return r
	}
	r, _ = NewRedaction() // no rule of which could be wrong
	return r
}

// Header returns h without the values that rules name, and whether there were
// any. h itself is not changed.
func (r *Redaction) Header(h http.Header) (http.Header, bool) {
	r = r.orDefault()
	var out http.Header
	for name, values := range h {
		if !r.headers[textproto.CanonicalMIMEHeaderKey(name)] || len(values) == 0 {
			continue
		}
		if out == nil {
			out = maps.Clone(h)
		}
		out[name] = slices.Repeat([]string{redacted}, len(values))
	}
	if out == nil {
		return h, false
	}
	return out, true
}

// URL returns u without the values in its query, and whether there were any.
func (r *Redaction) URL(u string) (string, bool) {
	if !r.orDefault().queries {
		return u, false
	}
	return WithoutQuery(u)
}

// WithoutQuery returns u without the values in its query, and whether there were
// any. The names of parameters stay.
func WithoutQuery(u string) (string, bool) {
	at := strings.IndexByte(u, '?')
	if at < 0 {
		return u, false
	}
	parts := strings.Split(u[at+1:], "&")
	found := false
	for i, part := range parts {
		switch name, value, named := strings.Cut(part, "="); {
		case named && value != "":
			parts[i], found = name+"="+redacted, true
		case !named && part != "":
			parts[i], found = redacted, true // a key without a name
		}
	}
	return u[:at+1] + strings.Join(parts, "&"), found
}

// JSON returns raw without the values that rules name, and whether there were
// any. raw itself is not changed. JSON that is cut off loses its tail where the
// cut is inside a secret; where raw stops being JSON, nothing is left out from
// there on.
func (r *Redaction) JSON(raw []byte) ([]byte, bool) { return r.orDefault().members(raw, nil) }

// members is JSON, and tells of each value that is left out and of its rule.
func (r *Redaction) members(raw []byte, tell func(value []byte, rule string)) ([]byte, bool) {
	if len(r.fields) == 0 && len(r.paths) == 0 {
		return raw, false
	}
	w := redactor{r: r, raw: raw, c: rawjson.NewCursor(raw), tell: tell}
	var active []progress
	for i := range r.paths {
		active = append(active, progress{i, 0})
	}
	w.value(active, inData, 0)
	if w.out == nil {
		return raw, false
	}
	return append(w.out, raw[w.from:]...), true
}

// step is one step of a path: to a member, to an element, or to all.
type step struct {
	name  string
	index int // -1: by name
	all   bool
	deep  bool // at any depth below
}

// parsePath reads the part of RFC 9535 (JSONPath) that picks by name, by
// index, by wildcard and by descent.
func parsePath(path string) ([]step, error) {
	var steps []step
	rest := path[1:]
	for rest != "" {
		st := step{index: -1}
		at := len(path) - len(rest) + 1
		switch {
		case strings.HasPrefix(rest, ".."):
			st.deep = true
			rest = rest[2:]
			if strings.HasPrefix(rest, "[") {
				break
			}
			rest = "." + rest
		case rest[0] != '.' && rest[0] != '[':
			return nil, fmt.Errorf(`expected "." or "[" at character %d`, at)
		}
		if rest[0] == '.' {
			end := strings.IndexAny(rest[1:], ".[") + 1
			if end == 0 {
				end = len(rest)
			}
			st.name, rest = rest[1:end], rest[end:]
			if st.name == "" {
				return nil, fmt.Errorf("a name is missing at character %d", at)
			}
			st.all = st.name == "*"
			steps = append(steps, st)
			continue
		}
		if len(rest) > 1 && (rest[1] == '\'' || rest[1] == '"') {
			end := strings.Index(rest[2:], rest[1:2]+"]")
			if end < 0 {
				return nil, fmt.Errorf("the quoted name at character %d does not end", at)
			}
			st.name, rest = rest[2:2+end], rest[2+end+2:]
			steps = append(steps, st)
			continue
		}
		end := strings.IndexByte(rest, ']')
		if end < 0 {
			return nil, fmt.Errorf(`the "[" at character %d is not closed`, at)
		}
		inner := rest[1:end]
		rest = rest[end+1:]
		if st.all = inner == "*"; !st.all {
			n, err := strconv.Atoi(inner)
			if err != nil || n < 0 {
				return nil, fmt.Errorf("%q at character %d is neither an index, nor *, nor a quoted name", inner, at)
			}
			st.index = n
		}
		steps = append(steps, st)
	}
	if len(steps) == 0 {
		return nil, fmt.Errorf("it names the whole message")
	}
	return steps, nil
}

// progress is a path of which the first steps are taken.
type progress struct{ path, step int }

// redactor copies JSON and leaves out what the rules name.
type redactor struct {
	r    *Redaction
	raw  []byte
	c    *rawjson.Cursor // over raw
	out  []byte          // up to from; nil as long as nothing was left out
	from int
	tell func(value []byte, rule string) // of what is left out; may be nil
	rule string                          // the latest that applied
}

// value passes over a value, leaving out what active leads to.
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

// child passes over one member or element of a value.
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
		steps := w.r.paths[p.path]
		st := steps[p.step]
		if st.deep {
			next = append(next, p)
		}
		if st.all || index < 0 && st.index < 0 && st.name == name || index >= 0 && st.index == index {
			if p.step+1 == len(steps) {
				hit, w.rule = true, w.r.names[p.path]
			} else {
				next = append(next, progress{p.path, p.step + 1})
			}
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

// replace leaves a value out.
func (w *redactor) replace() {
	from, value := w.c.Offset(), w.c.Rest()
	if w.c.Skip() {
		value = w.raw[from:w.c.Offset()]
	} else if !w.c.Cut() {
		return
	}
	if w.tell != nil && len(value) > 0 {
		w.tell(value, w.rule)
	}
	w.out = append(append(w.out, w.raw[w.from:from]...), `"`+redacted+`"`...)
	w.from = from + len(value)
}

// place says what a value is: data, or some part of a JSON Schema. An element
// of a list is what the list is.
type place int

const (
	inData          place = iota
	inSchema              // a schema
	inSchemas             // schemas by name
	inSecretSchema        // the schema of what a rule names
	inSecretSchemas       // such schemas by name
	inKeyword             // what such a schema says without giving values away
	inSecret              // what may give them away: no scalar in it stays
)

// schemaMembers are the members of messages that hold a schema.
var schemaMembers = map[string]bool{"requestedSchema": true, "inputSchema": true, "outputSchema": true}

// schemaParts are the keywords of JSON Schema (2020-12, and those of draft 7
// that it replaced) that hold schemas.
var schemaParts = map[string]place{
	"properties": inSchemas, "patternProperties": inSchemas, "$defs": inSchemas, "definitions": inSchemas, "dependentSchemas": inSchemas,
	"items": inSchema, "prefixItems": inSchema, "additionalItems": inSchema, "unevaluatedItems": inSchema, "contains": inSchema,
	"additionalProperties": inSchema, "unevaluatedProperties": inSchema, "propertyNames": inSchema, "contentSchema": inSchema,
	"allOf": inSchema, "anyOf": inSchema, "oneOf": inSchema, "not": inSchema, "if": inSchema, "then": inSchema, "else": inSchema,
}

// schemaKeywords are those that hold neither schemas nor values. Whatever is in
// none of these lists is taken for a value.
var schemaKeywords = map[string]bool{
	"type": true, "title": true, "description": true, "format": true, "required": true, "pattern": true,
	"minLength": true, "maxLength": true, "minimum": true, "maximum": true, "exclusiveMinimum": true, "exclusiveMaximum": true,
	"multipleOf": true, "minItems": true, "maxItems": true, "uniqueItems": true, "minContains": true, "maxContains": true,
	"minProperties": true, "maxProperties": true, "readOnly": true, "writeOnly": true, "deprecated": true,
	"contentEncoding": true, "contentMediaType": true, "x-mcp-header": true, "$schema": true, "$id": true, "$ref": true, "$anchor": true,
	"$dynamicRef": true, "$dynamicAnchor": true, "$comment": true, "enumNames": true,
}

// member is what a member of that name is.
func (p place) member(name string) place {
	switch p {
	case inData:
		if schemaMembers[name] {
			return inSchema
		}
	case inSchema:
		return schemaParts[name]
	case inSchemas:
		return inSchema
	case inSecretSchema:
		switch part := schemaParts[name]; {
		case part == inSchema:
			return inSecretSchema
		case part == inSchemas:
			return inSecretSchemas
		case schemaKeywords[name]:
			return inKeyword
		}
		return inSecret
	case inSecretSchemas:
		return inSecretSchema
	case inKeyword, inSecret:
		return inSecret
	}
	return inData
}
