package elicit

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/dlclark/regexp2/v2"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/base/wording"
)

// Problem is one reason why an answer does not satisfy its schema, or why a schema is
// invalid.
type Problem struct {
	Field   int    // index of the field with the problem, -1 if no field has it
	Pointer string // JSON pointer (RFC 6901) to the place in the content
	Keyword string // the schema keyword that the value breaks, "" if none is involved
	Text    string // in plain words: "At most 1. You entered 1.50."
}

// Limit reports whether the value has the type of its field, and breaks a limit, a pattern or a
// format.
func (p Problem) Limit() bool {
	switch p.Keyword {
	case "minLength", "maxLength", "format", "pattern", "minimum", "maximum", "minItems", "maxItems":
		return true
	}
	return false
}

// Named returns the text after the name of the field that the problem is about, if any.
func (p Problem) Named(fields []Field) string {
	return p.after(fields, func(f *Field) string { return f.Name })
}

// Labelled returns the text after the label of the field that the problem is about, if any.
func (p Problem) Labelled(fields []Field) string {
	return p.after(fields, func(f *Field) string { return f.Label })
}

func (p Problem) after(fields []Field, called func(*Field) string) string {
	if p.Field < 0 || p.Field >= len(fields) {
		return p.Text
	}
	return called(&fields[p.Field]) + ": " + p.Text
}

// Check lists where content does not satisfy the schema, by JSON Schema 2020-12 unless
// its $schema names another draft. Formats are asserted, patterns follow ECMA-262,
// numbers are compared exactly. References can only point inside the schema: nothing is
// ever loaded. Problems are sorted by field. The error says why nothing was checked; see
// [Unchecked].
func Check(schema, content json.RawMessage) ([]Problem, error) {
	fields, _ := FieldsOf(schema)
	return check(fields, schema, content)
}

// Unchecked reports whether an error of [Check] says nothing about the content, because
// the check gave up. Any other error is a [SchemaError].
func Unchecked(err error) bool {
	_, invalid := errors.AsType[*SchemaError](err)
	return err != nil && !invalid
}

// CheckInputs runs [Content] and then [Check]. A field with a problem from Content, such
// as text that is no number, keeps only that problem.
func CheckInputs(schema json.RawMessage, fields []Field, in Inputs) (json.RawMessage, []Problem, error) {
	content, problems := Content(fields, in)
	more, err := check(fields, schema, content)
	has := map[int]bool{}
	for _, p := range problems {
		has[p.Field] = p.Field >= 0
	}
	for _, p := range more {
		if !has[p.Field] {
			problems = append(problems, p)
		}
	}
	inOrder(problems)
	return content, problems, err
}

// inOrder sorts problems by field; problems without a field come last.
func inOrder(problems []Problem) {
	slices.SortStableFunc(problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(uint(a.Field), uint(b.Field)), strings.Compare(a.Pointer, b.Pointer)) // uint(-1) is the greatest
	})
}

// checker is a compiled schema with the deadline and the step count of the one [Check]
// that uses it.
type checker struct {
	schema   *jsonschema.Schema
	deadline time.Time
	steps    int
}

// gaveUp is the error of a check that ended without a result. The check panics with it,
// because the validator offers no other way to stop it.
type gaveUp string

func (g gaveUp) Error() string { return string(g) }

