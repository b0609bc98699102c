package bridge

// numbering gives out the numbers of a replay's calls or questions: those that
// were recorded where it can, so that they are what the log says, and free ones
// for those that have none. A transcript that was continued counts from 1 again;
// its numbers go on from the highest before.
type numbering struct {
	used  []uint64 // bit n-1: n is given out
	base  int      // added to recorded numbers
	max   int      // highest that is given out
	count int
}

// recordedMost is how far a recorded number may lie above all others: numbers
// cost memory, and a transcript can say what it likes.
const recordedMost = 1 << 20

// take gives out the number that was recorded, or what stands for it by now.
func (n *numbering) take(recorded int) int {
	if recorded < 1 || recorded > n.max-n.base+recordedMost {
		return n.after(n.max)
	}
	if n.is(n.base + recorded) {
		n.base = n.max
	}
	return n.give(n.base + recorded)
}

// after gives out the first free number after another.
func (n *numbering) after(number int) int {
	for number++; n.is(number); number++ {
	}
	return n.give(number)
}

func (n *numbering) is(number int) bool {
	i := number - 1
	return i/64 < len(n.used) && n.used[i/64]>>(i%64)&1 != 0
}

func (n *numbering) give(number int) int {
	i := number - 1
	for i/64 >= len(n.used) {
		n.used = append(n.used, 0)
	}
	n.used[i/64] |= 1 << (i % 64)
	n.max = max(n.max, number)
	n.count++
	return number
}
