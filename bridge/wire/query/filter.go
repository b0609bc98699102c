// Package query is the filter language: a line picks frames of a wire log, and a
// View lists those that it has picked.
package query

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"elicitation-inspector/bridge/spelling"
	"elicitation-inspector/bridge/wire"
)

// Filter is a parsed filter line. It picks frames of a log; see View.
//
// A line is made of terms, words and regular expressions. Side by side, or with
// "and" or "&&" between them, they must all hold; "or" or "||" means either; "!",
// "-" or "not" before one means its opposite; parentheses group. "or" binds
// weaker than standing side by side.
//
//	method:elicitation/*      the method, of a response that of its request; * stands for any text
//	dir:in dir:out            from the server, to the server; also dir:c2s s2c stderr meta
//	kind:error                what failed: Frame.Failed
//	kind:request              also notification, result, noise, stderr, note; response, message
//	                          (what is JSON-RPC), rpc-error (the error responses)
//	id:7                      the JSON-RPC id, be it 7 or "7"
//	server:files session:s-*  the label of the server, the id of the session
//	tool:deploy               the tool whose call the frame belongs to
//	call:3 round:2 question:1 what the frame belongs to; call>3 and so on
//	action:accept             what an answer says: accept, decline, cancel
//	actor:person              who answered
//	ms>500 ms<2s              the time from the request, of a response
//	size>10k                  bytes on the wire; k, M, G are powers of 1000, Ki, Mi, Gi of 1024
//	status:404 status>=400    the HTTP status
//	stream:get-sse            post, post-sse, get-sse
//	transport:http            stdio, http, sse, memory
//	after:10:02:03            from then on, on the day of the first frame; also a date, a date
//	before:2026-07-28T10:02   with a time, or +5s for the time since the first frame
//	seq>=100                  the number of the frame
//	is:question is:answer     what servers ask of people and what goes back, in every revision
//	is:duplicate              duplicate, orphan, truncated, redacted, pinned, noted
//	colour:amber              the colour that the frame was marked with
//	has:requestedSchema       a JSON member of that name anywhere in the frame, or what Hooks.Has knows
//	finding:any               what Hooks.Finding knows: any, or the name of a rule
//	"two words" word          the text in the frame, upper and lower case being the same
//	/re+gexp/ /RE/i           a regular expression (RE2) that matches in the frame
//
// Values can be quoted, and several can stand after one name, separated by
// commas: kind:error,noise. "!=" in place of ":" means the opposite. White space
// may stand around what follows a name.
type Filter struct {
	text     string
	root     node // nil: all frames
	changing bool
	findings bool
}

// AsksFindings reports whether the filter asks for findings, which
// Hooks.Finding must know.
func (f *Filter) AsksFindings() bool { return f.findings }

// Lasting reports whether what the filter says of a frame stays so. It may not
// where it asks for findings or for marks, which come later than the frame.
func (f *Filter) Lasting() bool { return !f.changing }

// String is the line that was parsed.
func (f *Filter) String() string { return f.text }

// Error says what is wrong in a filter line, and where.
type Error struct {
	Pos, End int // byte offsets in the line: what the error is about
	Text     string
}

func (e *Error) Error() string { return e.Text }

// Parse parses a filter line. An empty one picks all frames. The error
// is a *Error.
func Parse(line string) (*Filter, error) {
	p := filterParser{in: line}
	if valid := strings.ToValidUTF8(line, ""); valid != line {
		at := 0
		for at < len(valid) && line[at] == valid[at] {
			at++
		}
		p.fail(at, at+1, "this is not UTF-8")
		return nil, p.err
	}
	p.next()
	f := &Filter{text: line}
	if p.tok.kind == tokEnd && p.err == nil {
		return f, nil
	}
	f.root = p.or(0)
	f.changing, f.findings = p.changing, p.findings
	if p.err == nil && p.tok.kind != tokEnd {
		p.fail(p.tok.pos, p.tok.end, "there is no \"(\" that this closes")
	}
	if p.err != nil {
		return nil, p.err
	}
	return f, nil
}

