package script

import (
	"elicitation-inspector/bridge/base/lazy"
	"elicitation-inspector/bridge/base/wording"
	"fmt"
	"regexp"
	"strings"
)

// Text is a pattern for strings. /…/ is a regular expression (RE2) that matches
// anywhere in the string, and /…/i one that ignores case; any other pattern matches the
// whole string, with * for any text and a backslash to escape the next character.
type Text struct {
	source string
	re     *regexp.Regexp // nil for other patterns
	pieces []string       // the texts between the stars of a pattern that is not a regular expression
}

// ParseText parses a pattern.
func ParseText(source string) (*Text, error) {
	if found := slashed().FindStringSubmatch(source); found != nil {
		expression := found[1]
		if found[2] != "" {
			expression = "(?i)" + expression
		}
		re, err := regexp.Compile(expression)
		if err != nil {
			return nil, fmt.Errorf("%q is not a regular expression: %w", source, err)
		}
		return &Text{source: source, re: re}, nil
	}
	return &Text{source: source, pieces: piecesOf(source)}, nil
}

var slashed = lazy.Regexp(`(?s)^/(.*)/(i?)$`)

func piecesOf(source string) []string {
	var pieces []string
	var b strings.Builder
	escaped := false
	for _, c := range source {
		switch {
		case escaped || c != '*' && c != '\\':
			b.WriteRune(c)
			escaped = false
		case c == '*':
			pieces = append(pieces, b.String())
			b.Reset()
		default:
			escaped = true
		}
	}
	return append(pieces, b.String())
}

// Matches reports whether the pattern matches a text. A nil pattern matches any text. A
// regular expression is tried on the first [wording.TextMost] bytes: a large one takes
// long for each byte.
func (t *Text) Matches(text string) bool {
	switch {
	case t == nil:
		return true
	case t.re != nil:
		return t.re.MatchString(wording.Head(text, wording.TextMost))
	}
	last := len(t.pieces) - 1
	rest, begins := strings.CutPrefix(text, t.pieces[0])
	if last == 0 {
		return begins && rest == ""
	}
	rest, ends := strings.CutSuffix(rest, t.pieces[last])
	for _, piece := range t.pieces[1:last] {
		_, after, found := strings.Cut(rest, piece)
		if !found {
			return false
		}
		rest = after
	}
	return begins && ends
}

func (t *Text) String() string { return t.source }

// Literal returns the pattern that matches exactly this text.
func Literal(text string) string {
	text = strings.NewReplacer(`\`, `\\`, `*`, `\*`).Replace(text)
	if strings.HasPrefix(text, "/") {
		text = `\` + text
	}
	return text
}
