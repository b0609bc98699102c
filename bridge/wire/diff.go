package wire

import (
	"bytes"
	"errors"
	"hash/maphash"
	"strconv"
	"strings"

	"elicitation-inspector/bridge/rawjson"
)

// DiffOp says how a value differs.
type DiffOp uint8

// The ways in which values differ.
const (
	Added     DiffOp = iota + 1 // it is in the second text only
	Removed                     // it is in the first text only
	Changed                     // it is another value
	Rewritten                   // it is the same value, written otherwise: 1.50 and 1.5, "é" and "\u00e9"
)

func (op DiffOp) String() string {
	return nameOf([]string{"", "added", "removed", "changed", "rewritten"}, op)
}

// Difference is one place where two JSON texts differ.
type Difference struct {
	// Pointer leads to the value (RFC 6901): in the first text where Op is
	// Removed, else in the second.
	Pointer string
	Op      DiffOp
	// Before and After are the value's bytes in the first text and in the
	// second, nil where it is not there. They are parts of the texts.
	Before, After []byte
}

// Diff compares two JSON texts by what they say: white space and the order of
// members do not count. It gives the differences in the order of the second
// text, the first most of them, and counts them all. Elements of arrays are
// held against each other so that what was put in or taken out in the middle
// does not make all that follows different.
//
// The error says which of them is no JSON.
func Diff(a, b []byte, most int) (list []Difference, total int, err error) {
	a, b = rawjson.Trim(a), rawjson.Trim(b)
	switch {
	case !rawjson.Valid(a):
		return nil, 0, errors.New("the first text is not JSON")
	case !rawjson.Valid(b):
		return nil, 0, errors.New("the second text is not JSON")
	}
	d := differ{most: most, seed: maphash.MakeSeed(), left: 64*(len(a)+len(b)) + 1<<20}
	d.compare("", a, b)
	return d.list, d.total, nil
}

type differ struct {
	most  int
	seed  maphash.Seed
	left  int // bytes that may still be walked over; then objects and arrays are compared as they are written
	list  []Difference
	total int
}

func (d *differ) add(pointer string, op DiffOp, before, after []byte) {
	d.total++
	if len(d.list) < d.most {
		d.list = append(d.list, Difference{pointer, op, before, after})
	}
}

// compare takes two values without white space around them.
func (d *differ) compare(pointer string, a, b []byte) {
	d.left -= len(a) + len(b)
	switch {
	case bytes.Equal(a, b):
	case d.left < 0:
		d.add(pointer, Changed, a, b)
	case a[0] == '{' && b[0] == '{':
		d.objects(pointer, a, b)
	case a[0] == '[' && b[0] == '[':
		d.arrays(pointer, a, b)
	case sameScalar(a, b):
		d.add(pointer, Rewritten, a, b)
	default:
		d.add(pointer, Changed, a, b)
	}
}

// nth is a member's name, and which of those that share it.
type nth struct {
	name string
	n    int
}

func (d *differ) objects(pointer string, a, b []byte) {
	before := make(map[nth][]byte)
	var order []nth
	seen := make(map[string]int)
	for name, value := range rawjson.Members(a) {
		key := nth{name, 0}
		key.n = seen[key.name]
		seen[key.name]++
		before[key] = value
		order = append(order, key)
	}
	clear(seen)
	for name, value := range rawjson.Members(b) {
		key := nth{name, 0}
		key.n = seen[key.name]
		seen[key.name]++
		at := rawjson.PointerTo(pointer, key.name)
		if old, ok := before[key]; ok {
			delete(before, key)
			d.compare(at, old, value)
		} else {
			d.add(at, Added, nil, value)
		}
	}
	for _, key := range order {
		if old, ok := before[key]; ok {
			d.add(rawjson.PointerTo(pointer, key.name), Removed, old, nil)
		}
	}
}

// alignMost bounds the work of finding out which elements correspond: the
// product of the numbers of elements that remain on both sides.
const alignMost = 250_000

func (d *differ) arrays(pointer string, a, b []byte) {
	before, after := elements(a), elements(b)
	at := func(i int) string { return pointer + "/" + strconv.Itoa(i) }
	// run compares elements that lie between two pairs of equal ones.
	run := func(i, iEnd, j, jEnd int) {
		for ; i < iEnd && j < jEnd; i, j = i+1, j+1 {
			d.compare(at(j), before[i], after[j])
		}
		for ; j < jEnd; j++ {
			d.add(at(j), Added, nil, after[j])
		}
		for ; i < iEnd; i++ {
			d.add(at(i), Removed, before[i], nil)
		}
	}
	x, y := d.hashes(before), d.hashes(after)
	start := 0
	for start < len(x) && start < len(y) && x[start] == y[start] {
		start++
	}
	end := 0
	for end < len(x)-start && end < len(y)-start && x[len(x)-1-end] == y[len(y)-1-end] {
		end++
	}
	iEnd, jEnd := len(x)-end, len(y)-end
	for k := range start {
		d.compare(at(k), before[k], after[k]) // the same value, maybe written otherwise
	}
	i, j := start, start
	if (iEnd-i)*(jEnd-j) <= alignMost {
		for _, pair := range common(x[i:iEnd], y[j:jEnd]) {
			run(i, start+pair[0], j, start+pair[1])
			i, j = start+pair[0], start+pair[1]
			d.compare(at(j), before[i], after[j])
			i, j = i+1, j+1
		}
	}
	run(i, iEnd, j, jEnd)
	for k := range end {
		d.compare(at(jEnd+k), before[iEnd+k], after[jEnd+k])
	}
}

