package elicit

import (
	"math"
	"math/big"
	"regexp"
	"strconv"

	"elicitation-inspector/bridge/rawjson"
)

// isNumber tells whether text is a JSON number (RFC 8259, section 6), without white
// space around it.
func isNumber(text string) bool {
	raw := []byte(text)
	return rawjson.KindOf(raw) == rawjson.Number && len(rawjson.Trim(raw)) == len(raw) && rawjson.Valid(raw)
}

// maxDigits is the length in bytes of the longest number that is computed with.
const maxDigits = 2000

// hugeExponent matches numbers with an exponent of four or more digits. Their exact
// value would take too much memory: 1e1000000000 has a billion digits.
var hugeExponent = regexp.MustCompile(`[eE][+-]?0*[1-9][0-9]{3,}$`)

// computable tells whether a JSON number is small enough for exact arithmetic.
func computable(number string) bool {
	return len(number) <= maxDigits && !hugeExponent.MatchString(number)
}

// exact returns the value of a JSON number without rounding; nil if it is no number or
// not computable.
func exact(number string) *big.Rat {
	if !isNumber(number) || !computable(number) {
		return nil
	}
	r, _ := new(big.Rat).SetString(number)
	return r
}

// count reads a non-negative whole JSON number, such as minLength: 3, 3.0 and 3e0 are
// the same. It returns nil if the number is negative or has a fraction, and at most
// math.MaxInt32, a length that no answer reaches.
func count(number string) *int {
	f, _ := strconv.ParseFloat(number, 64) // infinite where it is out of range
	if !isNumber(number) || f < 0 || f != math.Trunc(f) {
		return nil
	}
	n := int(min(f, math.MaxInt32))
	return &n
}
