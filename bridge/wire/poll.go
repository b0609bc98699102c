package wire

import (
	"hash/maphash"
	"slices"
	"sync/atomic"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/base/rawjson"
)

// polls are the requests tasks/get of a log. Its mutex guards them.
type polls struct {
	of     map[uint64]*poll // by exchange, with the hash of the task's id
	by     map[int64]*poll  // by the first request
	repeat atomic.Bool      // a frame is marked as [Frame.Repeat]
}

// poll are the requests tasks/get about one task, and what the latest response said.
type poll struct {
	again []uint32 // the later ones
	said  uint64   // a hash; 0 for nothing
}

// pollsMost bounds of how many tasks a log knows the polls.
const pollsMost = 10_000

// repeats reports whether a frame is a request tasks/get about a task that was polled
// before, or a response to one that says what the response before it said.
func (ps *polls) repeats(s *session, f *Frame) bool {
	if f.Method != mcp.MethodGetTask || f.Kind != Request && f.Kind != Result {
		return false
	}
	of, by := f.Message.Params, f.Dir
	if f.Kind == Result {
		of, by = f.Message.Result, ServerToClient
		if f.Dir == ServerToClient {
			by = ClientToServer
		}
	}
	task := rawjson.Member(of, "taskId")
	key := exchange(s, by, HashID(task))
	p := ps.of[key]
	if p == nil {
		if f.Kind == Request && task != nil && len(ps.of) < pollsMost {
			p = &poll{}
			ps.of[key], ps.by[f.Seq] = p, p
		}
		return false
	}
	if f.Kind == Request {
		p.again = append(p.again, uint32(f.Seq))
		ps.repeat.Store(true)
		return true
	}
	before, hash := p.said, maphash.Hash{}
	hash.SetSeed(seed)
	for name, value := range rawjson.Members(of) {
		if name != "lastUpdatedAt" && name != "_meta" {
			_, _ = hash.WriteString(name) // never fails
			_, _ = hash.Write(value)
		}
	}
	p.said = hash.Sum64()
	return p.said == before
}

// Polls returns how many requests tasks/get about the same task the log has, if a frame is
// the first of several; else 0.
func (l *Log) Polls(seq int64) int {
	in := l
	if l.of != nil {
		in = l.of
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	p, upTo := in.polls.by[seq], l.Len()
	if p == nil {
		return 0
	}
	if n, _ := slices.BinarySearch(p.again, uint32(upTo)+1); n > 0 {
		return n + 1
	}
	return 0
}

// HasRepeats reports whether a frame of the log is marked as [Frame.Repeat].
func (l *Log) HasRepeats() bool { return l.polls.repeat.Load() || l.of != nil && l.of.HasRepeats() }
