// Package lazy puts off what only some runs of a program need, and each would wait for.
package lazy

import (
	"regexp"
	"sync"
)

// Regexp returns a regular expression that is compiled, or panics, when it is first asked for.
func Regexp(source string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(source) })
}
