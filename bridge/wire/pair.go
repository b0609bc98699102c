package wire

import (
	"cmp"
	"net/http"
	"slices"
	"sync/atomic"

	"elicitation-inspector/bridge/base/mcp"
)

// RefusesProbe reports whether a frame is the refusal of server/discover by a server of an
// earlier revision, which the client expects and meets with initialize (MCP 2026-07-28,
// Versioning, Backward Compatibility with Initialization-Based Versions).
func (e Entry) RefusesProbe() bool {
	const most = 1000 // frames in between
	status := e.Rare().Status
	refuses := e.Failed && e.Names().Method == mcp.MethodDiscover && status < 500 && (e.Kind == Error || status >= 400)
	for seq := e.Seq + 1; refuses && seq <= min(e.Seq+most, e.log.Len()); seq++ {
		if next := e.log.Entry(seq); next.Kind == Request && next.Names().Method == mcp.MethodInitialize && next.Names().Session == e.Names().Session {
			return true
		}
	}
	return false
}

const maxEarlier = 10_000

const maxAlike = 100

// pairs are the requests of a log, by which it finds those of responses. The mutex of the log
// guards them.
type pairs struct {
	entry    func(seq int64) Entry
	requests map[uint64]uint32 // the latest request of each exchange
	earlier  map[uint32]uint32 // maps a request to the previous one with the same id, if that had no response yet
}

// add finds the request of a response, and marks duplicates and orphans. Of
// several requests with the same id, the response goes to that of the same
// question, else to the latest without a response, else to the latest. A frame
// with Answers is paired with that request only if it has no response yet.
func (p *pairs) add(e *record, s *session, f *Frame) {
	f.Duplicate, f.Orphan, f.Pair, f.Latency = false, false, 0, 0
	if f.Begins() {
		s.begun++
	}
	id := HashID(f.Message.ID)
	e.id = id
	switch {
	case f.Kind == Request:
		if id == 0 {
			return
		}
		key := exchange(s, f.Dir, id)
		before, used := p.requests[key]
		p.requests[key] = uint32(f.Seq)
		if f.Duplicate = used; used && !p.answered(before) && len(p.earlier) < maxEarlier {
			p.earlier[uint32(f.Seq)] = before
		}
		return
	case f.Kind.IsResponse() && id != 0:
		asked := ClientToServer
		if f.Dir == ClientToServer {
			asked = ServerToClient
		}
		if seq, ok := p.requests[exchange(s, asked, id)]; ok {
			if len(p.earlier) > 0 {
				seq = p.among(seq, f.Question)
			}
			f.Duplicate = p.answered(seq)
			p.answer(e, f, seq)
			return
		}
		f.Orphan = true
	case id == 0:
		e.id = HashID(f.Answers)
	}
	if len(f.Answers) > 0 {
		seq, ok := p.requests[exchange(s, ClientToServer, HashID(f.Answers))]
		if ok && !p.answered(seq) {
			p.answer(e, f, seq)
		}
	}
}

func (p *pairs) answered(seq uint32) bool {
	return atomic.LoadUint32(&p.entry(int64(seq)).pair) != 0
}

func (p *pairs) answer(e *record, f *Frame, seq uint32) {
	request := p.entry(int64(seq))
	atomic.CompareAndSwapUint32(&request.pair, 0, uint32(f.Seq))
	f.Pair, f.Latency = int64(seq), e.since(request.record)
	e.pair = seq
	f.Method = request.names.Method
}

// among returns the request that a response answers. It chooses from latest and
// the earlier requests with the same id that had no response when the next one
// came.
func (p *pairs) among(latest uint32, question int) uint32 {
	open := uint32(0)
	for seq, steps := latest, 0; seq != 0 && steps < maxAlike; seq, steps = p.earlier[seq], steps+1 {
		request := p.entry(int64(seq))
		if question != 0 && int(request.Rare().Question) == question {
			return seq
		}
		if open == 0 && !p.answered(seq) {
			open = seq
		}
	}
	return cmp.Or(open, latest)
}

