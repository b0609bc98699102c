package elicit

import (
	"math"
	"math/big"
	"strings"

	"elicitation-inspector/bridge/rawjson"
)

// maxExponent bounds the size of numbers that are computed with. Beyond it the
// exact value would take more memory than a number is worth: 1e1000000000 has a
// billion digits.
const maxExponent = 2000

// isNumber tells whether text is a number as JSON writes it (RFC 8259, section 6).
func isNumber(text string) bool {
	raw := []byte(text)
	return rawjson.KindOf(raw) == rawjson.Number && len(rawjson.Trim(raw)) == len(raw) && rawjson.Valid(raw)
}

// exact returns the value of a JSON number without rounding; nil if it has more
// digits than are computed with.
func exact(number string) *big.Rat {
	if !isNumber(number) || !computable(number) {
		return nil
	}
	r, ok := new(big.Rat).SetString(number)
	if !ok {
		return nil
	}
	return r
}

// computable tells whether a JSON number is within maxExponent, both by its
// exponent and by the digits written out.
func computable(number string) bool {
	mantissa, exponent := number, ""
	if i := strings.IndexAny(number, "eE"); i >= 0 {
		mantissa, exponent = number[:i], strings.TrimLeft(number[i+1:], "+-")
	}
	exponent = strings.TrimLeft(exponent, "0")
	if len(mantissa) > maxExponent || len(exponent) > 9 {
		return false
	}
	n := 0
	for _, c := range exponent {
		n = n*10 + int(c-'0')
	}
	return n <= maxExponent
}

// count reads a JSON number that counts something, such as minLength: 3, 3.0
// and 3e0 are the same. It is nil if the number is negative or has a fraction,
// and no more than math.MaxInt32, which nothing here can reach.
func count(number string) *int {
	if !isNumber(number) {
		return nil
	}
	n := math.MaxInt32
	if r := exact(number); r != nil {
		if r.Sign() < 0 || !r.IsInt() {
			return nil
		}
		if r.Num().IsInt64() {
			n = int(min(r.Num().Int64(), math.MaxInt32))
		}
	} else if number[0] == '-' || strings.Contains(number, "e-") || strings.Contains(number, "E-") {
		return nil
	}
	return &n
}
