package rawjson

import (
	"bytes"
	"errors"
	"hash/maphash"
	"math"
	"slices"
	"strconv"
	"strings"
)

// DiffOp is the kind of a difference.
type DiffOp string

// The kinds of difference.
const (
	Added     DiffOp = "added"     // only in the second text
	Removed   DiffOp = "removed"   // only in the first text
	Changed   DiffOp = "changed"   // another value
	Rewritten DiffOp = "rewritten" // the same value in another notation: 1.50 and 1.5, "é" and "\u00e9"
)

// Difference is one difference between two JSON texts.
type Difference struct {
	// Pointer is the JSON pointer (RFC 6901) to the value: in the first text if Op is
	// Removed, else in the second.
	Pointer string
	Op      DiffOp
	// Before and After are the value's bytes in the first and in the second text, nil
	// if it is absent. They are slices of the texts.
	Before, After []byte
}

// Diff compares two JSON texts by value: white space and the order of members are
// ignored. It returns the first most differences, in the order of the second text, and
// the total number. It aligns the elements of arrays, so that an insertion or removal
// in the middle does not change all elements after it.
//
// The error says which text is invalid JSON.
func Diff(a, b []byte, most int) (list []Difference, total int, err error) {
	switch {
	case !Valid(a):
		return nil, 0, errors.New("the first text is not JSON")
	case !Valid(b):
		return nil, 0, errors.New("the second text is not JSON")
	}
	d := differ{most: most, seed: maphash.MakeSeed(), left: 64*(len(a)+len(b)) + 1<<20}
	d.compare("", Trim(a), Trim(b))
	return d.list, d.total, nil
}

// Same reports whether two JSON texts have the same value: they differ at most in white
// space, in the order of members, and in the notation of strings and numbers.
func Same(a, b []byte) bool {
	list, _, err := Diff(a, b, math.MaxInt)
	return err == nil && !slices.ContainsFunc(list, func(d Difference) bool { return d.Op != Rewritten })
}

type differ struct {
	most  int
	seed  maphash.Seed
	left  int // budget in bytes; when it is used up, objects and arrays are compared byte by byte
	list  []Difference
	total int
}

func (d *differ) add(pointer string, op DiffOp, before, after []byte) {
	d.total++
	if len(d.list) < d.most {
		d.list = append(d.list, Difference{pointer, op, before, after})
	}
}

// compare compares two values, which must be trimmed.
func (d *differ) compare(pointer string, a, b []byte) {
	d.left -= len(a) + len(b)
	kind := KindOf(a)
	switch {
	case bytes.Equal(a, b):
	case d.left < 0 || kind != KindOf(b):
		d.add(pointer, Changed, a, b)
	case kind == Object:
		d.objects(pointer, a, b)
	case kind == Array:
		d.arrays(pointer, a, b)
	case says(a) == says(b):
		d.add(pointer, Rewritten, a, b)
	default:
		d.add(pointer, Changed, a, b)
	}
}

// member identifies a member of an object: n counts those with the same name.
type member struct {
	name string
	n    int
}

func members(raw []byte) (order []member, values map[member][]byte) {
	seen := make(map[string]int)
	values = make(map[member][]byte)
	for name, value := range Members(raw) {
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
		at := PointerTo(pointer, m.name)
		if old, ok := before[m]; ok {
			d.compare(at, old, after[m])
		} else {
			d.add(at, Added, nil, after[m])
		}
	}
	for _, m := range was {
		if _, stayed := after[m]; !stayed {
			d.add(PointerTo(pointer, m.name), Removed, before[m], nil)
		}
	}
}

func (d *differ) arrays(pointer string, a, b []byte) {
	before, x := d.elements(a)
	after, y := d.elements(b)
	at := func(i int) string { return pointer + "/" + strconv.Itoa(i) }
	i, j := 0, 0
	// Elements between two pairs of equal elements are compared by position.
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
			d.compare(at(j), before[i], after[j]) // equal hash: the same value, maybe in another notation
			i, j = i+1, j+1
		}
	}
}

func (d *differ) elements(raw []byte) (values [][]byte, hashes []uint64) {
	for _, value := range Elements(raw) {
		values, hashes = append(values, value), append(hashes, d.hash(value))
	}
	return values, hashes
}

// alignMost bounds the work of aligning elements: the product of the numbers of
// elements left on both sides.
const alignMost = 250_000

// pairs returns the pairs of indexes at which equal hashes are aligned: a common
// beginning, a common end, and between them the longest common subsequence.
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

// common returns the longest common subsequence, by dynamic programming.
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

func (d *differ) hash(value []byte) uint64 {
	d.left -= len(value)
	kind := KindOf(value)
	sum := maphash.Comparable(d.seed, kind)
	switch {
	case d.left < 0:
		sum = maphash.Bytes(d.seed, value)
	case kind == Object:
		for name, v := range Members(value) { // a sum does not depend on the order
			sum += maphash.Comparable(d.seed, [2]uint64{maphash.String(d.seed, name), d.hash(v)})
		}
	case kind == Array:
		for _, v := range Elements(value) {
			sum = maphash.Comparable(d.seed, [2]uint64{sum, d.hash(v)})
		}
	default:
		sum = maphash.Comparable(d.seed, [2]uint64{sum, maphash.String(d.seed, says(value))})
	}
	return sum
}

func says(scalar []byte) string {
	switch KindOf(scalar) {
	case String:
		return Text(scalar)
	case Number:
		return number(string(scalar))
	}
	return string(scalar)
}

// longestExponent is the longest exponent in characters that number handles; numbers
// with longer ones are compared as text.
const longestExponent = 12

// number returns a normal form of a number: its digits without leading and trailing
// zeros, as a fraction, and the exponent of ten. No digit is lost.
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
		return "0" // zero has neither sign nor exponent
	case negative:
		digits = "-" + digits
	}
	return digits + "e" + strconv.Itoa(e)
}