type tokenKind uint8

const (
	tokEnd tokenKind = iota
	tokOpen
	tokClose
	tokNot
	tokAnd
	tokOr
	tokTerm   // name, op and values
	tokText   // text
	tokRegexp // text is the expression
)

type token struct {
	kind     tokenKind
	pos, end int
	text     string
	re       *regexp.Regexp
	name, op string
	values   []filterValue
}

// filterValue is one of the values of a term.
type filterValue struct {
	text     string
	quoted   bool
	pos, end int
}

// maxFilterDepth bounds how deep parentheses and negations may be nested.
const maxFilterDepth = 100

type filterParser struct {
	in       string
	at       int
	tok      token
	err      *Error
	changing bool // see Filter.Lasting
	findings bool // see Filter.AsksFindings
}

func (p *filterParser) fail(pos, end int, format string, args ...any) {
	if p.err == nil {
		p.err = &Error{pos, max(end, pos), fmt.Sprintf(format, args...)}
	}
	p.tok = token{kind: tokEnd, pos: len(p.in), end: len(p.in)}
	p.at = len(p.in)
}

func (p *filterParser) or(depth int) node {
	left := p.and(depth)
	for p.tok.kind == tokOr {
		p.next()
		left = or(left, p.and(depth))
	}
	return left
}

func (p *filterParser) and(depth int) node {
	left := p.not(depth)
	for {
		switch p.tok.kind {
		case tokEnd, tokClose, tokOr:
			return left
		case tokAnd:
			p.next()
		}
		left = and(left, p.not(depth))
	}
}

func (p *filterParser) not(depth int) node {
	tok := p.tok
	if depth > maxFilterDepth {
		p.fail(tok.pos, tok.end, "nested too deep")
	}
	switch tok.kind {
	case tokNot:
		p.next()
		return not(p.not(depth + 1))
	case tokOpen:
		p.next()
		n := p.or(depth + 1)
		if p.tok.kind != tokClose && p.err == nil {
			p.fail(tok.pos, tok.end, "this \"(\" is not closed")
		}
		p.next()
		return n
	case tokText:
		p.next()
		return inBytes(newSearch(tok.text).in)
	case tokRegexp:
		p.next()
		return matches(tok.re)
	case tokTerm:
		n := p.term(tok)
		p.next()
		return n
	case tokEnd:
		if p.err == nil {
			p.fail(tok.pos, tok.end, "something must follow here")
		}
	case tokClose:
		p.fail(tok.pos, tok.end, "something must stand before this \")\"")
	default:
		p.fail(tok.pos, tok.end, "something must stand before %q", p.in[tok.pos:tok.end])
	}
	return nothing
}

// next reads a token.
func (p *filterParser) next() {
	if p.err != nil {
		return
	}
	start := len(p.in) - len(strings.TrimLeftFunc(p.in[p.at:], unicode.IsSpace))
	p.at = start
	if start == len(p.in) {
		p.tok = token{kind: tokEnd, pos: start, end: start}
		return
	}
	one := func(kind tokenKind) {
		p.at++
		p.tok = token{kind: kind, pos: start, end: p.at}
	}
	switch p.in[start] {
	case '(':
		one(tokOpen)
		return
	case ')':
		one(tokClose)
		return
	case '!':
		one(tokNot)
		return
	case '-':
		if negates(p.in[start+1:]) {
			one(tokNot)
			return
		}
	case '"':
		text := p.quoted()
		if p.err == nil && text == "" {
			p.fail(start, p.at, "there is no text between the quotes")
		}
		p.set(token{kind: tokText, pos: start, end: p.at, text: text})
		return
	case '/':
		p.regexp()
		return
	}
	if n := joins(p.in[start:]); n > 0 {
		kind := tokOr
		if p.in[start] == '&' {
			kind = tokAnd
		}
		p.at += n
		p.tok = token{kind: kind, pos: start, end: p.at}
		return
	}
	if name, op, end := termStart(p.in[start:]); op != "" {
		p.at += end
		p.termValues(start, name, op)
		return
	}
	p.nextWord(start)
}