func check(fields []Field, schema, content json.RawMessage) (problems []Problem, err error) {
	if err := rawjson.Check(content); err != nil {
		return []Problem{{Field: -1, Text: "Not JSON: " + err.Error() + "."}}, nil
	}
	defer func() {
		switch r := recover().(type) {
		case nil:
		case gaveUp:
			err = r
		default:
			err = fmt.Errorf("the schema cannot be checked against: %v", r)
		}
	}()
	checkers.mu.Lock()
	c := checkers.free[string(schema)]
	delete(checkers.free, string(schema))
	checkers.mu.Unlock()
	if c == nil {
		c = new(checker)
	}
	c.deadline = time.Now().Add(checkBudget)
	if c.schema == nil {
		if c.schema, err = c.compile(schema); err != nil {
			return nil, err
		}
	}
	value, err := decode(content)
	if err != nil { // a bound of ours, which makes no content invalid
		return nil, fmt.Errorf("the content cannot be checked: %w", err)
	}
	invalid := c.schema.Validate(value)
	if len(schema) <= schemaMost {
		checkers.mu.Lock()
		if checkers.free == nil || len(checkers.free) == checkersMost {
			checkers.free = map[string]*checker{}
		}
		checkers.free[string(schema)] = c
		checkers.mu.Unlock()
	}
	failed, ok := errors.AsType[*jsonschema.ValidationError](invalid)
	if !ok {
		return nil, invalid
	}
	x := &explainer{fields: fields, schema: schema, content: content}
	x.explain(failed)
	for i, p := range x.problems {
		if p.Field < 0 && p.Pointer != "" { // without a field, the text has to say where the problem is
			x.problems[i].Text = "At " + p.Pointer + ": " + p.Text
		}
	}
	inOrder(x.problems)
	return x.problems, nil
}

// checkBudget bounds the time of one check, so that no schema can keep it busy.
const checkBudget = 3 * time.Second

func (c *checker) inTime() {
	if time.Now().After(c.deadline) {
		panic(gaveUp(fmt.Sprintf("checking against the schema takes more than %v", checkBudget)))
	}
}

// schemaURL names the schema under check inside the validator. No loader knows this URL.
const schemaURL = "inspector:///schema"

func (c *checker) compile(schema json.RawMessage) (*jsonschema.Schema, error) {
	if err := rawjson.Check(schema); err != nil {
		return nil, fmt.Errorf("the schema is not JSON: %w", err)
	}
	doc, err := decode(schema)
	if err != nil {
		return nil, fmt.Errorf("the schema cannot be checked against: %w", err)
	}
	if prepare(doc) > maxSchemas {
		return nil, fmt.Errorf("the schema has more than %d parts, which is too many to check against", maxSchemas)
	}
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	compiler.AssertFormat()
	compiler.UseLoader(jsonschema.SchemeURLLoader{}) // which loads nothing
	compiler.UseRegexpEngine(c.pattern)
	compiler.RegisterVocabulary(&jsonschema.Vocabulary{URL: "inspector:///clock", Compile: func(*jsonschema.CompilerContext, map[string]any) (jsonschema.SchemaExt, error) {
		c.inTime() // the validator calls this for every schema
		return tick{c}, nil
	}})
	compiler.RegisterVocabulary(&jsonschema.Vocabulary{URL: "inspector:///file", Compile: compileFile})
	compiler.AssertVocabs()
	for name, format := range formats {
		if format.check == nil {
			continue
		}
		compiler.RegisterFormat(&jsonschema.Format{Name: name, Validate: func(v any) error {
			if s, ok := v.(string); ok {
				return format.check(s)
			}
			return nil
		}})
	}
	if err := compiler.AddResource(schemaURL, doc); err != nil {
		return nil, err
	}
	compiled, err := compiler.Compile(schemaURL)
	if err != nil {
		return nil, schemaError(err, schema)
	}
	return compiled, nil
}

// tick checks the deadline during validation.
type tick struct{ c *checker }

func (t tick) Validate(*jsonschema.ValidatorContext, any) {
	if t.c.steps++; t.c.steps%64 == 0 {
		t.c.inTime()
	}
}

func (c *checker) pattern(source string) (jsonschema.Regexp, error) {
	c.inTime()
	re, err := compilePattern(source)
	switch {
	case err == errTooLong: // to return it would make the schema invalid
		panic(gaveUp(fmt.Sprintf("the pattern %s is too large: %v", wording.Quoted(source), err)))
	case err != nil:
		return nil, fmt.Errorf("%s is not an ECMA-262 regular expression: %w", wording.Quoted(source), err)
	}
	return matcher{c, re}, nil
}

