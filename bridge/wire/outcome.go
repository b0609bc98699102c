package wire

import (
	"math"
	"net/http"
	"slices"

	"elicitation-inspector/bridge/mcp"
)

// claim reads isError and resultType of a result into Failed and AsksInput.
// conclude later drops them where the method does not allow them.
func (f *Frame) claim() {
	if f.Kind != Result {
		return
	}
	f.Failed, f.AsksInput = false, false
	for name, value := range f.part("result", f.Message.Result).Members() {
		switch name {
		case "isError":
			f.Failed = string(value.Whole()) == "true"
		case "resultType":
			f.AsksInput = value.Text() == "input_required"
		}
	}
}

// conclude sets the action, Failed, AsksInput and the detail of a frame's entry.
// The frame must have been paired.
func (l *Log) conclude(e *entry, s *session, f *Frame) {
	e.flags |= uint16(max(slices.Index(actions[:], f.Action()), 0)) * flagAction
	f.AsksInput = f.AsksInput && f.Kind == Result && f.Dir == ServerToClient && mcp.AsksForInput(f.Method)
	wrong := f.Status >= 400
	switch f.Kind {
	case NoteFrame:
		// With 405 a server says that it offers no event stream for GET, or no
		// DELETE of sessions (MCP 2025-11-25, Transports).
		f.Failed = f.Failed || wrong && f.Status != http.StatusMethodNotAllowed
	case Result:
		f.Failed = wrong || f.Failed && (f.Method == mcp.MethodCallTool || f.Method == "tasks/result")
	default:
		f.Failed = wrong || f.Kind == Error || f.Kind == Noise && len(f.Answers) > 0
	}
	e.set(flagAsks, f.AsksInput)
	e.set(flagFailed, f.Failed)
	about := detail{settler{f.Actor, f.Fault}, l.toolOf(s, f), f.Round, f.Status}
	e.detail = l.details.id(about, len(f.Actor)+len(f.Fault))
}

// openCall is a tools/call request without a response.
type openCall struct {
	seq  int64
	id   uint64 // hashID
	tool uint16
}

// openCallsMost bounds how many open calls a session remembers.
const openCallsMost = 1000

// toolOf returns the number of the tool whose call a frame belongs to. It is
// found by the frame's call number, by the request that the frame answers or
// cancels, or because all open calls call the same tool. It is 0 if none of
// these applies.
func (l *Log) toolOf(s *session, f *Frame) (tool uint16) {
	call := uint32(within(f.Call, math.MaxUint32))
	if call != 0 {
		tool = s.calls[call]
	}
	switch out := f.Dir == ClientToServer; {
	case f.Kind == Request && out && f.Method == mcp.MethodInitialize:
		s.open = nil // open calls ended with the previous connection
	case f.Kind == Request && out && f.Method == mcp.MethodCallTool:
		tool = l.beginCall(s, f, call)
	case f.Pair != 0:
		if f.Method == mcp.MethodCallTool {
			s.open = slices.DeleteFunc(s.open, func(c openCall) bool { return c.seq == f.Pair })
		}
		request, _ := l.details.at(l.index.at(f.Pair).detail)
		tool = request.tool
	case out && f.Method == mcp.NotificationCancelled:
		id := hashID(f.glance("params", f.Message.Params).Get("requestId").Whole())
		if i := slices.IndexFunc(s.open, func(c openCall) bool { return c.id == id }); i >= 0 {
			tool = s.open[i].tool
			s.open = slices.Delete(s.open, i, i+1)
		}
	case call == 0 && !out && tellsOfCall(f.Method) && len(s.open) > 0:
		tool = s.open[0].tool
		if slices.ContainsFunc(s.open, func(c openCall) bool { return c.tool != tool }) {
			tool = 0
		}
	}
	return tool
}

// beginCall records an open call and returns the number of its tool.
func (l *Log) beginCall(s *session, f *Frame, call uint32) (tool uint16) {
	name := f.toolCalled()
	tool = l.tools.id(name, len(name))
	s.open = append(s.open, openCall{f.Seq, hashID(f.Message.ID), tool})
	s.open = s.open[max(0, len(s.open)-openCallsMost):]
	if call != 0 {
		if s.calls == nil {
			s.calls = make(map[uint32]uint16)
		}
		s.calls[call] = tool
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

// tellsOfCall reports whether servers send this method because of a running
// call.
func tellsOfCall(method string) bool {
	switch method {
	case mcp.NotificationProgress, mcp.NotificationMessage, mcp.NotificationElicitComplete:
		return true
	}
	return mcp.IsInput(method)
}