// nextWord reads a token that begins with nothing special.
func (p *filterParser) nextWord(start int) {
	word := p.word()
	kind := tokText
	switch strings.ToLower(word) {
	case "or":
		kind = tokOr
	case "and":
		kind = tokAnd
	case "not":
		kind = tokNot
	case ">", ">=", "<", "<=", "=", "==", "!=", ":":
		p.strayOperator(start, word)
		return
	}
	p.set(token{kind: kind, pos: start, end: p.at, text: word})
}

// negates reports whether a "-" in front of this means the opposite. In front of
// a digit it belongs to a number, as in the codes of errors.
func negates(rest string) bool {
	r, _ := utf8.DecodeRuneInString(rest)
	return unicode.IsLetter(r) || r == '(' || r == '"' || r == '/' || r == '!'
}

// joins is the length of a sign for "and" or "or" that s begins with, 0 if there
// is none. A single one must stand alone.
func joins(s string) int {
	switch {
	case strings.HasPrefix(s, "&&"), strings.HasPrefix(s, "||"):
		return 2
	case s == "&", s == "|", strings.HasPrefix(s, "& "), strings.HasPrefix(s, "| "):
		return 1
	}
	return 0
}

// ends reports whether the text at s is past the end of a word or a value.
func ends(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return unicode.IsSpace(r) || r == '(' || r == ')' || strings.HasPrefix(s, "&&") || strings.HasPrefix(s, "||")
}

func (p *filterParser) set(t token) {
	if p.err == nil {
		p.tok = t
	}
}

// operators are what can stand between the name of a term and its values, and
// what they mean. Those that begin with another come before it.
var operators = []struct{ text, means string }{
	{":>=", ">="}, {":<=", "<="}, {":>", ">"}, {":<", "<"}, {":=", ":"},
	{">=", ">="}, {"<=", "<="}, {"==", ":"}, {"!=", "!="}, {":", ":"}, {"=", ":"}, {">", ">"}, {"<", "<"},
}

// termStart splits "name>=" off the beginning of s: op is the operator as it is
// written, and end is where the values begin. op is "" if s does not begin with
// a term. White space may stand around the operator of a term that there is.
func termStart(s string) (name, op string, end int) {
	i := 0
	for i < len(s) && (s[i]|0x20 >= 'a' && s[i]|0x20 <= 'z') {
		i++
	}
	if i == 0 || i == len(s) {
		return "", "", 0
	}
	name, rest := s[:i], s[i:]
	if isTerm(name) {
		rest = strings.TrimLeftFunc(rest, unicode.IsSpace)
	}
	for _, o := range operators {
		if values, ok := strings.CutPrefix(rest, o.text); ok {
			if isTerm(name) {
				values = strings.TrimLeftFunc(values, unicode.IsSpace)
			}
			return name, o.text, len(s) - len(values)
		}
	}
	return "", "", 0
}

func isTerm(name string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc(terms, func(t Term) bool { return t.Name == name })
}

// word reads up to white space, a parenthesis, or a sign for "and" or "or".
func (p *filterParser) word() string {
	start := p.at
	for p.at < len(p.in) && !ends(p.in[p.at:]) {
		_, n := utf8.DecodeRuneInString(p.in[p.at:])
		p.at += n
	}
	return p.in[start:p.at]
}

// quoted reads a quoted text, in which \" and \\ stand for " and \.
func (p *filterParser) quoted() string {
	start := p.at
	var b strings.Builder
	for p.at++; p.at < len(p.in); p.at++ {
		switch c := p.in[p.at]; {
		case c == '"':
			p.at++
			return b.String()
		case c == '\\' && p.at+1 < len(p.in) && (p.in[p.at+1] == '"' || p.in[p.at+1] == '\\'):
			p.at++
			b.WriteByte(p.in[p.at])
		default:
			b.WriteByte(c)
		}
	}
	p.fail(start, len(p.in), "the quoted text does not end")
	return ""
}

