package conversation

// numbers assigns the numbers of calls or of questions: the recorded number where
// possible, so that it matches the log, else a free one. A continued transcript
// counts from 1 again; its numbers then follow the highest number so far.
type numbers struct {
	used  []uint64 // bit n-1 is set if n is assigned
	base  int      // added to recorded numbers
	max   int      // highest number assigned
	last  int      // given out last
	count int
}

// recordedMost bounds how far a recorded number may lie above all others: every
// number costs memory, and a transcript can hold any number.
const recordedMost = 1 << 20

// take assigns wanted consecutive numbers, starting at base plus the recorded one if
// that is valid, and returns the first.
func (n *numbers) take(recorded, wanted int) int {
	if recorded < 1 || recorded > n.max-n.base+recordedMost {
		return n.next(wanted)
	}
	if n.has(n.base + recorded) {
		n.base = n.max
	}
	n.last = n.base + recorded - 1
	return n.next(wanted)
}

// next assigns the first wanted consecutive free numbers after last, and returns the
// first.
func (n *numbers) next(wanted int) int {
	first := n.last + 1
	for k := 0; k < wanted; k++ {
		if n.has(first + k) {
			first, k = first+k+1, -1
		}
	}
	for k := range wanted {
		n.give(first + k)
	}
	return first
}

func (n *numbers) has(number int) bool {
	i := number - 1
	return i/64 < len(n.used) && n.used[i/64]>>(i%64)&1 != 0
}

func (n *numbers) give(number int) {
	i := number - 1
	for i/64 >= len(n.used) {
		n.used = append(n.used, 0)
	}
	n.used[i/64] |= 1 << (i % 64)
	n.max = max(n.max, number)
	n.last = number
	n.count++
}
