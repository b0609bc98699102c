// Package diff says where two JSON texts differ.
package diff

import (
	"bytes"
	"errors"
	"hash/maphash"
	"strconv"
	"strings"

	"elicitation-inspector/bridge/rawjson"
)

// Op says how a value differs.
type Op string

// The ways in which values differ.
const (
	Added     Op = "added"     // it is in the second text only
	Removed   Op = "removed"   // it is in the first text only
	Changed   Op = "changed"   // it is another value
	Rewritten Op = "rewritten" // it is the same value, written otherwise: 1.50 and 1.5, "é" and "\u00e9"
)

// Difference is one place where two JSON texts differ.
type Difference struct {
	// Pointer leads to the value (RFC 6901): in the first text where Op is
	// Removed, else in the second.
	Pointer string
	Op      Op
	// Before and After are the value's bytes in the first text and in the
	// second, nil where it is not there. They are parts of the texts.
	Before, After []byte
}

// Of compares two JSON texts by what they say: white space and the order of
// members do not count. It gives the differences in the order of the second
// text, the first most of them, and counts them all. Elements of arrays are
// held against each other so that what was put in or taken out in the middle
// does not make all that follows different.
//
// The error says which of them is no JSON.
func Of(a, b []byte, most int) (list []Difference, total int, err error) {
	switch {
	case !rawjson.Valid(a):
		return nil, 0, errors.New("the first text is not JSON")
	case !rawjson.Valid(b):
		return nil, 0, errors.New("the second text is not JSON")
	}
	d := differ{most: most, seed: maphash.MakeSeed(), left: 64*(len(a)+len(b)) + 1<<20}
	d.compare("", rawjson.Trim(a), rawjson.Trim(b))
	return d.list, d.total, nil
}

type differ struct {
	most  int
	seed  maphash.Seed
	left  int // bytes that may still be walked over; then objects and arrays are compared as they are written
	list  []Difference
	total int
}

func (d *differ) add(pointer string, op Op, before, after []byte) {
	d.total++
	if len(d.list) < d.most {
		d.list = append(d.list, Difference{pointer, op, before, after})
	}
}

// compare takes two values without white space around them.
func (d *differ) compare(pointer string, a, b []byte) {
	d.left -= len(a) + len(b)
	kind := rawjson.KindOf(a)
	switch {
	case bytes.Equal(a, b):
	case d.left < 0 || kind != rawjson.KindOf(b):
		d.add(pointer, Changed, a, b)
	case kind == rawjson.Object:
		d.objects(pointer, a, b)
	case kind == rawjson.Array:
		d.arrays(pointer, a, b)
	case says(a) == says(b):
		d.add(pointer, Rewritten, a, b)
	default:
		d.add(pointer, Changed, a, b)
	}
}

// member is a member of an object: n tells those apart that share a name.
type member struct {
	name string
	n    int
}

// members gives the members of an object in order.
func members(raw []byte) (order []member, values map[member][]byte) {
	seen := make(map[string]int)
	values = make(map[member][]byte)
	for name, value := range rawjson.Members(raw) {
		m := member{name, seen[name]}
		seen[name]++
		order, values[m] = append(order, m), value
	}
	return order, values
}

func (d *differ) objects(pointer string, a, b []byte) {
	was, before := members(a)
	is, after := members(b)
	for _, m := range is {
		at := rawjson.PointerTo(pointer, m.name)
		if old, ok := before[m]; ok {
			d.compare(at, old, after[m])
		} else {
			d.add(at, Added, nil, after[m])
		}
	}
	for _, m := range was {
		if _, stayed := after[m]; !stayed {
			d.add(rawjson.PointerTo(pointer, m.name), Removed, before[m], nil)
		}
	}
}

func (d *differ) arrays(pointer string, a, b []byte) {
	before, x := d.elements(a)
	after, y := d.elements(b)
	at := func(i int) string { return pointer + "/" + strconv.Itoa(i) }
	i, j := 0, 0
	// Between two pairs of equal elements, others stand against each other.
	for _, pair := range append(pairs(x, y), [2]int{len(x), len(y)}) {
		for ; i < pair[0] && j < pair[1]; i, j = i+1, j+1 {
			d.compare(at(j), before[i], after[j])
		}
		for ; j < pair[1]; j++ {
			d.add(at(j), Added, nil, after[j])
		}
		for ; i < pair[0]; i++ {
			d.add(at(i), Removed, before[i], nil)
		}
		if i < len(x) && j < len(y) {
			d.compare(at(j), before[i], after[j]) // they say the same, maybe written otherwise
			i, j = i+1, j+1
		}
	}
}