func (p *filterParser) regexp() {
	start := p.at
	var b strings.Builder
	for p.at++; ; p.at++ {
		if p.at >= len(p.in) {
			p.fail(start, len(p.in), "the regular expression does not end with \"/\"; put text that begins with one in quotes")
			return
		}
		c := p.in[p.at]
		if c == '/' {
			break
		}
		if c == '\\' && p.at+1 < len(p.in) {
			if p.at++; p.in[p.at] != '/' {
				b.WriteByte(c)
			}
			c = p.in[p.at]
		}
		b.WriteByte(c)
	}
	end := p.at
	p.at++
	expr := b.String()
	if expr == "" {
		p.fail(start, p.at, "the regular expression is empty")
		return
	}
	flags := p.word()
	switch flags {
	case "":
	case "i":
		expr = "(?i)" + expr
	default:
		p.fail(end+1, p.at, "after a regular expression only the flag \"i\" can stand; put text with slashes in quotes")
		return
	}
	re, err := regexp.Compile(expr)
	if err != nil {
		text := err.Error()
		text = strings.TrimPrefix(text, "error parsing regexp: ")
		p.fail(start+1, end, "regular expression: %s", text)
		return
	}
	p.tok = token{kind: tokRegexp, pos: start, end: p.at, text: expr, re: re}
}

func (p *filterParser) termValues(start int, name, op string) {
	t := token{kind: tokTerm, pos: start, name: name, op: op}
	for {
		v := filterValue{pos: p.at}
		if p.at < len(p.in) && p.in[p.at] == '"' {
			v.text, v.quoted = p.quoted(), true
		} else {
			from := p.at
			for p.at < len(p.in) && p.in[p.at] != ',' && p.in[p.at] != '"' && !ends(p.in[p.at:]) {
				_, n := utf8.DecodeRuneInString(p.in[p.at:])
				p.at += n
			}
			v.text = p.in[from:p.at]
			if i := strings.IndexByte(v.text, '|'); i >= 0 {
				p.fail(from+i, from+i+1, "several values are separated by commas, such as %s:%s; put a value with \"|\" in it in quotes",
					name, strings.ReplaceAll(v.text, "|", ","))
				return
			}
		}
		v.end = p.at
		t.values = append(t.values, v)
		if p.err != nil {
			return
		}
		if p.at >= len(p.in) || p.in[p.at] != ',' {
			break
		}
		p.at++
		for p.at < len(p.in) && p.in[p.at] == ' ' {
			p.at++
		}
	}
	t.end = p.at
	p.tok = t
}

// Term is a term of filter lines.
type Term struct {
	Name    string
	Example string
	Means   string // in words
}

// Terms lists the terms of filter lines, the most useful first.
func Terms() []Term { return slices.Clone(terms) }

