// Package query implements the filter language of the wire log: a filter line selects
// frames, and a View lists the frames selected so far.
package query

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"elicitation-inspector/bridge/base/lazy"
	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/wire"
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
		if lone().MatchString(t.text) {
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
		end := t.pos + len(t.name)
		if meant := nameMeant(t.name); meant != "" {
			fail(t.pos, end, "there is no term %q; did you mean %s? Put text with %q in it in quotes", t.name, meant+t.op, t.op)
		}
		fail(t.pos, end, "there is no term %q, but there are %s; put text with %q in it in quotes", t.name, strings.Join(termNames(), ", "), t.op)
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

type tokenKind int

const (
	tokenEnd tokenKind = iota
	tokenOpen
	tokenClose
	tokenNot
	tokenAnd
	tokenOr
	tokenWord
	tokenQuoted
	tokenRegexp
	tokenTerm
)

type token struct {
	kind     tokenKind
	pos, end int
	text     string  // the word, the quoted text without quotes, or the expression
	flags    string  // flags of a regular expression
	name, op string  // name and operator of a term
	values   []value // values of a term, at least one
}

type value struct {
	text     string
	pos, end int
}

const operator = `:>=|:<=|:>|:<|:=|>=|<=|==|!=|:|=|>|<`

var (
	// Before a digit, "-" is the sign of a number, as in error codes.
	negation   = lazy.Regexp(`^(?:!|-[\pL("/!])`)
	termHead   = lazy.Regexp(`^([A-Za-z]+)(\s*)(` + operator + `)(\s*)`)
	lone       = lazy.Regexp(`^(?:` + operator + `)$`)
	quotedText = lazy.Regexp(`(?s)^"((?:[^"\\]|\\.)*)"`)
	slashed    = lazy.Regexp(`(?s)^/((?:[^/\\]|\\.)*)/`)
	wordText   = lazy.Regexp(`^[^\s\pZ()]*`)
	valueText  = lazy.Regexp(`^[^\s\pZ(),"]*`)

	unquoted  = strings.NewReplacer(`\\`, `\`, `\"`, `"`)
	unslashed = strings.NewReplacer(`\\`, `\\`, `\/`, `/`)
)

// junctions maps the words and signs for "and", "or" and "not". A single sign counts
// only as a separate token.
var junctions = map[string]tokenKind{
	"and": tokenAnd, "&&": tokenAnd, "&": tokenAnd, "or": tokenOr, "||": tokenOr, "|": tokenOr, "not": tokenNot,
}

// lexer splits a filter line into tokens. It panics with an *Error.
type lexer struct {
	line   string
	at     int
	tokens []token
}

// lex splits a line into tokens. If the line has a mistake, the result has the tokens
// up to it, and the values up to it of the last term.
func lex(line string) (x lexer, err error) {
	x.line = line
	defer caught(&err)
	for {
		x.at = len(line) - len(strings.TrimLeftFunc(x.rest(), unicode.IsSpace))
		if x.at == len(line) {
			return x, nil
		}
		x.next()
	}
}

func (x *lexer) rest() string { return x.line[x.at:] }

func (x *lexer) next() {
	x.tokens = append(x.tokens, token{pos: x.at})
	t := &x.tokens[len(x.tokens)-1]
	rest := x.rest()
	switch {
	case rest[0] == '(':
		t.kind = tokenOpen
		x.at++
	case rest[0] == ')':
		t.kind = tokenClose
		x.at++
	case negation().MatchString(rest):
		t.kind = tokenNot
		x.at++
	case rest[0] == '"':
		t.kind, t.end = tokenQuoted, len(x.line) // in case it is not terminated
		t.text = x.quoted()
	case rest[0] == '/':
		t.kind, t.end = tokenRegexp, len(x.line)
		m := slashed().FindStringSubmatch(rest)
		if m == nil {
			fail(t.pos, t.end, "the regular expression does not end with \"/\"; put text that begins with one in quotes")
		}
		x.at += len(m[0])
		t.text, t.flags = unslashed.Replace(m[1]), x.until(wordText())
	case x.term(t):
	default:
		t.text = x.until(wordText())
		if t.text == "" {
			t.text = rest[:2]
			x.at += 2 // the text is && or ||
		}
		t.kind = tokenWord
		if kind, ok := junctions[strings.ToLower(t.text)]; ok {
			t.kind = kind
		}
	}
	t.end = x.at
}

// term reads the name, the operator and the values of a term. It returns false if there
// is no term.
func (x *lexer) term(t *token) bool {
	head := termHead().FindStringSubmatch(x.rest())
	if head == nil || termNamed(head[1]) == nil && head[2] != "" && head[4] == "" {
		return false // a word, followed by text such as <html>
	}
	t.kind, t.name, t.op = tokenTerm, head[1], head[3]
	x.at += len(head[0])
	for {
		v := value{pos: x.at, end: len(x.line)}
		t.end, t.values = v.end, append(t.values, v) // in case it is not terminated
		if strings.HasPrefix(x.rest(), `"`) {
			v.text = x.quoted()
		} else {
			v.text = x.until(valueText())
		}
		v.end = x.at
		t.values[len(t.values)-1] = v
		if !strings.HasPrefix(x.rest(), ",") {
			return true
		}
		x.at = len(x.line) - len(strings.TrimLeft(x.rest()[1:], " "))
	}
}

