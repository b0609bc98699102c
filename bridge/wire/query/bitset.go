package query

import (
	"iter"
	"math/bits"
	"sort"
)

// bitset is a growing set of numbers from 0, which can count its numbers below a given
// one. It takes one bit for each number up to its greatest.
type bitset struct {
	words []uint64
	ranks []int64 // count of numbers before each group of rankWords words
	len   int64
}

// rankWords is the number of words in a group.
const rankWords = 8

// add adds a number, which must be greater than those in the set.
func (s *bitset) add(n int64) {
	for int64(len(s.words))*64 <= n {
		if len(s.words)%rankWords == 0 {
			s.ranks = append(s.ranks, s.len)
		}
		s.words = append(s.words, 0)
	}
	s.words[n/64] |= 1 << (n % 64)
	s.len++
}

// below counts the numbers less than n, and reports whether n is in the set.
func (s *bitset) below(n int64) (count int64, in bool) {
	word := n / 64
	switch {
	case n < 0:
		return 0, false
	case word >= int64(len(s.words)):
		return s.len, false
	}
	first := word / rankWords
	count = s.ranks[first]
	for _, w := range s.words[first*rankWords : word] {
		count += int64(bits.OnesCount64(w))
	}
	count += int64(bits.OnesCount64(s.words[word] & (1<<(n%64) - 1)))
	return count, s.words[word]>>(n%64)&1 != 0
}

// from yields the numbers in the set from index i on, counted from 0.
func (s *bitset) from(i int64) iter.Seq[int64] {
	return func(yield func(int64) bool) {
		if i >= s.len {
			return
		}
		first := sort.Search(len(s.ranks), func(r int) bool { return s.ranks[r] > i }) - 1
		skip := i - s.ranks[first]
		for at := first * rankWords; at < len(s.words); at++ {
			word := s.words[at]
			if ones := int64(bits.OnesCount64(word)); skip >= ones {
				skip -= ones
				continue
			}
			for ; word != 0; word &= word - 1 {
				if skip--; skip < 0 && !yield(int64(at)*64+int64(bits.TrailingZeros64(word))) {
					return
				}
			}
			skip = 0
		}
	}
}
