package elicit

import (
	"fmt"
	"strings"
	"time"

	"github.com/dlclark/regexp2/v2"
)

// matchTime is how long one match of a pattern may take, to about 20 ms.
const matchTime = 100 * time.Millisecond

func init() {
	// The clock that match times are measured with ticks every 100 ms unless
	// told otherwise, which would double matchTime. It runs only while patterns
	// are matched.
	regexp2.SetTimeoutCheckPeriod(20 * time.Millisecond)
}

// compilePattern prepares a pattern for matching within matchTime, or says why
// it is no ECMA-262 regular expression, unless it is only [tooLarge]. With the u flag, as JSON Schema 2020-12
// (core, section 6.4) asks for, or without: patterns such as [\w-.] only mean
// something without it, and are common.
func compilePattern(pattern string) (*regexp2.Regexp, error) {
	options := regexp2.ECMAScript | regexp2.Unicode
	if _, err := parsePattern(pattern, true); err != nil {
		options = regexp2.ECMAScript
		if _, err := parsePattern(pattern, false); err != nil {
			return nil, err
		}
	}
	re, err := regexp2.Compile(pattern, options)
	if err != nil {
		text := strings.TrimPrefix(err.Error(), "error parsing regexp: ")
		return nil, fmt.Errorf("%s", strings.TrimSuffix(text, " in `"+pattern+"`"))
	}
	re.MatchTimeout = matchTime
	return re, nil
}
