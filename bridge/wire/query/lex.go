package query

import (
	"regexp"
	"strings"
	"unicode"
)

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

// token is a part of a filter line, from byte pos to byte end.
type token struct {
	kind     tokenKind
	pos, end int
	text     string  // the word, the quoted text without quotes, or the expression
	flags    string  // flags of a regular expression
	name, op string  // name and operator of a term
	values   []value // values of a term, at least one
}

// value is one of the values of a term.
type value struct {
	text     string
	pos, end int
}

const operator = `:>=|:<=|:>|:<|:=|>=|<=|==|!=|:|=|>|<`

var (
	// Before a digit, "-" is the sign of a number, as in error codes.
	negation   = regexp.MustCompile(`^(?:!|-[\pL("/!])`)
	termHead   = regexp.MustCompile(`^([A-Za-z]+)(\s*)(` + operator + `)(\s*)`)
	lone       = regexp.MustCompile(`^(?:` + operator + `)$`)
	quotedText = regexp.MustCompile(`(?s)^"((?:[^"\\]|\\.)*)"`)
	slashed    = regexp.MustCompile(`(?s)^/((?:[^/\\]|\\.)*)/`)
	wordText   = regexp.MustCompile(`^[^\s\pZ()]*`)
	valueText  = regexp.MustCompile(`^[^\s\pZ(),"]*`)

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

// next reads one token.
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
	case negation.MatchString(rest):
		t.kind = tokenNot
		x.at++
	case rest[0] == '"':
		t.kind, t.end = tokenQuoted, len(x.line) // in case it is not terminated
		t.text = x.quoted()
	case rest[0] == '/':
		t.kind, t.end = tokenRegexp, len(x.line)
		m := slashed.FindStringSubmatch(rest)
		if m == nil {
			fail(t.pos, t.end, "the regular expression does not end with \"/\"; put text that begins with one in quotes")
		}
		x.at += len(m[0])
		t.text, t.flags = unslashed.Replace(m[1]), x.until(wordText)
	case x.term(t):
	default:
		t.text = x.until(wordText)
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
	head := termHead.FindStringSubmatch(x.rest())
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
			v.text = x.until(valueText)
		}
		v.end = x.at
		t.values[len(t.values)-1] = v
		if !strings.HasPrefix(x.rest(), ",") {
			return true
		}
		x.at = len(x.line) - len(strings.TrimLeft(x.rest()[1:], " "))
	}
}

// until reads the text that matches, up to "&&" or "||".
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
	m := quotedText.FindStringSubmatch(x.rest())
	if m == nil {
		fail(x.at, len(x.line), "the quoted text does not end")
	}
	x.at += len(m[0])
	return unquoted.Replace(m[1])
}
