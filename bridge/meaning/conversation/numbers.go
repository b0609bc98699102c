package conversation

// numberQuestions gives the questions of the latest frames their numbers: recorded numbers
// first, then free ones.
func (c *attribution) numberQuestions() {
	for _, a := range c.fresh {
		if a.recorded != 0 {
			c.numbered[uint32(a.seq)] = uint32(c.questionNumbers.take(a.recorded, a.questions, uint32(a.seq)))
		}
	}
	for _, a := range c.fresh {
		if a.recorded != 0 {
			c.questionNumbers.last = int(c.numbered[uint32(a.seq)]) + a.questions - 1
		} else {
			c.numbered[uint32(a.seq)] = uint32(c.questionNumbers.next(a.questions, uint32(a.seq)))
		}
	}
	c.fresh = nil
}

// numbers assigns the numbers of calls or of questions: the recorded number where
// possible, so that it matches the log, else a free one. A continued transcript
// counts from 1 again; its numbers then follow the highest number so far.
type numbers struct {
	of    []uint32 // the frame that has the number n+1, 0 if it is free
	base  int      // added to recorded numbers
	max   int      // highest number assigned
	last  int      // given out last
	count int
}

// recordedMost bounds how far a recorded number may lie above all others: every
// number costs memory, and a transcript can hold any number.
const recordedMost = 1 << 20

// take assigns a frame wanted consecutive numbers, starting at base plus the recorded one
// if that is valid, and returns the first.
func (n *numbers) take(recorded, wanted int, seq uint32) int {
	if recorded < 1 || recorded > n.max-n.base+recordedMost {
		return n.next(wanted, seq)
	}
	if n.frame(n.base+recorded) != 0 {
		n.base = n.max
	}
	n.last = n.base + recorded - 1
	return n.next(wanted, seq)
}

// next assigns a frame the first wanted consecutive free numbers after last, and returns
// the first.
func (n *numbers) next(wanted int, seq uint32) int {
	first := n.last + 1
	for k := 0; k < wanted; k++ {
		if n.frame(first+k) != 0 {
			first, k = first+k+1, -1
		}
	}
	n.last = first + wanted - 1
	n.max = max(n.max, n.last)
	n.count += wanted
	n.of = append(n.of, make([]uint32, n.max-len(n.of))...)
	for k := range wanted {
		n.of[first+k-1] = seq
	}
	return first
}

// frame returns the frame that has a number, 0 if there is none.
func (n *numbers) frame(number int) uint32 {
	if number < 1 || number > len(n.of) {
		return 0
	}
	return n.of[number-1]
}