// readResultFlags reads from a result into Failed, AsksInput and MakesTask what it says by itself.
// resolveFlags later drops them where the method does not allow them.
func (f *Frame) readResultFlags() {
	if f.Kind != Result {
		return
	}
	f.Failed, f.AsksInput, f.MakesTask = false, false, false
	isTask, inputs := false, false
	for name, value := range f.part("result", f.Message.Result).Members() {
		switch name {
		case "isError":
			f.Failed = string(value.Whole()) == "true"
		case "resultType":
			f.AsksInput, f.MakesTask = value.Text() == "input_required", value.Text() == "task"
		case "task":
			f.MakesTask = value.Get("taskId") != nil
		case "taskId":
			isTask = true
		case "inputRequests":
			inputs = true
		}
	}
	f.AsksInput = f.AsksInput || isTask && inputs
}

func (f *Frame) resolveFlags() {
	fromServer := f.Kind == Result && f.Dir == ServerToClient
	f.AsksInput = f.AsksInput && fromServer && (mcp.AsksForInput(f.Method) || f.Method == mcp.MethodGetTask)
	f.MakesTask = f.MakesTask && (fromServer && f.Method == mcp.MethodCallTool || f.Kind == Result && f.Dir == ClientToServer && f.Method == mcp.MethodElicit)
	f.AsksInput = f.AsksInput && !f.MakesTask
	wrong := f.Status >= 400
	switch f.Kind {
	case NoteFrame, SpanFrame:
		// With 405 a server says that it offers no event stream for GET, or no
		// DELETE of sessions (MCP 2025-11-25, Transports).
		f.Failed = f.Failed || wrong && f.Status != http.StatusMethodNotAllowed
	case Result:
		f.Failed = wrong || f.Failed && (f.Method == mcp.MethodCallTool || f.Method == mcp.MethodTaskResult)
	default:
		f.Failed = wrong || f.Kind == Error || f.Kind == Noise && len(f.Answers) > 0
	}
}

// openCall is a tools/call request without a response.
type openCall struct {
	seq  int64
	id   uint64 // HashID
	tool string
}

const openCallsMost = 1000

// toolOf returns the tool whose call a frame belongs to. It is found by the
// frame's call number, by the request that the frame answers or cancels, or
// because all open calls call the same tool. It is "" if none of these applies.
func (s *session) toolOf(f *Frame, call uint32, entry func(seq int64) Entry) (tool string) {
	if request := s.calls[call]; request != 0 {
		tool = entry(int64(request)).names.Tool
	}
	switch out := f.Dir == ClientToServer; {
	case f.Kind == Request && out && f.Method == mcp.MethodInitialize:
		s.open = nil // open calls ended with the previous connection
	case f.Kind == Request && out && f.Method == mcp.MethodCallTool:
		tool = f.toolCalled()
		s.open = append(s.open, openCall{f.Seq, HashID(f.Message.ID), tool})
		s.open = s.open[max(0, len(s.open)-openCallsMost):]
		if call != 0 {
			if s.calls == nil {
				s.calls = make(map[uint32]uint32)
			}
			s.calls[call] = uint32(f.Seq)
		}
	case f.Pair != 0:
		if f.Method == mcp.MethodCallTool {
			s.open = slices.DeleteFunc(s.open, func(c openCall) bool { return c.seq == f.Pair })
		}
		tool = entry(f.Pair).names.Tool
	case out && f.Method == mcp.NotificationCancelled:
		id := HashID(f.glance("params", f.Message.Params).Get("requestId").Whole())
		if i := slices.IndexFunc(s.open, func(c openCall) bool { return c.id == id }); i >= 0 {
			tool = s.open[i].tool
			s.open = slices.Delete(s.open, i, i+1)
		}
	case call == 0 && !out && len(s.open) > 0:
		switch f.Method { // does a running call send it?
		case mcp.NotificationProgress, mcp.NotificationMessage, mcp.NotificationElicitComplete:
		default:
			if !mcp.IsInput(f.Method) {
				return ""
			}
		}
		tool = s.open[0].tool
		if slices.ContainsFunc(s.open, func(c openCall) bool { return c.tool != tool }) {
			tool = ""
		}
	}
	return tool
}

// toolCalled returns the tool name of a tools/call request; "" for other
// frames.
func (f *Frame) toolCalled() string {
	if f.Kind != Request || f.Method != mcp.MethodCallTool {
		return ""
	}
	return f.part("params", f.Message.Params).Get("name").Text()
}
