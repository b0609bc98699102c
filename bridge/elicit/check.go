package elicit

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dlclark/regexp2/v2"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"elicitation-inspector/bridge/elicit/format"
	"elicitation-inspector/bridge/rawjson"
	"elicitation-inspector/bridge/wording"
)

// Problem is one thing that is wrong with an answer.
type Problem struct {
	Field   int    // index of the field it belongs to, -1 if it belongs to none
	Pointer string // JSON pointer (RFC 6901) to the place in the content
	Keyword string // the schema's keyword that is not satisfied, "" if none is concerned
	Text    string // in plain words: "At most 1. You entered 1.50."
}

// Check tells what in content does not satisfy the schema, by JSON Schema
// 2020-12 unless its $schema names another draft. Formats are asserted, patterns
// have their ECMA-262 meaning, numbers are compared exactly. References lead
// only to places inside the schema: nothing is ever loaded. Problems come in the
// order of the fields. The error says why nothing was checked; see [Unchecked].
func Check(schema, content json.RawMessage) ([]Problem, error) {
	fields, _ := FieldsOf(schema)
	return check(fields, schema, content)
}

// Unchecked reports whether an error of a check leaves open what the content is
// worth: the check has given up. Otherwise it is a [SchemaError].
func Unchecked(err error) bool {
	var invalid *SchemaError
	return err != nil && !errors.As(err, &invalid)
}

// CheckInputs is [Content] and [Check] in one. A field whose input is no value
// has that as its only problem.
func CheckInputs(schema json.RawMessage, fields []Field, in Inputs) (json.RawMessage, []Problem, error) {
	content, problems := Content(fields, in)
	more, err := check(fields, schema, content)
	for _, p := range more {
		if !slices.ContainsFunc(problems, func(q Problem) bool { return q.Field >= 0 && q.Field == p.Field }) {
			problems = append(problems, p)
		}
	}
	inOrder(problems)
	return content, problems, err
}

// inOrder sorts problems by field, those of the whole last.
func inOrder(problems []Problem) {
	slices.SortStableFunc(problems, func(a, b Problem) int {
		switch {
		case a.Field == b.Field:
			return strings.Compare(a.Pointer, b.Pointer)
		case a.Field < 0:
			return 1
		case b.Field < 0:
			return -1
		}
		return a.Field - b.Field
	})
}

// checker is one run of a check.
type checker struct {
	deadline time.Time
	steps    int
}

// gaveUp says why a check ends without a result. The check panics with it, as
// the validator cannot be stopped otherwise.
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
	c := &checker{deadline: time.Now().Add(checkBudget)}
	compiled, err := c.compile(schema)
	if err != nil {
		return nil, err
	}
	value, err := decode(content)
	if err != nil {
		return []Problem{{Field: -1, Text: wording.Sentence(err.Error())}}, nil
	}
	var failed *jsonschema.ValidationError
	if err := compiled.Validate(value); err == nil || !errors.As(err, &failed) {
		return nil, err
	}
	x := &explainer{fields: fields, schema: schema, content: content}
	x.explain(failed)
	for i, p := range x.problems {
		if p.Field < 0 && p.Pointer != "" { // no field says what it is about
			x.problems[i].Text = "At " + p.Pointer + ": " + p.Text
		}
	}
	inOrder(x.problems)
	return x.problems, nil
}

// checkBudget bounds a check, so that no schema can keep it busy.
const checkBudget = 3 * time.Second

func (c *checker) inTime() {
	if time.Now().After(c.deadline) {
		panic(gaveUp(fmt.Sprintf("checking against the schema takes more than %v", checkBudget)))
	}
}

// schemaURL is what the schema under check is called inside the validator. No
// loader knows it.
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
	compiler.RegisterVocabulary(&jsonschema.Vocabulary{URL: "inspector:///clock", Compile: c.clock})
	compiler.AssertVocabs()
	for name, test := range format.Checks {
		compiler.RegisterFormat(&jsonschema.Format{Name: name, Validate: func(v any) error {
			if s, ok := v.(string); ok {
				return test(s)
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

// clock is called for every schema that is compiled, and makes an extension that
// is called whenever a value is validated against it.
func (c *checker) clock(*jsonschema.CompilerContext, map[string]any) (jsonschema.SchemaExt, error) {
	c.inTime()
	return tick{c}, nil
}

type tick struct{ c *checker }

func (t tick) Validate(*jsonschema.ValidatorContext, any) {
	if t.c.steps++; t.c.steps%64 == 0 {
		t.c.inTime()
	}
}

// pattern is the validator's engine for regular expressions.
func (c *checker) pattern(source string) (jsonschema.Regexp, error) {
	c.inTime()
	re, err := compilePattern(source)
	switch {
	case err == errTooLong: // to return it would make the schema invalid
		panic(gaveUp(fmt.Sprintf("the pattern %s is too large: %v", wording.Quoted(source), err)))
	case err != nil:
		return nil, fmt.Errorf("%s is no ECMA-262 expression: %w", wording.Quoted(source), err)
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
