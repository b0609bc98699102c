package conversation

// numbers gives out the numbers of calls or of questions: those that were recorded
// where it can, so that they are what the log says, and free ones for those that
// have none. A transcript that was continued counts from 1 again; its numbers go
// on from the highest before.
type numbers struct {
	used  []uint64 // bit n-1: n is given out
	base  int      // added to recorded numbers
	max   int      // highest that is given out
	last  int      // given out last
	count int
}

// recordedMost is how far a recorded number may lie above all others: numbers
// cost memory, and a transcript can say what it likes.
const recordedMost = 1 << 20

// take gives out as many numbers in a row as are wanted, from the one that was
// recorded or from what stands for it by now, and returns the first of them.
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

// next gives out as many numbers in a row as are wanted, the first that are free
// behind the one that was given out last, and returns the first of them.
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
