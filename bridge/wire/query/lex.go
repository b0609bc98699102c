package query

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

type tokenKind uint8

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

// token is a part of a filter line, from byte pos to end.
type token struct {
	kind     tokenKind
	pos, end int
	text     string  // of a word, without the quotes of a quoted text, or the expression
	flags    string  // behind a regular expression
	name, op string  // of a term
	values   []value // of a term, at least one
}

// value is one of the values of a term.
type value struct {
	text     string
	pos, end int
}

// lexer takes a filter line apart. It panics with an *Error.
type lexer struct {
	in     string
	at     int
	tokens []token
}

// lex takes a line apart. Of a line with a mistake it has the tokens up to there,
// and of a term the values up to there.
func lex(line string) (x lexer, err *Error) {
	x.in = line
	defer caught(&err)
	for x.skipSpace(); x.at < len(line); x.skipSpace() {
		x.next()
	}
	return x, nil
}

func (x *lexer) skipSpace() {
	x.at = len(x.in) - len(strings.TrimLeftFunc(x.in[x.at:], unicode.IsSpace))
}

// add adds a token that ends n bytes further on.
func (x *lexer) add(kind tokenKind, n int) {
	x.tokens = append(x.tokens, token{kind: kind, pos: x.at, end: x.at + n})
	x.at += n
}

func (x *lexer) next() {
	rest := x.in[x.at:]
	switch c := rest[0]; {
	case c == '(':
		x.add(tokenOpen, 1)
	case c == ')':
		x.add(tokenClose, 1)
	case c == '!', c == '-' && negates(rest[1:]):
		x.add(tokenNot, 1)
	case strings.HasPrefix(rest, "&&"), strings.HasPrefix(rest, "||"):
		x.add(junctions[rest[:1]], 2)
	case c == '"':
		x.quotedText()
	case c == '/':
		x.expression()
	default:
		if name, op, n := termStart(rest); op != "" {
			x.term(name, op, n)
		} else {
			x.word()
		}
	}
}

// negates reports whether a "-" in front of this means the opposite. In front of
// a digit it belongs to a number, as in the codes of errors.
func negates(rest string) bool {
	r, _ := utf8.DecodeRuneInString(rest)
	return unicode.IsLetter(r) || r == '(' || r == '"' || r == '/' || r == '!'
}

// operators are what can stand between the name of a term and its values. Those
// that begin with another one come before it.
var operators = []string{":>=", ":<=", ":>", ":<", ":=", ">=", "<=", "==", "!=", ":", "=", ">", "<"}

// termHead is the name and the operator of a term.
var termHead = regexp.MustCompile(`^([A-Za-z]+)(\s*)(` + strings.Join(operators, "|") + `)(\s*)`)

// meanings are what operators mean that can be written in several ways.
var meanings = map[string]string{":=": ":", "==": ":", "=": ":", ":>": ">", ":>=": ">=", ":<": "<", ":<=": "<="}

// termStart splits name and operator off the beginning of s; the values begin at
// n. op is "" if s does not begin with a term. White space may stand around the
// operator of a term that there is.
func termStart(s string) (name, op string, n int) {
	m := termHead.FindStringSubmatch(s)
	switch {
	case m == nil, m[2] != "" && termNamed(m[1]) == nil:
		return "", "", 0
	case termNamed(m[1]) == nil:
		return m[1], m[3], len(m[1]) + len(m[3])
	}
	return m[1], m[3], len(m[0])
}

// term reads the values of a term, which begin n bytes further on.
func (x *lexer) term(name, op string, n int) {
	x.tokens = append(x.tokens, token{kind: tokenTerm, pos: x.at, name: name, op: op})
	t := &x.tokens[len(x.tokens)-1]
	x.at += n
	for {
		v := value{pos: x.at, end: len(x.in)}
		t.values, t.end = append(t.values, v), v.end // in case that it is not right
		if strings.HasPrefix(x.in[x.at:], `"`) {
			v.text = x.quoted()
		} else {
			v.text = x.until(`,"`)
		}
		v.end = x.at
		t.values[len(t.values)-1], t.end = v, v.end
		if !strings.HasPrefix(x.in[x.at:], ",") {
			return
		}
		x.at = len(x.in) - len(strings.TrimLeft(x.in[x.at+1:], " "))
	}
}

// until reads up to white space, a parenthesis, a sign for "and" or "or", or one
// of the other characters.
func (x *lexer) until(others string) string {
	rest := x.in[x.at:]
	for i, r := range rest {
		if unicode.IsSpace(r) || strings.ContainsRune("()"+others, r) ||
			strings.HasPrefix(rest[i:], "&&") || strings.HasPrefix(rest[i:], "||") {
			rest = rest[:i]
			break
		}
	}
	x.at += len(rest)
	return rest
}

// junctions are the words and signs for "and", "or" and "not". A single sign
// must stand alone.
var junctions = map[string]tokenKind{"and": tokenAnd, "&": tokenAnd, "or": tokenOr, "|": tokenOr, "not": tokenNot}

func (x *lexer) word() {
	t := token{kind: tokenWord, pos: x.at}
	t.text = x.until("")
	t.end = x.at
	if kind, ok := junctions[strings.ToLower(t.text)]; ok {
		t.kind = kind
	}
	x.tokens = append(x.tokens, t)
}

func (x *lexer) quotedText() {
	t := token{kind: tokenQuoted, pos: x.at}
	t.text = x.quoted()
	t.end = x.at
	x.tokens = append(x.tokens, t)
}

// quoted reads a quoted text, in which \" and \\ stand for " and \.
func (x *lexer) quoted() string {
	rest := x.in[x.at:]
	for i := 1; i < len(rest); i++ {
		switch rest[i] {
		case '\\':
			i++
		case '"':
			x.at += i + 1
			return unquoted.Replace(rest[1:i])
		}
	}
	fail(x.at, len(x.in), "the quoted text does not end")
	return ""
}

var (
	unquoted = strings.NewReplacer(`\\`, `\`, `\"`, `"`)
	unslash  = strings.NewReplacer(`\\`, `\\`, `\/`, `/`)
)

// expression reads a regular expression between slashes, in which \/ stands for /.
func (x *lexer) expression() {
	t := token{kind: tokenRegexp, pos: x.at}
	rest := x.in[x.at:]
	end := 1
	for end < len(rest) && rest[end] != '/' {
		if rest[end] == '\\' {
			end++
		}
		end++
	}
	if end >= len(rest) {
		fail(t.pos, len(x.in), "the regular expression does not end with \"/\"; put text that begins with one in quotes")
	}
	x.at += end + 1
	t.text = unslash.Replace(rest[1:end])
	t.flags = x.until("")
	t.end = x.at
	x.tokens = append(x.tokens, t)
}
