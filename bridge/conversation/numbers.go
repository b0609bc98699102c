package conversation

// numberQuestions gives the questions of the latest frames their numbers: recorded numbers
// first, then free ones.
func (c *Conversation) numberQuestions() {
	for _, a := range c.fresh {
		if a.recorded != 0 {
			c.numbered[uint32(a.seq)] = uint32(c.questionNumbers.take(a.recorded, a.questions))
		}
	}
	for _, a := range c.fresh {
		if a.recorded != 0 {
			c.questionNumbers.last = int(c.numbered[uint32(a.seq)]) + a.questions - 1
		} else {
			c.numbered[uint32(a.seq)] = uint32(c.questionNumbers.next(a.questions))
		}
		first := c.numbered[uint32(a.seq)]
		for n := range uint32(a.questions) {
			c.asking[first+n] = uint32(a.seq)
		}
	}
	c.fresh = nil
}

// numbers assigns the numbers of calls or of questions: the recorded number where
// possible, so that it matches the log, else a free one. A continued transcript
// counts from 1 again; its numbers then follow the highest number so far.
type numbers struct {
	used  []bool // whether n+1 is assigned
	base  int    // added to recorded numbers
	max   int    // highest number assigned
	last  int    // given out last
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
	n.last = first + wanted - 1
	n.max = max(n.max, n.last)
	n.count += wanted
	n.used = append(n.used, make([]bool, n.max-len(n.used))...)
	for k := range wanted {
		n.used[first+k-1] = true
	}
	return first
}

func (n *numbers) has(number int) bool { return number <= len(n.used) && n.used[number-1] }
