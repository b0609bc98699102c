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

const operator = `:>=|:<=|:>|:<|:=|>=|<=|==|!=|:|=|>|<`

var (
	// In front of a digit, "-" belongs to a number, as in the codes of errors.
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

// junctions are the words and signs for "and", "or" and "not". A single sign
// must stand alone.
var junctions = map[string]tokenKind{
	"and": tokenAnd, "&&": tokenAnd, "&": tokenAnd, "or": tokenOr, "||": tokenOr, "|": tokenOr, "not": tokenNot,
}

// lexer takes a filter line apart. It panics with an *Error.
type lexer struct {
	line   string
	at     int
	tokens []token
}

// lex takes a line apart. Of a line with a mistake it has the tokens up to there,
// and of a term the values up to there.
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

// next reads a token.
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
		t.kind, t.end = tokenQuoted, len(x.line) // in case that it does not end
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
			x.at += 2 // && or ||
		}
		t.kind = tokenWord
		if kind, ok := junctions[strings.ToLower(t.text)]; ok {
			t.kind = kind
		}
	}
	t.end = x.at
}

// term reads the name, the operator and the values of a term, if one is there.
func (x *lexer) term(t *token) bool {
	head := termHead.FindStringSubmatch(x.rest())
	if head == nil || termNamed(head[1]) == nil && head[2] != "" && head[4] == "" {
		return false // a word, and another one such as <html>
	}
	t.kind, t.name, t.op = tokenTerm, head[1], head[3]
	x.at += len(head[0])
	for {
		v := value{pos: x.at, end: len(x.line)}
		t.end, t.values = v.end, append(t.values, v) // in case that it does not end
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

// until reads what fits, but for "&&" and "||".
func (x *lexer) until(text *regexp.Regexp) string {
	found := text.FindString(x.rest())
	for _, sign := range []string{"&&", "||"} {
		found, _, _ = strings.Cut(found, sign)
	}
	x.at += len(found)
	return found
}

// quoted reads a quoted text, in which \" and \\ stand for " and \.
func (x *lexer) quoted() string {
	m := quotedText.FindStringSubmatch(x.rest())
	if m == nil {
		fail(x.at, len(x.line), "the quoted text does not end")
	}
	x.at += len(m[0])
	return unquoted.Replace(m[1])
}