func (x *lexer) until(text *regexp.Regexp) string {
	found := text.FindString(x.rest())
	for _, sign := range []string{"&&", "||"} {
		found, _, _ = strings.Cut(found, sign)
	}
	x.at += len(found)
	return found
}

// quoted reads a quoted text. In it, \" and \\ stand for " and \.
func (x *lexer) quoted() string {
	m := quotedText().FindStringSubmatch(x.rest())
	if m == nil {
		fail(x.at, len(x.line), "the quoted text does not end")
	}
	x.at += len(m[0])
	return unquoted.Replace(m[1])
}

// otherNames maps likely wrong names of terms to the right ones.
var otherNames = map[string]string{
	"color": "colour", "type": "kind", "direction": "dir", "latency": "ms", "duration": "ms", "took": "ms", "time": "ms", "elapsed": "ms", "msec": "ms", "milliseconds": "ms", "sec": "ms",
	"code": "status", "bytes": "size", "length": "size", "since": "after", "until": "before", "rule": "finding",
	"elicitation": "question", "by": "actor", "who": "actor", "from": "dir", "pin": "is", "pinned": "is", "number": "seq",
	"frame": "seq", "name": "tool", "label": "server",
}

func termNames() []string {
	names := make([]string, len(terms))
	for i, t := range terms {
		names[i] = t.Name
	}
	return names
}

// nameMeant returns the term that an unknown name may mean; "" if there is none.
func nameMeant(name string) string {
	names, name := append(termNames(), slices.Sorted(maps.Keys(otherNames))...), strings.ToLower(name)
	meant := cmp.Or(otherNames[name], wording.Nearest(name, names))
	if i := slices.IndexFunc(names, func(n string) bool { return strings.HasPrefix(n, name) }); meant == "" && i >= 0 {
		meant = names[i] // meth
	}
	return cmp.Or(otherNames[meant], meant)
}

// Meant returns what a filter line may mean that has a mistake or selects nothing: the line with
// the nearest known name in place of an unknown one, of a term or of what is in the log. It is
// "" if nothing is near. findings are the rules with findings.
func Meant(l *wire.Log, line string, findings []string) string {
	lexed, _ := lex(line)
	for _, t := range lexed.tokens {
		term, meant := termNamed(t.name), nameMeant(t.name)
		if t.kind == tokenTerm && term == nil && meant != "" {
			return line[:t.pos] + meant + line[t.pos+len(t.name):]
		}
		var known []string
		if term != nil && !term.compares {
			for _, c := range term.values(l, findings) {
				known = append(known, c.Text)
			}
		}
		for _, v := range t.values {
			if meant = wording.Nearest(v.text, known); meant != "" && !strings.EqualFold(meant, v.text) {
				return line[:v.pos] + Quote(meant) + line[v.end:]
			}
		}
	}
	return ""
}

// ExchangeOf returns the filter line for the frames that belong together with a frame:
// of its call, or else with the same id in the same session.
func ExchangeOf(f wire.Frame) string {
	switch {
	case f.Call > 0:
		return "call:" + strconv.Itoa(f.Call)
	case len(f.Message.ID) > 0:
		id := string(f.Message.ID)
		if id[0] == '"' {
			id = rawjson.Text(f.Message.ID)
		}
		line := "id:" + Quote(id)
		if f.Method != "" {
			line += " method:" + Quote(f.Method)
		}
		return line + " session:" + Quote(f.Session)
	}
	return ""
}
