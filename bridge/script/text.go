package script

import (
	"fmt"
	"regexp"
	"strings"
)

// Text is a pattern for strings. /…/ is a regular expression (RE2) that matches
// anywhere in the string; any other pattern matches the whole string, with * for any
// text and a backslash to escape the next character.
type Text struct {
	source string
	re     *regexp.Regexp
}

// ParseText parses a pattern.
func ParseText(source string) (*Text, error) {
	var expression string
	if len(source) > 1 && source[0] == '/' && source[len(source)-1] == '/' {
		expression = source[1 : len(source)-1]
	} else {
		expression = glob(source)
	}
	re, err := regexp.Compile(expression)
	if err != nil {
		return nil, fmt.Errorf("%q is no regular expression: %w", source, err)
	}
	return &Text{source, re}, nil
}

func glob(source string) string {
	var b strings.Builder
	b.WriteString(`(?s)\A`)
	escaped := false
	for _, c := range source {
		switch {
		case escaped || c != '*' && c != '\\':
			b.WriteString(regexp.QuoteMeta(string(c)))
			escaped = false
		case c == '*':
			b.WriteString(".*")
		default:
			escaped = true
		}
	}
	b.WriteString(`\z`)
	return b.String()
}

// Matches reports whether the pattern matches a text. A nil pattern matches any text.
func (t *Text) Matches(text string) bool { return t == nil || t.re.MatchString(text) }

func (t *Text) String() string { return t.source }

// Literal returns the pattern that matches exactly this text.
func Literal(text string) string {
	text = strings.NewReplacer(`\`, `\\`, `*`, `\*`).Replace(text)
	if strings.HasPrefix(text, "/") {
		text = `\` + text
	}
	return text
}
