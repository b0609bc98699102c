// Package query implements the filter language of the wire log: a filter line selects
// frames, and a View lists the frames selected so far.
package query

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"
)

// Filter is a parsed filter line.
//
// A line consists of terms (see Terms), words and regular expressions. Side by side, or
// with "and" or "&&" in between, all must hold; with "or" or "||" one must hold, with
// lower precedence; "!", "-" or "not" negates; parentheses group. A word, or several in
// quotes, is text in the frame, ignoring case; /re/ or /re/i is a regular expression
// (RE2) that matches anywhere in the frame. See docs/filter.md.
type Filter struct {
	node
}

// UsesFindings reports whether the filter has terms for findings, and UsesMarks whether
// it has terms for marks. Findings and marks can change after a frame was judged, so
// that the result for the frame can change.
func (f *Filter) UsesFindings() bool { return f.uses&usesFindings != 0 }
func (f *Filter) UsesMarks() bool    { return f.uses&usesMarks != 0 }

// Error is a mistake in a filter line.
type Error struct {
	Pos  int    `json:"pos"` // byte offset of the mistake in the line
	End  int    `json:"end"` // byte offset of its end
	Text string `json:"text"`
}

func (e *Error) Error() string { return e.Text }

// fail aborts the parsing of a line: it panics with an *Error.
func fail(pos, end int, format string, args ...any) {
	panic(&Error{pos, end, fmt.Sprintf(format, args...)})
}

// caught must be deferred. It sets err to the error that fail panicked with.
func caught(err *error) {
	switch failed := recover().(type) {
	case nil:
	case *Error:
		*err = failed
	default:
		panic(failed)
	}
}

// Parse parses a filter line. An empty line selects all frames. The error is an *Error.
func Parse(line string) (f *Filter, err error) {
	defer caught(&err)
	for i, r := range line {
		if r == utf8.RuneError && !strings.HasPrefix(line[i:], string(r)) {
			fail(i, i+1, "this is not UTF-8")
		}
	}
	lexed, err := lex(line)
	if err != nil {
		return nil, err
	}
	if len(lexed.tokens) == 0 {
		return &Filter{where(func(*candidate) bool { return true })}, nil
	}
	p := parser{line, append(lexed.tokens, token{pos: len(line), end: len(line)})}
	root := p.or(0)
	if t := p.take(); t.kind != tokenEnd {
		fail(t.pos, t.end, "there is no \"(\" that this closes")
	}
	return &Filter{root}, nil
}

// MustParse is like Parse, but panics if the line has a mistake.
func MustParse(line string) *Filter {
	f, err := Parse(line)
	if err != nil {
		panic(fmt.Sprintf("query: %q: %v", line, err))
	}
	return f
}

// maxDepth is the greatest depth of nested parentheses and negations.
const maxDepth = 100

// parser converts tokens to nodes. It panics with an *Error.
type parser struct {
	line   string
	tokens []token // remaining tokens; the last is tokenEnd
}

func (p *parser) take() token {
	t := p.tokens[0]
	p.tokens = p.tokens[1:]
	return t
}

func (p *parser) or(depth int) node {
	nodes := []node{p.and(depth)}
	for p.tokens[0].kind == tokenOr {
		p.take()
		nodes = append(nodes, p.and(depth))
	}
	return or(nodes...)
}

func (p *parser) and(depth int) node {
	nodes := []node{p.not(depth)}
	for {
		switch p.tokens[0].kind {
		case tokenEnd, tokenClose, tokenOr:
			return and(nodes...)
		case tokenAnd:
			p.take()
		}
		nodes = append(nodes, p.not(depth))
	}
}

func (p *parser) not(depth int) node {
	t := p.take()
	if depth > maxDepth {
		fail(t.pos, t.end, "nested too deep")
	}
	switch t.kind {
	case tokenEnd:
		fail(t.pos, t.end, "something must follow here")
	case tokenNot:
		return not(p.not(depth + 1))
	case tokenOpen:
		n := p.or(depth + 1)
		if p.take().kind != tokenClose {
			fail(t.pos, t.end, "this \"(\" is not closed")
		}
		return n
	case tokenClose:
		fail(t.pos, t.end, "something must stand before this \")\"")
	case tokenWord:
		if lone.MatchString(t.text) {
			fail(t.pos, t.end, "the name of a term must stand before %q, as in ms>500; put text with %q in it in quotes", t.text, t.text)
		}
		return inBytes(textFinder(t.text))
	case tokenQuoted:
		if t.text == "" {
			fail(t.pos, t.end, "there is no text between the quotes")
		}
		return inBytes(textFinder(t.text))
	case tokenRegexp:
		re := compile(t)
		return inBytesOfEach(func() finder { return expressionFinder(re) })
	case tokenTerm:
		return p.term(t)
	}
	fail(t.pos, t.end, "something must stand before %q", p.line[t.pos:t.end])
	return node{}
}

func compile(t token) *regexp.Regexp {
	end := t.end - len(t.flags)
	expr := t.text
	switch {
	case expr == "":
		fail(t.pos, end, "the regular expression is empty")
	case t.flags == "i":
		expr = "(?i)" + expr
	case t.flags != "":
		fail(end, t.end, "after a regular expression only the flag \"i\" can stand; put text with slashes in quotes")
	}
	re, err := regexp.Compile(expr)
	if err != nil {
		fail(t.pos+1, end-1, "regular expression: %s", strings.TrimPrefix(err.Error(), "error parsing regexp: "))
	}
	return re
}

func (p *parser) term(t token) node {
	term := termNamed(t.name)
	if term == nil {
		p.unknownTerm(t)
	}
	op := strings.TrimPrefix(t.op, ":")
	opposite := op == "!="
	if opposite || op == "" || op == "==" {
		op = "="
	}
	if op != "=" && !term.compares {
		at := t.pos + strings.Index(p.line[t.pos:], t.op)
		fail(at, at+len(t.op), "%s goes with \":\", not with %q", term.Name, t.op)
	}
	var nodes []node
	for _, v := range t.values {
		if v.text == "" {
			fail(v.pos, v.end, "a value must follow %s%s", t.name, t.op)
		}
		if i := strings.IndexByte(v.text, '|'); i >= 0 && p.line[v.pos] != '"' {
			fail(v.pos+i, v.pos+i+1, "several values are separated by commas, such as %s%s%s; put a value with \"|\" in it in quotes",
				t.name, t.op, strings.ReplaceAll(v.text, "|", ","))
		}
		n, err := term.parse(term.Name, op, v.text)
		if err != nil {
			fail(v.pos, v.end, "%v", err)
		}
		nodes = append(nodes, n)
	}
	if opposite {
		return not(or(nodes...))
	}
	return or(nodes...)
}