type matcher struct {
	c *checker
	*regexp2.Regexp
}

func (m matcher) MatchString(text string) bool {
	m.c.inTime()
	ok, err := m.Regexp.MatchString(text)
	if err != nil {
		panic(gaveUp(fmt.Sprintf("whether %s matches the pattern %s could not be told within %v",
			wording.Quoted(text), wording.Shorten(m.String(), 120), matchTime)))
	}
	return ok
}

// Bounds on the compiled schemas that are kept.
const (
	checkersMost = 64
	schemaMost   = 32 << 10 // bytes of a schema's text
)

// checkers keeps schemas compiled, since most are checked against again and again.
var checkers struct {
	mu   sync.Mutex
	free map[string]*checker // by the schema's text; those in use are not among them
}

// Bounds on a schema for [Check].
const (
	maxSchemas  = 5_000 // JSON objects in the schema, not counting long lists of choices
	largeChoice = 32    // a list with this many choices is long
)

// decode decodes JSON for the validator and keeps the digits of numbers. It fails on
// numbers that exact arithmetic cannot handle.
func decode(raw json.RawMessage) (any, error) {
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	if number := uncomputable(v); number != "" {
		return nil, fmt.Errorf("the number %s has too many digits to be compared", wording.Shorten(number, 40))
	}
	return v, nil
}

// uncomputable returns the first number in a decoded value that is not computable; "" if
// there is none.
func uncomputable(v any) (number string) {
	switch v := v.(type) {
	case json.Number:
		if !computable(string(v)) {
			return string(v)
		}
	case []any:
		for i := 0; i < len(v) && number == ""; i++ {
			number = uncomputable(v[i])
		}
	case map[string]any:
		for _, e := range v {
			if number == "" {
				number = uncomputable(e)
			}
		}
	}
	return number
}

// prepare changes a decoded schema for the validator: it caps length limits, which would
// overflow, marks files, and turns long lists of constants into enum, because the validator compiles
// each entry of oneOf separately. It returns the number of objects in the schema.
func prepare(v any) (objects int) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			objects += prepare(e)
		}
	case map[string]any:
		objects = 1
		asFile(v)
		for _, name := range []string{"minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties", "minContains", "maxContains"} {
			if n, ok := v[name].(json.Number); ok {
				if i := count(string(n)); i != nil {
					v[name] = json.Number(fmt.Sprint(*i))
				}
			}
		}
		for _, name := range []string{"oneOf", "anyOf"} {
			if list := constantsOf(v[name], name == "oneOf"); list != nil && v["enum"] == nil {
				delete(v, name)
				v["enum"] = list
			}
		}
		for name, e := range v {
			if name != "enum" && name != "const" && name != "default" && name != "examples" {
				objects += prepare(e)
			}
		}
	}
	return objects
}

// constantsOf returns the values of a long list of titled constants, for use as enum;
// nil for any other list. With exactlyOne (oneOf), values that occur twice are left out,
// because they never match exactly one entry.
func constantsOf(v any, exactlyOne bool) []any {
	entries, _ := v.([]any)
	if len(entries) < largeChoice {
		return nil
	}
	times := make(map[string]int, len(entries))
	for _, e := range entries {
		entry, _ := e.(map[string]any)
		text, ok := entry["const"].(string)
		if !ok || !isTitledConstant(entry) {
			return nil
		}
		times[text]++
	}
	list := make([]any, 0, len(times))
	for text, n := range times {
		if n == 1 || !exactlyOne {
			list = append(list, text)
		}
	}
	return list
}

func isTitledConstant(entry map[string]any) bool {
	for name, v := range entry {
		switch name {
		case "const", "title", "description", "$comment", "deprecated":
		case "type":
			if v != "string" {
				return false
			}
		default:
			return false
		}
	}
	return true
}
