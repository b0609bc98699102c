package elicit

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/dlclark/regexp2/v2"
)

// Bounds on a pattern, and on one match with it. regexp2 checks the time about every 20
// ms, and bounds the memory of a match itself.
const (
	maxPattern = 64 << 10 // bytes
	matchTime  = 100 * time.Millisecond
)

func init() {
	// The default period of 100 ms would let a match run for twice matchTime. The clock
	// runs only while patterns are matched.
	regexp2.SetTimeoutCheckPeriod(20 * time.Millisecond)
}

// errTooLong is the error for a pattern that is too long to compile here, which does not
// make it invalid.
var errTooLong = fmt.Errorf("it is longer than %d bytes", maxPattern)

// CheckPattern returns why a pattern is no valid ECMA-262 regular expression; nil if it
// is valid, or too long to check.
func CheckPattern(pattern string) error {
	if _, err := compilePattern(pattern); err != errTooLong {
		return err
	}
	return nil
}

// compilePattern compiles a pattern with matchTime as its time limit. It tries the u
// flag first, as JSON Schema 2020-12 (core, section 6.4) asks for. It then tries
// without, because common patterns such as [\w-.] are only valid that way, unless the
// pattern has \p or \P, which need the flag.
func compilePattern(pattern string) (*regexp2.Regexp, error) {
	if len(pattern) > maxPattern {
		return nil, errTooLong
	}
	re, err := regexp2.Compile(pattern, regexp2.ECMAScript|regexp2.Unicode)
	if err != nil && !strings.Contains(pattern, `\p{`) && !strings.Contains(pattern, `\P{`) {
		re, err = regexp2.Compile(pattern, regexp2.ECMAScript)
	}
	if err != nil {
		text := strings.TrimPrefix(err.Error(), "error parsing regexp: ")
		return nil, errors.New(strings.TrimSuffix(text, " in `"+pattern+"`"))
	}
	if group := foreignGroup(pattern); group != "" {
		return nil, fmt.Errorf("%s begins a group of another language", group)
	}
	re.MatchTimeout = matchTime
	return re, nil
}

var (
	literals   = regexp.MustCompile(`(?s)\\.|\[(?:\\.|[^\]\\])*\]`)
	groupStart = regexp.MustCompile(`\(\?[^)]?`)
	ecmaGroup  = regexp.MustCompile(`^\(\?(?:[:=!<]|[ims]*-?[ims]*:)`)
)

// foreignGroup returns the beginning of the first group that regexp2 accepts and
// ECMA-262 does not have, such as (?i) and (?>; "" if the pattern has none.
func foreignGroup(pattern string) string {
	pattern = literals.ReplaceAllString(pattern, "x")
	for _, at := range groupStart.FindAllStringIndex(pattern, -1) {
		if !ecmaGroup.MatchString(pattern[at[0]:]) {
			return pattern[at[0]:at[1]]
		}
	}
	return ""
}