var terms = []Term{
	{"method", "method:elicitation/*", "the method, of a response that of its request"},
	{"kind", "kind:error,noise", "error (what failed), request, notification, result, noise, stderr, note; response, message, rpc-error"},
	{"dir", "dir:in", "in (from the server) or out; also c2s, s2c, stderr, meta"},
	{"id", "id:7", "the JSON-RPC id"},
	{"server", "server:files", "the server's label"},
	{"tool", "tool:deploy", "the tool whose call it belongs to"},
	{"call", "call:3", "number of the call"},
	{"question", "question:1", "number of the question"},
	{"round", "round>1", "round of the call"},
	{"action", "action:accept", "what an answer says: accept, decline, cancel"},
	{"actor", "actor:person", "who answered: person, script, policy, fault, server"},
	{"ms", "ms>500", "milliseconds since the request; with a unit also ms>2s"},
	{"size", "size>10k", "bytes on the wire; k, M, G, Ki, Mi, Gi"},
	{"after", "after:10:02:03", "from that time on; also a date, a date with a time, +5s"},
	{"before", "before:+5s", "before that time"},
	{"has", "has:requestedSchema", "a JSON member of that name"},
	{"finding", "finding:any", "what the linter found: any, or the name of a rule"},
	{"is", "is:question", "question, answer, duplicate, orphan, truncated, redacted, pinned, noted"},
	{"colour", "colour:amber", "the colour it was marked with"},
	{"status", "status>=400", "the HTTP status"},
	{"stream", "stream:get-sse", "which HTTP stream carried it: post, post-sse, get-sse"},
	{"transport", "transport:http", "stdio, http, sse, memory"},
	{"session", "session:s1-*", "the id of the session"},
	{"seq", "seq>=100", "the number of the frame"},
}

// term makes the node of a term.
func (p *filterParser) term(t token) node {
	name := strings.ToLower(t.name)
	if !isTerm(name) {
		p.unknownTerm(t)
		return nothing
	}
	numeric := numericTerms[name]
	op := meaning(t.op)
	opposite := op == "!="
	if opposite {
		op = ":"
	}
	if op != ":" && numeric == nil {
		at := t.pos + strings.Index(p.in[t.pos:], t.op)
		p.fail(at, at+len(t.op), "%s goes with \":\", not with %q", name, t.op)
		return nothing
	}
	p.findings = p.findings || name == "finding"
	if name == "finding" || name == "colour" {
		p.changing = true
	}
	var out node
	for _, v := range t.values {
		if v.text == "" {
			p.fail(v.pos, v.end, "a value must follow %s%s", t.name, t.op)
			return nothing
		}
		var n node
		var err error
		if numeric != nil {
			n, err = numeric(op, v.text)
		} else {
			n, err = plainTerms[name](v.text)
		}
		if err != nil {
			p.fail(v.pos, v.end, "%v", err)
			return nothing
		}
		if name == "is" && markTerms[strings.ToLower(v.text)] != nil {
			p.changing = true
		}
		if out == nil {
			out = n
		} else {
			out = or(out, n)
		}
	}
	if opposite {
		return not(out)
	}
	return out
}

