package elicit

import (
	"math"
	"math/big"
	"regexp"
	"strconv"

	"elicitation-inspector/bridge/rawjson"
)

// isNumber tells whether text is a number as JSON writes it (RFC 8259, section 6).
func isNumber(text string) bool {
	raw := []byte(text)
	return rawjson.KindOf(raw) == rawjson.Number && len(rawjson.Trim(raw)) == len(raw) && rawjson.Valid(raw)
}

// maxDigits is how long a number may be that is computed with.
const maxDigits = 2000

// hugeExponent is that of numbers whose exact value would take more memory than a
// number is worth: 1e1000000000 has a billion digits.
var hugeExponent = regexp.MustCompile(`[eE][+-]?0*[1-9][0-9]{3,}$`)

// computable tells whether a JSON number can be computed with exactly.
func computable(number string) bool {
	return len(number) <= maxDigits && !hugeExponent.MatchString(number)
}

// exact returns the value of a JSON number without rounding; nil if it cannot be
// computed with.
func exact(number string) *big.Rat {
	if !isNumber(number) || !computable(number) {
		return nil
	}
	r, _ := new(big.Rat).SetString(number)
	return r
}

// count reads a JSON number that counts something, such as minLength: 3, 3.0
// and 3e0 are the same. It is nil if the number is negative or has a fraction,
// and no more than math.MaxInt32, which nothing here can reach.
func count(number string) *int {
	f, _ := strconv.ParseFloat(number, 64) // infinite where it is out of range
	if !isNumber(number) || f < 0 || f != math.Trunc(f) {
		return nil
	}
	n := int(min(f, math.MaxInt32))
	return &n
}
