package wire

import (
	"cmp"
	"sync/atomic"
)

// maxEarlier bounds how many requests Log.earlier holds.
const maxEarlier = 10_000

// maxAlike bounds how many requests with the same id among examines for one
// response.
const maxAlike = 100

// pair finds the request of a response, and marks duplicates and orphans. Of
// several requests with the same id, the response goes to that of the same
// question, else to the latest without a response, else to the latest. A frame
// with Answers is paired with that request only if it has no response yet.
func (l *Log) pair(e *entry, s *session, f *Frame) {
	id := hashID(f.Message.ID)
	e.id = half(id)
	switch {
	case f.Kind == Request:
		if id != 0 {
			l.expect(e, s, f, id)
		}
		return
	case f.Kind.IsResponse() && id != 0:
		if seq, ok := l.requests[exchange(s, f.Dir.opposite(), id)]; ok {
			if len(l.earlier) > 0 {
				seq = l.among(seq, f.Question)
			}
			f.Duplicate = l.answered(seq)
			e.set(flagDuplicate, f.Duplicate)
			l.answer(e, f, seq)
			return
		}
		f.Orphan = true
		e.flags |= flagOrphan
	case id == 0:
		e.id = half(hashID(f.Answers))
	}
	if len(f.Answers) > 0 {
		seq, ok := l.requests[exchange(s, ClientToServer, hashID(f.Answers))]
		if ok && !l.answered(seq) {
			l.answer(e, f, seq)
		}
	}
}

// expect records a request, so that its response can be paired with it.
func (l *Log) expect(e *entry, s *session, f *Frame, id uint64) {
	key := exchange(s, f.Dir, id)
	before, used := l.requests[key]
	l.requests[key] = uint32(f.Seq)
	if f.Duplicate = used; !used {
		return
	}
	e.flags |= flagDuplicate
	if !l.answered(before) && len(l.earlier) < maxEarlier {
		l.earlier[uint32(f.Seq)] = before
	}
}

func (l *Log) answered(seq uint32) bool {
	return atomic.LoadUint32(&l.index.at(int64(seq)).pair) != 0
}

// answer pairs a frame with the request that it answers.
func (l *Log) answer(e *entry, f *Frame, seq uint32) {
	request := l.index.at(int64(seq))
	atomic.CompareAndSwapUint32(&request.pair, 0, uint32(f.Seq))
	f.Pair, f.Latency = int64(seq), e.since(request)
	e.pair, e.method = seq, request.method
	f.Method, _ = l.methods.at(e.method)
}

// among returns the request that a response answers. It chooses from latest and
// the earlier requests with the same id that had no response when the next one
// came.
func (l *Log) among(latest uint32, question int) uint32 {
	open := uint32(0)
	for seq, steps := latest, 0; seq != 0 && steps < maxAlike; seq, steps = l.earlier[seq], steps+1 {
		request := l.index.at(int64(seq))
		if question != 0 && l.index.question(int64(seq), request) == question {
			return seq
		}
		if open == 0 && !l.answered(seq) {
			open = seq
		}
	}
	return cmp.Or(open, latest)
}