// plainTerms make the nodes of terms that only know ":".
var plainTerms = map[string]func(v string) (node, error){
	"method": func(v string) (node, error) {
		return named(newGlob(v), func(c *candidate) string { return c.Method() }), nil
	},
	"server": func(v string) (node, error) {
		return named(newGlob(v), func(c *candidate) string { return c.Connection().Server }), nil
	},
	"session": func(v string) (node, error) {
		return named(newGlob(v), func(c *candidate) string { return c.Connection().Session }), nil
	},
	"transport": func(v string) (node, error) {
		return named(newGlob(v), func(c *candidate) string { return c.Connection().Transport }), nil
	},
	"actor": func(v string) (node, error) {
		return named(newGlob(v), func(c *candidate) string { return c.Actor() }), nil
	},
	"tool": func(v string) (node, error) {
		return named(newGlob(v), func(c *candidate) string { return c.Tool() }), nil
	},
	"id":      func(v string) (node, error) { return idIs(v), nil },
	"has":     func(v string) (node, error) { return has(v), nil },
	"finding": func(v string) (node, error) { return finding(v), nil },
	"after": func(v string) (node, error) {
		at, err := parseMoment(v)
		return timeIs(at, true), err
	},
	"before": func(v string) (node, error) {
		at, err := parseMoment(v)
		return timeIs(at, false), err
	},
	"kind": func(v string) (node, error) {
		var kinds []wire.Kind
		switch k, err := wire.ParseKind(strings.ToLower(v)); {
		case k == wire.Error:
			return where(func(c *candidate) bool { return c.Failed() }), nil
		case err == nil:
			kinds = []wire.Kind{k}
		case strings.EqualFold(v, "response"):
			kinds = []wire.Kind{wire.Result, wire.Error}
		case strings.EqualFold(v, "message"):
			kinds = []wire.Kind{wire.Request, wire.Notification, wire.Result, wire.Error}
		case strings.EqualFold(v, "rpc-error"):
			kinds = []wire.Kind{wire.Error}
		default:
			return nil, choose("kind", v, kindNames...)
		}
		return where(func(c *candidate) bool { return slices.Contains(kinds, c.Kind()) }), nil
	},
	"dir": func(v string) (node, error) {
		var dir wire.Direction
		switch v = strings.ToLower(v); v {
		case "in":
			dir = wire.ServerToClient
		case "out":
			dir = wire.ClientToServer
		default:
			var err error
			if dir, err = wire.ParseDirection(v); err != nil {
				return nil, choose("dir", v, "in", "out", "stderr", "meta")
			}
		}
		return where(func(c *candidate) bool { return c.Direction() == dir }), nil
	},
	"colour": func(v string) (node, error) {
		colour := strings.ToLower(v)
		if !slices.Contains(wire.Colours(), colour) {
			return nil, choose("colour", v, wire.Colours()...)
		}
		return marked(func(m wire.Mark) bool { return m.Colour == colour }), nil
	},
	"stream": func(v string) (node, error) {
		stream, err := wire.ParseStream(strings.ToLower(v))
		if err != nil {
			return nil, choose("stream", v, streamNames...)
		}
		return where(func(c *candidate) bool { return c.Stream() == stream }), nil
	},
	"action": func(v string) (node, error) {
		action := strings.ToLower(v)
		if !slices.Contains(actions, action) {
			return nil, choose("action", v, actions...)
		}
		return where(func(c *candidate) bool { return c.Action() == action }), nil
	},
	"is": func(v string) (node, error) {
		flags := map[string]func(*candidate) bool{
			"duplicate": func(c *candidate) bool { return c.Duplicate() }, "orphan": func(c *candidate) bool { return c.Orphan() },
			"truncated": func(c *candidate) bool { return c.Truncated() }, "redacted": func(c *candidate) bool { return c.Redacted() },
		}
		if holds := markTerms[strings.ToLower(v)]; holds != nil {
			return marked(holds), nil
		}
		switch strings.ToLower(v) {
		case "question":
			return asksPeople(), nil
		case "answer":
			return answersServers(), nil
		}
		flag, ok := flags[strings.ToLower(v)]
		if !ok {
			return nil, choose("is", v, "question", "answer", "duplicate", "orphan", "truncated", "redacted", "pinned", "noted")
		}
		return where(flag), nil
	},
}

// markTerms are the values of is: that ask for marks.
var markTerms = map[string]func(wire.Mark) bool{
	"pinned": func(m wire.Mark) bool { return m.Pinned },
	"noted":  func(m wire.Mark) bool { return m.Note != "" },
}

var (
	// kindNames are the values of kind:, those of wire.Kind first.
	kindNames   = []string{"request", "notification", "result", "error", "noise", "stderr", "note", "response", "message", "rpc-error"}
	streamNames = []string{"post", "post-sse", "get-sse"}
	actions     = []string{"accept", "decline", "cancel"}
)

func choose(name, v string, from ...string) error {
	if meant := spelling.Nearest(v, from); meant != "" {
		return fmt.Errorf("%s cannot be %q; did you mean %s? It is one of %s", name, v, meant, strings.Join(from, ", "))
	}
	return fmt.Errorf("%s cannot be %q; it is one of %s", name, v, strings.Join(from, ", "))
}

