package elicit

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/dlclark/regexp2/v2"
)

// Bounds on a pattern, and on one match of it. regexp2 watches the time to about
// 20 ms, and bounds the memory of a match by itself.
const (
	maxPattern = 64 << 10 // bytes
	matchTime  = 100 * time.Millisecond
)

func init() {
	// The clock that match times are measured with ticks every 100 ms unless
	// told otherwise, which would double matchTime. It runs only while patterns
	// are matched.
	regexp2.SetTimeoutCheckPeriod(20 * time.Millisecond)
}

// errTooLong says that a pattern is more than is looked at, which is no fault of it.
var errTooLong = fmt.Errorf("it is longer than %d bytes", maxPattern)

// CheckPattern says why a pattern is no ECMA-262 regular expression, nil if it is
// one or too long to tell.
func CheckPattern(pattern string) error {
	if _, err := compilePattern(pattern); err != errTooLong {
		return err
	}
	return nil
}

// compilePattern prepares a pattern for matching within matchTime: with the u
// flag, as JSON Schema 2020-12 (core, section 6.4) asks for, or without, since
// patterns such as [\w-.] only mean something without it, and are common. A
// property of Unicode only means something with it.
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

// foreignGroup is how a group begins that ECMA-262 does not have and regexp2
// takes all the same, such as (?i) and (?>; "" where there is none.
func foreignGroup(pattern string) string {
	pattern = literals.ReplaceAllString(pattern, "x")
	for _, at := range groupStart.FindAllStringIndex(pattern, -1) {
		if !ecmaGroup.MatchString(pattern[at[0]:]) {
			return pattern[at[0]:at[1]]
		}
	}
	return ""
}