func elements(raw []byte) (list [][]byte) {
	for _, value := range rawjson.Elements(raw) {
		list = append(list, value)
	}
	return list
}

// common is the longest sequence of pairs of equal numbers, in order (the
// longest common subsequence, by dynamic programming).
func common(x, y []uint64) (pairs [][2]int) {
	width := len(y) + 1
	best := make([]int32, (len(x)+1)*width)
	for i := len(x) - 1; i >= 0; i-- {
		for j := len(y) - 1; j >= 0; j-- {
			if x[i] == y[j] {
				best[i*width+j] = best[(i+1)*width+j+1] + 1
			} else {
				best[i*width+j] = max(best[(i+1)*width+j], best[i*width+j+1])
			}
		}
	}
	for i, j := 0, 0; i < len(x) && j < len(y); {
		switch {
		case x[i] == y[j]:
			pairs = append(pairs, [2]int{i, j})
			i, j = i+1, j+1
		case best[(i+1)*width+j] >= best[i*width+j+1]:
			i++
		default:
			j++
		}
	}
	return pairs
}

func (d *differ) hashes(list [][]byte) []uint64 {
	out := make([]uint64, len(list))
	for i, value := range list {
		out[i] = d.hash(value)
	}
	return out
}

// hash is the same for values that say the same.
func (d *differ) hash(value []byte) uint64 {
	var h maphash.Hash
	h.SetSeed(d.seed)
	h.WriteByte(value[0])
	if d.left -= len(value); d.left < 0 {
		h.Write(value)
		return h.Sum64()
	}
	switch value[0] {
	case '{':
		// The sum does not depend on the order of members.
		var sum uint64
		for name, v := range rawjson.Members(value) {
			var m maphash.Hash
			m.SetSeed(d.seed)
			m.WriteString(name)
			maphash.WriteComparable(&m, d.hash(v))
			sum += m.Sum64()
		}
		maphash.WriteComparable(&h, sum)
	case '[':
		for _, v := range rawjson.Elements(value) {
			maphash.WriteComparable(&h, d.hash(v))
		}
	case '"':
		h.WriteString(rawjson.Text(value))
	case 't', 'f', 'n':
		h.Write(value)
	default:
		h.Reset()
		n := parseDecimal(value)
		h.WriteString(n.digits)
		maphash.WriteComparable(&h, n.exponent)
		maphash.WriteComparable(&h, n.negative)
	}
	return h.Sum64()
}

// sameScalar reports whether two scalars are the same value.
func sameScalar(a, b []byte) bool {
	number := func(c byte) bool { return c == '-' || c >= '0' && c <= '9' }
	switch {
	case a[0] == '"' && b[0] == '"':
		return rawjson.Text(a) == rawjson.Text(b)
	case number(a[0]) && number(b[0]):
		return parseDecimal(a) == parseDecimal(b)
	}
	return false
}

// decimalNumber is a number taken apart, without rounding: 0.digits × 10^exponent,
// where digits neither begin nor end with 0.
type decimalNumber struct {
	negative bool
	digits   string
	exponent int64
}

// exponentMost bounds exponents: beyond it numbers are told apart by their text.
const exponentMost = 1 << 40

func parseDecimal(in []byte) decimalNumber {
	var n decimalNumber
	text := string(in)
	text, n.negative = strings.CutPrefix(text, "-")
	mantissa, exponent, _ := strings.Cut(strings.ToLower(text), "e")
	if exponent != "" {
		e, err := strconv.ParseInt(exponent, 10, 64)
		if err != nil || e > exponentMost || e < -exponentMost {
			return decimalNumber{n.negative, string(in), 0}
		}
		n.exponent = e
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	n.exponent += int64(len(whole))
	digits := whole + fraction
	n.digits = strings.TrimLeft(digits, "0")
	n.exponent -= int64(len(digits) - len(n.digits))
	n.digits = strings.TrimRight(n.digits, "0")
	if n.digits == "" {
		return decimalNumber{} // 0 has no sign and no size
	}
	return n
}