// numericTerms make the nodes of terms that compare numbers.
var numericTerms = map[string]func(op, v string) (node, error){
	"call":     numbered("call", func(c *candidate) int { return c.Call() }),
	"question": numbered("question", func(c *candidate) int { return c.Question() }),
	"round":    numbered("round", func(c *candidate) int { return c.Round() }),
	"status":   numbered("status", func(c *candidate) int { return c.Status() }),
	"seq": func(op, v string) (node, error) {
		n, err := parseNumber("seq", v)
		return where(func(c *candidate) bool { return compare(op, c.Seq, n) }), err
	},
	"size": func(op, v string) (node, error) {
		n, err := parseSize(v)
		return where(func(c *candidate) bool { return compare(op, c.Size(), n) }), err
	},
	"ms": func(op, v string) (node, error) {
		d, err := parseLatency(v)
		return latencyIs(op, d), err
	},
}

// numbered compares a number that is 0 where there is none.
func numbered(name string, of func(c *candidate) int) func(op, v string) (node, error) {
	return func(op, v string) (node, error) {
		n, err := parseNumber(name, v)
		return where(func(c *candidate) bool { return of(c) > 0 && compare(op, int64(of(c)), n) }), err
	}
}

func parseNumber(name, v string) (int64, error) {
	n, err := strconv.ParseInt(v, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%s is compared with a whole number, not with %q", name, v)
	}
	return n, nil
}

var sizeUnits = []struct {
	name   string
	factor float64
}{
	{"kib", 1 << 10}, {"mib", 1 << 20}, {"gib", 1 << 30}, {"ki", 1 << 10}, {"mi", 1 << 20}, {"gi", 1 << 30},
	{"kb", 1e3}, {"mb", 1e6}, {"gb", 1e9}, {"k", 1e3}, {"m", 1e6}, {"g", 1e9}, {"b", 1}, {"", 1},
}

func parseSize(v string) (int64, error) {
	for _, unit := range sizeUnits {
		if digits, ok := strings.CutSuffix(strings.ToLower(v), unit.name); ok {
			if n, ok := decimal(digits); ok && n*unit.factor < 1<<62 {
				return int64(n * unit.factor), nil
			}
			break
		}
	}
	return 0, fmt.Errorf("%q is no size; sizes look like 500, 10k or 1.5M", v)
}

// decimal parses digits with at most one point.
func decimal(s string) (float64, bool) {
	if s == "" || strings.Trim(s, "0123456789.") != "" {
		return 0, false
	}
	n, err := strconv.ParseFloat(s, 64)
	return n, err == nil
}

func parseLatency(v string) (time.Duration, error) {
	if n, ok := decimal(v); ok && n < 1e12 {
		return time.Duration(n * float64(time.Millisecond)), nil
	}
	if d, err := time.ParseDuration(v); err == nil && d >= 0 {
		return d, nil
	}
	return 0, fmt.Errorf("%q is no time span; they look like 500 (milliseconds), 2s or 1m30s", v)
}

// moment is a point in time that may depend on the log.
type moment struct {
	layout string
	text   string
	since  time.Duration // layout "": since the first frame
}

var momentLayouts = []string{
	"15:04", "15:04:05", // with or without a fraction
	time.RFC3339, "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02T15:04", "2006-01-02 15:04", "2006-01-02",
}

func parseMoment(v string) (moment, error) {
	if since, ok := strings.CutPrefix(v, "+"); ok {
		if d, err := time.ParseDuration(since); err == nil && d >= 0 {
			return moment{since: d}, nil
		}
	}
	for _, layout := range momentLayouts {
		if _, err := time.Parse(layout, v); err == nil {
			return moment{layout: layout, text: v}, nil
		}
	}
	return moment{}, fmt.Errorf("%q is no time; times look like 10:02:03, 2026-07-28T10:02:03 or +5s (since the first frame)", v)
}

// in says when that is in a log that began at start.
func (m moment) in(start time.Time) time.Time {
	if m.layout == "" {
		return start.Add(m.since)
	}
	t, err := time.ParseInLocation(m.layout, m.text, start.Location())
	if err != nil {
		return start
	}
	if t.Year() == 0 {
		t = time.Date(start.Year(), start.Month(), start.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), start.Location())
	}
	return t
}