func (d *differ) elements(raw []byte) (values [][]byte, hashes []uint64) {
	for _, value := range rawjson.Elements(raw) {
		values, hashes = append(values, value), append(hashes, d.hash(value))
	}
	return values, hashes
}

// alignMost bounds the work of finding out which elements correspond: the
// product of the numbers of elements that remain on both sides.
const alignMost = 250_000

// pairs lists the places of numbers that correspond: those at the beginning, those
// at the end, and between them the longest common subsequence.
func pairs(x, y []uint64) (list [][2]int) {
	start, end := 0, 0
	for start < len(x) && start < len(y) && x[start] == y[start] {
		list = append(list, [2]int{start, start})
		start++
	}
	for end < min(len(x), len(y))-start && x[len(x)-1-end] == y[len(y)-1-end] {
		end++
	}
	x1, y1 := x[start:len(x)-end], y[start:len(y)-end]
	if len(x1)*len(y1) <= alignMost {
		for _, pair := range common(x1, y1) {
			list = append(list, [2]int{start + pair[0], start + pair[1]})
		}
	}
	for ; end > 0; end-- {
		list = append(list, [2]int{len(x) - end, len(y) - end})
	}
	return list
}

// common is the longest common subsequence, by dynamic programming.
func common(x, y []uint64) (list [][2]int) {
	best := make([][]int32, len(x)+1)
	for i := len(x); i >= 0; i-- {
		best[i] = make([]int32, len(y)+1)
		for j := len(y) - 1; i < len(x) && j >= 0; j-- {
			if x[i] == y[j] {
				best[i][j] = best[i+1][j+1] + 1
			} else {
				best[i][j] = max(best[i+1][j], best[i][j+1])
			}
		}
	}
	for i, j := 0, 0; i < len(x) && j < len(y); {
		switch {
		case x[i] == y[j]:
			list = append(list, [2]int{i, j})
			i, j = i+1, j+1
		case best[i+1][j] >= best[i][j+1]:
			i++
		default:
			j++
		}
	}
	return list
}

// hash is the same for values that say the same.
func (d *differ) hash(value []byte) uint64 {
	d.left -= len(value)
	kind := rawjson.KindOf(value)
	sum := maphash.Comparable(d.seed, kind)
	switch {
	case d.left < 0:
		sum = maphash.Bytes(d.seed, value)
	case kind == rawjson.Object:
		for name, v := range rawjson.Members(value) { // in whatever order
			sum += maphash.Comparable(d.seed, [2]uint64{maphash.String(d.seed, name), d.hash(v)})
		}
	case kind == rawjson.Array:
		for _, v := range rawjson.Elements(value) {
			sum = maphash.Comparable(d.seed, [2]uint64{sum, d.hash(v)})
		}
	default:
		sum = maphash.Comparable(d.seed, [2]uint64{sum, maphash.String(d.seed, says(value))})
	}
	return sum
}

// says is the value of a scalar, written in one way.
func says(scalar []byte) string {
	switch rawjson.KindOf(scalar) {
	case rawjson.String:
		return rawjson.Text(scalar)
	case rawjson.Number:
		return number(string(scalar))
	}
	return string(scalar)
}

// longestExponent bounds exponents: beyond it numbers are told apart by their text.
const longestExponent = 12

// number writes a number as digits, which neither begin nor end with 0, and the
// exponent of ten in front of them. No digit is lost.
func number(text string) string {
	mantissa, exponent, _ := strings.Cut(strings.ToLower(text), "e")
	e, err := strconv.Atoi(strings.TrimPrefix(exponent, "+"))
	if exponent != "" && (err != nil || len(exponent) > longestExponent) {
		return text
	}
	mantissa, negative := strings.CutPrefix(mantissa, "-")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := strings.TrimLeft(whole+fraction, "0")
	e += len(digits) - len(fraction)
	digits = strings.TrimRight(digits, "0")
	switch {
	case digits == "":
		return "0" // it has no sign and no size
	case negative:
		digits = "-" + digits
	}
	return digits + "e" + strconv.Itoa(e)
}
